"""Memory of production programs: what ran fits, and what cannot fit is not proposed."""

import pytest
from published_networks import multi_area_model

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile, Value
from spikemark.prediction import points, program_costs
from spikemark.prediction.production import anchored, fits, node_need_gb

LOW, HIGH = 16.0, 65.0  #: bytes of a synapse of NEST that are planted here


def offer(memory_gb, nodes=64):
    """JURECA-DC's nodes with another memory."""
    changed = {
        "node.memory": Value(memory_gb, "GB", "literature", "a test"),
        "offer.nodes": Value(nodes, "1", "literature", "a test"),
    }
    stated = machines.load("jureca-dc").values
    return machines.filled(Profile("offer", "An offer", {**stated, **changed}))


def test_every_published_run_may_fit():
    judged = set()
    for run in points.published():
        assert fits(run, machines.filled(machines.load(run.machine.name))) is not False, run
        assert node_need_gb(run) is not None
        judged.add(run.program)
    assert judged == set(program_costs.PROGRAMS)


@pytest.fixture
def planted(monkeypatch):
    """NEST with synapses of so many bytes, and neurons of none."""
    synapse = program_costs.Bytes(40.0, LOW, HIGH, "a test")
    neuron = program_costs.Bytes(0.0, 0.0, 0.0, "a test")
    memory = program_costs.ProgramMemory(synapse, neuron)
    costs = program_costs.PROGRAMS["nest"]
    monkeypatch.setitem(
        program_costs.PROGRAMS,
        "nest",
        program_costs.ProgramCosts("nest", "NEST", costs.costs, memory=memory),
    )


@pytest.mark.usefixtures("planted")
def test_numbers_of_nodes_begin_where_the_network_may_fit():
    network = multi_area_model()
    synapses = network.known.network.synapses
    memory_gb = 1.01e-9 * LOW * synapses / 4  # four nodes may do, if synapses are small
    options = anchored(network, offer(memory_gb), "nest").options
    assert min(option.nodes for option in options) == 4
    sure = {option.nodes for option in options if option.fits}
    assert min(sure) == 24 and all(option.fits is None for option in options if option.nodes < 16)
    for option in options:
        assert option.node_gb == pytest.approx(1e-9 * 40 * synapses / option.nodes)
        told = [remark for remark in option.remarks if "may not fit" in remark]
        assert bool(told) == (option.fits is None)


@pytest.mark.usefixtures("planted")
def test_nodes_that_are_asked_for_and_too_small_are_marked():
    network = multi_area_model()
    option = anchored(network, offer(64), "nest", nodes=2).best
    assert option.fits is False and option.node_gb > 64
    memory, why = option.needed
    assert why == "" and memory.per_synapse == pytest.approx(40)
    with pytest.raises(BadInput) as error:
        anchored(network, offer(64, nodes=2), "nest")
    assert error.value.field == "node.memory"


def test_the_whole_multi_area_model_needs_more_than_two_nodes_of_64_gb():
    nodes = [option.nodes for option in anchored(multi_area_model(), offer(64), "nest").options]
    assert min(nodes) > 2
