"""`spikemark bench`: kernels of the mini-app, or exchanges between ranks, on their own."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spikemark.core.commands import command
from spikemark.core.places import short

from . import panels, params
from .options import one_form, only_with, whole_numbers
from .output import answer, bar, complain, ending, list_lines

if TYPE_CHECKING:
    import pandas as pd

    from spikemark.measuring.exchanges import ExchangeTimes
    from spikemark.measuring.kernels import KernelTimes

MAX_RANKS = 1024  # on one machine; mpirun would try to start any number
ROWS_WITHOUT_DETAILS = 12
KERNEL_MIN_TIME_S = 0.2
FAILURE = "bench failed: {}"

app = typer.Typer()


@app.command(rich_help_panel=panels.MEASURE)
def bench(
    exchange: Annotated[
        bool,
        typer.Option(
            "--exchange", help="Measure the exchanges between ranks instead of the kernels."
        ),
    ] = False,
    repetitions: Annotated[int, typer.Option(help="How often everything is measured.")] = 5,
    filter_: Annotated[
        str,
        typer.Option(
            "--filter",
            metavar="REGEX",
            help="Measure only kernels or exchanges that match.",
        ),
    ] = "",
    min_time: Annotated[
        float | None,
        typer.Option(help="Shortest time of a repetition, s [0.2; exchanges 0.02]."),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Exchanges: numbers of ranks [up to one per core]."),
    ] = None,
    ranks_per_node: Annotated[
        int | None,
        typer.Option(min=1, help="Exchanges: ranks on a node [one per core]."),
    ] = None,
    bytes_: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="N,N",
            help="Exchanges: bytes from rank to rank [4 to 65536].",
        ),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(help="Exchanges: mpirun or srun [srun in an allocation]."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Print every kernel and size.")
    ] = False,
    format_: params.TableForm = None,
    json: params.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder instead of results/bench/MACHINE."),
    ] = None,
) -> None:
    """Measure kernels of the mini-app, or exchanges, on their own.

    Delivery is shown as a multiple of the lower bound that the memory sets for it. Exchanges on
    more ranks than cores are marked: their times are no evidence of speed.
    """
    one_form(format_, json=json, details=details)
    only_with(
        "--exchange",
        exchange,
        ranks=ranks,
        bytes=bytes_,
        ranks_per_node=ranks_per_node,
        launcher=launcher,
    )
    if exchange:
        options: dict[str, Any] = {"repetitions": repetitions}
        if filter_:
            options["filter"] = filter_
        if min_time is not None:
            options["min-time"] = min_time
        if bytes_ is not None:
            options["bytes"] = bytes_
        _bench_exchanges(out, ranks, options, launcher, ranks_per_node, json, format_)
        return
    repeat_with_details = command(
        "bench",
        "--details",
        repetitions=repetitions,
        filter=filter_ or None,
        min_time=min_time,
        out=out,
    )
    min_time_s = KERNEL_MIN_TIME_S if min_time is None else min_time
    times = _measured_kernels(out, repetitions, filter_, min_time_s)
    _show_kernels(times, None if details else repeat_with_details, json, format_)


def _bench_exchanges(
    out: Path | None,
    ranks: str | None,
    options: dict[str, Any],
    launcher: str | None,
    ranks_per_node: int | None,
    json: bool,
    format_: str | None,
) -> None:
    """Measure and show the exchanges between ranks."""
    from spikemark import launch
    from spikemark.launch import slurm
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import exchanges

    # Ranks of an allocation are on its nodes, not on the node of this command.
    machine = launch.machine_name() if slurm.inside() else None
    folder = out or exchanges.folder(machine)
    outcome = "the times of finished numbers of ranks were kept"
    counts = None if ranks is None else whole_numbers(ranks, "--ranks", MAX_RANKS)
    with ending(ProgramFailed, words=FAILURE, if_interrupted=outcome), bar() as progress:
        times = exchanges.bench(folder, counts, options, progress, launcher, ranks_per_node)
    answer(
        "bench",
        json,
        lambda: _exchange_content(times),
        tables=[exchanges.exchange_table(times.table)],
        more=[str(short(times.path))],
        format_=format_,
        frame=lambda: _exchange_frame(times),
    )
    if not json:
        list_lines(times.notes)


def _exchange_content(times: "ExchangeTimes") -> dict[str, Any]:
    """Times of exchanges for JSON: a curve for each exchange and number of ranks."""
    from spikemark.measuring import exchanges

    curves = []
    for curve in exchanges.curves(times.table):
        latency_s, seconds_per_byte = curve.line
        curves.append(
            {
                "exchange": curve.exchange,
                "ranks": curve.ranks,
                "nodes": curve.nodes,
                "oversubscribed": curve.oversubscribed,
                "barrier_s": curve.barrier_s,
                "bytes": curve.sizes.tolist(),
                "exchange_s": curve.medians_s.tolist(),
                "latency_s": latency_s,
                "seconds_per_byte": seconds_per_byte,
            }
        )
    return {"file": str(times.path), "curves": curves, "notes": times.notes}


def _exchange_frame(times: "ExchangeTimes") -> "pd.DataFrame":
    """A row for each exchange, number of ranks and size."""
    import pandas as pd

    return pd.DataFrame(_exchange_content(times)["curves"]).explode(["bytes", "exchange_s"])


def _measured_kernels(
    out: Path | None,
    repetitions: int,
    pattern: str,
    min_time_s: float,
) -> "KernelTimes":
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import exchanges, kernels

    folder = out or exchanges.folder()
    with ending(ProgramFailed, words=FAILURE, if_interrupted="nothing was kept"), bar():
        return kernels.bench(folder, repetitions, pattern, min_time_s)


def _show_kernels(
    times: "KernelTimes", repeat_with_details: str | None, json: bool, format_: str | None
) -> None:
    """Print the times of the kernels.

    Args:
        times: all repetitions.
        repeat_with_details: the command that prints all rows; None to print them now.
        json: whether JSON is printed.
        format_: the form in which their table is printed, and nothing else.

    Ends the command with status 1 if some times could not be used.
    """
    from spikemark.measuring import kernels

    sentences = []
    if len(times.ratios):
        middle = times.ratios.iloc[len(times.ratios) // 2]
        bound = f"its bound for lists of {middle['size']:.0f}"
        sentences.append(f"Delivery takes {middle['ratio']:.2f} times {bound}.")
    if len(times.reference_ratios):
        middle = times.reference_ratios.iloc[len(times.reference_ratios) // 2]
        plain = f"Plain delivery takes {middle['ratio']:.2f} times as long as the tuned one"
        sentences.append(f"{plain} for lists of {middle['size']:.0f}.")
    if times.slowdown > kernels.BUSY:
        factor = f"{times.slowdown:.2f}"
        sentences.append(f"The machine was busy: kernels took {factor} times their CPU time.")
    table = kernels.kernel_table(times)
    lines = [str(short(times.raw))]
    hidden = len(table.rows) - ROWS_WITHOUT_DETAILS
    if repeat_with_details is not None and hidden > 0:
        del table.rows[ROWS_WITHOUT_DETAILS:]
        lines.append(f"{hidden} more rows: {repeat_with_details}")
    content = {
        "raw": str(times.raw),
        "dropped": times.dropped,
        "slowdown": times.slowdown,
        "kernels": times.summary.to_dict("records"),
        "ratios": times.ratios.to_dict("records"),
        "reference_ratios": times.reference_ratios.to_dict("records"),
    }
    answer(
        "bench",
        json,
        lambda: content,
        sentences,
        tables=[table],
        more=lines,
        format_=format_,
        frame=lambda: times.summary,
    )
    if not json:
        complain(times.dropped)
