"""The command line `spikemark`. Each command is a thin face on an importable function.

Exit status: 0 done, 1 ran but something failed, 2 bad input (one line on standard error), 130 interrupted.
"""

import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput, is_bad_input, option_complaint

from . import (
    bench,
    budget,
    cache,
    calibrate,
    energy,
    peers,
    predict,
    preset,
    profiles,
    scorep,
    simulate,
    study,
    waiting,
)
from .output import list_lines, short

INTERRUPTED = 130

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Where the time between two spike exchanges goes, and what another schedule would make of it.",
)

Name = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT", help="Name of a file in workflows/experiments, such as demo, or a path of one."
    ),
]
Machine = Annotated[str | None, typer.Option(help="Name of the results folder instead of the host name.")]
Root = Annotated[Path | None, typer.Option(help="Folder of all results instead of results/ in the checkout.")]
Folder = Annotated[Path, typer.Argument(help="A results folder: results/EXPERIMENT/MACHINE.")]


@app.command()
def sweep(
    experiment: Name,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the runs, done and missing, in order.")
    ] = False,
    profile: Annotated[str, typer.Option(help="Where to measure: laptop, slurm, or a folder.")] = "laptop",
    machine: Machine = None,
    results: Root = None,
) -> None:
    """Measure what is missing, collect, report.

    A finished run is never measured again. To repeat one, move or delete its folder in
    RESULTS/EXPERIMENT/MACHINE/runs.
    """
    from spikemark.report import conclude
    from spikemark.running import experiments, sweeps

    chosen = experiments.load(experiment)
    runs = experiments.expand(chosen)
    folder = sweeps.folder(chosen, machine, results)
    if dry_run:
        sweeps.check(folder, profile)
        typer.echo(sweeps.dry_run(runs, folder))
        return
    _conclude(sweeps.sweep(chosen, runs, folder, conclude, profile))


@app.command()
def report(experiment: Name, machine: Machine = None, results: Root = None) -> None:
    """Collect and draw the page again from the runs that are there."""
    from spikemark.core.lock import locked
    from spikemark.report import conclude
    from spikemark.running import experiments, sweeps

    folder = sweeps.folder(experiments.load(experiment), machine, results)
    outcome = sweeps.Outcome(folder, len(folder.read_plan().runs))
    with locked(folder.path):
        conclude(outcome)
    _conclude(outcome)


@app.command()
def collect(folder: Folder) -> None:
    """Read the records of a folder and write tables (Parquet) for other tools."""
    from spikemark.records.collect import collect as tables
    from spikemark.records.gather import gather
    from spikemark.records.results import Results

    found = tables(gather(folder))
    list_lines(found.complaints)
    typer.echo(f"{len(found.runs)} runs in {Results(folder).summary}")
    if found.complaints:
        raise typer.Exit(1)


@app.command()
def run(
    folder: Folder,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run of the plan.")],
    launcher: Annotated[str, typer.Option(help="How to start the ranks: mpirun or srun.")] = "mpirun",
    scorep: Annotated[
        bool, typer.Option("--scorep", help="The program instrumented for Score-P, beside the timed run.")
    ] = False,
) -> None:
    """Carry out one run of a plan; the workflow calls this."""
    from spikemark.records.results import Results
    from spikemark.running.carry_out import RunFailed

    results = Results(folder)
    planned = results.read_plan().run(run_id)
    try:
        if scorep:
            from spikemark.scorep.instrumented import measure

            record = measure(results, run_id, launcher)
        elif planned and planned.machine:
            from spikemark.running.simulate import simulate

            record = simulate(results, run_id)
        else:
            from spikemark.running.measure import measure

            record = measure(results, run_id, launcher)
        typer.echo(record)
    except RunFailed as reason:
        typer.echo(f"run {run_id} failed: {reason}", err=True)
        raise typer.Exit(1) from None


def _version(wanted: bool) -> None:
    if wanted:
        from spikemark import __version__

        typer.echo(f"spikemark {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


app.command()(bench.bench)
app.command()(peers.peers)
app.command()(study.study)
app.command()(calibrate.calibrate)
app.command()(cache.cachesim)
app.command()(profiles.machine)
app.command()(simulate.simulate)
app.command()(scorep.scorep)
app.command()(scorep.export)
for command in (
    waiting.fit,
    waiting.predict,
    waiting.coverage,
    budget.budget,
    energy.energy,
    predict.compare,
):
    app.command()(command)
app.command(cls=budget.Whatif)(budget.whatif)
app.add_typer(preset.app, name="preset")


def _conclude(outcome) -> None:
    if outcome.failed:
        folder = short(outcome.results.path / "failed")
        typer.echo(f"{len(outcome.failed)} of {outcome.planned} runs failed, details in {folder}:", err=True)
    list_lines([f"failed: {label}: {reason}" for label, reason in outcome.failed.items()])
    list_lines(outcome.complaints)
    if outcome.headline:
        typer.echo(f"{short(outcome.results.report)}\n{outcome.headline}")
    if outcome.status:
        raise typer.Exit(outcome.status)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: runs the command and turns errors into one plain line and an exit status."""
    for sign in (signal.SIGINT, signal.SIGTERM):  # also where a shell started us with interrupts ignored
        signal.signal(sign, signal.default_int_handler)
    try:
        status = app(args=arguments, prog_name="spikemark", standalone_mode=False)
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BadInput as error:
        _fail(str(error), 2)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        line = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
        _fail(line, 2 if is_bad_input(error) else 1)
    except Exception as error:
        if not hasattr(error, "format_message"):  # everything but a usage error is a fault of the program
            raise
        _fail(_usage(error), 2)
    if status == INTERRUPTED:
        _fail("interrupted: the same command goes on from here", INTERRUPTED)
    sys.exit(status if isinstance(status, int) else 0)


def _usage(error: Exception) -> str:
    message, context = error.format_message(), getattr(error, "ctx", None)
    if message.startswith("Usage:"):
        message = "no command given"
    if hasattr(error.__cause__, "errors"):  # of pydantic, which checks values for typer
        message = option_complaint(error.param.opts[0], error.__cause__)
    return f"{message.rstrip('.')}: see `{context.command_path} --help`" if context else message


def _fail(line: str, status: int) -> None:
    print("spikemark:", " ".join(line.splitlines()), file=sys.stderr)
    sys.exit(status)
