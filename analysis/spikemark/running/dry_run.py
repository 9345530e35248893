"""A dry run: some ranks of a large machine, each run alone by a process on this node.

`plan` chooses the ranks before anything is built: the largest, the smallest, and others at random.
`carry_out` runs them in groups that start together, so that every rank has as many neighbours as on a node of
the machine. A rank that has left its record is not run again.
"""

import contextlib
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core import memory, places
from spikemark.core.errors import BadInput
from spikemark.core.files import discard, replaceable, write_atomically, write_json
from spikemark.core.lock import LOCK, locked
from spikemark.core.reading import read_json
from spikemark.launch import Launch, available_cores, core_threads
from spikemark.launch.mpirun import AS_ROOT, CROWDED
from spikemark.launch.process import Finished, ProgramFailed, started
from spikemark.network.description import read
from spikemark.network.named_files import PLACEMENT, located, stored, with_content
from spikemark.prediction.memory import of_run as needed
from spikemark.prediction.workload import Loads, Rates, rates_of
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted
from spikemark.records import dry_run, run_files
from spikemark.records.dry_run import EACH, RUN, DryRun
from spikemark.records.phases import COMPUTE, THREADS
from spikemark.records.record import DRY_RUN

LARGEST, SMALLEST, RANDOM = "largest", "smallest", "random"
Told = Callable[[int, int, str], None]  # gets the ranks that are done, all that run now, and a line


@dataclass(frozen=True)
class Plan:
    """The ranks to run (`why`, by number, ascending), and how. `counts` [rank, part]: `work` of all ranks."""

    description: dict[str, Any]
    ranks: int
    threads: int
    side_by_side: int
    why: dict[int, str]
    counts: np.ndarray
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
    why = choose(counts, number, seed)
    each = needed(description, ranks, threads).most[list(why)].max()
    memory.check(side_by_side * each, f"ranks_here={side_by_side}: a group of ranks")
    rate, cores = rate_hz, available_cores()
    return Plan(description, ranks, threads, side_by_side, why, counts, rates, rate, seed, cores)


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
    why = dict([(int(order[-1]), LARGEST), (int(order[0]), SMALLEST)][:number])
    left = [rank for rank in range(ranks) if rank not in why]
    drawn = np.random.default_rng(seed).permutation(left)[: number - len(why)]
    return dict(sorted({**why, **{int(rank): RANDOM for rank in drawn}}.items()))


def carry_out(wanted: Plan, out: Path, told: Told | None = None) -> DryRun:
    """Runs the ranks that are missing in the folder `out`, then writes the dry run there.

    Raises BadInput for a folder of something else, without the mini-app, and for what it refuses;
    ProgramFailed if a rank fails. What has run stays, so that the same call goes on.
    """
    program, out = places.program("miniapp"), Path(out).absolute()
    replaceable(out, (*dry_run.FILES, LOCK), RUN, "the same dry run")
    new = not out.exists()
    _check(out, wanted)
    copies = {PLACEMENT: out / run_files.PLACEMENT}
    description = stored(wanted.description, lambda field, file: copies.get(field), out)
    write_json(out / RUN, description)
    with locked(out):
        for left in (out / EACH).glob("*.partial-*"):  # of a mini-app that was killed
            discard(left)
        missing = [rank for rank in wanted.why if not run_files.whole(out / EACH / str(rank))]
        for first in range(0, len(missing), wanted.side_by_side):
            group = missing[first : first + wanted.side_by_side]
            ends = together([command(program, out, wanted, rank, slot) for slot, rank in enumerate(group)])
            for number, (rank, end) in enumerate(zip(group, ends, strict=True), first + 1):
                if end.refusal and new and not first:
                    shutil.rmtree(out)
                if end.refusal:
                    raise BadInput(end.refusal)
                if end.status != 0:
                    raise ProgramFailed(f"rank {rank}: {end.reason}")
                words = f"[{number}/{len(missing)}] rank {rank} of {wanted.ranks}, {wanted.why[rank]}"
                told and told(number, len(missing), words)
        return _save(out, wanted, description)


