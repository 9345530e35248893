"""`spikemark traffic`: what a placement makes ranks send to each other."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson
from .output import print_json, print_lines, print_tables, short
from .partition import GraphFile


def traffic(
    graph: GraphFile,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help="A file of `spikemark partition`, or a placement of the mini-app (with --ranks). By default "
            "that of the run description; for a voxel graph, round_robin.",
        ),
    ] = None,
    ranks: Annotated[int | None, typer.Option(min=1, help="Number of ranks, if no file gives it.")] = None,
    levels: Annotated[
        str | None,
        typer.Option(metavar="AxB…", help="Route in levels: groups of A ranks, groups of B such groups, …"),
    ] = None,
    side: Annotated[
        str, typer.Option(help="Group of the bridges: that of the sender or of the receiver.")
    ] = "sender",
    merged: Annotated[
        bool,
        typer.Option("--merged", help="Send a spike for several ranks behind a bridge to the bridge once."),
    ] = False,
    delay_ratio: Annotated[
        int, typer.Option("--delay-ratio", metavar="D", min=1, help="Cycles of a window.")
    ] = 1,
    matrix: Annotated[
        Path | None,
        typer.Option(metavar="FILE.npy", help="Also write the words per cycle from rank to rank."),
    ] = None,
    out_table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Also write a forwarding table that balances the bridges of two levels.",
        ),
    ] = None,
    cap: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="With --out-table: most ranks of other groups that a bridge may send to or receive from.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what a placement makes ranks send to each other.

    Numbers are expectations over all networks of the description. Prints peak, mean and largest over mean of
    what a rank sends, receives and forwards, in routes, words and bytes per window, and how many other ranks
    it sends to.
    """
    import io

    import numpy as np

    from spikemark.core.errors import BadInput
    from spikemark.core.files import write_atomically
    from spikemark.prediction.partition import bridges, show
    from spikemark.prediction.partition.graph import load
    from spikemark.prediction.partition.levels import check_side, dimensions
    from spikemark.prediction.partition.placement import named, of_run

    check_side(side)
    network = load(graph)
    placement = placement or of_run(network)
    placed = named(network, placement, ranks)
    sizes = () if levels is None else dimensions(levels, placed.ranks)
    if out_table is not None:
        bridges.check(sizes, placed.ranks, cap)
    elif cap is not None:
        raise BadInput(f"--cap={cap}: only with --out-table")
    asked = show.Asked(sizes, side, merged, delay_ratio)
    found, rows = show.loads(network, placed, asked)
    if matrix is not None:
        stream = io.BytesIO()
        np.save(stream, found.words)
        write_atomically(matrix, stream.getvalue())
    table = None if out_table is None else bridges.balanced(found.pairs, sizes, cap, side)
    if table is not None:
        bridges.write(out_table, table)
    if as_json:
        more = {} if table is None else {"table": bridges.content(table) | {"file": str(out_table)}}
        return print_json(show.content(rows, placed, asked, network) | more)
    print_tables(show.table(rows, asked, placed.method or placement, network))
    if table is not None:
        print_lines([f"{short(out_table)}: {bridges.words(table)}"])
