"""Studies of Shehzad & Bozkus, MUSIC and Du et al., and routing: what their answers rest on."""

import numpy as np
import pytest
import swept

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import Collectives, Traffic
from spikemark.network.exchanges import most_equal
from spikemark.network.presets import voxels
from spikemark.network.presets.options import choose
from spikemark.prediction.partition import graph, methods, routed
from spikemark.prediction.partition.methods import divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.traffic import ExpectedTraffic as Routes
from spikemark.running import sweeps
from spikemark_studies import claims, du, music, profiles, routing, shehzad, study
from spikemark_studies.claims import Answered, Judged
from spikemark_studies.published import papers
from spikemark_studies.study import Runs

#: Draws of what is uncertain of a network: a quarter of those of a study, and as undecided.
FEW_NETWORKS = 16


def few_networks(machine: str, nodes: int) -> list[Collectives]:
    """In place of profiles.drawn_interconnects, for what is tested with few draws."""
    return profiles.drawn_interconnects(machine, nodes, FEW_NETWORKS)


def answers(name: str, runs: Runs) -> dict[str, Judged | Answered]:
    """Of every claim and finding of a study by its function."""
    paper, functions = study.load_paper(name), study.answer_functions(name)
    given = {part.ours: study._find(part, functions, runs) for part in paper.findings}
    for claim in paper.claims:
        if claim.ours:
            given[claim.ours] = study.answer(claim, functions, runs)
    return given


def by(table, name: str) -> dict:
    return {row[name]: row for row in table.rows}


# -------------------- Shehzad & Bozkus


def test_published_tables_hold_together_as_far_as_they_do():
    for name in ("shehzad_table2", "shehzad_table3"):
        for row in papers.rows(name):
            mpi, rma, printed = (float(row[k]) for k in ("mpi_s", "rma_s", "reduction_pct"))
            assert 100 * (1 - rma / mpi) == pytest.approx(printed, abs=0.011)
    assert shehzad._slips(None).value.value == 8


def test_algorithm_1_leaves_the_ranks_if_its_power_of_two_is_that_of_the_rank():
    """Steps that are powers of two pair ranks as they must; others take the rank for a step."""
    for ranks, outside in {2: 0, 4: 0, 8: 4, 16: 12, 32: 52}.items():
        targets = shehzad.literal_targets(ranks, "rank")
        assert len(targets) == ranks * (ranks.bit_length() - 1)
        assert sum(not 0 <= target < ranks for target in targets.values()) == outside
        for (rank, step), target in targets.items():
            if step in (1, 2):
                assert target == rank ^ 2 ** (step - 1)


