"""`spikemark study` and `spikemark score`: claims beside ours, predictions beside measurements.

Each command reads its options, calls one function of this package, and shows the answer. What a
function needs is imported when its command runs, so that the others start quickly.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from spikemark.cli import options, output, panels, params
from spikemark.core.errors import BadInput

NAME_WIDTH = 10  # of the list of studies


def register(app: typer.Typer) -> None:
    """Adds the commands of this package to the command line."""
    app.command(rich_help_panel=panels.RUN)(study)
    app.command(rich_help_panel=panels.ANSWER)(score)


def study(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of a study.")] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: two minutes on two cores.")
    ] = False,
    json: params.Json = False,
    details: Annotated[bool, typer.Option("--details", help="Print every claim.")] = False,
    html: params.Html = None,
    markdown: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a page of the documentation to this file, and its figures beside it.",
            callback=params.writable,
        ),
    ] = None,
    logs: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With lober: cycle_time_log_* of your own runs, in DIR/conventional and"
            " DIR/structure-aware; they decide instead of simulated times.",
        ),
    ] = None,
    machine: params.ResultsName = None,
    results: params.Results = None,
) -> None:
    """Repeat a paper: print each of its claims beside ours, and whether they could be reproduced.

    Runs what is missing, at most an hour on two cores. After an interruption, the same command
    continues. Without a name, lists the studies. The exit status is 1 if something failed.
    """
    from spikemark.core.files import write_atomically

    from . import show
    from .study import answer_functions, carry_out, load_paper, study_names

    if name is None:
        options.only_with(
            "the name of a study",
            None,
            quick=quick,
            details=details,
            html=html,
            markdown=markdown,
            logs=logs,
            machine=machine,
            results=results,
            json=json,
        )
        names = study_names()
        return output.print_lines(f"{each:{NAME_WIDTH}}{load_paper(each).title}" for each in names)
    functions = answer_functions(name)
    finished = carry_out(name, functions, quick, machine, results, sys.stderr, logs=logs)
    if html is not None:
        write_atomically(html, show.page(finished, output.command_line()))
    if markdown is not None:
        write_atomically(markdown, show.markdown(finished))
        for picture, drawing in show.pictures(finished).items():
            write_atomically(markdown.with_name(picture), drawing)
    sentences, table, lines = show.screen(finished, details, machine=machine, results=results)
    output.answer("study", json, lambda: show.content(finished), sentences, [table], lines)
    if finished.complaints:
        output.say("Some claims could not be decided:")
    return output.complain(finished.complaints)


def score(
    points: Annotated[
        Path | None,
        typer.Argument(
            metavar="POINTS.csv", help="Points to predict, instead of the published ones."
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Argument(
            metavar="PREDICTIONS.json",
            help="Stored predictions to score, instead of the model's.",
        ),
    ] = None,
    details: params.Details = False,
    fit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.yaml",
            help="Estimate costs and spreads from the published points, and write them here.",
            callback=params.writable,
        ),
    ] = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="With --fit: runs of the mini-app, for the errors of its parts."
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="With --runs: the calibrated machine that they ran on.",
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ] = None,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Score predicted real-time factors against measured ones, beside two baselines.

    The model predicts each series of times from other series only.
    """
    from . import score, score_page

    options.one_form(format_, json=json, details=details)
    belong_together = (runs is None) == (machine is None) and (fit is not None or runs is None)
    if not belong_together:
        raise BadInput(
            "runs: expected --fit, --runs DIR and --machine together",
            field="runs",
            code="conflict",
        )
    if fit is not None:
        of_scores = {
            "POINTS.csv": points,
            "PREDICTIONS.json": predictions,
            "--details": details,
            "--html": html,
            "--format": format_,
            "--json": json,
        }
        for field, value in of_scores.items():
            if value:
                reason = "beside --fit, which scores nothing"
                raise BadInput(field=field, reason=reason, expected="one of them", code="conflict")
        _fit(fit, runs or [], machine)
        return
    answer = score.score(points, predictions)
    title = "predictions beside measurements"
    output.write_page(html, title, answer, lambda: score_page.sections(answer))
    output.show(answer, json, details, format_)


def _fit(file: Path, runs: list[Path], machine: str | None) -> None:
    """Write costs and spreads to a file; errors of the mini-app's parts come from runs."""
    from spikemark.core.files import write_output
    from spikemark.prediction import beside
    from spikemark.records import record

    from . import spreads

    errors = []
    if machine is not None:
        records = [record.load_run(folder) for folder in runs]
        errors = beside.errors(records, options.machine_profile(machine))
    write_output(file, spreads.fitted(errors))
    output.print_lines([str(file)])
