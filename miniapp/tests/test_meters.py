"""Energy of whole runs: what the record says, here and on trees that stand for /sys."""

import os
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import program
import pytest
from metered import check_meters, refused, rows

pytestmark = [pytest.mark.slow, pytest.mark.alone]

PAUSE = 0.3
LONG = program.sets(time__simulate_ms=5000)  # a tenth of a second: several readings
ENERGY = [
    *LONG,
    *program.sets(record__energy="true", record__idle_pause_s=PAUSE, record__energy_interval_s=0.002),
]


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


def documented(kind):
    """The fields that FORMAT.md names for an entry of `meters`, or for `energy`."""
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    section = text.split("### `meters` and `energy`")[1].split("\n### ")[0]
    table, energy = section.split("Fields of `energy`:")
    if kind == "meters":
        return set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    return set(re.findall(r"`(\w+)`", energy))


def test_every_field_is_documented(counted, sysfs, tmp_path):
    write(sysfs, class__hwmon__hwmon0__power1_input=30_000_000)
    energy = measure(sysfs, tmp_path / "run")["energy"]
    found = set().union(*counted[1]["meters"])
    assert found | {"phase"} == documented("meters")  # without counters no phase
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


@pytest.mark.parametrize("step_s", [3600, 1, -1, -3600])
def test_energy_and_times_survive_a_system_clock_that_is_set(sysfs, tmp_path, step_s):
    write(sysfs, class__hwmon__hwmon3__power1_input=50_000_000)
    clock = {"LD_PRELOAD": str(program.ROOT / "build" / "libstepping_clock.so")}
    clock |= {"SPIKEMARK_STEP_S": str(step_s), "SPIKEMARK_STEP_AFTER_S": str(PAUSE + 0.05)}
    begin = time.time()
    record = measure(sysfs, tmp_path / "run", **clock)
    timing, energy = record["timing"], record["energy"]
    assert timing["clock_step_s"] == pytest.approx(step_s, abs=0.01)
    assert [w for w in record["warnings"] if w.startswith(f"system clock: it was set by {step_s:+d}.")]
    times = [*timing["idle_before_s"], timing["simulate_started_s"], timing["simulate_ended_s"]]
    times += timing["idle_after_s"]
    assert times == sorted(times), "by the clock as it was after the run"
    assert begin + step_s <= times[0] and times[-1] <= time.time() + step_s
    assert times[3] - times[2] == pytest.approx(timing["simulate_s"], abs=1e-3)
    assert energy["status"] == "ok" and energy["gross_j"] == pytest.approx(
        50 * energy["duration_s"], rel=1e-6
    )
    assert energy["idle_power_w"] == pytest.approx(50, rel=1e-6)
    readings = [float(row["time_s"]) for row in rows(tmp_path / "run" / "energy.csv")]
    assert readings == sorted(readings) and readings[-1] - readings[0] < time.time() - begin


def test_a_clock_that_nobody_sets_has_no_step(sysfs, tmp_path):
    record = measure(sysfs, tmp_path / "run")
    assert abs(record["timing"]["clock_step_s"]) < 0.01
    assert not [w for w in record["warnings"] if w.startswith("system clock")]
