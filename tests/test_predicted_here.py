"""On a quiet machine that was calibrated: predicted against measured real-time factors, and errors by part.

`spikemark score --fit --runs DIR --machine here.yaml` keeps such errors.

spikemark calibrate --out here.yaml
SPIKEMARK_HERE=here.yaml python -m pytest -s tests/test_predicted_here.py -m alone
"""

import os

import numpy as np
import program
import pytest

from spikemark import machines
from spikemark.network.presets import PRESETS
from spikemark.prediction import beside, draws
from spikemark.records import record

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif("SPIKEMARK_HERE" not in os.environ, reason="not calibrated"),
]

NETWORKS = {
    "small lists": {"areas": 2, "neurons_per_area": 20_000, "indegree": 40},
    "long lists": {"areas": 2, "neurons_per_area": 5000, "indegree": 2000},
    "many neurons": {"areas": 2, "neurons_per_area": 100_000, "indegree": 100},
    "few neurons": {"areas": 2, "neurons_per_area": 1000, "indegree": 400},
    "four areas": {"areas": 4, "neurons_per_area": 10_000, "indegree": 400},
}


def test_predictions_hold(tmp_path):
    machine = machines.filled(machines.load(os.environ["SPIKEMARK_HERE"]))
    errors, widths, inside, runs = [], [], [], []
    for name, options in NETWORKS.items():
        for threads in (1, 2):
            out, described = tmp_path / f"{name} {threads}", PRESETS["mam-benchmark"].describe(**options)
            program.record_of(out, description=described, ranks=2 // threads, threads=threads)
            runs.append(record.load(out))
            made, took = beside.of_run(runs[-1], machine), beside.measured(runs[-1])
            middle, low, high = draws.interval(made.rtf)
            print(f"{name}, {threads}: {took['real_time_factor']:.3g}, {middle:.3g} ({low:.3g}-{high:.3g})")
            print({part: (took[part], round(float(np.median(v)), 4)) for part, v in made.parts.items()})
            errors.append(abs(middle / took["real_time_factor"] - 1))
            widths.append(high / low)
            inside.append(low <= took["real_time_factor"] <= high)
    print(beside.errors(runs, machine))
    assert np.median(errors) < 0.15 and np.median(widths) < 1.6 and np.mean(inside) >= 0.9
