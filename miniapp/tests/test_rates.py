"""Networks that are silent, or fire more than their description asks for, are warned of."""

import json

import program
import pytest

OF_ITS_OWN = '{"model": "ignore_and_fire", "rate_hz": %s}'
DRIVEN = '{"model": "lif_delta", "t_ref_ms": 0}'  # 15 mV from the reset to the threshold


@pytest.mark.parametrize(
    ("neuron", "external", "weight", "begins"),
    [
        (OF_ITS_OWN % 0, None, 1, "silent: no neuron"),
        (OF_ITS_OWN % 10, None, 1, None),
        (OF_ITS_OWN % 400, None, 1, None),  # as asked for
        (DRIVEN, '{"rate_hz": 20000, "weight": 1}', 0, None),  # at most 1333 spikes/s, from outside alone
        (DRIVEN, '{"rate_hz": 20, "weight": 15}', 5, "high rate: "),  # 20 spikes/s, but for the others
    ],
)
def test_silent_and_diverging_networks_are_warned_of(neuron, external, weight, begins, tmp_path):
    """A rate that the description asks for is none that diverged."""
    fields = {f"network__populations__{i}__neuron": neuron for i in (0, 1)}
    fields |= {f"network__projections__{i}__weight": weight for i in range(4)}
    if external:
        fields |= {f"network__populations__{i}__external": external for i in (0, 1)}
    arguments = program.sets(time__simulate_ms=200, **fields)
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments)
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    found = [w for w in record["warnings"] if w.startswith(("silent", "high rate"))]
    assert len(found) == (begins is not None)
    assert all(w.startswith(begins) for w in found)
    assert done.stderr.splitlines() == [f"miniapp: warning: {w}" for w in found]
