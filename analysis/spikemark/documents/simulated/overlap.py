"""Tables and numbers of docs/ from the study `overlap`: waiting by schedule and serial correlation."""

from spikemark.documents.stored import Row, Stored, matching, one, parts, shown
from spikemark.quantities.words import change, number
from spikemark.studies.held_out import GOALS, WRONG

from .cells import AWARE, PLAIN, each, markdown, share


def waiting(s: Stored) -> str:
    """Waiting of every setup, with the bare loop, the recursion and Monte Carlo."""
    heads = ["correlation", "schedule", "mini-app", "bare loop", "difference", "recursion (modelled)",
             "Monte Carlo (modelled)"]  # fmt: skip
    lines = []
    for row, limits in zip(s.rows("waiting"), s.limits("waiting", "waiting_us_drawn"), strict=True):
        cells = ("waiting_us", "bare_loop_us", "off_percent", "waiting_us_replayed", "waiting_us_drawn")
        own, loop, off, replayed, drawn = (row[name] for name in cells)
        difference = shown(off, lambda v: change(1 + v / 100))
        chance = f" ({number(limits[0])} to {number(limits[1])})" if limits else ""
        lines.append([f"{row['correlation']:g}", row["schedule"], shown(own, number), shown(loop, number),
                      difference, shown(replayed, number), shown(drawn, number) + chance])  # fmt: skip
    return markdown(heads, lines)


def _waits(s: Stored, correlation: float, schedule: str) -> float:
    return one(s.rows("waiting"), "waiting_us", correlation=correlation, schedule=schedule)


def saved_waiting(s: Stored, schedule: str) -> str:
    """What a schedule with D = 10 saves of the conventional waiting, by correlation."""
    found = [
        f"{100 * (1 - _waits(s, c, f'{schedule}, D = 10') / _waits(s, c, PLAIN)):.0f}" for c in (0, 0.9, 0.99)
    ]
    return f"{found[0]} % of the waiting at correlation 0, {found[1]} % at 0.9 and {found[2]} % at 0.99"


def _predicted(s: Stored) -> list[Row]:
    """The setups that every predictor has predicted."""
    names = ("iid", *GOALS)
    return [row for row in s.rows("held_out") if None not in [row[f"{name}_error"] for name in names]]


def worst(s: Stored, predictor: str) -> str:
    """The largest error of predictions from the conventional run."""
    return share(max(abs(row[f"{predictor}_error"]) for row in _predicted(s)))


def _delay_ratio(label: str) -> int:
    return next(int(part.split("= ")[1]) for part in parts(label) if part.startswith("D ="))


def by_window(s: Stored) -> str:
    """Waiting of the structure-aware schedule by D."""
    rows = s.rows("waiting")
    ratios = sorted({_delay_ratio(r["schedule"]) for r in matching(rows, schedule=AWARE)})
    lines = [
        [
            f"{c:g}",
            *(
                shown(one(rows, "waiting_us", correlation=c, schedule=f"{AWARE}, D = {d}"), number)
                for d in ratios
            ),
        ]
        for c in each(rows, "correlation")
    ]
    return markdown(["correlation", *(f"D = {d}" for d in ratios)], lines)


def held_out(s: Stored) -> str:
    """Errors of the predictors, for docs/waiting-checks.md."""
    heads = ["serial correlation", "schedule", "waiting (µs per cycle)", "iid", "correlated", "replay"]
    lines = [
        [f"{row['correlation']:g}", row["schedule"], number(row["measured_us"]),
         *(shown(row[f"{name}_error"], lambda v: change(1 + v / 100)) for name in heads[3:])]
        for row in s.rows("held_out")
    ]  # fmt: skip
    return markdown([*heads[:3], *(f"`{name}`" for name in heads[3:])], lines)


def goals(s: Stored) -> str:
    """Says in how many setups the predictors are near although the published theory is not."""
    wrong = [row for row in _predicted(s) if abs(row["iid_error"]) >= WRONG]
    near = {
        name: sum(abs(row[f"{name}_error"]) <= goal for row in wrong) for name, goal in sorted(GOALS.items())
    }
    words = [f"`{name}` is within {GOALS[name]} % in {n} of {len(wrong)} setups" for name, n in near.items()]
    return f"Where `iid` is off by {WRONG} % or more, {', and '.join(words)}."


#: What marks may name.
PARTS = {
    "waiting": waiting,
    "by-ratio": by_window,
    "saved": saved_waiting,
    "worst": worst,
    "goals": goals,
    "held-out": held_out,
}
