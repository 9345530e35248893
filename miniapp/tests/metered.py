"""What tests of counters and of energy share: reading what a run wrote, and trees that stand for /sys."""

import csv
import os

import program

PAUSE = 0.3
LONG = program.sets(time__simulate_ms=5000)  # a tenth of a second: several readings
ENERGY = [
    *LONG,
    *program.sets(record__energy="true", record__idle_pause_s=PAUSE, record__energy_interval_s=0.002),
]


def rows(path):
    with open(path) as file:
        return list(csv.DictReader(file))


def check_meters(record):
    for meter in record["meters"]:
        assert meter["status"] in ("ok", "unavailable", "denied")
        assert (meter["value"] is None) == (meter["status"] != "ok") == (meter["reason"] is not None), meter
        assert meter["value"] is None or meter["event"], meter


def refused(tmp_path, message, *arguments, **how):
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments, **how)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert message in done.stderr
    assert not (tmp_path / "run").exists()
    return done.stderr


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


def measure(sysfs, out, *arguments, **how):
    """The record of a run that reads energy from the tree `sysfs`."""
    return program.record_of(out, *ENERGY, *arguments, SPIKEMARK_SYSFS=str(sysfs), **how)
