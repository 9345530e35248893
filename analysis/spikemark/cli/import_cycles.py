"""`spikemark import`: cycle times that another program measured."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from spikemark.core.commands import BETWEEN, command

from . import panels, params
from .options import above_0, only_with, pairs
from .output import answer

if TYPE_CHECKING:
    from spikemark.records.imported import CycleTimes

app = typer.Typer()


def _format_names(incomplete: str) -> list[str]:
    """Names of the formats that can be read."""
    return params.registered_names("records.imported", "READERS", incomplete)


class CommandThatListsFormats(TyperCommand):
    """Lists in its help what can be read; that list is loaded for nothing else."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the names of the formats, with what each one is."""
        from spikemark.records.imported import READERS

        rows = [(name, reader.summary) for name, reader in READERS.items()]
        with formatter.section("Formats"):
            formatter.write_dl(rows)


@app.command("import", cls=CommandThatListsFormats, rich_help_panel=panels.RECORDS)
def import_cycles(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="One file, or one for each rank.")
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write.")],
    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="NAME",
            help="One of the formats below [the one that fits the files].",
            autocompletion=_format_names,
        ),
    ] = None,
    unit: params.Unit = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=THEIRS",
            help=(
                "What the files call a column, or which regions of a trace are communicate, wait,"
                " or hold the cycles (within); may be repeated."
            ),
        ),
    ] = None,
    skip: Annotated[int, typer.Option(min=0, help="Cycles to leave out at the start.")] = 0,
    cycles: Annotated[
        int | None,
        typer.Option(min=1, help="Cycles to keep after the skipped ones [all]."),
    ] = None,
    cycle_ms: Annotated[
        float | None,
        typer.Option(help="Simulated time of a cycle in ms, if the files do not say."),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=(
                "Where the neurons were: area if every area had ranks of its own. Schedules that"
                " need this cannot be predicted from other times."
            ),
            autocompletion=params.placement_names,
        ),
    ] = None,
    json: params.Json = False,
) -> None:
    """Read cycle times of another simulator, or of any program whose ranks meet in every cycle.

    Afterwards, `spikemark waiting DIR` explains why its ranks wait, and `report DIR` writes a page.
    Example: one file per rank, one line per cycle, times in milliseconds.

    \b
        $ head -2 rank-0.csv
        compute,communicate
        1.21,0.34
        $ spikemark import rank-*.csv --unit ms --out mine
        $ spikemark waiting mine

    The columns are compute (or cycle_time, from which communicate is subtracted), communicate (all
    communication, waiting included) and wait (the waiting within communicate). A missing wait is
    derived from the others. One file may hold all ranks, as arrays [rank, cycle] in .npy (compute)
    or .npz, or with a column `rank`. NumPy writes such a file from two arrays [rank, cycle] with
    numpy.savez("times.npz", compute=compute, communicate=communicate).
    """
    from spikemark.network.placement import check_name
    from spikemark.records import imported

    if placement is not None:
        check_name(placement)
    above_0("--cycle-ms", cycle_ms)
    reader = imported.reader_of(files, format_).name
    names = pairs(column, "--column", "NAME=THEIRS")
    times = imported.read_times(files, unit, names, skip, cycles, reader)
    if isinstance(times, imported.Sums):
        only_with("times of cycles, not sums", None, cycle_ms=cycle_ms, placement=placement)
    about = {
        "files": [str(file) for file in files],
        "skipped": skip,
        "cycle_ms": cycle_ms,
        "reader": reader,
        "placement": placement,
    }
    saved = imported.save(out, times, about)
    if isinstance(saved, imported.Sums):
        runs = len(saved.runs)
        line = f"{runs} x sums of a run, without cycles: {command('waiting', out)}"
        answer("import", json, saved.model_dump, [line], warnings=saved.remarks)
        return
    proposals = command("waiting", out) + BETWEEN + command("report", out)
    lines = [f"{_summary(saved)}: {out}", proposals]
    answer("import", json, saved.about.model_dump, lines, warnings=saved.cautions)


def _summary(times: "CycleTimes") -> str:
    """How much was imported, in one phrase."""
    about = times.about
    columns = ", ".join(about.columns)
    compute_ms = 1e3 * times.compute.mean(dtype="f8")
    return (
        f"{about.ranks} x {about.cycles} (ranks x cycles), {columns};"
        f" {compute_ms:.4g} ms of computing per cycle"
    )
