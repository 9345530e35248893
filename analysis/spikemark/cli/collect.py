"""`spikemark collect`: the records of a results folder as tables."""

import typer

from .options import Folder
from .output import complain


def collect(folder: Folder) -> None:
    """Read the records of a results folder into tables (Parquet)."""
    from spikemark.records import collect
    from spikemark.records.results import Results

    collection = collect.collect(Results(folder))
    typer.echo(f"{len(collection.runs)} runs in {Results(folder).summary}")
    complain(collection.complaints)
