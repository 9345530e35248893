"""Answers to a tender as tables, lines and JSON."""

from typing import Any

from spikemark.prediction import offers
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, number

from . import bids_compared, shared
from .bids_compared import Compared
from .fields import FIGURES
from .received_bids import ENERGY, Bid, Evidence

LIKELY = (
    "Likely: the measured or projected real-time factor of the target reaches {}. Sure: its whole interval"
    " does. Checked: the verdict of check.py."
)
NO_TARGET = "The tender states no real-time factor to reach (--target-rtf gives one), so all nodes count."
LIFE = "The life of a machine: {}{}."
NO_ENERGY = "; the cost is the price alone, since no price of energy was given (--price-kwh)"
TRIES = "A try answers a quick bundle: its figures are no offer."
NO_BUNDLE = "Without --bundle, answers cannot be checked: target, counts and rules are those of the bundle."
WHO = "offer"
BESIDE = "Measured, projected and committed"
MOST_REASONS = 8


def first(of: Compared) -> Table:
    """The first table."""
    life = LIFE.format(of.life.said(), NO_ENERGY if of.life.price_kwh is None else "")
    goal = NO_TARGET if of.reach is None else LIKELY.format(number(of.reach))
    notes = [goal, life, *[TRIES] * any(bid.quick for bid in of.bids), *shared.lines(of.bids)]
    title = f"Offers for {of.network} (tender {of.tender})"
    return offers.table(bids_compared.offers(of), title, f"cost over its life ({of.currency})", notes, WHO)


def tables(of: Compared) -> list[Table]:
    """What stands below the sentence."""
    found = [beside(of), verdicts(of), offers.bases(bids_compared.bases(of), "What numbers rest on", WHO)]
    if effects := bids_compared.effects(of):
        found.append(offers.sensitivity(effects, f"cost over its life ({of.currency})", WHO))
    return found


def beside(of: Compared, bids: list[Bid] | None = None) -> Table:
    """What was measured or projected, beside what is committed, of every run and figure of all or some bids.

    The table of a single bid has its name as title.
    """
    several = bids is None or len(bids) > 1
    columns = ({Column("offer", WHO): lambda row: row[0].name} if several else {}) | {
        Column("run", "run"): lambda row: row[1].run,
        Column("figure", "figure"): lambda row: _head(row[1].figure),
        Column("measured", "measured"): lambda row: _shown(row[1].figure, row[1].measured),
        Column("projected", "projected", each=True): lambda row: _shown(row[1].figure, row[1].projected),
        Column("committed", "committed"): lambda row: _shown(row[1].figure, row[1].committed),
        Column("against", "committed against evidence"): lambda row: against(row[1]),
    }
    rows = [(bid, one) for bid in bids or of.bids for one in bid.evidence.values()]
    return Table.of(columns, rows, BESIDE if several else bids[0].name, "beside")


def _head(figure: str) -> str:
    return offers.ENERGY if figure == ENERGY else FIGURES[figure][0]


def _shown(figure: str, found: Quantity) -> Quantity:
    """Energies in uJ, as in the first table."""
    return found.times(1e6, "uJ") if found and figure == ENERGY else found


def against(one: Evidence) -> str:
    """How a promise compares with the evidence: smaller is better."""
    if not (one.committed and one.best):
        return ""
    times = one.committed.value / one.best.value
    if abs(times - 1) < 5e-4:
        return "as the evidence"
    inside = one.best.interval and one.best.low <= one.committed.value <= one.best.high
    where = ", within its interval" if inside else ", better than its interval" if times < 1 else ""
    return f"{change(times, 1)}{where}"


def verdicts(of: Compared) -> Table:
    """What check.py says of every answer."""
    columns = {
        Column("offer", WHO): lambda bid: bid.name,
        Column("offered", "offered"): _offered,
        Column("category", "category"): lambda bid: bid.category,
        Column("verdict", "verdict"): lambda bid: bid.verdict.verdict,
        Column("reasons", "reasons"): _reasons,
    }
    return Table.of(columns, of.bids, "What check.py says", "verdicts")


def _offered(bid: Bid) -> str:
    if bid.commitment is None:
        return "no sheet"
    return f"{bid.commitment.machine}, {counted(bid.commitment.nodes, 'node')}"


def _reasons(bid: Bid) -> str:
    """The first reason of each number, and how many more there are of it."""
    by_number: dict[str, list[str]] = {}
    for reason in bid.verdict.reasons:
        by_number.setdefault(reason.partition(" ")[0], []).append(reason)
    shown = [
        lines[0] + (f" (and {len(lines) - 1} more)" if len(lines) > 1 else "") for lines in by_number.values()
    ]
    left = len(shown) - MOST_REASONS
    more = [f"and {counted(left, 'more reason')}"] if left > 0 else []
    return "\n".join([*shown[:MOST_REASONS], *more]) or "none"


def content(of: Compared) -> dict[str, Any]:
    """The content for JSON."""
    return {
        "kind": "tender_offers", "format_version": 1, "tender": of.tender, "network": of.network,
        "target_rtf": of.reach, "currency": of.currency,
        "life": {"years": of.life.years, "hours_per_year": of.life.hours_per_year,
                 "price_kwh": of.life.price_kwh},
        "sentence": bids_compared.sentence(of),
        "shared_measurements": shared.lines(of.bids),
        "offers": [_offer(of, bid, row) for bid, row in zip(of.bids, bids_compared.offers(of), strict=True)],
        "rests_on": [
            {"machine": b.offer, "figure": b.figure, **b.found.content(), "words": b.rests_on}
            for b in bids_compared.bases(of)
        ],
        "sensitivity": {"figure": "cost", "effects": [e.content() for e in bids_compared.effects(of)]},
    }  # fmt: skip


def _offer(of: Compared, bid: Bid, row: offers.Offer) -> dict[str, Any]:
    sheet = bid.commitment
    none: Quantity = missing(bids_compared.NO_SHEET)
    return {
        "bidder": bid.name, "folder": str(bid.path), "category": bid.category, "quick": bid.quick,
        "machine": sheet.machine if sheet else None, "nodes": sheet.nodes if sheet else None,
        "likely": bids_compared.likely(of, bid), "sure": bids_compared.sure(of, bid),
        "real_time_factor": row.time.content(), "energy_per_event_uj": row.energy.content(),
        "cost": row.cost.content(), "price": bids_compared.price(bid).content(),
        "power_w": bids_compared.power(of, bid).content(),
        "committed": (row.committed or none).content(),
        "verdict": bid.verdict.verdict, "reasons": list(bid.verdict.reasons),
        "evidence": [
            {"run": one.run, "figure": one.figure, "measured": one.measured.content(),
             "projected": one.projected.content(), "committed": one.committed.content(),
             "rests_on": one.rests_on}
            for one in bid.evidence.values()
        ],
    }  # fmt: skip
