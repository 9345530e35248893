"""`spikemark advise`: which schedule, placement, exchange and number of nodes suit a network on a machine."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .advise_run import of_run
from .options import (
    AsJson,
    Assumptions,
    Full,
    Network,
    PresetName,
    PresetOptions,
    Rate,
    Whose,
    delay_ratio,
    exchanges,
    machine_profile,
    network,
)
from .output import print_based, print_json, print_lines, print_tables, waiting_for


def advise(
    asked_for: Annotated[
        str | None,
        typer.Argument(
            metavar="NETWORK",
            help="A run description, as JSON or YAML, or the name of a preset; the same as --run. Or the"
            " folder of a conventional run, or of imported cycle times.",
        ),
    ] = None,
    machine: Annotated[
        str | None, typer.Option(help="Required: profile of the machine, a name in machines/ or a path.")
    ] = None,
    target_rtf: Annotated[
        float | None,
        typer.Option(
            metavar="FACTOR", help="Real-time factor to reach on the fewest nodes [as fast as possible]."
        ),
    ] = None,
    run: Network = None,
    preset: PresetName = None,
    full: Full = False,
    option: PresetOptions = None,
    rate: Rate = None,
    schedule: Annotated[
        str | None, typer.Option(help="Schedule [all, and lanes that the description lists].")
    ] = None,
    placement: Annotated[str | None, typer.Option(help="Which rank holds which neurons [all].")] = None,
    ratio: Annotated[
        str | None,
        typer.Option(
            "--delay-ratio",
            metavar="D|auto",
            help="Cycles between two exchanges of all ranks [the largest D that is exact, and that which the"
            " description states].",
        ),
    ] = None,
    lag: Annotated[
        int | None, typer.Option(min=1, help="L: how many windows an exchange may take [all that help].")
    ] = None,
    exchange: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[LANE=]NAME",
            help="Exchange of all lanes, or of one; may be repeated [all].",
        ),
    ] = None,
    nodes: Annotated[
        int | None, typer.Option(min=1, help="How many nodes the machine has, at most 256 [any number].")
    ] = None,
    simulator: Whose = "mini-app",
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the advice as a page to this file.")
    ] = None,
    assumptions: Assumptions = False,
    as_json: AsJson = False,
) -> None:
    """Advise how to run a network, or what would help a run.

    For the folder of a run, or of imported cycle times, says where the time went, what would help in which
    order, what that is based on, and what to measure next.

    For a network on a machine, searches all schedules and placements that are exact on up to 256 nodes, or on
    as many as --nodes says, with other lags and exchanges where they may help. Prints the best option of
    every schedule, how it compares with what the description states, which options are tied with it, what
    limits it, what to measure next, and the commands that predict and run it.
    """
    from spikemark import machines
    from spikemark.core.files import output_file
    from spikemark.prediction import advise_show, asked, show
    from spikemark.prediction.advise import advise as advised
    from spikemark.prediction.simulators import find

    output_file("--html", html)
    if asked_for is not None and Path(asked_for).is_dir():
        return of_run(
            Path(asked_for),
            html,
            as_json,
            {"--machine": machine, "--target-rtf": target_rtf, "--nodes": nodes},
        )
    if machine is None:
        raise BadInput(f"machine: missing; allowed: {', '.join(machines.names())}, or the path of a profile")
    found = asked.taken_by(network([asked_for, run], preset, full, option, rate), find(simulator))
    found = asked.for_all_schedules(found, schedule, placement, delay_ratio(ratio), lag, exchanges(exchange))
    profile = machine_profile(machine)
    with waiting_for("trying what is exact"):
        made = advised(found, profile, target_rtf, simulator, machine, nodes)
    if html is not None:
        from spikemark.report import advice_page

        advice_page.write(made, html)
    if as_json:
        print_json(advise_show.content(made))
        return
    print_lines([advise_show.sentence(made), made.times_of[0], *advise_show.explained(made)])
    print_tables(*advise_show.table(made).without_unknown().turned(show.ABREAST))
    print_lines(advise_show.repeated(made))
    print_based([line for line in advise_show.lines(made) if line != made.times_of[0]], assumptions)
