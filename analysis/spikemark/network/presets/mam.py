"""The multi-area model of macaque visual cortex in its ground state, from its published statistics.

`draw` gives areas with the statistics of Schmidt et al. (2018): sizes, synapses per neuron, their
share between areas and the spread of the numbers of synapses between areas are those of the model
with stabilised connectivity, computed from its public data. Within the areas, every figure is that
of the microcircuit of Potjans & Diesmann (2014): shares of the populations, probabilities of
connection (all scaled alike to the in-degree of an area), weights and neurons. `mam_data` reads a
user's own copy of the original's data instead.

Delays within an area are those of the microcircuit; between areas the mean is the distance at 3.5
mm/ms, and what is shorter than 1 ms is redrawn, so that the delay ratio is 10 (Lober et al. 2026).
In-degrees are Poisson numbers.

18.5 % of the synapses connect areas, 26.5 % before stabilisation. Lober et al. 2026 state a third,
which could not be found in public data.
"""

from collections.abc import Callable
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from . import cortex, mam_data
from .cortex import Areas
from .mam_data import BACKGROUND_HZ
from .options import ALL, SCALE, PublishedRates, ScaledOptions, Schedule, option

SUMMARY = "multi-area model of macaque visual cortex, ground state, 32 areas of eight populations"
DELAY_RATIO = 10
#: Leaves room in a synapse for delays up to 54 ms to as many neurons as an area has.
WEIGHT_CLASSES = 8
#: Of the scale for in-degrees, as in microcircuit; measured at the scales 0.005 to 0.05.
WEIGHT_EXPONENT = 0.6

AREAS = 32
#: Mean over areas, and coefficient of variation.
NEURONS_PER_AREA, SIZE_CV = 129_064, 0.198
#: Synapses of a neuron, and the share of them that comes from other areas.
INDEGREE, SHARE_BETWEEN = 5842, 0.185
#: Source areas of an area, and SD of the logarithms of their shares.
MEDIAN_SOURCES, LN_SD = 21, 3.46
#: Distances between areas.
NEAREST_MM, MEAN_MM, FURTHEST_MM = 6.0, 25.5, 63.0
#: Mean rate, and coefficient of variation over areas.
RATE_HZ, RATE_CV = 2.5, 0.25
#: Of an interval in which a root is sought: doubles have no more digits.
HALVINGS = 64
#: Populations whose axons leave the area: all excitatory ones but that of layer 4.
LEAVING = np.array([name in ("L23E", "L5E", "L6E") for name in cortex.POPULATIONS])

#: The mean rate of the ground state, spikes/s; it is that of the network as drawn.
RATES = PublishedRates(
    {ALL: RATE_HZ},
    "Lober et al. (2026), whose MAM-benchmark fires as the ground state of Schmidt et al. (2018)",
    hold_for={"from_": None},
)


class MamOptions(ScaledOptions):
    """What `describe` accepts; the defaults suit a laptop.

    Scaling is that of the microcircuit, at the expected rates; the ground state holds from a scale
    of 0.005. A scaled copy of the original's data fires faster than the original (5.4 spikes/s at
    0.01): its inhibitory weights, -11 times the excitatory ones, grow too large.
    """

    schedule: Schedule = option("structure_aware", "a schedule of the mini-app")
    scale: float = option(
        0.01,
        f"{SCALE}4.13 million",
        ge=0.001,
        le=1,
    )
    from_: str | None = option(
        None, "folder with a copy of the original model's data, read instead of drawing areas"
    )

    def description(self) -> dict[str, Any]:
        """The run description."""
        areas = _areas(self.seed, self.from_)
        indegree_scale = self.of_synapses(WEIGHT_EXPONENT)
        populations, projections = areas.network(self.scale, indegree_scale, WEIGHT_CLASSES)
        return self.run(populations, projections, delay_ratio=DELAY_RATIO)


describe = MamOptions.describe


def rates_hz(seed: int, from_: str | None = None) -> dict[str, float]:
    """Expected rate of each population, which differs between areas and within them, in Hz."""
    areas = _areas(seed, from_)
    return dict(zip(areas.populations, areas.rates_hz.tolist(), strict=True))


def _areas(seed: int, from_: str | None) -> Areas:
    """The network that is drawn, or that is in a folder."""
    return draw(seed) if from_ is None else mam_data.read_areas(from_)


