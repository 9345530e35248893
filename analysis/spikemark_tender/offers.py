"""`spikemark tender offers`: which answer costs the least, as probabilities over draws.

Each answer becomes a bid: its real-time factor, power and cost are draws, so that the interval of a
projection is carried into the comparison. A bid wins a draw if it is the cheapest of those that
reach the target in this draw. Cost is the price and, where a price of energy is given, that of the
energy over the years of use.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.prediction import draws
from spikemark.prediction.costs import CURRENCY, Use, check_above_0, share_of_least
from spikemark.prediction.draws import Draws, log_normal
from spikemark.prediction.wording import chance, interval
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, listed, number

from . import formats
from .check import INVALID, VALID, check
from .formats import JOULES, POWER, RTF, Bundle
from .schema import NestRun, ProjectedFigure, Range, TenderAnswer

LEAST_SHARE = 0.005  #: of the draws, below which they are not worth a word
SURE_SHARE = 0.95  #: of the draws, from which an offer counts as the cheapest
MAX_NAME_LENGTH = 40  #: of a bidder in tables
#: Why a bid is left out where energy counts.
NO_POWER = "its power is unknown; bidders state it with `answer --node-power`"
#: The figure by which offers are ranked: that of the program of the rules.
OUR_FACTOR = "the mini-app's real-time factor"


@dataclass(frozen=True, eq=False)
class Bid:
    """An answer as draws; None where something is unknown."""

    name: str
    answer: TenderAnswer
    verdict: str  #: of `check`
    basis: str  #: of the real-time factor: measured, projected or unknown
    rtf: Draws | None  #: real-time factor of the target
    power_w: Draws | None  #: power of all offered nodes, W
    cost: Draws | None
    reached: float | None  #: share of the draws in which it reaches the target
    left_out: str  #: why it may not be chosen; empty if it may


@dataclass(frozen=True)
class ComparedOffers:
    """Bids side by side."""

    bids: list[Bid]
    reach: float  #: real-time factor to reach; infinite: any
    trial: bool  #: whether the bundle is a quick one, whose figures are no offers
    best: dict[
        str, float
    ]  #: share of the draws in which a bid is the cheapest to reach it, by name
    currency: str = CURRENCY  #: of the prices
    nest_run: str = (
        ""  #: run of the rules whose network NEST simulates; empty where it is not asked
    )
    remarks: tuple[str, ...] = ()  #: on what is not usual about their use


def _answer_folders(paths: list[Path]) -> list[Path]:
    """The folders of answers; any other folder stands for the answers in it.

    Raises BadInput for a folder without an answer.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        if (path / formats.ANSWER).is_file():
            answers = [path]
        else:
            answers = sorted(file.parent for file in path.glob(f"*/{formats.ANSWER}"))
        if not answers:
            expected = f"a folder with {formats.ANSWER}, or of such folders"
            raise BadInput(field="answer", value=str(path), expected=expected)
        folders |= dict.fromkeys(folder.resolve() for folder in answers)
    return list(folders)


def compare(
    paths: list[Path],
    bundle: Bundle,
    reach: float | None = None,
    years: float = 5.0,
    hours_per_year: float = 8000.0,
    price_kwh: float | None = None,
) -> ComparedOffers:
    """Checks answers and sets them side by side.

    Args:
        paths: folders of answers, or folders of them.
        bundle: what the buyer published.
        reach: real-time factor to reach; None: that of the bundle, or any.
        years: years of use.
        hours_per_year: hours of use in each.
        price_kwh: price of one kWh; without it, energy is no part of the cost.

    An offer in another currency than most of the others is left out. Raises BadInput where as many
    offers are in each, for an answer.json that cannot be read, and for numbers that are not above
    0, or larger than possible.
    """
    use = Use(years, hours_per_year, price_kwh)
    check_above_0("target_rtf", reach)
    reach = reach or bundle.tender.target.real_time_factor or np.inf
    price_of_watt = None if price_kwh is None else 1e-3 * years * hours_per_year * price_kwh
    folders = _answer_folders(paths)
    bids = [
        _bid(folder, f"offer {number}", bundle, price_of_watt, reach)
        for number, folder in enumerate(folders)
    ]
    names = {bid.name for bid in bids}
    if len(names) < len(bids):
        bids = [
            replace(bid, name=f"{bid.name} ({folder.name})")
            for bid, folder in zip(bids, folders, strict=True)
        ]
    common = _common_currency(bids)
    bids = [_in_currency(bid, common) for bid in bids]
    shares = _shares_cheapest(bids, reach)
    nest_run = bundle.tender.nest.run if bundle.tender.nest else ""
    remarks = (
        *replace(use, currency=common).remarks("tender offers"),
        *_shared_runs([bid.name for bid in bids], folders),
    )
    return ComparedOffers(bids, reach, bundle.tender.quick, shares, common, nest_run, remarks)


