"""A network in which no neuron fires has times, and answers without numbers that are none."""

import json

import pytest
from small_network import describe

COMMANDS = {
    "predict": "predict {} --machine epyc-vm --ranks 1,2",
    "advise": "advise {} --machine epyc-vm",
    "compare": "compare epyc-vm jureca-dc --run {} --target-rtf 1",
}


@pytest.fixture(params=["with synapses", "without synapses"])
def silent(request, tmp_path):
    """The path of a description of a silent network."""
    found = describe(areas=2, neurons=100, indegree=20, delay_ratio=10)
    for population in found["network"]["populations"]:
        population["neuron"]["rate_hz"] = 0
    if request.param == "without synapses":
        found["network"]["projections"] = []
    path = tmp_path / "run.json"
    path.write_text(json.dumps(found))
    return path


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("command", COMMANDS)
def test_a_silent_network_has_answers(spikemark, silent, command, few):
    status, text, _ = spikemark(*COMMANDS[command].format(silent).split())
    assert status == 0 and "not a number" not in text and "nan" not in text.lower().split()
    status, text, _ = spikemark(*COMMANDS[command].format(silent).split(), "--json")
    assert status == 0 and json.loads(text, parse_constant=pytest.fail)
