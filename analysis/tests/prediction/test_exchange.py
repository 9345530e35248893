"""Times of exchanges: by hand for small groups, growth, tables of the profile."""

import re
from pathlib import Path

import numpy as np
import pytest
from exchange_nets import NETWORK, dense, lane, net, one_on_each
from small_machine import Machine, Value

from spikemark.core.errors import BadInput
from spikemark.machines import fields
from spikemark.network.composed import COMPOSED
from spikemark.prediction import exchange, rates
from spikemark.prediction.loads import Loads
from spikemark.prediction.traffic import Traffic


def test_two_ranks_by_hand():
    """Latency and bytes over bandwidth; above the eager threshold one more way of the wire, of 1.2 us."""
    assert net().messages(dense(2, 1200)) == pytest.approx(1.5e-6 + 1200 / 12e9)
    assert net().messages(dense(2, 120_000)) == pytest.approx(2.7e-6 + 120_000 / 12e9)


def test_the_gap_keeps_both_ends_of_a_message_busy():
    """Few messages end with the last on its way, many when their receiver has taken them all."""
    assert net().messages(dense(5, 1)) == pytest.approx(1.5e-6 + 3 * 0.15e-6)
    assert net().messages(dense(32, 1)) == pytest.approx(31 * 0.3e-6)


def test_ranks_of_a_node_share_its_card():
    size = 1_000_000
    apart, together = dense(8, size), dense(8, size, each=4)
    assert net().messages(apart) == pytest.approx(2.7e-6 + 7 * size / 12e9)
    assert net().messages(together) == pytest.approx(2.7e-6 + 16 * size / 12e9)


def test_small_messages_to_many_go_by_log_of_the_ranks():
    times = [net().alltoall(dense(ranks, 4)) for ranks in (4, 16, 64, 256)]
    assert (np.diff(times) > 0).all()
    assert times[-1] < 256 * 0.3e-6  # less than one message to each
    assert times[-1] == pytest.approx(8 * (1.5e-6 + 128 * 4 / 12e9))


def test_a_barrier_takes_a_latency_for_every_doubling():
    assert net().barrier(dense(64, 1)) == pytest.approx(6 * 1.5e-6)
    assert net().barrier(dense(32, 1, each=8)) == pytest.approx(3 * 0.4e-6 + 2 * 1.5e-6)  # near ones first


@pytest.mark.parametrize("ranks", [2, 8, 32, 128])
def test_who_comes_last_leaves_a_barrier_first(ranks):
    """Its arrival reaches others after a latency for each binary one in the distance of their numbers."""
    traffic, latency = dense(ranks, 1), 1.5e-6
    together = net().barrier_after(traffic, np.zeros((1, ranks)))
    assert together.mean() == pytest.approx(net().barrier(traffic))
    late = np.zeros((1, ranks))
    late[0, 1] = 1e-3
    paired = ranks < 64  # from there on, partners go round
    ways = [bin(rank ^ 1 if paired else (rank - 1) % ranks).count("1") for rank in range(ranks)]
    busy = 0.3e-6 * np.log2(ranks)  # the gap for each message, all of which are there already
    found = net().barrier_after(traffic, late)
    assert found[1] == pytest.approx(busy)
    assert found == pytest.approx(latency * np.array(ways), abs=busy)
    assert 0.5 < found.mean() / net().barrier(traffic) < 0.65


def test_a_barrier_of_doubling_pairs_as_many_ranks_as_a_power_of_two_has():
    """Of ten, two first tell a partner that they are there. Its messages are late by a latency, of 1.5 us,
    and so are those of the ranks that hear of it last; who waits for others anyway needs a gap, of 0.3 us.
    """
    traffic, us = dense(10, 1), 1e-6 * np.array([4.5, 4.5, 4.8, 4.8, 4.8, 4.8, 6, 6, 6, 6])
    assert net().barrier_after(traffic, np.zeros((1, 10))) == pytest.approx(us)
    assert net().barrier(traffic) == pytest.approx(us.mean())
    late = np.zeros((1, 10))
    late[0, 9] = 1e-3  # it is told by its partner, which has all other messages by then
    assert net().barrier_after(traffic, late)[9] == pytest.approx(1e-6 * (1.5 + 3 * 0.3 + 1.5))


def test_a_barrier_of_a_root_lets_nobody_go_early():
    late = np.zeros((1, 4))
    late[0, 1] = 1e-3
    assert net().barrier_after(dense(4, 1), late) == pytest.approx(net().barrier(dense(4, 1)))


def test_tables_of_the_profile_come_first():
    rows = ((8, 4, 10.0), (8, 4096, 40.0), (32, 4, 30.0), (32, 4096, 120.0))
    known = net(Machine().with_(interconnect__tables__alltoall=Value(rows, "us", "literature")))
    assert known.alltoall(dense(8, 4)) == pytest.approx(10e-6)
    assert known.alltoall(dense(32, 4096)) == pytest.approx(120e-6)
    assert known.alltoall(dense(16, 4)) == pytest.approx(1e-6 * np.sqrt(300))
    assert known.alltoall(dense(8, 128)) == pytest.approx(20e-6)
    assert known.alltoall(dense(8, 8192)) == pytest.approx(80e-6)
    assert known.alltoall(dense(64, 4)) > known.alltoall(dense(32, 4))