def _shared_runs(names: list[str], folders: list[Path]) -> list[str]:
    """A line on each group of bidders that handed in the same measured run, byte for byte: no two
    runs have the same cycle times.
    """
    bidders: dict[str, set[str]] = defaultdict(set)
    for name, folder in zip(names, folders, strict=True):
        for path in formats.cycle_times(folder):
            bidders[sha256.file_digest(path)].add(name)
    groups: dict[tuple[str, ...], int] = defaultdict(int)
    for sharing in bidders.values():
        if len(sharing) > 1:
            groups[tuple(sorted(sharing))] += 1
    return [
        f"{listed(group)} handed in {counted(runs, 'run')} with the same cycle times: at most one"
        " of them measured."
        for group, runs in sorted(groups.items())
    ]


def _currency(bid: Bid) -> str:
    """The code of the currency of a price, in upper case."""
    return bid.answer.offer.currency.upper()


def _common_currency(bids: list[Bid]) -> str:
    """The currency of most prices, of the bids that may be chosen or lack no more than their power;
    CURRENCY without any.

    Raises BadInput where as many are in another one.
    """
    bidders: dict[str, list[str]] = defaultdict(list)
    for bid in bids:
        if not bid.left_out or bid.left_out == NO_POWER:
            bidders[_currency(bid)].append(bid.name)
    if not bidders:
        return next(
            (_currency(bid) for bid in bids if bid.answer.offer.price is not None),
            CURRENCY,
        )
    first, *others = sorted(bidders, key=lambda code: -len(bidders[code]))
    if others and len(bidders[others[0]]) == len(bidders[first]):
        found = [f"{code} ({', '.join(bidders[code])})" for code in sorted(bidders)]
        expected = "one currency of most offers, in which they are compared"
        raise BadInput(
            f"currency={', '.join(found)}; expected {expected}", field="currency", code="conflict"
        )
    return first


def _in_currency(bid: Bid, common: str) -> Bid:
    """A bid, left out and without its cost where its price is in another currency."""
    if bid.answer.offer.price is None or _currency(bid) == common:
        return bid
    reason = f"its price is in {_currency(bid)}, those of the others in {common}"
    return replace(bid, cost=None, left_out=bid.left_out or reason)


def _shares_cheapest(bids: list[Bid], reach: float) -> dict[str, float]:
    """Share of the draws in which a bid is the cheapest that reaches the target, by name.

    Bids that cost the same share a draw. In draws in which none reaches it, nobody is the cheapest.
    """
    ranked = [bid for bid in bids if not bid.left_out]
    if not ranked:
        return {}
    costs = [_cost_if_reached(bid, reach) for bid in ranked]
    reached = np.isfinite(costs).any(axis=0)  # (N,)
    if not reached.any():
        return {bid.name: 0.0 for bid in ranked}
    shares = share_of_least([cost[reached] for cost in costs])
    return {
        bid.name: share * float(reached.mean()) for bid, share in zip(ranked, shares, strict=True)
    }


def _cost_if_reached(bid: Bid, reach: float) -> Draws:
    """The cost in the draws in which a bid reaches the target; infinite in the others."""
    assert bid.rtf is not None and bid.cost is not None  # or it would be left out
    return np.where(bid.rtf <= reach, bid.cost, np.inf)


