"""Areas of unequal size or rate on simulated nodes, and windows of any length (Lober et al. 2026, fig 8)."""

from collections import Counter

from spikemark import machines
from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent
from spikemark.records.gather import Measured, Sweep
from spikemark.report.columns import LABEL, SCHEDULE

from .on_machine import PHASES, Place, partner, places, reduction_percent, saved, speed_figure
from .study import Findings, Study

#: What is varied: option of the preset, head, words.
VARIED = {
    "size_cv": "spread of area sizes (SD / mean)",
    "area_rate_cv": "spread of area rates (SD / mean)",
}
EXPLAINED = (
    "How unequal may areas be? Each node has one area; areas differ in their number of neurons, or in their "
    "mean rate. Compute times are those of areas of the published mean size. A larger area computes longer "
    "in every cycle, and no window makes up for that. The conventional schedule deals all neurons evenly to "
    "all ranks. So structure-awareness becomes a disadvantage once areas differ enough. Times are seconds "
    "per simulated second."
)
NONE = missing("no conventional run of these areas")


def read(sweep: Sweep) -> Findings:
    """Real-time factors and phases over each spread, and over D."""
    found = places(sweep.runs, _setting)
    spreads = {name: [p for p in found if _varies(p, name) and _headline_ratio(found, p)] for name in VARIED}
    parts = []
    for name, head in VARIED.items():
        table = _spread(found, spreads[name], name, head)
        id, short = name.replace("_", "-"), head.split(" (")[0]
        title = f"Real-time factor by {short}"
        figures = speed_figure(
            spreads[name], head, lambda p, name=name: _value(p, name), title, f"heterogeneity-{id}", table
        )
        text = [] if parts else [EXPLAINED]
        parts.append(Section(id, f"By {short}", text, figures=figures, tables=[table]))
    parts.append(Section("delay-ratio", "By D", tables=[_ratios(found)]))
    return Findings(_sentence(found, spreads), _key_figures(spreads), parts)


def _setting(m: Measured) -> tuple[float, ...]:
    return tuple(float(m.options.get(name, 0.0)) for name in VARIED)


def _value(p: Place, name: str) -> float:
    return p.setting[list(VARIED).index(name)]


def _varies(p: Place, name: str) -> bool:
    """Tells whether the areas have no other spread than this."""
    return all(_value(p, other) == 0 for other in VARIED if other != name)


def _headline_ratio(found: list[Place], p: Place) -> bool:
    """Tells whether its D is the one that most settings have, or whether it uses none."""
    if not p.configuration.uses_delay_ratio:
        return True
    ratios = [
        q.configuration.delay_ratio for q in found if q.configuration.schedule == p.configuration.schedule
    ]
    return p.configuration.delay_ratio == max(dict.fromkeys(ratios), key=ratios.count)


def _spread(found: list[Place], own: list[Place], name: str, head: str) -> Table:
    columns = {
        Column(name, head, "given", 2): lambda p: _value(p, name),
        **LABEL,
        **PHASES,
        Column("saved_percent", "less run time than conventional (%)", "simulated"): saved(found, NONE),
    }
    return Table.of(columns, own, f"Seconds per simulated second by {head.split(' (')[0]}", name)


def _ratios(found: list[Place]) -> Table:
    def kind(p: Place) -> tuple[float, str]:
        return _value(p, "size_cv"), p.configuration.schedule

    of_size = [p for p in found if _value(p, "area_rate_cv") == 0]
    number_of = Counter(map(kind, of_size))
    shown = [
        p
        for p in of_size
        if p.configuration.schedule == "conventional"
        or (p.configuration.schedule != "placement_only" and number_of[kind(p)] > 1)
    ]
    columns = {
        Column("size_cv", VARIED["size_cv"], "given", 2): lambda p: _value(p, "size_cv"),
        SCHEDULE: lambda p: p.configuration.schedule.replace("_", "-"),
        Column("delay_ratio", "D", "given"): lambda p: p.configuration.delay_ratio,
        **PHASES,
    }
    return Table.of(columns, shown, "Seconds per simulated second by D", "delay_ratio")


def _crossing(own: list[Place], schedule: str) -> tuple[float, float] | None:
    """The smallest spread at which the schedule falls behind, and the spread before it (or NaN)."""
    factors = {(p.setting, p.configuration.schedule): p.real_time_factor for p in own}
    before = float("nan")
    for setting in sorted({p.setting for p in own}):
        plain, other = (factors.get((setting, name)) for name in ("conventional", schedule))
        if plain and other:
            if other.value > plain.value:
                return max(setting), before
            before = max(setting)
    return None


def _sentence(found: list[Place], spreads: dict[str, list[Place]]) -> str:
    compared = [
        p
        for p in found
        if p.configuration.schedule == "structure_aware" and partner(found, p, "conventional")
    ]
    if not compared:
        return "Nothing to compare yet: no conventional and structure-aware run of the same areas."
    words = []
    for name, own in spreads.items():
        most = max((_value(p, name) for p in own), default=0)
        if most == 0:
            continue
        crossing = _crossing(own, "structure_aware")
        what = VARIED[name].split(" (")[0]
        words.append(
            f"is ahead up to the largest {what} simulated, {percent(most)}{_still_saved(own, name)}"
            if crossing is None
            else f"falls behind at a {what} of {percent(crossing[0])}"
            + (f" (still ahead at {percent(crossing[1])})" if crossing[1] == crossing[1] else "")
        )
    return (
        f"On {compared[0].ranks} nodes of {machines.title(compared[0].machine)}, simulated, the "
        f"structure-aware schedule {', and '.join(words) or 'was run on equal areas only'}, compared with "
        "the conventional one."
    )


def _still_saved(own: list[Place], name: str) -> str:
    """Says how much of the run time is saved there."""
    most = [p for p in own if _value(p, name) == _largest(own, name)]
    for p in most:
        base = partner(own, p, "conventional")
        if p.configuration.schedule == "structure_aware" and base is not None:
            saved = reduction_percent(base, p)
            if saved:
                return f" ({number(saved.value, 2)} % less run time)"
    return ""


def _key_figures(spreads: dict[str, list[Place]]) -> list[KeyFigure]:
    figures = []
    for name, own in spreads.items():
        for p in own:
            base = partner(own, p, "conventional")
            if (
                p.configuration.schedule != "structure_aware"
                or base is None
                or _value(p, name) != _largest(own, name)
            ):
                continue
            saved = reduction_percent(base, p)
            if saved:
                label = f"Run time, structure-aware, {VARIED[name].split(' (')[0]} {percent(_value(p, name))}"
                change = f"{number(100 - saved.value)} %"
                figures.append(KeyFigure(label, change, "simulated", "of the conventional one"))
    return figures or [KeyFigure.lacking("Run time of unequal areas", "no such runs")]


def _largest(own: list[Place], name: str) -> float:
    return max(_value(p, name) for p in own)


STUDY = Study(
    "heterogeneity",
    "areas of unequal size or rate on 32 simulated nodes, and D from 1 to 20 (Lober et al., figure 8)",
    "heterogeneity",
    read,
)
