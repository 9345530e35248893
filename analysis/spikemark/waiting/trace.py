"""The trace of a program whose ranks meet again and again: what they computed, waited and
exchanged.

`trace` makes one of a run, of imported times or of an array. A trace of a run also knows what its
ranks had to do (`work`), so that schedules that place neurons elsewhere can be replayed.
"""

import shlex
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models import statistics
from spikemark.models.between_runs import rank_sd
from spikemark.models.statistics import lump
from spikemark.network import lanes
from spikemark.network.description import read_description
from spikemark.network.schedules import find_schedule
from spikemark.records.imported import CycleTimes
from spikemark.records.imported.other_units import (
    seem_other_units,
    seem_unmeasured,
    seem_whole_cycles,
    seems_another_unit,
)
from spikemark.records.phases import BARRIER, COMPUTE_PHASES
from spikemark.records.record import Run

from .interruptions import Interruptions, interruptions
from .work import Work, described

MIN_TRACE_WINDOWS = 20  #: meetings or windows of a trace
MAX_MEAN_CYCLE_S = 10.0
USUAL_RATIO = 10  #: D where nobody names one
UNPLACED = (
    "these times do not tell what each rank computes when areas have ranks of their own; expected"
    " times of such a run (of the mini-app: --set schedule=placement_only), and `spikemark import"
    " FILE --placement area`"
)
DEALT = "round_robin"  #: the placement of which no rank has areas of its own


