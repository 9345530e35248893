"""Answers to a tender side by side: which costs the least over its life, and what that rests on."""

from collections.abc import Iterator
from dataclasses import dataclass

from spikemark.core.errors import BadInput
from spikemark.prediction.life import Life
from spikemark.prediction.offers import ENERGY as HEAD
from spikemark.prediction.offers import Basis, Effect, Offer, fitting, ranked
from spikemark.quantities.quantity import Quantity, missing, worst
from spikemark.quantities.words import counted, listed, number

from .bundle import Bundle
from .checked import INVALID, VALID
from .received_bids import ENERGY, RTF, Bid, target

NO_SHEET = "no commitment.json (`spikemark tender commit`)"
TIME_PATH, POWER_PATH, PRICE_PATH = "real-time factor", "power", "price"
MEASURE = "the bidder runs the target"
METER = "the bidder measures power in the runs"
SHEET = "the bidder states it"


@dataclass(frozen=True)
class Compared:
    """Bids beside one another. `run`: the run of the target; `reach`: its real-time factor, None: any."""

    bids: list[Bid]
    life: Life
    run: str
    reach: float | None
    network: str
    tender: str
    currency: str


def beside(bids: list[Bid], bundle: Bundle | None, life: Life, reach: float | None = None) -> Compared:
    """Sets bids side by side. Raises BadInput for several currencies and for an impossible target."""
    if reach is not None and not 0 < reach < float("inf"):
        raise BadInput(f"target_rtf={reach:g}: a real-time factor above 0")
    rule = target(bundle)
    priced = [(bid.commitment.price, bid.name) for bid in bids if bid.commitment and bid.commitment.price]
    used = {paid.currency: name for paid, name in priced}
    if len(used) > 1:
        said = listed(f"{currency} ({name})" for currency, name in used.items())
        raise BadInput(f"price.currency: {said}; allowed: one currency for all offers")
    stated = None if bundle is None else bundle.tender.target.real_time_factor
    return Compared(
        bids, life, rule.name if rule else "target", stated if reach is None else reach,
        bundle.tender.target.network if bundle else "the target",
        bundle.tender.name if bundle else "a tender",
        next(iter(used), "EUR"),
    )  # fmt: skip


def time(of: Compared, bid: Bid) -> Quantity:
    """The real-time factor of the target: measured, or else projected."""
    return bid.of(of.run, RTF).best


def energy(of: Compared, bid: Bid) -> Quantity:
    """The energy of a synaptic event of the target in uJ."""
    found = bid.of(of.run, ENERGY).best
    return found.times(1e6, "uJ") if found else found


def power(of: Compared, bid: Bid) -> Quantity:
    """Power of all nodes in W: as projected, from the energy of the target, or the limit of all nodes."""
    if bid.commitment is None:
        return missing(NO_SHEET, "W", mark="unknown")
    offered = bid.commitment.power
    if made := offered.projected_w:
        ends = (None, None) if None in (made.low, made.high) else (made.low, made.high)
        return Quantity(made.value, *ends, "W", "modelled")
    joules, factor = bid.of(of.run, ENERGY).best, time(of, bid)
    if joules and factor and bid.events_per_s:
        return joules.times(bid.events_per_s / factor.value, "W")
    if offered.node_limit_w is not None:
        return Quantity(offered.node_limit_w * bid.commitment.nodes, unit="W", kind="given")
    return missing("the bidder gives neither power nor energy", "W", mark="unknown")


def price(bid: Bid) -> Quantity:
    """The price of the machine."""
    if bid.commitment is None or bid.commitment.price is None:
        return missing(NO_SHEET if bid.commitment is None else "no price in commitment.json", mark="unknown")
    return Quantity(bid.commitment.price.total, kind="given")


