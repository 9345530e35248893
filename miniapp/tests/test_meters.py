"""Counters and energy of whole runs: what the record says, here and on trees that stand for /sys."""

import csv
import os
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import program
import pytest

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
PAUSE = 0.3
LONG = program.sets(time__simulate_ms=5000)  # a tenth of a second: several readings
ENERGY = [
    *LONG,
    *program.sets(record__energy="true", record__idle_pause_s=PAUSE, record__energy_interval_s=0.002),
]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return program.record_of(tmp_path_factory.mktemp("plain") / "run", ranks=2, threads=2)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """A run with counters: its directory and record."""
    out = tmp_path_factory.mktemp("counted") / "run"
    return out, program.record_of(out, *program.sets(record__counters="true"), ranks=2, threads=2)


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def write(root, **files):
    """Files of the tree; `__` stands for the slash. Each is replaced at once: no reader finds it empty."""
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        new = root / "new"
        new.write_text(f"{text}\n")
        os.replace(new, path)


def package(root, number, energy_uj, range_uj=65712999613):
    zone = f"class__powercap__intel-rapl:{number}__"
    write(root, **{zone + "name": f"package-{number}", zone + "max_energy_range_uj": range_uj})
    write(root, **{zone + "energy_uj": energy_uj})


@pytest.fixture
def sysfs(tmp_path):
    root = tmp_path / "sys"
    root.mkdir()
    return root


def measure(sysfs, out, *arguments, **how):
    """The record of a run that reads energy from the tree `sysfs`."""
    return program.record_of(out, *ENERGY, *arguments, SPIKEMARK_SYSFS=str(sysfs), **how)


def check_meters(record):
    for meter in record["meters"]:
        assert meter["status"] in ("ok", "unavailable", "denied")
        assert (meter["value"] is None) == (meter["status"] != "ok") == (meter["reason"] is not None), meter
        assert meter["value"] is None or meter["event"], meter


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
    names = {*record["phases"], "thread_wait"}
    for total in read:  # what stands in for hardware has a name of its own
        assert total["name"] not in HARDWARE or "CLOCK" not in total["event"]
        parts = {m["phase"]: m["value"] for m in papi if m["name"] == total["name"] and "phase" in m}
        assert {"deliver", "update", "collocate", "thread_wait"} <= set(parts) <= names
        assert "inject" not in parts  # it did not occur
        assert sum(parts.values()) == total["value"]


def test_misses_of_the_second_level_are_none_of_the_last(counted):
    """The kernel's cache misses are those of the second level on AMD."""
    _, record = counted
    (misses,) = [m for m in record["meters"] if m["name"] == "last_level_misses" and "phase" not in m]
    amd = "AuthenticAMD" in Path("/proc/cpuinfo").read_text()
    said = "perf::CACHE-MISSES: counts the second level on AMD" in (misses["reason"] or "")
    built_with_papi = "without PAPI" not in (misses["reason"] or "")
    assert said == (amd and built_with_papi and misses["status"] != "ok")
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


def refused(tmp_path, message, *arguments, **how):
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments, **how)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not (tmp_path / "run").exists()
    return done.stderr


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


def documented(kind):
    """The fields that FORMAT.md names for an entry of `meters`, or for `energy`."""
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    section = text.split("### `meters` and `energy`")[1].split("\n### ")[0]
    table, energy = section.split("Energy: ")
    if kind == "meters":
        return set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    return set(re.findall(r"`(\w+)`", energy))