@dataclass(frozen=True)
class CycleTrace:
    """Times in seconds of ranks that meet at the end of every `period` cycles.

    What is asked of a run follows from these: who waited for whom (ladder.py), waiting under
    another schedule (replay.py) or after a change (changes.py), and what theory says (theory.py).
    The parts of a cycle follow on each other: ranks compute, wait for the slowest at a meeting,
    and exchange spikes. `trace` makes one of a run, of imported times, or of an array.

    `work` holds arrays [rank, cycle], too: who cuts cycles off cuts them off there.

    Without `work` and `unplaced`, compute times hold for every schedule, as planted ones do.

    Example:
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> run = trace(times)
        >>> run.ranks, run.cycles, run.jitter_cycles
        (4, 1000, 10)
    """

    compute: np.ndarray  #: [rank, cycle]
    period: int = 1  #: cycles from one meeting of all ranks to the next
    waited: np.ndarray | None = None  #: [meeting], mean over ranks; None where not timed
    exchanged: np.ndarray | None = None  #: [meeting], mean over ranks; None where not timed
    kind: str = "measured"  #: of waiting and exchange
    #: How much less and more may be waited at a meeting because waiting was derived; None where
    #: nothing limits it.
    doubt_s: tuple[float, float] | None = (0.0, 0.0)
    delay_ratio: int | None = None  #: D of the description, where it separates windows
    description: dict[str, Any] | None = None
    schedule: str = "conventional"
    warnings: tuple[str, ...] = ()
    disturbed: str = ""  #: why the times say nothing about speed
    doubtful: str = ""  #: why they seem to be wrong, so that nothing is predicted from them
    shares_cores: bool = False  #: more threads than cores compute
    #: Spread (SD) of the speed of a rank from one run to another, as a share, assumed; 0 for times
    #: that do not differ from run to run, as simulated and planted ones.
    rank_sd: float = 0.0
    nodes: tuple[str, ...] | None = None  #: of each rank
    work: Work | None = None  #: what the ranks had to do
    unplaced: str = ""  #: why nobody knows it
    path: str = ""
    first_rank: int = 0  #: what the first rank is called, 0 or 1

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.compute)

    @property
    def cycles(self) -> int:
        """Number of cycles."""
        return int(self.compute.shape[1])

    @property
    def unsteady(self) -> bool:
        """Whether ranks lost their cores to other programs or to each other."""
        return bool(self.disturbed) or self.shares_cores

    @property
    def window_cycles(self) -> int:
        """Cycles after which the work repeats: each is compared with those at the same place of
        other windows.
        """
        return self.delay_ratio or self.period

    @property
    def jitter_cycles(self) -> int:
        """Cycles over which jitter averages out and drift does not: the D of theory, 2 or more.

        D of the run, or else the largest that its delays allow and that leaves enough windows, or
        else 10; rounded up to a multiple of the period.
        """
        return max(-(-self._jitter_ratio // self.period) * self.period, 2)

    @property
    def _jitter_ratio(self) -> int:
        """`jitter_cycles` before they are rounded up."""
        if self.delay_ratio is not None:
            return self.delay_ratio
        exact = self.largest() if self.period == 1 else None
        ratio = min(exact or 1, self.cycles // MIN_TRACE_WINDOWS)
        return ratio if ratio > 1 else USUAL_RATIO

    @cached_property
    def implied(self) -> np.ndarray:
        """Waiting that the compute times explain, [meeting], mean over ranks (L26, eq 3)."""
        times = lump(self.compute, self.period)
        waiting: np.ndarray = times.max(axis=0) - times.mean(axis=0, dtype=np.float64)
        return waiting

    @cached_property
    def interrupted(self) -> list[Interruptions]:
        """The interruptions of each rank."""
        return interruptions(self.compute, self.window_cycles)

    @property
    def waits(self) -> np.ndarray:
        """Waiting [meeting]: as timed, or else as implied."""
        return self.implied if self.waited is None else self.waited

    @property
    def overhead(self) -> np.ndarray:
        """Waiting at a meeting beyond what compute times explain, [meeting]; may be negative."""
        return np.asarray(self.waits - self.implied)

    @property
    def exchanges(self) -> np.ndarray:
        """Exchange [meeting]; 0 where not timed."""
        return np.zeros_like(self.implied) if self.exchanged is None else self.exchanged

    @property
    def exchange_s(self) -> float:
        """Mean time of an exchange."""
        return max(float(self.exchanges.mean()), 0.0)

    def node_of(self, rank: int) -> str | None:
        """The node of a rank; None where all are on one, or nobody knows."""
        if self.nodes is None or len(set(self.nodes)) < 2:
            return None
        return self.nodes[rank]

    def largest(self, lag: int = 0) -> int | None:
        """The largest D that is exact if every area has ranks of its own.

        None where no description says it, or nothing limits it.
        """
        if self.description is None:
            return None
        return lanes.largest_between_areas(read_description(self.description), lag)

    def check(self, window: int, purpose: str) -> None:
        """Raises BadInput for fewer than 20 windows of so many cycles, saying for which purpose."""
        if self.cycles >= MIN_TRACE_WINDOWS * window:
            return
        needed = (
            f"expected at least {MIN_TRACE_WINDOWS * window}, {MIN_TRACE_WINDOWS} windows of"
            f" [rank, cycle]; it has {self.ranks} ranks"
        )
        if self.ranks > self.cycles:
            needed += ", so the array may be transposed"
        line = f"cycles={self.cycles}: {purpose} {needed}"
        raise BadInput(
            line,
            field="cycles",
            file=self.path or "cycle times",
            code="range",
        )


def trace(times: "Run | CycleTimes | np.ndarray | CycleTrace") -> CycleTrace:
    """The trace of a run, of imported times, or of compute times [rank, cycle] in s.

    Raises BadInput if waiting was not timed, if ranks do not all meet at one barrier (with a lag,
    or in groups), for one rank, for too few meetings, for impossible times, and for what is no
    number.

    Example:
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> trace(times).compute.shape  # [rank, cycle] in s
        (4, 1000)
    """
    if isinstance(times, CycleTrace):
        return times
    if isinstance(times, Run):
        run = _of_run(times)
    elif isinstance(times, CycleTimes):
        run = _of_imported(times)
    else:
        run = CycleTrace(
            _in_floating_point(times),
            kind="modelled",
            unplaced=UNPLACED,
            rank_sd=rank_sd(None),
        )
        _check_ranks(run.compute, "cycle times")
        other_units = seem_other_units(run.compute)
        remarks = [*other_units, *seem_unmeasured(run.compute)]
        remarks += seems_another_unit(float(np.median(run.compute.mean(axis=0, dtype=np.float64))))
        remarks += seem_whole_cycles(run.compute)
        run = replace(run, warnings=tuple(remarks), doubtful="".join(other_units[:1]))
    file = run.path or "cycle times"
    _check_ranks(run.compute, file)
    run.check(run.period, "the waiting needs more:")
    _check_times(run.compute, file)
    if not isinstance(times, Run):
        _check_unit(run.compute, file)
    return run


def _in_floating_point(compute: np.ndarray) -> np.ndarray:
    """Compute times [rank, cycle] in a precision that changes of them can be computed in; those in
    single precision stay so. Raises BadInput for what is no number.
    """
    array = np.asarray(compute)
    if array.dtype in (np.float32, np.float64):
        return array
    return statistics.times(array)


def _check_ranks(compute: np.ndarray, file: str) -> None:
    """Raises BadInput for times that are not those of two or more ranks, [rank, cycle]."""
    ranks = str(len(compute)) if compute.ndim == 2 else "unknown"
    if ranks in ("unknown", "0", "1"):
        line = f"ranks={ranks}: expected at least 2"
        raise BadInput(line, field="ranks", file=file, code="range")


def _check_times(compute: np.ndarray, file: str) -> None:
    """Raises BadInput for times that are below 0 or no numbers."""
    lowest = compute.min()
    highest = compute.max()
    if not (lowest >= 0 and highest < np.inf):
        impossible = highest if lowest >= 0 else lowest
        line = f"compute={impossible} s; expected numbers >= 0"
        raise BadInput(line, field="compute", file=file, code="range")


def _check_unit(compute: np.ndarray, file: str) -> None:
    """Raises BadInput for times that seem to be in another unit than seconds."""
    of_ranks = compute.mean(axis=1, dtype=np.float64)
    mean_s = float(np.median(of_ranks))  # one rank may be in a unit of its own
    if mean_s > MAX_MEAN_CYCLE_S:
        line = f"unit: a cycle of {mean_s:.4g} s; expected at most {MAX_MEAN_CYCLE_S:g}"
        raise BadInput(line, field="unit", file=file)


def _of_run(run: Run) -> CycleTrace:
    """The trace of a run of the mini-app. Raises BadInput where ranks do not meet at a barrier."""
    path = str(run.path)
    record = run.record
    period = _period(run)
    cycles_of_windows = record.timing.cycles // period * period
    description: dict[str, Any] | None = record.description
    work = None
    unplaced = ""
    try:
        work = _work(run)
    except BadInput as refusal:  # by Python, though the mini-app took the description
        description = None
        unplaced = f"{path}: {refusal}"
    separates = 1 < run.delay_ratio <= record.timing.cycles // 2
    oversubscribed = [text for text in record.warnings if text.startswith("oversubscribed")]
    inject = record.description.get("inject") or {}
    node_of_rank = run.node_of_rank
    return CycleTrace(
        compute=_compute(run)[:, :cycles_of_windows],
        period=period,
        waited=_per_meeting(run, BARRIER, period),
        exchanged=_per_meeting(run, "exchange", period),
        kind="simulated" if record.kind == "simulated" else "measured",
        delay_ratio=run.delay_ratio if separates else None,
        description=description,
        schedule=run.schedule,
        warnings=tuple(f"{path}: {text}" for text in oversubscribed),
        disturbed=run.disturbed(shared=False).partition(": ")[2],
        shares_cores=bool(oversubscribed) and inject.get("wait") != "sleep",
        rank_sd=0.0 if record.kind == "simulated" else rank_sd(record.host.virtual_machine),
        nodes=tuple(node_of_rank) if node_of_rank else None,
        work=work,
        unplaced=unplaced,
        path=path,
    )


def _period(run: Run) -> int:
    """Cycles from one meeting of all ranks of a run to the next.

    Raises BadInput where not all of them meet at one barrier, or waiting was not timed.
    """
    record = run.record
    if record.ranks == 1:
        again = _another_run(run, 2, "2-ranks", f"schedule={run.schedule}")
        line = f"ranks=1: expected at least 2, one rank waits for nobody: {again}"
        raise BadInput(
            line,
            field="ranks",
            file=run.path,
            code="range",
        )
    lanes_between_ranks = [lane for lane in record.lanes if lane.ranks > 1]
    lane = lanes_between_ranks[0] if len(lanes_between_ranks) == 1 else None
    if lane is None or lane.ranks != record.ranks or lane.lag:
        again = _another_run(run, record.ranks, "conventional", "schedule=conventional")
        line = (
            f"schedule={run.schedule}: expected a run in which all ranks meet at one barrier, as in"
            f" conventional, placement_only and structure_aware: {again}"
        )
        raise BadInput(
            line,
            field="schedule",
            file=run.path,
            code="conflict",
        )
    if record.timing.phases[BARRIER].mean_s is None:
        again = _another_run(run, record.ranks, "barrier", "record.barrier=true")
        line = f"record.barrier=false: waiting was not timed; expected record.barrier=true: {again}"
        raise BadInput(
            line,
            field="record.barrier",
            file=run.path,
            code="conflict",
        )
    return lane.period


def _another_run(run: Run, ranks: int, name: str, setting: str) -> str:
    """The command of a run of the same network that can be answered.

    Args:
        run: that cannot.
        ranks: of the other one.
        name: that its folder's name ends in.
        setting: of the description, FIELD=VALUE.
    """
    out = shlex.quote(f"{run.path}-{name}")
    return (
        f"OMP_NUM_THREADS={run.record.threads} mpirun -n {ranks} miniapp network.json --out {out}"
        f" --set {setting}"
    )


def _compute(run: Run) -> np.ndarray:
    """Compute times of a run in s, float32 [rank, cycle]."""
    first, *others = [run.phase(name) for name in COMPUTE_PHASES if name in run.record.phases]
    compute = first
    for times in others:
        compute = compute + times
    return compute


def _per_meeting(run: Run, phase: str, period: int) -> np.ndarray:
    """Seconds of a phase at each meeting, mean over ranks, [meeting].

    What comes after the last whole window counts to its meeting.
    """
    mean = run.phase(phase).mean(axis=0, dtype=np.float64)
    cycles_of_windows = len(mean) // period * period
    sums = lump(mean, period) if cycles_of_windows else np.zeros(0)
    sums[-1:] += mean[cycles_of_windows:].sum()
    return sums


def _work(run: Run) -> Work:
    """What the ranks of a run did. Raises BadInput for a description that is refused."""
    record = run.record
    description = record.described
    fired = run.activity
    if fired is None:
        fired = described(description, record.timing.cycles)
    return Work(
        description=description,
        placement=description.placement or find_schedule(description.schedule).placement,
        ranks=record.ranks,
        threads=record.threads,
        times={name: run.phase(name) for name in COMPUTE_PHASES if name in record.phases},
        fired=fired,
        inject=record.description.get("inject") or {},
    )


def _of_imported(times: CycleTimes) -> CycleTrace:
    """The trace of cycle times that another program measured."""
    period = times.about.meets_every
    dealt = times.about.placement in (None, DEALT)
    return CycleTrace(
        compute=times.compute[:, : times.about.cycles // period * period],
        period=period,
        waited=times.waiting,
        exchanged=times.exchange,
        kind="measured" if times.doubt_s == (0.0, 0.0) else "modelled",
        doubt_s=times.doubt_s,
        delay_ratio=period if period > 1 else None,
        warnings=times.cautions,
        doubtful=times.doubtful,
        rank_sd=rank_sd(None),
        unplaced=UNPLACED if dealt else "",
        path=str(times.path),
        first_rank=times.about.first_rank,
    )
