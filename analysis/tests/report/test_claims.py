"""What the page claims: key figures, warnings by severity, why the theory misses, why counts are equal."""

import json
import re

import numpy as np
import pytest
from edited_record import set_times
from fake_simulation import simulated
from planned import grid, run, view_of, write_experiment
from synthetic import PHASES, describe, job

from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report import first_screen
from spikemark.report.cautions import EDITED, LOADS, ODD, SEVERITY, SIMULATED, cautions, strongest_load
from spikemark.report.sections import access, autocorrelation, cycle_times, waiting
from spikemark.report.sections.access import ALL, filled
from spikemark.report.sections.waiting.misfit import misfit

STEADY = {"cv": 0.01}


def pairs(times, ranks=2, **options):
    """A conventional and a structure-aware run for every pair of means, or of options, in `times`."""
    runs = []
    for seed, sides in enumerate(times, 1):
        plain, aware = (side if isinstance(side, dict) else {"mean_s": side, **STEADY} for side in sides)
        runs.append(run("conventional", 1, ranks, seed, **plain, **options))
        runs.append(run("structure_aware", 10, ranks, seed, **aware, **options))
    return runs


def cells(view, row=1):
    """The cells of a row of the table at the top, by the name of the column."""
    table = first_screen.table(view)
    return dict(zip((column.name for column in table.columns), table.cells[row], strict=True))


def test_a_resolved_change_is_a_change_in_per_cent_with_its_interval(tmp_path):
    found = cells(view_of(tmp_path, pairs([(4e-5, 2e-5), (5e-5, 2e-5), (4e-5, 2.4e-5)])))
    assert re.fullmatch(r"\u2212\d+\u202f% \(\u2212\d+\u202f% to \u2212\d+\u202f%\)", found["change"])
    low, high = map(float, re.search(r"\((.*)–(.*)\)", found["speed_up"]).groups())
    assert 1 < low < high


def test_an_open_change_has_an_interval_on_both_sides(tmp_path):
    spreads = [({"cv": a}, {"cv": b}) for a, b in ((0.4, 0.9), (0.9, 0.4), (0.5, 0.9))]
    found = cells(view_of(tmp_path, pairs(spreads)))
    assert re.search(r"\(\u2212.* to \+", found["change"])


@pytest.mark.parametrize("number", [1, 2])
def test_few_pairs_stand_for_themselves(tmp_path, number):
    found = cells(view_of(tmp_path, pairs([(4e-5, 2e-5), (4e-5, 1e-5)][:number])))
    for name in ("speed_up", "change"):
        assert found[name].startswith(f"{number} pair") and "(" not in found[name]
        assert found[name].count(" and ") == number - 1


def test_the_one_to_compare_with_has_no_ratio_to_itself(tmp_path):
    found = cells(view_of(tmp_path, pairs([(4e-5, 2e-5)] * 3)), row=0)
    assert found["schedule"] == "conventional" and found["speed_up"] == found["change"] == "–"


def test_one_rank_has_no_waiting_at_the_top(tmp_path):
    found = cells(view_of(tmp_path, pairs([(4e-5, 2e-5)] * 3, ranks=1)))
    assert found["waiting"] == "–" and "change" not in found


def test_equal_counts_are_explained(tmp_path):
    view = view_of(tmp_path, pairs([(4e-5, 2e-5)] * 2))
    text = " ".join(access.section(view).text)
    assert "Here hardly any list is empty" in text and "several areas" not in text


def test_two_lists_of_a_source_are_explained(tmp_path):
    view = view_of(tmp_path, pairs([(4e-5, 2e-5)] * 2, ranks=1))
    text = " ".join(access.section(view).text)
    assert "here 2 areas on 1 rank" in text and "two lists per source" in text


