"""Distributions of cycle times, and how many maxima over ranks fall where equation 12 expects them."""

from dataclasses import dataclass

import numpy as np

from spikemark import statistics
from spikemark.models.waiting_iid import IidWaiting

from ..cases import View
from ..elements import Figure, Section, Table
from ..figures import cycle_times as drawing
from ..gather import Configuration, Measured
from ..values import counted, integer, microseconds, number, percent, span

TITLE = "Cycle times"
LEVEL = 0.99
LONG_TAIL = 6  # longest over shortest time from which the axis is logarithmic
EXPLAINED = (
    "A cycle's compute time (deliver + update + collocate, and injected waits) varies from cycle to cycle "
    "and from rank to rank. "
    "The ranks wait for the slowest one: in every cycle with the conventional schedule, once per window of D "
    "cycles with the structure-aware one. Times of windows are divided by D, so that they can be compared "
    "with those of cycles."
)


@dataclass(frozen=True)
class Distribution:
    """Compute times of one run between two exchanges, per cycle. Maxima over ranks: None with one rank."""

    label: str
    schedule: str
    seed: int
    repetition: int
    window: int  # cycles
    times_s: np.ndarray  # [rank, window]
    maxima_s: np.ndarray | None  # [window]
    interval_s: (
        tuple[float, float] | None
    )  # holds a maximum with probability LEVEL, if the times were iid normal
    inside: float | None  # measured share of the maxima in it

    @property
    def mean_s(self) -> float:
        return float(self.times_s.mean())

    @property
    def sd_s(self) -> float:
        return float(self.times_s.std(ddof=1))


def prepare(measured: Measured) -> Distribution:
    """Lump the cycles into the windows of the run; the interval rests on the mean and SD of these windows."""
    run, configuration = measured.run, measured.configuration
    window = run.window
    lumped = statistics.lump(run.compute(), window) / window
    label = f"{configuration.label}: " + (f"windows of {window} cycles" if window > 1 else "single cycles")
    maxima = interval = inside = None
    if run.record.ranks > 1 and lumped.size > 1:
        maxima = lumped.max(axis=0)
        interval = IidWaiting.fit(lumped).interval_of_maxima(level=LEVEL)
        inside = statistics.share_inside(maxima, interval)
    planned = measured.planned
    return Distribution(
        *(label, run.schedule, planned.seed, planned.repetition, window),
        *(lumped, maxima, interval, inside),
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
    first: list[Distribution] = []
    everything: list[Distribution] = []
    for configuration in shown(view):
        runs = [m for m in view.case.of(configuration, view.ranks) if m.run.cycles is not None]
        if not runs:
            missing.append(f"Cycle times, {configuration.label}: not recorded (record.cycles is false).")
            continue
        distributions = [prepare(m) for m in runs]
        first.append(distributions[0])
        everything += distributions
    if not first:
        return Section("cycle-times", TITLE, missing=missing)
    if view.ranks == 1:
        missing.append("Maxima over ranks: the runs have one rank only.")
    figure = _figure(view.ranks, first, [_row(d) for d in everything])
    text = [EXPLAINED, *_below_zero(everything)]
    return Section("cycle-times", TITLE, text=text, figures=[figure], missing=missing)


def _below_zero(distributions: list[Distribution]) -> list[str]:
    """What an interval that begins below 0 says about the normal distribution it is made from."""
    failing = [d for d in distributions if d.interval_s is not None and d.interval_s[0] < 0]
    if not failing:
        return []
    lowest = microseconds(min(d.interval_s[0] for d in failing))
    labels = " and ".join(dict.fromkeys(d.label.split(":")[0] for d in failing))
    cvs = span([d.sd_s / d.mean_s for d in failing], 2)
    return [
        f"The intervals that equation 12 gives for the slowest rank begin below 0 for {labels} (at {lowest} "
        "at the lowest), and no time is negative: the normal distribution that the published theory assumes "
        f"does not describe these times (CV {cvs}). However many maxima so wide an interval contains, that "
        "is no support for it."
    ]


def _figure(ranks: int, distributions: list[Distribution], rows: list[list[str]]) -> Figure:
    limits = _limits(distributions)
    logarithmic = limits[0] > 0 and limits[1] / limits[0] > LONG_TAIL
    times = np.concatenate([d.times_s for d in distributions], None)
    left, right = (times < limits[0]).mean(), (times > limits[1]).mean()
    run = distributions[0]
    where = f"{counted(ranks, 'rank')}, seed {run.seed}, repetition {run.repetition}"
    caption = (
        f"Compute time per cycle on {where} (measured), each histogram scaled to its highest bin. "
        f"{percent(left, 1)} of the times lie to the left of the{' logarithmic' if logarithmic else ''} "
        f"axis, {percent(right, 1)} to the right of it. "
    )
    if distributions[0].maxima_s is not None:
        shares = "; ".join(f"{percent(d.inside, 1)} ({d.label.split(':')[0]})" for d in distributions)
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
            "interval of maxima (µs)",
            "maxima inside",
        ],
        rows,
        ["given", "given", "given", "counted", "measured", "measured", "measured", "modelled", "measured"],
    )
    svg = drawing.draw(distributions, limits, logarithmic, "cycle-times", alt)
    return Figure("cycle-times-figure", f"On {where}", svg, alt, caption, table)


def _limits(distributions: list[Distribution]) -> tuple[float, float]:
    """An axis that holds nearly all times; the last of a long tail are cut."""
    low = min(np.percentile(d.times_s, 0.1) for d in distributions)
    high = max(np.percentile(d.times_s, 99.8) for d in distributions)
    if low > 0 and high / low > LONG_TAIL:
        return low / 1.1, high * 1.1
    margin = 0.04 * (high - low) or 0.1 * high or 1e-9
    return max(0.0, low - margin), high + margin


def _row(d: Distribution) -> list[str]:
    interval = "missing: one rank" if d.interval_s is None else span([1e6 * x for x in d.interval_s])
    return [
        d.label.split(":")[0],
        str(d.seed),
        str(d.repetition),
        integer(d.times_s.shape[1]),
        number(1e6 * d.mean_s),
        number(1e6 * d.sd_s),
        number(d.sd_s / d.mean_s) if d.mean_s > 0 else "missing: mean 0",
        interval,
        "missing: one rank" if d.inside is None else percent(d.inside, 1),
    ]
