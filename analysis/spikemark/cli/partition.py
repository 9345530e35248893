"""`spikemark partition`: places a network, or a voxel graph, on ranks, and says what they send."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from . import panels, params
from .options import one_form, ranks_by_part
from .output import bar, show, write_page

app = typer.Typer()


def _method_names(incomplete: str) -> list[str]:
    """Names of the methods that place neurons."""
    return params.registered_names("prediction.partition.methods", "METHODS", incomplete)


@app.command(rich_help_panel=panels.ANSWER)
def partition(
    network: Annotated[
        Path,
        typer.Argument(
            metavar="NETWORK",
            help=("A run description, or a voxel graph: `spikemark preset voxels` writes both."),
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option(min=1, help="Number of ranks, unless a file or --on gives it."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="Use one method [compare all].", autocompletion=_method_names),
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME",
            help=(
                "Show a placement instead: a file of this command, or one of the mini-app's own."
            ),
            autocompletion=params.placement_names,
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the placement.")
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="W,W",
            help="Share of each rank, such as 1,0.5 or 1x64,0.5x2 [equal].",
        ),
    ] = None,
    weights_from: Annotated[
        Path | None,
        typer.Option(
            metavar="RECORD",
            help="Weights in proportion to the speed of each rank in this run.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help=(
                "Weights with which all ranks of this machine compute equally long, as predicted."
            ),
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ] = None,
    on: params.RanksByPart = None,
    threads: params.Threads = None,
    ranks_per_node: params.RanksPerNode = None,
    rate: params.Rate = None,
    group: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Renumber ranks so that groups of this size exchange most within themselves.",
        ),
    ] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            metavar="AxB...",
            help="Route in levels: groups of A ranks, groups of B such groups, ...",
        ),
    ] = None,
    side: Annotated[
        Literal["sender", "receiver"], typer.Option(help="Group of the bridges.")
    ] = "sender",
    merged: Annotated[
        bool,
        typer.Option(
            "--merged",
            help=("Send a spike to a bridge once, however many ranks behind it need the spike."),
        ),
    ] = False,
    out_table: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Write a forwarding table that balances the bridges."
        ),
    ] = None,
    delay_ratio: Annotated[int, typer.Option(min=1, metavar="D", help="Cycles of a window.")] = 1,
    seed: params.Seed = 1,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Place neurons on ranks evenly, with little traffic.

    Compares all methods, or shows the loads of one method or placement: peak, mean and balance of
    what ranks send, receive and forward. Numbers are expectations over all networks of the
    description.
    """
    import spikemark

    one_form(format_, json=json)
    by_part = ranks_by_part(on)
    with bar("placing neurons"):
        answer = spikemark.partition(
            network,
            ranks,
            method=method,
            placement=placement,
            out=out,
            weights=weights,
            weights_from=weights_from,
            machine=machine,
            on=by_part,
            threads=threads,
            ranks_per_node=ranks_per_node,
            rate=rate,
            group=group,
            levels=levels,
            side=side,
            merged=merged,
            out_table=out_table,
            delay_ratio=delay_ratio,
            seed=seed,
        )
    write_page(html, "neurons on ranks", answer)
    show(answer, json, format_=format_)