def cost(of: Compared, bid: Bid) -> Quantity:
    """The price, and energy over the life where a price of energy is given; missing if a part is."""
    paid = price(bid)
    if not paid or of.life.price_kwh is None:
        return paid
    watt = power(of, bid)
    if not watt:
        return watt
    spent = watt.times(1e-3 * of.life.hours * of.life.price_kwh, of.currency) if of.life.price_kwh else None
    if spent is None:
        return paid
    ends = spent.interval or (spent.value, spent.value)
    return Quantity(
        paid.value + spent.value, paid.value + ends[0], paid.value + ends[1], of.currency,
        worst((paid.kind, spent.kind)),
    )  # fmt: skip


def sure(of: Compared, bid: Bid) -> bool:
    """Does the whole interval of the real-time factor reach the target?"""
    found = time(of, bid)
    return bool(found) and (of.reach is None or (found.high if found.interval else found.value) <= of.reach)


def likely(of: Compared, bid: Bid) -> bool:
    """Does the middle reach it?"""
    found = time(of, bid)
    return bool(found) and (of.reach is None or found.value <= of.reach)


def possible(of: Compared, bid: Bid) -> bool:
    """Does the low end reach it?"""
    found = time(of, bid)
    return bool(found) and (of.reach is None or (found.low if found.interval else found.value) <= of.reach)


def offers(of: Compared) -> list[Offer]:
    """A row for every bid, in their order."""
    made = []
    for bid in of.bids:
        nodes = "unknown" if bid.commitment is None else str(bid.commitment.nodes)
        made.append(Offer(
            bid.name, nodes if likely(of, bid) else "none", nodes if sure(of, bid) else "none",
            time(of, bid), energy(of, bid), cost(of, bid), _remark(bid), bid.of(of.run, RTF).committed,
        ))  # fmt: skip
    return made


def _remark(bid: Bid) -> str:
    return f"{bid.verdict.verdict}{', only a try' if bid.quick else ''}"


def judged(of: Compared) -> list[Bid]:
    """The bids that may be chosen: neither INVALID nor a try."""
    return [bid for bid in of.bids if bid.verdict.verdict != INVALID and not bid.quick]


def effects(of: Compared) -> list[Effect]:
    """What unknown values of the bids that may be chosen do to the cost and to their order."""
    bids = judged(of)
    known = [bid for bid in bids if cost(of, bid) and time(of, bid)]
    usual = {bid.name: cost(of, bid).value if likely(of, bid) else None for bid in known}
    found = [
        Effect(bid.name, path, f"unknown {path}", how, (), no_value=True)
        for bid in bids
        for path, how, lacks in (
            (PRICE_PATH, SHEET, not price(bid)),
            (POWER_PATH, METER, of.life.price_kwh is not None and not power(of, bid)),
            (TIME_PATH, MEASURE, not time(of, bid)),
        )
        if lacks
    ]
    for bid in known:
        factor, spent = time(of, bid), cost(of, bid)
        if factor.kind != "measured" and factor.interval and of.reach is not None:
            ends = [spent.value if end <= of.reach else None for end in factor.interval]
            found.append(_effect(bid.name, TIME_PATH, MEASURE, usual, ends, factor.interval))
        if spent.interval and spent.low < spent.high:
            ends = [end if usual[bid.name] is not None else None for end in spent.interval]
            found.append(_effect(bid.name, POWER_PATH, METER, usual, ends, None))
    return ranked(found)


def _effect(name: str, path: str, how: str, usual: dict, ends: list, factors: tuple | None) -> Effect:
    orders = [_order(usual | {name: end}) for end in ends]
    kind = "projected" if path == TIME_PATH else "unmeasured"
    return Effect(
        name, path, f"{kind} {path}", how, _order(usual), usual[name], (ends[0], ends[1]),
        (orders[0], orders[1]), factors,
    )  # fmt: skip


def _order(costs: dict[str, float | None]) -> tuple[str, ...]:
    reached = {name: one for name, one in costs.items() if one is not None}
    return tuple(sorted(reached, key=reached.__getitem__))


def sentence(of: Compared) -> str:
    """Which offer costs the least over its life, or why none is named and what decides."""
    return fitting(_sentences(of))


