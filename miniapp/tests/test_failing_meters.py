"""Meters that wrap around, vanish, fail, stand still or say nothing, and what the record makes of them."""

import threading
from contextlib import contextmanager
from pathlib import Path

import program
import pytest
from metered import check_meters, measure, package, rows, write

pytestmark = [pytest.mark.slow, pytest.mark.alone]


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
