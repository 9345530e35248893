"""A claim of a paper, the rule that decides it, and its verdict.

`papers/NAME.yaml` lists the claims of a paper in its order (Claim), what we found beside them
(Finding), what was fitted to numbers of the paper (Fitted), and the figures, tables, equations and
algorithms that no claim covers, with the reason (Paper.unchecked).

A verdict means something only if it could have been another. So a claim states what would
contradict it, as outcomes of ours for which its rule has to fail, and `judge` gives *reproduced*
only where our interval excludes each of them. Five verdicts:

- reproduced: measured, simulated or modelled without the published value, by a rule that can fail,
  beside a printed number within WIDEST_FACTOR or closer;
- consistent: on the right side, but the rule is weak, our interval wide, or something assumed;
- contradicted: with the cause, or "cause unknown";
- by construction: an input, a fit or an identity; never counted;
- not testable here: with what it would take.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Table
from spikemark.quantities.words import integer, number

REPRODUCED, CONSISTENT, CONTRADICTED = "reproduced", "consistent", "contradicted"
BY_CONSTRUCTION, NOT_TESTABLE = "by construction", "not testable here"
#: Verdicts that count: something was compared, and could have come out otherwise.
COUNTED = (REPRODUCED, CONSISTENT, CONTRADICTED)
VERDICTS = (*COUNTED, BY_CONSTRUCTION, NOT_TESTABLE)
CAUSE_UNKNOWN = "cause unknown"
#: From a printed number to the limits of a rule, at most.
WIDEST_FACTOR = 1.25
UNDECIDED = "our interval holds the claim and its opposite; a narrower one would decide"


class PaperPart(BaseModel):
    """Base of what a file of a paper holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Published(PaperPart):
    """What the paper prints: a number, an order, or words."""

    value: float | None = None  #: a number, as printed
    unit: str = ""  #: of the number
    order: list[str] = []  #: names, the largest first
    words: str = ""  #: where it is neither a number nor an order, or what the number means
    #: Where the value comes from; "lost in our text" where our copy of the paper lacks the number.
    status: Literal[
        "printed in text",
        "printed in table",
        "read off a figure",
        "computed by us from the paper's formula",
        "lost in our text",
    ]

    @property
    def text(self) -> str:
        """In one cell, with its status."""
        if self.value is None:
            shown = self.words or " > ".join(self.order)
        else:
            shown = f"{_number_in_words(self.value)} {self.unit}".rstrip()
        return f"{shown} ({self.status})"


class Outcome(PaperPart):
    """What would contradict a claim: an answer of ours for which its rule has to fail."""

    ours: float | list[str] | None = None  #: the number or order; null for claims without a rule
    means: str  #: what that would say


class Rule(PaperPart):
    """When a claim holds; exactly one of the fields."""

    within: float | None = None  #: largest relative difference from the published number
    factor: float | None = None  #: largest ratio to the published number, either way
    above: float | None = None  #: limit of ours
    below: float | None = None  #: limit of ours
    between: tuple[float, float] | None = None  #: limits of ours
    order: Literal[True] | None = None  #: the published order

    @model_validator(mode="after")
    def _has_one_field(self) -> "Rule":
        if sum(value is not None for value in self.__dict__.values()) != 1:
            raise ValueError("expected one of within, factor, above, below, between, order")
        return self

    @property
    def has_two_sides(self) -> bool:
        """Whether an answer can be too small and too large."""
        return self.within is not None or self.factor is not None or self.between is not None

    def limits(self, published: Published) -> tuple[float, float]:
        """The least and the largest answer for which the rule holds.

        Raises ValueError for a rule about an order, or one that needs a published number.
        """
        infinite = float("inf")
        if self.above is not None:
            return self.above, infinite
        if self.below is not None:
            return -infinite, self.below
        if self.between is not None:
            return self.between
        if published.value is None:
            raise ValueError("within and factor: expected with a published value")
        if self.factor is not None:
            ends = (published.value / self.factor, published.value * self.factor)
            return min(ends), max(ends)
        if self.within is not None:
            half = abs(published.value) * self.within
            return published.value - half, published.value + half
        raise ValueError("an order has no limits")

    def holds(self, ours: float | list[str], published: Published) -> bool:
        """Whether the rule holds for an answer of ours."""
        if self.order:
            return ours == published.order
        if isinstance(ours, list):
            return False
        low, high = self.limits(published)
        if self.has_two_sides:
            return low <= ours <= high
        return low < ours < high

    @property
    def words(self) -> str:
        """The rule in words."""
        if self.order:
            return "the same order"
        if self.above is not None:
            return f"above {self.above:g}"
        if self.below is not None:
            return f"below {self.below:g}"
        if self.between is not None:
            low, high = self.between
            return f"{low:g} to {high:g}"
        if self.factor is not None:
            return f"within a factor of {self.factor:g}"
        return f"within {100 * (self.within or 0):g} %"


