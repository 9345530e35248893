"""What waiting and run time would be if something about a run were different: `CHANGES`, one or several."""

from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.records.record import Run

from . import PREDICTORS
from .budget import USUAL_RATIO
from .changes import CHANGES, Situation
from .predictor import Prediction
from .source import source

PREDICTOR = "replay"
TOGETHER = "+"
COMBINED = ("halve-jitter+level-ranks", "double-delay-ratio+halve-latency", "double-ranks+double-delay-ratio")


@dataclass(frozen=True)
class Outcome:
    """What a change makes of the run, times in s over the run; computing is taken as known.

    `prediction` is None where it was refused, for the reason given; `interval` is that of the waiting (95 %)
    and allows for what the change itself does not know.
    """

    name: str
    prediction: Prediction | None
    interval: tuple[float, float] | None = None
    refused: str = ""

    @property
    def runtime_interval(self) -> tuple[float, float]:
        rest = self.prediction.runtime_s - self.prediction.waiting_s
        return rest + self.interval[0], rest + self.interval[1]


def situation(runs: list[Run], schedule: str = "conventional", delay_ratio: int = 1) -> Situation:
    """Where conventional runs of one setup stand; raises BadInput as `source` does.

    Jitter is told from drift by the D of their description, as in a budget.
    """
    own = runs[0].delay_ratio if runs else 1
    return Situation(source(runs), schedule, delay_ratio, told_apart=own if own > 1 else USUAL_RATIO)


def whatif(base: Situation, names=(*CHANGES, *COMBINED), predictor: str = PREDICTOR) -> list[Outcome]:
    """The base, called `base`, and one outcome per name; `+` joins changes made one after the other.

    Changes outside the range in which predictions have been compared with the truth are refused. Raises
    BadInput for unknown names.
    """
    if predictor not in PREDICTORS:
        raise BadInput(f"predictor={predictor!r}: known are {', '.join(PREDICTORS)}")
    for name in names:
        unknown = [part for part in name.split(TOGETHER) if part not in CHANGES]
        if unknown:
            known = ", ".join(CHANGES)
            raise BadInput(f"change={unknown[0]!r}: known are {known}, several joined by {TOGETHER}")
    return [_outcome(base, name, predictor) for name in ("", *names)]


def _outcome(base: Situation, name: str, predictor: str) -> Outcome:
    try:
        now = _changed(base, name)
        made = _predict(now, predictor)
        ends = [base.with_share(share) for share in base.split.shares()[1:]] if now.half_s else []
        shifts = [_predict(_changed(end, name), predictor).waiting_s - made.waiting_s for end in ends]
        low, high = made.interval
        low, high = low - now.half_s + min(shifts, default=0.0), high + now.half_s + max(shifts, default=0.0)
        return Outcome(name or "base", made, (max(low, 0.0), high))
    except BadInput as reason:
        return Outcome(name or "base", None, refused=str(reason))


def _changed(now: Situation, name: str) -> Situation:
    for part in name.split(TOGETHER) if name else ():
        now = CHANGES[part](now)
    return now


def _predict(now: Situation, predictor: str) -> Prediction:
    return PREDICTORS[predictor].fit(now.source).predict(now.schedule, now.delay_ratio, now.ranks)
