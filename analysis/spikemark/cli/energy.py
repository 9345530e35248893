"""`spikemark energy`: the energy of a run, from its own readings or from a meter outside."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson, Run, machine_profile
from .output import print_json, print_lines, print_tables, short


def energy(
    run_dir: Run,
    power: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Time and power from an external meter, with units as in 'time [s],node1 [W]'.",
            show_default="the run's own readings",
        ),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(help="Take only this column or node; may be repeated.", show_default="the sum of all"),
    ] = None,
    offset: Annotated[float, typer.Option(help="Seconds to add to the times in the file.")] = 0.0,
    align: Annotated[
        str, typer.Option(help="How to find the run in the file: times, or knee (its step in power).")
    ] = "times",
    at_wall: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="Accuracy, in percent, of a meter that reads the whole machine before power conversion.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Copy the file to the results of the run's sweep; reports then use it."),
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Model the energy with the power of a machine profile: a file in machines/, or a path."
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of nodes of that machine.", show_default="as few as provide the cores"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Report the energy of a run, in total and per synaptic event.

    Prints gross, idle and net energy of the simulation phase. Without --power and --machine, they come from a
    file that was kept for the run, or else from the run's own readings.
    """
    from spikemark.energy import analysis, kept, on_machine, outside, show
    from spikemark.records import record

    run = record.load(run_dir)
    if nodes and machine is None:
        raise BadInput("--nodes: only with --machine")
    if machine is not None and power is not None:
        raise BadInput("--machine: not allowed with --power FILE.csv: give one of them")
    if power is None:
        given = {"channel": channel, "offset": offset or None, "at-wall": at_wall, "keep": keep or None}
        given["align"] = None if align == "times" else align
        if useless := [name for name, value in given.items() if value is not None]:
            raise BadInput(f"--{useless[0]}: only with --power FILE.csv")
        found = (
            on_machine.energy(run, machine_profile(machine, filled=False), nodes)
            if machine
            else kept.of_run(run)
        )
    else:
        placed = {"channels": channel, "offset_s": offset, "align": align, "at_wall_percent": at_wall}
        found = analysis.measured(run, outside.source(run, power, **placed))
        if keep:
            typer.echo(f"kept: {short(kept.keep(run, power, **placed))}", err=True)
    if as_json:
        print_json(show.content(found))
    elif found.kind is None:
        typer.echo(show.without(found))
    else:
        print_tables(show.table(found))
        print_lines(show.lines(found))
