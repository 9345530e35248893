"""Exchange times: rounds bring everything to everyone, closed forms of few ranks, what tables
change.
"""

import numpy as np
import pytest

from spikemark.models import loggp, mpi_rules
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import FULL, WITHIN, Collectives, Interconnect, Traffic, rounds
from spikemark.models.mpi_rules import (
    BRUCK,
    DOUBLING,
    LINEAR,
    NEIGHBOR,
    PAIRWISE,
    RING,
    ROOT,
    TREE,
)

NET = Interconnect(2e-6, 0.5e-6, 10e9, 5e9, 0.3e-6, 8192.0, "star", 1, "ompi")
CALLS = [("barrier", name) for name in (BRUCK, DOUBLING, TREE)]
CALLS += [("allgather", name) for name in (BRUCK, DOUBLING, RING, NEIGHBOR)] + [("alltoall", BRUCK)]


def dense(node, size=8.0) -> Traffic:
    other = 1.0 - np.eye(len(node))
    return Traffic(size * other, other, np.array(node))


@pytest.mark.parametrize(("call", "name"), CALLS)
@pytest.mark.parametrize("n", [2, 3, 4, 6, 7, 8, 12, 16, 33])
def test_after_all_rounds_everyone_has_heard_of_everyone(call, name, n):
    heard, found = np.eye(n, dtype=bool), rounds(call, name, n, 8.0)
    for source, _ in found:
        heard |= heard[source]
    assert heard.all()
    received = sum(size for _, size in found)
    if call == "allgather":
        assert received == 8 * (n - 1)  # each block once
    if call == "alltoall":  # a block goes on for every bit of its distance
        assert received == 8 * sum(d.bit_count() for d in range(n))


@pytest.mark.parametrize(
    ("node", "latency", "bandwidth"), [((0, 1), 2e-6, 10e9), ((0, 0), 0.5e-6, 5e9)]
)
def test_two_ranks(node, latency, bandwidth):
    net, small, large = Collectives(NET, {}), dense(node), dense(node, 1e6)
    assert net.barrier(small) == pytest.approx(latency)
    assert net.alltoallv(small) == pytest.approx(latency + 8 / bandwidth)
    asked = (latency - NET.gap_s) * (node == (0, 1))  # the receiver on another node is asked first
    assert net.messages(large) == pytest.approx(latency + asked + 1e6 / bandwidth)
    asked = latency - min(latency, NET.gap_s)  # in rounds, on its own node, too
    assert net.alltoallv(large, PAIRWISE) == pytest.approx(latency + asked + 1e6 / bandwidth)
    assert net._call("barrier", small, 1.0, TREE) == pytest.approx(2 * latency)


def test_messages_of_a_node_share_its_card():
    node = np.arange(8) // 4
    one, four = (Collectives(NET, {}).messages(dense(node, size)) for size in (1e6, 4e6))
    assert (four - one) / 3e6 == pytest.approx(16 / NET.bandwidth)


@pytest.mark.parametrize("selector", mpi_rules.RULES)
@pytest.mark.parametrize("name", EXCHANGES)
def test_every_exchange_takes_longer_with_more_bytes_and_more_ranks(name, selector):
    net = Collectives(
        Interconnect(2e-6, 0.5e-6, 10e9, 5e9, 0.3e-6, 8192.0, "star", 1, selector), {}
    )
    times = [
        EXCHANGES[name](net, dense(np.zeros(n, dtype=int), size))
        for n in (2, 4, 7)
        for size in (8, 4e5)
    ]
    assert (np.array(times).reshape(3, 2)[:, 1] > np.array(times).reshape(3, 2)[:, 0]).all()
    assert 0 < times[0] < times[2] < times[4]


ALL_CALLS = [*CALLS, ("alltoall", PAIRWISE), ("allgather", LINEAR), ("allgather", ROOT)]
ALL_CALLS += [("alltoall", LINEAR), ("barrier", LINEAR), ("barrier", ROOT)]


@pytest.mark.parametrize(("call", "name"), ALL_CALLS)
@pytest.mark.parametrize("nodes_per_leaf", [None, 1, 3, 4])
def test_calls_of_ranks_that_lie_alike_on_nodes_and_switches_take_as_long(
    call, name, nodes_per_leaf
):
    random = np.random.default_rng(1)
    net = Interconnect(2e-6, 0.5e-6, 10e9, 5e9, 0.3e-6, 8192.0, "fat_tree", nodes_per_leaf, "ompi")
    for _ in range(10):
        ranks, first = random.integers(2, 14), random.integers(0, 40)
        node = first + np.sort(random.integers(0, 10, size=ranks))
        for size in (8.0, 4e4):
            found = Collectives(net, {})._modelled(call, dense(node), size, name, int(ranks))
            own_numbers = np.ascontiguousarray(node, dtype=np.int64).tobytes()
            expected = loggp._algorithm_s.__wrapped__(net, call, name, own_numbers, size)
            assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", EXCHANGES)
