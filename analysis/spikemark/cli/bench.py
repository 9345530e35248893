"""`spikemark bench`: kernels, or exchanges, on their own."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .output import list_lines, short

INTERRUPTED = 130


def bench(
    exchange: Annotated[
        bool, typer.Option("--exchange", help="Measure the exchanges between ranks instead of the kernels.")
    ] = False,
    repetitions: Annotated[int, typer.Option(help="Repetitions of every kernel or exchange and size.")] = 5,
    pattern: Annotated[
        str, typer.Option("--filter", metavar="REGEX", help="Only the kernels or exchanges of such names.")
    ] = "",
    min_time: Annotated[
        float | None,
        typer.Option(help="Shortest time of a repetition, in seconds.", show_default="0.2; exchanges 0.02"),
    ] = None,
    ranks: Annotated[
        str | None, typer.Option(metavar="N,N", help="Exchanges: ranks, instead of 1, 2, 4, … all cores.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option("--bytes", metavar="N,N", help="Exchanges: bytes from one rank to another.")
    ] = None,
    targets: Annotated[
        str | None, typer.Option(metavar="WHICH,…", help="Exchanges: all, ring, or a fraction of the ranks.")
    ] = None,
    skew_us: Annotated[
        str | None, typer.Option(metavar="US,US", help="Exchanges: ranks are late by a random time below.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the times as JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Folder instead of results/bench/MACHINE.")] = None,
) -> None:
    """Measure the kernels of the mini-app one by one, beside the bound of delivery, or with --exchange the
    exchanges. More ranks than cores are marked: their times are no evidence of speed.
    """
    from spikemark.bench import exchange_bench, kernel_bench
    from spikemark.bench.show import exchange_table, kernel_tables
    from spikemark.quantities.terminal import show

    own = {"ranks": ranks, "bytes": sizes, "targets": targets, "skew-us": skew_us}
    folder = out or kernel_bench.folder()
    try:
        if exchange:
            given = {"filter": pattern or None, "repetitions": repetitions, "min-time": min_time, **own}
            given = {name: value for name, value in given.items() if value is not None}
            numbers = exchange_bench.numbers(given.pop("ranks")) if ranks is not None else None
            outcome = exchange_bench.bench(folder, numbers, given, _counting("numbers of ranks"))
        else:
            for name in (name for name, value in own.items() if value is not None):
                raise BadInput(f"--{name}: only with --exchange")
            min_time = 0.2 if min_time is None else min_time
            outcome = kernel_bench.bench(
                folder, repetitions, pattern, min_time, _counting("kernels and sizes")
            )
    except kernel_bench.BenchFailed as reason:
        typer.echo(f"bench failed: {reason}", err=True)
        raise typer.Exit(1) from None
    except KeyboardInterrupt:  # nothing to go on from, unlike everywhere else
        kept = "what finished numbers of ranks gave was kept" if exchange else "nothing was kept"
        print(f"spikemark: interrupted: {kept}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    if as_json:
        typer.echo(json.dumps(outcome.content(), indent=1))
    else:
        show(*([exchange_table(outcome.table)] if exchange else kernel_tables(outcome.table)))
        for path in outcome.raw if exchange else [outcome.raw]:
            typer.echo(short(path))
    dropped = [] if exchange else outcome.dropped
    list_lines([*dropped, *outcome.notes])
    if dropped:
        raise typer.Exit(1)


def _counting(what: str):
    """One line that counts, for somebody who watches."""

    def count(done: int, total: int) -> None:
        if sys.stderr.isatty():
            typer.echo(f"\r{done} of {total} {what}", nl=done == total, err=True)

    return count
