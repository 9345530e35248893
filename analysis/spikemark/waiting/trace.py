"""The trace of a program whose ranks meet again and again: what they computed, waited and exchanged."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.records.imported import CycleTimes
from spikemark.records.phases import BARRIER, COMPUTE_PHASES
from spikemark.records.record import Run

FEWEST = 20  # meetings or windows
LONGEST_CYCLE_S = 10.0
USUAL_RATIO = 10  # D where nobody names one


@dataclass(frozen=True)
class Trace:
    """Times in seconds. `compute` [rank, cycle]; a meeting of all ranks ends every `period` cycles.

    `waited` and `exchanged` [meeting]: means over ranks; None where not timed. `doubt_s`: how much less and
    more may be waited at a meeting because waiting was derived; None where nothing limits it. `kind`: of
    waiting and exchange. `delay_ratio`: D of the description, where it separates windows. `disturbed`: why
    the times say nothing about speed. `nodes`: of each rank.
    """

    compute: np.ndarray
    period: int = 1
    waited: np.ndarray | None = None
    exchanged: np.ndarray | None = None
    kind: str = "measured"
    doubt_s: tuple[float, float] | None = (0.0, 0.0)
    delay_ratio: int | None = None
    description: dict[str, Any] | None = None
    schedule: str = "conventional"
    warnings: tuple[str, ...] = ()
    disturbed: str = ""
    nodes: tuple[str, ...] | None = None
    path: str = ""

    @property
    def ranks(self) -> int:
        return self.compute.shape[0]

    @property
    def cycles(self) -> int:
        return self.compute.shape[1]

    @property
    def place(self) -> int:
        """Cycles of a window: each is compared with those at the same place of other windows."""
        return self.delay_ratio or self.period

    @property
    def separating(self) -> int:
        """D that separates jitter from drift: that of the run, or else 10; a multiple of the period."""
        return max(-(-(self.delay_ratio or USUAL_RATIO) // self.period) * self.period, 2)

    @cached_property
    def implied(self) -> np.ndarray:
        """Waiting that the compute times explain, [meeting], mean over ranks (eq 3)."""
        times = lump(self.compute, self.period)
        return times.max(axis=0) - times.mean(axis=0, dtype=np.float64)

    @property
    def waits(self) -> np.ndarray:
        """Waiting [meeting]: as timed, or else as implied."""
        return self.implied if self.waited is None else self.waited

    @property
    def overhead(self) -> np.ndarray:
        """Waiting at a meeting beyond what compute times explain, [meeting]; may be negative."""
        return self.waits - self.implied

    @property
    def exchanges(self) -> np.ndarray:
        """Exchange [meeting]; 0 where not timed."""
        return np.zeros_like(self.implied) if self.exchanged is None else self.exchanged

    @property
    def exchange_s(self) -> float:
        """Mean time of an exchange."""
        return max(float(self.exchanges.mean()), 0.0)

    def largest(self, lag: int = 0) -> int | None:
        """The largest exact D if every area has its own ranks; None where nothing says or limits it."""
        if self.description is None:
            return None
        return lanes.largest_between_areas(read(self.description), lag)

    def check(self, window: int, what: str) -> None:
        """Raises BadInput for fewer than 20 windows of so many cycles."""
        if self.cycles < FEWEST * window:
            swapped = ", so the array may be transposed" if self.ranks > self.cycles else ""
            raise BadInput(
                f"{self.path or 'cycle times'}: cycles={self.cycles}: {what} expected at least"
                f" {FEWEST * window}, {FEWEST} windows of [rank, cycle]; it has {self.ranks} ranks{swapped}"
            )


def trace(given: "Run | CycleTimes | np.ndarray | Trace") -> Trace:
    """The trace of a run, of imported times, or of compute times [rank, cycle] in s.

    Raises BadInput if waiting was not timed, if ranks do not all meet at one barrier (with a lag, or in
    groups), for one rank, for too few meetings, and for impossible times.
    """
    if isinstance(given, Trace):
        return given
    found = _of_run(given) if isinstance(given, Run) else _of_times(given)
    times, what = found.compute, found.path or "cycle times"
    if times.ndim != 2 or len(times) < 2:
        raise BadInput(f"{what}: ranks={len(times) if times.ndim == 2 else 'unknown'}: expected at least 2")
    found.check(found.period, "the waiting needs more:")
    lowest, highest = times.min(), times.max()
    if not (lowest >= 0 and highest < np.inf):
        raise BadInput(f"{what}: compute={highest if lowest >= 0 else lowest} s; expected numbers >= 0")
    if not isinstance(given, Run) and times.mean() > LONGEST_CYCLE_S:
        raise BadInput(f"{what}: unit: a cycle of {times.mean():.4g} s; expected at most {LONGEST_CYCLE_S:g}")
    return found


def _of_run(run: Run) -> Trace:
    path, record = str(run.path), run.record
    used = [lane for lane in record.lanes if lane.ranks > 1]
    if record.ranks == 1:
        raise BadInput(f"{path}: ranks=1: expected at least 2, one rank waits for nobody")
    if len(used) != 1 or used[0].ranks != record.ranks or used[0].lag:
        raise BadInput(
            f"{path}: schedule={run.schedule}: expected a run in which all ranks meet at one barrier, as in"
            " conventional, placement_only and structure_aware"
        )
    if record.timing.phases[BARRIER].mean_s is None:
        raise BadInput(f"{path}: record.barrier=false: waiting was not timed; expected record.barrier=true")
    period, d, simulated = used[0].period, run.delay_ratio, record.kind == "simulated"
    whole = record.timing.cycles // period * period
    compute = sum(run.phase(name) for name in COMPUTE_PHASES if name in record.phases)[:, :whole]

    def per_meeting(phase: str) -> np.ndarray:
        mean = run.phase(phase).mean(axis=0, dtype=np.float64)
        sums = lump(mean, period) if whole else np.zeros(0)
        sums[-1:] += mean[whole:].sum()  # a last, shorter window
        return sums

    return Trace(
        compute, period, per_meeting(BARRIER), per_meeting("exchange"),
        "simulated" if simulated else "measured",
        delay_ratio=d if 1 < d <= record.timing.cycles // 2 else None,
        description=record.description, schedule=run.schedule,
        warnings=tuple(f"{path}: {text}" for text in record.warnings if text.startswith("oversubscribed")),
        disturbed=run.disturbed(shared=False).partition(": ")[2],
        nodes=run.node_of_rank and tuple(run.node_of_rank), path=path,
    )  # fmt: skip


def _of_times(times: CycleTimes | np.ndarray) -> Trace:
    if not isinstance(times, CycleTimes):
        return Trace(np.asarray(times), kind="modelled")
    period = times.about.meets_every
    return Trace(
        times.compute[:, : times.about.cycles // period * period], period, times.waiting, times.exchange,
        "measured" if times.doubt_s == (0.0, 0.0) else "modelled", times.doubt_s,
        delay_ratio=period if period > 1 else None, warnings=times.cautions, path=str(times.path),
    )  # fmt: skip
