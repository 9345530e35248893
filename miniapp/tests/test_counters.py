"""Counters of whole runs: what the record says, here and where they cannot be read."""

import json
import time
from pathlib import Path

import program
import pytest
from metered import check_meters, refused, rows

pytestmark = pytest.mark.slow

ALWAYS = {
    ("user_time", "s", "getrusage"),
    ("system_time", "s", "getrusage"),
    ("minor_faults", "count", "getrusage"),
    ("major_faults", "count", "getrusage"),
    ("voluntary_switches", "count", "getrusage"),
    ("involuntary_switches", "count", "getrusage"),
    ("resident_peak", "byte", "memory"),
}
HARDWARE = ["instructions", "cycles", "last_level_misses", "l1_misses", "stalled_cycles"]


def test_what_needs_no_privilege_is_always_there(plain):
    check_meters(plain)
    assert {(m["name"], m["unit"], m["source"]) for m in plain["meters"]} == ALWAYS
    values = {m["name"]: m["value"] for m in plain["meters"]}
    assert values["resident_peak"] == plain["memory"]["peak_bytes"]
    assert values["user_time"] + values["system_time"] > 0


def test_a_plain_run_reads_no_counters_and_does_not_pause(plain):
    timing = plain["timing"]
    for name in ("counter_read_s", "counter_overhead", "idle_before_s", "idle_after_s"):
        assert timing[name] is None
    assert (plain["energy"], plain["energy_reason"]) == (None, "record.energy is false")


def test_begin_and_end_enclose_the_cycles_by_the_system_clock(tmp_path):
    before = time.time()
    timing = program.record_of(tmp_path / "run", ranks=2)["timing"]
    own_s = float(rows(tmp_path / "run" / "ranks.csv")[0]["simulate_s"])
    assert before < timing["simulate_started_s"] < timing["simulate_ended_s"] < time.time()
    assert timing["simulate_ended_s"] - timing["simulate_started_s"] > 0.99 * own_s


def test_counters_change_neither_spikes_nor_phases(plain, counted):
    _, record = counted
    assert record["checksum"] == plain["checksum"]
    assert record["phases"] == plain["phases"]
    assert set(record["timing"]["phases"]) == set(plain["timing"]["phases"])
    assert record["totals"] == plain["totals"]


def test_every_wanted_counter_is_there_or_says_why(counted):
    _, record = counted
    check_meters(record)
    papi = [m for m in record["meters"] if m["source"] == "papi"]
    assert {m["name"] for m in papi} >= set(HARDWARE)
    totals = {m["name"]: m for m in papi if "phase" not in m}
    read = [m for m in totals.values() if m["status"] == "ok"]
    assert bool(read) == (record["timing"]["counter_read_s"] is not None)
    assert any("counters were read" in w for w in record["warnings"]) == bool(read)
    names = {*record["phases"]}
    for total in read:  # what stands in for hardware has a name of its own
        assert total["name"] not in HARDWARE or "CLOCK" not in total["event"]
        parts = {m["phase"]: m["value"] for m in papi if m["name"] == total["name"] and "phase" in m}
        assert {"deliver", "update", "collocate", "thread_wait"} <= set(parts) <= names
        assert "inject" not in parts  # it did not occur
        assert sum(parts.values()) == total["value"]


def test_counters_that_cannot_be_read_are_warned_of_though_not_required(tmp_path):
    """In the record and on the console; a machine without a PMU is called that."""
    wanted = [program.EXAMPLE, "--out", tmp_path / "run", *program.sets(record__counters="true")]
    done = program.start(*wanted)
    assert done.returncode == 0
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    warned = [text for text in record["warnings"] if text.startswith("counters: ")]
    missing = [m for m in record["meters"] if m["source"] == "papi" and m["status"] != "ok"]
    for meter in missing:
        assert any(meter["name"] in text and "cannot be read" in text for text in warned), meter["name"]
    assert bool(missing) == bool(warned)
    assert [f"miniapp: warning: {text}" for text in warned] == [
        line for line in done.stderr.splitlines() if "warning: counters: " in line
    ]
    devices = Path("/sys/bus/event_source/devices")
    if devices.is_dir() and not [d for d in devices.iterdir() if d.name.startswith("cpu") or "pmu" in d.name]:
        assert all(m["reason"].startswith("no PMU here") for m in missing if m["name"] in HARDWARE)
        assert warned[-1].startswith("counters: no PMU here")