class Claim(PaperPart):
    """Something that the paper says and that somebody could check."""

    id: str  #: names the claim in conclusions and in causes, such as `waiting-dominates`
    place: list[str]  #: figures, tables, equations, algorithms or sections that say it
    says: str  #: in our words
    published: Published  #: the number, order or words
    contradicted_by: list[Outcome]  #: what would contradict it; of a rule with two sides, both
    ours: str | None = None  #: a function of the study's module, without its underscore
    rule: Rule | None = None  #: when the claim holds
    #: The verdict where the rule holds.
    earns: Literal["reproduced", "consistent", "by construction"] | None = None
    #: The input, fit or identity that makes it hold by construction; or why the rule is weak, where
    #: it earns no more than `consistent`.
    because: str = ""
    #: What ours assumes, with which the claim stands and falls: it earns no more than `consistent`
    #: where ours is not measured.
    assumes: str = ""
    why: str = ""  #: the cause, where the claim is contradicted; empty where it is unknown
    not_testable: str = ""  #: what it would take, where nothing decides it here

    @model_validator(mode="after")
    def _is_decided(self) -> "Claim":
        if not self.contradicted_by:
            raise ValueError(f"{self.id}: expected contradicted_by")
        is_tested = self.rule is not None and self.ours is not None and self.earns is not None
        if is_tested == bool(self.not_testable):
            raise ValueError(f"{self.id}: expected ours, rule and earns, or not_testable")
        if self.earns == BY_CONSTRUCTION and not self.because:
            raise ValueError(f"{self.id}: because: expected with by construction")
        if self.because and self.earns not in (BY_CONSTRUCTION, CONSISTENT):
            raise ValueError(f"{self.id}: because: expected with by construction or consistent")
        if self.earns == CONSISTENT and not self.because:
            raise ValueError(f"{self.id}: because: expected with consistent")
        if self.assumes and self.earns != REPRODUCED:
            raise ValueError(f"{self.id}: assumes: expected with reproduced, which it takes back")
        return self

    def unopposed(self) -> list[str]:
        """Why the rule could not have failed: outcomes that it lets pass, and sides that none has.

        Empty for a rule that fails for all of `contradicted_by`, on each of its sides.
        """
        if self.rule is None:
            return []
        faults = []
        numbers = []
        for outcome in self.contradicted_by:
            if outcome.ours is None:
                faults.append(f"{outcome.means}: no number")
            elif self.rule.holds(outcome.ours, self.published):
                faults.append(f"{outcome.means}: the rule holds for it")
            elif not isinstance(outcome.ours, list):
                numbers.append(outcome.ours)
        if self.rule.has_two_sides:
            low, high = self.rule.limits(self.published)
            if not any(value < low for value in numbers):
                faults.append("no outcome is too small")
            if not any(value > high for value in numbers):
                faults.append("no outcome is too large")
        return faults


class Finding(PaperPart):
    """A result of ours that the paper does not have, which stands beside its claims."""

    id: str  #: names the finding in conclusions and in causes
    place: list[str]  #: what of the paper it belongs to
    question: str  #: what it answers
    ours: str  #: a function of the study's module, without its underscore


