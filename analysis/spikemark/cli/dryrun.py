"""`spikemark dryrun`: some ranks of a large machine, each run alone on this node."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.places import short

from . import panels, params
from .options import read_description
from .output import answer, bar_of_cycles, ending, say, warn

app = typer.Typer()


@app.command(rich_help_panel=panels.RUN)
def dryrun(
    description: params.RunFile,
    *,
    ranks: Annotated[
        int, typer.Option("--of", min=1, metavar="R", help="Number of ranks of the machine.")
    ],
    ranks_here: Annotated[
        int,
        typer.Option(min=1, help="Ranks that run side by side on this node, as they would there."),
    ] = 1,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=(
                "Ranks to run: the largest, the smallest, others at random; rounded up to whole"
                " groups of --ranks-here [one group]."
            ),
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads of a rank [all cores, shared].")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the dry run [out/RUN-of-R]."),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0, help="Rate in Hz of neurons whose spikes are not known beforehand."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed by which ranks are drawn.")] = 1,
    set: params.Settings = None,
    json: params.Json = False,
) -> None:
    """Measure some ranks of a large machine on this node.

    Each rank runs alone, with the synapses that it would have on that machine and with the spikes
    that it would receive. Computing and memory are measured. Waiting and exchange are not: `predict
    --compute-from` and `simulate --compute` read the folder and add them. After an interruption,
    the same command continues.
    """
    from spikemark.launch import available_cores
    from spikemark.launch.process import ProgramFailed
    from spikemark.running import dry_run, dry_run_answer

    network = read_description(description, set)
    if threads is None:
        threads = max(1, available_cores() // ranks_here)
    plan = dry_run.plan(network, ranks, threads, ranks_here, sample, seed, rate)
    warn(plan.warnings)
    folder = out or Path("out") / f"{description.stem}-of-{ranks}"
    failure = "dry run failed: {}; the same command continues"
    work = bar_of_cycles(f"{len(plan.why)} of {ranks} ranks")
    with ending(ProgramFailed, words=failure), work as advance:

        def report(done: int, planned: int, line: str) -> None:
            advance(done, planned)
            say(line)

        run = dry_run.carry_out(plan, folder, report)
    answer(
        "dryrun",
        json,
        lambda: dry_run_answer.dry_run_json(run),
        [dry_run_answer.sentence(run)],
        tables=dry_run_answer.dry_run_table(run).turned(dry_run_answer.ABREAST),
        more=[*dry_run_answer.lines(run), f"folder: {short(run.path)}"],
    )
