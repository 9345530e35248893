"""Modelled cycles of ranks, and the map of which claims hold for which jitter."""

import numpy as np
import pytest

from spikemark.models import waiting_iid
from spikemark.models.jitter import Jitter
from spikemark.prediction import points, program_costs
from spikemark_studies import cycles, jitter_map, score
from spikemark_studies.cycles import ModelledCycles
from spikemark_studies.jitter_map import JitterOfMap

RANKS = 64


def equal_ranks(window: int) -> ModelledCycles:
    return ModelledCycles({"deliver": np.full(RANKS, 2e-4)}, 1e-5, window)


@pytest.mark.parametrize("window", [1, 10])
def test_ranks_with_independent_times_wait_as_the_theory_says(window):
    factors = cycles.factors_of(Jitter(cv=0.05), RANKS)
    expected = waiting_iid.predict(2e-4, 0.05 * 2e-4, RANKS, 1, window)
    waiting_s = equal_ranks(window).waiting_s(factors)
    assert waiting_s == pytest.approx(expected["waiting_s"], rel=0.05)  # of 200 windows: 1.6 %
    total_s = equal_ranks(window).cycle_s(factors)
    assert total_s == pytest.approx(2e-4 + waiting_s + 1e-5)


def test_what_all_ranks_have_in_common_makes_nobody_wait():
    factors = cycles.factors_of(Jitter(cv=0.05, common_share=1.0), RANKS)
    assert factors.std() > 0.04
    assert equal_ranks(1).waiting_s(factors) == pytest.approx(0, abs=1e-12)


def test_a_slow_node_makes_the_others_wait_for_as_long_as_it_is_slower():
    compute_s = np.full(RANKS, 1e-4)
    compute_s[3] *= 1.5
    one_slow = ModelledCycles({"deliver": compute_s}, 0.0, 10)
    factors = np.ones((RANKS, cycles.DRAWN_CYCLES))
    assert one_slow.waiting_s(factors) == pytest.approx(0.5e-4 * (RANKS - 1) / RANKS)


def test_maxima_lie_where_the_theory_says_unless_ranks_are_slow_together():
    rng = np.random.default_rng(1)
    times = rng.normal(1, 0.02, (RANKS, 20_000))
    assert cycles.maxima_inside_percent(times) == pytest.approx(95, abs=1)
    times[:, :400] *= 1.3  # 2 % of the cycles are long for all, and fill as much of the upper part
    upper = 1 - 0.05 ** (1 / RANKS)
    inside = 0.02 + 0.98 * (1 - (1 - (upper - 0.02) / 0.98) ** RANKS)
    assert cycles.maxima_inside_percent(times) == pytest.approx(100 * inside, abs=1)


def test_costs_of_both_programs_make_the_schedules_differ_as_they_must():
    for program in (cycles.NEST, cycles.MINI_APP):
        conventional = cycles.of_benchmark(program, 16, "conventional")
        aware = cycles.of_benchmark(program, 16, "structure_aware")
        assert set(conventional.phases_s) == set(cycles.PHASES[program])
        assert (conventional.window, aware.window) == (1, 10)
        assert aware.phases_s["deliver"].mean() < conventional.phases_s["deliver"].mean()
        assert aware.exchange_s < conventional.exchange_s
    unequal = cycles.of_benchmark(cycles.NEST, 16, "structure_aware", size_cv=0.3)
    assert np.ptp(unequal.compute_s) > 0.2 * unequal.compute_s.mean()


def test_costs_alone_have_the_ratios_of_nest():
    of_nest = cycles.of_benchmark(cycles.NEST, 16, "conventional")
    alone = cycles.of_benchmark(cycles.NestCosts(), 16, "conventional")
    ratios = [phases["deliver"] / phases["update"] for phases in (of_nest.phases_s, alone.phases_s)]
    assert ratios[0] == pytest.approx(ratios[1])


def test_delivery_by_lane_adds_up_and_lists_make_the_difference():
    own, others = cycles.delivery_by_lane(cycles.NestCosts(), 16)
    deliver = cycles.of_benchmark(cycles.NestCosts(), 16, "structure_aware").phases_s["deliver"]
    assert own + others == pytest.approx(deliver.mean(), rel=1e-3)
    assert others > own


def test_each_source_of_nest_is_left_out_once_and_some_matter():
    left_out = [costs.without for costs in cycles.refitted() if not costs.off]
    assert len(set(left_out)) == len(left_out) > 5 and () not in left_out
    usual = cycles._fitted_costs((), "", 1.0)
    moved = [abs(cycles._fitted_costs(sources, "", 1.0) - usual).max() for sources in left_out]
    assert max(moved) > 0.3


def test_one_fit_has_no_series_of_the_authors_and_some_of_others():
    """The named sources exist, are left out at once, and others of NEST remain."""
    sources = {score.source_of(run) for run in points.published() if run.program == "nest"}
    assert set(cycles.SOURCES_OF_AUTHORS) < sources
    assert cycles.NestCosts(without=cycles.SOURCES_OF_AUTHORS) in cycles.refitted()


