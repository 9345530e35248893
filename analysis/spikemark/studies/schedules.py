"""The five schedules over D, with injected skew of known serial correlation: waiting beside the recursion."""

from matplotlib.lines import Line2D

from spikemark.quantities.elements import Box, Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import NARROW, number, span
from spikemark.records.gather import Sweep
from spikemark.report.columns import SCHEDULE
from spikemark.report.look import tell
from spikemark.report.style import COLOUR, drawing, legend_above, markup, schedule_colour

from . import held_out, waits
from .study import Findings, Study
from .waits import Waits

GOALS = {0.0: 5.0, 0.9: 2.0}  # serial correlation -> factor by which overlapping should cut the waiting
GOAL_RATIOS = (10, 20)  # at one of these D
RUNS_TIMES, DRAWN_TIMES = "recursion, runs' times", "recursion, drawn times"
ASIDE = {"conventional": 0.92, "placement_only": 0.97, "hierarchical": 1.05}  # dots at one D, side by side
EXPLAINED = (
    "How long do ranks wait for each other, and what does the schedule change about it? In every cycle, "
    "each rank sleeps for a time drawn at random. The network itself takes next to no time, so the times of "
    "the ranks are known and the schedules differ only in waiting. Sleeping ranks do not take a core from "
    "each other. But eight of them on two cores wake up late; a table below shows how late. Their compute "
    "times include "
    "that, and their exchanges take longer than on cores of their own. So the figures are about waiting for "
    "slower ranks, not about speed."
)
MODELS = (
    "Recursion, runs' times: the recursion F[m,k] = max(F[m,k−1], max over j of F[j,k−1−L] + t) + C[m,k] on "
    "the compute times that the runs had. No parameter is fitted, and t, the transport, is taken as 0. "
    "Waiting of the runs beyond it is transport and waking up. Recursion, drawn times: the same on times "
    "drawn from the distribution that was injected, a prediction that has seen no run. Its interval "
    "contains 95 % of runs of this length. The intervals of the other two are 95 %, over blocks of cycles. "
    "A run ends with "
    "all ranks together, so ranks that are ahead by overlapping wait at the end. All three include that."
)
HIERARCHICAL = (
    "All areas here are connected with the same shortest delay, so the hierarchical schedule has nothing to "
    "gain. Its groups meet as rarely as is exact, every 20 cycles, besides the exchange of all ranks every "
    "D cycles."
)


def read(sweep: Sweep) -> Findings:
    """Waiting of every setup, and how much overlapping reduces it."""
    found, lacking = waits.of_runs(sweep.runs)
    skewed, even = ([w for w in found if (w.setup.sd_us > 0) == injected] for injected in (True, False))
    cuts = _cuts(skewed, sweep.kind)
    parts = [
        Section("waiting", "Waiting by schedule", [EXPLAINED, MODELS, HIERARCHICAL],
                figures=_figures(skewed, sweep.kind), tables=[_main(skewed, sweep.kind)], missing=lacking),
        Section("overlap", "What overlapping saves", boxes=_verdicts(cuts), tables=[cuts]),
        held_out.section(skewed, sweep.kind),
        Section("floor", "Waiting without skew",
                tables=[_even(even, sweep.kind), _lateness(skewed + even, sweep.kind)]),
    ]  # fmt: skip
    return Findings(_sentence(cuts), _key_figures(cuts, skewed, sweep.kind), parts)


def _main(found: list[Waits], kind: str) -> Table:
    columns = {**waits.SETUP, **waits.cells(kind)}
    return Table.of(columns, found, "Waiting per cycle, mean over ranks", "waiting")


def _cuts(found: list[Waits], kind: str) -> Table:
    """Waiting of structure_aware over that of overlapped, for each D and correlation that both have."""
    places = {
        (w.setup.correlation, w.setup.configuration.delay_ratio, w.setup.configuration.schedule): w
        for w in found
    }
    pairs = [
        (plain, places[at])
        for at in sorted(places)
        if at[2] == "overlapped" and (plain := places.get((*at[:2], "structure_aware")))
    ]
    measured, replayed, drawn = waits.columns("factor", "structure-aware / overlapped", kind)
    columns = {
        waits.CORRELATION: lambda pair: pair[0].setup.correlation,
        Column("delay_ratio", "D", "given"): lambda pair: pair[0].setup.configuration.delay_ratio,
        measured: lambda pair: waits.factor(*(w.measured_blocks for w in pair)),
        replayed: lambda pair: waits.factor(*(w.replayed_blocks for w in pair)),
        drawn: lambda pair: (
            pair[0].drawn.value / late if (late := pair[1].drawn.value) > 0 else missing("nobody waits")
        ),
    }
    note = "Waiting of the structure-aware schedule over that of the overlapped one at the same D."
    return Table.of(columns, pairs, "By what factor overlapping cuts the waiting", "overlap", [note])


def _even(found: list[Waits], kind: str) -> Table:
    measured, replayed, _ = waits.cells(kind).items()
    columns = dict([(SCHEDULE, waits.SETUP[SCHEDULE]), measured, replayed])
    note = "All ranks get equal waits here. What is left comes from waking up late and from the exchange."
    return Table.of(columns, found, "Waiting without injected skew", "floor", [note])


def _lateness(found: list[Waits], kind: str) -> Table:
    columns = {
        SCHEDULE: waits.SETUP[SCHEDULE],
        **waits.SETUP,
        Column("sd_us", "SD injected (µs)", "given"): lambda w: w.setup.sd_us,
        Column("lateness_us", "lateness (µs per cycle)", kind, 2): lambda w: w.lateness_us,
    }
    return Table.of(columns, found, "How late ranks wake up", "lateness")