def test_where_lists_are_empty_nothing_is_said_to_be_equal(tmp_path):
    sparse = describe(areas=2, neurons=400, indegree=2, delay_ratio=10)
    view = view_of(tmp_path, pairs([(4e-5, 2e-5)] * 3, description=sparse))
    assert max(filled(view.case.runs)) < ALL
    assert "hardly any list is empty" not in " ".join(access.section(view).text)


WARNINGS = {
    "virtual machine": "virtual machine: guests",
    "stolen time": "stolen time: the hypervisor took 0.31 cores away",
    "passive waiting": "passive waiting: threads sleep while they wait (OMP_WAIT_POLICY=passive)",
    "active waiting": "active waiting: threads that share hardware threads keep each other from working",
    "foreign load": "foreign load: other processes kept 1.75 cores busy",
    "bound too tightly": "bound too tightly: rank 0 has 2 threads and may use 1 hardware thread(s)",
    "shared cores": "shared cores: 2 ranks on node n1, such as ranks 0 and 1, have 2 threads on 1 core",
    "oversubscribed": "oversubscribed: 4 ranks x 2 threads on 2 cores of a node",
    "": "something new",
}


def test_warnings_by_severity(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1, 2, 3), cycles=100)
    first, *others = WARNINGS.values()
    for i, (options, warning) in enumerate(zip(runs[: len(others)], others, strict=True)):
        options |= {"warnings": [warning], "launch": job(i, began_s=-0.5 * i)}
    runs[0]["warnings"].append(first)
    runs[0].update(checksum="0123456789abcdef", timing__timer_overhead=0.2)
    runs[1].update(provenance__commit="1" * 40, provenance__dirty=True)
    runs.append(run("conventional", 1, 2, seed=1, threads=2, cycles=100, warnings=[]))
    found = cautions(view_of(tmp_path, runs))
    starts = [s for s in SEVERITY if s]
    known = [next((s for s in starts if text.startswith(s)), "") for text in found]
    apart = (SIMULATED, ODD, EDITED)  # cautions of other pages
    assert list(dict.fromkeys(known)) == [s for s in SEVERITY if s not in apart]
    assert known[: 1 + len(LOADS)] == ["different checksums", *LOADS] and known[-1] == "virtual machine"


@pytest.mark.parametrize(("beginning", "number"), [("foreign load", "1.75"), ("stolen time", "0.31")])
def test_the_load_is_given_with_its_largest_number(tmp_path, beginning, number):
    runs = pairs([(4e-5, 2e-5)])
    runs[0]["warnings"] = [WARNINGS[beginning]]
    runs[1]["warnings"] = [WARNINGS[beginning].replace(number, "0.12"), WARNINGS["virtual machine"]]
    clause = strongest_load(view_of(tmp_path, runs).case.runs)
    assert number in clause and "0.12" not in clause


@pytest.mark.parametrize("beginning", LOADS)
def test_every_load_becomes_a_clause(tmp_path, beginning):
    runs = [dict(m, warnings=[WARNINGS[beginning]]) for m in pairs([(4e-5, 2e-5)])]
    clause = strongest_load(view_of(tmp_path, runs).case.runs)
    assert clause.startswith("measured w") and "{}" not in clause


def test_without_load_there_is_no_clause(tmp_path):
    assert strongest_load(view_of(tmp_path, pairs([(4e-5, 2e-5)])).case.runs) is None


def with_waiting(folder, runs, change, factor=1.0):
    """The view after `change(times [rank, cycle, phase])`; the waiting recorded is `factor` times theirs."""
    experiment = write_experiment(folder, runs)
    for path in experiment.glob("runs/*/cycles.npy"):
        times = np.load(path)
        change(times)
        times[:, :, PHASES.index("synchronise")] *= factor
        set_times(path.parent, times)
    return look(gather(experiment))


def test_independent_normal_times_are_met(tmp_path):
    view = view_of(tmp_path, pairs([({"cv": 0.2}, {"cv": 0.2})] * 2))
    found = misfit(view.case, 2)
    assert found.factor == pytest.approx(1, rel=0.1) and not found.notable and found.reason == ""
    assert "1.0 times the waiting of" in waiting.section(view).text[2]