@pytest.mark.parametrize("selector", mpi_rules.RULES)
def test_settings_side_by_side_take_as_long_as_each_alone(name, selector):
    random = np.random.default_rng(1)
    costs = {}
    for cost in loggp.message_costs():
        costs[cost] = getattr(NET, cost) * random.uniform(0.2, 5.0, size=(7, 1))
    costs["gap_s"] = NET.gap_s  # the same in all settings
    alone = [dict.fromkeys(costs, 0.0) for _ in range(7)]
    for cost, numbers in costs.items():
        for of, number in zip(alone, np.broadcast_to(numbers, (7, 1))[:, 0].tolist(), strict=True):
            of[cost] = number
    rest = {"topology": "fat_tree", "nodes_per_leaf": 2, "selector": selector}
    rows = np.array([[2, 8, 1e-6], [2, 800, 5e-6], [4, 8, 3e-6], [4, 800, 9e-6]])
    for ranks in (2, 7, 16):
        nodes = 1 if name == "shared" else 5
        node = np.sort(random.integers(0, nodes, size=ranks))
        shares = random.uniform(size=(ranks, ranks)) * (1 - np.eye(ranks))
        for size in (1e2, 1e4, 1e6):
            traffic = Traffic(size * shares, (shares > 0.3).astype(float), node)
            for tables in ({}, {(WITHIN, "alltoall"): rows}):
                times = []
                for of in (costs, *alone):
                    net = Interconnect(**of, **rest)
                    times.append(EXCHANGES[name](Collectives(net, tables), traffic))
                together, *times = times
                assert together == pytest.approx(np.array(times), rel=1e-13)


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_puts_are_those_of_their_traffic(seed):
    random = np.random.default_rng(seed)
    ranks = int(random.integers(1, 20))
    node = np.sort(random.integers(0, 4, size=ranks))
    sender = random.integers(-ranks, ranks, size=ranks)
    sizes = random.uniform(0.5, 2.0, size=ranks)
    messages = np.zeros((ranks, ranks))
    messages[sender, np.arange(ranks)] = sender % ranks != np.arange(ranks)
    traffic = Traffic(sizes[:, None] * messages, messages, node)
    sums = loggp.put_sums(traffic.place(None), sender.tobytes(), tuple(sizes.tolist()))
    assert (sums.far, sums.most_bytes) == (traffic.far, pytest.approx(traffic.most_bytes))
    assert sums.card_bytes == pytest.approx(traffic.card_bytes, rel=1e-14)
    assert sums.near_bytes == pytest.approx(traffic.near_bytes, rel=1e-14)
    for ours, of_traffic in zip(sums.sent, traffic.sent, strict=True):
        assert ours.tolist() == of_traffic.tolist()


def test_tables_take_precedence_and_are_the_least_of_what_the_model_says_beyond_them():
    rows = np.array([[2, 8, 1e-6], [2, 800, 5e-6], [4, 8, 3e-6], [4, 800, 9e-6]])
    net, bare = Collectives(NET, {(WITHIN, "alltoall"): rows}), Collectives(NET, {})
    at = {n: net.alltoallv(dense(np.zeros(n, dtype=int)), BRUCK) for n in (2, 3, 4, 8)}
    assert at[2] == pytest.approx(1e-6) and at[4] == pytest.approx(3e-6) and 1e-6 < at[3] < 3e-6
    model = [bare.alltoallv(dense(np.zeros(n, dtype=int)), BRUCK) for n in (8, 64)]
    assert at[8] == pytest.approx(max(3e-6, model[0]))
    at_most = net.alltoallv(dense(np.zeros(64, dtype=int)), BRUCK)
    assert at_most == pytest.approx(max(3e-6, model[1])) and at_most > 3e-6
    sized = [net.alltoallv(dense([0, 0], size), BRUCK) for size in (1, 80, 1600)]
    assert sized == pytest.approx([1e-6, 5e-6**0.5 * 1e-6**0.5, 1e-5])
    other = Collectives(NET, {(FULL, "alltoall"): rows}, cores=2)  # measured with full nodes only
    assert other.alltoallv(dense([0, 1, 2, 3]), BRUCK) == bare.alltoallv(dense([0, 1, 2, 3]), BRUCK)
    assert other.alltoallv(dense([0, 0, 1, 1]), BRUCK) == pytest.approx(3e-6)
    assert bare.alltoallv(dense([0, 0]), LINEAR) == bare.messages(dense([0, 0]))