def test_misses_of_the_second_level_are_none_of_the_last(counted):
    """The kernel's cache misses are those of the second level on AMD."""
    _, record = counted
    (misses,) = [m for m in record["meters"] if m["name"] == "last_level_misses" and "phase" not in m]
    amd = "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    reason = misses["reason"] or ""  # of each event that was tried
    said = "perf::CACHE-MISSES: counts the second level on AMD" in reason
    assert said == (amd and "perf::CACHE-MISSES: " in reason)
    assert not (amd and misses["event"] == "perf::CACHE-MISSES")


def test_counters_of_threads_add_up(counted):
    out, record = counted
    table = rows(out / "counters.csv")
    assert list(table[0]) == ["rank", "thread", "phase", "name", "event", "value"]
    for meter in record["meters"]:
        own = [r for r in table if (r["name"], r["phase"]) == (meter["name"], meter.get("phase", ""))]
        threads = {(r["rank"], r["thread"]) for r in own}
        assert len(threads) == len(own)
        if meter["name"] == "resident_peak":
            assert threads == {("0", ""), ("1", "")}
        elif meter.get("phase", "update") in ("deliver", "update", "thread_wait"):
            assert threads == {(r, t) for r in "01" for t in "01"}
        if meter["value"] is None:
            assert any(r["value"] == "" for r in own)
        else:
            assert sum(float(r["value"]) for r in own) == pytest.approx(meter["value"], rel=1e-9)
            assert {r["event"] for r in own} == {meter["event"]}


def test_only_listed_counters_are_recorded(tmp_path):
    wanted = program.sets(record__counters='["page_faults","cycles"]')
    record = program.record_of(tmp_path / "run", *wanted)
    assert [m["name"] for m in record["meters"] if m["source"] == "papi" and "phase" not in m] == [
        "cycles",
        "page_faults",
    ]


BAD = {
    "unknown": ('["cycles","joy"]', 'record.counters.1: "joy"; allowed: instructions, cycles'),
    "twice": ('["cycles","cycles"]', "record.counters: "),
    "none": ("[]", "record.counters: []; allowed: true, false, or a list of different names"),
    "number": ("3", "record.counters: 3; allowed: true, false"),
}


@pytest.mark.parametrize("case", BAD)
def test_counters_that_cannot_be_meant_are_refused(case, tmp_path):
    value, message = BAD[case]
    refused(tmp_path, message, *program.sets(record__counters=value))


def test_required_counters_are_read_or_the_run_is_refused(counted, tmp_path):
    _, record = counted
    refused(tmp_path, "--require-counters: record.counters is false", "--require-counters")
    status = {m["name"]: m["status"] for m in record["meters"] if m["source"] == "papi" and "phase" not in m}
    readable = {name for name in status if status[name] == "ok"}
    for ranks, wanted, names in [
        (None, "true", HARDWARE),
        (2, '["last_level_misses"]', ["last_level_misses"]),
        (None, '["stalled_cycles"]', ["stalled_cycles"]),
    ]:
        arguments = ["--require-counters", *program.sets(record__counters=wanted)]
        missing = [name for name in names if status[name] != "ok"]
        if missing:
            begin = f"--require-counters: {missing[0]} is {status[missing[0]]} ("
            message = refused(tmp_path, begin, *arguments, ranks=ranks)
            assert readable <= set(message.split("; what exists here: ")[1].strip().split(", "))
        else:
            program.record_of(tmp_path / "run", *arguments, ranks=ranks)