def _check(out: Path, wanted: Plan) -> None:
    """Raises BadInput if a folder holds another dry run."""
    run, about = out / RUN, out / dry_run.ABOUT
    if run.is_file() and with_content(located(read_json(run), out)) != with_content(wanted.description):
        raise BadInput(f"--out {out}: holds a dry run of another description; expected a new folder")
    asked = {"of": wanted.ranks, "threads": wanted.threads, "rate": wanted.rate_hz}
    for path in (path for path in (out / EACH).glob("*") if path.name.isdigit() and run_files.whole(path)):
        record = dry_run.load_rank(path).record
        held = {"of": record.dry_run.of, "threads": record.threads, "rate": record.dry_run.rate_hz}
        _same(path, held, asked)
    if about.is_file():
        _same(about, read_json(about), {"ranks_here": wanted.side_by_side})


def _same(path: Path, held: dict[str, Any], asked: dict[str, Any]) -> None:
    for name, value in asked.items():
        if held.get(name) != value:
            raise BadInput(f"{path}: {name}={held.get(name)}; expected {value}, or a new folder")


def command(program: Path, out: Path, wanted: Plan, rank: int, slot: int) -> Launch:
    """How a rank is started that writes its record into the folder `out`; `slot` chooses its cores."""
    words = [str(program), str(out / RUN), "--as-rank", str(rank), "--of", str(wanted.ranks)]
    words += [] if wanted.rate_hz is None else ["--rate", repr(wanted.rate_hz)]
    words += ["--out", str(out / EACH / str(rank))]
    environment = {"OMP_NUM_THREADS": str(wanted.threads)} | AS_ROOT
    if wanted.bound:
        own = core_threads()[slot * wanted.threads : (slot + 1) * wanted.threads]
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{core}}}" for core in own)}
    else:
        environment |= {"OMP_PROC_BIND": "false", **CROWDED}
    return Launch(words, environment)


def together(starts: list[Launch]) -> list[Finished]:
    """Starts programs together and waits for all; an interruption ends all of them."""
    ends = []
    with contextlib.ExitStack() as stack:
        programs = [
            stack.enter_context(started(one.command, one.environment, stdout=PIPE, stderr=PIPE))
            for one in starts
        ]
        for one in programs:
            output, errors = one.communicate()
            ends.append(Finished(one.returncode, output, errors))
    return ends


def _save(out: Path, wanted: Plan, description: dict[str, Any]) -> DryRun:
    """Writes what was run and what every rank has to do; dryrun.json comes last."""
    counts = {dry_run.WORK_OF[part]: of for part, of in zip(COMPUTE, wanted.counts.T, strict=True)}
    table = pd.DataFrame({"rank": np.arange(wanted.ranks), **counts})
    write_atomically(out / dry_run.WORK, table.to_csv(index=False))
    said = [line for rank in wanted.why for line in dry_run.load_rank(out / EACH / str(rank)).record.warnings]
    if wanted.side_by_side > 1:  # a rank takes threads of its neighbours for those of other programs
        said = [line for line in said if not line.startswith("foreign load")]
    about = {
        "format_version": 2, "kind": DRY_RUN, "ranks": wanted.ranks, "threads": wanted.threads,
        "ranks_here": wanted.side_by_side,
        "sampled": [{"rank": rank, "why": why} for rank, why in wanted.why.items()],
        "seed": wanted.seed, "rates": wanted.rates.source, "description": description,
        "warnings": [*dict.fromkeys([*wanted.warnings, *said])],
    }  # fmt: skip
    write_json(out / dry_run.ABOUT, about)
    return dry_run.load(out)


# ---------------------------------------------------------------- for people and programs

