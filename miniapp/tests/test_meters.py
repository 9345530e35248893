"""Counters of whole runs, and the nodes: what the record says, here and on trees that stand for
/sys.
"""

import program
import pytest

pytestmark = pytest.mark.slow

ALWAYS = {
    "user_time",
    "system_time",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "resident_peak",
}
HARDWARE = {"instructions", "cycles", "last_level_misses", "l1_misses", "stalled_cycles"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder of a run with counters, and the records of that run and of a plain one."""
    folder, how = tmp_path_factory.mktemp("meters"), {"ranks": 2, "threads": 2}
    plain = program.record_of(folder / "plain", **how)
    counters = program.record_of(folder / "run", *program.sets(record__counters=True), **how)
    return folder / "run", counters, plain


def test_what_needs_no_privilege_is_always_there(runs):
    *_, plain = runs
    values = {m["name"]: m["value"] for m in plain["meters"]}
    assert set(values) == ALWAYS
    assert values["resident_peak"] == plain["memory"]["peak_bytes"]
    assert values["user_time"] + values["system_time"] > 0
    assert plain["timing"]["counter_read_s"] is plain["energy"] is None


def test_every_wanted_counter_is_there_or_says_why_and_those_of_threads_add_up(runs):
    out, record, plain = runs
    assert (record["checksum"], record["totals"]) == (plain["checksum"], plain["totals"])
    table = program.rows(out / "counters.csv")
    for meter in (*record["meters"], *plain["meters"]):
        assert meter["status"] in ("ok", "unavailable", "denied")
        assert (
            (meter["value"] is None) == (meter["status"] != "ok") == (meter["reason"] is not None)
        ), meter
        assert meter["value"] is None or meter["event"], meter
    for meter in record["meters"]:
        own = [
            r for r in table if (r["name"], r["phase"]) == (meter["name"], meter.get("phase", ""))
        ]
        assert len({(r["rank"], r["thread"]) for r in own}) == len(own) > 0
        if meter["value"] is None:
            assert any(r["value"] == "" for r in own)
        else:
            assert sum(float(r["value"]) for r in own) == pytest.approx(meter["value"], rel=1e-9)
    papi = [m for m in record["meters"] if m["source"] == "papi"]
    assert {m["name"] for m in papi} >= HARDWARE
    for total in (m for m in papi if "phase" not in m and m["status"] == "ok"):
        parts = {
            m["phase"]: m["value"] for m in papi if m["name"] == total["name"] and "phase" in m
        }
        assert (
            {"deliver", "update", "collocate", "thread_wait"} <= set(parts) <= set(record["phases"])
        )
        assert sum(parts.values()) == total["value"]


@pytest.mark.nightly
def test_the_build_with_checks_finds_nothing(tmp_path):
    more = program.sets(record__counters=True, time__simulate_ms=20)
    program.checked(tmp_path / "run", *more, ranks=2, threads=2)


def test_a_node_is_recorded_with_its_governor(tmp_path):
    governor = (
        tmp_path / "sys" / "devices" / "system" / "cpu" / "cpu0" / "cpufreq" / "scaling_governor"
    )
    governor.parent.mkdir(parents=True)
    governor.write_text("powersave\n")
    for sys, found in ((tmp_path / "sys", "powersave"), (tmp_path / "none", None)):
        record = program.record_of(tmp_path / "run", ranks=2, SPIKEMARK_SYSFS=str(sys))
        (node,) = record["host"]["per_node"]
        assert (node["governor"], node["ranks"]) == (found, 2)
