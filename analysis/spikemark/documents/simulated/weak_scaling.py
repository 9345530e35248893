"""Tables and numbers of docs/ from the study `weak-scaling`: one area per node."""

from spikemark.documents.stored import Stored, matching, one, shown
from spikemark.quantities.words import number

from .cells import AWARE, OVERLAPPED, each, markdown, share


def factors(s: Stored) -> str:
    """Real-time factors by nodes and schedule, for independent times, and their slopes."""
    rows = list(matching(s.rows("weak_scaling"), correlation=0.0))
    slopes = list(matching(s.rows("slopes"), correlation=0.0))
    schedules = each(rows, "schedule")
    lines = [
        [f"{n}", *(shown(one(rows, "real_time_factor", ranks=n, schedule=x), number) for x in schedules)]
        for n in sorted(each(rows, "ranks"))
    ]
    lines.append(
        ["slope per 100 nodes", *(shown(one(slopes, "slope", schedule=x), number) for x in schedules)]
    )
    return markdown(["nodes", *schedules], lines)


def reductions(s: Stored) -> str:
    """What each part takes less than with the conventional schedule, on the most nodes."""
    rows = s.rows("reductions")
    own = [r for r in rows if r["ranks"] == max(row["ranks"] for row in rows)]
    aware, late, lagging, lagging_late = (
        next(matching(own, schedule=x, correlation=c)) for x in (AWARE, OVERLAPPED) for c in (0.0, 0.9)
    )
    heads = [
        "",
        AWARE,
        "theory (modelled)",
        f"{AWARE}, correlation 0.9",
        OVERLAPPED,
        f"{OVERLAPPED}, correlation 0.9",
    ]
    theory = {"waiting": f"{share(aware['waiting_theory'])} (independent times)",
              "deliver": f"{share(aware['irregular_theory'])} of irregular accesses"}  # fmt: skip
    words = {"waiting": "waiting", "exchange": "exchange", "deliver": "delivery", "run_time": "run time"}
    lines = [
        [words[part], share(aware[f"{part}_percent"]), theory.get(part, ""),
         *(share(r[f"{part}_percent"]) for r in (late, lagging, lagging_late))]
        for part in words
    ]  # fmt: skip
    return markdown(heads, lines)


def saved_time(s: Stored, schedule: str) -> str:
    """Share of the run time that is saved on the most nodes, with independent times."""
    rows = list(matching(s.rows("reductions"), correlation=0.0, schedule=schedule))
    return share(max(rows, key=lambda r: r["ranks"])["run_time_percent"])


def cycle(s: Stored, schedule: str) -> str:
    """Compute time of a cycle, mean ± SD, on the most nodes with independent times."""
    row = next(matching(s.rows("cycle_times"), correlation=0.0, schedule=schedule))
    return f"{number(row['mean_us'])} ± {number(row['mean_us'] * row['cv'], 2)} µs"


def scatter(s: Stored, correlation: str) -> str:
    """How much windows of ten cycles scatter, over single cycles."""
    row = next(matching(s.rows("cycle_times"), correlation=float(correlation), schedule=AWARE))
    return number(row["ratio"], 2)


#: What marks may name.
PARTS = {
    "factors": factors,
    "reductions": reductions,
    "saved": saved_time,
    "cycle": cycle,
    "scatter": scatter,
}
