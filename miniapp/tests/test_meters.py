"""Energy of whole runs: what the record says, here and on trees that stand for /sys."""

import re

import program
import pytest
from metered import ENERGY, LONG, PAUSE, check_meters, measure, refused, rows, write

pytestmark = pytest.mark.slow


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
