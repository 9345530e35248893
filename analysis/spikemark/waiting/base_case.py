"""Does a predictor expect the waiting of the very run that it is fitted on?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column
from spikemark.quantities.words import number, percent

from .predictor import Prediction
from .source import Source
from .units import MICRO

SIGN = " !"  # beside every number of such a predictor
#: Relative error up to which a difference is no miss, however sure it is. Intervals shrink with the number of
#: cycles, so that in a long run every model surely differs a little. The limit is chosen: no answer about
#: another run is meant to be closer than this.
TOLERATED = 0.05


@dataclass(frozen=True)
class Miss:
    """What the predictor `name` expects and what the run waited, in µs per cycle; the interval misses that.

    `kind` is that of the waiting of the run: modelled where it was not timed.
    """

    name: str
    expected: Quantity
    waited: float
    kind: str

    def __str__(self) -> str:
        expected = Column("", "").text(self.expected)
        off = self.expected.value / self.waited - 1 if self.waited > 0 else None
        by = "too much" if off is None else f"{percent(abs(off))} too {'much' if off > 0 else 'little'}"
        run = "which waited" if self.kind != "modelled" else "which waited, as derived,"
        return (
            f"{SIGN.strip()} {self.name} misses the base case: it expects {expected} µs per cycle for the"
            f" fitted run, {run} {number(self.waited)}: {by}. Do not rely on what it expects of other runs."
        )

    def content(self) -> dict[str, Any]:
        """The content for JSON, in s per cycle."""
        return {
            "expected_s": self.expected.value / MICRO,
            "interval": [end / MICRO for end in self.expected.interval],
            "waited_s": self.waited / MICRO,
            "kind": self.kind,
        }


def misses(fitted: Source, made: Mapping[str, Prediction]) -> dict[str, Miss]:
    """The predictors, by name, that expect another waiting of the fitted run than it had.

    It lies outside of their interval, and the middle is further away than `TOLERATED`.

    `made` is what they predict for that run, which is conventional.
    """
    waited = MICRO * fitted.waited_s
    found = {}
    for name, one in made.items():
        expected = one.as_derived.times(MICRO / one.cycles, "µs")
        far = abs(expected.value - waited) > TOLERATED * waited
        if far and not expected.low <= waited <= expected.high:
            found[name] = Miss(name, expected, waited, fitted.kind)
    return found
