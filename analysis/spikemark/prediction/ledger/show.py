"""A ledger as tables, sentences and JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cells, Column, Table
from spikemark.quantities.words import counted, percent

from .entry import ASKED, METHODS, Entry
from .quantities import QUANTITIES
from .score import GROUPS, HELD, MISSED, NOT_VALID, OPEN, Score, Scores

GOAL = "95 % intervals should hold in 90 to 99 % of cases."
CLUSTERED = (
    "Numbers of one run rise and fall together, and so do several predictions of it. The intervals of hit"
    " rates count each number as if it stood alone, so they are too narrow."
)
#: What names of groups mean, by the group.
MEANING = {
    "asked": ASKED,
    "method": METHODS,
    "quantity": {name: one.what for name, one in QUANTITIES.items()},
    "run": {"measured": "measured on a machine", "simulated": "simulated (SimGrid)"},
}
#: Cells of a score.
COLUMNS: Cells = {
    Column("entry", "entry"): lambda score: str(score.entry.number),
    Column("verdict", "verdict"): lambda score: score.verdict,
    Column("run", "run"): lambda score: score.entry.label,
    Column("asked", "asked"): lambda score: score.entry.asked,
    Column("method", "method"): lambda score: score.entry.method,
    Column("quantity", "quantity"): lambda score: score.name,
    Column("predicted", "predicted, with 95 % interval", each=True): lambda score: Quantity(
        score.figure.value, score.figure.low, score.figure.high, kind=score.figure.kind
    ),
    Column("measured", "came out", each=True): lambda score: score.measured,
    Column("error", "error", words=percent): lambda score: score.error,
    Column("runs", "runs"): lambda score: f"{len(score.runs)}{' (disturbed)' if score.disturbed else ''}",
    Column("frozen", "frozen (UTC)"): lambda score: score.entry.frozen,
}


def sentence(made: Scores) -> str:
    """What the ledger comes to, in one sentence."""
    rate, entries = made.rate, len(made.ledger.entries)
    frozen = f"{counted(entries, 'prediction')} with {counted(len(made.scores), 'number')} frozen"
    if not rate.of:
        return f"{frozen}; no number is scored yet."
    share = rate.share
    low, high = (percent(end) for end in share.interval)
    said = (
        f"{frozen}: {rate.held} of {rate.of} scored intervals held ({percent(share.value)}; {low} to {high})"
    )
    rest = [f"{made.count(v)} {v}" for v in (NOT_VALID, OPEN) if made.count(v)]
    return f"{said}{'; ' if rest else ''}{', '.join(rest)}."


#: Columns that a terminal has no room for.
WIDE = ("asked", "runs", "frozen")


def table(made: Scores, scores: Iterable[Score] | None = None, narrow: bool = False) -> Table:
    """One row for every number, failures first; all columns, or those that a terminal has room for."""
    shown = made.failures_first if scores is None else scores
    columns = {c: cell for c, cell in COLUMNS.items() if not (narrow and c.name in WIDE)}
    return Table.of(columns, shown, "All predictions, failures first", "predictions")


def rates(made: Scores) -> list[Table]:
    """Hit rates, one table for each way to group numbers; the lowest first."""
    return [
        Table.of(_rates(MEANING[group]), made.rates(of).items(), f"Hit rates by {head}", group)
        for group, (head, of) in GROUPS.items()
    ]


def _rates(meaning: Mapping[str, str]) -> Cells:
    """Cells of the name of a group and its Rate."""
    return {
        Column("group", ""): lambda row: row[0],
        Column("held", "held", "counted"): lambda row: row[1].held,
        Column("of", "of", "counted"): lambda row: row[1].of,
        Column("share", "hit rate, with 95 % interval", words=percent): lambda row: row[1].share,
        Column("what", "what it is"): lambda row: meaning.get(row[0], ""),
    }


def reasons(made: Scores) -> list[str]:
    """Why numbers were not scored, each reason once, with how many numbers it concerns."""
    found: dict[str, int] = {}
    for score in made.scores:
        if score.verdict == OPEN:
            found[score.measured.reason] = found.get(score.measured.reason, 0) + 1
    return [f"not scored: {counted(count, 'number')}: {why}" for why, count in found.items()]


def lines(made: Scores) -> list[str]:
    """The lines below the tables."""
    return [
        *reasons(made), GOAL, CLUSTERED,
        f"The digest of the last entry is {made.ledger.head}. Note it elsewhere: `--head` then shows whether"
        " entries were removed from the end, or the ledger was rewritten.",
    ]  # fmt: skip


def content(made: Scores) -> dict[str, Any]:
    """The content for JSON."""
    return {
        "ledger": str(made.ledger.path), "head": made.ledger.head, "sentence": sentence(made),
        "entries": len(made.ledger.entries), "numbers": len(made.scores),
        "verdicts": {verdict: made.count(verdict) for verdict in (NOT_VALID, MISSED, HELD, OPEN)},
        "hit_rate": made.rate.share.content(),
        "hit_rates": {
            group: {name: {"held": rate.held, "of": rate.of} | rate.share.content()
                    for name, rate in made.rates(of).items()}
            for group, (_, of) in GROUPS.items()
        },
        "tampering": made.complaints,
        "predictions": [_content(score) for score in made.failures_first],
    }  # fmt: skip


def _content(score: Score) -> dict[str, Any]:
    one = score.entry
    return {
        "entry": one.number, "frozen": one.frozen, "verdict": score.verdict, "why": list(score.wrong),
        "run": one.label, "asked": one.asked, "method": one.method, "quantity": score.name,
        "predicted": score.figure.model_dump(), "measured": score.measured.content(), "error": score.error,
        "runs": [{"folder": str(run.path), "started": run.record.provenance.started} for run in score.runs],
        "disturbed": score.disturbed,
    }  # fmt: skip


def added(entries: list[Entry], path: str) -> list[str]:
    """What `ledger add` says."""
    said = [
        f"entry {one.number}, frozen {one.frozen}: {one.label}, {one.method}: "
        + ", ".join(f"{name} {f.value:.4g} ({f.low:.4g}-{f.high:.4g})" for name, f in one.figures.items())
        for one in entries
    ]
    return [*said, f"digest of the last entry: {entries[-1].sha256} ({path})"]
