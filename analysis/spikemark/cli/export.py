"""`spikemark export`: the measurements of a results folder for another tool."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import Folder
from .output import complain


def export(
    folder: Folder,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="figures (of merit, one JSON line per configuration) or extra-p (JSON Lines for Extra-P).",
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Only runs with this value, such as schedule=conventional; may be repeated.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of printing.")] = None,
) -> None:
    """Print the measurements of a results folder for another tool."""
    from spikemark.core.files import output_file, write_output
    from spikemark.records.gather import gather
    from spikemark.report.export import FORMATS

    if form not in FORMATS:
        raise BadInput(f"--format: {form!r} is not allowed: one of {', '.join(FORMATS)}")
    output_file("--output", output)
    lines, complaints = FORMATS[form](gather(folder), tuple(only or ()))
    if output is None:
        typer.echo(lines, nl=False)
    else:
        write_output(output, lines)
    complain(complaints)