class Fitted(PaperPart):
    """A number of ours that was fitted to numbers of the paper."""

    value: str  #: which number, such as a field of a profile
    to: str  #: the rows that it was fitted to
    claims: list[str]  #: claims that rest on it, which are by construction


class Conclusion(PaperPart):
    """The first line of the page."""

    text: str  #: in plain words; `{id}` stands for our answer to a claim or finding
    rests_on: dict[str, str]  #: verdicts by claim, without which the text does not hold


class Paper(PaperPart):
    """The content of papers/NAME.yaml."""

    title: str
    reference: str
    conclusion: Conclusion
    about: list[str] = []  #: sentences for the page
    #: Fields that `--quick` replaces, by experiment of workflows/experiments; null where the quick
    #: study leaves it out.
    experiments: dict[str, dict[str, Any] | None] = {}
    profiles: list[str] = []  #: machines of machines/ that the answers rest on
    takes_logs: bool = False  #: whether logs of the authors' runs can replace simulated times
    fitted: list[Fitted] = []
    #: Claims that stand or fall together, by what all of them rest on.
    shared: dict[str, list[str]] = {}
    #: Figures, tables, equations and algorithms without a claim, and why they cannot be checked.
    unchecked: dict[str, str] = {}
    claims: list[Claim]
    findings: list[Finding] = []

    @model_validator(mode="after")
    def _names_what_it_has(self) -> "Paper":
        ids = [claim.id for claim in self.claims]
        ids += [finding.id for finding in self.findings]
        repeated = sorted({id for id in ids if ids.count(id) > 1})
        if repeated:
            raise ValueError(f"id: expected once: {', '.join(repeated)}")
        named = {*self.conclusion.rests_on}
        for fit in self.fitted:
            named.update(fit.claims)
        for ids_of_cause in self.shared.values():
            named.update(ids_of_cause)
        unknown = sorted(named - {claim.id for claim in self.claims})
        if unknown:
            raise ValueError(f"no claim is called {', '.join(unknown)}")
        return self


@dataclass(frozen=True)
class StudyAnswer:
    """What a function answers, and what shows it."""

    value: Quantity | list[str] | str  #: a number, an order (largest first) or words
    note: str = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)

    @property
    def text(self) -> str:
        """In one cell; empty for a quantity that is missing."""
        if isinstance(self.value, str):
            return self.value
        if isinstance(self.value, list):
            return " > ".join(self.value)
        return _quantity_in_words(self.value)


@dataclass(frozen=True)
class Judged:
    """A claim with its answer and verdict."""

    claim: Claim
    verdict: str  #: one of VERDICTS
    why: str = ""  #: empty only for `reproduced`
    answer: StudyAnswer | None = None


@dataclass(frozen=True)
class Answered:
    """A finding with its answer, or the reason why there is none."""

    finding: Finding
    answer: StudyAnswer | None = None
    why: str = ""


