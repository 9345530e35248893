"""How the compute time of every rank goes on over a run: a picture for every network."""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, integer, number, percent, span
from spikemark.records.cases import View, timed
from spikemark.records.gather import Measured
from spikemark.report.figures import evolution as drawing
from spikemark.report.networks import title_of

TITLE = "Every rank over time"
ROWS, COLUMNS = 128, 200  # at most so many cells
MOST_MAPS = 4
EXPLAINED = (
    "A row is a rank, a column a stretch of time; the stronger the colour, the longer the rank computed per "
    "cycle (as in the appendix of Lober et al. 2026). A strong row is a rank that is lastingly slow, a "
    "strong column a time when all were slow, a strong stretch a drift of one rank."
)
NOTHING = "Every rank over time: no conventional run on several ranks recorded its cycles."


@dataclass(frozen=True)
class Course:
    """One run; times in s per cycle."""

    title: str
    run: str  # ranks, seed, repetition in words
    ranks: int
    seconds: float  # simulated
    cycles_per_cell: float
    ranks_per_cell: float
    cells_s: np.ndarray  # [row, column], mean compute time
    compute_s: np.ndarray  # [rank, cycle]

    @property
    def limits_s(self) -> tuple[float, float]:
        """Between which the colour grows: all cells but the outermost hundredth on each side."""
        low, high = np.quantile(self.cells_s, (0.01, 0.99))
        return float(low), float(max(high, low * (1 + 1e-6)))


def course(m: Measured, title: str) -> Course:
    """Means over neighbouring cycles, and over neighbouring ranks where there are more than ROWS."""
    compute = m.run.compute()
    ranks, cycles = compute.shape
    rows, columns = min(ROWS, ranks), min(COLUMNS, cycles)
    return Course(
        title,
        f"{counted(ranks, 'rank')}, seed {m.planned.seed}, repetition {m.planned.repetition}",
        ranks,
        m.run.record.timing.model_s,
        cycles / columns,
        ranks / rows,
        _means(_means(compute, columns).T, rows).T,
        compute,
    )


def _means(values: np.ndarray, parts: int) -> np.ndarray:
    """Means over `parts` nearly equal stretches of the last axis."""
    edges = np.arange(parts + 1) * values.shape[-1] // parts
    return np.add.reduceat(values, edges[:-1], axis=-1) / np.diff(edges)


def section(view: View) -> Section:
    """The conventional run of every network on the most ranks."""
    chosen: dict[str, Measured] = {}
    for m in timed(view.sweep.runs):
        if m.run.schedule == "conventional" and m.run.cycles is not None and m.run.record.ranks > 1:
            title = title_of(m, view.sweep.title)
            chosen[title] = min(m, chosen.get(title, m), key=_order)
    if not chosen:
        return Section("evolution", TITLE, missing=[NOTHING])
    shown = list(chosen.items())[:MOST_MAPS]
    rest = len(chosen) - len(shown)
    missing = [f"{counted(rest, 'further network')} of this sweep are not shown."] if rest else []
    figures = [_figure(course(m, title), i) for i, (title, m) in enumerate(shown)]
    return Section("evolution", TITLE, text=[EXPLAINED], figures=figures, missing=missing)


def _order(m: Measured) -> tuple:
    return -m.run.record.ranks, m.run.record.threads, m.planned.seed, m.planned.repetition, m.planned.id


def _figure(c: Course, position: int) -> Figure:
    means = c.compute_s.mean(axis=1)
    fast, slow = int(means.argmin()), int(means.argmax())
    stretch = c.cells_s.mean(axis=0)
    alt = (
        f"Map of compute time per cycle, {c.run}, over {number(c.seconds)} s. Rank {slow} is the slowest on "
        f"average, {number(1e6 * means[slow])} µs, rank {fast} the fastest, {number(1e6 * means[fast])} µs. "
        f"Over time, the mean of all ranks takes {span(1e6 * stretch)} µs."
    )
    low, high = (number(1e6 * t) for t in c.limits_s)
    caption = (
        f"Compute time per cycle, conventional schedule on {c.run} (measured). A cell is the mean over "
        f"{c.cycles_per_cell:.3g} cycles"
        + (f" and {c.ranks_per_cell:.3g} ranks" if c.ranks_per_cell > 1 else "")
        + f". The colour grows from {low} to {high} µs; one cell in a hundred lies below, one above."
    )
    table = Table(
        ["rank", "mean (µs)", "SD (µs)", "longest (µs)", "slowest of all"],
        rows(c.compute_s),
        ["", "measured", "measured", "measured", "measured"],
    )
    name = f"evolution-{position}"
    return Figure(name, c.title, drawing.draw(c, name, alt), alt, caption, table)


def rows(compute: np.ndarray) -> list[list[str]]:
    """Of every rank [rank, cycle]: mean, SD, longest cycle, share of the cycles that wait for it."""
    slowest = np.bincount(compute.argmax(axis=0), minlength=len(compute)) / compute.shape[1]
    return [
        [integer(r), number(1e6 * x.mean()), number(1e6 * x.std()), number(1e6 * x.max()), percent(share, 1)]
        for r, (x, share) in enumerate(zip(compute, slowest, strict=True))
    ]
