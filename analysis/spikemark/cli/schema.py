"""`spikemark schema`: the JSON Schemas of files that people write and read, and of answers."""

import json
from typing import Annotated

import typer

from . import panels, params
from .output import print_lines

app = typer.Typer()


def _format_names(incomplete: str) -> list[str]:
    """Names of the formats that begin with what has been typed."""
    from spikemark.records.answer_schema import verbs_by_format
    from spikemark.records.json_schema import FILE_FORMATS

    return params.beginning([*FILE_FORMATS, *verbs_by_format()], incomplete)


@app.command(rich_help_panel=panels.DESCRIBE)
def schema(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="A kind of file or answer; without it, list all kinds.",
            autocompletion=_format_names,
        ),
    ] = None,
) -> None:
    """Print the JSON Schema of a kind of file or answer, for editors and programs of your own.

    A schema looks at one field at a time; Spikemark also checks how fields fit each other.

    Example: spikemark schema experiment > experiment.schema.json
    """
    from spikemark.records.answer_schema import verbs_by_format
    from spikemark.records.json_schema import FILE_FORMATS, json_schema

    if name is not None:
        print(json.dumps(json_schema(name), indent=1, allow_nan=False))
    else:
        print_lines(f"{file.name:12} {file.summary}" for file in FILE_FORMATS.values())
        print_lines(["", f"answers as JSON: {', '.join(verbs_by_format())}"])
