"""Waiting of the schedules on 128 simulated nodes over the serial correlation of the cycle times."""

from spikemark.models.injected import Truth
from spikemark.models.published import papers
from spikemark.quantities.elements import Box, Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import NARROW, number, percent
from spikemark.records.gather import Sweep

from . import held_out, lines_figure, waits
from .lines_figure import Axis, Line
from .study import Findings, Study
from .waits import Waits

HEADLINE, OTHERWISE = 0.9, 0.0  # serial correlations that the sentence is about, the first choice first
MARKERS = {1: "o", 2: "s", 4: "D"}  # by lag
CLOSE = 0.05  # of the bare loop, unless chance makes a larger difference
NO_LOOP = missing("no such bare loop (128 ranks, D = 10, lag 1, correlations 0, 0.9, 0.99)", mark="")
NO_PARTNER = missing("no structure-aware run of that D")
EXPLAINED = (
    "Does the advantage of rare exchanges last when cycle times drift? In every simulated cycle each rank "
    "waits for a time drawn at random; the network itself takes no time. The ranks exchange the spikes of "
    "the network. So the schedules differ only in waiting. The correlation is that of a rank's "
    "time from one cycle to the next. Independent times cancel out within a window; correlated ones do not, "
    "and the published theory leaves them out. With overlapped windows, a rank can be late in one window "
    "and early in the next."
)
COLUMNS = (
    "Recursion, runs' times: F[m,k] = max(F[m,k−1], max over j of F[j,k−1−L] + t) + C[m,k] on the compute "
    "times of the runs with t = 0. Simulated waiting beyond it is transport. Recursion, drawn times: the "
    "same on times drawn anew (Monte Carlo), a prediction that has seen no run. Its interval contains 95 % "
    "of runs of this length, which at high correlation have few independent times. Bare loop: a barrier and "
    "an "
    "all-to-all exchange without a network on SimGrid's model of a fat tree of 128 nodes, with compute times "
    "of 1000 ± 100 µs and D = 10. A run ends with all ranks together. An overlapped schedule pays for that "
    "once, 2 to 3 ms here, so without correlation its waiting per cycle falls with the length of the run."
)


def read(sweep: Sweep) -> Findings:
    """Waiting of every setup, the effect of the lag, and predictions from the conventional run."""
    found, lacking = waits.of_runs(sweep.runs)
    skewed = [w for w in found if w.setup.sd_us > 0]
    main = _main(skewed, sweep.kind)
    parts = [
        Section("waiting", "Waiting by schedule", [EXPLAINED, COLUMNS], _verdict(main),
                _figures(skewed, main, sweep.kind), [main], lacking),
        Section("lag", "More windows on their way", tables=[_lags(skewed, sweep.kind)]),
        held_out.section(skewed, sweep.kind),
    ]  # fmt: skip
    return Findings(_sentence(skewed) + _as_the_loop(main), _key_figures(skewed, sweep.kind), parts)


def _main(skewed: list[Waits], kind: str) -> Table:
    def off(w: Waits) -> Cell:
        loop = bare_loop_us(w)
        return NO_LOOP if loop is None else 100 * (w.measured.value / loop - 1) if w.measured else w.measured

    columns = {
        **waits.SETUP,
        **waits.cells(kind),
        Column("bare_loop_us", "bare loop", "simulated"): lambda w: (
            NO_LOOP if (loop := bare_loop_us(w)) is None else loop
        ),
        Column("off_percent", "mini-app − bare loop (%)", "", 2): off,
    }
    return Table.of(columns, skewed, "Waiting per cycle, mean over ranks", "waiting")


def bare_loop_us(w: Waits) -> float | None:
    """Waiting of the bare loop of the same schedule, ranks and times; None where it was not run."""
    c, truth, ranks = w.setup.configuration, Truth.of(w.runs[0].description), w.runs[0].run.record.ranks
    times = round(1e6 * truth.mean_s, 3), round(1e6 * truth.sd_s, 3)
    wanted = (c.schedule, c.delay_ratio, ranks, *times, w.setup.correlation)
    for line in papers.rows("bare_loop"):
        name, *numbers, waiting_us = line.values()
        if c.lag == 1 and (name, *map(float, numbers)) == wanted:
            return float(waiting_us)
    return None


