"""Tables and numbers of docs/ from the study `mam`: the multi-area model."""

from spikemark.documents.stored import Stored, matching, one, shown
from spikemark.quantities.words import number

from .cells import AWARE, PLAIN, each, markdown, share


def areas(s: Stored) -> str:
    """Real-time factors by nodes, schedule and placement, with the imbalance."""
    ways = {
        "conventional": (PLAIN, "neurons dealt out"),
        "structure-aware, area on one node": (AWARE, "area on one rank"),
        "structure-aware, area on its nodes": (AWARE, "area on its ranks"),
        "placement only, area on its nodes": ("placement only", "area on its ranks"),
    }
    rows, unequal = s.rows("mam"), s.rows("imbalance")
    lines = []
    for n in sorted(each(rows, "ranks")):
        line = [f"{n}"]
        for schedule, placement in ways.values():
            where = {"ranks": n, "schedule": schedule, "placement": placement}
            factor, ratio = one(rows, "real_time_factor", **where), one(unequal, "imbalance", **where)
            line.append("" if factor is None else f"{number(factor)} ({shown(ratio, number)})")
        lines.append(line)
    return markdown(["nodes", *ways], lines)


def apart(s: Stored) -> str:
    """The largest difference between whole and spread areas where both are possible."""
    rows = [r for r in matching(s.rows("groups"), schedule=AWARE) if r["area"] is not None]
    return share(max(abs(r["saved_percent"]) for r in rows))


def unequal(s: Stored) -> str:
    """How much the slowest node exceeds the mean, for spread areas on more nodes than there are areas."""
    rows = matching(s.rows("imbalance"), schedule=AWARE, placement="area on its ranks")
    found = [r["imbalance"] - 1 for r in rows if r["ranks"] >= 32]
    return f"{100 * min(found):.0f} to {100 * max(found):.0f} %"


#: What marks may name.
PARTS = {"areas": areas, "apart": apart, "unequal": unequal}
