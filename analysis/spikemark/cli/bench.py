"""`spikemark bench`: kernels, or exchanges, on their own."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson
from .output import fail, interrupted, list_lines, print_json, print_lines, print_tables, short


def bench(
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Measure the exchanges between ranks instead of the kernels.")
    ] = False,
    repetitions: Annotated[
        int, typer.Option(help="How often every kernel or exchange of every size is measured.")
    ] = 5,
    pattern: Annotated[
        str,
        typer.Option(
            "--filter", metavar="REGEX", help="Measure only kernels or exchanges whose names match."
        ),
    ] = "",
    min_time: Annotated[
        float | None,
        typer.Option(help="Shortest time of a repetition, in seconds.", show_default="0.2; exchanges 0.02"),
    ] = None,
    ranks: Annotated[
        str | None,
        typer.Option(
            metavar="N,N", help="Exchanges: numbers of ranks.", show_default="up to one for each core"
        ),
    ] = None,
    ranks_per_node: Annotated[
        int | None,
        typer.Option(min=1, help="Exchanges: ranks on a node.", show_default="one for each of its cores"),
    ] = None,
    sizes: Annotated[
        str | None,
        typer.Option(
            "--bytes",
            metavar="N,N",
            help="Exchanges: bytes from one rank to another.",
            show_default="4 to 65536",
        ),
    ] = None,
    targets: Annotated[
        str | None,
        typer.Option(
            metavar="WHICH,…",
            help="Exchanges: receivers of each rank: all, ring, or a fraction of the ranks.",
            show_default="all",
        ),
    ] = None,
    skew_us: Annotated[
        str | None,
        typer.Option(
            metavar="US,US",
            help="Exchanges: largest random delays of a rank, in microseconds.",
            show_default="0",
        ),
    ] = None,
    launcher: Annotated[
        str | None,
        typer.Option(
            help="Exchanges: how to start the ranks, mpirun or srun.", show_default="srun in an allocation"
        ),
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to instead of results/bench/MACHINE.")
    ] = None,
) -> None:
    """Measure kernels of the mini-app, or exchanges, on their own.

    Delivery is shown beside the lower bound that the memory sets for it. Exchanges on more ranks than cores
    are marked: their times are no evidence of speed.
    """
    from spikemark.bench import exchange_bench, kernel_bench
    from spikemark.bench.show import exchange_table, kernel_tables
    from spikemark.core import places, slurm

    own = {"ranks": ranks, "bytes": sizes, "targets": targets, "skew-us": skew_us}
    refused = {**own, "ranks-per-node": ranks_per_node, "launcher": launcher}
    # Ranks of an allocation are on its nodes; kernels are on the node of this command.
    folder = out or kernel_bench.folder(places.machine_name() if exchange and slurm.inside() else None)
    try:
        if exchange:
            given = {"filter": pattern or None, "repetitions": repetitions, "min-time": min_time, **own}
            given = {name: value for name, value in given.items() if value is not None}
            numbers = exchange_bench.numbers(given.pop("ranks")) if ranks is not None else None
            count = _counting("numbers of ranks")
            outcome = exchange_bench.bench(folder, numbers, given, count, launcher, ranks_per_node)
        else:
            for name in (name for name, value in refused.items() if value is not None):
                raise BadInput(f"--{name}: only with --exchange")
            min_time = 0.2 if min_time is None else min_time
            outcome = kernel_bench.bench(
                folder, repetitions, pattern, min_time, _counting("kernels and sizes", repetitions * min_time)
            )
    except kernel_bench.BenchFailed as reason:
        fail(f"bench failed: {reason}")
    except KeyboardInterrupt:  # unlike other commands, this one cannot continue later
        interrupted("the times of finished numbers of ranks were kept" if exchange else "nothing was kept")
    if as_json:
        print_json(outcome.content())
    else:
        print_tables(*([exchange_table(outcome.table)] if exchange else kernel_tables(outcome.table)))
        print_lines([str(short(path)) for path in (outcome.raw if exchange else [outcome.raw])])
    dropped = [] if exchange else outcome.dropped
    list_lines([*dropped, *outcome.notes])
    if dropped:
        raise typer.Exit(1)


def _counting(what: str, least_s: float | None = None):
    """Returns a function that keeps one line of progress on a terminal.

    `least_s`: the shortest time that one of them takes, where it is known.
    """
    from spikemark.running.durations import Pace, minutes

    paces: list[Pace] = []

    def count(done: int, total: int) -> None:
        if not sys.stderr.isatty():
            return
        if not paces:
            paces.append(Pace(total))
            least = "" if least_s is None else f", at least {minutes(total * least_s)}"
            typer.echo(f"{total} {what}{least}", err=True)
        left = paces[0].left(done)
        typer.echo(f"\r{done} of {total} {what}{left and f', {left}'}\033[K", nl=done == total, err=True)

    return count