def _lags(skewed: list[Waits], kind: str) -> Table:
    """Waiting of the overlapped schedule by lag, beside the structure-aware one of the same correlation."""

    def share(w: Waits) -> Quantity:
        plain = _of(skewed, w.setup.correlation, "structure_aware", w.setup.configuration.delay_ratio)
        return w.measured.times(1 / plain.measured.value) if _positive(plain) else NO_PARTNER

    def window(w: Waits) -> int:
        return w.setup.configuration.delay_ratio // (w.setup.configuration.lag + 1)

    measured, _, drawn = waits.columns("waiting_us", "waiting (µs per cycle)", kind)
    columns = {
        waits.CORRELATION: lambda w: w.setup.correlation,
        Column("delay_ratio", "D", "given"): lambda w: w.setup.configuration.delay_ratio,
        Column("lag", "lag L", "given"): lambda w: w.setup.configuration.lag,
        Column("window", "window D / (L + 1), cycles", "given"): window,
        measured: lambda w: w.measured,
        drawn: lambda w: w.drawn,
        Column("share", "overlapped / structure-aware", kind): share,
    }
    lagging = [w for w in skewed if w.setup.configuration.schedule == "overlapped"]
    note = "For a given D, a larger lag means shorter windows, more of which are on their way."
    return Table.of(columns, lagging, "Overlapped schedules by lag", "lag", [note])


def _compared_with_loop(main: Table) -> tuple[list[dict], int]:
    """Rows with a bare loop, and in how many the mini-app waits as long, as far as such runs can tell."""
    rows = [row for row in main.rows if isinstance(row["off_percent"], float)]
    near = [row for row in rows if abs(row["waiting_us"].value - row["bare_loop_us"]) <= _chance_us(row)]
    return rows, len(near)


def _verdict(main: Table) -> list[Box]:
    rows, near = _compared_with_loop(main)
    if not rows:
        return []
    worst = max(rows, key=lambda row: abs(row["off_percent"]))
    text = (
        f"In {near} of {len(rows)} setups the mini-app waits as long as the bare loop, within "
        f"{percent(CLOSE)} or the difference that chance makes between two runs of this length (95 %). The "
        "difference is largest with "
        f"{worst['schedule']} at correlation {worst['correlation']:g}: {number(worst['off_percent'], 2)} %."
    )
    return [Box("good" if near == len(rows) else "bad", text)]


def _chance_us(row: dict) -> float:
    """How much two runs may differ, since the loop drew its own times.

    It is assumed to be as long as this run.
    """
    drawn = row["waiting_us_drawn"]
    return max(CLOSE * row["bare_loop_us"], 2**0.5 * (drawn.high - drawn.low) / 2)


def _of(skewed: list[Waits], correlation: float, schedule: str, delay_ratio: int) -> Waits | None:
    for w in skewed:
        c = w.setup.configuration
        if (w.setup.correlation, c.schedule, c.delay_ratio, c.lag) == (correlation, schedule, delay_ratio, 1):
            return w
    return None


def _positive(w: Waits | None) -> bool:
    return w is not None and bool(w.measured) and w.measured.value > 0


def _compared(skewed: list[Waits], correlation: float) -> list[Waits]:
    """Conventional, structure-aware and overlapped of one D, the one nearest to 10.

    Empty if one of them is missing.
    """
    configurations = [w.setup.configuration for w in skewed]
    ratios = {c.delay_ratio for c in configurations if c.schedule == "overlapped"}
    for ratio in sorted(ratios, key=lambda d: abs(d - 10)):
        found = [
            _of(skewed, correlation, schedule, d)
            for schedule, d in (("conventional", 1), ("structure_aware", ratio), ("overlapped", ratio))
        ]
        if all(_positive(w) for w in found):
            return found
    return []


