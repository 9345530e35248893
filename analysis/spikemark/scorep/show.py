"""The comparison with Score-P as a table for people and as JSON."""

from dataclasses import asdict
from typing import Any

from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent

from .check import PER_VISIT_S, SHARE, Check

#: Said wherever the figures are shown.
ALLOWED = f"{percent(SHARE)} of the log and {number(1e6 * PER_VISIT_S)} µs for each visit"


def regions(found: Check) -> Table:
    """A row for each rank: seconds in each region, at barriers, and there until the last rank arrived."""
    names = list(found.ranks[0].phases)
    heads = {**{name: name for name in names}, "barrier": "MPI_Barrier", "waited": "of it waiting"}
    rows = [
        {
            "rank": one.rank,
            **{name: one.phases[name].profile_s for name in names},
            "barrier": one.barrier.profile_s,
            "waited": one.waited_s,
        }
        for one in found.ranks
    ]
    columns = [Column("rank", "rank"), *(Column(name, head, "measured") for name, head in heads.items())]
    return Table(columns, rows, f"{found.path}: seconds by Score-P")


def agreement(found: Check) -> list[str]:
    """A line for each phase and count, with the rank that differs most."""
    lines = [f"Score-P beside the run's own cycle log; allowed: {ALLOWED}"]
    for name in found.ranks[0].phases:
        worst = max(found.ranks, key=lambda one: abs(one.phases[name].difference_s))
        time = worst.phases[name]
        if time.log_s is None:
            lines.append(f"  {name}: not timed by the run")
            continue
        lines.append(
            f"  {name}: {'agrees' if time.agrees else 'DIFFERS'}, by {number(time.difference_s)} s at most"
            f" of {number(time.log_s)} s, rank {worst.rank}"
        )
    for name in found.ranks[0].counts:
        agrees = all(one.counts[name].agrees for one in found.ranks)
        missing = all(one.counts[name].profile is None for one in found.ranks)
        total = sum(one.counts[name].record for one in found.ranks)
        said = "agrees" if agrees else "DIFFERS"
        lines.append(f"  {name}: {said}, {total} in the record" + (", not in the profile" if missing else ""))
    return lines


def content(found: Check) -> dict[str, Any]:
    """The comparison for JSON; times in seconds."""
    ranks = []
    for one in found.ranks:
        entry = asdict(one)
        for name, time in one.phases.items():
            entry["phases"][name] |= {"allowed_s": time.allowed_s, "agrees": time.agrees}
        for name, count in one.counts.items():
            entry["counts"][name]["agrees"] = count.agrees
        del entry["barrier"]["log_s"]
        ranks.append(entry)
    return {
        "tolerance": {"share": SHARE, "per_visit_s": PER_VISIT_S},
        "agrees": not found.complaints,
        "complaints": found.complaints,
        "ranks": ranks,
    }
