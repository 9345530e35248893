"""Energy of real runs: readings of the sampler beside them, and a meter placed by the times of the
record.
"""

import numpy as np
import pytest

from spikemark.measuring.energy import measured, of_run
from spikemark.measuring.meter import source
from spikemark.measuring.run_timeline import timeline
from spikemark.records import record
from spikemark.records.results import Results
from spikemark.running import sweeps
from spikemark.running.experiments import Experiment, expand
from spikemark.running.measure import measure

pytestmark = [pytest.mark.slow, pytest.mark.alone]

WATTS = 42.0
OPTIONS = {"areas": 2, "neurons_per_area": 100, "indegree": 10, "simulate_ms": 400}
ENERGY = {"record.energy": True, "record.idle_pause_s": 0.4, "record.energy_interval_s": 0.01}
EXPERIMENT = {
    "name": "energy",
    "title": "x",
    "preset": {"name": "mam-benchmark", "options": OPTIONS},
    "set": {**ENERGY, "inject.mean_us": 50, "inject.wait": "sleep"},
    "grid": [{"schedule": "conventional"}],
    "ranks": 2,
    "shuffle_seed": 1,
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run beside which one sensor of power was read."""
    folder = tmp_path_factory.mktemp("energy")
    chip = folder / "sys/class/hwmon/hwmon0"
    chip.mkdir(parents=True)
    (chip / "power1_input").write_text(f"{WATTS * 1e6:.0f}\n")
    chosen, results = Experiment.model_validate(EXPERIMENT), Results(folder / "results")
    (spec,) = runs = expand(chosen)
    sweeps.plan(chosen, runs, results)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPIKEMARK_SYSFS", str(folder / "sys"))
        return record.load_run(measure(results, spec.id))


def test_the_analysis_agrees_with_the_record(run):
    found, written = of_run(run), run.record.energy
    assert found.kind == "measured" and found.source.name == written.source == "hwmon"
    assert written.gross_j == pytest.approx(WATTS * written.duration_s, rel=1e-6)
    assert written.idle_power_w == pytest.approx(WATTS, rel=1e-6)
    assert found.gross_j.value == pytest.approx(
        written.gross_j, abs=1e-4 * WATTS
    )  # times have 10 µs
    assert found.idle_w.value == pytest.approx(written.idle_power_w, rel=1e-6)
    assert found.sampling.readings == written.readings >= 10
    began, ended = run.record.timing.idle_before_s
    assert 0.4 <= ended - began < 5 and ended < run.record.timing.simulate_started_s


def test_a_meter_outside_is_placed_by_the_times_of_the_record(run, tmp_path):
    busy, known = timeline(run).busy, timeline(run).with_pause
    step = min(
        0.002, (busy[1] - busy[0]) / 200
    )  # at the edges of a run a reading holds both levels
    times = np.arange(known[0] - 0.05, known[1] + 0.05, step)
    watts = np.where((times >= busy[0]) & (times < busy[1]), 150, 100)
    (tmp_path / "meter.csv").write_text(
        "time,node [W]\n" + "".join(f"{t:.7f},{w}\n" for t, w in zip(times, watts, strict=True))
    )
    found = measured(run, source(run, tmp_path / "meter.csv"))
    assert found.gross_j.value == pytest.approx(150 * found.duration_s, rel=0.02)
    assert found.idle_w.value == pytest.approx(100)
    assert found.net_j.value == pytest.approx(50 * found.duration_s, rel=0.05)
