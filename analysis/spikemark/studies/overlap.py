"""Waiting of the schedules on 128 simulated nodes over the serial correlation of the cycle times."""

from spikemark.models.injected import Truth
from spikemark.published import papers
from spikemark.quantities.elements import Box, Figure, KeyFigure
from spikemark.quantities.words import NARROW, number, percent
from spikemark.records.gather import Measured
from spikemark.studies.table import Column, Estimate, Missing, StudyTable

from . import held_out, lines_figure
from .lines_figure import Axis, Line
from .runs import group
from .schedules import setup
from .study import Findings, Part, Study
from .waits import Waits

HEADLINE, OTHERWISE = 0.9, 0.0  # serial correlations of which the sentence speaks, the first choice first
MARKERS = {1: "o", 2: "s", 4: "D"}  # by lag
CLOSE = 0.05  # of the bare loop, where chance allows to tell
NO_LOOP = Missing("no such bare loop (128 ranks, D = 10, lag 1, correlations 0, 0.9, 0.99)", "")
NO_PARTNER = Missing("no structure-aware run of that D")
EXPLAINED = (
    "Every rank waits in every simulated cycle for a time drawn at random, beside which the network takes no "
    "time, and exchanges the spikes that the network has: what schedules differ in is waiting. Correlation "
    "is that of a rank's time from one cycle to the next. Independent times cancel out within a window, "
    "correlated ones do not, which is what the published theory leaves out; overlapped windows let a rank "
    "be late in one and early in the next."
)
COLUMNS = (
    "Recursion, run's times: F[m,k] = max(F[m,k−1], max over j of F[j,k−1−L] + t) + C[m,k] on the compute "
    "times of the run with t = 0, so what is simulated beyond it is transport. Monte Carlo: the same on "
    "times drawn anew, a prediction that has seen no run; its interval holds 95 % of runs of this length, "
    "which at high correlation hold few independent times. Bare loop: a barrier and an all-to-all exchange "
    "without a network on SimGrid's model of a fat tree of 128 nodes, compute times of 1000 ± 100 µs, "
    "D = 10. A run ends with all ranks together, which an overlapped schedule pays for once, 2 to 3 ms "
    "here: without correlation its waiting per cycle falls with the length of the run."
)
FITTED = "The predictors know nothing but the conventional run of a correlation."


def read(runs: list[Measured]) -> Findings:
    """Waiting of every setup, what lag it takes, and what the predictors make of the conventional run."""
    usable = [m for m in runs if m.run.cycles is not None and Truth.of(m.description).mean_s > 0]
    waits = {key: Waits(key, members) for key, members in group(usable, setup).items()}
    ordered = [waits[key] for key in sorted(waits, key=lambda s: s.order) if key.sd_us > 0]
    main, predicted = _main(ordered), held_out.table(ordered)
    left_out = len(runs) - len(usable)
    missing = [f"{left_out} runs without recorded cycles or injected waits."] if left_out else []
    parts = [
        Part("waiting", "Waiting by schedule", [EXPLAINED, COLUMNS], boxes=_verdict(main), tables=[main],
             figures=_figures(ordered, main), missing=missing),
        Part("lag", "More windows on their way", tables=[_lags(ordered)]),
        Part("held-out", "Predicted from the conventional run", [FITTED], boxes=held_out.boxes(predicted),
             tables=[predicted, held_out.table(ordered, every=2)]),
    ]  # fmt: skip
    return Findings(_sentence(ordered) + _as_the_loop(main), _key_figures(ordered), parts)


def _main(waits: list[Waits]) -> StudyTable:
    rows = []
    for w in waits:
        loop = bare_loop_us(w)
        rows.append({
            "correlation": w.setup.correlation,
            "schedule": w.setup.configuration.label,
            "waiting_us": w.measured,
            "waiting_us_replayed": w.replayed,
            "waiting_us_drawn": w.drawn,
            "bare_loop_us": NO_LOOP if loop is None else loop,
            "off_percent": NO_LOOP if loop is None else 100 * (w.measured.value / loop - 1),
        })  # fmt: skip
    columns = [
        Column("correlation", "serial correlation", "given", 2),
        Column("schedule", "schedule", "given"),
        Column("waiting_us", "waiting (µs per cycle)", "simulated"),
        Column("waiting_us_replayed", "recursion, run's times", "modelled"),
        Column("waiting_us_drawn", "Monte Carlo", "modelled"),
        Column("bare_loop_us", "bare loop", "simulated"),
        Column("off_percent", "mini-app − bare loop (%)", "", 2),
    ]
    return StudyTable("waiting", "Waiting per cycle, mean over ranks", columns, rows)


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


def _lags(waits: list[Waits]) -> StudyTable:
    """Waiting of the overlapped schedule by lag, beside the structure-aware one of the same correlation."""
    rows = []
    for w in waits:
        c = w.setup.configuration
        if c.schedule != "overlapped":
            continue
        plain = _of(waits, w.setup.correlation, "structure_aware", c.delay_ratio)
        share = w.measured / plain.measured.value if _positive(plain) else NO_PARTNER
        rows.append({
            "correlation": w.setup.correlation,
            "delay_ratio": c.delay_ratio,
            "lag": c.lag,
            "window": c.delay_ratio // (c.lag + 1),
            "waiting_us": w.measured,
            "waiting_us_drawn": w.drawn,
            "share": share,
        })  # fmt: skip
    columns = [
        Column("correlation", "serial correlation", "given", 2),
        Column("delay_ratio", "D", "given"),
        Column("lag", "lag L", "given"),
        Column("window", "window D / (L + 1), cycles", "given"),
        Column("waiting_us", "waiting (µs per cycle)", "simulated"),
        Column("waiting_us_drawn", "Monte Carlo", "modelled"),
        Column("share", "overlapped / structure-aware", "simulated"),
    ]
    note = "At one D, a larger lag means shorter windows, of which more are on their way."
    return StudyTable("lag", "Overlapped schedules by lag", columns, rows, [note])


