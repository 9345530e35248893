"""A dry run: some ranks of a large machine, each run alone by a process on this node.

`plan` chooses the ranks before anything is built: the largest, the smallest, and others at random.
`carry_out` runs them in groups that start together. The next group starts when the last rank has ended, so
that every rank has as many neighbours as on a node of the machine. A rank that has left its record is not run
again.
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core import memory, places
from spikemark.core.errors import BadInput, shown
from spikemark.core.files import discard, replace_folder, replaceable, write_atomically, write_json
from spikemark.core.lock import LOCK, locked
from spikemark.core.reading import read_json
from spikemark.launch import Launch, available_cores, core_threads
from spikemark.launch.mpirun import AS_ROOT, CROWDED
from spikemark.launch.process import Finished, started
from spikemark.network.description import read, read_time
from spikemark.network.named_files import PLACEMENT, located, stored, with_content
from spikemark.prediction.memory import of_run as needed
from spikemark.prediction.workload import Loads, Rates, rates_of
from spikemark.quantities.words import counted
from spikemark.records import dry_run, run_files
from spikemark.records.dry_run import ALONE, DryRank, DryRun
from spikemark.records.phases import COMPUTE, THREADS

from .measure import RunFailed, log_text

LARGEST, SMALLEST, RANDOM, EQUAL = "largest", "smallest", "random", "one of equals"
SAME = 1e-3  # relative difference of expected counts below which ranks count as alike
NULL = {"waiting": ALONE, "exchange": ALONE, "real_time_factor": "it includes waiting and exchange"}
KINDS = {
    **dict.fromkeys((*COMPUTE, "memory"), "measured"),
    "neurons": "counted", "synapses": "counted", "synaptic_events": "counted", "work": "modelled",
}  # fmt: skip
#: Of records, what should be the same for all ranks.
ALIKE = ("host", "name"), ("host", "cpu"), ("provenance", "commit"), ("provenance", "flags")
WORKSPACE, LOOK_S = ".dry-", 0.2  # of the folder in which a group runs; between two looks at its progress
#: Is called with the cycles that were simulated, warm-up included, those of all ranks that are to run, and a
#: line where a rank is done.
Told = Callable[[int, int, str | None], None]


@dataclass(frozen=True)
class Plan:
    """The ranks to run (`why`, by number, ascending), and how. `counts` [rank, part]: `work` of all ranks.

    `memory` [rank]: modelled bytes, at most while a rank is built.
    """

    description: dict[str, Any]
    ranks: int
    threads: int
    side_by_side: int
    why: dict[int, str]
    counts: np.ndarray
    memory: np.ndarray
    rates: Rates
    rate_hz: float | None
    seed: int
    cores: int

    @property
    def bound(self) -> bool:
        """True if every thread gets a core of its own."""
        return self.side_by_side * self.threads <= self.cores

    @property
    def warnings(self) -> list[str]:
        """Reasons why the times differ from those on a node of the machine."""
        given = f"{counted(self.side_by_side, 'rank')} with {counted(self.threads, 'thread')} each"
        line = f"oversubscribed: {given} share {counted(self.cores, 'core')}; times are too long"
        return [] if self.bound else [line]


def plan(
    description: dict[str, Any],
    ranks: int,
    threads: int = 1,
    side_by_side: int = 1,
    sample: int | None = None,
    seed: int = 1,
    rate_hz: float | None = None,
) -> Plan:
    """What a dry run does. `sample`: ranks to run, more where the last group has room; None: one group.

    Raises BadInput for a description that cannot be run so, unknown or useless rates, more ranks than there
    are, and for groups that do not fit into the memory that is free.
    """
    known = read(description)
    if not (description.get("record") or {}).get("cycles", True):
        raise BadInput.of("record.cycles", False, "true: a dry run is about cycle times")
    exact = all(p.neuron.model == "ignore_and_fire" for p in known.network.populations)
    if exact and rate_hz is not None:
        raise BadInput.of("rate", rate_hz, "none, since all spikes are known exactly", code="conflict")
    number = side_by_side if sample is None else sample
    for name, value in ("ranks_here", side_by_side), ("sample", number):
        if not 1 <= value <= ranks:
            raise BadInput.of(name, value, f"1 to {ranks}, the ranks of --of", code="range")
    rates = rates_of(description, rate_hz)
    counts = work(Loads.of(known, ranks, threads, rates.hz))
    number = min(ranks, -(-number // side_by_side) * side_by_side)  # as many neighbours for every rank
    why, most = choose(counts, number, seed), needed(description, ranks, threads).most
    free, each = memory.available(), float(most[list(why)].max())
    if side_by_side * each > free:
        fit = int(free // each)
        expected = f"up to {fit}" if fit else "another description or machine"
        room = f"a rank needs {1e-9 * each:.3g} GB, {1e-9 * free:.3g} GB are free"
        raise BadInput.of("ranks_here", side_by_side, f"{expected}: {room}", code="range")
    rate = None if exact else rate_hz
    cores = available_cores()
    return Plan(description, ranks, threads, side_by_side, why, counts, most, rates, rate, seed, cores)


def work(loads: Loads) -> np.ndarray:
    """Expected counts per cycle by which a rank's time in each part of COMPUTE grows, [rank, part]."""
    events, neurons = loads.of_rank(loads.events), loads.of_rank(loads.neurons).sum(axis=0)
    counts = {"deliver": events, "update": neurons, THREADS: events, "collocate": loads.collocated}
    return np.stack([counts[part] for part in COMPUTE], axis=1).astype(np.float64)