ABREAST = 4  # ranks that fit side by side on a terminal
COUNTS = "neurons", "synapses", "synaptic_events"
PARTS = {
    "deliver": "delivery", "update": "update", THREADS: "waiting for threads", "collocate": "collocation",
}  # fmt: skip
COMPUTING = Column("compute_us", "computing (µs per cycle)", "measured", digits=4)
COLUMNS = (
    Column("rank", "rank"),
    Column("why", "sampled as"),
    *(Column(name, name.replace("_", " "), "counted") for name in COUNTS),
    *(Column(f"{part}_us", f"{PARTS[part]} (µs per cycle)", "measured") for part in COMPUTE),
    COMPUTING,
    Column("memory_gb", "memory (GB)", "measured"),
    Column("build_s", "construction (s)", "measured"),
)


def table(found: DryRun) -> Table:
    """One row per rank that ran."""
    about, rows, host = found.about, [], found.sampled[0].record.host.name
    for one, ran in zip(about.sampled, found.sampled, strict=True):
        means = 1e6 * ran.times.mean(axis=0, dtype="f8")
        counts, peak = ran.counts, ran.counts.get("peak_bytes")
        rows.append(
            {"rank": str(one.rank), "why": one.why, **{name: int(counts[name]) for name in COUNTS}}
            | {f"{part}_us": float(mean) for part, mean in zip(COMPUTE, means, strict=True)}
            | {"compute_us": float(means.sum()), "memory_gb": None if peak is None else 1e-9 * peak}
            | {"build_s": counts.get("build_s")}
        )
    columns = [c for c in COLUMNS if about.threads > 1 or not c.name.startswith(THREADS)]
    how = f"{counted(about.threads, 'thread')} per rank, {about.ranks_here} side by side"
    sampled = f"{len(rows)} of {counted(found.ranks, 'rank')}"
    return Table(columns, rows, f"Dry run of {sampled} ({how}, {host})")


def mean(found: DryRun) -> Quantity:
    """Computing in µs per cycle as the mean over all R ranks, with its interval from sampling."""
    value, share = 1e6 * float(found.means().mean(axis=0).sum()), found.doubt
    if share is None:
        return Quantity(value, unit="us", kind="measured")
    return Quantity(value, max(0.0, value * (1 - share)), value * (1 + share), "us", "measured")


def sentence(found: DryRun) -> str:
    """The answer: how long ranks compute."""
    measured = len(found.timed)
    scaled = "; the other ranks take whole rows of these, scaled by expected counts"
    return (
        f"Mean computing over all {found.ranks} ranks: {COMPUTING.text(mean(found))} µs per cycle, measured"
        f" on {measured}{scaled if measured < found.ranks else ''}."
    )


def lines(found: DryRun) -> list[str]:
    """What the numbers mean, and what they do not say."""
    exact = "are exactly those of a run of all ranks"
    spikes = exact if found.alone.spikes == "exact" else f"were drawn; rates: {found.about.rates}"
    made = [
        "Not known: waiting, exchange and the real-time factor, since each rank ran alone.",
        f"The spikes that arrive {spikes}.",
    ]
    if found.doubt is None:
        made.append("One rank does not show how ranks differ: --sample 2 or more gives an interval.")
    return made + [f"warning: {line}" for line in found.about.warnings]


def content(found: DryRun) -> dict[str, Any]:
    """The content for JSON."""
    about, first = found.about, found.sampled[0].record
    return {
        "kind": "dry_run", "folder": str(found.path), "of": found.ranks, "threads": about.threads,
        "ranks_here": about.ranks_here, "host": first.host.name, "cycles": first.timing.cycles,
        "spikes": found.alone.spikes, "rates": about.rates,
        "ranks": [row | {"rank": int(row["rank"])} for row in table(found).rows],
        "waiting_us": None, "exchange_us": None,
        "mean_over_all_ranks_us": mean(found).content(), "warnings": about.warnings,
    }  # fmt: skip
