"""Energy and times of runs during which somebody sets the system clock, or a busy host stops the program."""

import time

import program
import pytest
from metered import PAUSE, measure, rows, write

pytestmark = pytest.mark.slow

CLOCK = {"LD_PRELOAD": str(program.ROOT / "build" / "libstepping_clock.so")}


@pytest.mark.parametrize("step_s", [3600, 1, -1, -3600])
def test_energy_and_times_survive_a_system_clock_that_is_set(sysfs, tmp_path, step_s):
    write(sysfs, class__hwmon__hwmon3__power1_input=50_000_000)
    clock = CLOCK | {"SPIKEMARK_STEP_S": str(step_s), "SPIKEMARK_STEP_AFTER_S": str(PAUSE + 0.05)}
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


def test_a_program_that_is_held_up_between_two_clocks_has_no_step(tmp_path):
    record = program.record_of(tmp_path / "run", **CLOCK, SPIKEMARK_HELD_S="0.2")
    assert abs(record["timing"]["clock_step_s"]) < 0.01
