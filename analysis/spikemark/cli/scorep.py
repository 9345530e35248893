"""`spikemark scorep`: what Score-P saw of a run."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson
from .output import complain, print_json, print_lines, print_tables


def scorep(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder with profile.cubex, traces.otf2 or both; the run's record is there or in DIR/record",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Compare what Score-P saw of a run with the run's own cycle log.

    Prints the times of all regions and the waiting of each rank, and says where the two differ too much.
    """
    from spikemark.scorep import show
    from spikemark.scorep.check import check

    found = check(folder)
    if as_json:
        print_json(show.content(found))
    else:
        print_tables(show.regions(found))
        print_lines(show.agreement(found))
    complain(found.complaints)
