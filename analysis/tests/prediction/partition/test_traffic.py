"""Expected traffic beside networks drawn synapse by synapse, and beside what closed forms say."""

import numpy as np
import pytest
from drawn_network import hops, needs, pairs, rank_of_neurons

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.network import description
from spikemark.network.placement_file import Placement
from spikemark.prediction.partition import graph, levels, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS
from spikemark.prediction.partition.placement import of_rule
from spikemark.prediction.partition.show import Load

DRAWS = 60
OWN = [name for name, method in METHODS.items() if not method.library and name != "space_filling"]


def agree(drawn: np.ndarray, expected: np.ndarray, sd: float = 3.0) -> None:
    """[draws, …] agree with their expectation in sum, and one by one as often as chance has it."""
    sums = drawn.reshape(len(drawn), -1).sum(axis=1)
    error = max(0.5, sums.std(ddof=1)) / np.sqrt(len(sums))
    assert abs(sums.mean() - expected.sum()) <= sd * error + 1e-6 * expected.sum()
    spread = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    off = np.abs(drawn.mean(axis=0) - expected)
    assert (off > 3 * np.maximum(spread, 0.5 / np.sqrt(len(drawn)))).sum() <= max(1, 0.03 * off.size)


@pytest.mark.slow
@pytest.mark.parametrize("name", OWN)
def test_every_method_counts_as_drawn_networks_do(name, graphs):
    rng = np.random.default_rng(1)
    for g in (graphs["voxels"], graphs["mam-benchmark"]):
        for ranks in (1, 2, 5):
            placement = divide(g, ranks, METHODS[name], time_limit_s=1).placement.check(g.neurons, name)
            found = traffic.expected(g, placement)
            rank = rank_of_neurons(placement)
            assert found.neurons.tolist() == np.bincount(rank, minlength=ranks).tolist()
            drawn = np.array([pairs(needs(g.described, rank, ranks, rng), rank, ranks) for _ in range(DRAWS)])
            agree(drawn, found.pairs)


@pytest.mark.parametrize("rule", ["round_robin", "area", "area_group"])
def test_placements_of_the_mini_app_count_as_drawn_networks_do(rule, graphs):
    rng = np.random.default_rng(2)
    g = graphs["mam-benchmark"]
    placement = of_rule(g.described, rule, 3).check(g.neurons, rule)
    rank = rank_of_neurons(placement)
    drawn = np.array([pairs(needs(g.described, rank, 3, rng), rank, 3) for _ in range(DRAWS)])
    agree(drawn, traffic.expected(g, placement).pairs)


def test_a_source_that_is_named_twice_is_in_the_pool_twice():
    neuron = {"model": "ignore_and_fire"}
    delay = {"mean": 1}
    given = {
        "time": {"simulate_ms": 1},
        "network": {
            "populations": [{"name": n, "size": 40, "neuron": neuron} for n in "abc"],
            "projections": [{"source": ["a", "a", "b"], "target": "c", "indegree": 3, "delay": delay}],
        },
    }
    g = graph.of_description(description.read(given))
    placement = Placement.of(3, [40, 80, 120], [0, 1, 2])
    rank = rank_of_neurons(placement)
    rng = np.random.default_rng(3)
    drawn = np.array([pairs(needs(g.described, rank, 3, rng), rank, 3) for _ in range(100)])
    agree(drawn, traffic.expected(g, placement).pairs)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 2, 2), (6,)])
@pytest.mark.parametrize("side", levels.SIDES)
@pytest.mark.parametrize("merged", [False, True])
def test_levels_carry_what_single_spikes_would(sizes, side, merged, brain):
    rng = np.random.default_rng(4)
    ranks = int(np.prod(sizes))
    placement = divide(brain, ranks, METHODS["sequential"]).placement
    rank = rank_of_neurons(placement)
    flows = np.array(
        [hops(needs(brain.described, rank, ranks, rng), rank, sizes, side, merged) for _ in range(30)]
    )
    hits = traffic.Hits(brain, placement)
    found = levels.loads(hits, hits.between(), sizes, side, merged)
    for hop, level in enumerate(found):
        agree(flows[:, hop].sum(axis=2), level.sent)
        agree(flows[:, hop].sum(axis=1), level.received)
        most = (flows[:, hop].max(axis=0) > 0).sum(axis=1)
        assert (level.partners >= most).all()
    assert sum(level.forwarded.sum() for level in found[:1]) == 0
    if not merged:
        direct = traffic.expected(brain, placement)
        first = sum(level.sent - level.forwarded for level in found)
        assert first.sum() == pytest.approx(direct.sent.sum())  # every route leaves its rank once


