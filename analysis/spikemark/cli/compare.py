"""`spikemark compare`: which machine suits a network."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson, Full, PresetName, PresetOptions, Rate, network
from .output import print_json, print_lines, print_tables


def compare(
    names: Annotated[list[str], typer.Argument(metavar="MACHINE…", help="Names or files of profiles.")],
    run: Annotated[
        Path | None, typer.Option("--run", metavar="RUN.json", help="A run description of the network.")
    ] = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    schedule: Annotated[
        str | None, typer.Option(help="Schedule, instead of that in the network's description.")
    ] = None,
    target_rtf: Annotated[
        float,
        typer.Option(metavar="FACTOR", help="Real-time factor to reach; 1 is real time."),
    ] = 1.0,
    ranks_per_node: Annotated[int, typer.Option(min=1, help="Ranks on each node; they share its cores.")] = 1,
    rate: Rate = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="MACHINE=EUR", help="Price of one node for one hour; may be repeated."),
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write a page for a buyer to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare machines for a network, and give a verdict.

    For each machine, prints how many nodes reach the wanted speed, the time, energy and cost there, and what
    limits it.
    """
    from spikemark import machines
    from spikemark.prediction import compare, compare_show, show

    if html is not None and html.is_dir():
        raise BadInput(f"--html: {html} is a folder; allowed: a file")
    found = network([] if run is None else [run], preset, full, option, rate)
    profiles = _priced([machines.filled(machines.load(name)) for name in names], price or [])
    made = compare.compare(found, profiles, target_rtf, schedule, ranks_per_node)
    if html is not None:
        from spikemark.report import machines_page

        machines_page.write(made, html)
    if as_json:
        print_json(compare_show.content(made))
        return
    print_tables(*compare_show.table(made).turned(show.ABREAST))
    print_lines([compare_show.verdict(made), *compare_show.lines(made)])


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
        known[name] = known[name].assume("price.node_hour", price, "EUR/h", "given with the question")
    return [known[profile.name] for profile in profiles]
