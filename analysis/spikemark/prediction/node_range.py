"""How many nodes of a machine a target needs: a range, since times are intervals.

With so many nodes a target is `excluded` if even the low end of the interval of the real-time factor misses
it, `possible` if that reaches it, `likely` if the middle does and the network is likely to fit into memory,
and `sure` if the high end does and the network is known to fit. An interval that holds the target and spans
more than a factor of `TELLING` leaves all open, so nothing is likely then, wherever its middle lies.

The range goes from the fewest nodes with which the target is possible to the fewest with which it is sure;
where it never is, to those with which it is most likely.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing, worst

from .calls import changes
from .model_error import LESS, MORE, at_end
from .predict import Prediction

EXCLUDED, POSSIBLE, LIKELY, SURE = "excluded", "possible", "likely", "sure"
#: Of a target that lies in an interval which is too wide to say anything about it.
OPEN = f"{POSSIBLE}, but cannot be told"
#: Times: if the ends of an interval that holds a target are further apart, it says nothing about the target.
TELLING = 10.0
#: What the words mean, in the order in which they become surer.
WORDS = {
    EXCLUDED: "even the low end of the interval of the real-time factor misses the target",
    POSSIBLE: "the low end of the interval reaches the target",
    LIKELY: "the middle of the interval reaches the target, the interval spans at most a factor of"
    f" {TELLING:g}, and the network is likely to fit into memory",
    SURE: "the whole interval reaches the target, and the network is known to fit into memory",
}
ENDLESS = " *"  # beside an interval over a range of nodes that has no sure end
UNJUDGED = "not judged"  # a machine with a value that is likely a mistake
#: Nodes that are tried, with up to MOST_RANKS ranks.
MOST_RANKS = 256
NODES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
MOST_NODES = NODES[-1]
HELPS = 1.1  # times as fast, or as slow, from where more nodes are worth a word


def up_to(
    most: int | None, first: tuple[int, ...], between: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Nodes that are tried first, and those between them, up to the `most` that a machine has.

    That number itself is among the first. Raises BadInput for one that no search reaches.
    """
    if most is None:
        return first, between
    if not 1 <= most <= MOST_NODES:
        raise BadInput(f"nodes={most}; allowed: 1 to {MOST_NODES}")
    return (*(n for n in first if n < most), most), tuple(n for n in between if n < most)


def factor(p: Prediction) -> float:
    """The real-time factor."""
    return interval(p).value


def interval(p: Prediction) -> Quantity:
    """The real-time factor with its interval; it is never missing."""
    return p.figures["real_time_factor"]


def word(p: Prediction, target: float) -> str:
    """How sure it is that a prediction reaches a target, as a key of WORDS."""
    within = margin(p, target)
    if p.fits is False or within < -1:
        return EXCLUDED
    if within < 0 or not p.roomy or vague(p, target):
        return POSSIBLE
    return SURE if within >= 1 and p.fits else LIKELY


def reached(p: Prediction, target: float) -> str:
    """How sure it is that a prediction reaches a target, and that this cannot be told where nothing can."""
    found = word(p, target)
    return OPEN if found == POSSIBLE and vague(p, target) else found


def vague(p: Prediction, target: float) -> bool:
    """True if the interval holds the target, but is too wide to say anything about it."""
    found = interval(p)
    return found.low <= target < found.high and found.high > TELLING * found.low


def margin(p: Prediction, target: float) -> float:
    """Where a target lies in the interval: −1 at its low end, 0 at the middle, 1 at its high end."""
    found = interval(p)
    distance = target - found.value
    width = found.high - found.value if distance > 0 else found.value - found.low
    if distance == 0:
        return 0.0
    return distance / width if width > 0 else float("inf") * distance


