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
from spikemark.running.simulation.replay import BY_NUMBER, IN_TURN, ORDERS, Messages, needed, replay

INPUTS = Inputs(machines.filled(machines.load("jureca-dc")))


def network(ranks: int) -> Interconnect:
    """With one switch, and the congestion of the model, which knows no leaves on which nodes are nearer."""
    return replace(
        Interconnect.whole(INPUTS, "a test"),
        bandwidth=Collectives.of(INPUTS, ranks).net.bandwidth,
        topology="star",
        nodes_per_leaf=1,
    )


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


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("sizes", [(32,), (4, 8), (2, 4, 4)])
@pytest.mark.parametrize("size", [4, 400])
def test_hops_take_as_long_as_the_model_says(sizes, size, order):
    """Within 30 %, in every order; hops follow one another."""
    ranks = 32
    hops = levels.hops(size * (1.0 - np.eye(ranks)), sizes)
    strides = np.cumprod([1, *sizes[:-1]])
    messages = [Messages(h.flow, int(s), g) for h, s, g in zip(hops, strides, sizes, strict=True)]
    found = replay(messages, network(ranks), order)
    assert (np.diff(found.last_s) > 0).all() and (found.mean_s <= found.last_s).all()
    net = Collectives.of(INPUTS, ranks)
    sums = [routed.Sums.of(levels.Level.of(hop)) for hop in hops]
    modelled = sum(
        net.messages(routed.Busiest(s.partners, s.sent, s.largest), order != IN_TURN) for s in sums
    )
    assert 1 / 1.3 <= modelled / found.last_s[-1] <= 1.3


@pytest.mark.parametrize("size", [2000, 20_000])
def test_large_messages_by_number_take_as_long_as_the_model_says(size):
    """Within 40 %, those that ask their receiver first, too: it takes what comes first, as p2p does."""
    ranks = 32
    found = replay(one(size * (1.0 - np.eye(ranks))), network(ranks), BY_NUMBER)
    busiest = routed.Busiest(ranks - 1, size * (ranks - 1), size)
    modelled = Collectives.of(INPUTS, ranks).messages(busiest, by_number=True)
    assert 1 / 1.4 <= modelled / found.last_s[-1] <= 1.4


@pytest.mark.parametrize(("ranks", "size", "order"), [
    (2, 4, IN_TURN), (32, 400, BY_NUMBER), (32, 20_000, BY_NUMBER), (96, 400, IN_TURN),
])  # fmt: skip
def test_memory_is_what_was_said_before_at_most(ranks, size, order):
    messages, net = one(size * (1.0 - np.eye(ranks))), network(ranks)
    least = 20e6  # SimGrid alone
    assert least < replay(messages, net, order).peak_bytes <= needed(messages, net, order)


def test_few_messages_of_many_ranks_are_refused_for_the_ranks(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 50_000_000)
    ring = sparse.csr_array((np.ones(1000), (np.arange(1000), np.roll(np.arange(1000), 1))))
    with pytest.raises(BadInput, match=r"1000 ranks: replaying 1000 messages at a time needs 0\.1"):
        replay([Messages(ring, 1, 1000)], network(1000))


def test_too_many_messages_are_refused_before(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(BadInput, match="replaying 1 messages at a time needs"):
        replay(one([[0, 1], [0, 0]]), network(2))


def test_without_simgrid_one_line_says_so(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BadInput) as bad:
        replay(one([[0, 1], [0, 0]]), network(2))
    assert str(bad.value) == smpirun.MISSING