def choose(counts: np.ndarray, number: int, seed: int) -> dict[int, str]:
    """`number` of the ranks with these counts [rank, part of COMPUTE], and why each was chosen.

    The first has the most synaptic events, the second the fewest, the others are drawn. Where all ranks have
    the same counts, the first and the last rank stand for these two.
    """
    ranks = len(counts)
    keys = [counts[:, COMPUTE.index(part)] for part in ("collocate", "update", "deliver")]
    keys = [np.round(key / key.max(), 9) if key.max() > 0 else key for key in keys]
    order = np.lexsort([np.arange(ranks)[::-1], *keys])  # the last is the largest, of equals the first rank
    words = (EQUAL, EQUAL) if alike(counts) else (LARGEST, SMALLEST)
    why = dict(list(zip((int(order[-1]), int(order[0])), words, strict=True))[:number])
    left = [rank for rank in range(ranks) if rank not in why]
    drawn = np.random.default_rng(seed).permutation(left)[: number - len(why)]
    return dict(sorted({**why, **{int(rank): RANDOM for rank in drawn}}.items()))


def alike(counts: np.ndarray) -> bool:
    """True if all ranks are expected to do the same in every part."""
    most = counts.max(axis=0)
    return bool(np.all(most - counts.min(axis=0) <= SAME * most))


def carry_out(wanted: Plan, out: Path, told: Told | None = None) -> DryRun:
    """Runs the ranks that are missing in the folder `out`, then writes the dry run there.

    Raises BadInput for a folder of something else, without the mini-app, and for what it refuses; RunFailed
    if a rank fails, with what it said in FAILED. What has run stays, so that the same call goes on.
    """
    program, out = places.program("miniapp"), Path(out).absolute()
    new, each = not out.exists(), out / dry_run.EACH
    description = _claim(out, wanted)
    with locked(out):
        try:
            for left in out.glob(f"{WORKSPACE}*"):  # of a call that was killed
                discard(left)
            for name in (dry_run.ABOUT, dry_run.FAILED):
                (out / name).unlink(missing_ok=True)
            each.mkdir(exist_ok=True)
            ranks = _all(program, out, wanted, told)
            return dry_run.save(out, _about(description, wanted, ranks), ranks, wanted.counts)
        except BadInput:
            if new and not any(each.glob("*")):
                shutil.rmtree(out)
            raise


def _claim(out: Path, wanted: Plan) -> dict[str, Any]:
    """Makes the folder for this dry run. Raises BadInput for one that holds anything else.

    Returns the description as it stands in the folder, where a copy of its placement file is.
    """
    ours = (LOCK, *(path.name for path in out.glob(f"{WORKSPACE}*")))
    replaceable(out, (*dry_run.FILES, *ours), dry_run.RUN, "the same dry run")
    given = out / dry_run.RUN
    if given.is_file() and with_content(located(read_json(given), out)) != with_content(wanted.description):
        raise BadInput(f"--out {out}: holds a dry run of another description; expected a new folder")
    for path in sorted((out / dry_run.EACH).glob("*")):
        _ran(out, path.name, wanted)
    out.mkdir(parents=True, exist_ok=True)
    copies = {PLACEMENT: out / run_files.PLACEMENT}
    description = stored(wanted.description, lambda field, file: copies.get(field), out)
    write_json(given, description)
    return description


