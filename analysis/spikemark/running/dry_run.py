"""A dry run: some ranks of a large machine, each run alone by a process on this node.

`plan` chooses the ranks before anything is built: the largest, the smallest, and others at random.
`carry_out` runs them in groups that start together, so that every rank has as many neighbours as on
a node of the machine. A rank that has left its record is not run again.
"""

import contextlib
import math
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core import memory, places
from spikemark.core.errors import BadInput, short_repr
from spikemark.core.fields import differing
from spikemark.core.files import discard, replaceable, write_atomically, write_json
from spikemark.core.lock import LOCK, locked
from spikemark.core.reading import read_json
from spikemark.launch import Launch, available_cores, core_threads
from spikemark.launch.mpirun import AS_ROOT, CROWDED
from spikemark.launch.process import FinishedProgram, ProgramFailed, running_program
from spikemark.network.description import read_description
from spikemark.network.named_files import PLACEMENT, located, stored, with_content
from spikemark.prediction.memory import of_run as needed
from spikemark.prediction.workload import Loads, Rates, rates_of
from spikemark.quantities.words import counted
from spikemark.records import dry_run, run_files
from spikemark.records.dry_run import DESCRIPTION_FILE, EACH, DryRun
from spikemark.records.phases import COMPUTE_PARTS, THREADS
from spikemark.records.record import DRY_RUN

#: Why a rank was chosen.
LARGEST = "largest"
SMALLEST = "smallest"
RANDOM = "random"
#: Gets the number of ranks that are done, that of all ranks that run now, and a line.
RanksDone = Callable[[int, int, str], None]


@dataclass(frozen=True)
class DryRunPlan:
    """The ranks to run, and how."""

    description: dict[str, Any]
    ranks: int  #: of the whole run
    threads: int  #: of each rank
    side_by_side: int  #: ranks that run at the same time
    why: dict[int, str]  #: why each rank is run, by its number, ascending
    counts: np.ndarray  #: [rank, part of COMPUTE]: `_work` of all ranks
    rates: Rates
    rate_hz: float | None  #: as asked for; None for those of the description
    seed: int  #: of the choice of ranks
    cores: int  #: of this host

    @property
    def bound(self) -> bool:
        """True if every thread gets a core of its own."""
        return self.side_by_side * self.threads <= self.cores

    @property
    def warnings(self) -> list[str]:
        """Reasons why the times differ from those on a node of the machine."""
        if self.bound:
            return []
        ranks = f"{counted(self.side_by_side, 'rank')} with {counted(self.threads, 'thread')} each"
        return [f"oversubscribed: {ranks} share {counted(self.cores, 'core')}; times are too long"]


def plan(
    description: dict[str, Any],
    ranks: int,
    threads: int = 1,
    side_by_side: int = 1,
    sample: int | None = None,
    seed: int = 1,
    rate_hz: float | None = None,
) -> DryRunPlan:
    """What a dry run does.

    Args:
        description: of the run.
        ranks: of the whole run.
        threads: of each rank.
        side_by_side: ranks that run at the same time, as many as a node of the machine has.
        sample: ranks to run, more where the last group has room; None for one group.
        seed: of the choice of ranks.
        rate_hz: of neurons whose spikes follow from no description.

    Raises BadInput for a description that cannot be run so, unknown or useless rates, more ranks
    than there are, and for groups that do not fit into the memory that is free.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = mam_benchmark.describe(areas=4, neurons_per_area=100)
        >>> plan(description, ranks=8, sample=2).why
        {0: 'largest', 7: 'smallest'}
    """
    network_description = read_description(description)
    if not (description.get("record") or {}).get("cycles", True):
        raise BadInput(
            field="record.cycles", value=False, expected="true: a dry run is about cycle times"
        )
    models = {population.neuron.model for population in network_description.network.populations}
    if models <= {"ignore_and_fire"} and rate_hz is not None:
        expected = "none, since all spikes are known exactly"
        raise BadInput(
            field="rate",
            value=rate_hz,
            expected=expected,
            code="conflict",
        )
    number = side_by_side if sample is None else sample
    for name, value in ("ranks_here", side_by_side), ("sample", number):
        if not 1 <= value <= ranks:
            raise BadInput(
                field=name,
                value=value,
                expected=f"1 to {ranks}, all ranks of the run",
                code="range",
            )
    rates = rates_of(description, rate_hz)
    counts = _work(Loads.count(network_description, ranks, threads, rates.hz))
    groups = math.ceil(number / side_by_side)  # each is full: as many neighbours for every rank
    why = choose(counts, min(ranks, groups * side_by_side), seed)
    rank_bytes = needed(description, ranks, threads).most[list(why)].max()
    subject = f"ranks_here={side_by_side}: a group of ranks"
    memory.check(side_by_side * rank_bytes, subject, field="ranks_here")
    return DryRunPlan(
        description=description,
        ranks=ranks,
        threads=threads,
        side_by_side=side_by_side,
        why=why,
        counts=counts,
        rates=rates,
        rate_hz=rate_hz,
        seed=seed,
        cores=available_cores(),
    )


