"""What a buyer reads of offers, predicted or bidden: a row for each, one sentence, what numbers rest on, and
which unknown value decides between them.

An offer is a machine of `spikemark compare`, or the answer of a bidder to a tender.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number

MOST, MOST_WORDS = 200, 30  # characters and words of the sentence
SHOWN = 8  # effects in a table
MISSES = "misses the target"
WHO = "machine"
ENERGY = "energy per synaptic event (µJ)"
SENSITIVITY = (
    "Each row moves one value to both ends of its interval, and no other. Values that change which offer"
    " needs the least come first, then those that move the figure most."
)


@dataclass(frozen=True)
class Offer:
    """One row of the first table. `likely`, `sure`: the fewest nodes for the target, in words.

    `energy` in uJ per synaptic event, `cost` over the life in the currency of the table. `remark`: a word on
    the whole offer, such as the verdict of the checker. `committed`: the real-time factor that is promised.
    """

    name: str
    likely: str
    sure: str
    time: Quantity
    energy: Quantity
    cost: Quantity
    remark: str = ""
    committed: Quantity | None = None


@dataclass(frozen=True)
class Basis:
    """What a number of an offer rests on, in words. `figure`: its name with the unit."""

    offer: str
    figure: str
    found: Quantity
    rests_on: str


@dataclass(frozen=True)
class Effect:
    """What an unknown value of an offer does to the figure that decides.

    `ends`: the figure with the value at its low and at its high end; None where the offer then misses the
    target. `orders`: the offers at these ends, the one that needs the least first, without those that miss
    the target; `usual`: the same with all values at their middles. `time`: real-time factors at the ends.
    `no_value`: nothing is known of the value, not even an interval, so nothing can be said of the order.
    """

    offer: str
    path: str
    value: str
    how: str
    usual: tuple[str, ...]
    middle: float | None = None
    ends: tuple[float | None, float | None] = (None, None)
    orders: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    time: tuple[float, float] | None = None
    nodes: str = ""
    no_value: bool = False

    @property
    def least(self) -> list[str]:
        """The offers that need the least at either end, and do not at the middle; "" where none is left."""
        best = self.usual[0] if self.usual else ""
        found = dict.fromkeys(order[0] if order else "" for order in self.orders)
        return [] if self.no_value else [name for name in found if name != best]

    @property
    def turns(self) -> bool:
        """Does it change which offer needs the least, or leave that open?"""
        return self.no_value or bool(self.least)

    @property
    def reorders(self) -> bool:
        """Does it change the order of the offers at all?"""
        return self.turns or any(order != self.usual for order in self.orders)

    @property
    def width(self) -> float:
        """How far apart the ends are, over the smaller one; infinite where one of them misses the target."""
        if self.no_value or None in self.ends:
            both = self.ends == (None, None) and not self.no_value
            return 0.0 if both else float("inf")
        low, high = sorted(self.ends)
        return (high - low) / low if low > 0 else (float("inf") if high > low else 0.0)

    @property
    def spread(self) -> float:
        """How far apart the real-time factors at the ends are, over the smaller one."""
        return 0.0 if self.time is None else max(self.time) / min(self.time) - 1

    def content(self) -> dict[str, Any]:
        """The content for JSON. `ends`: null where the offer then misses the target."""
        return {
            "offer": self.offer, "path": self.path, "value": self.value, "how": self.how,
            "middle": self.middle, "ends": list(self.ends), "orders": [list(o) for o in self.orders],
            "order": list(self.usual), "changes_least": self.turns, "changes_order": self.reorders,
            "width": self.width if self.width < float("inf") else None,
            "real_time_factor": None if self.time is None else list(self.time), "no_value": self.no_value,
        }  # fmt: skip


def ranked(effects: Iterable[Effect]) -> list[Effect]:
    """What changes which offer needs the least first, then what changes the order, then what moves most."""
    return sorted(effects, key=lambda e: (e.no_value, e.turns, e.reorders, e.width, e.spread), reverse=True)


def table(offers: list[Offer], title: str, cost: str, notes: list[str], who: str = WHO) -> Table:
    """The first table. `cost`: the head of its column, with the currency; `who`: what an offer is called."""
    columns = {Column("offer", who): lambda o: o.name}
    if any(o.remark for o in offers):
        columns[Column("remark", "checked")] = lambda o: o.remark
    columns |= {
        Column("likely", "nodes, likely"): lambda o: o.likely,
        Column("sure", "nodes, sure"): lambda o: o.sure,
        Column("real_time_factor", "real-time factor", each=True): lambda o: o.time,
    }
    if any(o.committed is not None for o in offers):
        columns[Column("committed", "committed real-time factor")] = lambda o: o.committed
    columns |= {
        Column("energy_per_event_uj", ENERGY, each=True): lambda o: o.energy,
        Column("cost", cost, each=True, words=money): lambda o: _amount(o.cost),
    }
    found = Table.of(columns, offers, title)
    return Table(found.columns, found.rows, title, "offers", notes)


def _amount(cost: Quantity) -> Quantity:
    """Drops an interval that rounds to its value."""
    same = cost and cost.interval and len({money(x) for x in (cost.value, *cost.interval)}) == 1
    return replace(cost, low=None, high=None) if same else cost


def money(value: float) -> str:
    """An amount with three significant digits.

    >>> money(3355198)
    '3\\u202f360\\u202f000'
    """
    return number(float(f"{value:.3g}"))


def bases(found: list[Basis], title: str, who: str = WHO) -> Table:
    """Time, energy and cost of each offer, and what each number rests on."""
    columns = {
        Column("offer", who): lambda b: b.offer,
        Column("figure", "figure"): lambda b: b.figure,
        Column("found", "number, interval, kind", each=True, words=money): lambda b: _amount(b.found),
        Column("rests_on", "rests most on"): lambda b: b.rests_on,
    }
    return Table.of(columns, found, title)


def sensitivity(effects: list[Effect], figure: str, who: str = WHO) -> Table:
    """The effects that are largest. `figure`: what decides, with its unit."""
    columns = {
        Column("offer", who): lambda e: e.offer,
        Column("value", "unknown value"): lambda e: e.value,
        Column("order", "needs the least at its ends"): _order,
        Column("ends", figure, words=money): _ends,
        Column("time", "real-time factor"): lambda e: "" if e.time is None else tuple(sorted(e.time)),
        Column("nodes", "nodes"): lambda e: e.nodes,
        Column("how", "how to find out"): lambda e: e.how,
    }
    if not any(e.nodes for e in effects):
        columns = {column: cell for column, cell in columns.items() if column.name != "nodes"}
    shown = effects[:SHOWN]
    left = len(effects) - len(shown)
    notes = [f"{counted(left, 'further value')} moves less." if left == 1 else
             f"{counted(left, 'further value')} move less."] if left else []  # fmt: skip
    found = Table.of(columns, shown, "Which unknown value decides")
    return Table(found.columns, found.rows, found.title, "sensitivity", notes)


def _order(e: Effect) -> str:
    if e.no_value:
        return "cannot be told"
    if not e.usual and not any(e.orders):
        return "no machine"
    firsts = list(dict.fromkeys(order[0] if order else "no machine" for order in e.orders))
    return firsts[0] if len(firsts) == 1 else " or ".join(firsts)


def _ends(e: Effect) -> Cell:
    if e.no_value:
        return "unknown"
    known = sorted(end for end in e.ends if end is not None)
    if len(known) == 2:
        return known[0], known[1]
    return f"{money(known[0])}, or {MISSES}" if known else MISSES


def fitting(sentences: Iterable[str]) -> str:
    """The first sentence that is short enough to be read at a glance; else the last one, cut at a word."""
    last = ""
    for last in sentences:
        if len(last) <= MOST and len(last.split()) <= MOST_WORDS:
            return last
    words = last[: MOST - 2].split(" ")[:MOST_WORDS]
    return f"{' '.join(words[:-1])} …"