def test_tables_are_those_of_the_way_that_ranks_lie_on_nodes():
    tables = {
        f"interconnect__{at}__alltoall": Value(((2, 4, us), (32, 4, 2 * us)), "us")
        for at, us in ((fields.WITHIN, 1.0), (fields.BETWEEN, 50.0), (fields.FULL, 300.0))
    }
    known = net(Machine().with_(**tables))
    assert known.alltoall(dense(2, 4, each=2)) == pytest.approx(1e-6)
    assert known.alltoall(dense(2, 4)) == pytest.approx(50e-6)
    assert known.alltoall(dense(32, 4, each=16)) == pytest.approx(600e-6)
    assert known.alltoall(dense(32, 4, each=8)) == net().alltoall(dense(32, 4, each=8))  # nobody measured it


def test_many_nodes_share_what_congestion_leaves():
    crowded = Machine().with_(interconnect__congestion=Value(2.0, "1"))
    large = dense(4, 10_000_000)
    assert net(crowded, nodes=4).messages(large) == pytest.approx(2 * net(nodes=4).messages(large), rel=1e-3)
    pair = dense(2, 10_000_000)
    assert net(crowded, nodes=2).messages(pair) == net(nodes=2).messages(pair)


@pytest.mark.parametrize("name", [*exchange.EXCHANGES, *COMPOSED])
def test_every_exchange_grows_with_ranks_and_bytes(name):
    used = lane(name)
    exchange.check(used)

    def time(ranks, size):
        each = ranks if name == "shared" else 1
        return exchange.seconds(net(nodes=ranks // each), used, [dense(ranks, size, each)])

    assert 0 < time(4, 100) < time(16, 100) < time(64, 100)
    assert time(16, 100) < time(16, 100_000)
    assert exchange.seconds(net(), used, []) == 0


def test_every_exchange_of_the_mini_app_has_a_model():
    sources = Path(__file__).parents[3] / "miniapp" / "src" / "transport" / "exchange"
    names = {
        m for f in sources.glob("*.c") for m in re.findall(r'(?:\.name =|NAME   ) "(\w+)"', f.read_text())
    }
    assert len(names) > 10 and names - {"self"} == {*exchange.EXCHANGES, *COMPOSED}


def test_one_sided_exchanges_by_hand():
    """Two ranks: a put is a message, a fence a barrier."""
    barrier, block = 1.5e-6, 256  # 25 words and four times five more: 47 of 64

    def put(size):
        return 1.5e-6 + size / 12e9

    assert exchange.seconds(net(), lane("rma_put"), [dense(2, 100)]) == pytest.approx(put(104) + barrier)
    assert exchange.seconds(net(), lane("rma_doubling"), [dense(2, 100)]) == pytest.approx(
        put(block) + barrier
    )
    steps = exchange.seconds(net(), lane("rma_doubling"), [dense(8, 100)])
    assert steps == pytest.approx(sum(put(n * block) + 3 * barrier for n in (1, 2, 4)))
    local = exchange.seconds(net(), lane("shared"), [dense(2, 100, each=2)])
    assert local == pytest.approx(0.4e-6 + 0.4e-6 + 100 / 10e9)


def test_one_exchange_of_many_cycles_is_cheaper_than_many():
    found = Loads.of(NETWORK, 8, 1, rates.of(NETWORK).hz, "structure_aware")
    far = found.lanes[1]
    assert (far.name, far.period) == ("far", 10)
    rare = exchange.groups(found, 1, one_on_each(found))
    often = [Traffic(t.bytes / 10, t.messages, t.node) for t in rare]
    assert exchange.seconds(net(), far, rare) < 10 * exchange.seconds(net(), far, often)
    assert exchange.groups(found, 0, one_on_each(found)) == []  # near: every rank alone


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("quick", "exchange: 'quick' for lane world; allowed: alltoallv, "),
        (
            {"name": "two_level", "inner": "allgather"},
            "exchange: inner 'allgather' for lane world; allowed: ",
        ),
        (
            {"name": "two_level", "outer": "two_level"},
            "exchange: outer 'two_level' for lane world; allowed: ",
        ),
        ({"name": "two_level", "group": 9}, "exchange: group=9 for lane world; allowed: 1 to 8 ranks"),
        ({"world": {"name": "two_level", "group": 0}}, "exchange: group=0 for lane world; allowed: 1 to 8"),
        (
            {"name": "multi_level", "dimensions": "2x4"},
            "exchange: dimensions='2x4' for lane world; allowed: a list of 1 to 8",
        ),
        (
            {"name": "multi_level", "dimensions": []},
            "exchange: dimensions=[] for lane world; allowed: a list of 1 to 8",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 0, 4]},
            "exchange: dimensions=[2, 0, 4] for lane world; allowed: a list",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 3]},
            "exchange: dimensions=[2, 3] for lane world; allowed: a product of 8",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "parts": ["p2p"]},
            "exchange: parts=('p2p',) for lane world; allowed: one exchange, or one for each dimension",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "parts": "allgather"},
            "exchange: level 1 'allgather' for lane world; allowed: alltoallv, ",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "side": "left"},
            "exchange: side='left' for lane world; allowed: sender, receiver",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "merge": 1},
            "exchange: merge=1 for lane world; allowed: true, false",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "table": "/nowhere/table.json"},
            "/nowhere/table.json: not found",
        ),
        (
            {"name": "multi_level", "dimensions": [2, 4], "order": 3},
            "exchange: order=3 for lane world; allowed",
        ),
    ],
)
def test_a_back_end_there_is_not_is_refused(given, complaint):
    (used,) = Loads.of({**NETWORK, "exchange": given}, 8, 1, rates.of(NETWORK).hz).lanes
    with pytest.raises(BadInput) as bad:
        exchange.check(used)
    assert complaint in str(bad.value)


def test_shared_memory_ends_with_the_node():
    with pytest.raises(BadInput, match="exchange='shared': 8 ranks on 2 nodes; allowed: on one node"):
        exchange.seconds(net(), lane("shared"), [dense(8, 4, each=4)])