@dataclass(frozen=True)
class Candidate:
    """A machine, and all numbers of nodes that were tried. `refused`: nodes -> why they cannot run it.

    `implausible`: its values that no machine is likely to have, so that nothing is said of the target.
    `modelled`: what was tried without the error of the model, where intervals of `tried` include that.
    """

    name: str
    title: str
    cores: int
    tried: list[Prediction]
    refused: dict[int, str]
    target: float
    implausible: tuple[str, ...] = ()
    modelled: list[Prediction] = field(default_factory=list)

    @property
    def at_ends(self) -> list["Candidate"]:
        """The machine without the error of the model, and at both ends of it, which all machines share."""
        if not self.modelled:
            return [self]
        ends = [[at_end(p, end) for p in self.modelled] for end in (LESS, MORE)]
        return [replace(self, tried=tried, modelled=[]) for tried in (self.modelled, *ends)]

    def at(self, target: float) -> "Candidate":
        """The same machine with another target."""
        return replace(self, target=target)

    @property
    def usable(self) -> list[Prediction]:
        """The predictions that fit into memory, or may."""
        return [p for p in self.tried if p.fits is not False]

    def word(self, p: Prediction) -> str:
        """How sure the target is with so many nodes."""
        return UNJUDGED if self.implausible else word(p, self.target)

    def first(self, word: str) -> Prediction | None:
        """The fewest nodes with which the target is at least as sure as the word says; None if never."""
        if self.implausible:
            return None
        order = list(WORDS)
        return next((p for p in self.usable if order.index(self.word(p)) >= order.index(word)), None)

    def gaps(self, word: str) -> list[int]:
        """More nodes than the fewest that are so sure, with which the target is less sure again."""
        order, first = list(WORDS), self.first(word)
        if first is None:
            return []
        later = [p for p in self.usable if p.nodes > first.nodes]
        return [p.nodes for p in later if order.index(self.word(p)) < order.index(word)]

    @property
    def jumps(self) -> list[tuple[Prediction, Prediction, str]]:
        """Neighbours, of which more nodes take much longer, and the change of algorithm that is why."""
        return [
            (p, q, why)
            for p, q in pairwise(self.usable)
            if factor(q) > HELPS * factor(p)
            for why in changes(p.calls, q.calls)[:1]
        ]

    @property
    def certainty(self) -> str:
        """How sure the target is with the best number of nodes."""
        if self.implausible:
            return UNJUDGED
        order = list(WORDS)
        return max((self.word(p) for p in self.usable), key=order.index, default=EXCLUDED)

    @property
    def needed(self) -> Prediction | None:
        """The fewest nodes with which the target is likely."""
        return self.first(LIKELY)

    @property
    def sure(self) -> bool:
        """Is the target sure on some number of nodes? Otherwise its range of nodes has no upper end."""
        return self.first(SURE) is not None

    @property
    def last(self) -> Prediction | None:
        """The end of the range; None if the target is excluded."""
        if self.first(POSSIBLE) is None:
            return None
        return self.first(SURE) or max(self.usable, key=lambda p: margin(p, self.target))

    @property
    def span(self) -> list[Prediction]:
        """The predictions of the range of nodes; none if the target is excluded."""
        first, last = self.first(POSSIBLE), self.last
        if first is None or last is None:
            return []
        return [p for p in self.usable if first.nodes <= p.nodes <= last.nodes]

    @property
    def fastest(self) -> Prediction:
        """The prediction with the shortest middle time; of usable ones."""
        return min(self.usable, key=factor)

    @property
    def chosen(self) -> Prediction:
        """The prediction to look at: the fewest likely nodes, else the end of the range, else the fastest."""
        return self.needed or self.last or self.fastest

    def over_range(self, name: str) -> Quantity:
        """A figure with the interval that holds it on every number of nodes of the range."""
        return self.hull(lambda p: p.figures[name])

    def hull(self, figure: Callable[[Prediction], Quantity]) -> Quantity:
        """The same for what `figure` gives for a prediction; missing if the target is excluded."""
        if not self.span:
            mark = UNJUDGED if self.implausible else EXCLUDED
            return missing(f"{self.name}: the target is {mark}", mark=mark)
        found = [figure(p) for p in self.span]
        lacking = [f for f in found if not f]
        if lacking:
            return lacking[0]
        middle = figure(self.chosen)
        low, high = min(f.low for f in found), max(f.high for f in found)
        sign = "" if self.sure else ENDLESS
        return replace(middle, low=low, high=high, kind=worst(f.kind for f in found), sign=sign)

    @property
    def speed_ups(self) -> list[tuple[Prediction, float]]:
        """How many times as fast each number of nodes is as the fewest that are usable."""
        return [(p, factor(self.usable[0]) / factor(p)) for p in self.usable]

    @property
    def enough(self) -> Prediction:
        """The fewest nodes from which no number of nodes is `HELPS` times as fast."""
        return next(p for p in self.usable if factor(p) <= HELPS * factor(self.fastest))
