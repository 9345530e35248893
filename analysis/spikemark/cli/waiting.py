"""`spikemark waiting`: why the ranks of a run waited for each other."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spikemark.core.commands import BETWEEN, command

from . import panels, params
from .options import one_form, only_with, pairs
from .output import command_line, print_lines, show, write_page

if TYPE_CHECKING:
    from spikemark.quantities.answer import Answer
    from spikemark.records.imported import CycleTimes, Sums
    from spikemark.records.record import Run

app = typer.Typer()


def _change_names(incomplete: str) -> list[str]:
    """Names of the changes that can be asked about."""
    return params.registered_names("waiting.changes", "CHANGES", incomplete)


@app.command(rich_help_panel=panels.ANSWER)
def waiting(
    source: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|IMPORT|FILE...",
            help=(
                "Folder of a run, of imported cycle times or of a dry run, or files with cycle"
                " times."
            ),
        ),
    ],
    schedule: Annotated[
        str | None,
        typer.Option(
            help=(
                "Predict the waiting under this schedule: structure_aware, overlapped,"
                " hierarchical, ..."
            ),
            callback=params.with_underscores,
            autocompletion=params.schedule_names,
        ),
    ] = None,
    delay_ratio: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "D: cycles between two exchanges of all ranks [the largest exact one; of a run,"
                " its own]."
            ),
        ),
    ] = None,
    lag: Annotated[
        int | None,
        typer.Option(min=1, help="L: how many windows an exchange may take [1]; overlapped only."),
    ] = None,
    group_period: Annotated[
        int | None,
        typer.Option(min=1, help="Cycles between meetings of a group [D]; hierarchical only."),
    ] = None,
    ranks: Annotated[
        int | None, typer.Option(min=2, help="Number of ranks [that of the run].")
    ] = None,
    change: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help=(
                "What if: halve-jitter, level-ranks, double-delay-ratio, halve-latency,"
                " double-ranks, slow-rank=RANK:FACTOR (below 1: faster); + combines several."
            ),
            autocompletion=_change_names,
        ),
    ] = None,
    unit: params.Unit = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=THEIRS",
            help=("What the files call a column; may be repeated (see `spikemark import --help`)."),
        ),
    ] = None,
    details: params.Details = False,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Explain why the ranks of a run waited for each other, and what would help.

    The parts of the waiting come from a ladder of meetings: how long ranks would wait if they met
    every cycle, every D cycles, or once (docs/models.md). The parts add up to the measured waiting.
    Predictions replay the measured cycle times under another schedule; a run of that schedule
    checks them.

    Example: cycle times of your own program as a NumPy array [rank, cycle].

    spikemark waiting times.npy --unit ms
    """
    import spikemark
    from spikemark.api.results import run_or_times
    from spikemark.records import imported

    one_form(format_, json=json, details=details)
    is_folder = len(source) == 1 and source[0].is_dir()
    if is_folder:
        only_with(f"files, not {source[0]}", None, unit=unit, column=column)
    times = run_or_times(source, unit, pairs(column, "--column", "NAME=THEIRS"))
    meetings: dict[str, Any] = {
        "schedule": schedule,
        "delay_ratio": delay_ratio,
        "lag": lag,
        "group_period": group_period,
        "ranks": ranks,
    }
    one_form(format_, **meetings, change=change)  # its table has what was measured
    changes = [name for name in (change or "").split(",") if name]
    explanation = spikemark.waiting(times, **meetings, changes=changes)
    if html is not None:
        _write_page(html, times, explanation)
    of_files = {"unit": unit, "column": column}
    with_details = command("waiting", *source, **of_files, **meetings, change=change, details=True)
    show(explanation, json, details, format_)
    if not (json or format_ or isinstance(times, imported.Sums)):
        proposals = [with_details]
        if is_folder and isinstance(times, imported.CycleTimes):
            proposals.append(command("report", source[0]))
        print_lines([BETWEEN.join(proposals)])


def _write_page(path: Path, times: "CycleTimes | Run | Sums", explanation: "Answer") -> None:
    """Write the page of waiting; sums over whole runs have a table only."""
    from spikemark.records.imported import Sums
    from spikemark.report import times_page
    from spikemark.waiting.answer import WaitingAnswer

    if isinstance(explanation, WaitingAnswer) and not isinstance(times, Sums):
        times_page.write_answer(path, times, explanation, command_line())
    else:
        write_page(path, "waiting", explanation)