def _bid(
    folder: Path,
    drawn_as: str,
    bundle: Bundle,
    price_of_watt: float | None,
    reach: float,
) -> Bid:
    """The bid in a folder.

    `drawn_as`: after what its draws are named, which is not the bidder, so that another name
    changes no number. `price_of_watt`: of the energy over the life of the machine.
    """
    report, answer = check(folder, bundle)
    if answer is None:
        raise BadInput(report.findings[-1].text, file=folder, code="file")
    name = " ".join(answer.bidder.split())[:MAX_NAME_LENGTH]
    evidence = answer.evidence(bundle.tender.target_rule.name, RTF)
    rtf = None
    if evidence.figure is not None:
        rtf = _draws(f"{drawn_as}/{RTF}", evidence.figure)
    power_w = _power(drawn_as, answer, bundle, rtf)
    cost = _cost(answer.offer.price, power_w, price_of_watt)
    return Bid(
        name=name,
        answer=answer,
        verdict=report.verdict,
        basis=evidence.basis if evidence.figure else "unknown",
        rtf=rtf,
        power_w=power_w,
        cost=cost,
        reached=None if rtf is None else float((rtf <= reach).mean()),
        left_out=_why_left_out(answer, bundle, report.verdict, rtf, cost),
    )


def _draws(name: str, figure: Range | ProjectedFigure) -> Draws:
    """Draws of a figure with its interval."""
    return log_normal(name, figure.value, figure.low, figure.high)


def _cost(price: float | None, power_w: Draws | None, price_of_watt: float | None) -> Draws | None:
    """Price and energy; None where one of them is unknown."""
    if price is None:
        return None
    purchase = np.full(draws.N, price)
    if price_of_watt is None:
        return purchase
    return None if power_w is None else purchase + price_of_watt * power_w


def _why_left_out(
    answer: TenderAnswer,
    bundle: Bundle,
    verdict: str,
    rtf: Draws | None,
    cost: Draws | None,
) -> str:
    """Why a bid may not be chosen; empty if it may. A trial chooses among tries."""
    if answer.quick and not bundle.tender.quick:
        return "a try with a quick bundle"
    if verdict == INVALID:
        return "its answer is INVALID"
    if rtf is None:
        return "its real-time factor of the target is unknown"
    if answer.offer.price is None:
        return "its price is unknown"
    if cost is None:
        return NO_POWER
    return ""


def _power(
    drawn_as: str,
    answer: TenderAnswer,
    bundle: Bundle,
    rtf: Draws | None,
) -> Draws | None:
    """Power in W of all offered nodes, which are as busy as those of the run of the target.

    From the projected power, which is that of the profile where it states one; else from energy
    and time; else the limit of a node. None if nothing is known.
    """
    run = bundle.tender.target_rule.name
    offer = answer.offer
    projected, _ = answer.evidence(run, POWER)
    if projected is not None:
        return _of_all_nodes(drawn_as, projected, answer, run)
    measured = _measured_power(answer, bundle)
    if measured is not None:
        return _of_all_nodes(drawn_as, measured, answer, run)
    joules, _ = answer.evidence(run, JOULES)
    if joules is not None and rtf is not None:
        time, _ = answer.evidence(run, RTF)
        figure = RTF if _are_of_one_projection(joules, time) else JOULES
        per_event = _draws(f"{drawn_as}/{figure}", joules)
        events_per_s = bundle.tender.target_rule.expected.events_per_s
        return per_event * events_per_s / rtf * offer.nodes / _nodes_of(joules, answer, run)
    if offer.node_limit_w is None:
        return None
    return np.full(draws.N, offer.node_limit_w * offer.nodes)


def _of_all_nodes(
    drawn_as: str, of_run: Range | ProjectedFigure, answer: TenderAnswer, run: str
) -> Draws:
    """Power of all offered nodes in W, from that of the nodes of a run."""
    return (
        _draws(f"{drawn_as}/{POWER}", of_run) * answer.offer.nodes / _nodes_of(of_run, answer, run)
    )