def _ran(out: Path, rank: int | str, wanted: Plan) -> DryRank | None:
    """The record of a rank; None if it has not run. Raises BadInput if it ran in another way."""
    path = out / dry_run.EACH / str(rank)
    if not run_files.whole(path):
        return None
    found, launched = dry_run.load_rank(path), path / run_files.LAUNCH
    record, about = found.record, read_json(launched) if launched.is_file() else {}
    for name, value, given in (
        ("of", record.dry_run.of, wanted.ranks),
        ("threads", record.threads, wanted.threads),
        ("rank", str(found.rank), str(rank)),
        ("ranks_here", about.get("ranks_here", wanted.side_by_side), wanted.side_by_side),
        ("rate", record.dry_run.rate_hz if wanted.rate_hz is not None else None, wanted.rate_hz),
    ):
        if value != given:
            raise BadInput(f"{path}: {name}={shown(value)}; expected {shown(given)}, or a new folder")
    return found


def _all(program: Path, out: Path, wanted: Plan, told: Told | None) -> list[DryRank]:
    """The records of all ranks of the sample, after those that are missing have been run.

    Raises BadInput for records that differ in their phases, as those of other formats do.
    """
    lasts, numbers, n = read_time(wanted.description), list(wanted.why), wanted.side_by_side
    each = lasts.cycles + lasts.warmup_cycles
    done = {rank: found for rank in numbers if (found := _ran(out, rank, wanted))}
    missing = [rank for rank in numbers if rank not in done]

    def tell(cycles: int, line: str | None = None) -> None:
        if told:
            told(len(done) * each + cycles, len(numbers) * each, line)

    for group in (missing[first : first + n] for first in range(0, len(missing), n)):
        _run(program, out, wanted, group, tell)
        for rank in group:
            found = done[rank] = _ran(out, rank, wanted)
            if found is None:
                raise RunFailed(f"rank {rank}: the mini-app left no record")
            build_s, compute_s = found.record.timing.build_s, found.record.dry_run.compute_s
            words = f"[{len(done)}/{len(numbers)}] rank {rank} of {wanted.ranks}, {wanted.why[rank]}"
            tell(0, f"{words}: built in {build_s:.3g} s, computed for {compute_s:.3g} s")
    ranks = [done[rank] for rank in numbers]
    for rank in ranks:
        if rank.record.phases != ranks[0].record.phases:
            expected = f"{', '.join(ranks[0].record.phases)} as in {ranks[0].path}, or a new folder"
            raise BadInput(f"{rank.path}: phases={', '.join(rank.record.phases)}; expected {expected}")
    return ranks


def _run(program: Path, out: Path, wanted: Plan, group: list[int], advance: Callable[[int], None]) -> None:
    """Runs a group of ranks to its end; their records appear together, once all have ended well."""
    place = Path(tempfile.mkdtemp(prefix=WORKSPACE, dir=out))
    try:
        starts = [command(program, out, place, wanted, rank, slot) for slot, rank in enumerate(group)]
        for rank, one, end in zip(group, starts, watched(starts, group, place, advance), strict=True):
            if end.refusal:
                raise BadInput(end.refusal)
            if end.status != 0:
                write_atomically(out / dry_run.FAILED, log_text(one, end))
                raise RunFailed(f"rank {rank}: {end.reason}; see {out / dry_run.FAILED}")
            about = {"command": one.command, "environment": one.environment}
            write_json(place / str(rank) / run_files.LAUNCH, {**about, "ranks_here": wanted.side_by_side})
        for rank in group:
            replace_folder(place / str(rank), out / dry_run.EACH / str(rank))
    finally:
        discard(place)


def command(program: Path, out: Path, place: Path, wanted: Plan, rank: int, slot: int) -> Launch:
    """How a rank is started that writes its record into the folder `place`; `slot` chooses its cores."""
    words = [str(program), str(out / dry_run.RUN), "--as-rank", str(rank), "--of", str(wanted.ranks)]
    words += [] if wanted.rate_hz is None else ["--rate", repr(wanted.rate_hz)]
    words += ["--out", str(place / str(rank)), "--progress", str(place / f"{rank}.progress")]
    environment = {"OMP_NUM_THREADS": str(wanted.threads)} | AS_ROOT
    if wanted.bound:
        own = core_threads()[slot * wanted.threads : (slot + 1) * wanted.threads]
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{core}}}" for core in own)}
    else:
        environment |= {"OMP_PROC_BIND": "false", **CROWDED}
    return Launch(words, environment)


