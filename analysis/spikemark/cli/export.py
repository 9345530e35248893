"""`spikemark export`: the measurements of a sweep, or of a run, in the format of another tool."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import panels, params
from .options import only_with
from .output import complain, warn

app = typer.Typer()


@app.command(rich_help_panel=panels.RECORDS)
def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help=(
                "A results folder, results/EXPERIMENT/MACHINE; for timeline, caliper and talp, that"
                " of a run."
            ),
        ),
    ],
    *,
    format_: Annotated[
        Literal["figures", "extra-p", "csv", "timeline", "caliper", "talp"],
        typer.Option(
            "--format",
            help=(
                "figures: one JSON line of figures of merit per configuration; extra-p: JSON"
                " Lines for Extra-P; csv: a row per run, with the unit of each column above;"
                " timeline: phases of all ranks over time, for Perfetto and chrome://tracing;"
                " caliper: seconds by phase and rank, for Hatchet and Thicket; talp: efficiencies,"
                " for TALP-Pages."
            ),
        ),
    ],
    only: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help=("Only runs with this value, such as schedule=conventional; may be repeated."),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write to this file instead of printing.",
            callback=params.writable,
        ),
    ] = None,
) -> None:
    """Print the measurements of a sweep, or of a run, for another tool."""
    from spikemark.core.files import write_output
    from spikemark.records.run_formats import RUN_FORMATS

    complaints: list[str] = []
    if format_ in RUN_FORMATS:
        from spikemark.records.record import load_run

        only_with("a format of sweeps", None, only=only)
        run = load_run(folder)
        text, remarks = RUN_FORMATS[format_](run)
        warn([*run.cautions, *remarks])
    else:
        from spikemark.records.frames import load_folder
        from spikemark.report.export import FORMATS

        frames = load_folder(folder)
        text, complaints = FORMATS[format_](frames, tuple(only or ()))
        warn(frames.cautions)
    if output is None:
        print(text, end="")
    else:
        write_output(output, text)
    complain(complaints)
