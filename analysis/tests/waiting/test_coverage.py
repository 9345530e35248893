"""A small part of the coverage studies, and their tables."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from spikemark.network.meetings import plan
from spikemark.waiting import PREDICTORS, coverage, planted
from spikemark.waiting.planted import PLANTED

pytestmark = pytest.mark.slow
TRIALS = 60
FEWEST = int(
    stats.binom.ppf(0.001, TRIALS, coverage.WANTED)
)  # of intervals with the truth, where 92 % have it
CASES = [case for case in PLANTED if case.name in ("equal ranks, AR(1) 0.9", "unequal ranks, AR(1) 0.5")]


MEASURED, FURTHER_TRIALS = (4, 8), 40


@pytest.fixture(scope="module")
def found():
    return coverage.study(TRIALS, CASES)


@pytest.fixture(scope="module")
def further():
    return coverage.study_of_ranks(FURTHER_TRIALS, MEASURED)


def test_intervals_hold_the_truth(found):
    assert len(found) == len(CASES) * len(coverage.ASKED) * len(PREDICTORS)
    for one in found:
        if one.predictor != "iid":
            assert one.held * TRIALS >= FEWEST, one
            assert abs(one.bias) < 0.05, one


def test_intervals_hold_for_more_ranks_than_were_measured(further):
    assert len(further) == 2 * len(MEASURED) * len(coverage.TIMES) * len(PREDICTORS)
    for one in further:
        if one.predictor != "iid":
            assert one.held * FURTHER_TRIALS >= stats.binom.ppf(0.001, FURTHER_TRIALS, coverage.WANTED), one
            assert abs(one.bias) < 0.1, one
            assert one.width < 0.25 or "unequal" in one.planted, one


def test_the_truth_of_unequal_ranks_is_what_drawn_ones_wait():
    effects = planted.RANK_EFFECTS_S
    times = planted.unequal_ranks(effects, 0.8, np.random.default_rng(1), 400_000)
    lumped = times.reshape(planted.RANKS, -1, 10).sum(axis=2)
    drawn = (lumped.max(axis=0) - lumped.mean(axis=0)).mean()
    assert planted.expected_waiting_of_ranks_s(effects, 0.8, 10) == pytest.approx(drawn, rel=0.01)


def test_the_published_theory_misses_where_cycles_are_correlated(found):
    for one in found:
        if one.predictor == "iid" and one.plan.schedule != "conventional":
            assert one.held < 0.1 and one.bias < -0.3, one


def test_the_truth_of_independent_cycles_is_the_published_theory():
    case = PLANTED[0]
    plans = [plan(schedule, ratio, planted.RANKS) for schedule, ratio in coverage.ASKED]
    conventional, aware, overlapped = planted.expected_waiting_s(case, plans, 20)
    per_cycle = 1.42360 * planted.SD_S  # x_8
    assert conventional == pytest.approx(case.cycles * per_cycle, rel=0.01)
    assert aware == pytest.approx(case.cycles * per_cycle / 10**0.5, rel=0.02)
    assert 0 < overlapped < aware / 5


def test_the_page_in_docs_has_every_process_and_reaches_the_goal():
    page = (Path(__file__).parents[3] / "docs" / "coverage.md").read_text()
    first, second = (rows(part) for part in page.split("## More ranks"))
    expected = [[c.name, str(c.cycles), schedule] for c in PLANTED for schedule, _ in coverage.ASKED]
    assert [row[:3] for row in first] == expected
    asked = [
        [f"{name}, {measured} measured", str(times * measured)]
        for name, measured, times in product(coverage.SPREADS, coverage.MEASURED, coverage.TIMES)
    ]
    assert [row[:2] for row in second] == asked
    assert not any(" !" in cell for row in first + second for cell in row)


def test_the_text_of_the_page_in_docs_is_the_one_that_is_written():
    page = (Path(__file__).parents[3] / "docs" / "coverage.md").read_text()
    texts = [
        [line for line in made.splitlines() if line and not line.startswith("|")]
        for made in (page, coverage.page([], [], 500, page.split("*")[1].join("**")))
    ]
    assert texts[0] == texts[1]


def test_page_has_a_cell_for_every_result(found, further):
    first, second = (rows(part) for part in coverage.page(found, further, TRIALS, "").split("## More ranks"))
    assert len(first) == len(CASES) * len(coverage.ASKED)
    assert all(len(row) == 3 + len(PREDICTORS) for row in first)
    assert f"{100 * next(one for one in found if one.predictor == 'iid').held:.1f} %" in first[0][3]
    assert len(second) == len(further) // len(PREDICTORS)
    assert second[0][-1] == f"{100 * next(one for one in further if one.predictor == 'replay').width:.0f} %"


def rows(page: str) -> list[list[str]]:
    lines = (line for line in page.splitlines() if line.startswith("| ") and "%)" in line)
    return [line.strip("| ").split(" | ") for line in lines]