def test_each_first_guess_of_computing_is_off_either_way_and_moves_its_cost():
    """A cost that the series decide would stay; none moves by more than its guess."""
    usual = cycles._fitted_costs((), "", 1.0)
    names = [cost.name for cost in program_costs.NEST.costs]
    by_cost: dict[str, list[float]] = {}
    for costs in cycles.refitted():
        if costs.off:
            assert costs.without == ()
            fitted = cycles._fitted_costs((), costs.off, costs.factor)
            moved = (fitted - usual)[names.index(costs.off)]
            assert 0 < moved / np.log(costs.factor) < 1.3
            by_cost.setdefault(costs.off, []).append(costs.factor)
    computing = [
        cost.name for cost in program_costs.NEST.costs if cost.phase in cycles.PHASES["nest"]
    ]
    assert list(by_cost) == computing
    for least, largest in by_cost.values():
        assert least * largest == pytest.approx(1) and largest > 2


@pytest.mark.slow
def test_few_source_areas_save_lists_of_synapses():
    """As many as in the benchmark would be saved if all areas sent alike (29 %, eqs 13 to 17)."""
    placed, conventional = (
        cycles.lists_of_multi_area_model("jureca-dc", schedule)
        for schedule in ("placement_only", "conventional")
    )
    assert 0 < placed < 0.2 * conventional


@pytest.mark.parametrize("between", [0.1, 1 / 3])
def test_a_network_gets_the_share_of_synapses_between_areas_that_is_asked(between):
    populations = [
        {"name": "a0", "area": "a", "size": 10},
        {"name": "b0", "area": "b", "size": 30},
    ]
    projections = []
    for source in ("a0", "b0"):
        for target in ("a0", "b0"):
            indegree = {"distribution": "poisson", "mean": 5.0 if source == target else 1.0}
            projections.append({"source": [source], "target": target, "indegree": indegree})
    description = {"network": {"populations": populations, "projections": projections}}
    changed = cycles._connected(description, between)
    sizes = {"a0": 10, "b0": 30}
    synapses = {True: 0.0, False: 0.0}
    for projection in changed["network"]["projections"]:
        is_between = projection["source"] != [projection["target"]]
        synapses[is_between] += sizes[projection["target"]] * projection["indegree"]["mean"]
    assert sum(synapses.values()) == pytest.approx(40 * 6)
    assert synapses[True] == pytest.approx(between * 40 * 6)
    assert description["network"]["projections"][0]["indegree"]["mean"] == 5


@pytest.fixture(scope="module")
def asked():
    return jitter_map.questions(cycles.MINI_APP)


@pytest.mark.slow
def test_without_jitter_nobody_waits_but_for_unequal_areas(asked):
    quiet = Jitter(cv=1e-6)
    assert asked["waiting-dominates"](quiet) < 0.01
    assert asked["longer-than-bare"](quiet) == pytest.approx(1, abs=0.01)
    assert asked["two-modes"](quiet) == 1
    assert asked["order-of-waiting-jureca"](quiet)[-1] == "conventional"
    loud = Jitter(cv=0.5)
    assert asked["waiting-dominates"](loud) > 10
    assert asked["order-of-waiting-jureca"](loud)[0] != "structure-aware"


def test_independent_times_save_what_the_theory_says_and_slow_nodes_nothing(asked):
    assert 60 < asked["waiting-saved"](Jitter(cv=0.05)) < 73  # the means differ, too
    lasting = asked["waiting-saved"](Jitter(cv=0.001, node_spread=0.2))
    assert lasting == pytest.approx(10, abs=8)  # what delivery gains


@pytest.mark.slow
def test_the_map_has_all_jitters_and_claims_that_hold_on_one_side(asked):
    found = jitter_map.places(cycles.MINI_APP)
    axes = (jitter_map.SPREADS, jitter_map.MINOR_MODES, jitter_map.COMMON_SHARES)
    assert len(found) == np.prod([len(axis) for axis in axes])
    for place in found:
        assert set(place.holding) <= set(asked) == set(jitter_map.LABELS)
        assert ("two-modes" in place.holding) == (place.minor_mode != "no long cycles")
    least = [place for place in found if place.spread == min(jitter_map.SPREADS)]
    most = [place for place in found if place.spread == max(jitter_map.SPREADS)]
    for place, other in zip(least, most, strict=True):
        assert ("waiting-dominates" in place.holding) <= ("waiting-dominates" in other.holding)


def test_what_the_map_says_follows_from_its_places():
    places = [JitterOfMap(0.01, "none", 0.1, ["a"]), JitterOfMap(0.02, "some", 0.1, ["a", "b"])]
    assert "1 of 2" in jitter_map.conclusion(places, 2)
    assert "0.02" in jitter_map.conclusion(places, 2)
    assert "no jitter of 2" in jitter_map.conclusion(places, 3)
    assert "for the best one 2 do" in jitter_map.conclusion(places, 3)


@pytest.mark.parametrize("id", ["waiting-dominates", "only-part-of-maxima"])
def test_intervals_over_jitter_hold_the_middle(id):
    low, high = jitter_map.interval_over_jitter(id)
    assert 0 < low < 1 < high