def _measured_power(answer: TenderAnswer, bundle: Bundle) -> Range | None:
    """Power in W over the measured repetitions of the target's run, each from its own energy and
    time; None where one of them was not measured.
    """
    rule = bundle.tender.target_rule
    run = answer.run(rule.name)
    if run is None:
        return None
    powers: list[float] = []
    for repetition in run.repetitions:
        joules = repetition.joules_per_synaptic_event
        if joules is None:
            return None
        powers.append(joules * rule.expected.events_per_s / repetition.real_time_factor)
    return Range(value=median(powers), low=min(powers), high=max(powers))


def _are_of_one_projection(
    figure: Range | ProjectedFigure, other: Range | ProjectedFigure | None
) -> bool:
    """Whether two figures were projected together, so that a draw of one belongs to that of the
    other: a run that takes longer takes more energy, at about the same power.
    """
    if not isinstance(figure, ProjectedFigure) or not isinstance(other, ProjectedFigure):
        return False
    same_nodes = (figure.nodes, figure.layout) == (other.nodes, other.layout)
    return same_nodes and figure.method == other.method


def _nodes_of(figure: Range | ProjectedFigure, answer: TenderAnswer, run: str) -> int:
    """The nodes for which a figure was projected, or on which the run was measured."""
    if isinstance(figure, ProjectedFigure):
        return figure.nodes
    measured_run = answer.run(run)
    assert measured_run is not None  # whose figure it is
    return measured_run.layout.nodes


def sentence(offers: ComparedOffers) -> str:
    """The answer: the cheapest offer that reaches the target, with its probability.

    Example:
        >>> sentence(ComparedOffers([], np.inf, False, {}))
        'No offer can be compared.'
    """
    words = _sentence(offers)
    if offers.trial:
        return f"A trial with a quick bundle, whose figures are no offers: {words}"
    return words


def _sentence(offers: ComparedOffers) -> str:
    """The same, whether or not it is a trial."""
    goal = ""
    if np.isfinite(offers.reach):
        goal = f" to reach a real-time factor of {number(offers.reach)} with the mini-app"
    leader = _leader(offers)
    if leader is None:
        return f"No offer can be compared{goal}."
    share = offers.best[leader.name]
    if share == 0:
        return f"No offer is likely{goal}: under 1 % of the draws."
    warning = "" if leader.verdict == VALID else f" Its answer is {leader.verdict}."
    probability = f"in {chance(share)} of the draws"
    if share >= SURE_SHARE:
        return f"{leader.name} is the cheapest offer{goal}, {probability}.{warning}"
    equals = [bid.name for bid in _leaders(offers)]
    if len(equals) > 1:
        return (
            f"No offer is surely the cheapest{goal}: {listed(equals)} lead alike, each"
            f" {probability}.{warning}"
        )
    return f"No offer is surely the cheapest{goal}: {leader.name} leads, {probability}.{warning}"


def _nest_in_words(run: NestRun) -> str:
    """How long NEST took on a layout."""
    figure = run.real_time_factor
    factor = f"{number(figure.value)} ({number(figure.low)}-{number(figure.high)})"
    layout = f"{counted(run.layout.nodes, 'node')}, {counted(run.layout.ranks, 'rank')}"
    return f"NEST takes {factor} times real time on {layout} x {run.layout.threads} threads"


def _leader(offers: ComparedOffers) -> Bid | None:
    """The bid that is the cheapest in most draws; None where no bid may be chosen."""
    candidates = [bid for bid in offers.bids if bid.name in offers.best]
    return max(candidates, key=lambda bid: offers.best[bid.name], default=None)


def _leaders(offers: ComparedOffers) -> list[Bid]:
    """The bids that are the cheapest in as many draws as the leader, which is one of them."""
    most = max(offers.best.values(), default=0.0)
    return [bid for bid in offers.bids if math.isclose(offers.best.get(bid.name, -1.0), most)]