def test_rare_long_cycles_are_named_with_what_they_do(tmp_path):
    def stretch(times):
        times[:, ::200, 0] *= 100  # of all ranks at once, so nobody waits longer

    view = with_waiting(tmp_path, pairs([({"cv": 0.2}, {"cv": 0.2})] * 2), stretch)
    found = misfit(view.case, 2)
    assert found.factor > 5 and found.cv > 1 and found.cv_without_tail == pytest.approx(0.2, rel=0.2)
    text = waiting.section(view).text[2]
    assert "because rare long cycles inflate the SD" in text and "the conventional runs it is fitted" in text
    below = cycle_times.section(view).text[1]
    assert "begin below 0 for conventional" in below and "\u2212" in below and "normal distribution" in below


def test_waiting_that_compute_times_do_not_imply_is_named(tmp_path):
    runs = pairs([({"cv": 0.2}, {"cv": 0.2})] * 2)
    found = misfit(with_waiting(tmp_path, runs, lambda times: None, factor=5).case, 2)
    assert (
        found.factor == pytest.approx(0.2, rel=0.1)
        and "not spent on waiting for a slower rank" in found.reason
    )


def test_ranks_that_differ_lastingly_are_named(tmp_path):
    description = describe(areas=16, neurons=20, indegree=4, delay_ratio=10)

    def slow(times):
        times[0, :, 0] += 1e-4  # one rank of sixteen, always
        times[1:, :, PHASES.index("synchronise")] = 1e-4

    runs = pairs([({"cv": 0.01}, {"cv": 0.01})] * 2, ranks=16, description=description)
    view = with_waiting(tmp_path, [dict(m, cycles=100) for m in runs], slow)
    found = misfit(view.case, 16)
    assert found.factor < 0.5 and "ranks differ lastingly" in found.reason


def test_a_miss_nothing_known_explains_gets_no_reason(tmp_path):
    runs = pairs([({"cv": 0.2}, {"cv": 0.2})] * 2)
    view = with_waiting(tmp_path, runs, lambda times: None, factor=0.1)
    found = misfit(view.case, 2)
    assert found.factor == pytest.approx(10, rel=0.1) and found.reason == ""
    assert "neither rare long cycles nor" in waiting.section(view).text[2]


def test_without_cycles_or_waiting_there_is_no_misfit(tmp_path):
    assert misfit(view_of(tmp_path, pairs([({"cv": 0.0}, {"cv": 0.0})])).case, 2) is None
    one = view_of(tmp_path / "one", pairs([(4e-5, 2e-5)], ranks=1))
    assert misfit(one.case, 1) is None


def test_captions_say_where_times_are_cut_and_how_many_ranks_there_are(tmp_path):
    view = view_of(tmp_path, pairs([({"cv": 0.2}, {"cv": 0.2})] * 2))
    figure = cycle_times.section(view).figures[0]
    assert "to the left of the axis" in figure.caption and "to the right of it" in figure.caption
    inside = figure.table.cells[0][-1]
    assert f"(measured): {inside} (conventional)" in figure.caption
    assert autocorrelation.section(view).figures[0].title == "Autocorrelation, 2 ranks"


def test_odd_values_of_the_simulated_machine_are_a_caution(tmp_path):
    line = "interconnect.bandwidth: 200 GB/s is 8.1 times the highest known"
    folder = simulated(write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1, 2), cycles=100)))
    assert not any(ODD in text for text in cautions(look(gather(folder))))
    for run_dir in (folder / "runs").iterdir():
        (run_dir / "simulation.json").write_text(json.dumps({"odd_values": [line]}))
    found = [text for text in cautions(look(gather(folder))) if ODD in text]
    assert found == [f"odd value of the machine's profile: {line}"]
