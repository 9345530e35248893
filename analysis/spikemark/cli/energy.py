"""`spikemark energy`: the energy of a run, from its own readings or from a meter outside."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .waiting import AsJson, print_table


def energy(
    run_dir: Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Record of a run.")],
    power: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Time and power from a meter outside, with units as in 'time [s],node1 [W]'.",
            show_default="the run's own readings",
        ),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(help="Only this column or node; may be repeated.", show_default="the sum of all"),
    ] = None,
    offset: Annotated[float, typer.Option(help="Seconds added to the times of the file.")] = 0.0,
    align: Annotated[
        str, typer.Option(help="How the file finds the run: times, or knee, its step in power.")
    ] = "times",
    at_wall: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="The meter reads the whole machine before power conversion, with this accuracy.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Of a run of a sweep: copy the file to its results, for the report."),
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(help="Model it from the power of a machine profile: a file in machines/, or a path."),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="Of that machine.", show_default="as few as have the cores"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Gross, idle and net energy of the simulation phase, and energy per synaptic event.

    Without --power and --machine from the run's own readings, or from a file kept for it.
    """
    from spikemark import machines
    from spikemark.core.errors import BadInput
    from spikemark.energy import analysis, kept, on_machine, outside, show
    from spikemark.records import record

    from .output import short

    run = record.load(run_dir)
    if nodes and machine is None:
        raise BadInput("--nodes: only with --machine")
    if machine is not None and power is not None:
        raise BadInput("--machine: power is modelled, that of --power FILE.csv measured: give one of them")
    if power is None:
        given = {"channel": channel, "offset": offset or None, "at-wall": at_wall, "keep": keep or None}
        given["align"] = None if align == "times" else align
        if useless := [name for name, value in given.items() if value is not None]:
            raise BadInput(f"--{useless[0]}: only with --power FILE.csv")
        found = on_machine.energy(run, machines.load(machine), nodes) if machine else kept.of_run(run)
    else:
        placed = {"channels": channel, "offset_s": offset, "align": align, "at_wall_percent": at_wall}
        found = analysis.measured(run, outside.source(run, power, **placed))
        if keep:
            typer.echo(f"kept: {short(kept.keep(run, power, **placed))}", err=True)
    if as_json:
        typer.echo(json.dumps(show.content(found), indent=1))
    elif found.kind is None:
        typer.echo(show.without(found))
    else:
        print_table(show.table(found))
        for line in show.lines(found):
            typer.echo(line)
