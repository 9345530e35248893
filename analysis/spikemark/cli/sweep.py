"""`spikemark sweep`: measures an experiment."""

from typing import Annotated

import typer

from .options import Experiment, Machine, Root, Where, machine_profile
from .output import list_lines, say, short


def sweep(
    experiment: Experiment,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only list the runs, finished and missing, in the order in which they are made."
        ),
    ] = False,
    profile: Where = "here",
    machine: Machine = None,
    results: Root = None,
    jobs: Annotated[
        bool,
        typer.Option("--jobs", help="Slurm: submit a job for every run, instead of one job for all."),
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(help="Slurm: node-hours that all jobs of these results may use; more are refused."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(metavar="LIMIT", help="Slurm: time limit of a job, such as 2:00:00.")
    ] = None,
) -> None:
    """Measure an experiment's missing runs, then write its report.

    Before the first run and during the runs, says how many are missing and how long they will take. If the
    mini-app would refuse a point of the grid, the command refuses it before anything is measured.

    A finished run is never measured again. To repeat one, move or delete its folder in
    RESULTS/EXPERIMENT/MACHINE/runs.
    """
    from spikemark.running import possible, sweeps, ways
    from spikemark.running.experiments import expand, load

    chosen = load(experiment)
    sifted = possible.sift(chosen, expand(chosen))
    folder = sweeps.folder(chosen, machine, results)
    way = ways.find(profile, jobs, budget, time)
    for line in sifted.lines:
        say(line)
    for simulated in sorted({run.machine.profile for run in sifted.runs if run.machine}):
        machine_profile(simulated)
    if dry_run:
        typer.echo(sweeps.dry_run(sifted.runs, folder, way))
        return
    print_outcome(sweeps.sweep(chosen, sifted.runs, folder, _conclude, way))


def _conclude(outcome) -> None:
    """Draws the report; what that needs takes a second to import, and runs need none of it."""
    from spikemark.report import conclude

    conclude(outcome)


def print_outcome(outcome) -> None:
    """Print where the report is and what failed, and end the command with the status of the outcome."""
    if outcome.failed:
        folder = short(outcome.results.path / "failed")
        typer.echo(f"{len(outcome.failed)} of {outcome.planned} runs failed, details in {folder}:", err=True)
    list_lines([f"failed: {label}: {reason}" for label, reason in outcome.failed.items()])
    list_lines(outcome.complaints)
    list_lines([f"lost: {line}" for line in (outcome.sweep.lost if outcome.sweep else ())])
    if outcome.edited:
        typer.echo(f"edited since: {outcome.edited}", err=True)
    if outcome.headline:
        typer.echo(f"{short(outcome.results.report)}\n{outcome.headline}")
    if outcome.status:
        raise typer.Exit(outcome.status)