def _sentences(of: Compared) -> Iterator[str]:
    goal = f" for real-time factor {number(of.reach)}" if of.reach is not None else ""
    bids = judged(of)
    if not bids:
        yield f"No offer can be chosen: {_why_none(of)}."
        return
    reach = [bid for bid in bids if possible(of, bid)]
    lacking = [bid for bid in bids if not time(of, bid) or not cost(of, bid)]
    if lacking:
        what = "real-time factor of the target" if not time(of, lacking[0]) else "cost"
        yield f"No verdict{goal}: the {what} of {listed(bid.name for bid in lacking)} is unknown."
        yield f"No verdict{goal}: the {what} of {counted(len(lacking), 'offer')} is unknown."
        return
    if not reach:
        yield f"No offer reaches real-time factor {number(of.reach)}."
        return
    order = sorted(reach, key=lambda bid: cost(of, bid).value)
    best, others = order[0], order[1:]
    decides = _decides(effects(of))
    if not sure(of, best):
        yield f"No verdict{goal}: {best.name} would cost the least, but is not sure to reach it{decides}."
        yield f"No verdict{goal}: {best.name} would cost the least, but is not sure to reach it."
    elif others and _most(of, best) >= min(_least(of, bid) for bid in others):
        yield f"No verdict on cost{goal}: the intervals overlap{decides}."
        yield f"No verdict on cost{goal}: the intervals overlap."
    else:
        yield from _winner(of, best, others, goal)


def _decides(found: list[Effect]) -> str:
    """Which unknown decides, as the end of a sentence."""
    if top := next((effect for effect in found if effect.turns), None):
        return f"; the {top.value} of {top.offer} decides"
    if most := next((effect for effect in found if effect.width > 0), None):
        return f"; no unknown decides alone, the {most.value} of {most.offer} moves most"
    return ""


def _winner(of: Compared, best: Bid, others: list[Bid], goal: str) -> Iterator[str]:
    energy_too = "" if of.life.price_kwh is not None else " without energy"
    least = f"{best.name} costs the least over its life{energy_too}{goal}"
    if others:
        times = min(_least(of, bid) for bid in others) / _most(of, best)
        least += "" if times < 1.05 else f", at least {number(times, 2)} times less than others"
    else:
        least = f"Only {best.name} may be chosen{goal}"
    warn = "" if best.verdict.verdict == VALID else f", but its answer is {best.verdict.verdict}"
    left = len(of.bids) - len(judged(of))
    yield f"{least}{warn}{f'; {left} left out as INVALID or as a try' if left else ''}."
    yield f"{least}{warn}."


def _most(of: Compared, bid: Bid) -> float:
    found = cost(of, bid)
    return found.high if found.interval else found.value


def _least(of: Compared, bid: Bid) -> float:
    found = cost(of, bid)
    return found.low if found.interval else found.value


def _why_none(of: Compared) -> str:
    said = []
    for what, count in (
        ("INVALID", sum(bid.verdict.verdict == INVALID for bid in of.bids)),
        ("a try with a quick bundle", sum(bid.quick and bid.verdict.verdict != INVALID for bid in of.bids)),
    ):
        said += [f"{count} of {len(of.bids)} {'is' if count == 1 else 'are'} {what}"] if count else []
    return " and ".join(said)


def bases(of: Compared) -> list[Basis]:
    """Time, energy and cost of every bid, and what they rest on."""
    made = []
    for bid in of.bids:
        watt = power(of, bid)
        paid = "price of the bidder"
        if of.life.price_kwh is not None:
            paid += f"; power: {number(watt.value)} W, {watt.kind}" if watt else f"; power: {watt.reason}"
        made += [
            Basis(bid.name, "real-time factor", time(of, bid), bid.of(of.run, RTF).rests_on),
            Basis(bid.name, HEAD, energy(of, bid), bid.of(of.run, ENERGY).rests_on),
            Basis(bid.name, f"cost over its life ({of.currency})", cost(of, bid), paid),
        ]
    return made
