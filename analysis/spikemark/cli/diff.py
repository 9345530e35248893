"""`spikemark diff`: two results side by side, and the history of a machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from . import panels, params
from .options import one_form
from .output import command_line, show

app = typer.Typer()


@app.command(rich_help_panel=panels.ANSWER)
def diff(
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="A B", help="Two or more runs, sweeps, or whole results folders."),
    ] = None,
    fail_above: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help=(
                "End with status 1 if B, or another after it, is slower by more, such as 5%; for"
                " continuous integration."
            ),
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=(
                "Take the spread of A's machine from its history there; without A and B, show it."
            ),
        ),
    ] = None,
    add: Annotated[
        list[Path] | None,
        typer.Option(metavar="RESULTS", help="Append results to the history; may be repeated."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print everything, on more than one screen.")
    ] = False,
    html: params.Html = None,
    badge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.svg",
            help="Also write a badge that says pass or fail, or whether something is slower.",
            callback=params.writable,
        ),
    ] = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Compare two results: is B slower than A, by how much, and where.

    With further results, each is compared with A, and all intervals hold together. Runs of
    different networks are refused. With --history, the spread of the machine comes from the history
    that --add has made.

    Examples: spikemark diff results/demo/old results/demo/new --fail-above 5%
    spikemark diff --history times --add results/demo/new
    """
    import spikemark
    from spikemark.core.files import write_output
    from spikemark.diff.badge import badge as svg_badge

    one_form(format_, json=json, details=details)
    results = results or []
    if add or (history is not None and not results):
        beside = {
            "A B": results,
            "--badge": badge,
            "--fail-above": fail_above,
            "--details": details,
        }
        _only_history(history, beside)
        answer = spikemark.history(history or "", add=add or [])
        if html is not None:
            answer.write_page(html, command_line())
        show(answer, json, format_=format_)
        return
    if len(results) < 2:
        names = [str(path) for path in results]
        raise BadInput(field="A B", value=names, expected="two results, or --history FOLDER")
    first, *others = results
    second = others if len(others) > 1 else others[0]
    difference = spikemark.diff(first, second, fail_above=fail_above, history=history)
    if html is not None:
        difference.write_page(html, command_line())
    if badge is not None:
        write_output(badge, svg_badge(difference.state))
    show(difference, json, details, format_)
    if difference.failed:
        raise typer.Exit(1)


def _only_history(folder: Path | None, others: Mapping[str, object]) -> None:
    """Raises BadInput where a history is asked for without its folder, or with other things."""
    if folder is None:
        raise BadInput(field="--add", reason="alone", expected="--history FOLDER", code="conflict")
    for name, value in others.items():
        if value:
            reason = "beside a history that is shown or added to"
            raise BadInput(field=name, reason=reason, expected="two results", code="conflict")
