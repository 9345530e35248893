"""Areas drawn with the published statistics of the macaque multi-area model (Schmidt et al. 2018).

Sizes, synapses per neuron, their share between areas and the spread of the numbers of synapses between areas
are those of the model with stabilised connectivity, computed from its public data. Within the areas, every
figure is that of the microcircuit of Potjans & Diesmann (2014): shares of the populations, probabilities of
connection (all scaled alike to the in-degree of an area), weights and neurons.
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from . import cortex, mean_field

AREAS = 32
NEURONS_PER_AREA, SIZE_CV = 129_064, 0.198
INDEGREE, SHARE_BETWEEN = 5842, 0.185
MEDIAN_SOURCES, LN_SD = 21, 3.46
NEAREST_MM, MEAN_MM, FURTHEST_MM = 6.0, 25.5, 63.0
RATE_HZ, RATE_CV, BACKGROUND_HZ = 2.5, 0.25, 10.0
#: Populations whose axons leave the area: all excitatory ones but that of layer 4.
LEAVING = np.array([name in ("L23E", "L5E", "L6E") for name in cortex.POPULATIONS])


@dataclass(frozen=True)
class Areas:
    """A network of areas at full size; P populations in all, numbered area by area.

    The last column of `indegrees` and `weights_pA` is the background, Poisson input at `background_hz`.
    """

    names: list[str]  # of the areas
    area: np.ndarray  # [P] number of the area
    kind: np.ndarray  # [P] number in cortex.POPULATIONS
    neurons: np.ndarray  # [P]
    indegrees: np.ndarray  # [P, P + 1] mean synapses of a neuron by target and source
    weights_pA: np.ndarray  # [P, P + 1]
    rates_hz: np.ndarray  # [P] expected
    background_hz: float
    distances_mm: np.ndarray  # [areas, areas]


def draw(seed: int) -> Areas:
    """The network of areas that `seed` gives. It has exactly the statistics above."""
    rng = np.random.default_rng(seed)
    area, kind = np.repeat(np.arange(AREAS), 8), np.tile(np.arange(8), AREAS)
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
    weights = np.c_[weights, np.full(len(area), cortex.current_pA(cortex.PSP_MV))]
    background = [background_indegree(rate, indegrees[p], weights[p], rates) for p, rate in enumerate(rates)]
    return Areas(
        names=[f"area{number}" for number in range(AREAS)],
        area=area,
        kind=kind,
        neurons=neurons,
        indegrees=np.c_[indegrees, background],
        weights_pA=weights,
        rates_hz=rates,
        background_hz=BACKGROUND_HZ,
        distances_mm=distances(rng),
    )


def sources(rng: np.random.Generator) -> np.ndarray:
    """Share of each source area (columns) in the synapses that a target area (rows) has from other areas.

    The logarithms of the shares that are not 0 have the standard deviation LN_SD; half of the target areas
    have at most MEDIAN_SOURCES sources.
    """
    number = rng.binomial(AREAS - 1, MEDIAN_SOURCES / (AREAS - 1), size=AREAS)
    number = np.clip(number + MEDIAN_SOURCES - int(np.median(number)), 1, AREAS - 1)
    chosen = np.zeros((AREAS, AREAS), dtype=bool)
    for target, count in enumerate(number):
        others = np.delete(np.arange(AREAS), target)
        chosen[target, rng.choice(others, count, replace=False)] = True
    logarithms = rng.normal(size=(AREAS, AREAS))

    def shares(spread: float) -> np.ndarray:
        drawn = np.where(chosen, np.exp(spread * logarithms), 0)
        return drawn / drawn.sum(axis=1, keepdims=True)

    spread = _root(lambda s: np.log(shares(s)[chosen]).std() - LN_SD, 0, 2 * LN_SD)
    return shares(spread)


def distances(rng: np.random.Generator) -> np.ndarray:
    """Distances in mm, [areas, areas]: points in a ball, stretched to the published range and mean."""
    points = rng.normal(size=(AREAS, 3))
    points *= (rng.uniform(size=AREAS) ** (1 / 3) / np.linalg.norm(points, axis=1))[:, np.newaxis]
    apart = np.linalg.norm(points[:, np.newaxis] - points, axis=2)
    pairs = ~np.eye(AREAS, dtype=bool)
    low, high = apart[pairs].min(), apart[pairs].max()
    place = np.where(pairs, (apart - low) / (high - low), 0)

    def stretched(power: float) -> np.ndarray:
        return NEAREST_MM + (FURTHEST_MM - NEAREST_MM) * place**power

    power = _root(lambda x: stretched(x)[pairs].mean() - MEAN_MM, 0.1, 10)
    return np.where(pairs, stretched(power), 0)


def background_indegree(rate: float, indegrees: np.ndarray, weights: np.ndarray, rates: np.ndarray) -> float:
    """Background synapses with which a neuron fires at `rate` in mean-field theory.

    `indegrees` [P], `weights` [P + 1] (pA, the last is the background's), `rates` [P] of its sources.
    """

    def excess(background: float) -> float:
        events = np.r_[indegrees * rates, background * BACKGROUND_HZ]  # per second
        return mean_field.rate_of(events, weights) - rate

    return _root(excess, 0, 10 * INDEGREE)


def _standard_normal(rng: np.random.Generator) -> np.ndarray:
    """[AREAS] quantiles of the normal distribution in random order, with mean 0 and standard deviation 1."""
    levels = (np.arange(AREAS) + 0.5) / AREAS
    quantiles = np.array([NormalDist().inv_cdf(level) for level in levels])
    return rng.permutation(quantiles / quantiles.std())


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where `function` is 0 between `low` and `high`."""
    from scipy.optimize import brentq

    return brentq(function, low, high)
