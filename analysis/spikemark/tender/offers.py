"""`spikemark tender offers`: which answer costs the least over its life, as probabilities over draws."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction import draws
from spikemark.prediction.answers import chance
from spikemark.prediction.answers import interval as shown
from spikemark.prediction.draws import Draws, log_normal
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number

from . import formats
from .check import INVALID, VALID, check
from .formats import JOULES, POWER, RTF, Answer, Bundle

SURE = 0.95  # probability from which an offer counts as the cheapest


@dataclass(frozen=True, eq=False)
class Bid:
    """An answer as draws: real-time factor of the target, power in W of all offered nodes, and cost.

    None where it is unknown. `basis`: of the real-time factor, measured or projected. `reached`: the share of
    draws in which it reaches the target. `left_out`: why it may not be chosen; empty if it may.
    """

    name: str
    answer: Answer
    verdict: str
    basis: str
    rtf: Draws | None
    power_w: Draws | None
    cost: Draws | None
    reached: float | None
    left_out: str


@dataclass(frozen=True)
class Compared:
    """Bids, the factor to reach (infinite: any), and the share of draws in which each is the cheapest to."""

    bids: list[Bid]
    reach: float
    best: dict[str, float]


def found(paths: list[Path]) -> list[Path]:
    """The answers among folders; any other folder stands for the answers in it. Raises BadInput."""
    answers: dict[Path, None] = {}
    for path in paths:
        inside = sorted(p.parent for p in path.glob(f"*/{formats.ANSWER}"))
        within = [path] if (path / formats.ANSWER).is_file() else inside
        if not within:
            raise BadInput.of("answer", str(path), f"a folder with {formats.ANSWER}, or of such folders")
        answers |= dict.fromkeys(one.resolve() for one in within)
    return [*answers]


def compare(
    paths: list[Path], bundle: Bundle, reach: float | None = None, years: float = 5.0,
    hours_per_year: float = 8000.0, price_kwh: float | None = None,
) -> Compared:  # fmt: skip
    """Checks answers and sets them side by side; without `price_kwh`, energy is no part of the cost.

    Raises BadInput for several currencies.
    """
    reach = reach or bundle.tender.target.real_time_factor or np.inf
    each_watt = None if price_kwh is None else 1e-3 * years * hours_per_year * price_kwh
    paths = found(paths)
    bids = [_bid(path, bundle, each_watt, reach) for path in paths]
    currencies = sorted({bid.answer.offer.currency for bid in bids if bid.answer.offer.price is not None})
    if len(currencies) > 1:
        raise BadInput.of("currency", ", ".join(currencies), "one currency in all answers")
    if len({bid.name for bid in bids}) < len(bids):
        bids = [replace(bid, name=f"{bid.name} ({path.name})") for bid, path in zip(bids, paths, strict=True)]
    ranked, best = [bid for bid in bids if not bid.left_out], {}
    if ranked:
        costs = np.array([np.where(bid.rtf <= reach, bid.cost, np.inf) for bid in ranked])
        cheapest, some = costs.argmin(axis=0), np.isfinite(costs).any(axis=0)
        best = {bid.name: float(((cheapest == at) & some).mean()) for at, bid in enumerate(ranked)}
    return Compared(bids, reach, best)


def _bid(path: Path, bundle: Bundle, each_watt: float | None, reach: float) -> Bid:
    report, answer = check(path, bundle)
    if answer is None:
        raise BadInput(f"{path}: {report.findings[-1][1]}")
    name, price = " ".join(answer.bidder.split())[:40], answer.offer.price
    factor, basis = answer.evidence(bundle.tender.target_rule.name, RTF)
    rtf = factor and log_normal(f"{name}/{RTF}", factor.value, factor.low, factor.high)
    watts = power(name, answer, bundle, rtf)
    cost = None if price is None else np.full(draws.N, price)
    if cost is not None and each_watt is not None:
        cost = None if watts is None else cost + each_watt * watts
    reasons = {
        "a try with a quick bundle": answer.quick, "its answer is INVALID": report.verdict == INVALID,
        "its real-time factor of the target is unknown": rtf is None, "its price is unknown": price is None,
        "its power is unknown; bidders state it with `answer --node-power`": cost is None,
    }  # fmt: skip
    why = next((why for why, wrong in reasons.items() if wrong), "")
    reached = None if rtf is None else float((rtf <= reach).mean())
    return Bid(name, answer, report.verdict, basis if factor else "unknown", rtf, watts, cost, reached, why)


def power(name: str, answer: Answer, bundle: Bundle, rtf: Draws | None) -> Draws | None:
    """Power in W of all offered nodes, which are as busy as those of the run of the target.

    From the projected power, else from energy and time, else the limit of a node. None if nothing is known.
    """
    rule, offer = bundle.tender.target_rule, answer.offer
    made, _ = answer.evidence(rule.name, POWER)
    if made is not None:
        return log_normal(f"{name}/{POWER}", made.value, made.low, made.high) * offer.nodes / made.nodes
    joules, basis = answer.evidence(rule.name, JOULES)
    if joules is not None and rtf is not None:
        nodes = answer.run(rule.name).layout.nodes if basis == "measured" else joules.nodes
        each = log_normal(f"{name}/{JOULES}", joules.value, joules.low, joules.high)
        return each * rule.expected.events_per_s / rtf * offer.nodes / nodes
    return None if offer.node_limit_w is None else np.full(draws.N, offer.node_limit_w * offer.nodes)


def sentence(of: Compared) -> str:
    """The answer: the cheapest offer that reaches the target, with its probability."""
    goal = f" to reach real-time factor {number(of.reach)}" if np.isfinite(of.reach) else ""
    if not of.best:
        return f"No offer can be compared{goal}."
    name, share = max(of.best.items(), key=lambda one: one[1])
    if share == 0:
        return f"No offer is likely{goal}: under 1 % of the draws."
    verdict = next(b.verdict for b in of.bids if b.name == name)
    warn = "" if verdict == VALID else f" Its answer is {verdict}."
    if share >= SURE:
        return f"{name} is the cheapest offer{goal}, in {chance(share)} of the draws.{warn}"
    return f"No offer is surely the cheapest{goal}: {name} leads, in {chance(share)} of the draws.{warn}"


def lines(of: Compared) -> list[str]:
    """Offers that were left out, and what decides."""
    found = [f"{bid.name} is left out: {bid.left_out}." for bid in of.bids if bid.left_out]
    if of.best and max(of.best.values()) < SURE:
        bid = next(b for b in of.bids if b.name == max(of.best, key=of.best.get))
        if bid.reached < SURE:
            found.append(f"The {bid.basis} real-time factor of {bid.name} decides.")
        elif np.ptp(bid.cost) > 0:
            found.append(f"The power of {bid.name} and of the others decides: ask for a meter reading.")
    return found


def table(of: Compared) -> Table:
    """A row for each offer."""
    money = next((b.answer.offer.currency for b in of.bids if b.answer.offer.price is not None), "EUR")
    columns = {
        Column("offer", "offer"): lambda b: b.name,
        Column("checked", "checked"): lambda b: b.verdict,
        Column("nodes", "nodes"): lambda b: str(b.answer.offer.nodes),
        Column("rtf", "real-time factor"): lambda b: shown(b.rtf),
        Column("basis", "basis"): lambda b: b.basis,
        Column("committed", "committed"): lambda b: number(p) if (p := _promised(b)) else "none",
        Column("reached", "target reached"): lambda b: "unknown" if b.rtf is None else chance(b.reached),
        Column("power", "power (kW)"): lambda b: shown(None if b.power_w is None else 1e-3 * b.power_w),
        Column("cost", f"cost ({money})"): lambda b: shown(b.cost, 3),
        Column("best", "cheapest"): lambda b: chance(of.best[b.name]) if b.name in of.best else "left out",
    }
    return Table.of(columns, of.bids, "Offers")


def _promised(bid: Bid) -> float | None:
    return bid.answer.promised("target", RTF)


def content(of: Compared) -> dict[str, Any]:
    """The content for JSON; intervals are 95 %."""

    def ends(found: Draws | None) -> dict[str, float] | None:
        names = ("value", "low", "high")
        return None if found is None else dict(zip(names, draws.interval(found), strict=True))

    rows = [
        {"offer": b.name, "verdict": b.verdict, "nodes": b.answer.offer.nodes, "basis": b.basis,
         "committed": _promised(b), "reached": b.reached, "cheapest": of.best.get(b.name),
         "left_out": b.left_out or None, RTF: ends(b.rtf), POWER: ends(b.power_w), "cost": ends(b.cost)}
        for b in of.bids
    ]  # fmt: skip
    target = of.reach if np.isfinite(of.reach) else None
    return {"sentence": sentence(of), "target": target, "offers": rows, "lines": lines(of)}
