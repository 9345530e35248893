"""What the page says the waiting is made of, what would change it, and how well it is predicted."""

import numpy as np
import pytest
from html_page import page
from planned import grid, run, view_of, write_experiment
from printed import lines, table
from synthetic import overlap

from spikemark.quantities.words import number
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.sections import SECTIONS, budget, validation, waiting
from spikemark.waiting import PREDICTORS
from spikemark.waiting.whatif import CHANGES

UNEQUAL = {"ar1": 0.9, "rank_sd": 0.03, "cycles": 1000}


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    runs = grid(ranks=(1, 4), ratios=(2, 10), seeds=(1, 2), schedules=("conventional",), **UNEQUAL)
    return view_of(tmp_path_factory.mktemp("unequal"), runs)


def test_both_follow_the_waiting():
    at = SECTIONS.index(waiting.section)
    assert SECTIONS[at + 1 : at + 3] == (budget.section, validation.section)


def test_the_bars_are_the_measured_waiting_of_several_ranks(view):
    found = budget.section(view)
    assert [figure.id for figure in found.figures] == ["budget-4"] and not found.missing
    bars = budget.prepare(view.case, 4, 10)
    assert [bar.configuration.schedule for bar in bars] == ["conventional", *["structure_aware"] * 2]
    for bar in bars:
        runs = [m.waiting for m in view.case.of(bar.configuration, 4)]
        assert bar.waiting == pytest.approx(np.exp(np.log(runs).mean()), rel=1e-5)
        assert sum(part.value for part in bar.parts.values()) == pytest.approx(bar.waiting)
    often, seldom = bars[0], bars[-1]
    assert seldom.parts["jitter"].value < 0.5 * often.parts["jitter"].value
    assert seldom.parts["drift"].value > 0.9 * often.parts["drift"].value


def test_every_change_has_a_line_and_an_effect(view):
    table = next(t for t in budget.section(view).tables if t.title.startswith("What if"))
    assert "4 ranks" in table.title
    lines = {row[0]: row for row in table.cells}
    assert {"base", *CHANGES} <= set(lines)
    assert lines["level-ranks"][2].startswith("\u2212") and lines["double-ranks"][2].startswith("+")


def test_on_two_ranks_what_needs_more_is_missing_with_its_reason(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1,), schedules=("conventional",), **UNEQUAL)
    found = budget.section(view_of(tmp_path, runs))
    rows = next(t for t in found.tables if t.title.startswith("What if")).cells
    assert "level-ranks" in [row[0] for row in rows] and "double-ranks" not in [row[0] for row in rows]
    assert found.missing[0].startswith("double-ranks on 2 ranks: ") and "at least 4" in found.missing[0]


def test_slow_nodes_are_named_with_their_share_of_the_waiting(tmp_path):
    nodes = [node for node in ("n1", "n2", "n3", "n4") for _ in range(2)]
    options = {"nodes": nodes, "slower": {"n3": 1.1}, "cv": 0.02, "cycles": 400}
    runs = [run(ranks=8, repetition=i, delay_ratio=10, **options) for i in (1, 2)]
    shown = budget.section(view_of(tmp_path, runs))
    (line,) = lines(table(shown, "Differences between nodes on 8 ranks"))
    assert line["slow nodes"].startswith("n3: ") and line["slow nodes"].endswith("in 2 of 2 runs on it")
    assert line["runs"] == "2"


def test_nothing_is_said_of_nodes_where_all_ranks_are_on_one(view):
    assert not [t for t in budget.section(view).tables if t.title.startswith("Differences between nodes")]


def test_efficiencies_multiply(view):
    table = next(t for t in budget.section(view).tables if t.title.startswith("Efficiencies"))
    for row in table.cells:
        balance, serial, transfer, parallel = (float(cell.split("\u202f")[0]) / 100 for cell in row[1:])
        assert balance * serial * transfer == pytest.approx(parallel, abs=2e-3)


def test_predictions_stand_beside_what_was_measured(view):
    rows = validation.prepare(view.case, 4)
    assert [row.configuration.delay_ratio for row in rows] == [2, 10]
    assert all(list(row.predicted) == list(PREDICTORS) and len(row.measured) == 2 for row in rows)
    assert rows[-1].factor("replay") == pytest.approx(1, abs=0.01)  # the same times, by the same seed
    assert rows[-1].factor("iid") < 0.6
    table = validation.section(view).tables[0]
    for row, line in zip(rows, table.cells, strict=True):
        assert number(np.exp(np.log(row.measured).mean())) in line
    assert {head for head, _ in table.heads} >= {*PREDICTORS, *(f"{name}, error" for name in PREDICTORS)}


def test_ranks_that_overlap_wait_equally_long_in_both_sections(tmp_path):
    """They have no barrier: their phase synchronise is 0, and that is not their waiting."""
    runs = [run(schedule, d, 4, 1, **UNEQUAL) for schedule, d in (("conventional", 1), ("overlapped", 10))]
    folder = write_experiment(tmp_path, runs)
    for path in (folder / "runs").iterdir():
        if "overlapped" in (path / "record.json").read_text():
            overlap(path)
    view = look(gather(folder))
    (waited,) = waiting.section(view).figures[0].table.rows[1:]
    (predicted,) = validation.section(view).tables[0].rows
    assert waited["waiting"] == predicted["waiting"] > 0
    assert waited["waits"] == predicted["waits"] == "for messages under way, with their transport"
    assert not waited["expected"] and "no theory of overlap" in waited["expected"].mark


def test_without_cycles_or_partners_it_is_missing_with_a_reason(tmp_path):
    alone = view_of(tmp_path / "alone", [run("conventional", 1, 2, cycles=100)])
    assert "partner under another schedule" in validation.section(alone).missing[0]
    short = view_of(tmp_path / "short", [run("conventional", 1, 2, cycles=10)])
    assert "no run with recorded cycle times" in budget.section(short).missing[0]
    single = view_of(tmp_path / "single", [run("conventional", 1, 1, cycles=100)])
    assert "one rank waits for nobody" in budget.section(single).missing[0]
    nothing = view_of(tmp_path / "nothing", [run(state="absent")])
    for section in (budget, validation):
        assert "no run is complete" in section.section(nothing).missing[0]


def test_on_the_page_both_are_there(tmp_path, undrawn):
    found = page(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=200))
    assert {"budget", "validation", "budget-2"} <= set(found.ids)


def test_the_text_begins_with_the_slow_rank_and_with_what_helps_most(tmp_path):
    slow = {"nodes": ["n1", "n2", "n3", "n4"], "slower": {"n3": 1.3}, "cycles": 1000, "cv": 0.02}
    found = budget.section(view_of(tmp_path, [run("conventional", 1, 4, seed, **slow) for seed in (1, 2)]))
    named, helps, explained = found.text
    assert named.startswith("Conventional on 4 ranks: rank 2 on n3 causes ") and "2 of 2 runs" in named
    assert helps.startswith("On 4 ranks, ") and "most, in 2 of 2 runs: the run time would fall by " in helps
    assert explained.startswith("Why do ranks wait?")