@lru_cache(maxsize=8)
def draw(seed: int) -> Areas:
    """The network of areas that `seed` gives. It has exactly the statistics above."""
    rng = np.random.default_rng(seed)
    area = np.repeat(np.arange(AREAS), 8)
    kind = np.tile(np.arange(8), AREAS)
    totals = NEURONS_PER_AREA * (1 + SIZE_CV * _standard_normal(rng))
    share = cortex.NEURONS / cortex.NEURONS.sum()
    neurons = totals[area] * share[kind]

    local = cortex.indegrees()
    local *= INDEGREE * (1 - SHARE_BETWEEN) / (share @ local.sum(axis=1))
    same = area[:, np.newaxis] == area
    leaving = np.where(LEAVING, share, 0) / share[LEAVING].sum()
    between = sources(rng) * INDEGREE * SHARE_BETWEEN
    indegrees = np.where(same, local[kind][:, kind], between[area][:, area] * leaving[kind])
    weights = np.where(same, cortex.weights()[kind][:, kind], cortex.current_pA(cortex.PSP_MV))

    factor = 1 + RATE_CV * _standard_normal(rng)
    rates = factor[area] * np.array(list(cortex.RATES_HZ.values()))[kind]
    rates *= RATE_HZ * neurons.sum() / (neurons @ rates)
    from_background_pA = cortex.current_pA(cortex.PSP_MV)

    mean_mv, noise = cortex.moments(indegrees * rates, weights)
    one_mv, one_noise = cortex.moments(np.array([BACKGROUND_HZ]), np.array([from_background_pA]))

    def excess_hz(background: np.ndarray) -> np.ndarray:
        """Rates in mean-field theory over those expected, with so many background synapses."""
        found_hz = cortex.rate_of(mean_mv + background * one_mv, noise + background * one_noise)
        return np.asarray(found_hz - rates)

    background = root(excess_hz, np.zeros(len(area)), np.full(len(area), 10.0 * INDEGREE))

    return Areas(
        names=[f"area{number}" for number in range(AREAS)],
        area=area,
        kind=kind,
        neurons=neurons,
        indegrees=np.c_[indegrees, background],
        weights_pA=np.c_[weights, np.full(len(area), from_background_pA)],
        rates_hz=rates,
        background_hz=BACKGROUND_HZ,
        distances_mm=distances(rng),
    )


def sources(rng: np.random.Generator) -> np.ndarray:
    """Share of each source area in the synapses from other areas, [target area, source area].

    The logarithms of the shares that are not 0 have the standard deviation LN_SD; half of the
    target areas have at most MEDIAN_SOURCES sources.

    Example:
        >>> shares = sources(np.random.default_rng(1))
        >>> bool(np.allclose(shares.sum(axis=1), 1))
        True
    """
    number = rng.binomial(AREAS - 1, MEDIAN_SOURCES / (AREAS - 1), size=AREAS)
    number = np.clip(number + MEDIAN_SOURCES - int(np.median(number)), 1, AREAS - 1)
    chosen = np.zeros((AREAS, AREAS), dtype=bool)
    for target, count in enumerate(number):
        others = np.delete(np.arange(AREAS), target)
        chosen[target, rng.choice(others, count, replace=False)] = True
    logarithms = rng.normal(size=(AREAS, AREAS))

    def shares(spread: np.ndarray) -> np.ndarray:
        drawn = np.where(chosen, np.exp(spread * logarithms), 0)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))

    def excess(spread: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(shares(spread)[chosen]).std() - LN_SD)

    return shares(root(excess, np.array(0.0), np.array(2 * LN_SD)))


def distances(rng: np.random.Generator) -> np.ndarray:
    """Distances in mm, [area, area]: points in a ball, stretched to published range and mean.

    Example:
        >>> apart_mm = distances(np.random.default_rng(1))
        >>> bool((apart_mm == apart_mm.T).all())
        True
    """
    points = rng.normal(size=(AREAS, 3))
    points *= (rng.uniform(size=AREAS) ** (1 / 3) / np.linalg.norm(points, axis=1))[:, np.newaxis]
    apart = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    pairs = ~np.eye(AREAS, dtype=bool)
    low, high = apart[pairs].min(), apart[pairs].max()
    place = np.where(pairs, (apart - low) / (high - low), 0)

    def stretched(power: np.ndarray) -> np.ndarray:
        return np.asarray(NEAREST_MM + (FURTHEST_MM - NEAREST_MM) * place**power)

    def lacking_mm(power: np.ndarray) -> np.ndarray:
        return np.asarray(MEAN_MM - stretched(power)[pairs].mean())

    power = root(lacking_mm, np.array(0.1), np.array(10.0))
    return np.where(pairs, stretched(power), 0)


def _standard_normal(rng: np.random.Generator) -> np.ndarray:
    """Quantiles of the normal distribution in random order, [AREAS], with mean 0 and SD 1."""
    levels = (np.arange(AREAS) + 0.5) / AREAS
    quantiles = np.array([NormalDist().inv_cdf(level) for level in levels])
    return rng.permutation(quantiles / quantiles.std())


def root(
    function: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Where a function that grows is 0 between `low` and `high`, by bisection.

    Args:
        function: of an array, element by element, which is below 0 at `low` and above at `high`.
        low: lower limits, any shape.
        high: upper limits, of the same shape.

    Returns:
        The places, of the same shape.

    Raises:
        ValueError: where the function does not change its sign.

    Example:
        >>> squares = np.array([2.0, 9.0])
        >>> root(lambda x: x**2 - squares, np.zeros(2), np.full(2, 10.0)).round(6).tolist()
        [1.414214, 3.0]
    """
    if (function(low) > 0).any() or (function(high) < 0).any():
        raise ValueError("root: the function does not change its sign")
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_above = function(middle) > 0
        high = np.where(is_above, middle, high)
        low = np.where(is_above, low, middle)
    return np.asarray((low + high) / 2)
