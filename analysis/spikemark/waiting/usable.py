"""Which times the models of waiting take: what a record or an array must hold, and refusals of the rest."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.words import number
from spikemark.records.phases import BARRIER, COMPUTE_PHASES
from spikemark.records.record import Run

FEWEST_WINDOWS = 20
UNEVEN = 3.0  # mean over median of exchanges from which they are disturbed
LONGEST_CYCLE_S = (
    10.0  # no simulation of a brain takes longer for one; times in microseconds nearly always do
)


def check_waiting(run: Run, what: str) -> None:
    """Raises BadInput, naming what needs it, where waiting at the barrier was not timed."""
    if run.record.timing.phases[BARRIER].mean_s is None:
        raise BadInput(
            f"{run.path}: record.barrier=false: waiting was not timed; {what} needs record.barrier=true"
        )


def kind_of(run: Run) -> str:
    """The kind of the times in a record: measured or simulated."""
    return "simulated" if run.record.kind == "simulated" else "measured"


def compute_times(run: Run) -> np.ndarray:
    """[rank, cycle] in s, float32 as recorded."""
    return sum(run.phase(name) for name in COMPUTE_PHASES if name in run.record.phases)


def cautions(run: Run) -> tuple[str, ...]:
    """Warnings of the record that concern everything computed from its times."""
    if run.record.kind == "simulated":
        dry = "; compute times were measured by a dry run" * ("dry_run" in (run.simulation or {}))
        return (f"{run.path}: simulated: its times are those of a machine that SimGrid simulates{dry}",)
    return tuple(f"{run.path}: {text}" for text in run.record.warnings if text.startswith("oversubscribed"))


def uneven(exchange: np.ndarray, what: object) -> tuple[str, ...]:
    """Says whether exchanges [meeting] in s take far longer on average than usually, and what follows."""
    usual, mean = float(np.median(exchange)), float(exchange.mean())
    if not 0 < UNEVEN * usual < mean:
        return ()
    return (
        f"{what}: exchanges take {number(mean / usual, 2)} times as long on average as in the median: ranks"
        " lose their cores, or the network is disturbed. Meeting less often saves less of that than is"
        " predicted",
    )


def check_times(times: np.ndarray, what: str) -> None:
    """Raises BadInput for anything but enough compute times [rank, cycle] in s of two ranks and more."""
    if times.ndim != 2 or times.size == 0:
        raise BadInput(f"{what}: shape {list(times.shape)}; expected [rank, cycle], neither of them empty")
    if len(times) < 2:
        raise BadInput(f"{what}: ranks=1: there is nobody to wait for; a fit needs at least 2")
    if times.shape[1] < FEWEST_WINDOWS:
        raise BadInput(f"{what}: cycles={times.shape[1]}: a fit needs at least {FEWEST_WINDOWS}")
    check_range(times, what)


def check_unit(times: np.ndarray, what: str) -> None:
    """Raises BadInput for compute times that cannot be meant in seconds, since a cycle would take too long.

    For times that somebody hands over as plain arrays; records state their unit. Who does have such times
    makes a `Source` or an `Observed` of them.
    """
    mean = float(times.mean())
    if mean > LONGEST_CYCLE_S:
        raise BadInput(
            f"{what}: {mean:.4g} s on average; allowed are seconds, at most {LONGEST_CYCLE_S:g} per cycle. If"
            " these are microseconds, multiply them by 1e-6"
        )


def check_range(times: np.ndarray, what: str) -> None:
    """Raises BadInput for compute times that are not finite numbers >= 0."""
    lowest, highest = times.min(), times.max()
    if not (lowest >= 0 and highest < np.inf):
        raise BadInput(f"{what}: a compute time of {highest if lowest >= 0 else lowest} s; allowed is >= 0")
