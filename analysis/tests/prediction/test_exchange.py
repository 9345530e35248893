"""Times of exchanges: by hand for small groups, growth, tables of the profile."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark.core.errors import BadInput
from spikemark.machines import fields
from spikemark.machines.inputs import Inputs
from spikemark.network.composed import COMPOSED, MULTI_LEVEL, TWO_LEVEL, Composed
from spikemark.prediction import exchange, rates
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.loads import Loads
from spikemark.prediction.traffic import Traffic
from spikemark.presets import mam_benchmark

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=600, indegree=40)


def net(machine=None, nodes=2):
    return Collectives.of(Inputs(machine or Machine()), nodes)


def dense(ranks, size, each=1):
    other = 1.0 - np.eye(ranks)
    return Traffic(size * other, other, np.arange(ranks) // each)


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


def lane(name, ranks=64, composed=None):
    found = Loads.of(NETWORK, ranks, 1, rates.of(NETWORK).hz).lanes[0]
    return replace(found, exchange=name, composed=composed or Composed.of(name, {}))


def two(group=None):
    return lane(TWO_LEVEL, composed=Composed(("p2p", "p2p"), group))


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


def test_two_levels_are_an_exchange_within_blocks_and_one_between():
    """Four ranks in two blocks, 100 bytes each way and 8 of a frame: in both steps two words' runs travel."""
    found = exchange.seconds(net(), two(2), [dense(4, 100)])
    assert found == pytest.approx(2 * exchange.seconds(net(), lane("p2p"), [dense(2, 216)]))
    for block in (1, 4):  # all of it in one of the steps
        found = exchange.seconds(net(), two(block), [dense(4, 100)])
        assert found == pytest.approx(exchange.seconds(net(), lane("p2p"), [dense(4, 108)]))
    few = exchange.seconds(net(), two(), [dense(64, 4)])
    assert few < exchange.seconds(net(), lane("p2p"), [dense(64, 4)])  # what it is for
    assert exchange.seconds(net(), lane("two_level"), [dense(7, 100)]) > 0  # a smaller last block


def test_all_bytes_of_two_levels_arrive():
    """Words for another block that are not the bridge's own go twice, the others once."""
    # of 72 runs 18 stay in their block, 18 leave from their bridge itself, 36 go to it first
    assert sum(moved(two(3), dense(9, 100))) == pytest.approx(108 * (18 + 18 + 2 * 36))


def routed(sizes, **fields):
    parts = fields.pop("parts", ("p2p",) * len(sizes))
    return lane(MULTI_LEVEL, composed=Composed(parts, None, sizes, **fields))


def moved(used, traffic):
    """Bytes of each set of ranks in each hop."""
    found = []

    def count(net, part):
        found.append(part.bytes.sum())
        return 1e-6

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(exchange.EXCHANGES, "p2p", count)
        exchange.seconds(net(), used, [traffic])
    return found


def test_two_of_many_levels_are_two_levels():
    for traffic in (dense(9, 100), uneven(9)):
        found = exchange.seconds(net(), routed((3, 3)), [traffic])
        assert found == exchange.seconds(net(), two(3), [traffic])


def test_each_level_has_its_own_exchange():
    """The parts belong to the levels: on the receiver's side, the outermost one comes first."""
    parts = ("p2p", "alltoall")
    mixed = exchange.seconds(net(), routed((3, 3), parts=parts), [uneven(9)])
    assert mixed != pytest.approx(exchange.seconds(net(), two(3), [uneven(9)]), rel=1e-3)
    back = exchange.seconds(net(), routed((3, 3), parts=parts, side="receiver"), [uneven(9).back])
    assert back == pytest.approx(mixed)


class Uneven(Traffic):
    @property
    def back(self):
        """Everything the other way."""
        return Traffic(self.bytes.T, self.messages.T, self.node)


def uneven(ranks):
    sent = np.random.default_rng(1).uniform(1000, 9000, (ranks, ranks)) * (1 - np.eye(ranks))
    return Uneven(sent, np.sign(sent), np.arange(ranks))


