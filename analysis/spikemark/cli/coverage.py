"""`spikemark coverage`: how often the intervals of the predictors contain the truth."""

from pathlib import Path
from typing import Annotated

import typer

from .output import say


def coverage(
    trials: Annotated[int, typer.Option(min=10, help="Runs to draw from each process.")] = 500,
    write: Annotated[
        Path | None, typer.Option(help="Write the page to this file instead of printing it.")
    ] = None,
) -> None:
    """Test how often the predictors' intervals contain the truth.

    The runs are drawn from processes whose true waiting is known. 500 trials take about a quarter of an hour.
    """
    from spikemark.core.files import output_file, write_output
    from spikemark.documents import keep
    from spikemark.waiting import coverage

    output_file("--write", write)
    found, further = coverage.study(trials, say=say), coverage.study_of_ranks(trials, say=say)
    page = coverage.page(found, further, trials, f"*Modelled on {keep.today()}, commit {keep.commit()}.*")
    if write is None:
        typer.echo(page)
    else:
        write_output(write, page)