def _sentence(skewed: list[Waits]) -> str:
    words = []
    for correlation in (HEADLINE, OTHERWISE):
        if found := _compared(skewed, correlation):
            plain, aware, lagging = (w.measured.value for w in found)
            words.append(
                f"at serial correlation {correlation:g} {number(plain)} µs per cycle with the conventional, "
                f"{number(aware)} with the structure-aware and {number(lagging)} with the overlapped schedule"
            )
    if not words:
        return "Nothing to compare yet: conventional, structure-aware and overlapped runs are all needed."
    first = _compared(skewed, HEADLINE) or _compared(skewed, OTHERWISE)
    ranks = first[0].runs[0].run.record.ranks
    return (
        f"On {ranks} simulated nodes ranks wait {'; '.join(words)} "
        f"(D = {first[1].setup.configuration.delay_ratio})."
    )


def _as_the_loop(main: Table) -> str:
    rows, near = _compared_with_loop(main)
    return f" In {near} of {len(rows)} setups a bare loop without a network waits as long." if rows else ""


def _key_figures(skewed: list[Waits], kind: str) -> list[KeyFigure]:
    figures = []
    for correlation in (OTHERWISE, HEADLINE):
        found = _compared(skewed, correlation)
        for name, w in zip(("structure-aware", "overlapped"), found[1:], strict=False):
            share = w.measured.value / found[0].measured.value
            label = f"Waiting left, {name}, correlation {correlation:g}"
            drawn = percent(w.drawn.value / found[0].drawn.value)
            plain = number(found[0].measured.value)
            note = f"of the conventional {plain}{NARROW}µs; by the recursion {drawn}"
            figures.append(KeyFigure(label, percent(share), kind, note))
    return figures or [KeyFigure.lacking("Waiting left", "no such runs")]


def _figures(skewed: list[Waits], main: Table, kind: str) -> list[Figure]:
    shown = [w for w in skewed if w.measured]
    correlations = sorted({w.setup.correlation for w in shown})
    if len(correlations) < 2:
        return []
    alt = "Waiting per cycle against serial correlation. " + " ".join(
        f"{w.setup.configuration.label}, correlation {w.setup.correlation:g}: {number(w.measured.value)} µs."
        for w in shown
    )
    caption = (
        f"Waiting in µs per cycle (mean over ranks), logarithmic. Dots: {kind}; dashed: recursion on drawn "
        "times; crosses: bare loop (simulated). Each schedule and lag has the D nearest to 10."
    )
    across = Axis("serial correlation of the cycle times", correlations)
    words = {"model": "recursion, drawn times", "marks": "bare loop"}
    name = "overlap-waiting"
    svg = lines_figure.draw(_lines(shown), across, "waiting (µs per cycle)", kind, name, alt, words)
    return [Figure(name, "Waiting by serial correlation", svg, alt, caption, main)]


def _lines(shown: list[Waits]) -> list[Line]:
    """One for each schedule and lag, with the D nearest to 10."""
    found: dict[tuple, dict[int, list[Waits]]] = {}
    for w in shown:
        c = w.setup.configuration
        found.setdefault((c.schedule, c.lag), {}).setdefault(c.delay_ratio, []).append(w)
    lines = []
    for (schedule, lag), by_ratio in found.items():
        own = by_ratio[min(by_ratio, key=lambda d: abs(d - 10))]
        at = [w.setup.correlation for w in own]
        loops = [(x, loop) for x, w in zip(at, own, strict=True) if (loop := bare_loop_us(w)) is not None]
        points = [(x, w.measured.value) for x, w in zip(at, own, strict=True)]
        drawn = [(x, w.drawn.value) for x, w in zip(at, own, strict=True)]
        label = own[0].setup.configuration.label
        lines.append(Line(label, schedule, points, MARKERS.get(lag, "*"), drawn, loops))
    return lines


STUDY = Study(
    "overlap",
    "waiting on 128 simulated nodes by schedule and serial correlation, beside recursion and predictors",
    "overlap",
    read,
)
