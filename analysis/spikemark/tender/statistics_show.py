"""The statistics of a contract as tables, as one sentence, and as JSON."""

import itertools
from dataclasses import dataclass
from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent

from . import statistics
from .statistics import MEDIAN, POWER, RISK, RULES, RUNS, TOLERANCES, Groups, Spread

DIFFERS = 0.05  # of a probability, from where resampling and the normal differ
SAME_DAY = (
    "Runs count as independent. Runs of one day on the same nodes are more alike than those of other days:"
    " take the spread from runs on several days."
)


@dataclass(frozen=True)
class Contract:
    """What the tables are made of. `groups`: the measured runs; None where the spread was given."""

    spread: Spread
    groups: Groups | None = None
    shortfall: float = statistics.SHORTFALL


def sentence(of: Contract) -> str:
    """What to agree on where the median counts, or that nothing keeps both risks small."""
    found = statistics.remedy(of.spread, MEDIAN, of.shortfall)
    spread, risk = percent(of.spread.value, 1), percent(RISK)
    if found is None:
        return (
            f"With a spread of {spread}, no median of up to {statistics.MOST} runs keeps both risks at {risk}"
            f" for a shortfall of {_share(of.shortfall)}."
        )
    runs = "one run" if found.runs == 1 else f"the median of {counted(found.runs, 'run')}"
    return (
        f"With a spread of {spread}, {runs} and a tolerance of {_between(found)} keep both risks at {risk}:"
        f" that a good machine fails, and that one that falls short by {_share(of.shortfall)} passes."
    )


def _share(share: float) -> str:
    return percent(share, 0 if abs(round(100 * share) - 100 * share) < 1e-9 else 1)


def _between(found: statistics.Remedy) -> str:
    ends = dict.fromkeys((percent(found.least, 1), percent(found.most, 1)))
    return " to ".join(ends)


def where_from(of: Contract) -> list[str]:
    """Where the spread comes from."""
    if of.groups is None:
        return [f"The spread of runs, {percent(of.spread.value, 1)}, was given.", SAME_DAY]
    low, high = of.spread.interval()
    runs = len(of.groups.relative(MEDIAN))
    return [
        f"The spread of runs is {percent(of.spread.value, 1)} ({percent(low, 1)} to {percent(high, 1)}),"
        f" measured, from {counted(runs, 'run')} with {counted(int(of.spread.degrees), 'degree')} of freedom;"
        " probabilities are averaged over what it may be.",
        SAME_DAY,
    ]  # fmt: skip


def tables(of: Contract) -> list[Table]:
    """Failures of a good machine, runs that detect a shortfall, and what mends both."""
    title = "Probability that a machine that just meets its commitment fails"
    found = [_failures(of, title if of.groups is None else f"{title}, by normal runs", drawn=False)]
    if of.groups is not None:
        found.append(_failures(of, f"{title}, by resampling the measured runs", drawn=True))
    return [*found, _needed(of), _remedies(of)]


def _failures(of: Contract, title: str, drawn: bool) -> Table:
    columns = {
        Column("rule", "rule"): lambda row: row[0],
        Column("tolerance", "tolerance", words=_share): lambda row: row[1],
    }
    columns |= {
        Column(f"runs_{n}", counted(n, "run"), "modelled", words=_percent): lambda row, n=n: _fails(
            of, n, row[1], row[0], drawn
        )
        for n in RUNS
    }
    rows = itertools.product(RULES, TOLERANCES)
    return Table.of(columns, rows, title, "failures_resampled" if drawn else "failures")


def _percent(share: float) -> str:
    return percent(share) if share >= 0.005 else percent(0) if share < 5e-5 else percent(share, 1)


def _fails(of: Contract, runs: int, tolerance: float, rule: str, drawn: bool) -> float:
    if drawn:
        return statistics.resampled(of.groups, runs, tolerance, rule)
    return statistics.fails(of.spread, runs, tolerance, rule)


