"""A run whose ranks regularly all meet at a barrier: how long it computed, waited and exchanged."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.records import run_files
from spikemark.records.imported import WAIT, CycleTimes
from spikemark.records.phases import BARRIER
from spikemark.records.record import Run

from .usable import cautions, check_range, check_unit, check_waiting, compute_times

FEWEST_MEETINGS = 20


@dataclass(frozen=True)
class Observed:
    """Times in seconds; waiting and exchange are means over ranks, summed over the cycles of a meeting.

    Both are None for plain arrays, whose waiting follows from their compute times.
    """

    compute: np.ndarray  # c[rank, cycle], whole meetings only
    window: int  # cycles from one meeting to the next
    waiting: np.ndarray | None = None  # [meeting]
    exchange: np.ndarray | None = None  # [meeting]
    delay_ratio: int = 1  # of the description
    warnings: tuple[str, ...] = ()
    nodes: tuple[str, ...] | None = None  # the name of the node of each rank; None if unknown
    kind: str = "measured"  # of waiting and exchange: modelled where waiting was not timed
    doubt_s: tuple[float, float] | None = (0.0, 0.0)  # as `Source.doubt_s`, at a meeting

    @property
    def meetings(self) -> int:
        return self.compute.shape[1] // self.window

    def per_meeting(self, of: np.ndarray) -> np.ndarray:
        """Sums over the cycles between meetings, [..., meeting]."""
        return lump(of, self.window)


def observed(given: "Run | CycleTimes | np.ndarray | Observed") -> Observed:
    """What was observed of a run, or of compute times [rank, cycle] in s of ranks that meet in every cycle.

    Raises BadInput if waiting was not timed, if ranks do not all meet at one barrier (with a lag, or in
    groups), for one rank, and for too few meetings.
    """
    if isinstance(given, Observed):
        return given
    if isinstance(given, CycleTimes):
        window, kind = given.delay_ratio, "modelled" if given.column(WAIT) is None else "measured"
        compute = given.compute[:, : given.measured_cycles // window * window]
        of_run = (window, given.waiting, given.exchange, window, given.cautions)
        found = Observed(compute, *of_run, kind=kind, doubt_s=given.doubt_s)
        return _checked(found, str(given.path / run_files.CYCLES))
    if not isinstance(given, Run):
        found = _checked(Observed(np.asarray(given), 1), "cycle times")
        check_unit(found.compute, "cycle times")
        return found
    path, lanes = given.path, [lane for lane in given.record.lanes if lane.ranks > 1]
    if given.record.ranks == 1:
        raise BadInput(f"{path}: ranks=1: there is nobody to wait for; a budget needs at least 2")
    if len(lanes) != 1 or lanes[0].ranks != given.record.ranks or lanes[0].lag:
        raise BadInput(
            f"{path}: schedule={given.schedule}: a budget needs a run in which all ranks meet at one barrier,"
            " as in conventional, placement_only and structure_aware"
        )
    check_waiting(given, "a budget")
    window = lanes[0].period
    whole = given.record.timing.cycles // window * window
    compute = compute_times(given)[:, :whole]

    def per_meeting(phase: str) -> np.ndarray:
        mean = given.phase(phase).mean(axis=0, dtype=np.float64)
        sums = lump(mean, window) if whole else np.zeros(0)
        sums[-1:] += mean[whole:].sum()  # a last, shorter window
        return sums

    waiting, exchange = per_meeting(BARRIER), per_meeting("exchange")
    nodes = given.node_of_rank and tuple(given.node_of_rank)
    found = Observed(compute, window, waiting, exchange, given.delay_ratio, cautions(given), nodes)
    return _checked(found, str(path / run_files.CYCLES))


def _checked(found: Observed, what: str) -> Observed:
    times = found.compute
    if times.ndim != 2 or len(times) < 2:
        raise BadInput(f"{what}: shape {list(times.shape)}; a budget needs [rank, cycle] of at least 2 ranks")
    if found.meetings < FEWEST_MEETINGS:
        raise BadInput(
            f"{what}: cycles={times.shape[1]}: a budget needs at least {FEWEST_MEETINGS * found.window},"
            f" {FEWEST_MEETINGS} meetings"
        )
    check_range(times, what)
    return found
