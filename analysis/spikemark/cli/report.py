"""`spikemark report`: the report of an experiment, or the page of imported times."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from spikemark.core.errors import BadInput
from spikemark.core.places import short

from . import panels, params
from .options import only_with
from .output import answer, show

if TYPE_CHECKING:
    from spikemark.records.imported import CycleTimes
    from spikemark.running.sweeps import SweepOutcome

app = typer.Typer()


@app.command(rich_help_panel=panels.RUN)
def report(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help=(
                "Name or file of an experiment, such as demo, or a folder of results, of imported"
                " times or of a dry run."
            ),
            autocompletion=params.experiment_names,
        ),
    ],
    machine: params.ResultsName = None,
    results: params.Results = None,
    index: Annotated[
        bool,
        typer.Option("--index", help="Write an index of a folder of results, such as results."),
    ] = False,
    json: params.Json = False,
) -> None:
    """Write the report of an experiment again, or of imported times.

    Measures nothing: reads all completed runs of the plan, and leaves them as they are. For a
    folder that `spikemark import` or `spikemark dryrun` wrote, the page says why ranks wait, how
    other schedules would change the program, and what would help. With --index, the page lists all
    results below a folder with their headlines, and links to their reports.
    """
    from spikemark.core.lock import locked
    from spikemark.records.results import Results
    from spikemark.report import conclude
    from spikemark.running import sweeps
    from spikemark.running.experiments import load_experiment

    folder = Path(experiment)
    if index:
        only_with("the name of an experiment", None, machine=machine, results=results)
        _index(folder, json)
        return
    if folder.is_dir():
        only_with("the name of an experiment", None, machine=machine, results=results)
    if folder.is_dir() and not (folder / "plan.json").is_file():
        _report_times(folder, json)
        return
    if folder.is_dir():
        sweep_results = Results(folder.resolve())
    else:
        sweep_results = sweeps.folder(load_experiment(experiment), machine, results)
    plan = sweep_results.read_plan()
    outcome = sweeps.SweepOutcome(sweep_results, len(plan.runs))
    with locked(sweep_results.path):
        conclude(outcome)
    _show_outcome(outcome, json)


def _index(folder: Path, json: bool) -> None:
    """Write the index of a folder of results, and print where it is."""
    from spikemark.report import index_page

    if not folder.is_dir():
        reason = "no folder"
        raise BadInput(field="--index", file=folder, reason=reason, expected="results", code="file")
    path, sentence, complaints = index_page.write(folder)
    content = {"report": str(path), "headline": sentence, "complaints": complaints}
    answer("report", json, lambda: content, [str(short(path)), sentence], warnings=complaints)


def _report_times(folder: Path, json: bool) -> None:
    """Write the page of a folder of imported times or of a dry run, and print where it is."""
    from spikemark.records import dry_run, imported
    from spikemark.records.results import Results, results_near
    from spikemark.report import times_page

    if not dry_run.is_dry_run(folder) and not (folder / imported.IMPORT_FILE).is_file():
        if results_near(folder) is not None:
            Results(folder).read_plan()  # refuses it, and names them
        raise BadInput(
            file=folder,
            reason=f"holds no plan.json, {imported.IMPORT_FILE} or {dry_run.DRY_RUN_FILE}",
            expected="a folder of results, of imported times or of a dry run",
            code="file",
        )
    times = cast("CycleTimes", imported.run_or_times(folder))
    path, sentence = times_page.write(times)
    content = {"report": str(path), "headline": sentence, "complaints": times.cautions}
    answer("report", json, lambda: content, [str(short(path)), sentence], warnings=times.cautions)


def _show_outcome(outcome: "SweepOutcome", json: bool) -> None:
    """Print where the report is and what failed.

    Ends the command with the status of the outcome, unless that is 0.
    """
    show(outcome, json)
    if outcome.status:
        raise typer.Exit(outcome.status)
