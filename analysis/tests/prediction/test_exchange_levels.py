"""Times of exchanges of several levels: every byte makes its hops, and each level has its own exchange."""

import numpy as np
import pytest
from exchange_nets import NETWORK, dense, lane, net, one_on_each

from spikemark.network.composed import MULTI_LEVEL, TWO_LEVEL, Composed
from spikemark.prediction import exchange, rates
from spikemark.prediction.loads import Loads
from spikemark.prediction.traffic import Traffic


def two(group=None):
    return lane(TWO_LEVEL, composed=Composed(("p2p", "p2p"), group))


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
        (traffic,) = exchange.groups(loads, 0, one_on_each(loads))
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
