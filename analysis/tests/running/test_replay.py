"""Messages replayed on SimGrid: by hand for two ranks, and beside the model of many."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from spikemark import machines
from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.partition import levels, routed
from spikemark.running.simulation import smpirun
from spikemark.running.simulation.replay import Messages, replay

INPUTS = Inputs(machines.filled(machines.load("jureca-dc")))


def network(ranks: int) -> Interconnect:
    """With one switch: the model knows no leaves, on which nodes are nearer."""
    return replace(Interconnect.whole(INPUTS, "a test", ranks), topology="star", nodes_per_leaf=1)


def one(matrix) -> list[Messages]:
    found = sparse.csr_array(np.array(matrix, dtype=float))
    return [Messages(found, 1, found.shape[0])]


def test_a_message_takes_latency_and_bytes_over_bandwidth():
    net = network(2)
    found = replay(one([[0, 1000], [0, 0]]), net)
    assert found.last_s[0] == pytest.approx(net.latency_s + 1000 / net.bandwidth, rel=0.03)
    assert found.mean_s[0] < found.last_s[0]  # the sender has done before


def test_an_empty_message_is_one_too():
    empty = sparse.csr_array(([0.0], ([0], [1])), shape=(2, 2))
    net = network(2)
    assert replay([Messages(empty, 1, 2)], net).last_s[0] == pytest.approx(net.latency_s, rel=0.03)


@pytest.mark.parametrize("by_number", [False, True])
@pytest.mark.parametrize("sizes", [(32,), (4, 8), (2, 4, 4)])
@pytest.mark.parametrize("size", [4, 400])
def test_hops_take_as_long_as_the_model_says(sizes, size, by_number):
    """Within 30 %, by number and in turn; hops follow one another."""
    ranks = 32
    hops = levels.hops(size * (1.0 - np.eye(ranks)), sizes)
    strides = np.cumprod([1, *sizes[:-1]])
    messages = [Messages(h.flow, int(s), g) for h, s, g in zip(hops, strides, sizes, strict=True)]
    found = replay(messages, network(ranks), by_number)
    assert (np.diff(found.last_s) > 0).all() and (found.mean_s <= found.last_s).all()
    net = Collectives.of(INPUTS, ranks)
    sums = [routed.Sums.of(levels.Level.of(hop)) for hop in hops]
    modelled = sum(net.messages(routed.Busiest(s.partners, s.sent, s.largest), by_number) for s in sums)
    assert 1 / 1.3 <= modelled / found.last_s[-1] <= 1.3


def test_too_many_messages_are_refused_before(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(BadInput, match="replaying 1 messages at a time needs"):
        replay(one([[0, 1], [0, 0]]), network(2))


def test_without_simgrid_one_line_says_so(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BadInput) as bad:
        replay(one([[0, 1], [0, 0]]), network(2))
    assert str(bad.value) == smpirun.MISSING