def test_puts_without_fences_are_an_allgather():
    """Recursive doubling by puts sends what MPI_Allgather sends; each fence adds barriers to it."""
    profile = machines.filled(machines.load(shehzad.MACHINE))
    for ranks in (2, 4):  # a rank on each node
        net = Collectives.from_values(Values(profile), ranks)
        other = 1.0 - np.eye(ranks)
        traffic = Traffic(4 * other, other, np.arange(ranks))
        once = EXCHANGES["rma_doubling"](net, traffic) - np.log2(ranks) * net.barrier(traffic)
        assert once == pytest.approx(EXCHANGES["allgather"](net, traffic), rel=0.02)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Both experiments with few ranks and windows on SimGrid."""
    small = {
        "shehzad": {
            "exchange-shehzad": {
                "grid": [
                    {
                        "exchange": ["allgather", "rma_doubling", "rma_bruck"],
                        "ranks": 4,
                        "preset.neurons_per_area": 1000,
                    },
                    {
                        "exchange": ["allgather", "rma_doubling"],
                        "ranks": 4,
                        "preset.rate": 640,
                        "preset.neurons_per_area": 2525,
                    },
                ],
                "set": {"time.warmup_ms": 2, "time.simulate_ms": 10, "placement": "round_robin"},
            }
        },
        "music": {
            "exchange-music": {
                "grid": [
                    {
                        "preset.np": 4,
                        "preset.structure": [0, 1],
                        "ranks": 8,
                        "exchange": ["allgatherv", "direct"],
                    },
                    {"preset.np": 16, "preset.structure": 0.5, "exchange": "direct", "ranks": 32},
                ],
                "set": {"time.warmup_ms": 1, "time.simulate_ms": 3},
            }
        },
    }
    found = {}
    for name, experiments in small.items():
        folder = tmp_path_factory.mktemp(name)
        paper = study.load_paper(name).model_copy(update={"experiments": experiments})
        with open(folder / "log", "w") as log, pytest.MonkeyPatch.context() as patch:
            patch.setattr(sweeps, "_snakemake", swept.carried_out_here)
            patch.setattr(music, "drawn_interconnects", few_networks)
            found[name] = study.carry_out(
                name, study.answer_functions(name), True, None, folder, log, paper
            )
        assert found[name].complaints == []
    by_function = {}
    for name, finished in found.items():
        by_function[name] = {each.claim.ours: each for each in finished.claims}
        by_function[name] |= {each.finding.ours: each for each in finished.findings}
    return by_function


@pytest.mark.slow
def test_one_sided_doubling_on_simgrid(simulated):
    found = simulated["shehzad"]
    assert found["steps"].answer.value.value == 1
    assert found["bruck"].answer.value.value > 1.5
    (row,) = found["table3"].answer.tables[0].rows
    assert (row["ranks"], row["theirs"]) == (4, 9.84)
    assert row["rma_doubling"] > row["allgather"] > 0 > row["saved"]
    (ring,) = found["bruck"].answer.tables[0].rows
    assert ring["rma_bruck"] == pytest.approx(row["rma_doubling"], rel=0.1)
    (sizes,) = found["sizes"].answer.tables[0].rows
    assert sizes["block"] >= 4 * 640e-3 * 2525 / 4 and sizes["ratio"] > 1


@pytest.mark.slow
def test_connectivity_decides_between_collective_and_point_to_point(simulated):
    found = simulated["music"]
    assert (
        found["neighbours"].answer.value.value == 9
        and found["neighbours"].verdict == claims.BY_CONSTRUCTION
    )
    assert found["surplus"].answer.value.value == pytest.approx(7 / 4, rel=0.1)  # sizes aside
    one, every = (
        found[name].answer.tables[0].rows[0] for name in ("one_to_one_ratio", "all_to_all")
    )
    assert one["collective_bytes"] == pytest.approx(every["collective_bytes"], rel=1e-6)
    assert one["direct_bytes"] == pytest.approx(every["direct_bytes"] / 4, rel=0.05)
    assert one["ratio"] > every["ratio"] > 0
    assert found["four"].answer is None and found["four"].why


# -------------------- MUSIC


@pytest.mark.slow
def test_published_cells_and_the_model_of_a_collective():
    assert music._cells(None).value.value == 524_288
    table = music._crossing(None).tables[0]
    rows = by(table, "ranks")
    costly = [f"gap {gap_us}" for gap_us in music.GAPS_US]
    for row in rows.values():  # the dearer a message, the better the collective
        ratios = [row[name] for name in costly]
        assert ratios == sorted(ratios, reverse=True)
    assert rows[1024][costly[-1]] < 1 < rows[32][costly[-1]]
    assert rows[1024]["empty"] < rows[32]["empty"]  # log2(ranks) steps against messages to all
    assert rows[1024][music.BLUE_GENE] == music._all_to_all_1024(None).value.value


def test_draws_of_a_network_spread_as_its_profile_says():
    """The cost of a message on Blue Gene/Q: the median and the interval that are stated."""
    value = machines.load(music.BLUE_GENE).get("interconnect.gap")
    networks = profiles.drawn_interconnects(music.BLUE_GENE, 64, 400)
    gaps_us = [1e6 * network.net.gap_s for network in networks]
    low, high = value.interval
    assert np.median(gaps_us) == pytest.approx(value.value, rel=0.1)
    assert np.quantile(gaps_us, 0.975) / np.quantile(gaps_us, 0.025) == pytest.approx(
        high / low, rel=0.2
    )


# -------------------- Du et al.


@pytest.fixture
def small(monkeypatch, tmp_path) -> Runs:
    """A brain of 400 voxels on 20 and 40 ranks."""
    for name, value in {"voxels": 400, "regions": 12, "connected": 0.15}.items():
        monkeypatch.setitem(voxels.FULL_BRAIN, name, value)
    changed = {
        "NEURONS_PER_RANK": 1_000_000,
        "RANKS": 20,
        "DOUBLE_RANKS": 40,
        "INDEGREES": (100, 1000),
    }
    for name, value in changed.items():
        monkeypatch.setattr(du, name, value)
    monkeypatch.setattr(methods, "GENERATIONS", 200)
    monkeypatch.setattr(du, "_last_brain", {})
    return Runs(tmp_path)


def test_partitions_and_levels_of_a_small_brain(small):
    found = answers("du", small)
    assert not {name for name, each in found.items() if each.answer is None}
    peaks = by(found["printed_against_random"].answer.tables[0], "method")
    assert set(peaks) == set(du.SHOWN_METHODS)
    assert peaks["greedy_swap"]["peak"] < peaks["greedy_affinity"]["peak"] < peaks["random"]["peak"]
    assert peaks[du.GENETIC_BY_TRAFFIC]["peak"] < peaks["genetic"]["peak"]
    change = found["printed_against_random"].answer.value
    assert change.low < change.value < change.high < 0
    assert found["connections_after"].answer.value.value == sum(most_equal(20, 2)) - 2
    ways = {(row["way"], row["indegree"]): row for row in found["level_two"].answer.tables[0].rows}
    assert ways[du.BALANCED, 100]["peak"] < ways[du.PLAIN, 100]["peak"]
    assert ways[du.MERGED, 1000]["same"] < ways[du.MERGED, 100]["same"] < 0
    drawn = found["curves"].answer
    assert len(drawn.figures) == 1
    for row in drawn.tables[0].rows:
        assert row["low"] <= row["middle"] <= row["high"] <= row["peak"]


@pytest.mark.parametrize("ranks", [20, 200])
def test_connections_with_two_levels_are_those_of_the_grid(ranks):
    """All others of the group, and one in each other group: no partition can change that."""
    of_group, groups = most_equal(ranks, 2)
    grid = Grid(ranks, (of_group, groups))
    for seed in (1, 2):
        words = np.random.default_rng(seed).random((ranks, ranks)) * (1 - np.eye(ranks))
        partners = np.sum([hop.partners for hop in grid.hops(words)], axis=0)
        assert set(partners) == {of_group - 1 + groups - 1}


def test_level_two_without_merging_is_all_that_leaves_the_group(small):
    """Why -51 % cannot be had without merging: the mean falls by the own group's share alone."""
    brain = du._brain_of(20, 100)
    traffic = Routes(brain, divide(brain, 20, "greedy_swap"))
    sizes = most_equal(20, 2)
    group = np.arange(20) // sizes[0]
    away = (traffic.pairs * (group[:, None] != group[None, :])).sum()
    second = traffic.hops(Grid(20, sizes))[1]
    assert second.sent.sum() == pytest.approx(away)
    assert second.forwarded.sum() < away