def judge(claim: Claim, answer: StudyAnswer) -> Judged:
    """The verdict on a claim, given our answer.

    Raises TypeError where a number or an order is to be compared, and the answer is words.

    Example:
        >>> claim = Claim(id="faster", place=["fig. 7a"], says="it is faster", ours="ratio",
        ...               published=Published(words="faster", status="printed in text"),
        ...               contradicted_by=[Outcome(ours=1, means="no gain")],
        ...               rule=Rule(above=1.1), earns="reproduced")
        >>> judge(claim, StudyAnswer(Quantity(1.3, 1.2, 1.4))).verdict
        'reproduced'
        >>> judge(claim, StudyAnswer(Quantity(1.3, 0.9, 1.7))).verdict
        'consistent'
    """
    ours = answer.value
    if isinstance(ours, Quantity) and not ours:
        return Judged(claim, NOT_TESTABLE, ours.reason or "", answer)
    if claim.rule is None or claim.earns is None:
        return Judged(claim, NOT_TESTABLE, claim.not_testable, answer)
    if isinstance(ours, str):
        raise TypeError(f"{claim.id}: {claim.ours} has to return a Quantity or an order")
    value = ours.number if isinstance(ours, Quantity) else ours
    if isinstance(value, float) and math.isnan(value):
        return Judged(claim, NOT_TESTABLE, "complete runs", answer)
    if not claim.rule.holds(value, claim.published):
        if _interval_holds(ours, claim.published):
            if _opposites_inside(claim, ours):
                return Judged(claim, NOT_TESTABLE, UNDECIDED, answer)
            return Judged(claim, CONSISTENT, "our interval holds the published value", answer)
        if _reaches_the_rule(ours, claim):
            return Judged(claim, NOT_TESTABLE, UNDECIDED, answer)
        return Judged(claim, CONTRADICTED, claim.why or CAUSE_UNKNOWN, answer)
    if claim.earns == BY_CONSTRUCTION:
        return Judged(claim, BY_CONSTRUCTION, claim.because, answer)
    if claim.earns == CONSISTENT:
        return Judged(claim, CONSISTENT, f"on the right side; {claim.because}", answer)
    is_measured = isinstance(ours, Quantity) and ours.kind == "measured"
    if claim.assumes and not is_measured:
        if _doubt(claim, ours):
            return Judged(claim, NOT_TESTABLE, UNDECIDED, answer)
        why = f"on the right side; it assumes {claim.assumes}"
        return Judged(claim, CONSISTENT, why, answer)
    doubt = _doubt(claim, ours)
    if doubt:
        return Judged(claim, CONSISTENT, doubt, answer)
    return Judged(claim, REPRODUCED, "", answer)


def _interval_holds(ours: Quantity | list[str], published: Published) -> bool:
    """Whether the published number lies in the interval of ours."""
    if isinstance(ours, list) or ours.interval is None or published.value is None:
        return False
    low, high = ours.interval
    return low <= published.value <= high


def _reaches_the_rule(ours: Quantity | list[str], claim: Claim) -> bool:
    """Whether our interval reaches to where the rule holds, of a paper that prints no number."""
    if isinstance(ours, list) or ours.interval is None or claim.published.value is not None:
        return False
    assert claim.rule is not None
    least, largest = claim.rule.limits(claim.published)
    low, high = ours.interval
    return low < largest and high > least


def _doubt(claim: Claim, ours: Quantity | list[str]) -> str:
    """Why our interval does not exclude what would contradict the claim; empty where it does."""
    if isinstance(ours, list) or ours.interval is None or claim.rule is None:
        return ""
    low, high = ours.interval
    least, largest = claim.rule.limits(claim.published)
    is_one_sided = not claim.rule.has_two_sides
    if is_one_sided and (low < least or high > largest):
        return "our interval reaches to the other side of the limit"
    opposites = _opposites_inside(claim, ours)
    return f"our interval does not exclude the opposite: {opposites[0]}" if opposites else ""


def _opposites_inside(claim: Claim, ours: Quantity | list[str]) -> list[str]:
    """What our interval holds of what would contradict the claim, in words."""
    if isinstance(ours, list) or ours.interval is None:
        return []
    low, high = ours.interval
    inside = []
    for outcome in claim.contradicted_by:
        if isinstance(outcome.ours, float) and low <= outcome.ours <= high:
            inside.append(outcome.means)
    return inside


def _quantity_in_words(quantity: Quantity) -> str:
    """Value, interval, unit and kind; empty where it is missing."""
    if quantity.value is None:
        return ""
    text = _number_in_words(quantity.value)
    if quantity.interval:
        low, high = quantity.interval
        text += f" ({number(low)} to {number(high)})"
    text = f"{text} {quantity.unit}".rstrip()
    return f"{text}, {quantity.kind}" if quantity.kind else text


def _number_in_words(value: float) -> str:
    """A whole number without decimals."""
    return integer(value) if value == round(value) else number(value)
