"""`spikemark energy`: the energy of a run."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spikemark.core.commands import BETWEEN, command
from spikemark.core.places import short

from . import panels, params
from .options import one_form
from .output import print_lines, say, show, write_page

app = typer.Typer()


@app.command(rich_help_panel=panels.RECORDS)
def energy(
    run_dir: params.RunDir,
    power: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Time and power from a meter, as in 'time [s],node1 [W]'.",
        ),
    ] = None,
    channel: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Only this column, node, device or step; may be repeated [the sum of all nodes"
                " and devices]."
            )
        ),
    ] = None,
    offset: Annotated[
        float | None, typer.Option(help="Seconds to add to the times in the file [0].")
    ] = None,
    align: Annotated[
        Literal["times", "knee"],
        typer.Option(
            help=(
                "How to find the run in the file: by its times, or by the knee (its step in power)."
            )
        ),
    ] = "times",
    at_wall: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="Accuracy of a meter of the whole machine before power conversion.",
        ),
    ] = None,
    keep: Annotated[
        bool,
        typer.Option("--keep", help="Copy the file to the results of the sweep, for its reports."),
    ] = False,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Model the energy with the power of this machine profile.",
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, help="Nodes of that machine [as few as provide the cores]."),
    ] = None,
    details: Annotated[
        bool,
        typer.Option("--details", help="Print readings, quality, and what is missing."),
    ] = False,
    html: params.Html = None,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """Report the energy of a run, in total and per synaptic event.

    Prints gross, idle and net energy of the simulation phase. Without --power and --machine, they
    come from a file that was kept for the run, or else from the run's own readings.
    """
    import spikemark

    one_form(format_, json=json, details=details)
    answer = spikemark.energy(
        run_dir,
        power=power,
        channel=tuple(channel or ()),
        offset=offset,
        align=align,
        at_wall=at_wall,
        keep=keep,
        machine=machine,
        nodes=nodes,
    )
    if answer.kept is not None:
        say(f"kept: {short(answer.kept)}")
    write_page(html, "energy of a run", answer)
    show(answer, json, details, format_)
    if json or format_ or details or answer.energy.kind is None:
        return
    with_details = command(
        "energy",
        run_dir,
        power=power,
        channel=channel,
        offset=offset,
        align=None if align == "times" else align,
        at_wall=at_wall,
        machine=machine,
        nodes=nodes,
        details=True,
    )
    print_lines([f"{with_details}{BETWEEN}--json has the curve"])