def test_hits_have_a_closed_form_for_voxels_of_their_own_rank(coarse):
    g = graph.load(coarse)
    placement = divide(g, 300, METHODS["sequential"]).placement
    found = traffic.expected(g, Placement.of(300, np.cumsum(g.atom_sizes), np.arange(300)))
    s, r = 17, int(np.argmax(found.pairs[17]))
    unit = 2 * s  # E of that voxel
    draws = g.miss[[unit], [r]][0] * g.atom_sizes[r]
    assert found.pairs[s, r] == pytest.approx(g.sizes[unit] * -np.expm1(-draws), rel=1e-6)
    assert placement.neurons == 30_000_000


def test_check_values_of_the_literature():
    """Round robin: 97 of 2000 ranks for 100 synapses; 28 for the 2/7 of them that leave a voxel."""
    hit = 2000 * -np.expm1(100 * np.log1p(-1 / 2000))
    assert hit == pytest.approx(97, abs=1)
    assert 2000 * -np.expm1(200 / 7 * np.log1p(-1 / 2000)) == pytest.approx(28, abs=0.5)
    for ranks, expected in {
        2000: [1999, 87, 35, 23],
        4000: [3999, 124, 45, 28],
        16000: [15999, 251, 73, 41],
    }.items():
        assert [round(levels.messages(ranks, k)) for k in (1, 2, 3, 4)] == expected
    below = [1e-6 * levels.worth(2000, k, 1e-6, 2e-6, 12.5e9) for k in (1, 2, 3)]
    for found, printed, digit in zip(below, (24, 0.64, 0.13), (0.5, 0.01, 0.005), strict=True):
        assert abs(found - printed) <= digit  # MB of a rank, for one level more
    assert levels.best_group(2000) == pytest.approx(44.7, abs=0.1)
    assert levels.best_group(2000, 1, 4) == pytest.approx(2 * 44.7, abs=0.1)
    assert levels.most_equal(2000, 2) == (40, 50)
    assert sum(levels.most_equal(2000, 2)) - 2 == 88  # as published


def test_own_group_takes_a_little_from_the_second_level_without_locality():
    """Partners all over: 1/40 + 1/50 of the routes need no second hop of someone else."""
    ranks, sizes = 2000, (40, 50)
    pairs = np.ones((ranks, ranks))
    np.fill_diagonal(pairs, 0)
    second = levels.loads(None, pairs, sizes)[1]
    left_out = 1 - second.forwarded.sum() / pairs.sum()
    assert left_out == pytest.approx(1 / 40 + 1 / 50, rel=0.03)
    assert {int(n) for n in second.partners} == {49}


@pytest.mark.parametrize(("ranks", "sizes"), [(7, (3, 3)), (8, (3, 3)), (11, (4, 3)), (5, (4, 2))])
def test_a_smaller_last_group_has_bridges_for_several_columns(ranks, sizes):
    """As two_level.c: word by word through member (r % g) % members of the own group."""
    rng = np.random.default_rng(5)
    pairs = rng.uniform(1, 2, (ranks, ranks)) * (1 - np.eye(ranks))
    group = sizes[0]
    flows = np.zeros((2, ranks, ranks))
    for s in range(ranks):
        first = s // group * group
        for r in range(ranks):
            bridge = first + r % group % min(group, ranks - first)
            flows[0, s, bridge] += pairs[s, r]
            flows[1, bridge, r] += pairs[s, r]
    for flow in flows:
        np.fill_diagonal(flow, 0)
    found = levels.hops(pairs, sizes)
    for hop, flow in zip(found, flows, strict=True):
        assert hop.flow.toarray() == pytest.approx(flow)
    assert levels.dimensions("x".join(map(str, sizes)), ranks) == sizes
    for more in ({"side": "receiver"}, {"onto": pairs.dot}):
        with pytest.raises(BadInput, match="with a smaller last group, bridges are on the sender's side"):
            levels.hops(pairs, sizes, **more)


