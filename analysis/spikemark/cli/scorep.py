"""`spikemark scorep`, `export`: what other tools say of a run, and what they may read of many."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .output import list_lines
from .waiting import AsJson, print_table


def scorep(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="profile.cubex and traces.otf2 of a run, whose record is there or in DIR/record.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Region times and waiting as Score-P saw them, beside the run's own cycle log."""
    from spikemark.scorep import show
    from spikemark.scorep.check import check

    found = check(folder)
    if as_json:
        typer.echo(json.dumps(show.content(found), indent=1))
    else:
        print_table(show.regions(found))
        typer.echo("\n".join(show.agreement(found)))
    list_lines(found.complaints)
    if found.complaints:
        raise typer.Exit(1)


def export(
    folder: Annotated[Path, typer.Argument(metavar="RESULTS_DIR", help="results/EXPERIMENT/MACHINE.")],
    form: Annotated[str, typer.Option("--format", help="extra-p: JSON Lines for Extra-P.")],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="Only runs with this, as schedule=conventional; may be repeated."
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write there instead of printing.")] = None,
) -> None:
    """The measurements of a results folder for another tool."""
    from spikemark.core.files import write_atomically
    from spikemark.records.export import FORMATS
    from spikemark.records.gather import gather

    if form not in FORMATS:
        raise BadInput(f"--format: {form!r} is not allowed: one of {', '.join(FORMATS)}")
    lines, complaints = FORMATS[form](gather(folder), tuple(only or ()))
    if output is None:
        typer.echo(lines, nl=False)
    else:
        write_atomically(output, lines)
    list_lines(complaints)
    if complaints:
        raise typer.Exit(1)
