"""Distributions of cycle times, and how many maxima over ranks fall where equation 12 expects them."""

import numpy as np

from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import counted, integer, microseconds, number, percent, span
from spikemark.records.cases import View
from spikemark.records.gather import Configuration
from spikemark.report.distributions import LEVEL, Distribution, axis, distribution
from spikemark.report.figures import cycle_times as drawing

from . import cycle_lumping

TITLE = "Cycle times"
EXPLAINED = (
    "A cycle's compute time (deliver + update + collocate, and injected waits) varies from cycle to cycle "
    "and from rank to rank. "
    "The ranks wait for the slowest one: in every cycle with the conventional schedule, once per window of D "
    "cycles with the structure-aware one. Times of windows are divided by D, so that they can be compared "
    "with those of cycles."
)


def shown(view: View) -> list[Configuration]:
    """The compared pair and the intermediate strategy between them; without a pair the first three."""
    present = view.case.configurations(view.ranks)
    if not view.comparable:
        return present[:3]
    between = [c for c in present if c.schedule == "placement_only"]
    return [view.conventional, *between[:1], view.structure_aware]


def section(view: View) -> Section:
    """Of the compared schedules on the ranks the headline speaks of."""
    if view.case is None:
        return Section("cycle-times", TITLE, missing=["Cycle times: no run is complete."])
    missing: list[str] = []
    first: dict[Configuration, Distribution] = {}
    everything: list[Distribution] = []
    for configuration in shown(view):
        runs = [m for m in view.case.of(configuration, view.ranks) if m.run.cycles is not None]
        if not runs:
            missing.append(f"Cycle times, {configuration.label}: not recorded (record.cycles is false).")
            continue
        distributions = [distribution(m) for m in runs]
        first[configuration] = distributions[0]
        everything += distributions
    if not first:
        return Section("cycle-times", TITLE, missing=missing)
    drawn, lumping = list(first.values()), cycle_lumping.lumping(view, first)
    if lumping is not None:
        drawn.insert(1, lumping.summed)
    if view.ranks == 1:
        missing.append("Maxima over ranks: the runs have one rank only.")
    figure = _figure(view.ranks, drawn, [_row(d) for d in everything])
    text = [EXPLAINED, *_below_zero(everything), *_together(everything)]
    tables = []
    if lumping is not None:
        text += cycle_lumping.text(view, lumping)
        tables = [("From cycles to windows", cycle_lumping.table(lumping))]
    return Section("cycle-times", TITLE, text=text, figures=[figure], tables=tables, missing=missing)


def _below_zero(distributions: list[Distribution]) -> list[str]:
    """What an interval that begins below 0 says about the normal distribution it is made from."""
    failing = [d for d in distributions if d.interval_s is not None and d.interval_s[0] < 0]
    if not failing:
        return []
    lowest = microseconds(min(d.interval_s[0] for d in failing))
    labels = " and ".join(dict.fromkeys(d.name for d in failing))
    cvs = span([d.sd_s / d.mean_s for d in failing], 2)
    return [
        f"The intervals that equation 12 gives for the slowest rank begin below 0 for {labels} (at {lowest} "
        "at the lowest), and no time is negative: the normal distribution that the published theory assumes "
        f"does not describe these times (CV {cvs}). However many maxima so wide an interval contains, that "
        "is no support for it."
    ]


def _together(distributions: list[Distribution]) -> list[str]:
    """What the number of independent ranks is."""
    found = [d for d in distributions if d.independent_ranks is not None]
    if not found:
        return []
    return [
        "Equation 12 takes ranks as independent. Ranks that are slow together have a maximum like that of "
        "fewer ranks: the number of independent ranks, in the table below the figure, is the M that fits the "
        "maxima, with each time measured against its own rank's times, so that lasting differences do not "
        "count (95 % interval in parentheses; 1: the ranks vary as one)."
    ]


def _figure(ranks: int, distributions: list[Distribution], rows: list[list[str]]) -> Figure:
    limits, logarithmic = axis(distributions)
    times = np.concatenate([d.times_s for d in distributions], None)
    left, right = (times < limits[0]).mean(), (times > limits[1]).mean()
    run = distributions[0]
    where = f"{counted(ranks, 'rank')}, seed {run.seed}, repetition {run.repetition}"
    caption = (
        f"Compute time per cycle on {where} (measured), each histogram scaled to its highest bin. "
        f"Triangles: modes. {percent(left, 1)} of the times lie to the left of the"
        f"{' logarithmic' if logarithmic else ''} axis, {percent(right, 1)} to the right of it. "
    )
    if distributions[0].maxima_s is not None:
        shares = "; ".join(f"{percent(d.inside, 1)} ({d.name})" for d in distributions)
        caption += (
            f"Line: the slowest rank alone. Shaded: where {percent(LEVEL)} of the maxima would lie if the "
            "times were independent and normal with the mean and SD measured (modelled: Lober et al. 2026, "
            f"eq 12). Inside it are, measured: {shares}."
        )
    alt = "Histograms of compute times per cycle. " + " ".join(
        f"{d.label}: mean {microseconds(d.mean_s)}, standard deviation {microseconds(d.sd_s)}."
        for d in distributions
    )
    table = Table(
        [
            "schedule",
            "seed",
            "repetition",
            "windows",
            "mean (µs)",
            "SD (µs)",
            "CV",
            "modes (µs)",
            "longest (µs)",
            "independent ranks",
            "interval of maxima (µs)",
            "maxima inside",
        ],
        rows,
        ["given", "given", "given", "counted", *["measured"] * 6, "modelled", "measured"],
    )
    svg = drawing.draw(distributions, limits, logarithmic, "cycle-times", alt)
    return Figure("cycle-times-figure", f"On {where}", svg, alt, caption, table)


def _row(d: Distribution) -> list[str]:
    interval = "missing: one rank" if d.interval_s is None else span([1e6 * x for x in d.interval_s])
    return [
        d.name,
        str(d.seed),
        str(d.repetition),
        integer(d.times_s.shape[1]),
        number(1e6 * d.mean_s),
        number(1e6 * d.sd_s),
        number(d.sd_s / d.mean_s) if d.mean_s > 0 else "missing: mean 0",
        cycle_lumping.modes_in_words(d.modes),
        number(1e6 * d.longest_s),
        cycle_lumping.independent_in_words(d),
        interval,
        "missing: one rank" if d.inside is None else percent(d.inside, 1),
    ]