def test_sparse_traffic_is_the_same(brain):
    hits = traffic.Hits(brain, divide(brain, 6, METHODS["sequential"]).placement)
    weight = np.linspace(1, 2, len(brain.sizes))
    assert hits.links(weight).toarray() == pytest.approx(hits.between(weight))
    dealt = traffic.Hits(brain, divide(brain, 6, METHODS["round_robin"]).placement)
    assert dealt.links().toarray() == pytest.approx(dealt.between())
    for merged in (False, True):
        dense, few = (levels.loads(hits, p, (2, 3), "sender", merged) for p in (hits.between(), hits.links()))
        for one, other in zip(dense, few, strict=True):
            assert one.sent == pytest.approx(other.sent) and one.largest == pytest.approx(other.largest)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [("40x51", "2040 ranks; the placement has 2000"), ("40x", "whole numbers"), ("0x2000", "whole numbers")],
)
def test_dimensions_must_multiply_to_the_ranks(text, complaint):
    with pytest.raises(BadInput, match=complaint):
        levels.dimensions(text, 2000)


def test_unknown_side_and_wrong_sizes(brain):
    hits = traffic.Hits(brain, divide(brain, 4, METHODS["sequential"]).placement)
    with pytest.raises(BadInput, match="side='left': sender or receiver"):
        levels.loads(hits, hits.between(), (2, 2), "left")
    with pytest.raises(BadInput, match="levels=2x3: 6 ranks instead of 4"):
        levels.loads(hits, hits.between(), (2, 3))


def test_dealt_neurons_of_a_large_graph_are_shared_evenly(coarse, monkeypatch):
    g = graph.load(coarse)
    placement = divide(g, 50, METHODS["round_robin"]).placement
    exact = traffic.expected(g, placement)
    monkeypatch.setattr("spikemark.prediction.partition.placement.MOST_COUNTED", 10)
    shared = traffic.expected(g, placement)
    assert shared.pairs == pytest.approx(exact.pairs, rel=1e-4)


def test_mixed_placements_are_shared_alike(coarse, monkeypatch):
    g = graph.load(coarse)
    half = g.neurons // 2
    placement = Placement.of(10, [half, half + 1000, g.neurons], [0, 4, 5], [4, 1, 5], method="mixed")
    exact = traffic.expected(g, placement).pairs
    monkeypatch.setattr("spikemark.prediction.partition.placement.MOST_COUNTED", 1)
    assert traffic.expected(g, placement).pairs == pytest.approx(exact, rel=1e-3, abs=1)


def test_memory_is_asked_for_first(brain, monkeypatch, tmp_path):
    monkeypatch.setattr(memory, "available", lambda: 1_000_000)
    with pytest.raises(BadInput, match="ranks=4000: a matrix of all pairs"):
        traffic.Hits(brain, Placement.of(4000, [brain.neurons], [0]))
    path = tmp_path / "graph.json"
    path.write_text('{"kind": "voxel graph", "format_version": 1, "options": '
                    '{"form": "graph", "voxels": 20000, "neurons": 100000000}}')  # fmt: skip
    with pytest.raises(BadInput, match=r"options.voxels=20000, .* pairs needs 6 GB of memory; 0.001 GB"):
        graph.load(path)


def test_ranks_without_load_have_no_ratio():
    nothing, something = (Load("sent", "routes from here", np.array(of)) for of in ([0.0, 0.0], [1.0, 3.0]))
    assert nothing.content()["max_over_mean"] is None
    assert something.content()["max_over_mean"] == 1.5
