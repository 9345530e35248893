"""Expected traffic beside networks drawn synapse by synapse, and beside closed forms."""

import numpy as np
import pytest
from drawn_network import hops, needs, pairs, rank_of_neurons

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.network import description
from spikemark.network.exchanges import SIDES, most_equal
from spikemark.network.placement import ranges
from spikemark.network.placement_file import Placement
from spikemark.prediction.partition import graph, traffic
from spikemark.prediction.partition.answer import load_summary
from spikemark.prediction.partition.methods import METHODS, divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.traffic import ExpectedTraffic

DRAWS = 60
OWN = [name for name, method in METHODS.items() if not method.library]


def agree(drawn: np.ndarray, expected: np.ndarray) -> None:
    """[draws, …] agree with their expectation in sum, and one by one as often as chance has it."""
    sums = drawn.reshape(len(drawn), -1).sum(axis=1)
    error = max(0.5, sums.std(ddof=1)) / np.sqrt(len(sums))
    assert abs(sums.mean() - expected.sum()) <= 3 * error + 1e-6 * expected.sum()
    spread = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    off = np.abs(drawn.mean(axis=0) - expected)
    assert (off > 3 * np.maximum(spread, 0.5 / np.sqrt(len(drawn)))).sum() <= max(
        1, 0.03 * off.size
    )


@pytest.mark.parametrize("placed", [*OWN, "rule area", "rule area_group", "rule round_robin"])
def test_placements_count_as_drawn_networks_do(placed, graphs):
    rng = np.random.default_rng(1)
    g, ranks = graphs["mam-benchmark"], 3
    rule = placed.removeprefix("rule ")
    placement = (
        divide(g, ranks, placed) if rule == placed else ranges(g.described.network, rule, ranks)[0]
    )
    rank = rank_of_neurons(placement.check(g.neurons, placed))
    found = ExpectedTraffic(g, placement)
    assert placement.per_rank.tolist() == np.bincount(rank, minlength=ranks).tolist()
    drawn = np.array(
        [pairs(needs(g.described, rank, ranks, rng), rank, ranks) for _ in range(DRAWS)]
    )
    agree(drawn, found.pairs)


def test_a_source_that_is_named_twice_is_in_the_pool_twice():
    neuron, delay = {"model": "ignore_and_fire"}, {"mean": 1}
    populations = [{"name": n, "size": 40, "neuron": neuron} for n in "abc"]
    projection = {"source": ["a", "a", "b"], "target": "c", "indegree": 3, "delay": delay}
    network = {"populations": populations, "projections": [projection]}
    given = {"format_version": 1, "time": {"simulate_ms": 1}, "network": network}
    g = graph._of_description(description.read_description(given))
    placement = Placement.from_ranges(3, [40, 80, 120], [0, 1, 2])
    rank, rng = rank_of_neurons(placement), np.random.default_rng(3)
    drawn = np.array([pairs(needs(g.described, rank, 3, rng), rank, 3) for _ in range(100)])
    agree(drawn, ExpectedTraffic(g, placement).pairs)


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize(
    ("sizes", "side"), [((2, 3), "sender"), ((3, 2), "receiver"), ((2, 2, 2), "sender")]
)
def test_levels_carry_what_single_spikes_would(sizes, side, merged, brain):
    rng, ranks = np.random.default_rng(4), int(np.prod(sizes))
    found = ExpectedTraffic(brain, divide(brain, ranks, "sequential"))
    rank = rank_of_neurons(found.placement)
    flows = np.array(
        [
            hops(needs(brain.described, rank, ranks, rng), rank, sizes, side, merged)
            for _ in range(30)
        ]
    )
    made = found.hops(Grid(ranks, sizes, side), merged)
    for number, hop in enumerate(made):
        agree(flows[:, number].sum(axis=2), hop.sent)
        agree(flows[:, number].sum(axis=1), hop.received)
    assert made[0].forwarded.sum() == 0 < made[1].forwarded.sum()
    if not merged:  # every route leaves its rank once
        first = sum(hop.sent - hop.forwarded for hop in made)
        assert first.sum() == pytest.approx(found.sent.sum())


