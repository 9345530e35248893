"""How far real runs were from the model itself, beyond what the values of a profile leave open.

Intervals of predictions follow from those of the profile's values. A real run also differs because the model
leaves things out: caches are cold in cycles of many phases, spikes are copied, the scatter of short cycles is
not that of long ones. Here a prediction gets wider by what such runs showed (docs/ledger.md). Two predictions
beside each other share this error: what makes one of them slower makes the other one slower, too. Ratios and
verdicts therefore move both to the same end of it at once.

A simulated machine has the compute times of the model. Only its messages are others, so predictions of
simulated runs get wider by how far the two agree (docs/simulation.md), and leave measured tables of calls
out, which no simulation has.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile
from spikemark.quantities.quantity import Quantity
from spikemark.records.phases import COMPUTE

from . import by_part
from .by_part import OfPart
from .loads import Loads
from .predict import POWER, Prediction
from .simulators import MINI_APP

FACTOR = "real_time_factor"
WAITING, EXCHANGE, THREAD_WAIT = "waiting", "exchange", "thread_wait"
#: The factors by which a part of a real run takes less and more than the model says (95 %), from runs of the
#: mini-app on quiet virtual machines with calibrated profiles.
PARTS = {
    "deliver": (0.6, 2.0), "update": (0.85, 1.8), "thread_wait": (0.3, 4.0), "collocate": (0.3, 25.0),
    "waiting": (0.2, 2.5), "exchange": (0.6, 1.5),
}  # fmt: skip
#: The same for simulated runs.
SIMULATED = {"waiting": (0.7, 1.3), "exchange": (0.7, 1.3)}
#: Seconds that exchanges take besides their messages: for every spike that a rank sends or receives, and for
#: every window.
PER_SPIKE_S, PER_WINDOW_S = 100e-9, 1.5e-6
#: How much the threads of a rank may differ besides their work, as a share of their computing: n threads wait
#: in proportion to sqrt(2 ln n). On a quiet virtual machine, two threads waited 2 to 7 % of it.
OF_THREADS = 0.06
#: Parts that a dry run measured.
OF_DRY_RUN = ("deliver", "update", "thread_wait", "collocate")
#: Figures that grow with the real-time factor.
WITH_FACTOR = (*POWER[1:], "cost_eur")
SAID = "Intervals include the error of the model, as runs on calibrated machines showed it (docs/ledger.md)."
TABLES = "interconnect.tables"
#: The ends of the error.
LESS, MORE = "less", "more"


@dataclass(frozen=True)
class Missed:
    """How much smaller and larger a figure may be because of the error of the model."""

    less: float
    more: float

    def widened(self, figure: Quantity) -> Quantity:
        """The figure with both errors: that of the profile's values, and this one."""
        low = figure.value - float(np.hypot(figure.value - figure.low, self.less))
        high = figure.value + float(np.hypot(figure.high - figure.value, self.more))
        return replace(figure, low=max(0.0, low), high=high)

    def and_more(self, value: float) -> "Missed":
        """The same error with a figure that may be larger by this, too."""
        return replace(self, more=self.more + value)

    def change(self, end: str) -> float:
        """By how much the figure differs from the model at one end of the error."""
        return self.more if end == MORE else -self.less


def for_simulated(profile: Profile | Machine) -> Profile | Machine:
    """The profile as a simulation uses it: without measured tables of calls; of a machine, all parts."""
    if isinstance(profile, Machine):
        parts = {
            name: replace(part, profile=for_simulated(part.profile)) for name, part in profile.parts.items()
        }
        return replace(profile, parts=parts)
    kept = {path: value for path, value in profile.values.items() if not path.startswith(TABLES)}
    return replace(profile, values=kept)


def widened(made: Prediction, simulated: bool = False) -> Prediction:
    """The prediction of a real run, or of a simulated one: times, energy and cost with wider intervals.

    Predictions of other simulators stay as they are: their factors were fitted to published times.
    """
    if made.simulator != MINI_APP.name:
        return made
    missed = _missed(made, simulated)
    figures = made.figures | {name: one.widened(made.figures[name]) for name, one in missed.items()}
    factor = figures[FACTOR]
    if factor:
        whole = _together(missed)
        figures[FACTOR] = whole.widened(factor)
        for name in WITH_FACTOR:
            if one := figures[name]:
                share = one.value / factor.value
                figures[name] = Missed(whole.less * share, whole.more * share).widened(one)
    parts = tuple(_part(made, part, missed) for part in made.by_part)
    return replace(made, figures=figures, by_part=parts)


