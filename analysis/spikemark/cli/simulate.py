"""`spikemark simulate`: a run on a machine that SimGrid simulates."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spikemark.core.places import short

from . import panels, params
from .options import machine_of_any_kind, only_with, ranks_by_part, read_description
from .output import answer, bar_of_cycles, ending, list_lines

if TYPE_CHECKING:
    from spikemark.records.schema import Record

app = typer.Typer()


@app.command(rich_help_panel=panels.RUN)
def simulate(
    description: params.RunFile,
    *,
    machine: Annotated[
        str,
        typer.Option(
            help=("A profile, or a machine of unequal parts: a file in machines/, or a path."),
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ],
    ranks: Annotated[int, typer.Option(min=1, help="Number of MPI ranks.")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the run [out/RUN-MACHINE-RANKS]."),
    ] = None,
    ranks_per_node: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=("Ranks that share a node [1; on a machine of unequal parts, as many as fit]."),
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads of a rank, for modelled compute times [all its cores]."),
    ] = None,
    on: params.RanksByPart = None,
    compute: Annotated[
        str,
        typer.Option(
            help=(
                "Where compute times come from: model, or the folder of a run, of imported times"
                " or of a dry run to replay."
            )
        ),
    ] = "model",
    compute_of: Annotated[
        Path | None,
        typer.Option(
            metavar="FULL.json",
            help=(
                "Network of the compute times, if not RUN.json: one to model, or of the dry run."
            ),
        ),
    ] = None,
    program: params.Program = "mini-app",
    set: params.Settings = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.9999,
            help=("Correlation of compute times from cycle to cycle, instead of the profile's."),
        ),
    ] = None,
    cv: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=10,
            help=("Coefficient of variation of a rank's compute times, instead of the profile's."),
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1e6,
            help=("Rate of neurons in Hz, if the description gives none; for modelled times."),
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0, help="Seed of the jitter of modelled times; the network has its own [1]."
        ),
    ] = None,
    json: params.Json = False,
) -> None:
    """Run a network on a simulated machine, with its real spikes.

    Spikes and messages are those of the mini-app; times are those of the machine. With --program,
    the kernels of another program, such as DPSNN, take the time between messages. The command
    needs SimGrid (`make simulator`). It writes a run like any other, labelled simulated, and
    simulation.json, which states what was simulated and what had to be assumed.
    """
    from spikemark.launch.process import ProgramFailed
    from spikemark.records import record
    from spikemark.running import simulation
    from spikemark.running.simulation.times import MODEL_TIMES

    if compute != MODEL_TIMES:
        only_with("--compute=model", None, seed=seed)
    network = read_description(description, set)
    profile = machine_of_any_kind(machine, filled=False)
    network_of_times = None if compute_of is None else read_description(compute_of)
    if out is None:
        out = Path("out") / f"{description.stem}-{profile.name}-{ranks}"
    with ending(ProgramFailed, words="simulation failed: {}"):
        folder = simulation.simulate(
            network,
            profile,
            ranks,
            out,
            compute,
            ranks_per_node=ranks_per_node,
            threads=threads,
            compute_of=network_of_times,
            on=ranks_by_part(on),
            seed=1 if seed is None else seed,
            correlation=correlation,
            cv=cv,
            hz=rate,
            program=program,
            progress=bar_of_cycles,
        )
    run = record.load_run(folder)
    simulated = run.simulation or {}
    list_lines([f"assumed: {line}" for line in simulated["assumptions"]])
    answer(
        "simulate",
        json,
        lambda: {
            "folder": str(short(folder)),
            "real_time_factor": run.record.timing.real_time_factor,
            "checksum": run.record.checksum,
            "simulation": simulated,
        },
        [*_lines(run.record, simulated), str(short(folder))],
    )


def _lines(record: "Record", simulation: dict[str, Any]) -> list[str]:
    """What was simulated, times per cycle as means over ranks, and what the simulation cost.

    Args:
        record: of the simulated run.
        simulation: the content of its simulation.json.
    """
    lines = [simulation["facts"]]
    dry_run = simulation.get("dry_run")
    if dry_run:
        ranks = f"{len(dry_run['sampled'])} of {dry_run['of']} ranks"
        lines.append(
            f"a dry run of {ranks} measured deliver, update and collocate; the rest is simulated"
        )
    timing = record.timing
    times_per_cycle = []
    for name, phase in timing.phases.items():
        if phase.mean_s is not None:
            times_per_cycle.append(f"{name} {1e6 * phase.mean_s / timing.cycles:.4g}")
    lines.append(
        f"simulated: real-time factor {timing.real_time_factor:.4g};"
        f" µs per cycle: {', '.join(times_per_cycle)}"
    )
    cost_us = 1e6 * simulation["cost_per_rank_and_cycle_s"]
    lines.append(
        f"checksum {record.checksum}; took {simulation['cost_s']:.3g} s here,"
        f" {cost_us:.3g} µs per rank and cycle"
    )
    return lines