def watched(
    starts: list[Launch], group: list[int], place: Path, advance: Callable[[int], None]
) -> list[Finished]:
    """Starts programs together and waits for all. The first that fails ends the others.

    `advance` is called with the cycles that they have done together, the warm-up included.
    """
    said = [[place / f"{rank}.{name}" for name in ("out", "err")] for rank in group]
    with contextlib.ExitStack() as stack:
        programs = []
        for one, files in zip(starts, said, strict=True):
            out, err = (stack.enter_context(open(file, "w")) for file in files)
            start = started(one.command, one.environment, stdout=out, stderr=err)
            programs.append(stack.enter_context(start))
        while None in (statuses := [one.poll() for one in programs]) and not any(statuses):
            advance(sum(_cycles_done(place / f"{rank}.progress") for rank in group))
            time.sleep(LOOK_S)
        for one in programs:
            if one.returncode is None:
                one.terminate()
                one.wait()
    return [
        Finished(status or 0, *(file.read_text(errors="replace") for file in files))
        for status, files in zip(statuses, said, strict=True)
    ]


def _cycles_done(file: Path) -> int:
    """Cycles of a rank that are done, the warm-up included; 0 while it builds."""
    with contextlib.suppress(OSError, ValueError):
        done, _ = np.fromfile(file, dtype=np.uint32)
        return int(done)
    return 0


def beside(ranks: list[DryRank], side_by_side: int) -> list[float | None]:
    """Share of each rank's measured part in which at least n - 1 others were measured, too, [rank].

    None where it ran by itself, or the records do not say when.
    """
    if side_by_side == 1 or any(rank.span is None for rank in ranks):
        return [None] * len(ranks)
    began, ended = np.array([rank.span for rank in ranks], dtype=float).T[:, :, None]
    edges = np.unique([began, ended])
    middle, lasts = (
        (edges[1:] + edges[:-1]) / 2,
        np.diff(edges),
    )  # of pieces in which the same ranks are at work
    at_work = (began <= middle) & (middle <= ended)
    full = (at_work & (at_work.sum(axis=0) >= side_by_side)) @ lasts
    whole = (ended - began)[:, 0]
    return np.divide(full, whole, out=np.zeros_like(full), where=whole > 0).clip(max=1.0).tolist()


def _about(description: dict[str, Any], wanted: Plan, ranks: list[DryRank]) -> dict[str, Any]:
    """The content of dryrun.json."""
    first, shares, said = ranks[0].record, beside(ranks, wanted.side_by_side), list(wanted.warnings)
    for part, name in ALIKE:  # since a folder may be gone on with elsewhere
        values = dict.fromkeys(str(getattr(getattr(rank.record, part), name)) for rank in ranks)
        if len(values) > 1:
            said.append(f"not all ranks have the same {part}.{name}: {', '.join(values)}")
    said += [line for rank in ranks for line in rank.record.warnings]
    loads = [rank.record.host.foreign_load for rank in ranks]  # which takes threads of neighbours for others
    foreign = None if None in loads else max(0.0, max(loads) - (wanted.side_by_side - 1) * wanted.threads)
    return {
        "ranks": wanted.ranks, "threads": wanted.threads, "ranks_here": wanted.side_by_side,
        "cores": wanted.cores, "bound": wanted.bound,
        "sampled": [
            {"rank": rank.rank, "why": wanted.why[rank.rank], "beside": share}
            for rank, share in zip(ranks, shares, strict=True)
        ],
        "seed": wanted.seed, "alike": alike(wanted.counts), "spikes": first.dry_run.spikes,
        "routes": first.dry_run.routes, "rates": wanted.rates.source, "rate_hz": wanted.rate_hz,
        "cycles": first.timing.cycles, "phases": first.phases, "description": description,
        "host": {name: getattr(first.host, name) for name in ("name", "cpu", "cores", "virtual_machine")},
        "provenance": first.provenance.model_dump(), "kinds": KINDS, "null": NULL,
        "warnings": [*dict.fromkeys(said)], "foreign_load": foreign,
    }  # fmt: skip