def test_what_was_computed_is_kept(small, monkeypatch):
    du._connections_before(small)
    monkeypatch.setattr(du, "_loads", lambda *given: pytest.fail("computed twice"))
    du._connections_before(small)


@pytest.mark.slow
@pytest.mark.nightly
def test_check_values_of_the_full_brain():
    """1552 partners with voxels in sequence (tuned), 1956 at random, 97 ranks a spike with round
    robin.
    """
    brain = graph.of_voxels(choose(voxels.VoxelsOptions, {}, full=True))
    assert brain.neurons == 10**10 and len(brain.areas) == 22_603
    random, sequential, dealt, swapped = (
        Routes(brain, divide(brain, 2000, name))
        for name in ("random", "sequential", "round_robin", "greedy_swap")
    )
    assert sequential.partners.mean() == pytest.approx(1552, rel=0.01)
    assert random.partners.mean() == pytest.approx(1958, rel=0.005)
    assert random.sent.mean() / (0.8 * 5e6) == pytest.approx(
        28, rel=0.04
    )  # ranks of a projecting neuron
    assert dealt.sent.mean() / 5e6 == pytest.approx(97, rel=0.01)
    assert random.sent.max() / swapped.sent.mean() == pytest.approx(1.45, rel=0.06)


# -------------------- beyond the papers


@pytest.mark.slow
def test_beyond_the_threshold_directly_is_fastest(monkeypatch, tmp_path):
    """Brains of 400 voxels with little traffic, so that levels pay at D = 1."""
    for name, value in {"voxels": 400, "regions": 12, "connected": 0.3}.items():
        monkeypatch.setitem(voxels.FULL_BRAIN, name, value)
    for name, value in {"NEURONS_PER_RANK": 2000, "RANKS": (16, 36, 64), "REPLAYED": ()}.items():
        monkeypatch.setattr(routing, name, value)
    routing._traffic.cache_clear()
    runs = Runs(tmp_path)
    rows, times = (
        by(f(runs).tables[0], "ranks") for f in (routing._thresholds, routing._by_levels)
    )
    for brain in routing._brains(runs):
        net, row = routing._net(brain.ranks), rows[brain.ranks]
        assert row["d"].low <= row["d"].value <= row["d"].high
        for factor, directly in ((0.6, False), (1.6, True)):
            way = brain.fastest(net, factor * brain.border(net))
            assert (len(way.sizes) == 1) == directly
        best = brain.fastest(net, 10, 1)
        assert times[brain.ranks]["s1"] == pytest.approx(brain.cost(net, best, 10))
    routing._traffic.cache_clear()


@pytest.mark.parametrize("sizes", [(16,), (4, 4), (2, 2, 4)])
def test_sums_take_the_time_of_the_exchange_that_is_predicted(sizes):
    """One model: what `predict` says of multi_level, where ranks are alike."""
    words = np.full((16, 16), 25.0) * (1 - np.eye(16))
    net = routing._net(16)
    found = [hop.busiest for hop in Grid(16, sizes).hops(words)]
    traffic = Traffic(4 * words, np.sign(words), np.arange(16))
    if len(sizes) == 1:
        assert routed.seconds_alone(net, found, 1.0) == pytest.approx(
            EXCHANGES["p2p"](net, traffic)
        )
        return
    composed = routed.ComposedExchange(("p2p",) * len(sizes), None, sizes)
    expected = routed.seconds(net, composed, traffic, EXCHANGES)
    assert routed.seconds_alone(net, found, 1.0) == pytest.approx(expected, rel=0.01)
