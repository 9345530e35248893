"""`spikemark compare`: which machine suits a network."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import (
    AsJson,
    Assumptions,
    DelayRatio,
    Exchange,
    Full,
    HoursPerYear,
    Lag,
    Network,
    PresetName,
    PresetOptions,
    Rate,
    Whose,
    Years,
    delay_ratio,
    exchanges,
    machine_profile,
    network,
)
from .output import print_based, print_json, print_lines, print_tables, waiting_for


def compare(
    names: Annotated[list[str], typer.Argument(metavar="MACHINE", help="Names or files of profiles.")],
    run: Network = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    schedule: Annotated[
        str | None, typer.Option(help="Schedule [the best exact one on each machine and number of nodes].")
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(help="Which rank holds which neurons [the best; with --schedule: as it needs]."),
    ] = None,
    ratio: DelayRatio = None,
    lag: Lag = None,
    exchange: Exchange = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Threads of a rank; only with --schedule [all cores of its share of a node]."
        ),
    ] = None,
    simulator: Whose = "mini-app",
    target_rtf: Annotated[
        float,
        typer.Option(metavar="FACTOR", help="Real-time factor to reach; 1 is real time."),
    ] = 1.0,
    ranks_per_node: Annotated[
        int | None,
        typer.Option(min=1, help="Ranks on each node; they share its cores [the best; with --schedule: 1]."),
    ] = None,
    rate: Rate = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="MACHINE=EUR", help="Price of one node for one hour; may be repeated."),
    ] = None,
    years: Years = 5.0,
    hours_per_year: HoursPerYear = 8000.0,
    price_kwh: Annotated[
        float | None, typer.Option(metavar="EUR", help="Price of one kWh of energy.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page for a buyer to this file.")
    ] = None,
    assumptions: Assumptions = False,
    as_json: AsJson = False,
) -> None:
    """Compare machines for a network, with a verdict if possible.

    For each machine, prints the numbers of nodes with which the target is possible, likely and sure. Also
    prints energy and cost over this range of nodes, what limits the speed, and what to ask the vendor.

    Without --schedule, it searches for the best exact schedule on every number of nodes, as advise does. That
    takes up to a minute for each machine; with --schedule it takes seconds.

    For machines with accelerators, such as rtx-4090, it shows published runs of the network.

    Example: spikemark compare jureca-dc my-offer.yaml --run run.json --target-rtf 1
    """
    from spikemark.core.files import output_file
    from spikemark.prediction import asked, compare, compare_offers, compare_show, show
    from spikemark.prediction.life import Life
    from spikemark.prediction.simulators import find

    output_file("--html", html)
    life = Life(years, hours_per_year, price_kwh)
    whose, given = find(simulator), (delay_ratio(ratio), lag, exchanges(exchange))
    found = asked.taken_by(network([run], preset, full, option, rate), whose)
    found = (
        asked.for_all_schedules(found, None, placement, *given)
        if schedule is None
        else asked.run_as(found, schedule, *given, placement, whose)
    )
    profiles = _priced([_profile(name) for name in names], price or [])
    with waiting_for(f"comparing {len(profiles)} machines" if schedule is None else None):
        made = compare.compare(
            found, profiles, target_rtf, schedule, ranks_per_node, placement, threads, simulator, life
        )
    if html is not None:
        from spikemark.report import machines_page

        machines_page.write(made, html)
    if as_json:
        print_json(compare_show.content(made))
        return
    first = compare_offers.first(made)
    sentence, *verdict = compare_show.verdict(made)
    print_tables(replace(first, notes=[]))
    print_lines([sentence, *first.notes])
    whole = compare_show.table(made).turned(show.ABREAST) if made.candidates else []
    print_tables(*compare_offers.tables(made), *whole)
    print_based([*verdict, *compare_show.lines(made)], assumptions)


def _profile(name: str):
    """A profile, filled unless its nodes have accelerators, of which nothing is assumed."""
    from spikemark import machines

    stated = machine_profile(name, filled=False, accelerators=True)
    return stated if machines.is_accelerated(stated) else machines.filled(stated)


def _priced(profiles: list, prices: list[str]) -> list:
    """The profiles with prices given as 'MACHINE=EUR'. Raises BadInput for another form or machine."""
    known = {profile.name: profile for profile in profiles}
    given: set[str] = set()
    for text in prices:
        name, _, value = text.partition("=")
        try:
            price = float(value)
        except ValueError:
            price = -1.0
        if name not in known or not 0 <= price < float("inf"):
            raise BadInput(f"price={text!r}: MACHINE=EUR is needed, the machine one of {', '.join(known)}")
        if name in given:
            raise BadInput(f"price={text!r}: {name} has been given one already")
        given.add(name)
        known[name] = known[name].assume_all(
            {"price.node_hour": (price, "given with the question", (price, price))}
        )
    return [known[profile.name] for profile in profiles]
