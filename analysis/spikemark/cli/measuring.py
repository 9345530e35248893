"""Verbs that measure this machine, or more of a run: calibrate, bench, peers, energy, cachesim, scorep."""

import tempfile
from pathlib import Path
from typing import Literal

from spikemark.core.errors import BadInput

from .kinds import Count, Experiment, File, Number, Profile, Text, Texts, number
from .options import machine_profile, only_with, verb, whole_numbers
from .output import answer, bar, complain, ending, list_lines, say, short

MOST_RANKS = 1024  # on one machine; mpirun would try to start any number
ROWS = 12  # of a table, without --details
Few = number(1, 64)


@verb
def calibrate(
    *, name: Text, out: File, quick: bool = False, nodes: int | None = None,
    force: bool = False,
) -> None:  # fmt: skip
    """Measure this machine and write its profile, in at most three minutes.

    Do not use the machine while it runs. What cannot be measured is left out, and the profile says why. With
    several nodes, it also measures the network between them, and finds slow nodes.

    --name: Name of the machine, instead of the name of its processor.
    --out: File to write instead of machines/NAME.yaml.
    --quick: Take one minute instead of three; intervals become wider.
    --nodes: Number of nodes of the Slurm allocation to measure [one].
    --force: Replace an existing file.
    """
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import calibrate, site

    effort, failed = site.QUICK if quick else site.FULL, "calibrate failed: {}"
    with ending(ProgramFailed, words=failed, kept="nothing was written"), bar() as progress:
        found = calibrate.calibrate(name, out, effort, force, progress, nodes)
    lines = [f"{short(found.path)}, {len(found.unknown)} values unknown, listed there"]
    answer(False, dict, lines, more=[f"Next: spikemark machine {found.path}"], warnings=found.warnings)