def test_every_field_is_documented(counted, sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    energy = measure(sysfs, tmp_path / "run")["energy"]
    assert set().union(*counted[1]["meters"]) == documented("meters")
    assert {*energy, *energy["channels"][0]} <= documented("energy")


def test_without_any_meter_energy_is_null_with_every_reason(sysfs, tmp_path):
    record = measure(sysfs, tmp_path / "run", ranks=2)
    assert record["energy"] is None
    for name in ("powercap unavailable: ", "pm_counters unavailable: ", "hwmon unavailable: "):
        assert name in record["energy_reason"]
    check_meters(record)
    tried = [m["source"] for m in record["meters"] if m["name"] == "energy"]
    assert tried == ["powercap", "pm_counters", "hwmon"]
    assert not (tmp_path / "run" / "energy.csv").exists()
    assert any(w.startswith("SPIKEMARK_SYSFS") for w in record["warnings"])


def test_without_any_meter_there_is_no_pause_unless_asked_for(sysfs, tmp_path):
    asked = program.sets(record__energy="true")
    record = program.record_of(tmp_path / "run", *asked, ranks=2, SPIKEMARK_SYSFS=str(sysfs))
    assert record["description"]["record"]["idle_pause_s"] == 5
    assert record["timing"]["idle_before_s"] is record["timing"]["idle_after_s"] is None
    timing = measure(sysfs, tmp_path / "asked", ranks=2)["timing"]
    assert None not in (timing["idle_before_s"], timing["idle_after_s"])


def test_constant_power_is_recovered(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon3__power1_input=30_000_000, class__hwmon__hwmon3__power2_input=20_000_000)
    write(sysfs, class__hwmon__hwmon3__power1_label="cpu, first")
    both = program.sets(record__energy_sensors='["hwmon3/cpu  first","hwmon3/power2"]')
    record = measure(sysfs, tmp_path / "run", *both, ranks=2)
    energy, timing = record["energy"], record["timing"]
    assert record["checksum"] == program.record_of(tmp_path / "plain", *LONG, ranks=2)["checksum"]
    assert (energy["source"], energy["status"], energy["nodes"]) == ("hwmon", "ok", 1)
    span_s = timing["simulate_ended_s"] - timing["simulate_started_s"]  # has microseconds
    assert energy["duration_s"] == pytest.approx(span_s, abs=1e-4)
    assert energy["gross_j"] == pytest.approx(50 * energy["duration_s"], rel=1e-6)
    assert energy["idle_power_w"] == pytest.approx(50, rel=1e-6)
    assert energy["net_j"] == pytest.approx(0, abs=1e-3)
    assert 0 <= energy["coverage"] <= 1
    assert 0 < energy["sampling_cost"] < 1
    assert energy["reason"] is record["energy_reason"] is None
    assert [(c["node"], c["name"], c["unit"]) for c in energy["channels"]] == [
        (0, "hwmon3/cpu  first", "W"),
        (0, "hwmon3/power2", "W"),
    ]
    assert sum(c["gross_j"] for c in energy["channels"]) == pytest.approx(energy["gross_j"])
    assert {m["source"]: m["value"] for m in record["meters"] if m["name"] == "energy"} == {
        "hwmon": pytest.approx(energy["gross_j"]),
    }


def test_sensors_that_may_overlap_are_not_added_up(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon3__power1_input=30_000_000, class__hwmon__hwmon3__power2_input=20_000_000)
    record = measure(sysfs, tmp_path / "run")
    assert record["energy"] is None
    assert "2 sensors, which may overlap: record.energy_sensors" in record["energy_reason"]
    one = program.sets(record__energy_sensors='["hwmon3/power2"]')
    assert measure(sysfs, tmp_path / "one", *one)["energy"]["idle_power_w"] == pytest.approx(20, rel=1e-6)


@pytest.mark.parametrize("value", ["true", '["a","a"]', "[1]"])
def test_sensors_are_different_names(tmp_path, value):
    refused(tmp_path, "record.energy_sensors: ", *program.sets(record__energy_sensors=value))


def test_the_readings_cover_both_pauses(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    timing = measure(sysfs, tmp_path / "run", ranks=2)["timing"]
    table = rows(tmp_path / "run" / "energy.csv")
    assert list(table[0]) == ["node", "source", "channel", "time_s", "energy_j", "power_w"]
    assert {(r["node"], r["source"], r["channel"], r["energy_j"]) for r in table} == {
        ("0", "hwmon", "hwmon0/power1", "")
    }
    assert {float(r["power_w"]) for r in table} == {30}
    times = [float(r["time_s"]) for r in table]
    assert times == sorted(times)
    before, after = timing["idle_before_s"], timing["idle_after_s"]
    for pause in (before, after):
        assert pause[1] - pause[0] > 0.99 * PAUSE
        assert any(pause[0] < t < pause[1] for t in times)
    order = [times[0], *before, timing["simulate_started_s"], timing["simulate_ended_s"], *after, times[-1]]
    assert order == sorted(order)


def is_read(sysfs):
    """Whether some program reads meters from this tree by now."""
    for name in Path("/proc").glob("[0-9]*/task/*/comm"):
        try:
            environment = (name.parents[2] / "environ").read_bytes()
            if name.read_text() == "meter-reader\n" and str(sysfs).encode() in environment:
                return True
        except OSError:  # it has ended
            continue
    return False


@contextmanager
def meanwhile(change, step_s=0.005):
    """Calls change(number of the call) again and again."""
    ended = threading.Event()

    def work():
        number = 0
        while not ended.wait(step_s):
            change(number)
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def test_a_counter_that_wraps_around_goes_on(sysfs, tmp_path):
    """Every step adds a third of the range; a step is longer than the interval between readings."""
    range_uj = 3_000_000
    package(sysfs, 0, 0, range_uj)
    energy_uj = "class__powercap__intel-rapl:0__energy_uj"
    with meanwhile(lambda n: write(sysfs, **{energy_uj: (n + 1) * 1_000_000 % range_uj}), 0.05):
        record = measure(sysfs, tmp_path / "run")
    table = rows(tmp_path / "run" / "energy.csv")
    energies = [float(r["energy_j"]) for r in table]
    assert energies[0] == 0
    assert energies == sorted(energies)
    assert energies[-1] > 2 * range_uj / 1e6
    assert record["energy"]["source"] == "powercap"
    assert record["energy"]["idle_power_w"] > 0


def test_a_zone_that_vanishes_leaves_no_energy(sysfs, tmp_path):
    package(sysfs, 0, 0)
    package(sysfs, 1, 0)
    gone = sysfs / "class/powercap/intel-rapl:1/energy_uj"

    def change(number):
        write(sysfs, **{"class__powercap__intel-rapl:0__energy_uj": 1000 * number})
        if gone.exists() and is_read(sysfs):
            gone.unlink()

    with meanwhile(change):
        record = measure(sysfs, tmp_path / "run")
    energy = record["energy"]
    assert energy["status"] == "unavailable"
    assert energy["gross_j"] is energy["net_j"] is None
    assert "intel-rapl:1/energy_uj: not there" in energy["reason"]
    check_meters(record)
    channels = {r["channel"] for r in rows(tmp_path / "run" / "energy.csv")}
    assert channels == {"package-0", "package-1"}


def test_a_failed_reading_costs_one_reading(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    power = "class__hwmon__hwmon0__power1_input"

    def change(number):  # one reading in ten finds it empty
        write(sysfs, **{power: "" if number % 10 == 9 and is_read(sysfs) else 30_000_000})

    with meanwhile(change, 0.01):
        record = measure(sysfs, tmp_path / "run")
    energy = record["energy"]
    assert energy["status"] == "ok"
    assert energy["gross_j"] == pytest.approx(30 * energy["duration_s"], rel=1e-6)
    (channel,) = energy["channels"]
    (warning,) = (w for w in record["warnings"] if w.startswith("energy: "))
    assert channel["failed"] > 0
    assert f"{channel['failed']} readings of hwmon0/power1 on node 0 failed" in warning
    assert "power1_input: empty" in warning


@pytest.mark.parametrize("watts", [0, 30_000_000])
def test_a_sensor_that_says_nothing_is_not_zero(sysfs, tmp_path, watts):
    write(sysfs, class__hwmon__hwmon0__power1_input=watts)
    energy = measure(sysfs, tmp_path / "run")["energy"]
    assert (energy["gross_j"] is None) == (watts == 0)
    assert "was 0 all the time" in energy["reason"] if watts == 0 else energy["reason"] is None


def test_readings_around_the_run_are_none_of_it(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    record = measure(sysfs, tmp_path / "run", *program.sets(record__energy_interval_s=30))
    energy = record["energy"]
    assert (energy["status"], energy["gross_j"], energy["net_j"]) == ("unavailable", None, None)
    assert energy["reason"].startswith("0 readings within the measured part; allowed: 2 or more")
    check_meters(record)


def test_a_counter_that_stands_still_is_not_zero(sysfs, tmp_path):
    package(sysfs, 0, 5)
    energy = measure(sysfs, tmp_path / "run")["energy"]
    assert energy["gross_j"] is energy["net_j"] is None
    assert "intel-rapl:0/energy_uj did not move" in energy["reason"]


def test_without_a_pause_there_is_no_idle_power(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    record = measure(sysfs, tmp_path / "run", *program.sets(record__idle_pause_s=0))
    energy = record["energy"]
    assert energy["gross_j"] > 0
    assert energy["idle_power_w"] is energy["net_j"] is None
    assert "record.idle_pause_s is 0" in energy["reason"]
    assert record["timing"]["idle_before_s"] is None


def test_a_pause_can_be_had_for_a_meter_outside(tmp_path):
    record = program.record_of(tmp_path / "run", *program.sets(record__idle_pause_s=0.1), ranks=2)
    timing = record["timing"]
    (_, begin), (end, _) = timing["idle_before_s"], timing["idle_after_s"]
    assert begin <= timing["simulate_started_s"] < timing["simulate_ended_s"] <= end


def test_the_defaults_of_the_pause_stand_in_the_record(plain, tmp_path):
    assert plain["description"]["record"]["idle_pause_s"] == 0
    done = program.start("--explain", program.EXAMPLE, *program.sets(record__energy="true"))
    assert done.returncode == 0, done.stderr
    refused(tmp_path, "record.energy_interval_s: 31", *program.sets(record__energy_interval_s=31))
    refused(tmp_path, "record.idle_pause_s: -1", *program.sets(record__idle_pause_s=-1))


def test_the_build_with_checks_finds_nothing(sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    counters = program.sets(record__counters="true", time__simulate_ms=20)
    how = {"ranks": 2, "threads": 2, "SPIKEMARK_SYSFS": str(sysfs)}
    assert program.checked(tmp_path / "run", *ENERGY, *counters, **how)["energy"]["gross_j"] > 0
