"""Runs of machines that are not here: simulate (SimGrid) and dryrun (some ranks, each alone)."""

from pathlib import Path
from typing import Any

from .kinds import Count, File, NeededProfile, Positive, number
from .options import machine_profile, ranks_by_part, read_description, verb
from .output import answer, bar_of_cycles, ending, list_lines, print_lines, say, short


@verb
def simulate(
    description: Path, *, machine: NeededProfile, ranks: Positive, out: File,
    ranks_per_node, threads, on, compute: str = "model", compute_of: File, set,
    correlation: number(0, 0.9999, float | None),
    cv: number(0, 10, float | None),
    rate_hz: number(0, 1e6, float | None), seed,
) -> None:  # fmt: skip
    """Run a network on a simulated machine, with its real spikes.

    Spikes and messages are those of the real program; times are those of the machine. The command needs
    SimGrid (`make simulator`). It writes a run like any other, labelled simulated, and simulation.json, which
    states what was simulated and what had to be assumed.

    RUN.json: A run description.
    --machine: A profile, or a machine of unequal parts: a file in machines/, or a path.
    --ranks: Number of MPI ranks.
    --out DIR: Folder of the run [out/RUN-MACHINE-RANKS].
    --ranks-per-node: Ranks that share a node [1; on a machine of unequal parts, as many as fit].
    --threads: Threads of a rank, for modelled compute times [all its cores].
    --compute: Where compute times come from: model, or the folder of a run, of imported times or of a dry
        run to replay.
    --compute-of FULL.json: Network of the compute times, if not RUN.json: one to model, or of the dry run.
    --correlation: Correlation of compute times from cycle to cycle, instead of the profile's.
    --cv: Coefficient of variation of a rank's compute times, instead of the profile's.
    --rate-hz: Rate of neurons in Hz, if the description gives none; for modelled times.
    --seed: Seed of the jitter; the network has its own.
    """
    from spikemark.launch.process import ProgramFailed
    from spikemark.records import record
    from spikemark.running import simulation

    read, where = read_description(description, set), machine_profile(machine, filled=False, parts=True)
    out = out or Path("out") / f"{description.stem}-{where.name}-{ranks}"
    with ending(ProgramFailed, words="simulation failed: {}"):
        folder = simulation.simulate(
            read, where, ranks, out, compute, ranks_per_node=ranks_per_node, threads=threads,
            compute_of=None if compute_of is None else read_description(compute_of), on=ranks_by_part(on),
            seed=seed, correlation=correlation, cv=cv, hz=rate_hz, progress=bar_of_cycles,
        )  # fmt: skip
    found = record.load(folder)
    list_lines([f"assumed: {line}" for line in found.simulation["assumptions"]])
    lines = _lines(found.record, found.simulation)
    print_lines([*lines, str(short(folder))])


def _lines(found, about: dict[str, Any]) -> list[str]:
    """The times per cycle as means over ranks, and what the simulation cost."""
    lines, timing = [about["facts"]], found.timing
    if dry := about.get("dry_run"):
        ranks = f"{len(dry['sampled'])} of {dry['of']} ranks"
        lines.append(f"a dry run of {ranks} measured deliver, update and collocate; the rest is simulated")
    means = {name: phase.mean_s for name, phase in timing.phases.items() if phase.mean_s is not None}
    phases = ", ".join(f"{name} {1e6 * mean / timing.cycles:.4g}" for name, mean in means.items())
    lines.append(f"simulated: real-time factor {timing.real_time_factor:.4g}; µs per cycle: {phases}")
    return [*lines, f"checksum {found.checksum}; took {about['cost_s']:.3g} s here,"
                    f" {1e6 * about['cost_per_rank_and_cycle_s']:.3g} µs per rank and cycle"]  # fmt: skip


@verb
def dryrun(
    description: Path, *, of: Positive, ranks_here: Positive = 1, sample: Count, threads, out: File,
    rate: number(0, kind=float | None), seed, set, json,
) -> None:  # fmt: skip
    """Measure some ranks of a large machine on this node.

    Each rank runs alone, with the synapses that it would have on that machine and with the spikes that it
    would receive. Computing and memory are measured. Waiting and exchange are not: `predict
    --compute-from` and `simulate --compute` read the folder and add them. After an interruption, the same
    command continues.

    RUN.json: A run description.
    --of R: Number of ranks of the machine.
    --ranks-here: Ranks that run side by side on this node, as they would there.
    --sample: Ranks to run: the largest, the smallest, others at random; rounded up to whole groups of
        --ranks-here [one group].
    --threads: Threads of a rank [all cores, shared].
    --out DIR: Folder of the dry run [out/RUN-of-R].
    --rate: Rate in Hz of neurons whose spikes are not known beforehand.
    --seed: Seed by which ranks are drawn.
    """
    from spikemark.launch import available_cores
    from spikemark.launch.process import ProgramFailed
    from spikemark.running import dry_run

    read = read_description(description, set)
    threads = threads or max(1, available_cores() // ranks_here)
    wanted = dry_run.plan(read, of, threads, ranks_here, sample, seed, rate)
    list_lines([f"warning: {text}" for text in wanted.warnings])
    failed, words = "dry run failed: {}; the same command continues", f"{len(wanted.why)} of {of} ranks"
    with ending(ProgramFailed, words=failed), bar_of_cycles(words) as advance:

        def told(done: int, ranks: int, line: str) -> None:
            advance(done, ranks)
            say(line)

        found = dry_run.carry_out(wanted, out or Path("out") / f"{description.stem}-of-{of}", told)
    tables = dry_run.table(found).turned(dry_run.ABREAST)
    lines = [*dry_run.lines(found), f"folder: {short(found.path)}"]
    answer(json, lambda: dry_run.content(found), [dry_run.sentence(found)], tables, lines)
