"""What a prediction from one run says of another run, which meets other conditions on the machine.

A replay keeps the speeds that the ranks had in the run. In another run, a rank may be faster or
slower for its whole length: another clock, other places in memory, another program on the same
host. So may all ranks together, what a meeting costs, and how much the times of a rank fluctuate.
These differences are drawn (models/between_runs.py), and the interval of a prediction reaches as
far as they do: of 79 draws, the second lowest and the second highest hold a further one in 95 % of
the cases, whatever their distribution.

Ranks that differed in the run may do so for good, since their work or their nodes differ, or by the
chance of that run. Few ranks do not tell which, so both are drawn, and the interval holds both.
Many ranks whose work is equal show how much speeds vary; what is assumed is not needed then.

Times that the description of a run injects do not depend on the speed of a rank, and simulated
times do not differ from run to run.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import NamedTuple

import numpy as np

from spikemark.models.between_runs import COMMUNICATING_SD, RUN_SD
from spikemark.quantities.quantity import LEVEL, Quantity

from .replay import ReplayedWaiting, Setting, outcome_without_interval, predict
from .trace import MIN_TRACE_WINDOWS, CycleTrace

DRAWS_OF_READING = 79  #: for each reading of how ranks differ
DRAW_SEED = 1
#: From so many ranks on, the differences between ranks of a run tell how much their speeds vary.
ENOUGH_RANKS = 7
#: Ranks that differ by so many times what is assumed of speeds differ for good.
SURELY_LASTING = 3.0
#: A rank that is so many spreads from the middle of many ranks is not one of them by chance.
OUTLIER = 4.5
SD_OF_MEDIAN_DEVIATION = 1.4826  #: SD of normal numbers over the median of their distances
#: Both runs vary, so that their difference varies by so much more.
OF_A_DIFFERENCE = 2**0.5
MAX_TIMES = 1 << 18  #: times [rank, cycle] that are replayed for each draw
INJECTED_PHASE = "inject"


def predict_another_run(run: CycleTrace, setting: Setting) -> ReplayedWaiting:
    """What a setting makes of another run of the same network on the same machine.

    Values are those of `replay.predict`; intervals are wider by what differs from run to run.

    Args:
        run: a conventional run, or one whose placement the setting keeps.
        setting: what is asked about.

    Raises:
        BadInput: as `replay.predict` does.

    Example:
        >>> from spikemark.waiting.replay import predict
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> rarely = Setting.meeting_rarely(run, 10)
        >>> same = predict(run, rarely).waiting
        >>> another = predict_another_run(run, rarely).waiting
        >>> another.value == same.value, another.high > same.high
        (True, True)
    """
    predicted = predict(run, setting)
    if run.rank_sd == 0 or setting.unknown:
        return predicted
    reach = _reaches(run, setting)
    return replace(
        predicted,
        waiting=_widened(predicted.waiting, reach["waiting"], run.cycles),
        runtime=_widened(predicted.runtime, reach["runtime"], run.cycles),
        change=_widened(predicted.change, reach["change"], 1),
        saved=_widened(predicted.saved, reach["saved"], run.cycles, least=-np.inf),
        same_speeds=predicted,
    )


class Reach(NamedTuple):
    """How far another run may be from a prediction, in s per cycle or as a share."""

    lower: float  #: 0 or more
    higher: float


def _reaches(run: CycleTrace, setting: Setting) -> dict[str, Reach]:
    """How far draws of other conditions are from the speeds of the run, by quantity.

    Each reading of the differences between ranks has DRAWS_OF_READING draws, and the farthest one
    counts.
    Where there are several sets of compute times, draws take them in turn.
    """
    rng = np.random.default_rng(DRAW_SEED)
    sets = setting.moved or setting.readings or (setting.compute,)
    draws_of_set = Counter(draw * len(sets) // DRAWS_OF_READING for draw in range(DRAWS_OF_READING))
    same_speeds = []
    drawn: dict[Reading, list[dict[str, float]]] = defaultdict(list)
    for number, draws in draws_of_set.items():
        short_run, short_setting = _shortened(run, setting, sets[number])
        same_speeds.append(outcome_without_interval(short_run, short_setting))
        differences = RankDifferences.of(short_setting.compute)
        for reading in differences.readings(run.rank_sd):
            for _ in range(draws):
                other = _in_other_conditions(run, short_setting, reading, rng)
                drawn[reading].append(outcome_without_interval(short_run, other))
    reaches = {}
    for name in same_speeds[0]:
        middle = float(np.median([outcome[name] for outcome in same_speeds]))
        limits = []
        for outcomes in drawn.values():
            limits.append(_limits([outcome[name] for outcome in outcomes]))
        lower = middle - min(low for low, _ in limits)
        higher = max(high for _, high in limits) - middle
        reaches[name] = Reach(max(lower, 0.0), max(higher, 0.0))
    return reaches


def _limits(draws: list[float]) -> tuple[float, float]:
    """Between what a further draw is in 95 % of the cases; of few draws, the farthest ones."""
    in_order = sorted(draws)
    beyond = max(int((1 - LEVEL) / 2 * (len(draws) + 1)), 1)
    return in_order[beyond - 1], in_order[-beyond]


def _widened(quantity: Quantity, reach: Reach, times: float, least: float = 0.0) -> Quantity:
    """A quantity whose interval holds what chance within the run and another run make of it.

    The two are independent, so that their distances from the value add up as squares.

    Args:
        quantity: with the interval of chance within the run.
        reach: of other runs.
        times: as large the quantity is.
        least: the limits are not below.
    """
    value = quantity.number
    low, high = quantity.limits
    return replace(
        quantity,
        low=max(value - float(np.hypot(value - low, times * reach.lower)), least),
        high=value + float(np.hypot(high - value, times * reach.higher)),
    )


def _shortened(
    run: CycleTrace, setting: Setting, compute: np.ndarray
) -> tuple[CycleTrace, Setting]:
    """The middle of a run, and of a set of compute times of a setting, of MAX_TIMES at most."""
    ranks = max(run.ranks, setting.plan.ranks)
    window = np.lcm(setting.plan.window, run.period)
    windows = max(MAX_TIMES // (ranks * window), MIN_TRACE_WINDOWS)
    windows = min(windows, run.cycles // window)
    first = (run.cycles // window - windows) // 2 * window
    cycles = slice(first, first + windows * window)
    meetings = slice(cycles.start // run.period, cycles.stop // run.period)
    short_run = replace(
        run,
        compute=run.compute[:, cycles],
        waited=None if run.waited is None else run.waited[meetings],
        exchanged=None if run.exchanged is None else run.exchanged[meetings],
        work=None,
    )
    return short_run, replace(setting, compute=compute[:, cycles], moved=None, readings=None)


class Reading(Enum):
    """What differences between the ranks of a run are."""

    CHANCE = auto()  #: of that run alone: another one draws them anew
    LASTING = auto()  #: of their work or their nodes: another run has them, too


@dataclass(frozen=True)
class RankDifferences:
    """How the mean compute times of ranks differ in a run, as shares of their mean."""

    of_ranks: np.ndarray  #: [rank]

    @classmethod
    def of(cls, compute: np.ndarray) -> "RankDifferences":
        """The differences in compute times [rank, cycle]."""
        means = compute.mean(axis=1, dtype=np.float64)
        return cls(means / means.mean() - 1 if means.mean() > 0 else np.zeros(len(means)))

    @property
    def sd(self) -> float:
        """Their spread."""
        return float(self.of_ranks.std(ddof=1))

    @property
    def has_outlier(self) -> bool:
        """Whether a rank is too far from the others for chance."""
        distances = abs(self.of_ranks - np.median(self.of_ranks))
        spread = SD_OF_MEDIAN_DEVIATION * float(np.median(distances))
        return bool(distances.max() > OUTLIER * spread)

    def tell_speeds(self, assumed_sd: float) -> bool:
        """Whether they show how speeds vary: of enough ranks, which differ less than assumed, and
        none of which is apart from the others.
        """
        if len(self.of_ranks) < ENOUGH_RANKS or self.sd > assumed_sd:
            return False
        return not self.has_outlier

    def readings(self, assumed_sd: float) -> tuple[Reading, ...]:
        """What they may be: both, where nothing tells it."""
        if self.tell_speeds(assumed_sd):
            return (Reading.CHANCE,)
        if self.sd > SURELY_LASTING * assumed_sd:
            return (Reading.LASTING,)
        return (Reading.CHANCE, Reading.LASTING)

    def drawn_anew(self, assumed_sd: float, rng: np.random.Generator) -> np.ndarray:
        """How other ranks would differ, if the differences were chance, [rank].

        What the number of ranks leaves unknown of their spread is drawn, too.
        """
        spread = assumed_sd
        if self.tell_speeds(assumed_sd):
            degrees = len(self.of_ranks) - 1
            spread = float(np.square(self.of_ranks).sum() / rng.chisquare(degrees)) ** 0.5
        return np.asarray(np.expm1(spread * rng.standard_normal(len(self.of_ranks))))

    def kept(self, assumed_sd: float, rng: np.random.Generator) -> np.ndarray:
        """How the same ranks would differ, if the differences were lasting, [rank].

        Both runs add chance of their own.
        """
        normal = rng.standard_normal(len(self.of_ranks))
        factors = np.exp(OF_A_DIFFERENCE * assumed_sd * normal)
        return np.asarray((1 + self.of_ranks) * factors - 1)


def _in_other_conditions(
    run: CycleTrace,
    setting: Setting,
    reading: Reading,
    rng: np.random.Generator,
) -> Setting:
    """A setting with other speeds of the ranks, other fluctuations of their times, and another cost
    of a meeting.

    Times that were injected stay as they are.

    Args:
        run: as it was.
        setting: with one set of compute times.
        reading: what the differences between ranks are.
        rng: what is drawn comes from it.
    """
    compute = setting.compute
    means_s = compute.mean(axis=1, dtype=np.float64)
    computing = _computing_share(run)
    other_means_s = means_s + computing * (_other_means(run, compute, reading, rng) - means_s)
    cost, times_as_uneven = np.exp(OF_A_DIFFERENCE * COMMUNICATING_SD * rng.standard_normal(2))
    scale = 1 + computing * (times_as_uneven - 1)  # of the fluctuations of each rank
    offset_s = other_means_s - scale * means_s
    other = compute * scale[:, None].astype(compute.dtype)
    other += offset_s[:, None].astype(compute.dtype)
    np.maximum(other, 0, out=other)
    return replace(setting, compute=other, cost=setting.cost * float(cost))


def _other_means(
    run: CycleTrace,
    compute: np.ndarray,
    reading: Reading,
    rng: np.random.Generator,
) -> np.ndarray:
    """Mean times of ranks with other speeds, if all of `compute` [rank, cycle] depended on these,
    [rank] in s.
    """
    differences = RankDifferences.of(compute)
    if reading is Reading.LASTING:
        others = differences.kept(run.rank_sd, rng)
    else:
        others = differences.drawn_anew(run.rank_sd, rng)
    of_all_ranks = np.exp(OF_A_DIFFERENCE * RUN_SD * rng.standard_normal())
    mean_s = compute.mean(dtype=np.float64)
    return np.asarray((1 + others) * of_all_ranks * mean_s)


def spread_of_speeds(run: CycleTrace) -> Quantity:
    """Spread (SD) of the speed of a rank from run to run, as a share: as the ranks of the run show
    it, or as it is assumed.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> few = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> many = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (16, 1000)))
        >>> spread_of_speeds(few).kind, spread_of_speeds(many).kind
        ('assumed', 'measured')
    """
    differences = RankDifferences.of(run.compute)
    if differences.tell_speeds(run.rank_sd):
        return Quantity(differences.sd, kind="measured")
    return Quantity(run.rank_sd, kind="assumed")


def _computing_share(run: CycleTrace) -> np.ndarray:
    """Of the compute time of each rank, the share that was not injected, [rank]."""
    if run.work is None or INJECTED_PHASE not in run.work.times:
        return np.ones(run.ranks)
    injected = run.work.times[INJECTED_PHASE].mean(axis=1, dtype=np.float64)
    compute = run.compute.mean(axis=1, dtype=np.float64)
    share = 1 - injected / np.maximum(compute, np.finfo(float).tiny)
    return np.asarray(np.clip(share, 0.0, 1.0))