@verb
def bench(
    *, exchange: bool = False, repetitions: int = 5, filter_: str = "", min_time: Number, ranks: Text,
    ranks_per_node, bytes_: Text, launcher: Text, details, json, out: File,
) -> None:  # fmt: skip
    """Measure kernels of the mini-app, or exchanges, on their own.

    Delivery is shown as a multiple of the lower bound that the memory sets for it. Exchanges on more ranks
    than cores are marked: their times are no evidence of speed.

    --exchange: Measure the exchanges between ranks instead of the kernels.
    --repetitions: How often everything is measured.
    --filter REGEX: Measure only kernels or exchanges that match.
    --min-time: Shortest time of a repetition, s [0.2; exchanges 0.02].
    --ranks N,N: Exchanges: numbers of ranks [up to one per core].
    --ranks-per-node: Exchanges: ranks on a node [one per core].
    --bytes N,N: Exchanges: bytes from rank to rank [4 to 65536].
    --launcher: Exchanges: mpirun or srun [srun in an allocation].
    --details: Print every kernel and size.
    --out DIR: Folder instead of results/bench/MACHINE.
    """
    from spikemark import launch
    from spikemark.launch import slurm
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import exchanges, kernels

    own = {"ranks": ranks, "bytes": bytes_, "ranks_per_node": ranks_per_node, "launcher": launcher}
    only_with("--exchange", exchange, **own)
    # Ranks of an allocation are on its nodes; kernels are on the node of this command.
    folder = out or exchanges.folder(launch.machine_name() if exchange and slurm.inside() else None)
    kept = "the times of finished numbers of ranks were kept" if exchange else "nothing was kept"
    with ending(ProgramFailed, words="bench failed: {}", kept=kept), bar() as progress:
        if exchange:
            options = {"filter": filter_ or None, "repetitions": repetitions, "min-time": min_time,
                       "bytes": bytes_}  # fmt: skip
            options = {name: value for name, value in options.items() if value is not None}
            numbers = None if ranks is None else whole_numbers(ranks, "ranks", MOST_RANKS)
            found = exchanges.bench(folder, numbers, options, progress, launcher, ranks_per_node)
        else:
            least = 0.2 if min_time is None else min_time
            found = kernels.bench(folder, repetitions, filter_, least)
    if exchange:
        tables, more = [exchanges.shown(found.table)], [str(short(found.path))]
        answer(json, lambda: _curves(found), tables=tables, more=more)
        return None if json else list_lines(found.notes)
    first, table, more = [], kernels.table(found), [str(short(found.raw))]
    if len(found.ratios):
        middle = found.ratios.iloc[len(found.ratios) // 2]
        of = f"its bound for lists of {middle['size']:.0f}"
        first.append(f"Delivery takes {middle['ratio']:.2f} times {of}.")
    if found.slowdown > kernels.BUSY:
        first.append(f"The machine was busy: kernels took {found.slowdown:.2f} times their CPU time.")
    if not details and (left := table.rows[ROWS:]):
        del table.rows[ROWS:]
        more.append(f"{len(left)} more rows: spikemark bench --details")
    content = {"raw": str(found.raw), "dropped": found.dropped, "slowdown": found.slowdown}
    content |= {"kernels": found.summary.to_dict("records"), "ratios": found.ratios.to_dict("records")}
    answer(json, lambda: content, first, [table], more)
    return None if json else complain(found.dropped)


def _curves(found) -> dict:
    from spikemark.measuring import exchanges

    same = ("exchange", "ranks", "nodes", "oversubscribed", "barrier_s")
    rows = [
        {name: getattr(curve, name) for name in same}
        | {"bytes": curve.sizes.tolist(), "exchange_s": curve.medians_s.tolist()}
        | dict(zip(("latency_s", "seconds_per_byte"), curve.line, strict=True))
        for curve in exchanges.curves(found.table)
    ]  # fmt: skip
    return {"file": str(found.path), "curves": rows, "notes": found.notes}


@verb
def peers(
    experiment: Experiment = "peers", *, threads: Text, repetitions: Count,
    json, out: File, patience: float = 30.0,
) -> None:  # fmt: skip
    """Measure the mini-app beside NEST.

    The programs take turns on the same network. The factors between their times have intervals. `make peers`
    installs NEST 3.10 from PyPI into an environment of its own.

    EXPERIMENT: One network on one rank: a name or a file.
    --threads N,N: Numbers of threads, instead of the experiment's.
    --repetitions: Number of rounds, instead of the experiment's.
    --out DIR: Folder instead of results/peers/MACHINE.
    --patience: Longest wait for a quiet machine, s.
    """
    from spikemark import launch
    from spikemark.measuring import peers
    from spikemark.running import quiet, sweeps
    from spikemark.running.experiments import load

    if not patience >= 0:
        raise BadInput.of("patience", patience, "0 or more seconds", code="range")
    changes = {"threads": threads and whole_numbers(threads, "threads"), "repetitions": repetitions}
    chosen = load(experiment).model_copy(update={n: v for n, v in changes.items() if v is not None})
    folder = (out or sweeps.folder(chosen, launch.here_name(), None).path).resolve()
    with ending(), bar() as progress:
        found = peers.compare(chosen, folder, quiet.Conditions(patience_s=patience), progress)
    table, trials = peers.table(found), found.trials.astype(object).where(found.trials.notna(), None)
    content = {"table": table.content(), "trials": trials.to_dict("records"), "complaints": found.complaints}
    more = [] if found.complaints else ["Next: spikemark anchor --help (predictions of NEST on your machine)"]
    answer(json, lambda: content, peers.sentences(found), [table], [str(folder / "peers.csv"), *more])
    complain(found.complaints)


@verb
def energy(
    run_dir, *, power: File, channel: Texts, offset: float = 0.0, align: Literal["times", "knee"] = "times",
    at_wall: Number, keep: bool = False, machine: Profile, nodes, details, json,
) -> None:  # fmt: skip
    """Report the energy of a run, in total and per synaptic event.

    Prints gross, idle and net energy of the simulation phase. Without --power and --machine, they come from a
    file that was kept for the run, or else from the run's own readings.

    --power FILE.csv: Time and power from a meter, as in 'time [s],node1 [W]'.
    --channel: Only this column or node; may be repeated [the sum of all].
    --offset: Seconds to add to the times in the file.
    --align: How to find the run in the file: by its times, or by the knee (its step in power).
    --at-wall PERCENT: Accuracy of a meter of the whole machine before power conversion.
    --keep: Copy the file to the results of the sweep, for its reports.
    --machine: Model the energy with the power of this machine profile.
    --nodes: Nodes of that machine [as few as provide the cores].
    --details: Print readings, quality, and what is missing.
    """
    from spikemark.measuring import energy
    from spikemark.records import record

    run = record.load(run_dir)
    only_with("--machine", machine, nodes=nodes)
    if machine is not None and power is not None:
        raise BadInput("machine: expected without --power FILE.csv", field="machine", code="conflict")
    only_with("--power FILE.csv", power, channel=channel, offset=offset or None, at_wall=at_wall, keep=keep,
              align=align != "times")  # fmt: skip
    placed = {"channels": channel, "offset_s": offset, "align": align, "at_wall_percent": at_wall}
    if machine is not None:
        found = energy.on_machine(run, machine_profile(machine, filled=False), nodes)
    elif power is None:
        found = energy.of_run(run)
    else:
        found = energy.measured(run, energy.source(run, power, **placed))
        if keep:
            say(f"kept: {short(energy.keep(run, power, **placed))}")
    if found.kind is None:
        lines, tables, more = [f"{run.path}: no energy: {found.reason}", energy.ADVICE], [], []
    else:
        lines, tables = energy.sentences(found), [energy.table(found)]
        more = [f"spikemark energy {run_dir} --details    --json has the curve"]
        more = energy.details(found) if details else more
    answer(json, lambda: energy.content(found), lines, tables, more)


@verb
def cachesim(
    run: Path, *, ranks: Few, threads: Few, simulate_ms: Number, ll: Text, d1: Text, machine: Profile, json
) -> None:
    """Simulate the caches during delivery and count the misses.

    Prints the misses beside those predicted from the counts of synapses and spikes. Needs Valgrind,
    and takes up to a hundred times as long as the run itself. If the run belongs to a sweep
    (results/EXPERIMENT/MACHINE/runs/ID), the result is kept and the next report shows it.

    RUN: Description of a short run of a small network, or the record of a run.
    --ranks: MPI ranks, each with caches of its own [those of the record, or 1].
    --threads: Threads of a rank, which share its caches [those of the record, or 1].
    --simulate-ms: Length of the measured part in ms, instead of that in the description.
    --ll SIZE,WAYS,LINE: Last cache, sizes in bytes, instead of that of the host or machine.
    --d1 SIZE,WAYS,LINE: First data cache, sizes in bytes, instead of that of the host or machine.
    --machine: Take the caches from a machine profile: a file in machines/, or a path.
    """
    from spikemark.core.files import write_json
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import cachesim
    from spikemark.records import record
    from spikemark.records.results import Results, beside

    profile = None if machine is None else machine_profile(machine, filled=False)
    first, last = (
        cachesim.of_machine(name, profile) if given is None else cachesim.cache(given, f"--{name}")
        for name, given in (("d1", d1), ("ll", ll))
    )
    with tempfile.TemporaryDirectory() as folder:
        described, kept = run, None
        if not run.exists():
            raise BadInput(f"{run}: not found; expected a run description, or the record of a run")
        if run.is_dir():
            recorded, described = record.load(run).record, Path(folder) / "run.json"
            ranks, threads = ranks or recorded.ranks, threads or recorded.threads
            write_json(described, recorded.description)
            kept = beside(run, Results.cachesim)
        with ending(ProgramFailed, words="cachesim failed: {}"):
            outcome = cachesim.simulate(described, ranks or 1, threads or 1, first, last, simulate_ms)
    if kept:
        write_json(kept, outcome.model_dump())
    lines, tables = [cachesim.sentence(outcome)], [cachesim.table(outcome)]
    return answer(json, outcome.model_dump, lines, tables, [str(short(kept))] if kept else [])


@verb
def scorep(folder: Path, *, json) -> None:
    """Compare what Score-P recorded of a run with the run's own cycle log.

    Prints for each phase whether the two agree, and how long ranks waited at barriers. The exit status is 1
    if a time or a count differs too much.

    DIR: Folder with profile.cubex, traces.otf2 or both; the run's record is there or in DIR/record.
    """
    from spikemark.measuring import scorep

    found = scorep.check(folder)
    more = [f"spikemark scorep {folder} --json    spikemark waiting {folder / 'record'}"]
    lines, tables = scorep.sentences(found), [scorep.table(found)]
    answer(json, lambda: scorep.content(found), lines, tables, more, found.warnings)
    complain(found.complaints)
