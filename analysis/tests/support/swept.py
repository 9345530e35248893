"""Experiments on a small network: their plan in a results folder, and synthetic records of their
runs.
"""

from pathlib import Path

from synthetic import write_run

from spikemark.records.results import Results
from spikemark.running import sweeps
from spikemark.running.experiments import Experiment, RunSpec, expand
from spikemark.running.measure import measure
from spikemark.running.progress import Progress
from spikemark.running.simulation.run import simulate_planned

OPTIONS = {"areas": 2, "neurons_per_area": 60, "indegree": 10, "simulate_ms": 10}
PLAIN = {
    "name": "x",
    "title": "x",
    "preset": {"name": "mam-benchmark", "options": OPTIONS},
    "grid": [{"schedule": "conventional"}],
    "ranks": 2,
    "shuffle_seed": 1,
}


def planned(
    folder: Path, chosen: Experiment | None = None, **changes
) -> tuple[Results, list[RunSpec]]:
    """The results folder with the plan of an experiment, or of PLAIN with changes, and its runs."""
    chosen = chosen or Experiment.model_validate({**PLAIN, **changes})
    results, runs = Results(folder), expand(chosen)
    sweeps.plan(chosen, runs, results)
    return results, runs


def write(results: Results, run: RunSpec, **options) -> Path:
    """A record of the run; `options` go to `synthetic.write_run`."""
    description = options.pop("description", run.description)
    ways = {name: description[name] for name in ("schedule", "delay_ratio")}
    how = {
        "ranks": run.ranks,
        "threads": run.threads,
        "seed": run.seed,
        "cycles": 100,
        "launch": {},
    }
    return write_run(results.run(run.id), description=description, **{**ways, **how, **options})


def carried_out_here(results: Results, progress: Progress) -> int:
    """In place of Snakemake, whose start takes longer than several short runs: carries out the
    missing runs of an experiment in this process.
    """
    experiment = sweeps.WorkflowConfig(str(results.experiment)).experiment()
    runs = sweeps.planned(experiment, results).runs
    sweeps.plan(experiment, runs, results)
    carry_out = measure if experiment.machine is None else simulate_planned
    for run in runs:
        if not results.measured(run.id):
            carry_out(results, run.id)
    return 0
