"""Sentences about budgets, changes and predictions: what causes waiting, what helps, on which evidence."""

from spikemark.quantities.quantity import Quantity, difference
from spikemark.quantities.table import Column
from spikemark.quantities.words import change, counted, number, percent

from . import PREDICTORS
from .budget import DEFAULT, GIVEN, Budget
from .predictor import Prediction
from .slowest import Slowest
from .source import Source
from .units import MICRO, in_us
from .whatif import TOGETHER, Outcome

MATTERS = 0.1  # share of the waiting from which a rank or a node is named first
MOST = 0.5  # share of the waiting that is surely exceeded by most of it
CAUSES = {
    "persistent": "lasting differences between ranks (`spikemark fit` lists the ranks)",
    "jitter": "jitter, which averages out over {d} cycles",
    "drift": "drift, which does not average out over {d} cycles",
    "rare": "rare long cycles of single ranks",
    "barrier": "the barrier itself, beyond what the compute times explain",
}
MORE_RANKS = "double-ranks"  # makes a run that does more, and is not there to help


def cause(found: Budget) -> str:
    """The node or rank that causes at least `MATTERS` of the waiting, else the largest part."""
    if not found.waiting_s > 0:
        return "The ranks did not wait."
    candidates = []
    one = found.slowest
    if one and one.certain and one.share.value >= MATTERS:
        candidates.append((one.share.value, _of_rank(one)))
    between = found.nodes
    same = one and one.certain and one.alone  # its node is slow because of this rank, or the other way round
    if between and between.nodes.slow and between.share.value >= MATTERS and not same:
        name, *more = between.nodes.slow
        ranks = "Node {} takes {} longer than the others"
        words = ranks.format(name, _interval(between.nodes.slower[name], 1))
        words += f", and so do {', '.join(more)}" if more else ""
        candidates.append((
            between.share.value,
            f"{words}; differences between nodes cause {_interval(between.share)} of the waiting.",
        ))  # fmt: skip
    if candidates:
        return max(candidates)[1]
    name, part = max(((n, p) for n, p in found.parts.items() if p), key=lambda pair: pair[1].value)
    share, what = part.share_of(found.waiting), CAUSES[name].format(d=found.delay_ratio)
    if share.low > MOST:
        return f"Most of the waiting, {_interval(share)}, comes from {what}."
    return f"The largest part of the waiting, {_interval(share)}, may come from {what}."


def _of_rank(one: Slowest) -> str:
    where = f" on {one.node}" if one.node else ""
    return (
        f"Rank {one.rank}{where} causes {_interval(one.share)} of the waiting: it computes"
        f" {_interval(one.longer, 1)} longer than the other ranks do."
    )


def apart(found: Budget) -> str:
    """Which D tells jitter from drift, where it comes from, and how to change it."""
    words = f"D = {found.delay_ratio} cycles tells jitter from drift: "
    if found.delay_ratio_from == GIVEN:
        return words + "as given."
    whose = "the default, since no D is known" if found.delay_ratio_from == DEFAULT else "that of the run"
    return words + f"{whose}; --delay-ratio sets another."


def helps(outcomes: list[Outcome], predictor: str) -> str:
    """Which single change shortens the run most, by how much, and on which evidence.

    `outcomes` are those of `predictor`, the first one of the unchanged run.
    """
    base, falls = outcomes[0], _falls(outcomes)
    if not falls:
        return "No change that could help was asked for."
    names = list(falls)
    most = falls[names[0]]
    evidence = evidence_of(predictor)
    if most.high < 0:
        longer = Quantity(-most.value, -most.high, -most.low)
        return f"{names[0]} costs time: the run takes {_interval(longer, 1)} longer. {evidence}"
    if not most.low > 0:
        return f"No single change is sure to shorten the run. {evidence}"
    near = [f"{name} ({percent(falls[name].value, 1)})" for name in names[1:] if falls[name].high >= most.low]
    words = f"{names[0]} helps most: the run time falls by {_interval(most, 1)}"
    if before := base.waiting.value:
        after = next(one for one in outcomes if one.name == names[0]).waiting.value
        words += f", the waiting by {percent(1 - after / before)}" if after < before else ""
    words += f"; {', '.join(near)} may help as much" if near else ""
    return f"{words}. {evidence}"


def effect(made: Prediction, fitted: Source, predictor: str) -> str:
    """The fitted run beside a prediction of one predictor: waiting and run time per cycle."""
    ran, runs = MICRO * fitted.cycle.value, MICRO * made.runtime_s / made.cycles
    waited, waits = (
        Column("", "").text(one) for one in (in_us(fitted.waited), in_us(made.waiting, made.cycles))
    )
    before = "waited" if fitted.kind != "modelled" else "waited, as derived from other times,"
    ranks = "" if made.plan.ranks == fitted.ranks else f" on {counted(fitted.ranks, 'rank')}"
    return (
        f"The fitted run{ranks} {before} {waited} µs per cycle; this one would wait {waits} µs. Cycles took"
        f" {number(ran, 4)} µs; these would take {number(runs, 4)} µs ({change(runs / ran)})."
        f"{_exchanges(made, fitted)} {evidence_of(predictor)}"
    )


def _exchanges(made: Prediction, fitted: Source) -> str:
    """What rarer exchanges save, and on which assumption."""
    if made.plan.window == 1 or made.plan.lag or not fitted.exchange_s:
        return ""
    each, later = (number(MICRO * fitted.exchange_s / window) for window in (1, made.plan.window))
    return (
        f" Of these, exchanges took {each} µs and would take {later} µs, if one is as long as in the fitted"
        " run, although it carries the spikes of more cycles."
    )


def evidence_of(predictor: str) -> str:
    """Says what the numbers of a predictor rest on."""
    return f"Modelled by {predictor}: {PREDICTORS[predictor].summary}."


def best(outcomes: list[Outcome]) -> tuple[str, Quantity] | None:
    """The single change that shortens the run most, and by which share; None if none was asked for."""
    return next(iter(_falls(outcomes).items()), None)


def _falls(outcomes: list[Outcome]) -> dict[str, Quantity]:
    """Shares by which single changes shorten the run, the largest first.

    If only combined changes are given, these count.
    """
    base, *changed = outcomes
    known = [one for one in changed if not one.refused and one.name != MORE_RANKS]
    falls = {one.name: _fall(base, one) for one in [o for o in known if TOGETHER not in o.name] or known}
    return dict(sorted(falls.items(), key=lambda item: -item[1].value))


def _fall(base: Outcome, changed: Outcome) -> Quantity:
    """Share by which the run time falls, as if both times were known independently."""
    return difference(base.runtime, changed.runtime).times(1 / base.runtime.value, "")


def _interval(share: Quantity, digits: int = 0) -> str:
    low, high = (percent(end, digits) for end in share.interval)
    return f"{percent(share.value, digits)} ({low} to {high})"