def _work(loads: Loads) -> np.ndarray:
    """Expected counts per cycle by which the time of a rank in each part of COMPUTE grows.

    Shape [rank, part].
    """
    events = loads.of_rank(loads.events)
    neurons = loads.of_rank(loads.neurons).sum(axis=0)
    counts = {"deliver": events, "update": neurons, THREADS: events, "collocate": loads.collocated}
    return np.stack([counts[part] for part in COMPUTE_PARTS], axis=1).astype(np.float64)


def choose(counts: np.ndarray, number: int, seed: int) -> dict[int, str]:
    """`number` of the ranks with these counts [rank, part of COMPUTE], and why each was chosen.

    The first has the most synaptic events, the second the fewest, the others are drawn. Where all
    ranks have the same counts, the first and the last rank stand for these two.

    Example:
        >>> counts = np.zeros((4, len(COMPUTE_PARTS)))
        >>> counts[:, COMPUTE_PARTS.index("deliver")] = [10, 90, 40, 50]
        >>> choose(counts, number=3, seed=1)
        {0: 'smallest', 1: 'largest', 2: 'random'}
    """
    ranks = len(counts)
    keys = [np.arange(ranks)[::-1]]  # of equal ranks, the first counts as the largest
    for part in ("collocate", "update", "deliver"):
        values = counts[:, COMPUTE_PARTS.index(part)]
        if values.max() > 0:
            values = np.round(values / values.max(), 9)
        keys.append(values)
    order = np.lexsort(keys)
    extremes = {int(order[-1]): LARGEST, int(order[0]): SMALLEST}
    why = dict(list(extremes.items())[:number])
    others = [rank for rank in range(ranks) if rank not in why]
    drawn = np.random.default_rng(seed).permutation(others)[: number - len(why)]
    for rank in drawn:
        why[int(rank)] = RANDOM
    return dict(sorted(why.items()))


def carry_out(wanted: DryRunPlan, out: Path, told: RanksDone | None = None) -> DryRun:
    """Runs the ranks that are missing in the folder `out`, then writes the dry run there.

    What has run stays, so that the same call goes on. `told`: is called after each rank.

    Raises BadInput for a folder of something else, without the mini-app, and for what it refuses;
    ProgramFailed if a rank fails.
    """
    program = places.program("miniapp")
    out = Path(out).absolute()
    replaceable(out, (*dry_run.FILES, LOCK), DESCRIPTION_FILE, "the same dry run")
    is_new = not out.exists()
    _check(out, wanted)
    copies = {PLACEMENT: out / run_files.PLACEMENT}
    description = stored(wanted.description, lambda field, file: copies.get(field), out)
    write_json(out / DESCRIPTION_FILE, description)
    with locked(out):
        for remains in (out / EACH).glob("*.partial-*"):  # of a mini-app that was killed
            discard(remains)
        missing = [rank for rank in wanted.why if not run_files.is_complete(out / EACH / str(rank))]
        for first in range(0, len(missing), wanted.side_by_side):
            group = missing[first : first + wanted.side_by_side]
            starts = [_command(program, out, wanted, rank, slot) for slot, rank in enumerate(group)]
            ends = together(starts)
            for number, (rank, end) in enumerate(zip(group, ends, strict=True), first + 1):
                if end.refusal is not None:
                    if is_new and first == 0:
                        shutil.rmtree(out)
                    raise BadInput(end.refusal, code="file")
                if end.status != 0:
                    raise ProgramFailed(f"rank {rank}: {end.reason}")
                if told is not None:
                    progress = f"[{number}/{len(missing)}]"
                    line = f"{progress} rank {rank} of {wanted.ranks}, {wanted.why[rank]}"
                    told(number, len(missing), line)
        return _save(out, wanted, description)


