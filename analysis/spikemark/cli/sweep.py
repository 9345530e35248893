"""`spikemark sweep`: the missing runs of an experiment, and its report."""

import sys
from typing import Annotated

import typer

from . import panels, params
from .output import show

app = typer.Typer()


@app.command(rich_help_panel=panels.RUN)
def sweep(
    experiment: params.Experiment,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            "-n",
            help=("Only list the runs, done and missing, in their order, and what they will take."),
        ),
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help=(
                "Change a field of the experiment, such as repetitions, preset.areas or"
                " time.simulate_ms; may be repeated."
            ),
        ),
    ] = None,
    machine: params.ResultsName = None,
    results: params.Results = None,
    again: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=(
                "Most runs to measure again because other programs disturbed them [half of all]."
            ),
        ),
    ] = None,
    json: params.Json = False,
) -> None:
    """Measure an experiment's missing runs with Snakemake, then write its report.

    First prints how many runs are missing, how long they will take and on how many nodes. A point
    of the grid that the mini-app would refuse is refused before anything is measured. After an
    interruption, the same command continues. In an allocation of Slurm, srun starts the ranks;
    docs/clusters.md has a batch script.

    A finished run is never measured again unless other programs disturbed it: then its record moves
    to RESULTS/EXPERIMENT/MACHINE/runs-disturbed, up to --again of them in all. To repeat another
    one, delete its folder in RESULTS/EXPERIMENT/MACHINE/runs.

    Example: spikemark sweep demo --set repetitions=1 --set time.simulate_ms=300
    """
    import spikemark
    from spikemark.running.experiments import parse_settings

    answer = spikemark.sweep(
        experiment,
        changes=parse_settings(setting or []),
        machine=machine,
        results=results,
        dry_run=dry_run,
        again=again,
        stream=sys.stderr if json else None,
    )
    show(answer, json)
    if answer.status:
        raise typer.Exit(answer.status)
