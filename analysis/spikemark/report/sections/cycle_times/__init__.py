"""Distributions of cycle times, and how many maxima over ranks fall where equation 12 expects them."""

import numpy as np

from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, microseconds, percent, span
from spikemark.records.cases import View
from spikemark.records.gather import Configuration
from spikemark.report.columns import REPETITION, SCHEDULE, SEED, share, without

from . import drawing, lumping
from .distributions import LEVEL, Distribution, axis, distribution

TITLE = "Cycle times"
FEWEST = 2  # windows that have a distribution
EXPLAINED = (
    "How much do cycles differ? A cycle's compute time (delivery, update, waiting for threads, injected "
    "waits and collocation) varies from cycle to cycle and from rank to rank. The ranks wait for the slowest "
    "one: in every cycle with the conventional schedule, once per window of cycles with schedules that "
    "exchange less often. Times "
    "of windows are divided by their cycles, so that they can be compared with those of cycles."
)


def shown(view: View) -> list[Configuration]:
    """Chooses one configuration of every schedule: a compared one, or else that with the largest D."""
    chosen = {c.schedule: c for c in view.case.configurations(view.ranks)}
    chosen |= {c.schedule: c for c in (view.other, view.base) if c is not None}
    pair = {view.base, view.other} - {None}
    return sorted({*chosen.values()} | pair, key=lambda c: c.order)


def section(view: View) -> Section:
    """Shows every schedule on the number of ranks that the headline is about."""
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
        long = [m for m in runs if m.run.measured_cycles >= FEWEST * m.run.window]
        if not long:
            windows = f"{counted(runs[0].run.measured_cycles, 'cycle')} of windows of {runs[0].run.window}"
            missing.append(f"Cycle times, {configuration.label}: {windows}; {FEWEST} windows are needed.")
            continue
        distributions = [distribution(m) for m in long]
        first[configuration] = distributions[0]
        everything += distributions
    if not first:
        return Section("cycle-times", TITLE, missing=missing)
    drawn, found = list(first.values()), lumping.lumping(view, first)
    if found is not None:
        drawn.insert(1, found.summed)
    if view.ranks == 1:
        missing.append("Maxima over ranks: the runs have only one rank.")
    figure = _figure(view.ranks, drawn, everything, view.kind)
    text = [EXPLAINED, *_below_zero(everything), *_together(everything)]
    tables = []
    if found is not None:
        text += lumping.text(view, found)
        tables = [lumping.table(found, view.kind)]
    return Section("cycle-times", TITLE, text=text, figures=[figure], tables=tables, missing=missing)


def _below_zero(distributions: list[Distribution]) -> list[str]:
    """Says what an interval that begins below 0 means for the normal distribution that it assumes."""
    failing = [d for d in distributions if d.interval_s is not None and d.interval_s[0] < 0]
    if not failing:
        return []
    lowest = microseconds(min(d.interval_s[0] for d in failing))
    labels = " and ".join(dict.fromkeys(d.name for d in failing))
    cvs = span([d.sd_s / d.mean_s for d in failing], 2)
    return [
        f"The intervals that equation 12 gives for the slowest rank begin below 0 for {labels} (at {lowest} "
        "at the lowest), and no time is negative: the normal distribution that the published theory assumes "
        f"does not describe these times (CV {cvs}). So wide an interval does not support it, however many "
        "maxima it contains."
    ]


def _together(distributions: list[Distribution]) -> list[str]:
    """Explains the number of independent ranks."""
    if not any(d.independent_ranks for d in distributions):
        return []
    return [
        "Are the ranks slow independently of one another, as equation 12 assumes? Ranks that are slow "
        "together have a maximum like that of fewer ranks. The number of independent ranks, in the table "
        "below the figure, is the M that fits the maxima (95 % interval in parentheses; 1: the ranks vary as "
        "one). Each time is compared with those of its own rank, so that lasting differences between ranks "
        "do not count."
    ]


def _figure(ranks: int, distributions: list[Distribution], listed: list[Distribution], kind: str) -> Figure:
    """Draws `distributions`; the table has a row for each that is `listed`."""
    limits, logarithmic = axis(distributions)
    times = np.concatenate([d.times_s for d in distributions], None)
    left, right = (times < limits[0]).mean(), (times > limits[1]).mean()
    run = distributions[0]
    where = f"{counted(ranks, 'rank')}, seed {run.seed}, repetition {run.repetition}"
    caption = (
        f"Compute time per cycle on {where} ({kind}), each histogram scaled to its highest bin. "
        f"Triangles: modes. {percent(left, 1)} of the times lie to the left of the"
        f"{' logarithmic' if logarithmic else ''} axis, {percent(right, 1)} to the right of it. "
    )
    if distributions[0].maxima_s is not None:
        shares = "; ".join(f"{percent(d.inside, 1)} ({d.name})" for d in distributions)
        caption += (
            f"Line: the slowest rank alone. Shaded: where {percent(LEVEL)} of the maxima would lie if the "
            f"times were independent and normal with the {kind} mean and SD (modelled: Lober et al. 2026, "
            f"eq 12). It contains ({kind}): {shares}."
        )
    alt = "Histograms of compute times per cycle. " + " ".join(
        f"{d.label}: mean {microseconds(d.mean_s)}, standard deviation {microseconds(d.sd_s)}."
        for d in distributions
    )
    svg = drawing.draw(distributions, limits, logarithmic, "cycle-times", alt)
    return Figure("cycle-times-figure", f"On {where}", svg, alt, caption, _table(listed, kind))


def _table(distributions: list[Distribution], kind: str) -> Table:
    alone, still = without("one rank"), without("mean 0")
    columns = {
        SCHEDULE: lambda d: d.name,
        SEED: lambda d: d.seed,
        REPETITION: lambda d: d.repetition,
        Column("windows", "windows", "counted"): lambda d: d.times_s.shape[1],
        Column("mean_us", "mean (µs)", kind): lambda d: 1e6 * d.mean_s,
        Column("sd_us", "SD (µs)", kind): lambda d: 1e6 * d.sd_s,
        Column("cv", "CV", kind): lambda d: d.sd_s / d.mean_s if d.mean_s > 0 else still,
        Column("modes_us", "modes (µs)", kind): lambda d: lumping.modes_in_words(d.modes),
        Column("longest_us", "longest (µs)", kind): lambda d: 1e6 * d.longest_s,
        Column("independent", "independent ranks", kind): lumping.independent,
        Column("interval_us", "interval of maxima (µs)", "modelled"): lambda d: (
            alone if d.interval_s is None else tuple(1e6 * float(x) for x in d.interval_s)
        ),
        share("inside", "maxima inside", kind): lambda d: alone if d.inside is None else d.inside,
    }
    return Table.of(columns, distributions)