@pytest.mark.parametrize(("ranks", "sizes"), [(7, (3, 3)), (11, (4, 3)), (5, (4, 2))])
def test_a_smaller_last_group_has_bridges_for_several_columns(ranks, sizes):
    """As two_level.c: word by word through member (r % g) % members of the own group."""
    given = np.random.default_rng(5).uniform(1, 2, (ranks, ranks)) * (1 - np.eye(ranks))
    group, flows = sizes[0], np.zeros((2, ranks, ranks))
    for s in range(ranks):
        first = s // group * group
        for r in range(ranks):
            bridge = first + r % group % min(group, ranks - first)
            flows[0, s, bridge] += given[s, r]
            flows[1, bridge, r] += given[s, r]
    for hop, flow in zip(Grid(ranks, sizes).hops(given), flows, strict=True):
        assert hop.flow.toarray() == pytest.approx(flow * (1 - np.eye(ranks)))
    for more in ("receiver", False), ("sender", True):
        with pytest.raises(BadInput, match="levels="):
            Grid.parsed("x".join(map(str, sizes)), ranks, *more)


def test_a_table_evens_bridges_out_and_keeps_its_cap():
    """The busiest bridge forwards less than without a table, and no bridge serves more ranks
    elsewhere.
    """
    ranks, sizes = 60, (6, 10)
    given = np.random.default_rng(6).lognormal(0, 1.5, (ranks, ranks)) * (1 - np.eye(ranks))
    for side in SIDES:
        plain = Grid(ranks, sizes, side)
        grid = plain.balanced(given)
        made, usual = (one.hops(given)[1] for one in (grid, plain))
        assert made.forwarded.max() < 0.8 * usual.forwarded.max()
        for group in range(10):
            outside = np.delete(grid.table[group], np.arange(6 * group, 6 * group + 6))
            assert np.bincount(outside, minlength=6).max() <= 9


def test_closed_forms():
    """Round robin: 97 of 2000 ranks for 100 synapses; two levels of 2000 ranks: 88 connections, as
    published; partners all over: 1/40 + 1/50 of the routes need no second hop of someone else.
    """
    ranks, sizes = 2000, most_equal(2000, 2)
    assert ranks * -np.expm1(100 * np.log1p(-1 / ranks)) == pytest.approx(97, abs=1)
    assert sizes == (40, 50) and most_equal(16_000, 3) == (20, 25, 32)
    first, second = Grid(ranks, sizes).hops(np.ones((ranks, ranks)) - np.eye(ranks))
    assert {int(n) for n in first.partners + second.partners} == {88}
    left_out = 1 - second.forwarded.sum() / (ranks * (ranks - 1))
    assert left_out == pytest.approx(1 / 40 + 1 / 50, rel=0.03)


def test_ranks_of_a_large_graph_that_is_dealt_are_alike(coarse, monkeypatch):
    g = graph.load(coarse)
    placement, sets = divide(g, 50, "round_robin"), np.arange(50) % 7
    exact = ExpectedTraffic(g, placement)
    monkeypatch.setattr(traffic, "MAX_COUNTED", 10)
    shared = ExpectedTraffic(g, placement)
    assert shared.there.shape[1] == 1
    assert shared.pairs == pytest.approx(exact.pairs, rel=1e-4)
    assert shared.onto(sets) == pytest.approx(exact.onto(sets), rel=1e-4)


def test_memory_is_asked_for_first(brain, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    with pytest.raises(BadInput, match="ranks=4000"):
        ExpectedTraffic(brain, Placement.from_ranges(4000, [brain.neurons], [0]))
    path = tmp_path / "graph.json"
    path.write_text(
        '{"kind": "voxel graph", "format_version": 1, "options": '
        '{"form": "graph", "voxels": 20000, "neurons": 100000000}}'
    )
    with pytest.raises(BadInput, match=r"options\.voxels=20000"):
        graph.load(path)


def test_ranks_without_load_have_no_ratio():
    nothing, something = (load_summary(np.array(of)) for of in ([0.0, 0.0], [1.0, 3.0]))
    assert nothing["max_over_mean"] is None and something["max_over_mean"] == 1.5
