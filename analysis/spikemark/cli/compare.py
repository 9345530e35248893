"""`spikemark compare`: machines side by side for one network."""

from pathlib import Path
from typing import Annotated

import typer

from . import panels, params
from .options import one_form, pairs
from .output import bar, show, write_page

app = typer.Typer()


@app.command(rich_help_panel=panels.ANSWER)
def compare(
    machines: Annotated[
        list[str],
        typer.Argument(
            metavar="MACHINE...",
            help="Files in machines/, or paths.",
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ],
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
    program: params.Program = "mini-app",
    anchor: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MACHINE=RUNS.csv",
            help="Your own runs of the program on a machine; of a single one: RUNS.csv.",
        ),
    ] = None,
    target_rtf: Annotated[
        float,
        typer.Option(metavar="FACTOR", help="Real-time factor to reach; 1 is real time."),
    ] = 1.0,
    nodes: params.Nodes = None,
    years: params.Years = 5.0,
    hours_per_year: params.HoursPerYear = 8000.0,
    price_kwh: params.PriceKwh = None,
    details: params.Details = False,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Compare machines for a network: time, ratio, energy, power, price, each with its interval.

    Uses the fewest nodes that reach the target with a probability of 50 %, or exactly --nodes;
    never more than an offer has (offer.nodes in its profile).

    Example: spikemark compare offer-a.yaml offer-b.yaml --preset mam --full --program nest
    --target-rtf 1
    """
    import spikemark

    one_form(format_, json=json, details=details)
    ways = params.ways_of(schedule, placement, delay_ratio, lag, exchange)
    params.check_given(ways, program, anchor=anchor)
    network = params.needed_network(None, run, preset, full, option, rate)
    with bar("trying what is exact"):
        comparison = spikemark.compare(
            network,
            machines,
            target_rtf=target_rtf,
            nodes=nodes,
            **ways,
            program=program,
            anchor=_anchors(anchor),
            years=years,
            hours_per_year=hours_per_year,
            price_kwh=price_kwh,
        )
    write_page(html, "comparison of machines", comparison)
    show(comparison, json, details, format_)


def _anchors(texts: list[str] | None) -> str | dict[str, str] | None:
    """Tables by machine, or the only table."""
    if texts is None:
        return None
    if len(texts) == 1 and ("=" not in texts[0] or Path(texts[0]).is_file()):
        return texts[0]
    return pairs(texts, "--anchor", "MACHINE=RUNS.csv")
