"""Ranks beyond the measured ones: how many are allowed, what they are like, and what is unknown about them.

Their effects are normal about the mean of all ranks, with the variance of the measured rank means less what
noise adds to it. The draws also reflect how uncertain that mean and that variance are with few ranks, so sets
of further ranks differ by everything that is not known about them. They fluctuate as measured ranks do, begun
at another time; what all ranks share stays in its place. Waiting is computed for `DRAWS` sets, chosen so that
the set that a machine really has makes ranks wait less than the first or more than the last in 5 % of cases.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump

from .components import Components
from .split import Split

MOST_TIMES = 4  # `coverage` compares with known truth up to this multiple of the measured ranks
FEWEST = 4  # fewest measured ranks that show how ranks differ
DRAWS, CANDIDATES = 20, 2000
GUMBEL, ROUNDING = 6**0.5 / np.pi, 1e-9  # scale of a Gumbel variable over its SD
MOST_VALUES = 16_000_000  # held at a time


def check(ranks: int, measured: int) -> None:
    """Raises BadInput for more ranks than the measured ones can represent."""
    if ranks > measured < FEWEST:
        raise BadInput(
            f"ranks={ranks}: the run has {measured}; a prediction for more ranks needs at least {FEWEST}, "
            "which show how ranks differ"
        )
    if ranks > MOST_TIMES * measured:
        raise BadInput(
            f"ranks={ranks}: at most {MOST_TIMES * measured}, {MOST_TIMES} times those of the run; beyond "
            "that, no prediction has been compared with the truth"
        )


@dataclass(frozen=True)
class Cast:
    """One set of further ranks; every array has one element per rank.

    `effects` are in s per cycle; a rank fluctuates as the measured rank `like`, from the share `begin` of the
    run on.
    """

    effects: np.ndarray
    like: np.ndarray
    begin: np.ndarray


@dataclass(frozen=True)
class Further:
    """Ranks like those of `compute` [rank, cycle] in s."""

    compute: np.ndarray

    @cached_property
    def parts(self) -> Components:
        """The components without rare long cycles, since those would count as lasting differences."""
        return Split(self.compute, 2).components

    def casts(self, ranks: int, spread_s: float) -> list[Cast]:
        """`DRAWS` sets that fill up `ranks`, evenly spaced among `CANDIDATES` by the waiting they cause.

        To order them, fluctuations of SD `spread_s` per cycle count as Gumbel variables, for which E[max] is
        the logarithm of a sum of exponentials. The sets span 95 % of the candidates.
        """
        parts, measured = self.parts, len(self.compute)
        shape = CANDIDATES, (MOST_TIMES - 1) * measured
        rng = np.random.default_rng(measured)
        variance, noise = float(parts.rank_means.var(ddof=1)), parts.rank_mean_known[0] ** 2
        scatter = variance * (measured - 1) / rng.chisquare(measured - 1, CANDIDATES)
        sd, centre = np.maximum(scatter - noise, 0) ** 0.5, rng.standard_normal(CANDIDATES) / measured**0.5
        effects = (sd * (rng.standard_normal(shape).T + centre)).T[:, : ranks - measured]
        like = np.argsort(parts.rank_means)[rng.integers(measured, size=shape)]
        begin = rng.random(shape)
        known = np.broadcast_to(parts.rank_effects, (CANDIDATES, measured))
        every, scale = np.hstack([known, effects]), max(GUMBEL * spread_s, ROUNDING * parts.mean)
        waiting = scale * special.logsumexp(every / scale, axis=1) - every.mean(axis=1)
        chosen = np.argsort(waiting, kind="stable")[CANDIDATES // DRAWS // 2 :: CANDIDATES // DRAWS]
        some = slice(ranks - measured)
        return [Cast(effects[i], like[i, some], begin[i, some]) for i in chosen]

    def times(self, steps: np.ndarray, step: int, ranks: int) -> Iterator[np.ndarray]:
        """Batches of times [draw, rank, step] in s of measured and further ranks, `ranks` in all.

        `steps` [rank, step] are sums over `step` cycles of the measured ones.
        """
        measured, number = steps.shape
        course = lump(self.parts.common_course[: number * step], step)
        own = (steps - course - step * self.parts.rank_effects[:, None]).astype(steps.dtype)
        changing = np.subtract(own, own.mean(axis=1, keepdims=True), dtype=np.float64)
        casts = self.casts(ranks, float(changing.std()) / step)
        for some in batches(ranks * number):
            batch = np.empty((len(some), ranks, number), dtype=steps.dtype)
            batch[:, :measured] = steps
            for times, cast in zip(batch[:, measured:], casts[some.start : some.stop], strict=True):
                for place, like in enumerate(cast.like):
                    level = course + step * cast.effects[place]
                    begun_later(own[like], int(cast.begin[place] * number), level, times[place])
            yield np.maximum(batch, 0, out=batch)


def begun_later(course: np.ndarray, begin: int, level: float | np.ndarray, out: np.ndarray) -> None:
    """Writes `level` + `course` [step], begun at another step as by `np.roll`, into `out`."""
    level = np.broadcast_to(level, course.shape)
    np.add(level[:begin], course[len(course) - begin :], out=out[:begin], casting="same_kind")
    np.add(level[begin:], course[: len(course) - begin], out=out[begin:], casting="same_kind")


def batches(values: int) -> list[range]:
    """Numbers of the sets, in batches of at most MOST_VALUES values; one set takes `values`."""
    at_once = max(1, MOST_VALUES // values)
    return [range(first, min(first + at_once, DRAWS)) for first in range(0, DRAWS, at_once)]


def middle(waiting_s: np.ndarray) -> tuple[float, tuple[float, float]]:
    """The median of the waiting over the sets, and how far below and above it the extremes lie."""
    value = float(np.median(waiting_s))
    return value, (value - float(waiting_s.min()), float(waiting_s.max()) - value)
