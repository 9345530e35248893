"""`--fail-above`: whether the second side is slower than allowed."""

import re
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import number, percent

from .compare import Comparison

SHARE = re.compile(r"(\d{1,4}(?:\.\d{1,6})?) ?%")
FAIL, PASS, INCONCLUSIVE = "fail", "pass", "inconclusive"


@dataclass(frozen=True)
class Gate:
    """`state`: FAIL if some change is above the limit with its whole interval, PASS if all are below, else
    INCONCLUSIVE. `ratio`: the time of the second side over that of the first, in the setup `worst`.
    """

    limit: float
    state: str
    worst: str
    ratio: Quantity

    @property
    def sentence(self) -> str:
        """The decision and the ratio that it rests on."""
        q, beyond = self.ratio, {FAIL: "above", PASS: "below"}.get(self.state, "not told apart from")
        known = "no interval" if q.low is None else f"{number(q.low)} to {number(q.high)}"
        return (
            f"{self.state}: B takes {number(q.value)} ({known}) of the time of A in {self.worst}, {beyond}"
            f" the limit of {number(1 + self.limit)}."
        )


def limit(text: str) -> float:
    """The share in a text such as '5%'. Raises BadInput for another one."""
    found = SHARE.fullmatch(text.strip())
    if not found:
        raise BadInput.of("--fail-above", text, "a percentage of at least 0 %, such as 5%")
    return float(found[1]) / 100


def gate(made: Comparison, most: float) -> Gate:
    """Compare every setup, and their mean, with the limit. All intervals hold together with 95 %."""
    changes = [(setup.name or "the run", made.change(setup)) for setup in made.setups]
    if len(changes) > 1:
        changes.append(("the mean over setups", made.overall))
    failing = [one for one in changes if one[1].low is not None and one[1].low > most]
    unknown = [one for one in changes if one[1].high is None or one[1].high > most >= one[1].low]
    state = FAIL if failing else INCONCLUSIVE if unknown else PASS
    worst, q = max(failing or unknown or changes, key=lambda one: one[1].value)
    ends = (None, None) if q.low is None else (1 + q.low, 1 + q.high)
    return Gate(most, state, worst, Quantity(1 + q.value, *ends, kind=q.kind))


def said(change: Quantity) -> str:
    """A change with its interval: '+9.8 % (+8.1 % to +11 %)'."""
    words = signed(change.value)
    return words if change.low is None else f"{words} ({signed(change.low)} to {signed(change.high)})"


def signed(share: float) -> str:
    """A share with its sign, as per cent with one digit behind the point."""
    words = percent(round(share, 4), 1)
    return f"+{words}" if round(share, 4) > 0 else words
