"""Writes the plan of an experiment and the descriptions of its runs, for the rule `plan`.

python -m spikemark.running.write_plan EXPERIMENT.yaml CONFIG RESULTS/plan.json; CONFIG: Snakemake's, as JSON
"""

import json
import sys
from pathlib import Path

from spikemark.records.results import Results

from . import experiments, possible, sweeps

if __name__ == "__main__":
    file, config, plan = sys.argv[1:]
    experiment = experiments.of_config(json.loads(config), Path(file))
    runs = possible.sift(experiment, experiments.expand(experiment)).runs
    sweeps.plan(experiment, runs, Results(Path(plan).resolve().parent))
