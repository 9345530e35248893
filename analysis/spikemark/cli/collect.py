"""`spikemark collect`: the records of a results folder as tables."""

import typer

from .options import Folder
from .output import complain


def collect(folder: Folder) -> None:
    """Write the records of a results folder as tables (Parquet).

    The tables are for other tools; reports read the records themselves.
    """
    from spikemark.quantities.words import counted
    from spikemark.records.collect import collect
    from spikemark.records.gather import gather
    from spikemark.records.results import Results

    found = collect(gather(folder))
    typer.echo(f"{counted(len(found.runs), 'run')} in {Results(folder).summary}")
    complain(found.complaints)
