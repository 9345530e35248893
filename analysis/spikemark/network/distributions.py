"""The numbers that distributions of a run description can take, as in the mini-app (miniapp/FORMAT.md).

Weights in classes, the most synapses and the most events of a neuron, and delays on the grid of time steps.
Pure functions of numbers, without NumPy and SciPy, so that reading a description stays quick.
"""

import itertools
import math
from functools import lru_cache
from statistics import NormalDist

HAIR = 1e-9  # steps within which a limit counts as lying on the grid or half-way
FURTHEST_SD = 6.34  # standard deviations from the mean that a weight of its own can lie
NEGLIGIBLE = 1e-11  # in-degrees rarer than the likeliest one by this factor are not drawn
WORD = 2.0**32  # a draw takes 32 bits
MOST_DELAY_STEPS = 1_000_000


@lru_cache
def _slices(classes: int) -> tuple[float, ...]:
    """Means of the slices of equal probability of the standard normal distribution, scaled to variance 1."""
    normal = NormalDist()
    density = [0.0, *(normal.pdf(normal.inv_cdf(k / classes)) for k in range(1, classes)), 0.0]
    means = [classes * (low - high) for low, high in itertools.pairwise(density)]
    spread = math.sqrt(math.fsum(mean**2 for mean in means) / classes)
    return tuple(mean / spread for mean in means)


def weight_levels(mean: float, sd: float, classes: int) -> tuple[float, ...]:
    """The weights of the classes that stand for a normal distribution; the mean alone where sd is 0."""
    return tuple(mean + sd * place for place in _slices(classes)) if sd else (mean,)


def furthest_weight(mean: float, sd: float, classes: int) -> float:
    """The largest deviation of a weight from the mean; `classes` 0 stands for weights of their own."""
    if not sd:
        return 0.0
    return -sd * _slices(classes)[0] if classes else min(abs(mean), FURTHEST_SD * sd)


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def most_synapses(mean: float) -> int:
    """The most synapses that a neuron with a Poisson in-degree of this mean can draw."""
    if mean == 0:
        return 0
    most, relative = int(mean), 1.0
    while relative > NEGLIGIBLE:
        most += 1
        relative *= mean / most
    return most


@lru_cache(maxsize=4096)  # more than the areas and populations of known networks
def most_events(mean: float) -> int:
    """The most events from outside that a neuron can receive in a step, their mean being at most 100."""
    probability = [math.exp(-mean)]
    for k in range(1, 400):
        probability.append(probability[-1] * mean / k)
    tail, most = 0.0, 0
    for k in range(399, 0, -1):
        tail += probability[k]
        if not most and round(WORD * tail) > 0:
            most = k
    return most


def delay_limits(
    mean: float, sd: float, low: float | None, high: float | None, kind: str, step: float
) -> tuple[float, float]:
    """Between which limits delays are drawn, ms as all arguments; `low` and `high` are None where not given.

    `kind` is normal, constant or exponential; both limits are the mean where that is the only delay. Raises
    ValueError with field, value and what is allowed.
    """
    if kind != "normal" and sd > 0:
        raise ValueError(f"sd={sd:g}: 0 for the {kind} distribution")
    if low is None:
        low = mean if kind == "constant" else min(step, mean)
    if high is None:
        high = 5 * mean if kind == "exponential" else mean + 4 * sd
    if low < step * (1 - HAIR):
        raise ValueError(f"min={low:g}: at least the resolution, {step:g} ms")
    if low > high:
        raise ValueError(f"min={low:g}: at most the longest, {high:g} ms")
    if high / step > MOST_DELAY_STEPS:
        raise ValueError(f"max={high:g}: at most {MOST_DELAY_STEPS} steps of {step:g} ms")
    alone = kind != "exponential" and not sd
    if alone:
        weight = low / step - HAIR <= mean / step <= high / step + HAIR
    elif kind == "exponential":
        weight = low < high
    else:
        first, last = sorted((abs(low - mean), abs(high - mean)))
        both = low < mean < high  # then the density at the mean lies within
        weight = both or math.erfc(first / sd / math.sqrt(2)) > math.erfc(last / sd / math.sqrt(2))
    if not weight:
        raise ValueError(f"mean={mean:g}: a distribution with some weight in [{low:g}, {high:g}] ms")
    return (mean, mean) if alone else (low, high)


def steps(ms: float, step: float) -> int:
    """A delay in steps, rounded to the grid."""
    return math.floor(ms / step + 0.5 + HAIR)
