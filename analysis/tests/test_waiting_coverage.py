"""A small part of the coverage study, and its table."""

from pathlib import Path

import pytest
from scipy import stats

from spikemark.waiting import PREDICTORS, coverage, planted, show
from spikemark.waiting.plan import plan
from spikemark.waiting.planted import PLANTED

TRIALS = 60
FEWEST = int(stats.binom.ppf(0.001, TRIALS, coverage.WANTED))  # of intervals that hold, where 92 % do
CASES = [case for case in PLANTED if case.name in ("equal ranks, AR(1) 0.9", "unequal ranks, AR(1) 0.5")]


@pytest.fixture(scope="module")
def found():
    return coverage.study(TRIALS, CASES)


def test_intervals_hold_the_truth(found):
    assert len(found) == len(CASES) * len(coverage.ASKED) * len(PREDICTORS)
    for one in found:
        if one.predictor != "iid":
            assert one.held * TRIALS >= FEWEST, one
            assert abs(one.bias) < 0.05, one


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
    page = (Path(__file__).parents[2] / "docs" / "coverage.md").read_text()
    rows = [
        line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ") and "%)" in line
    ]
    expected = [[c.name, str(c.cycles), schedule] for c in PLANTED for schedule, _ in coverage.ASKED]
    assert [row[:3] for row in rows] == expected
    marked = sum(" !" in cell for row in rows for cell in row[3:])
    assert marked == 0


def test_page_has_a_cell_for_every_result(found):
    page = show.coverage_page(found, TRIALS)
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ") and "%" in line]
    assert len(rows) == len(CASES) * len(coverage.ASKED)
    assert all(len(row) == 3 + len(PREDICTORS) for row in rows)
    first = next(one for one in found if one.predictor == "iid")
    assert f"{100 * first.held:.1f} %" in rows[0][3]
