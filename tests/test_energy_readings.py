"""Energy of real runs: the mini-app's own readings, and an external meter placed by the times of the
record."""

import numpy as np
import program
import pytest

from spikemark.energy import analysis, outside
from spikemark.energy.timeline import of_run
from spikemark.records import record

pytestmark = [pytest.mark.slow, pytest.mark.alone]

WATTS = 42.0
ENERGY = program.sets(record__energy="true", record__idle_pause_s=0.4, record__energy_interval_s=0.01)


@pytest.fixture(scope="module")
def sysfs(tmp_path_factory):
    """A tree for /sys with one sensor of power."""
    root = tmp_path_factory.mktemp("sys")
    chip = root / "class" / "hwmon" / "hwmon0"
    chip.mkdir(parents=True)
    (chip / "power1_input").write_text(f"{WATTS * 1e6:.0f}\n")
    return root


@pytest.fixture(scope="module")
def run(sysfs, tmp_path_factory):
    out = tmp_path_factory.mktemp("energy") / "run"
    program.record_of(
        out,
        *ENERGY,
        *program.sets(time__simulate_ms=400, inject__mean_us=50, inject__wait="sleep"),
        ranks=2,
        SPIKEMARK_SYSFS=str(sysfs),
    )
    return record.load(out)


def test_the_analysis_agrees_with_the_record(run):
    found, written = analysis.of_run(run), run.record.energy
    assert found.kind == "measured" and found.source.name == written.source == "hwmon"
    assert found.gross_j.value == pytest.approx(written.gross_j, abs=1e-4 * WATTS)  # times have 10 µs
    assert found.idle_w.value == pytest.approx(written.idle_power_w, rel=1e-6)
    assert found.mean_w.value == pytest.approx(WATTS, rel=1e-6)
    assert found.sampling.readings == written.readings
    assert found.level.words == "below level 1"


def test_a_meter_outside_is_placed_by_the_times_of_the_record(run, tmp_path):
    busy, known = of_run(run).busy, of_run(run).known
    step = min(0.002, (busy[1] - busy[0]) / 200)  # at the edges of a run a reading holds both levels
    times = np.arange(known[0] - 0.05, known[1] + 0.05, step)
    watts = np.where((times >= busy[0]) & (times < busy[1]), 150, 100)
    (tmp_path / "meter.csv").write_text(
        "time,node [W]\n" + "".join(f"{t:.7f},{w}\n" for t, w in zip(times, watts, strict=True))
    )
    found = analysis.measured(run, outside.source(run, tmp_path / "meter.csv"))
    assert found.gross_j.value == pytest.approx(150 * found.duration_s, rel=0.02)
    assert found.idle_w.value == pytest.approx(100)
    assert found.net_j.value == pytest.approx(50 * found.duration_s, rel=0.05)
