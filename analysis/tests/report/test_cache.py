"""Sections of cache misses and counters: planted counters, and what they say without any."""

import numpy as np
import pytest
from benched import write_caches
from planned import run, view_of, write_experiment
from printed import kinds

from spikemark.caches import misses
from spikemark.core.errors import BadInput
from spikemark.quantities.words import number
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.sections import cache, counters

MISSES = {"name": "last_level_misses", "unit": "count", "source": "papi", "event": "PAPI_L3_TCM"}
REASON = "no such event on this machine"
UNAVAILABLE = MISSES | {"event": None, "status": "unavailable", "reason": REASON}
FAULTS = {"name": "minor_faults", "unit": "count", "source": "getrusage", "status": "ok", "value": 5.0}


def section_of(folder, meters):
    """A sweep over D and ranks; `meters`: of a run, from its first accesses and synaptic events."""
    options = [run("conventional", 1, ranks) for ranks in (1, 2)]
    options += [run("structure_aware", 10, 2), run("conventional", 1, 2, threads=4)]
    counted = gather(write_experiment(folder / "first", options)).runs
    for entry, m in zip(options, counted, strict=True):
        totals = m.run.record.totals
        entry["meters"] = meters(totals.first_accesses, totals.synaptic_events)
    return cache.section(view_of(folder / "second", options))


def test_planted_misses_are_found(tmp_path):
    def meters(first, events):
        return [
            MISSES | {"status": "ok", "value": 9e9},  # all phases together: not what is asked
            MISSES | {"status": "ok", "value": 0.8 * first + 0.05 * events, "phase": "deliver"},
        ]

    found = section_of(tmp_path, meters)
    assert found.missing == []
    words = found.text[-1]
    assert f"causes {number(0.8)} (" in words and f"every synapse causes {number(0.05)} (" in words
    assert len(found.figures[0].table.cells) == 4
    assert {row[4] for row in found.figures[0].table.cells} == {"PAPI_L3_TCM"}


def test_says_why_there_are_none(tmp_path):
    found = section_of(tmp_path, lambda *_: [UNAVAILABLE])
    assert found.figures == [] and any(REASON in line and "unavailable" in line for line in found.missing)
    assert "cachesim" in found.text[-1] and "simulated" in found.text[-1]


def test_runs_that_did_not_ask(tmp_path):
    found = section_of(tmp_path, lambda *_: [])
    assert found.missing == ["last_level_misses in deliver: the run did not ask for counters."]


def test_totals_alone_are_not_delivery(tmp_path):
    found = section_of(tmp_path, lambda *_: [MISSES | {"status": "ok", "value": 5.0}])
    assert found.figures == [] and "not by phase" in found.missing[0]


def test_simulated_caches_of_a_run_are_shown(tmp_path):
    folder = write_experiment(tmp_path, [run("conventional", 1, 2), run("structure_aware", 10, 2)])
    kept = write_caches(folder, "000000000001")
    found = cache.section(look(gather(folder)))
    (table,) = found.tables
    assert "simulated" in table.title and kinds(table)[-3:] == ["counted", "modelled", "simulated"]
    (row,) = table.cells
    assert row[0].startswith("structure-aware") and row[1:3] == ["2", "1"]
    assert row[-3:] == [number(x, 4) for x in (0.2, 0.24, 0.25)]
    assert any("did not ask for counters" in line for line in found.missing)  # they are no counters

    write_caches(folder, "000000000001", misses=-1)
    found = cache.section(look(gather(folder)))
    assert found.tables == [] and any(str(kept) in line and "misses=-1" in line for line in found.missing)
    kept.write_text("{")
    assert any("truncated" in line for line in cache.section(look(gather(folder))).missing)


def test_intervals_hold_the_truth():
    rng, shares = np.random.default_rng(1), np.linspace(0.05, 0.8, 8)
    inside = 0
    for _ in range(300):
        line = misses.fit(shares, 0.1 + 0.7 * shares + 0.02 * rng.standard_normal(len(shares)))
        inside += abs(line.first - 0.7) <= line.first_half
    assert 0.91 <= inside / 300 <= 0.99


def test_two_shares_are_no_line():
    with pytest.raises(BadInput, match="2 different values"):
        misses.fit([0.1, 0.1, 0.2, 0.2], [1, 1, 2, 2])


def counters_of(folder, meters: list[dict]):
    return counters.section(view_of(folder, [run(meters=meters), run(seed=2, meters=meters)]))


def test_counters_tell_what_was_there_and_what_was_not(tmp_path):
    found = counters_of(
        tmp_path, [FAULTS, UNAVAILABLE, MISSES | {"status": "ok", "value": 1.0, "phase": "deliver"}]
    )
    rows = {row[0]: row for row in found.tables[0].cells}
    assert set(rows) == {"minor faults", "last level misses"}  # of a phase alone is no total
    assert rows["minor faults"][3:5] == ["ok", "2 runs"]
    assert rows["last level misses"][3:] == [f"unavailable: {REASON}", "2 runs", "missing"]
    assert "last level misses" in found.text[1] and found.missing == []


def test_counters_that_were_not_asked_for(tmp_path):
    found = counters_of(tmp_path, [FAULTS])
    assert found.missing == [counters.NOT_ASKED]
    assert "last level misses" in found.text[1] and "would add" in found.text[1]
    assert counters_of(tmp_path / "none", []).missing == ["Counters: no run has any."]
