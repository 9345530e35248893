"""`spikemark simulate`: the mini-app on a machine that SimGrid simulates."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .options import On, Settings, any_machine, machine_profile, ranks_by_part, read_description
from .output import bar_of_cycles, fail, list_lines, print_lines, short


def simulate(
    description: Annotated[Path, typer.Argument(metavar="RUN.json", help="A run description.")],
    machine: Annotated[
        str,
        typer.Option(help="A profile, or a machine of unequal parts: a file in machines/, or a path."),
    ],
    ranks: Annotated[int, typer.Option(min=1, help="Number of MPI ranks.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder of the run.", show_default="out/RUN-MACHINE-RANKS"),
    ] = None,
    ranks_per_node: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of ranks that share a node.",
            show_default="1; on a machine of unequal parts, as many as fit",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Threads of a rank, for modelled compute times.", show_default="all its cores"
        ),
    ] = None,
    on: On = None,
    compute: Annotated[
        str,
        typer.Option(
            help="Where compute times come from: model, execute, or the folder of a run, of imported times or"
            " of a dry run to replay."
        ),
    ] = "model",
    compute_of: Annotated[
        Path | None,
        typer.Option(
            metavar="FULL.json",
            help="Network of the compute times, if it is not RUN.json: to model, or of the dry run.",
        ),
    ] = None,
    settings: Settings = None,
    correlation: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=0.9999,
            help="Correlation of compute times from cycle to cycle, instead of the profile's.",
        ),
    ] = None,
    cv: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=10,
            help="Coefficient of variation of a rank's compute times, instead of the profile's.",
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="Profile of this host, by which executed times are scaled [that of spikemark calibrate]."
        ),
    ] = None,
    rate_hz: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1e6,
            help="Rate in Hz of neurons whose description gives none; for modelled times, or with --host.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the jitter; the network has its own.")] = 1,
) -> None:
    """Run a network on a simulated machine, with its real spikes.

    Spikes and messages are those of the real program; times are those of the machine. The command needs
    SimGrid (`make simulator`). It writes a run like any other, labelled simulated. Beside it,
    simulation.json says what was simulated and what had to be assumed.
    """
    from spikemark.records import record, run_files
    from spikemark.running import simulation

    read = read_description(description, settings or [])
    full = None if compute_of is None else read_description(compute_of, [])
    arguments: dict[str, Any] = {"ranks_per_node": ranks_per_node, "threads": threads, "compute_of": full}
    arguments["on"] = ranks_by_part(on)
    arguments |= {
        "seed": seed,
        "correlation": correlation,
        "cv": cv,
        "hz": rate_hz,
        "progress": bar_of_cycles,
    }
    arguments["host"] = _host(host) if host is not None or compute == "execute" else None
    where = any_machine(machine, filled=False)
    out = out or Path("out") / f"{description.stem}-{where.name}-{ranks}"
    try:
        folder = simulation.simulate(read, where, ranks, out, compute, **arguments)
    except simulation.SimulationFailed as reason:
        fail(f"simulation failed: {reason}")
    found = record.load(folder)
    about = found.simulation
    list_lines([f"assumed: {line}" for line in about["assumptions"]])
    lines = _text(found.record, about)
    if run_files.whole(Path(compute)):
        lines += _beside(simulation.ratios(record.load(compute), found))
    print_lines([about["facts"], *lines, str(short(folder))])


def _host(name: str | None):
    """The profile of that name, or else the one that `calibrate` writes for this host, if there is one."""
    from spikemark import machines
    from spikemark.calibration.node import default_name

    if name is None and default_name() not in machines.names():
        return None
    return machine_profile(name or default_name(), filled=False)


def _text(found, about: dict[str, Any]) -> list[str]:
    """The times per cycle, as means over ranks, and what the simulation cost."""
    cycles = found.timing.cycles
    phases = [
        f"{name} {1e6 * phase.mean_s / cycles:.4g}"
        for name, phase in found.timing.phases.items()
        if phase.mean_s is not None
    ]
    return [
        *_measured(about.get("dry_run")),
        f"simulated: real-time factor {found.timing.real_time_factor:.4g}; us per cycle: {', '.join(phases)}",
        *_energy(about.get("energy")),
        f"checksum {found.checksum}; took {about['cost_s']:.3g} s here,"
        f" {1e6 * about['cost_per_rank_and_cycle_s']:.3g} us per rank and cycle",
    ]


def _energy(modelled: dict[str, Any] | None) -> list[str]:
    """Power and energy of all nodes, and of those of each part."""
    if modelled is None:
        return []
    lines = [f"modelled: {_watts(modelled)}"]
    return lines + [f"  {part}: {_watts(one)}" for part, one in modelled.get("parts", {}).items()]


def _watts(one: dict[str, Any]) -> str:
    if one["power_w"] is None:
        return f"energy unknown ({one['reason']})"
    per_event = one["energy_per_event_uj"]
    each = one["reason"] if per_event is None else f"{per_event:.4g} uJ per synaptic event"
    return f"{one['power_w']:.4g} W, {one['energy_j']:.4g} J, {each}"


def _measured(dry: dict[str, Any] | None) -> list[str]:
    """Which of the times a dry run measured, if one did."""
    if dry is None:
        return []
    ranks = f"{len(dry['sampled'])} of {dry['of']} ranks"
    return [f"deliver, update and collocate were measured by a dry run of {ranks}; the rest is simulated"]


def _beside(ratios: dict[str, float]) -> list[str]:
    """How far the run whose compute times were replayed is from its simulation."""
    each = ", ".join(f"{name} {ratio:.3g}" for name, ratio in ratios.items())
    return [f"the replayed run over this one, medians over windows: {each}"] if ratios else []
