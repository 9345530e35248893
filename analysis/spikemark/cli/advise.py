"""`spikemark advise`: how to run a network on a machine."""

from pathlib import Path
from typing import Annotated

import typer

from . import panels, params
from .options import one_form
from .output import bar, show, write_page

app = typer.Typer()


@app.command(rich_help_panel=panels.ANSWER)
def advise(
    networks: params.Networks = None,
    *,
    run: params.Run = None,
    preset: params.Preset = None,
    full: params.Full = False,
    option: params.PresetOptions = None,
    rate: params.Rate = None,
    schedule: params.Schedule = None,
    placement: params.Placement = None,
    delay_ratio: params.DelayRatio = None,
    lag: params.Lag = None,
    exchange: params.Exchange = None,
    machine: params.NeededMachine,
    target_rtf: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR",
            help="Real-time factor to reach on the fewest nodes [the fastest].",
        ),
    ] = None,
    nodes: params.Nodes = None,
    program: params.Program = "mini-app",
    anchor: params.Anchor = None,
    times: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Imported cycle times of the program, to replay other schedules.",
        ),
    ] = None,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Advise how to run a network on a machine.

    Tries all schedules, placements, exchanges, D and lags that are exact on the nodes that the
    machine offers. Prints the best of every schedule, their ratios, and the command that runs the
    best one. For a production program: its time, and what a structure-aware schedule would save.

    Example: spikemark advise mam-benchmark --full --machine jureca-dc --target-rtf 1
    """
    import spikemark

    one_form(format_, json=json)
    ways = params.ways_of(schedule, placement, delay_ratio, lag, exchange)
    params.check_given(ways, program, anchor=anchor, times=times)
    network = params.needed_network(networks, run, preset, full, option, rate)
    with bar("trying what is exact"):
        advice = spikemark.advise(
            network,
            machine,
            target_rtf=target_rtf,
            nodes=nodes,
            **ways,
            program=program,
            anchor=anchor,
            times=times,
        )
    write_page(html, "advice", advice)
    show(advice, json, format_=format_)
