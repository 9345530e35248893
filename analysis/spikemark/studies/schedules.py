"""The five schedules over D, with injected skew of known serial correlation: waiting beside the recursion."""

from spikemark.models.injected import Truth
from spikemark.quantities.elements import Box, Figure, KeyFigure
from spikemark.quantities.words import NARROW, number, span
from spikemark.records.gather import Measured
from spikemark.studies.table import Column, Estimate, Missing, StudyTable

from . import held_out, schedules_figure
from .runs import group
from .study import Findings, Part, Study
from .waits import Setup, Waits, factor

GOALS = {0.0: 5.0, 0.9: 2.0}  # serial correlation -> by how much overlapping is to cut the waiting
GOAL_RATIOS = (10, 20)  # at one of these D
EXPLAINED = (
    "Every rank sleeps in every cycle for a time drawn at random, and the network is next to nothing: so "
    "the times of the ranks are known, and waiting is all that the schedules differ in. Asleep, ranks do "
    "not take a core from one another; eight of them on two cores wake up late by the figure below, which "
    "is part of their measured compute time, and their exchanges take longer than on cores of their own. "
    "The figures are about waiting for slower ranks, not about speed."
)
MODELS = (
    "Recursion, measured times: the recursion F[m,k] = max(F[m,k−1], max over j of F[j,k−1−L] + t) + "
    "C[m,k] run on the compute times that the runs had (no parameter is fitted; t, the transport, is taken "
    "as 0, so what is measured beyond it is transport and waking up). Recursion, drawn times: the same on "
    "times drawn from the distribution that was injected, a prediction that has seen no run; the interval "
    "holds 95 % of runs of this length. Intervals of the other two are 95 %, over blocks of cycles. A run "
    "ends with all ranks together, so the leads that overlapping leaves are waited for then, in all three."
)
HIERARCHICAL = (
    "With one shortest delay between all areas the hierarchical schedule has nothing to gain: its groups "
    "meet as rarely as is exact, every 20 cycles, beside the exchange of all ranks every D."
)


def read(runs: list[Measured]) -> Findings:
    """Waiting of every setup, and by how much overlapping cuts it."""
    usable = [m for m in runs if m.run.cycles is not None and Truth.of(m.description).mean_s > 0]
    waits = {setup: Waits(setup, members) for setup, members in group(usable, setup).items()}
    ordered = [waits[setup] for setup in sorted(waits, key=lambda s: s.order)]
    skewed, even = [w for w in ordered if w.setup.sd_us > 0], [w for w in ordered if w.setup.sd_us == 0]
    cuts, predicted = _cuts(skewed), held_out.table(skewed)
    left_out = len(runs) - len(usable)
    missing = [f"{left_out} runs without recorded cycles or injected waits."] if left_out else []
    parts = [
        Part("waiting", "Waiting by schedule", [EXPLAINED, MODELS, HIERARCHICAL], figures=_figures(skewed),
             tables=[_main(skewed)], missing=missing),
        Part("overlap", "What overlapping saves", boxes=_verdicts(cuts), tables=[cuts]),
        Part("held-out", "Predicted from one schedule", boxes=held_out.boxes(predicted),
             tables=[predicted, held_out.table(skewed, every=2)]),
        Part("floor", "What is waiting without skew", tables=[_even(even), _lateness(skewed + even)]),
    ]  # fmt: skip
    return Findings(_sentence(cuts), _key_figures(cuts, skewed), parts)


def setup(m: Measured) -> Setup:
    """What a run with injected waits is compared by."""
    truth = Truth.of(m.description)
    return Setup(m.configuration, float(truth.correlation), round(1e6 * truth.sd_s, 6))


def _main(waits: list[Waits]) -> StudyTable:
    columns = [
        Column("correlation", "serial correlation", "given", 2),
        Column("schedule", "schedule", "given"),
        *_models("waiting_us", "waiting (µs per cycle)"),
    ]
    rows = [
        {
            "correlation": w.setup.correlation,
            "schedule": w.setup.configuration.label,
            "waiting_us": w.measured,
            "waiting_us_replayed": w.replayed,
            "waiting_us_drawn": w.drawn,
        }
        for w in waits
    ]
    return StudyTable("waiting", "Waiting per cycle, mean over ranks", columns, rows)


def _cuts(waits: list[Waits]) -> StudyTable:
    """Waiting of structure_aware over that of overlapped, for each D and correlation that both have."""
    places = {
        (w.setup.correlation, w.setup.configuration.delay_ratio, w.setup.configuration.schedule): w
        for w in waits
    }
    rows = []
    for correlation, ratio, schedule in sorted(places):
        plain = places.get((correlation, ratio, "structure_aware"))
        if schedule != "overlapped" or plain is None:
            continue
        lagging = places[correlation, ratio, schedule]
        drawn = lagging.drawn.value
        rows.append(
            {
                "correlation": correlation,
                "delay_ratio": ratio,
                "factor": factor(plain.measured_blocks, lagging.measured_blocks),
                "factor_replayed": factor(plain.replayed_blocks, lagging.replayed_blocks),
                "factor_drawn": plain.drawn.value / drawn if drawn > 0 else Missing("nobody waits"),
            }
        )
    columns = [
        Column("correlation", "serial correlation", "given", 2),
        Column("delay_ratio", "D", "given"),
        *_models("factor", "structure-aware / overlapped"),
    ]
    note = "Waiting of the structure-aware schedule over that of the overlapped one at the same D."
    return StudyTable("overlap", "By what factor overlapping cuts the waiting", columns, rows, [note])