def _goal(cuts: Table, correlation: float) -> dict | None:
    """The row with the smallest D of the goal that was run; it is chosen without looking at the result."""
    rows = [
        row
        for row in cuts.rows
        if row["correlation"] == correlation and row["delay_ratio"] in GOAL_RATIOS and row["factor"]
    ]
    return min(rows, key=lambda row: row["delay_ratio"], default=None)


def _verdicts(cuts: Table) -> list[Box]:
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


def _factor(found: Quantity) -> str:
    limits = f" ({span([found.low, found.high])})" if found.low is not None else ""
    return f"{number(found.value)}-fold{limits}"


def _sentence(cuts: Table) -> str:
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


def _key_figures(cuts: Table, skewed: list[Waits], kind: str) -> list[KeyFigure]:
    figures = []
    for correlation in GOALS:
        row, label = _goal(cuts, correlation), f"Overlapping cuts waiting, correlation {correlation:g}"
        figures.append(
            KeyFigure.lacking(label, "no such pair of runs")
            if row is None
            else KeyFigure(label, f"{number(row['factor'].value)}×", kind, f"at D = {row['delay_ratio']}")
        )
    late = [found.value for w in skewed if (found := w.lateness_us)]
    if late:
        figures.append(KeyFigure("Lateness of a sleep", f"{span(late, 2)}{NARROW}µs", kind, "mean per setup"))
    return figures


def _figures(skewed: list[Waits], kind: str) -> list[Figure]:
    """One per serial correlation."""
    figures = []
    for correlation in sorted({w.setup.correlation for w in skewed}):
        shown = [w for w in skewed if w.setup.correlation == correlation and w.measured]
        if not shown:
            continue
        alt = f"Waiting per cycle against D at serial correlation {correlation:g}. " + " ".join(
            f"{w.setup.configuration.label}: {number(w.measured.value)} µs in the runs, "
            f"{number(w.drawn.value)} from drawn times."
            for w in shown
        )
        caption = (
            f"Waiting in µs per cycle (mean over ranks), logarithmic. Dots: {kind}, with intervals; crosses: "
            "recursion on the runs' compute times; dashed: recursion on drawn times."
        )
        name, title = f"waiting-{len(figures)}", f"Serial correlation {correlation:g}"
        figures.append(Figure(name, title, _draw(shown, kind, name, alt), alt, caption, _main(shown, kind)))
    return figures


def _draw(found: list[Waits], kind: str, name: str, alt: str) -> str:
    """`found`: setups of one serial correlation, all with waiting that was timed."""
    handles = []
    with drawing(height=3.6) as (figure, (axes,)):
        ratios = sorted({w.setup.configuration.delay_ratio for w in found})
        heights = [x.value for w in found for x in (w.measured, w.replayed, w.drawn)]
        lowest = 0.6 * min((x for x in heights if x > 0), default=1.0)  # intervals end there
        for schedule in dict.fromkeys(w.setup.configuration.schedule for w in found):
            own = [w for w in found if w.setup.configuration.schedule == schedule]
            colour = schedule_colour(schedule)
            at = [w.setup.configuration.delay_ratio for w in own]
            aside = [ASIDE.get(schedule, 1.0) * d for d in at]
            drawn = [w.drawn.value for w in own]
            if own[0].setup.configuration.uses_delay_ratio:
                axes.plot(at, drawn, "--", color=colour)
            else:
                axes.plot([ratios[0], ratios[-1]], [drawn[0]] * 2, "--", color=colour, linewidth=1)
            for x, w in zip(aside, own, strict=True):
                if w.measured.low is not None:
                    axes.plot([x, x], [max(w.measured.low, lowest), w.measured.high], "-", color=colour)
            axes.plot(aside, [w.replayed.value for w in own], "x", color=colour, markersize=5)
            dots = {"marker": "o", "markersize": 5.5, "linestyle": "", "color": colour, "markeredgewidth": 0}
            axes.plot(aside, [w.measured.value for w in own], **dots)
            label, says = own[0].setup.configuration.name, [str(d) for d in at]
            tell(axes, label, aside, [w.measured for w in own], kind, says)
            tell(axes, f"{label}, {RUNS_TIMES}", aside, [w.replayed for w in own], "modelled", says)
            tell(axes, f"{label}, {DRAWN_TIMES}", at, [w.drawn for w in own], "modelled", says)
            handles.append(Line2D([], [], label=own[0].setup.configuration.name, **dots))
        cross = {"marker": "x", "markersize": 5, "linestyle": "", "color": COLOUR["model"]}
        handles.append(Line2D([], [], label=RUNS_TIMES, **cross))
        handles.append(Line2D([], [], linestyle="--", color=COLOUR["model"], label=DRAWN_TIMES))
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=lowest)
        axes.set_xlim(0.85 * ratios[0], 1.18 * ratios[-1])
        axes.set_xticks(ratios, [str(d) for d in ratios])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.grid(axis="y")
        axes.set_xlabel("D (cycles between exchanges)")
        axes.set_ylabel("waiting (µs per cycle)")
        legend_above(figure, handles, columns=2)
        return markup(figure, name, alt, zoom=axes)


STUDY = Study(
    "schedules",
    "waiting of the five schedules over D with injected skew, beside the recursion that predicts it",
    "schedules",
    read,
)
