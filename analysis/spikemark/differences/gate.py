"""`--fail-above`: whether the second side is surely slower than allowed."""

import re
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, listed, percent

from .compare import Comparison

SHARE = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?%")
FAILS, HOLDS, OPEN = "fails", "holds", "open"
MOST = 5  # setups that are named
OVERALL = "mean over setups"


@dataclass(frozen=True)
class Gate:
    """`state`: FAILS if some change is surely above the limit, HOLDS if all are surely not, else OPEN.

    `failing` and `open`: (setup, its change).
    """

    limit: float
    state: str
    failing: list[tuple[str, Quantity]]
    open: list[tuple[str, Quantity]]
    number: int  # of setups

    @property
    def sentence(self) -> str:
        """What was decided, and on which setups it rests."""
        limit = percent(self.limit, 1)
        if self.state == FAILS:
            return f"Fails: surely more than {limit} slower: {_named(self.failing)}."
        if self.state == HOLDS:
            whole = f" in all of {counted(self.number, 'setup')}" if self.number > 1 else ""
            return f"Passes: surely at most {limit} slower{whole}."
        return (
            f"Passes, but not surely: these runs cannot tell whether it is more than {limit} slower:"
            f" {_named(self.open)}. More repetitions tell more."
        )


def limit(text: str) -> float:
    """The share in a text such as '5%'. Raises BadInput for another one."""
    found = SHARE.fullmatch(text.strip())
    if not found:
        raise BadInput(f"--fail-above={text!r}; allowed: a percentage of 0 % and more, such as 5%")
    return float(found[1]) / 100


def gate(made: Comparison, most: float) -> Gate:
    """Compare every setup, and their mean, with the limit. All intervals hold together with 95 %."""
    changes = [(setup.name or "the run", made.change(setup)) for setup in made.setups]
    if len(changes) > 1:
        changes.append((OVERALL, made.overall))
    failing = [one for one in changes if one[1].low is not None and one[1].low > most]
    unknown = [one for one in changes if one[1].high is None or one[1].high > most >= one[1].low]
    state = FAILS if failing else OPEN if unknown else HOLDS
    return Gate(most, state, failing, unknown, len(made.setups))


def _named(changes: list[tuple[str, Quantity]]) -> str:
    """The setups with the largest changes first, with their intervals."""
    ordered = sorted(changes, key=lambda one: -one[1].value)
    words = [f"{name} ({said(change)})" for name, change in ordered[:MOST]]
    more = [f"{len(ordered) - MOST} more"] if len(ordered) > MOST else []
    return listed([*words, *more])


def said(change: Quantity) -> str:
    """A change with its interval, in words: '+9.8 %, +8.1 % to +11 %'."""
    words = signed(change.value)
    if change.low is None:
        return f"{words}, no interval"
    return f"{words}, {signed(change.low)} to {signed(change.high)}"


def signed(share: float) -> str:
    """A share with its sign, as per cent with one digit behind the point."""
    words = percent(round(share, 4), 1)
    return f"+{words}" if round(share, 4) > 0 else words