def lines(offers: ComparedOffers) -> list[str]:
    """Offers that were left out, runs of NEST, and what decides if no offer is the cheapest.

    Example:
        >>> lines(ComparedOffers([], np.inf, False, {}))
        []
    """
    texts = [f"{bid.name} is left out: {bid.left_out}." for bid in offers.bids if bid.left_out]
    nobody = 1 - sum(offers.best.values())
    if offers.best and np.isfinite(offers.reach) and nobody > LEAST_SHARE:
        texts.append(
            "Cheapest: of the offers that reach the target; none does in"
            f" {chance(nobody)} of the draws."
        )
    if any(bid.answer.nest for bid in offers.bids):
        texts.append(
            f"The ranking is by {OUR_FACTOR}. That of NEST is beside it, of {offers.nest_run}:"
        )
    for bid in offers.bids:
        texts += [f"{bid.name}: {_nest_in_words(run)}." for run in bid.answer.nest]
    texts += offers.remarks
    leader = _leader(offers)
    if leader is None or offers.best[leader.name] >= SURE_SHARE:
        return texts
    if leader.reached is not None and leader.reached < SURE_SHARE:
        texts.append(f"The {leader.basis} real-time factor of {leader.name} decides.")
    elif leader.cost is not None and np.ptp(leader.cost) > 0:
        decides = f"The power of {leader.name} and of the others decides"
        texts.append(f"{decides}: ask for a meter reading.")
    return texts


def table(offers: ComparedOffers) -> Table:
    """A row for each offer, in the order in which they were given.

    Example:
        >>> [column.name for column in table(ComparedOffers([], np.inf, False, {})).columns]
        ['offer', 'best', 'cost', 'reached', 'rtf', 'committed', 'power', 'nodes', 'checked']
    """
    columns = [
        Column("offer", "offer"),
        Column("best", "cheapest"),
        Column("cost", f"cost (1000 {offers.currency})"),
        Column("reached", "target reached"),
        Column("rtf", OUR_FACTOR.removeprefix("the ")),
        Column("committed", "promised"),
        Column("power", "power (kW)"),
        Column("nodes", "nodes"),
        Column("checked", "checked"),
    ]
    return Table(columns, [_row(bid, offers) for bid in offers.bids], "Offers")


def _row(bid: Bid, offers: ComparedOffers) -> dict[str, Cell]:
    """The cells of an offer, by column."""
    promised = _promised(bid)
    power_kw = None if bid.power_w is None else 1e-3 * bid.power_w
    share_cheapest = offers.best.get(bid.name)
    return {
        "offer": bid.name,
        "checked": bid.verdict,
        "nodes": str(bid.answer.offer.nodes),
        "rtf": f"{interval(bid.rtf)}, {bid.basis}" if bid.rtf is not None else "unknown",
        "committed": number(promised) if promised else "none",
        "reached": "unknown" if bid.reached is None else chance(bid.reached),
        "power": interval(power_kw),
        "cost": interval(None if bid.cost is None else 1e-3 * bid.cost, 3),
        "best": "left out" if share_cheapest is None else chance(share_cheapest),
    }


def _promised(bid: Bid) -> float | None:
    """The real-time factor of the target that a bidder promises."""
    return bid.answer.promised("target", RTF)


def content(offers: ComparedOffers) -> dict[str, Any]:
    """The content for JSON; intervals are 95 %.

    Example:
        >>> content(ComparedOffers([], np.inf, False, {}))["offers"]
        []
    """
    rows = [
        {
            "offer": bid.name,
            "verdict": bid.verdict,
            "nodes": bid.answer.offer.nodes,
            "basis": bid.basis,
            "committed": _promised(bid),
            "reached": bid.reached,
            "cheapest": offers.best.get(bid.name),
            "left_out": bid.left_out or None,
            "nest": [run.model_dump() for run in bid.answer.nest],
            RTF: _interval_content(bid.rtf),
            POWER: _interval_content(bid.power_w),
            "cost": _interval_content(bid.cost),
        }
        for bid in offers.bids
    ]
    return {
        "sentence": sentence(offers),
        "trial": offers.trial,
        "target": offers.reach if np.isfinite(offers.reach) else None,
        "offers": rows,
        "lines": lines(offers),
    }


def _interval_content(values: Draws | None) -> dict[str, float] | None:
    if values is None:
        return None
    middle, low, high = draws.interval(values)
    return {"value": middle, "low": low, "high": high}