def _check(out: Path, wanted: DryRunPlan) -> None:
    """Raises BadInput if a folder holds another dry run."""
    run = out / DESCRIPTION_FILE
    if run.is_file():
        present = with_content(located(read_json(run), out))
        for field, value, asked_value in differing(present, with_content(wanted.description)):
            values = f"{field}={short_repr(value)}; expected {short_repr(asked_value)}"
            raise BadInput(
                f"out={out}: holds a dry run of another description: {values}, or a new folder",
                field="out",
                code="file",
            )
    asked = {"of": wanted.ranks, "threads": wanted.threads, "rate": wanted.rate_hz}
    for path in (out / EACH).glob("*"):
        if path.name.isdigit() and run_files.is_complete(path):
            record = dry_run.load_rank(path).record
            part = record.dry_run
            present = {"of": part.of, "threads": record.threads, "rate": part.rate_hz}
            _check_same(path, present, asked)
    about = out / dry_run.DRY_RUN_FILE
    if about.is_file():
        _check_same(about, read_json(about), {"ranks_here": wanted.side_by_side})


def _check_same(path: Path, present: dict[str, Any], asked: dict[str, Any]) -> None:
    """Raises BadInput for a value that is another one than was asked for."""
    for name, value in asked.items():
        if present.get(name) != value:
            message = f"{name}={present.get(name)}; expected {value}, or a new folder"
            raise BadInput(
                message,
                field=name,
                file=path,
                code="conflict",
            )


def _command(
    program: Path,
    out: Path,
    wanted: DryRunPlan,
    rank: int,
    slot: int,
) -> Launch:
    """How a rank is started that writes its record into the folder `out`.

    `slot`: its number among those that run at the same time, which chooses its cores.
    """
    words = [
        str(program),
        str(out / DESCRIPTION_FILE),
        "--as-rank",
        str(rank),
        "--of",
        str(wanted.ranks),
    ]
    if wanted.rate_hz is not None:
        words += ["--rate", repr(wanted.rate_hz)]
    words += ["--out", str(out / EACH / str(rank))]
    environment = {"OMP_NUM_THREADS": str(wanted.threads)} | AS_ROOT
    if wanted.bound:
        cores = core_threads()[slot * wanted.threads : (slot + 1) * wanted.threads]
        environment["OMP_PROC_BIND"] = "true"
        environment["OMP_PLACES"] = ",".join(f"{{{core}}}" for core in cores)
    else:
        environment |= {"OMP_PROC_BIND": "false", **CROWDED}
    return Launch(words, environment)


def together(starts: list[Launch]) -> list[FinishedProgram]:
    """Starts programs together and waits for all; an interruption ends all of them.

    Example:
        >>> [end.status for end in together([Launch(["true"]), Launch(["false"])])]
        [0, 1]
    """
    ends = []
    with contextlib.ExitStack() as stack:
        programs = []
        for start in starts:
            program = running_program(
                start.command,
                start.environment,
                stdout=PIPE,
                stderr=PIPE,
            )
            programs.append(stack.enter_context(program))
        for process in programs:
            output, errors = process.communicate()
            ends.append(FinishedProgram(process.returncode, output, errors))
    return ends


def _save(out: Path, wanted: DryRunPlan, description: dict[str, Any]) -> DryRun:
    """Writes what was run and what every rank has to do; dryrun.json comes last."""
    table = pd.DataFrame({"rank": np.arange(wanted.ranks)})
    for part, counts in zip(COMPUTE_PARTS, wanted.counts.T, strict=True):
        table[dry_run.WORK_OF[part]] = counts
    write_atomically(out / dry_run.WORK, table.to_csv(index=False))
    about = {
        "format_version": 2,
        "kind": DRY_RUN,
        "ranks": wanted.ranks,
        "threads": wanted.threads,
        "ranks_here": wanted.side_by_side,
        "sampled": [{"rank": rank, "why": why} for rank, why in wanted.why.items()],
        "seed": wanted.seed,
        "rates": wanted.rates.source,
        "description": description,
        "warnings": _warnings(out, wanted),
    }
    write_json(out / dry_run.DRY_RUN_FILE, about)
    return dry_run.load_dry_run(out)


def _warnings(out: Path, wanted: DryRunPlan) -> list[str]:
    """The warnings of the plan and of all ranks, each once."""
    warnings = list(wanted.warnings)
    for rank in wanted.why:
        for line in dry_run.load_rank(out / EACH / str(rank)).record.warnings:
            # A rank takes threads of its neighbours for those of other programs.
            by_neighbours = wanted.side_by_side > 1 and line.startswith("foreign load")
            if not by_neighbours:
                warnings.append(line)
    return list(dict.fromkeys(warnings))