def _models(name: str, head: str) -> list[Column]:
    return [
        Column(name, head, "measured"),
        Column(f"{name}_replayed", "recursion, measured times", "modelled"),
        Column(f"{name}_drawn", "recursion, drawn times", "modelled"),
    ]


def _even(waits: list[Waits]) -> StudyTable:
    columns = [
        Column("schedule", "schedule", "given"),
        *_models("waiting_us", "waiting (µs per cycle)")[:2],
    ]
    rows = [
        {
            "schedule": w.setup.configuration.label,
            "waiting_us": w.measured,
            "waiting_us_replayed": w.replayed,
        }
        for w in waits
    ]
    note = "Equal waits for all: what is left comes from waking up late and from the exchange itself."
    return StudyTable("floor", "Waiting without injected skew", columns, rows, [note])


def _lateness(waits: list[Waits]) -> StudyTable:
    columns = [
        Column("schedule", "schedule", "given"),
        Column("correlation", "serial correlation", "given", 2),
        Column("sd_us", "SD injected (µs)", "given"),
        Column("lateness_us", "lateness (µs per cycle)", "measured", 2),
    ]
    rows = [
        {
            "schedule": w.setup.configuration.label,
            "correlation": w.setup.correlation,
            "sd_us": w.setup.sd_us,
            "lateness_us": w.lateness_us,
        }
        for w in waits
    ]
    return StudyTable("lateness", "How late ranks wake up", columns, rows)


def _goal(cuts: StudyTable, correlation: float) -> dict | None:
    """The row of the smallest D measured, of those of the goal: what it shows has no say in the choice."""
    rows = [
        row
        for row in cuts.rows
        if row["correlation"] == correlation
        and row["delay_ratio"] in GOAL_RATIOS
        and isinstance(row["factor"], Estimate)
    ]
    return min(rows, key=lambda row: row["delay_ratio"], default=None)


def _verdicts(cuts: StudyTable) -> list[Box]:
    boxes = []
    for correlation, goal in GOALS.items():
        row = _goal(cuts, correlation)
        if row is None:
            continue
        reached = row["factor"].value >= goal
        boxes.append(
            Box(
                "good" if reached else "bad",
                f"Serial correlation {correlation:g}: overlapping cuts the waiting {_factor(row['factor'])} "
                f"at D = {row['delay_ratio']}; the goal, {goal:g}, is "
                f"{'reached' if reached else 'NOT reached'}.",
            )
        )
    return boxes


def _factor(found: Estimate) -> str:
    limits = f" ({span([found.low, found.high])})" if found.low is not None else ""
    return f"{number(found.value)}-fold{limits}"


def _sentence(cuts: StudyTable) -> str:
    words = [
        f"{_factor(row['factor'])} at serial correlation {correlation:g} and D = {row['delay_ratio']} "
        "(drawn times: "
        f"{number(row['factor_drawn']) if isinstance(row['factor_drawn'], float) else 'missing'})"
        for correlation in GOALS
        if (row := _goal(cuts, correlation))
    ]
    if not words:
        return "Nothing to compare yet: no pair of structure-aware and overlapped runs with D = 10 or 20."
    return f"Overlapping cuts the waiting of the structure-aware schedule {', '.join(words)}."


def _key_figures(cuts: StudyTable, waits: list[Waits]) -> list[KeyFigure]:
    figures = []
    for correlation in GOALS:
        row, label = _goal(cuts, correlation), f"Overlapping cuts waiting, correlation {correlation:g}"
        figures.append(
            KeyFigure(label, "missing", "", "no such pair of runs", missing=True)
            if row is None
            else KeyFigure(
                label, f"{number(row['factor'].value)}×", "measured", f"at D = {row['delay_ratio']}"
            )
        )
    late = [found.value for w in waits if isinstance(found := w.lateness_us, Estimate)]
    if late:
        figures.append(
            KeyFigure("Lateness of a sleep", f"{span(late, 2)}{NARROW}µs", "measured", "mean per setup")
        )
    return figures


def _figures(waits: list[Waits]) -> list[Figure]:
    """One per serial correlation."""
    found = []
    for correlation in sorted({w.setup.correlation for w in waits}):
        shown = [w for w in waits if w.setup.correlation == correlation and isinstance(w.measured, Estimate)]
        if not shown:
            continue
        table = _main(shown).shown()
        alt = f"Waiting per cycle against D at serial correlation {correlation:g}. " + " ".join(
            f"{w.setup.configuration.label}: {number(w.measured.value)} µs measured, "
            f"{number(w.drawn.value)} from drawn times."
            for w in shown
        )
        caption = (
            "Waiting in µs per cycle (mean over ranks), logarithmic. Dots: measured, with intervals; "
            "crosses: recursion on the measured compute times; dashed: recursion on drawn times."
        )
        name = f"waiting-{len(found)}"
        svg = schedules_figure.draw(shown, name, alt)
        found.append(Figure(name, f"Serial correlation {correlation:g}", svg, alt, caption, table))
    return found


STUDY = Study(
    "schedules",
    "waiting of the five schedules over D with injected skew, beside the recursion that predicts it",
    "schedules",
    read,
)
