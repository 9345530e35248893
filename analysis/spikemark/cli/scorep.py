"""`spikemark scorep`: what Score-P recorded of a run, beside the run's own cycle log."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.commands import BETWEEN, command

from . import panels, params
from .output import answer, complain

app = typer.Typer()


@app.command(rich_help_panel=panels.RECORDS)
def scorep(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help=(
                "Folder with profile.cubex, traces.otf2 or both; the run's record is there or in"
                " DIR/record."
            ),
        ),
    ],
    json: params.Json = False,
) -> None:
    """Compare what Score-P recorded of a run with the run's own cycle log.

    Prints for each phase whether the two agree, and how long ranks waited at barriers. The exit
    status is 1 if a time or a count differs too much.
    """
    from spikemark.measuring import scorep

    comparison = scorep.check(folder)
    record = folder / "record"
    run = record if record.is_dir() else folder
    answer(
        "scorep",
        json,
        lambda: scorep.comparison_json(comparison),
        scorep.sentences(comparison),
        tables=[scorep.phase_table(comparison)],
        more=[command("scorep", folder, "--json") + BETWEEN + command("waiting", run)],
        warnings=comparison.warnings,
    )
    complain(comparison.complaints)
