"""Tables and numbers of docs/ from the study `heterogeneity`: unequal areas."""

from spikemark.documents.stored import Row, Stored, matching, one, shown
from spikemark.quantities.words import number, percent

from .cells import AWARE, OVERLAPPED, PLAIN, each, markdown, share

SPREADS = {"size_cv": "sizes", "area_rate_cv": "rates"}


def _with_saved(row: Row) -> str:
    saved = row["saved_percent"]
    return number(row["real_time_factor"]) + (f" ({number(saved, 2)} %)" if saved not in ("", None) else "")


def spreads(s: Stored) -> str:
    """Real-time factors by spread of sizes and of rates."""
    schedules = (PLAIN, AWARE, OVERLAPPED)
    heads = ["spread", *(f"{of}: {name}" for of in SPREADS.values() for name in schedules)]
    lines = []
    for spread in each(s.rows("size_cv"), "size_cv"):
        cells = [
            _with_saved(next(matching(s.rows(by), **{by: spread, "schedule": name})))
            for by in SPREADS
            for name in schedules
        ]
        lines.append([percent(spread), *cells])
    return markdown(heads, lines)


def by_ratio(s: Stored) -> str:
    """Structure-aware real-time factors by D."""
    rows = list(matching(s.rows("delay_ratio"), schedule=AWARE))
    ratios = sorted(each(rows, "delay_ratio"))
    lines = [
        [
            f"sizes spread by {percent(spread)}" if spread else "equal areas",
            *(shown(one(rows, "real_time_factor", size_cv=spread, delay_ratio=d), number) for d in ratios),
        ]
        for spread in each(rows, "size_cv")
    ]
    return markdown(["", *(f"D = {d}" for d in ratios)], lines)


def least_saved(s: Stored) -> str:
    """What the structure-aware schedule saves at least, of the run time."""
    return share(min(r["saved_percent"] for by in SPREADS for r in matching(s.rows(by), schedule=AWARE)))


#: What marks may name.
PARTS = {"spreads": spreads, "by-ratio": by_ratio, "least-saved": least_saved}
