"""A claim of a paper, the rule that decides it, and its verdict.

`papers/NAME.yaml` lists the claims of a paper in its order (Claim), what we found beside them
(Finding), what was fitted to numbers of the paper (Fitted), and the figures, tables, equations and
algorithms that no claim covers, with the reason (Paper.unchecked).

A verdict means something only if it could have been another. So a claim states what would
contradict it, as outcomes of ours for which its rule has to fail. The limits of the rule decide: a
claim is counted only where all of our interval lies on one side of each of them. MEANINGS says what
each of the five verdicts means; docs/studies.md has the same words.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Table
from spikemark.quantities.words import integer, number

REPRODUCED, CONSISTENT, CONTRADICTED = "reproduced", "consistent", "contradicted"
BY_CONSTRUCTION, UNDECIDED, NOT_TESTABLE = "by construction", "undecided", "not testable here"
#: Verdicts that count: something was compared, and could have come out otherwise.
COUNTED = (REPRODUCED, CONSISTENT, CONTRADICTED)
VERDICTS = (*COUNTED, BY_CONSTRUCTION, UNDECIDED, NOT_TESTABLE)
#: What each verdict means, as docs/studies.md says it.
MEANINGS = {
    REPRODUCED: (
        "measured, simulated or modelled without the published value (or, called `literature`,"
        " measured in another paper); all of our interval is within the rule, whose limits are the"
        " paper's: a number that it prints, or one that its words give; the rule fails for each"
        " stated outcome, and ours rests on nothing that is assumed"
    ),
    CONSISTENT: (
        "all of our interval is within the rule, but hardly any model could miss it, its limits are"
        " ours and not the paper's, or ours rests on something assumed, such as the jitter of nodes"
        " that nobody measured"
    ),
    CONTRADICTED: (
        'all of our interval misses the rule; with the cause that was found, or "cause unknown";'
        " the count says how many are claims of the paper, and how many are of what its authors"
        " measured, where our model fails"
    ),
    BY_CONSTRUCTION: (
        "an input, a fit or an identity: never counted. Where it misses the rule even so, the page"
        " says so and counts it apart"
    ),
    UNDECIDED: (
        "something was compared, but a limit of the rule is inside our interval; a narrower one"
        " would decide"
    ),
    NOT_TESTABLE: "nothing was compared; with what it would take",
}
CAUSE_UNKNOWN = "cause unknown"
#: From a printed number to the limits of a rule, at most.
WIDEST_FACTOR = 1.25
TOO_WIDE = "a limit of the rule is inside our interval; a narrower one would decide"
NOT_VARIED = "what ours assumes was not varied, so that nothing says what it decides"
#: Limits that words of a paper can give: nothing, as much as, half of it, the whole.
LIMITS_OF_WORDS = (0.0, 1.0, 50.0, 100.0)
#: Words that say how much without a number; what they ask for has no limit in the paper.
WORDS_OF_DEGREE = (
    *("approximately", "basically", "broadly", "clearly", "comparable", "considerably", "few"),
    *("hardly", "little", "moderate", "much", "noticeably", "obvious", "rapidly", "reasonably"),
    *("significantly", "similar", "slightly", "small", "substantially", "typically", "far"),
    *("irregular", "asynchronous", "negligible"),
)
#: Share of the draws in which an order holds, below and above which they decide.
DECIDED_SHARES = (0.025, 0.975)
#: Kinds of numbers of ours that a model gives.
MODEL_KINDS = ("modelled", "simulated")
#: Relative difference within which two of our numbers are the same.
SAME = 1e-6
#: From a cost of a model to the least and the largest that it is taken to be (StudyAnswer.reach).
FARTHEST_FACTOR = 1000.0


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
        "computed by us from printed numbers",
        "computed by us from the paper's formula",
        "lost in our text",
    ]

    @property
    def text(self) -> str:
        """In one cell, with what a number means, and its status."""
        if self.value is None:
            return f"{self.words or ' > '.join(self.order)} ({self.status})"
        shown = f"{_number_in_words(self.value)} {self.unit}".rstrip()
        meaning = f"{self.words}; {self.status}" if self.words else self.status
        return f"{shown} ({meaning})"

    @property
    def is_words_only(self) -> bool:
        """Whether the paper prints neither a number nor an order."""
        return self.value is None and not self.order


class Limit(PaperPart):
    """What words of a paper give as the limits of a rule."""

    at: list[float]  #: one limit of a rule with one side, two of a rule with two
    says: str  #: why the words say so
    place: str = ""  #: of an equation of the paper that gives limits other than LIMITS_OF_WORDS


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
    #: What of the paper gives the limits of the rule, where it prints neither number nor order;
    #: without, the limits are ours, and it earns no more than `consistent`.
    limit: Limit | None = None
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
        if self.limit and not (self.earns == REPRODUCED and self.published.is_words_only):
            raise ValueError(f"{self.id}: limit: expected with reproduced, for words of the paper")
        fault = self._fault_of_limit()
        if fault:
            raise ValueError(f"{self.id}: limit: {fault}")
        return self

    def _fault_of_limit(self) -> str:
        """Why the limits of the rule are not those that the words give; empty where they are."""
        if self.limit is None or self.rule is None:
            return ""
        words = re.findall(r"[a-z]+", self.published.words.lower())
        degrees = [word for word in words if word in WORDS_OF_DEGREE]
        if degrees:
            return f"expected without words of degree, not {degrees[0]}"
        unfounded = [number for number in self.limit.at if number not in LIMITS_OF_WORDS]
        if unfounded and self.limit.place not in self.place:
            return f"expected one of {LIMITS_OF_WORDS}, or the equation that gives {unfounded[0]}"
        limits = [end for end in self.rule.limits(self.published) if not math.isinf(end)]
        if len(limits) != len(self.limit.at):
            return f"expected a number for each limit of the rule, {len(limits)}"
        low, high = self.rule.limits(self.published)
        least, largest = self.limit.at[0], self.limit.at[-1]
        is_too_low = not math.isinf(low) and low < least
        is_too_high = not math.isinf(high) and high > largest
        return "expected a rule that is at least as strict" if is_too_low or is_too_high else ""

    @property
    def is_of_measurements(self) -> bool:
        """Whether a figure or a table says it."""
        return any(place.startswith(("fig.", "Table")) for place in self.place)

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
    libraries: list[str] = []  #: Python packages that the full study needs, beside those of all
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
    #: The order in each draw of what ours assumes; empty for numbers, whose interval says it.
    drawn_orders: list[list[str]] = field(default_factory=list)
    #: The least and the largest answer of a model, if each of its costs, one at a time, is taken to
    #: be up to FARTHEST_FACTOR times less or more; None where ours does not rest on costs.
    reach: tuple[float, float] | None = None

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
    misses: bool = False  #: whether it misses its rule, though it is by construction
    subject: str = ""  #: what our number or order is of, in words

    @property
    def is_of_our_model(self) -> bool:
        """Whether it is our model that fails: contradicted by what was not measured here, beside a
        figure or table of what the authors measured.
        """
        value = self.answer.value if self.answer else None
        is_model = isinstance(value, list)
        if isinstance(value, Quantity):
            is_model = value.kind in MODEL_KINDS
        return self.verdict == CONTRADICTED and is_model and self.claim.is_of_measurements


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
        ...               rule=Rule(above=1.1), earns="reproduced",
        ...               limit=Limit(at=[1], says="above 1 it is faster"))
        >>> judge(claim, StudyAnswer(Quantity(1.3, 1.2, 1.4))).verdict
        'reproduced'
        >>> judge(claim, StudyAnswer(Quantity(1.05, 1.02, 1.08))).verdict
        'contradicted'
        >>> judge(claim, StudyAnswer(Quantity(1.3, 1.05, 1.7))).verdict
        'undecided'
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
    if claim.earns == BY_CONSTRUCTION:
        misses = not claim.rule.holds(value, claim.published)
        return Judged(claim, BY_CONSTRUCTION, _why_not_counted(claim, value), answer, misses)
    if claim.assumes and not _is_varied(answer):
        return Judged(claim, NOT_TESTABLE, NOT_VARIED, answer)
    if _is_undecided(claim, answer):
        return Judged(claim, UNDECIDED, TOO_WIDE, answer)
    if not claim.rule.holds(value, claim.published):
        return Judged(claim, CONTRADICTED, claim.why or CAUSE_UNKNOWN, answer)
    weakness = _weakness(claim, answer)
    if weakness:
        return Judged(claim, CONSISTENT, f"on the right side; {weakness}", answer)
    return Judged(claim, REPRODUCED, "", answer)


def _why_not_counted(claim: Claim, value: float | list[str]) -> str:
    """What makes a claim hold by construction, and the cause if it does not even so."""
    assert claim.rule is not None
    if claim.rule.holds(value, claim.published):
        return claim.because
    return f"{claim.because}; it does not hold even so: {claim.why or CAUSE_UNKNOWN}"


def _is_varied(answer: StudyAnswer) -> bool:
    """Whether an answer says what it would be if what it assumes were another; measured, it need
    not.
    """
    ours = answer.value
    if isinstance(ours, Quantity):
        return ours.kind == "measured" or ours.interval is not None
    return bool(answer.drawn_orders)


def _is_undecided(claim: Claim, answer: StudyAnswer) -> bool:
    """Whether a limit of the rule is inside our interval, or draws give both orders."""
    assert claim.rule is not None
    ours = answer.value
    if isinstance(ours, Quantity):
        if ours.interval is None:
            return False
        low, high = ours.interval
        least, largest = claim.rule.limits(claim.published)
        ends = [claim.rule.holds(end, claim.published) for end in (low, high)]
        is_wider_than_rule = low < least and largest < high
        return not all(ends) and (any(ends) or is_wider_than_rule)
    holding = [claim.rule.holds(order, claim.published) for order in answer.drawn_orders]
    if not holding:
        return False
    fewest, most = DECIDED_SHARES
    return fewest < sum(holding) / len(holding) < most


def _weakness(claim: Claim, answer: StudyAnswer) -> str:
    """Why a claim that holds is not reproduced; empty where it is."""
    ours = answer.value
    is_measured = isinstance(ours, Quantity) and ours.kind == "measured"
    if claim.earns == CONSISTENT:
        return claim.because
    if claim.assumes and not is_measured:
        return f"it assumes {claim.assumes}"
    if claim.published.is_words_only and not claim.limit:
        return "the paper has no number, and the limits of the rule are ours"
    is_of_model = isinstance(ours, Quantity) and ours.kind in MODEL_KINDS
    if isinstance(ours, Quantity) and is_of_model and ours.interval is None:
        return "the model was asked once, so that nothing says how uncertain ours is"
    if answer.reach is None and is_of_model:
        return "what other costs of the model would give was not asked"
    if answer.reach is not None and _is_out_of_reach(claim, answer.reach):
        least, largest = answer.reach
        return (
            f"no cost of the model could have contradicted it: each taken up to"
            f" {FARTHEST_FACTOR:g} times less or more, ours is {number(least)} to {number(largest)}"
        )
    return ""


def _is_out_of_reach(claim: Claim, reach: tuple[float, float]) -> bool:
    """Whether the model cannot give any of the outcomes on one of the sides of the rule."""
    assert claim.rule is not None
    least, largest = claim.rule.limits(claim.published)
    low, high = reach
    outcomes = [outcome.ours for outcome in claim.contradicted_by]
    numbers = [ours for ours in outcomes if isinstance(ours, float)]
    reaches_small = any(low <= ours <= least for ours in numbers)
    reaches_large = any(largest <= ours <= high for ours in numbers)
    if math.isinf(least):
        return not reaches_large
    if math.isinf(largest):
        return not reaches_small
    return not (reaches_small and reaches_large)


def disagreeing(claims: Sequence[Judged]) -> list[tuple[str, str]]:
    """Pairs of claims that rest on one number of ours, or on its inverse, where one is decided and
    the other is not.

    Whole numbers are left out, since counts can be equal by chance.

    Example:
        >>> claim = Claim(id="faster", place=["fig. 7a"], says="it is faster", ours="ratio",
        ...               published=Published(words="faster", status="printed in text"),
        ...               contradicted_by=[Outcome(ours=1, means="no gain")],
        ...               rule=Rule(above=1), earns="consistent", because="hardly any misses it")
        >>> of_half = claim.model_copy(update={"id": "slower", "rule": Rule(below=1)})
        >>> wide = judge(of_half, StudyAnswer(Quantity(0.4, 0.1, 1.6)))
        >>> disagreeing([judge(claim, StudyAnswer(Quantity(2.5, 1.1, 4))), wide])
        [('faster', 'slower')]
    """
    pairs = []
    for index, first in enumerate(claims):
        for second in claims[index + 1 :]:
            if _is_decided(first) != _is_decided(second) and _have_one_number(first, second):
                pairs.append((first.claim.id, second.claim.id))
    return pairs


def _is_decided(judged: Judged) -> bool:
    return judged.verdict in COUNTED


def _have_one_number(first: Judged, second: Judged) -> bool:
    """Whether two claims that a rule decides have the same number or one over it."""
    numbers = []
    for judged in (first, second):
        is_ruled = judged.claim.rule is not None and judged.verdict != BY_CONSTRUCTION
        value = judged.answer.value if judged.answer else None
        if not is_ruled or not isinstance(value, Quantity) or not value:
            return False
        if value.number == round(value.number):
            return False
        numbers.append(value.number)
    one, other = numbers
    return math.isclose(one, other, rel_tol=SAME) or math.isclose(one * other, 1, rel_tol=SAME)


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