def _compared_with_loop(main: StudyTable) -> tuple[list[dict], int]:
    """Rows with a bare loop, and in how many the mini-app waits as it does, as far as such runs can tell."""
    rows = [row for row in main.rows if isinstance(row["bare_loop_us"], float)]
    near = [row for row in rows if abs(row["waiting_us"].value - row["bare_loop_us"]) <= _chance_us(row)]
    return rows, len(near)


def _verdict(main: StudyTable) -> list[Box]:
    rows, near = _compared_with_loop(main)
    if not rows:
        return []
    worst = max(rows, key=lambda row: abs(row["off_percent"]))
    text = (
        f"The mini-app waits as the bare loop does, within {percent(CLOSE)} or what chance makes of two runs "
        f"of this length (95 %), in {near} of {len(rows)} setups; furthest from it: "
        f"{worst['schedule']} at correlation {worst['correlation']:g}, {number(worst['off_percent'], 2)} %."
    )
    return [Box("good" if near == len(rows) else "bad", text)]


def _chance_us(row: dict) -> float:
    """By how much two runs may differ: the loop drew its own times; it is taken to be as long as this run."""
    drawn = row["waiting_us_drawn"]
    return max(CLOSE * row["bare_loop_us"], 2**0.5 * (drawn.high - drawn.low) / 2)


def _of(waits: list[Waits], correlation: float, schedule: str, delay_ratio: int) -> Waits | None:
    for w in waits:
        c = w.setup.configuration
        if (w.setup.correlation, c.schedule, c.delay_ratio, c.lag) == (correlation, schedule, delay_ratio, 1):
            return w
    return None


def _positive(w: Waits | None) -> bool:
    return w is not None and isinstance(w.measured, Estimate) and w.measured.value > 0


def _compared(waits: list[Waits], correlation: float) -> list[Waits]:
    """Conventional, structure-aware and overlapped of one D, the one nearest to 10; empty where one lacks."""
    configurations = [w.setup.configuration for w in waits]
    ratios = {c.delay_ratio for c in configurations if c.schedule == "overlapped"}
    for ratio in sorted(ratios, key=lambda d: abs(d - 10)):
        found = [
            _of(waits, correlation, schedule, d)
            for schedule, d in (("conventional", 1), ("structure_aware", ratio), ("overlapped", ratio))
        ]
        if all(_positive(w) for w in found):
            return found
    return []


def _sentence(waits: list[Waits]) -> str:
    words = []
    for correlation in (HEADLINE, OTHERWISE):
        if found := _compared(waits, correlation):
            plain, aware, lagging = (w.measured.value for w in found)
            words.append(
                f"at serial correlation {correlation:g} {number(plain)} µs per cycle with the conventional, "
                f"{number(aware)} with the structure-aware and {number(lagging)} with the overlapped schedule"
            )
    if not words:
        return "Nothing to compare yet: no conventional, structure-aware and overlapped runs alike."
    first = _compared(waits, HEADLINE) or _compared(waits, OTHERWISE)
    ranks = first[0].runs[0].run.record.ranks
    return (
        f"On {ranks} simulated nodes ranks wait {'; '.join(words)} "
        f"(D = {first[1].setup.configuration.delay_ratio})."
    )


def _as_the_loop(main: StudyTable) -> str:
    rows, near = _compared_with_loop(main)
    return f" In {near} of {len(rows)} setups a bare loop without a network waits as long." if rows else ""


def _key_figures(waits: list[Waits]) -> list[KeyFigure]:
    figures = []
    for correlation in (OTHERWISE, HEADLINE):
        found = _compared(waits, correlation)
        for name, w in zip(("structure-aware", "overlapped"), found[1:], strict=False):
            share = w.measured.value / found[0].measured.value
            label = f"Waiting left, {name}, correlation {correlation:g}"
            note = f"of the conventional {number(found[0].measured.value)}{NARROW}µs; Monte Carlo " + percent(
                w.drawn.value / found[0].drawn.value
            )
            figures.append(KeyFigure(label, percent(share), "simulated", note))
    return figures or [KeyFigure("Waiting left", "missing", "", "no such runs", missing=True)]


def _figures(waits: list[Waits], main: StudyTable) -> list[Figure]:
    shown = [w for w in waits if isinstance(w.measured, Estimate)]
    correlations = sorted({w.setup.correlation for w in shown})
    if len(correlations) < 2:
        return []
    alt = "Waiting per cycle against serial correlation. " + " ".join(
        f"{w.setup.configuration.label}, correlation {w.setup.correlation:g}: {number(w.measured.value)} µs."
        for w in shown
    )
    caption = (
        "Waiting in µs per cycle (mean over ranks), logarithmic. Dots: simulated; dashed: Monte Carlo; "
        "crosses: bare loop. Of each schedule and lag the D nearest to 10."
    )
    across = Axis("serial correlation of the cycle times", correlations)
    words = {"model": "Monte Carlo", "marks": "bare loop"}
    name = "overlap-waiting"
    svg = lines_figure.draw(_lines(shown), across, "waiting (µs per cycle)", name, alt, words)
    return [Figure(name, "Waiting by serial correlation", svg, alt, caption, main.shown())]


def _lines(waits: list[Waits]) -> list[Line]:
    """One for each schedule and lag, with the D nearest to 10."""
    found: dict[tuple, dict[int, list[Waits]]] = {}
    for w in waits:
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
    "waiting on 128 simulated nodes by schedule and serial correlation, beside Monte Carlo and predictors",
    "overlap",
    read,
)
