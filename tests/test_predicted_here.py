"""This machine calibrates itself and predicts runs on it: real-time factors beside measured ones.

For a quiet machine, `spikemark score --fit --runs DIR --machine FILE` gives the errors, part by part.
"""

import program
import pytest
from checkout import spikemark

from spikemark import machines
from spikemark.network.presets import PRESETS
from spikemark.prediction import beside, draws
from spikemark.records import record

pytestmark = pytest.mark.alone

NETWORKS = {
    "small lists": {"areas": 2, "neurons_per_area": 20_000, "indegree": 40},
    "long lists": {"areas": 2, "neurons_per_area": 5000, "indegree": 2000},
    "many neurons": {"areas": 2, "neurons_per_area": 100_000, "indegree": 100},
    "few neurons": {"areas": 2, "neurons_per_area": 1000, "indegree": 400},
    "four areas": {"areas": 4, "neurons_per_area": 10_000, "indegree": 400},
}
TRIES = 3  # the fastest counts
#: Of the intervals: a quick calibration on a machine that others use, too. A wrong model is further off.
ROOM, QUIET = 1.5, 0.05
AS_USERS_DO = {"OMP_WAIT_POLICY": None, "OMPI_MCA_mpi_yield_when_idle": None}


def test_no_run_is_faster_than_predicted_and_undisturbed_ones_are_not_slower(tmp_path):
    """Other programs only make a run longer, so the upper end counts where none ran."""
    done = spikemark("calibrate", "--quick", "--out", tmp_path / "here.yaml", timeout=1200)
    assert done.returncode == 0, done.stderr
    machine, wrong = machines.filled(machines.load(tmp_path / "here.yaml")), []
    for name, options in NETWORKS.items():
        described = PRESETS["mam-benchmark"].describe(**options)
        for threads in (1, 2):
            out, runs = tmp_path / f"{name} {threads}", []
            for _ in range(TRIES):
                how = {"ranks": 2 // threads, "threads": threads, **AS_USERS_DO}
                program.record_of(out, description=described, **how)
                runs.append(record.load(out))
            run = min(runs, key=lambda one: one.record.timing.real_time_factor)
            took, foreign = run.record.timing.real_time_factor, run.record.host.foreign_load
            middle, low, high = draws.interval(beside.of_run(run, machine).rtf)
            said = (
                f"{name}, {threads}: {took:.3g}, predicted {middle:.3g} ({low:.3g} to {high:.3g}), {foreign=}"
            )
            print(said)
            if low > ROOM * took or (foreign is not None and foreign < QUIET and took > ROOM * high):
                wrong.append(said)
    assert not wrong
