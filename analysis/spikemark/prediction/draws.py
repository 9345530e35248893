"""Draws of what is uncertain, the same for the same name wherever it is asked (common random numbers).

Every uncertain input has a name, such as "jureca-dc/node.t_first" or "error/kernel/machine/jureca-dc".
Options and machines that share an input share its draws: a ratio of two predictions is as certain as it is.
"""

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

N = 2048  #: draws of every uncertain input
Z95 = 1.959963984540054  #: standard normal quantile of 97.5 %

Draws = NDArray[np.float64]


def normal(name: str, n: int = N) -> Draws:
    """`n` standard normal draws, shape (n,): a Latin hypercube, whose order follows from `name` alone."""
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(n)
    return special.ndtri((order + 0.5) / n)


def log_normal(name: str, value: float, low: float, high: float) -> Draws:
    """Draws whose median is `value` and whose 95 % interval spans the factor `high / low`; all > 0."""
    return value * np.exp(normal(name) * np.log(high / low) / (2 * Z95))


def interval(draws: Draws) -> tuple[float, float, float]:
    """Median and the two ends of the central 95 % interval."""
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975]).tolist()
    return middle, low, high


def shares(result: Draws, inputs: dict[str, Draws]) -> dict[str, float]:
    """Share of the variance that each input explains alone (squared rank correlation), largest first."""
    known = [name for name, draws in inputs.items() if np.ptp(draws) > 0]
    ranks = np.argsort(np.argsort([result, *(inputs[name] for name in known)]))
    found = np.atleast_2d(np.corrcoef(ranks))[0, 1:] ** 2
    return dict(sorted(zip(known, found.tolist(), strict=True), key=lambda item: -item[1]))


def response(at: Callable[[list[dict[str, float]]], list[float]], moved: dict[str, Draws]) -> float | Draws:
    """Draws of what `at` makes of factors by name, from draws of these with median 1.

    `at` is asked at the medians, {}, and with each factor moved by one standard deviation of its logarithm,
    all at once; in between, the logarithm is quadratic in that of each factor.
    """
    logs = {name: np.log(factor) for name, factor in moved.items() if np.ptp(factor) > 0}
    asked = [{name: float(np.exp(sign * np.std(of)))} for name, of in logs.items() for sign in (-1, 1)]
    base, *ends = at([{}, *asked])
    if base <= 0:
        return base
    found = np.log(base)
    for of, low, high in zip(logs.values(), *np.log(np.maximum(np.divide(ends, base), 1e-9)).reshape(-1, 2).T,
                             strict=True):  # fmt: skip
        near = np.clip(of / np.std(of), -2, 2)
        found = found + (high - low) / 2 * near + (low + high) / 2 * near**2
    return np.exp(found)


class Recorder:
    """Draws values of machines by their names, and remembers the standard normal draws of each."""

    def __init__(self) -> None:
        self.inputs: dict[str, Draws] = {}

    def __call__(self, name: str, middle: float, low: float, high: float, value: Any) -> Draws:
        """Log-normal draws of a value in SI units; `low` and `high` are in its own unit.

        The median is the value, and 2.5 % lie beyond either end: each side has its own spread. Kernel times
        that are assumed have one common factor.
        """
        machine, _, rest = name.partition("/")
        common = rest.startswith("kernels.") and value.kind == "assumed"
        z, stated = self.normal(f"{machine}/kernels" if common else name), value.value
        if stated <= 0:  # half of a normal one, which is never negative
            return np.abs(z) * high / Z95 * (middle / stated if stated else 1.0)
        above = np.log(high / stated) / Z95
        below = np.log(stated / low) / Z95 if low > 0 else above
        return middle * np.exp(np.where(z > 0, above, below) * z)

    def normal(self, name: str) -> Draws:
        """Standard normal draws of an input."""
        return self.inputs.setdefault(name, normal(name))
