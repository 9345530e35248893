"""Tables of the study: peaks by method, two levels by way, other brains, and what was published."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from spikemark.models.published import papers
from spikemark.prediction.partition.levels import messages, most_equal
from spikemark.prediction.partition.methods import METHODS
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cells, Column, Table
from spikemark.quantities.words import number

from .placements import MULTI_AREA, RANKS, VARIANTS

Results = list[dict[str, Any]]
MILLION = 1e6
NOT_YET = missing("not computed yet")
PROPOSED = "greedy_swap"
#: What can be said of a published number.
GEOMETRY, CALIBRATED, TESTED = "geometry", "calibrated", "tested"
NOT_COMPARABLE = "not comparable"


RANKS_OF, METHOD = Column("ranks", "ranks", "given"), Column("method", "method")
CONNECTIONS = Column("connections", "connections (mean)", "modelled", 4)


def of(results: Results, ranks: int, method: str, variant: str = "brain") -> Results:
    """The results of one method, of all seeds and time limits."""
    return [r for r in results if (r["variant"], r["ranks"], r["method"]) == (variant, ranks, method)]


def by_limit(results: Results) -> dict[str, Results]:
    """Results by time limit in words, the shortest first."""
    limits = sorted({r["limit_s"] for r in results}, key=lambda s: np.inf if s is None else s)
    words = {limit: "" if limit is None else f"{limit:g} s" for limit in limits}
    return {words[limit]: [r for r in results if r["limit_s"] == limit] for limit in limits}


def band(values: list[float], scale: float = 1.0) -> Quantity:
    """Mean over seeds, and the lowest and highest; one seed has no band."""
    if not values:
        return NOT_YET
    scaled = [v / scale for v in values]
    ends = (min(scaled), max(scaled)) if len(scaled) > 1 else (None, None)
    return Quantity(float(np.mean(scaled)), *ends)


def against(first: Results, second: Results, name: str = "peak") -> Quantity:
    """Change from `second` to `first` in per cent, with the extremes over all pairs of seeds."""
    if not first or not second:
        return NOT_YET
    changes = [100 * (a[name] / b[name] - 1) for a in first for b in second]
    mean = 100 * (np.mean([a[name] for a in first]) / np.mean([b[name] for b in second]) - 1)
    ends = (min(changes), max(changes)) if len(changes) > 1 else (None, None)
    return Quantity(float(mean), *ends)


def peaks(results: Results) -> Table:
    """One row for each method and number of ranks."""
    columns = {
        **SEARCHED,
        Column("peak", "peak traffic (million routes)", "modelled", 4): _band("peak", MILLION),
        Column("change", "peak, against random (%)", "modelled"): lambda row: against(
            row[3], of(results, row[0], "random")
        ),
        Column("uneven", "peak / mean", "modelled"): _band("uneven"),
        Column("mean", "mean (million routes)", "modelled", 4): _band("mean", MILLION),
        Column("size", "neurons, largest / mean", "modelled"): _band("uneven_size"),
        CONNECTIONS: _band("connections"),
    }
    note = (
        "A route is a neuron and another rank with a synapse of it: the traffic of Du et al. In parentheses:"
        " lowest and highest of all seeds. How far a search gets by then depends on the machine."
    )
    return Table.of(columns, _searched(results), "Peak traffic by method", "peaks", [note])


def others(results: Results) -> Table:
    """More columns of the rows of `peaks`."""
    columns = {
        **SEARCHED,
        Column("received", "peak received (million routes)", "modelled", 4): _band("peak_received", MILLION),
        Column("busy", "connections with a word per cycle", "modelled", 4): _band("connections_busy"),
    }
    return Table.of(columns, _searched(results), "What ranks receive", "received")


#: What distinguishes the rows of `_searched`.
SEARCHED: Cells = {
    RANKS_OF: lambda row: row[0],
    METHOD: lambda row: row[1],
    Column("limit", "processor time at most", "given"): lambda row: row[2],
    Column("seeds", "seeds", "given"): lambda row: len(row[3]),
}


def _searched(results: Results) -> list[tuple[int, str, str, Results]]:
    """Ranks, method and time limit, with the results of all seeds."""
    return [
        (ranks, method, limit, own)
        for ranks in RANKS
        for method in METHODS
        for limit, own in by_limit(of(results, ranks, method)).items()
    ]


def _band(name: str, scale: float = 1.0) -> Callable[[tuple], Quantity]:
    return lambda row: band([r[name] for r in row[3]], scale)


def two_levels(results: Results) -> Table:
    """One row for each placement, number of ranks and way through two levels."""
    found = [
        (r, loads, limit, way)
        for limit, own in by_limit(results).items()
        for r in own
        for way, loads in (r.get("levels") or {}).items()
    ]

    def evened(row: tuple) -> float:
        r, loads, *_ = row
        ratio = (loads["peak"] / loads["mean"]) / r["uneven"] if loads["mean"] else 1.0
        return round(100 * (ratio - 1), 6)

    columns = {
        RANKS_OF: lambda row: row[0]["ranks"],
        METHOD: lambda row: row[0]["method"],
        Column("limit", "time limit", "given"): lambda row: row[2],
        Column("way", "bridges"): lambda row: row[3],
        Column("peak", "level-2 peak (million routes)", "modelled", 4): lambda row: row[1]["peak"] / MILLION,
        Column("change", "against the peak without levels (%)", "modelled"): lambda row: (
            100 * (row[1]["peak"] / row[0]["peak"] - 1)
        ),
        Column("left_out", "of it: fewer words on the mean (%)", "modelled"): lambda row: (
            100 * (row[1]["mean"] / row[0]["mean"] - 1)
        ),
        Column("evened", "of it: evened out (%)", "modelled"): evened,
        Column("first", "level-1 peak (million routes)", "modelled", 4): lambda row: (
            row[1]["first_peak"] / MILLION
        ),
        Column("total", "all sent and received, peak, by that without levels", "modelled"): lambda row: (
            row[1]["total_peak"] / (2 * row[0]["peak"])
        ),
        CONNECTIONS: lambda row: row[1]["connections"],
    }
    sizes = ", ".join(f"{ranks} ranks: {' x '.join(map(str, most_equal(ranks, 2)))}" for ranks in RANKS)
    notes = [
        f"Level-2 traffic of a bridge is what it sends on for others. {sizes}. `grouped`: ranks that exchange"
        " most form a group; else groups are neighbours by number.",
        "The two parts multiply: (1 + fewer) x (1 + evened) = 1 + change.",
    ]
    return Table.of(columns, found, "Two levels", "levels", notes)


def sensitivity(results: Results) -> Table:
    """One row for each other brain: what changes in the peaks and connections."""
    rows = []
    for variant in VARIANTS:
        own = {m: [r for r in of(results, RANKS[0], m, variant) if r["seed"] == 1] for m in METHODS}
        if not own["random"]:
            continue
        row = {"variant": variant, "random": band([r["uneven"] for r in own["random"]])}
        row["mean"] = band([r["mean"] for r in own["random"]], MILLION)
        for method in ("sequential", "space_filling", "largest_first"):
            row[method] = against(own[method], own["random"])
        if variant == MULTI_AREA:
            row["space_filling"] = missing("the areas of the model have no places here", mark="–")
        row["connections"] = band([r["connections"] for r in own["sequential"]])
        rows.append(row)
    columns = [
        Column("variant", "brain", title=lambda name: _words(name)),
        Column("random", "random, peak / mean", "modelled"),
        Column("mean", "mean (million routes)", "modelled", 4),
        *(
            Column(m, f"{m}: peak against random (%)", "modelled")
            for m in ("largest_first", "sequential", "space_filling")
        ),
        Column("connections", "sequential: connections", "modelled", 4),
    ]
    note = (
        f"{RANKS[0]} ranks, seed 1. Each row changes the named options of `preset voxels --full`."
        " The multi-area model is `preset mam --full`, whose areas are cut into parts of a quarter of a rank."
    )
    return Table(columns, rows, "Other brains", "sensitivity", [note])


def _words(variant: str) -> str:
    changed = ", ".join(f"{name.rstrip('_')} {value}" for name, value in VARIANTS[variant].items())
    return f"{variant}: {changed}" if changed else {"brain": "the full brain"}.get(variant, variant)


def published(results: Results) -> Table:
    """Each published number beside ours, and what the comparison is worth."""
    printed = {row["name"]: row for row in papers.rows("du_scalars")}
    ranks = RANKS[0]
    sequential, swapped = (of(results, ranks, m) for m in ("sequential", PROPOSED))
    random, genetic = (of(results, ranks, m) for m in ("random", "genetic"))
    sizes = most_equal(ranks, 2)
    second = [r["levels"]["sender"]["peak"] for r in swapped if "levels" in r]
    rows = [
        ("connections_before", band([r["connections"] for r in sequential]), CALIBRATED,
         "lambda is chosen for it, with voxels in sequence; after swaps, "
         + (number(swapped[0]["connections"], 4) if swapped else "not computed yet")),
        ("connections_after", float(sum(sizes) - 2), GEOMETRY,
         f"{' x '.join(map(str, sizes))} ranks have {sizes[0] - 1} + {sizes[1] - 1} partners whatever the"
         f" traffic; the least possible is {number(messages(ranks, 2))}"),
        ("peak_proposed_vs_random", against(swapped, random), CALIBRATED,
         "the unevenness of the voxels is chosen for it; random voxels, since random neurons would be even"),
        ("peak_proposed_vs_genetic", against(swapped, genetic), TESTED,
         "genetic algorithm on sizes alone, with other operators than theirs, which are not published"),
        ("level2_proposed_vs_none", _level_two(second, swapped), TESTED,
         "bridges on the sender's side, nothing merged; against the same placement without levels"),
        ("level2_proposed_vs_none", _level_two(second, random), TESTED,
         "the same against random voxels without levels"),
        ("level2_blue_vs_green", missing("the figure and its text contradict each other", mark="–"),
         NOT_COMPARABLE, "colours swapped"),
    ]  # fmt: skip
    cells = [
        (printed[name]["note"], printed[name]["where"], float(printed[name]["value"]), *ours)
        for name, *ours in rows
    ]
    cells.append((
        "seconds of simulation, random and proposed", "Table II", "16 200 or more, 0.179 to 0.367",
        missing("the machine and the simulated time are not stated", mark="–"), NOT_COMPARABLE,
        "the printed times differ by a factor of 44 000 or more, traffic by less than two",
    ))  # fmt: skip
    columns = {
        Column("quantity", "what"): itemgetter(0),
        Column("where", "where"): itemgetter(1),
        Column("published", "published (% or number)", "literature", 4): itemgetter(2),
        Column("here", "here", "modelled"): itemgetter(3),
        Column("status", "status"): itemgetter(4),
        Column("remark", "remark"): itemgetter(5),
    }
    note = (
        "geometry: follows from numbers of ranks alone. calibrated: our brain was tuned for it, so agreement"
        " says nothing. tested: computed without having been tuned for."
    )
    return Table.of(columns, cells, "Beside Du et al.", "published", [note])


def _level_two(second: list[float], base: Results) -> Quantity:
    """Largest level-2 load against the peak without levels, per cent."""
    return against([{"peak": p} for p in second], base)
