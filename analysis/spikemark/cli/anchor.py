"""`spikemark anchor`: runs of NEST that predictions for NEST start from."""

from pathlib import Path
from typing import Annotated

import typer

from . import panels, params
from .options import one_form, whole_numbers
from .output import show

app = typer.Typer()


@app.command(rich_help_panel=panels.ANSWER)
def anchor(
    networks: params.Networks = None,
    *,
    machine: params.NeededMachine,
    run: params.Run = None,
    preset: params.Preset = None,
    full: params.Full = False,
    option: params.PresetOptions = None,
    rate: params.Rate = None,
    nodes: Annotated[
        str,
        typer.Option(metavar="N,N", help="Numbers of nodes to run on, or to predict with --runs."),
    ] = "1",
    ranks: Annotated[
        int | None, typer.Option(min=1, help="Ranks on each node [one on each socket].")
    ] = None,
    threads: params.Threads = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder to write, for the machine.")
    ] = None,
    runs: Annotated[
        Path | None, typer.Option(metavar="RUNS.csv", help="The table that the runs filled.")
    ] = None,
    version: Annotated[str, typer.Option(help="Version of NEST.")] = "3.10",
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --runs: keep predictions of the runs, for `spikemark score`.",
            callback=params.writable,
        ),
    ] = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Write the NEST runs that anchor predictions, or read them back.

    A network that takes ten minutes on one full node is enough. Its runs then serve as
    `spikemark predict --program nest --anchor RUNS.csv`.
    """
    import spikemark

    one_form(format_, json=json)
    network = params.needed_network(networks, run, preset, full, option, rate)
    answer = spikemark.anchor(
        network,
        machine,
        out=out,
        runs=runs,
        nodes=whole_numbers(nodes, "--nodes"),
        ranks=ranks,
        threads=threads,
        version=version,
        keep=keep,
    )
    show(answer, json, format_=format_)
