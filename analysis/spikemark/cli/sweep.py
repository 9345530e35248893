"""`spikemark sweep`: measures an experiment."""

from typing import Annotated

import typer

from .options import Experiment, Machine, Root, Where
from .output import list_lines, short


def sweep(
    experiment: Experiment,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs in order, finished ones and missing ones.")
    ] = False,
    profile: Where = "here",
    machine: Machine = None,
    results: Root = None,
    jobs: Annotated[
        bool,
        typer.Option("--jobs", help="Slurm: a job for every run, instead of one that takes all in order."),
    ] = False,
    budget: Annotated[
        float | None, typer.Option(help="Slurm: refuse to use more node-hours for all jobs of these results.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="LIMIT", help="Slurm: limit of a job, such as 2:00:00.")
    ] = None,
) -> None:
    """Measure an experiment's missing runs, then write its report.

    A finished run is never measured again. To repeat one, move or delete its folder in
    RESULTS/EXPERIMENT/MACHINE/runs.
    """
    from spikemark.report import conclude
    from spikemark.running import sweeps, ways
    from spikemark.running.experiments import expand, load

    chosen = load(experiment)
    runs = expand(chosen)
    folder = sweeps.folder(chosen, machine, results)
    way = ways.find(profile, jobs, budget, time)
    if dry_run:
        typer.echo(sweeps.dry_run(runs, folder, way))
        return
    print_outcome(sweeps.sweep(chosen, runs, folder, conclude, way))


def print_outcome(outcome) -> None:
    """Print where the report is and what failed, and end the command with the status of the outcome."""
    if outcome.failed:
        folder = short(outcome.results.path / "failed")
        typer.echo(f"{len(outcome.failed)} of {outcome.planned} runs failed, details in {folder}:", err=True)
    list_lines([f"failed: {label}: {reason}" for label, reason in outcome.failed.items()])
    list_lines(outcome.complaints)
    if outcome.headline:
        typer.echo(f"{short(outcome.results.report)}\n{outcome.headline}")
    if outcome.status:
        raise typer.Exit(outcome.status)
