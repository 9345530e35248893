"""`spikemark predict --machine` and `spikemark compare`: what machines would do with a network."""

import json
import re
from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

MOST_RANKS = 64  # numbers of ranks in one question
WHOLE = re.compile(r"[1-9][0-9]{0,8}")

PresetName = Annotated[str | None, typer.Option("--preset", help="A preset, instead of RUN.json.")]
Full = Annotated[bool, typer.Option("--full", help="The preset in its published size.")]
PresetOptions = Annotated[
    list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="Of the preset; may be repeated.")
]
Rate = Annotated[
    float | None, typer.Option(help="Mean rate in Hz, where neither network nor publication says.")
]


def whole_numbers(text: str, name: str) -> list[int]:
    """'16,32' as numbers. Raises BadInput for anything else."""
    parts = text.split(",")
    if len(parts) > MOST_RANKS or not all(WHOLE.fullmatch(part.strip()) for part in parts):
        raise BadInput(f"{name}={text!r}: up to {MOST_RANKS} whole numbers above 0 are needed, as 16,32")
    return [int(part) for part in parts]


def network(files: list[Path], preset: str | None, full: bool, options: list[str] | None, rate: float | None):
    """The network asked about: a preset or one file. Raises BadInput where both or none are given."""
    from spikemark.prediction import asked

    if (len(files) == 1) == (preset is not None) or len(files) > 1:
        raise BadInput("one network is needed: RUN.json, or --preset NAME")
    if preset is None:
        if full or options:
            raise BadInput(f"--{'full' if full else 'option'}: only with --preset")
        return asked.of_file(files[0], rate)
    return asked.of_preset(preset, full, options, rate)


def on_machine(
    found,
    machine: str,
    ranks: str,
    threads: int | None,
    as_json: bool,
    delay_ratio: int | None = None,
    lag: int | None = None,
    **how,
) -> None:
    """Print what a machine would do with a network on several numbers of ranks."""
    from spikemark import machines
    from spikemark.prediction import show
    from spikemark.prediction.predict import predict
    from spikemark.quantities import terminal

    profile = machines.filled(machines.load(machine))
    cores = round(profile.need("node.cores", "placing ranks").value)
    description = dict(found.description)
    if delay_ratio is not None:
        description["delay_ratio"] = delay_ratio
    if lag is not None:
        description["lag"] = lag
    made = [
        predict(description, profile, count, threads or cores, hz=found.rates, **how)
        for count in whole_numbers(ranks, "ranks")
    ]
    if as_json:
        content = {"network": found.title, "rates": found.rates.source, "kind": "modelled"}
        typer.echo(json.dumps({**content, "predictions": show.content(made)}, indent=1))
        return
    terminal.show(*show.table(made).turned(show.ABREAST))
    for line in show.lines(made):
        typer.echo(line)


def compare(
    names: Annotated[list[str], typer.Argument(metavar="MACHINE…", help="Names or files of profiles.")],
    run: Annotated[Path | None, typer.Option("--run", metavar="RUN.json", help="A run description.")] = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    schedule: Annotated[str | None, typer.Option(help="A schedule of the mini-app.")] = None,
    target_rtf: Annotated[
        float, typer.Option(metavar="FACTOR", help="Real-time factor to be reached; 1 is real time.")
    ] = 1.0,
    ranks_per_node: Annotated[int, typer.Option(min=1, help="Ranks on a node, which share its cores.")] = 1,
    rate: Rate = None,
    price: Annotated[
        list[str] | None, typer.Option(metavar="MACHINE=EUR", help="Of a node for an hour; may be repeated.")
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page for a buyer there.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Nodes needed on each machine, time, energy, cost, what limits, and a verdict."""
    from spikemark import machines
    from spikemark.prediction import compare_show, show
    from spikemark.prediction.compare import compare
    from spikemark.quantities import terminal

    if html is not None and html.is_dir():
        raise BadInput(f"--html: {html} is a folder; allowed: a file")
    found = network([] if run is None else [run], preset, full, option, rate)
    profiles = _priced([machines.filled(machines.load(name)) for name in names], price or [])
    made = compare(found, profiles, target_rtf, schedule, ranks_per_node)
    if html is not None:
        from spikemark.report import machines_page

        machines_page.write(made, html)
    if as_json:
        typer.echo(json.dumps(compare_show.content(made), indent=1))
        return
    terminal.show(*compare_show.table(made).turned(show.ABREAST))
    typer.echo(compare_show.verdict(made))
    for line in compare_show.lines(made):
        typer.echo(line)


def _priced(profiles: list, prices: list[str]) -> list:
    """With the prices given as 'MACHINE=EUR'. Raises BadInput for another form or machine."""
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
