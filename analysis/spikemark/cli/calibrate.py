"""`spikemark calibrate`: the profile of this machine, measured."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.commands import command
from spikemark.core.places import short

from . import panels, params
from .output import answer, bar, ending

app = typer.Typer()


@app.command(rich_help_panel=panels.MEASURE)
def calibrate(
    name: Annotated[
        str | None,
        typer.Option(help="Name of the machine, instead of the name of its processor."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File to write instead of machines/NAME.yaml.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Take one minute instead of three; intervals become wider."),
    ] = False,
    nodes: Annotated[
        int | None,
        typer.Option(help="Number of nodes of the Slurm allocation to measure [one]."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    json: params.Json = False,
) -> None:
    """Measure this machine and write its profile, in at most three minutes.

    Do not use the machine while it runs. What cannot be measured is left out, and the profile says
    why. With several nodes, it also measures the network between them, and finds slow nodes.
    """
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import site
    from spikemark.measuring.calibrate import calibrate as measure

    effort = site.QUICK_EFFORT if quick else site.FULL_EFFORT
    failure = "calibrate failed: {}"
    with (
        ending(ProgramFailed, words=failure, if_interrupted="nothing was written"),
        bar() as progress,
    ):
        profile = measure(name, out, effort, force, progress, nodes)
    path = short(profile.path)
    answer(
        "calibrate",
        json,
        profile.content,
        [f"{path}, {len(profile.unknown)} values unknown, listed there"],
        more=[f"Next: {command('machine', path)}"],
        warnings=profile.warnings,
    )