def at_end(made: Prediction, end: str) -> Prediction:
    """The prediction, not widened, of a real run with all parts at one end of the error: LESS or MORE.

    Intervals keep their proportion to the numbers. Predictions of other simulators stay as they are.
    """
    factor = made.figures[FACTOR]
    if made.simulator != MINI_APP.name or not factor.value:
        return made
    missed = _missed(made, False)
    figures = dict(made.figures)
    for name, one in missed.items():
        if value := figures[name].value:
            figures[name] = figures[name].times(1 + one.change(end) / value)
    times = 1 + _together(missed).change(end) / factor.value
    figures |= {name: one.times(times) for name in (FACTOR, *WITH_FACTOR) if (one := figures[name])}
    return replace(made, figures=figures)


def of_ratio(
    ratio: Quantity, one: tuple[Mapping[str, float], Loads], other: tuple[Mapping[str, float], Loads]
) -> Quantity:
    """The time of one way to run a network over that of another, with the error that both share.

    `ratio`: as the values of the profile leave it open. Of each way: seconds per simulated second by part,
    and its loads. Each part is moved to its ends in both ways at once, and squares of the changes are added.
    """
    wholes = [sum(times[name] for name in PARTS) for times, _ in (one, other)]
    missed = [_of_parts(times, loads, PARTS) for times, loads in (one, other)]
    below = above = 0.0
    for name in PARTS:
        for end in (LESS, MORE):
            first, second = (
                1 + of[name].change(end) / whole for of, whole in zip(missed, wholes, strict=True)
            )
            change = ratio.value * (first / second - 1)
            below, above = below + min(change, 0.0) ** 2, above + max(change, 0.0) ** 2
    return Missed(float(np.sqrt(below)), float(np.sqrt(above))).widened(ratio)


def _missed(made: Prediction, simulated: bool) -> dict[str, Missed]:
    """The error of each part that is known and was not measured by a dry run."""
    factors = SIMULATED if simulated else PARTS
    if made.measured is not None:
        factors = {name: each for name, each in factors.items() if name not in OF_DRY_RUN}
    times = {name: value for name in factors if (value := made.figures[name].value) is not None}
    return _of_parts(times, made.loads, {name: factors[name] for name in times}, simulated)


def _of_parts(
    times: Mapping[str, float], loads: Loads, factors: dict[str, tuple[float, float]], simulated: bool = False
) -> dict[str, Missed]:
    found = {name: Missed((1 - low) * times[name], (high - 1) * times[name])
             for name, (low, high) in factors.items()}  # fmt: skip
    if EXCHANGE in found and not simulated:
        found[EXCHANGE] = found[EXCHANGE].and_more(_handling(loads))
    if THREAD_WAIT in found and not simulated:
        computing = sum(times[name] for name in COMPUTE if name in times)
        spread = OF_THREADS * np.sqrt(2 * np.log(loads.threads))
        found[THREAD_WAIT] = found[THREAD_WAIT].and_more(float(spread) * computing)
    return found


def _together(missed: dict[str, Missed]) -> Missed:
    """That of the whole: what shortens one part in the model shortens the others, so errors go together."""
    return Missed(sum(m.less for m in missed.values()), sum(m.more for m in missed.values()))


def _part(made: Prediction, part: OfPart, missed: dict[str, Missed]) -> OfPart:
    """A part of a machine, with as much more in proportion as the same figures of all ranks."""

    def relative(names: tuple[str, ...]) -> Missed:
        of = sum(made.figures[name].value for name in names)
        sums = [sum(getattr(missed[n], side) for n in names if n in missed) for side in ("less", "more")]
        return Missed(*(one / of if of else 0.0 for one in sums))

    whole, computing = relative((*COMPUTE, WAITING, EXCHANGE)), relative(COMPUTE)
    of = {by_part.COMPUTING: computing, by_part.WAITED: relative((WAITING,))}
    of |= {by_part.SHARE: computing, by_part.ENERGY: whole, by_part.PER_EVENT: whole}
    figures = dict(part.figures)
    for name, error in of.items():
        if one := figures[name]:
            figures[name] = Missed(error.less * one.value, error.more * one.value).widened(one)
    if share := figures[by_part.SHARE]:
        figures[by_part.SHARE] = replace(share, high=min(1.0, share.high))
    return replace(part, figures=figures)


def _handling(loads: Loads) -> float:
    """Seconds per simulated second that exchanges may take besides their messages."""
    windows = sum(1 / lane.period for lane in loads.lanes if not lane.alone)
    spikes = float(np.max(loads.arriving)) + float(np.max(loads.collocated))
    return (PER_SPIKE_S * spikes + PER_WINDOW_S * windows) / loads.cycle_s
