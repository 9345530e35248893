"""`spikemark dryrun`: ranks of a large machine, each run alone on this one."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Settings, read_description
from .output import bar_of_cycles, fail, print_json, print_lines, print_tables, say, short, warn


def dryrun(
    description: Annotated[Path, typer.Argument(metavar="RUN.json", help="A run description.")],
    of: Annotated[int, typer.Option(min=1, metavar="R", help="Number of ranks of the machine.")],
    ranks_here: Annotated[
        int, typer.Option(min=1, help="Ranks that run side by side on this node, as they would there.")
    ] = 1,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Ranks to run: the largest, the smallest, others at random; rounded up to whole groups of"
            " --ranks-here.",
            show_default="one group",
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of a rank.", show_default="all cores, shared")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the dry run.", show_default="out/RUN-of-R")
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0, help="Rate in Hz of neurons whose spikes are not known beforehand."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed by which ranks are drawn.")] = 1,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Also print what this profile predicts, and the ratio of measured to predicted times."
        ),
    ] = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Measure some ranks of a large machine on this node.

    Each rank runs alone, with the synapses that it would have on that machine and with the spikes that it
    would receive. Computing and memory are measured. Waiting and exchange are not: `fit`, `predict
    --compute-from` and `simulate --compute` take the folder and add them. After an interruption, the same
    command continues.
    """
    from spikemark import machines
    from spikemark.core.launch import available_cores
    from spikemark.machines.node import Node
    from spikemark.running.carry_out import RunFailed
    from spikemark.running.dry_run import show
    from spikemark.running.dry_run.carry_out import carry_out
    from spikemark.running.dry_run.plan import plan

    read = read_description(description, settings or [])
    profile = None if machine is None else machines.filled(machines.load(machine))
    threads = threads or max(1, available_cores() // ranks_here)
    if profile is not None:
        Node.of(profile, of, threads, ranks_here)
    wanted = plan(read, of, threads, ranks_here, sample, seed, rate)
    warn(wanted.warnings)
    out = out or Path("out") / f"{description.stem}-of-{of}"
    try:
        with bar_of_cycles(f"{len(wanted.sample.ranks)} of {of} ranks") as advance:

            def told(done: int, cycles: int, line: str | None) -> None:
                advance(done, cycles)
                if line:
                    say(line)

            found = carry_out(wanted, out, told)
    except RunFailed as reason:
        fail(f"dry run failed: {reason}; the same command continues")
    modelled = None if profile is None else show.Modelled.of(found, profile)
    if as_json:
        return print_json(show.content(found, modelled))
    print_tables(*show.table(found, modelled).turned(show.ABREAST))
    print_lines([*show.lines(found), f"folder: {short(found.path)}"])
    return None