def test_both_sides_carry_the_same_the_other_way_round():
    """What travels from s to r with bridges on one side travels from r to s with bridges on the other."""
    there = exchange.seconds(net(), routed((2, 4)), [uneven(8)])
    back = exchange.seconds(net(), routed((2, 4), side="receiver"), [uneven(8).back])
    assert there == pytest.approx(back, rel=0.02)


def test_all_bytes_of_three_levels_arrive():
    """A run makes a hop for every coordinate in which its ranks differ, with a frame in each."""
    runs = sum(bin(a ^ b).count("1") for a in range(8) for b in range(8))
    assert sum(moved(routed((2, 2, 2)), dense(8, 100))) == pytest.approx(108 * runs)
    assert len(moved(routed((8,)), dense(8, 100))) == 1


def test_a_merged_spike_goes_to_a_bridge_once():
    """Everyone needs every spike: to the bridge of three ranks goes a third of what they need together."""
    ranks, words = 9, 25.0

    def onto(sets):
        return np.full((ranks, sets.max() + 1), words)

    traffic = Traffic(4 * words * (1 - np.eye(ranks)), 1 - np.eye(ranks), np.arange(ranks), onto)
    for side in ("sender", "receiver"):
        plain, merged = (moved(routed((3, 3), side=side, merged=m), traffic) for m in (False, True))
        assert sum(merged[3:]) == pytest.approx(sum(plain[3:]))  # behind the bridge
        assert sum(merged[:3]) == pytest.approx(sum(plain[:3]) / 3)


def test_merging_saves_words_of_a_network():
    """Nearly every spike of this network is needed everywhere."""
    found = {}
    for merge in (False, True):
        given = {"name": MULTI_LEVEL, "dimensions": [2, 4], "parts": "p2p", "merge": merge}
        loads = Loads.of({**NETWORK, "exchange": given}, 8, 1, rates.of(NETWORK).hz)
        (used,) = loads.lanes
        exchange.check(used)
        (traffic,) = exchange.groups(loads, 0, 1)
        found[merge] = moved(used, traffic)
    assert sum(found[True][:4]) < 0.6 * sum(found[False][:4])
    assert sum(found[True][4:]) == pytest.approx(sum(found[False][4:]))
    alone = loads.onto(0, np.arange(8), np.arange(8))
    assert alone == pytest.approx(loads.words[0])  # a set of one rank gets what the rank gets


def test_ranks_of_a_node_share_its_card_in_all_sets():
    """Two nodes of four: the four columns of pairs all pass the same two cards."""
    size = 1_000_000
    found = exchange.seconds(net(), routed((4, 2)), [dense(8, size, each=4)])
    assert found >= 16 * size / 12e9


def test_a_group_without_a_size_is_that_of_the_mini_app():
    """The rounded root of the ranks, or two dimensions as equal as can be (choice_levels.c)."""
    assert Composed(sizes=()).dimensions(24) == (4, 6)
    for ranks, size in {2: 1, 4: 2, 5: 2, 7: 3, 9: 3, 13: 4}.items():
        assert Composed().dimensions(ranks)[0] == size


def test_one_exchange_of_many_cycles_is_cheaper_than_many():
    found = Loads.of(NETWORK, 8, 1, rates.of(NETWORK).hz, "structure_aware")
    far = found.lanes[1]
    assert (far.name, far.period) == ("far", 10)
    rare = exchange.groups(found, 1, 1)
    often = [Traffic(t.bytes / 10, t.messages, t.node) for t in rare]
    assert exchange.seconds(net(), far, rare) < 10 * exchange.seconds(net(), far, often)
    assert exchange.groups(found, 0, 1) == []  # near: every rank alone


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
            {"name": "multi_level", "dimensions": [2, 4], "table": "table.json"},
            "exchange: table='table.json' for lane world; allowed: none, since predictions know neither rank",
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