def _needed(of: Contract) -> Table:
    columns = {Column("rule", "rule"): lambda rule: rule} | {
        Column(f"tolerance_{100 * t:g}", f"tolerance {_share(t)}", "modelled"): lambda rule, t=t: _detects(
            of, t, rule
        )
        for t in TOLERANCES
    }
    title = f"Runs that detect a shortfall of {_share(of.shortfall)} with a probability of {percent(POWER)}"
    notes = ["In parentheses: how often so many runs fail a machine that just meets its commitment."]
    return Table.of(columns, RULES, title, "needed", notes)


def _detects(of: Contract, tolerance: float, rule: str) -> str:
    found = statistics.runs_needed(of.spread, tolerance, rule, of.shortfall)
    if found is None:
        return f"none up to {statistics.MOST}"
    alarm = statistics.fails(of.spread, found, tolerance, rule)
    return f"{found} ({_percent(alarm)})"


def _remedies(of: Contract) -> Table:
    columns = {
        Column("rule", "rule"): lambda row: row[0],
        Column("runs", "runs"): lambda row: str(row[1].runs) if row[1] else f"none up to {statistics.MOST}",
        Column("tolerance", "tolerance", "modelled"): lambda row: _between(row[1]) if row[1] else "",
    }
    rows = [(rule, statistics.remedy(of.spread, rule, of.shortfall)) for rule in RULES]
    title = f"What keeps both risks at {percent(RISK)} for a shortfall of {_share(of.shortfall)}"
    return Table.of(columns, rows, title, "remedies")


def differences(of: Contract) -> list[str]:
    """Says where resampling and the normal distribution differ, and what resampling cannot know."""
    if of.groups is None:
        return []
    cells = [
        (abs(normal - drawn), rule, n, tolerance, normal, drawn)
        for rule in RULES
        for n in RUNS
        for tolerance in TOLERANCES
        for normal, drawn in [(_fails(of, n, tolerance, rule, d) for d in (False, True))]
    ]
    far = sorted((cell for cell in cells if cell[0] > DIFFERS), reverse=True)
    each = of.groups.relative(MEDIAN)
    furthest = (each.max() - 1) / of.spread.value if of.spread.value else 0.0
    limit = (
        f"The slowest of {counted(len(each), 'run')} lies {number(furthest, 2)} spreads above the middle;"
        " resampling knows nothing slower than it."
    )
    points = f"{100 * DIFFERS:g} percentage points"
    if not far:
        return [f"Resampling agrees with normal runs within {points} in all {len(cells)} cells.", limit]
    _, rule, n, tolerance, normal, drawn = far[0]
    by_rule = {r: sum(cell[1] == r for cell in far) for r in RULES}
    said = ", ".join(f"{count} of the rule {r}" for r, count in by_rule.items() if count)
    return [
        f"Resampling differs from normal runs by more than {points} in {len(far)} of {len(cells)} cells"
        f" ({said}), most for the {rule} of {counted(n, 'run')} with a tolerance of {_share(tolerance)}:"
        f" {_percent(drawn)} instead of {_percent(normal)}.",
        limit,
    ]


def content(of: Contract) -> dict[str, Any]:
    """The content for JSON."""
    interval = of.spread.interval()
    many = of.spread.degrees < float("inf")
    remedies = {rule: statistics.remedy(of.spread, rule, of.shortfall) for rule in RULES}
    return {
        "sentence": sentence(of),
        "spread": {"value": of.spread.value, "interval": None if interval is None else list(interval),
                   "degrees": of.spread.degrees if many else None,
                   "kind": "given" if of.groups is None else "measured"},
        "shortfall": of.shortfall, "power": POWER, "risk": RISK,
        "tables": {table.name: table.content() for table in tables(of)},
        "remedies": {
            rule: None if r is None else {"runs": r.runs, "tolerance": [r.least, r.most]}
            for rule, r in remedies.items()
        },
        "lines": [*where_from(of), *differences(of)],
    }  # fmt: skip
