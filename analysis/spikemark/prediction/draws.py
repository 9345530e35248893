"""Draws of what is uncertain, the same for the same name wherever it is asked (common random
numbers).

Every uncertain input has a name, such as "jureca-dc/node.t_first" or
"error/kernel/machine/jureca-dc". Options and machines that share an input share its draws: a ratio
of two predictions is as certain as it is.

A number with N = 2048 draws costs 16 KiB and some microseconds for each operation.
"""

import zlib
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from statistics import NormalDist
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spikemark.machines.profile import Value, is_between_nodes

N = 2048  #: draws of every uncertain input
SETTINGS = 64  #: joint values of inputs for which a slow model is evaluated; N is a multiple
KEPT_INPUTS = 1024  #: whose draws are kept (16 MB): anchors ask for the same ones several times
ROUNDS_OF_RANKS = 6  #: after which columns of a design are uncorrelated
#: Log SD of a time for each value that a profile does not state, beyond what the model makes of it.
UNSTATED_SD = 0.03
Z95 = 1.959963984540054  #: standard normal quantile of 97.5 %

Draws = NDArray[np.float64]
Result = TypeVar("Result", float, list[float])


@lru_cache(maxsize=KEPT_INPUTS)
def normal(name: str, n: int = N) -> Draws:
    """Standard normal draws of an input, shape (n,), which cannot be changed.

    They are a Latin hypercube: one draw in each of n intervals of equal probability, in an order
    that follows from `name` alone. A search asks for the same ones again and again.

    >>> draws = normal("jureca-dc/node.clock")
    >>> draws.shape, bool((draws == normal("jureca-dc/node.clock")).all())
    ((2048,), True)
    """
    order = np.random.default_rng(zlib.crc32(name.encode())).permutation(n)
    draws = _scores(n)[order]
    draws.setflags(write=False)
    return draws


@cache
def _scores(n: int) -> Draws:
    """The middles of n intervals of equal probability of a standard normal number, shape (n,).

    By the standard library: a prediction that needs nothing else of SciPy starts 0.1 s sooner.
    """
    standard = NormalDist()
    return np.array([standard.inv_cdf((place + 0.5) / n) for place in range(n)])


def log_normal(name: str, value: float, low: float, high: float) -> Draws:
    """Log-normal draws of an input, shape (N,).

    Their median is `value`, and their 95 % interval spans the factor `high / low`; all three are
    above 0.

    Example:
        >>> draws = log_normal("an example", value=1.0, low=0.5, high=2.0)
        >>> round(float(np.median(draws)), 1), bool((draws > 0).all())
        (1.0, True)
    """
    logs: Draws = normal(name) * np.log(high / low) / (2 * Z95)
    return value * np.exp(logs)


def interval(draws: Draws) -> tuple[float, float, float]:
    """Median and the two ends of the central 95 % interval.

    >>> [round(number, 2) for number in interval(np.arange(101.0))]
    [50.0, 2.5, 97.5]
    """
    low, middle, high = np.quantile(draws, [0.025, 0.5, 0.975]).tolist()
    return middle, low, high


def shares(result: Draws, inputs: dict[str, Draws]) -> dict[str, float]:
    """Share of the variance of a result that each input explains alone, largest first.

    The share is the squared rank correlation. Inputs that do not vary are left out.

    Example:
        >>> clock = log_normal("clock", 1.0, 0.5, 2.0)
        >>> jitter = log_normal("jitter", 1.0, 0.9, 1.1)
        >>> by_input = shares(clock * jitter, {"jitter": jitter, "clock": clock})
        >>> list(by_input)  # the clock decides
        ['clock', 'jitter']
    """
    names = [name for name, draws in inputs.items() if np.ptp(draws) > 0]
    varying = [inputs[name] for name in names]
    ranks = np.argsort(np.argsort([result, *varying])).astype(float)
    of_result, *of_inputs = ranks - ranks.mean(axis=1, keepdims=True)
    explained = np.square([of_input @ of_result for of_input in of_inputs])
    explained /= (of_result @ of_result) ** 2  # ranks of all inputs have the same variance
    by_name = zip(names, explained.tolist(), strict=True)
    return dict(sorted(by_name, key=lambda item: -item[1]))


def of_slow_model(
    evaluate: Callable[[list[dict[str, float]]], Sequence[Result]], inputs: dict[str, Draws]
) -> Result | Draws:
    """Draws of a model that is too slow to be evaluated for each of N draws.

    The inputs take SETTINGS values together (Recorder), and the model is evaluated for each of
    these: nothing is interpolated, so that a result that grows with an input does so in all draws.

    Args:
        evaluate: results of the model for several settings at once, numbers or lists of the same
            length; a setting has the value of each input that varies, by name.
        inputs: draws of each input, which differ between settings alone.

    Returns:
        Draws, [draw] or [draw, ...], or the one result where no input varies.

    Example:
        >>> recorder = Recorder(together=[("node.l2", "node.l3")])
        >>> z = recorder.normal("jureca-dc/node.l3")
        >>> squares = of_slow_model(lambda settings: [s["z"] ** 2 for s in settings], {"z": z})
        >>> bool((squares == z**2).all())
        True
    """
    varying = {name: drawn for name, drawn in inputs.items() if np.ptp(drawn) > 0}
    if not varying:
        return evaluate([{}])[0]
    first = _first_draws()
    settings = [
        {name: float(drawn[draw]) for name, drawn in varying.items()} for draw in first.tolist()
    ]
    results: Draws = np.asarray(evaluate(settings))[_setting_of_draw()]
    return results


@cache
def _setting_of_draw() -> NDArray[np.int64]:
    """The setting in which each draw is, shape (N,)."""
    order = np.random.default_rng(zlib.crc32(b"settings")).permutation(N)
    return np.asarray(order // (N // SETTINGS))


@cache
def _first_draws() -> NDArray[np.int64]:
    """The first draw of each setting, shape (SETTINGS,)."""
    _, first = np.unique(_setting_of_draw(), return_index=True)
    return first


@lru_cache(maxsize=256)
def _design(name: str, columns: int) -> Draws:
    """Standard normal numbers of SETTINGS settings, [setting, column].

    A Latin hypercube whose columns are as good as uncorrelated (Iman and Conover 1982): what is
    uncorrelated is put into the order of ranks.
    """
    scores = _scores(SETTINGS)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    numbers = rng.permuted(np.tile(scores, (columns, 1)), axis=1)  # [column, setting]
    if columns > 1:
        for _ in range(ROUNDS_OF_RANKS):
            root = np.linalg.cholesky(np.corrcoef(numbers))
            uncorrelated = np.linalg.solve(root, numbers)
            numbers = scores[np.argsort(np.argsort(uncorrelated, axis=1), axis=1)]
    return np.asarray(numbers.T)


class Recorder:
    """Draws values of machines by their names, and remembers the standard normal draws of each.

    Attributes:
        inputs: standard normal draws by the name of the input, in the order of the first question.
    """

    def __init__(self, together: Sequence[Sequence[str]] = ()) -> None:
        """Args: together: groups of paths whose values a slow model takes (of_slow_model)."""
        self.inputs: dict[str, Draws] = {}
        self._column = {path: (group, group.index(path)) for group in together for path in group}

    def __call__(self, name: str, middle: float, low: float, high: float, value: Value) -> Draws:
        """Log-normal draws of a value of a machine, in SI units.

        Machines that share what a value follows from have the same name of it (Profile.draws_of).

        The median is the value, and 2.5 % lie beyond either end: each side has its own spread.
        Kernel times that are assumed have one common factor. A value of 0 gives half of a normal
        distribution, which is never negative.

        Args:
            name: the machine and the path of the value, such as "jureca-dc/node.clock".
            middle: the value, in SI units.
            low: lower end of its 95 % interval, in its own unit.
            high: upper end, in its own unit.
            value: as the profile states it.
        """
        machine, _, path = name.partition("/")
        if path.startswith("kernels.") and value.kind == "assumed":
            name = f"{machine}/kernels"
        z = self.normal(name)
        stated = float(value.value)
        if stated <= 0:
            to_si = middle / stated if stated else 1.0
            return np.abs(z) * high / Z95 * to_si
        above = np.log(high / stated) / Z95
        below = np.log(stated / low) / Z95 if low > 0 else above
        side: Draws = np.where(z > 0, above, below)
        return middle * np.exp(side * z)

    def normal(self, name: str) -> Draws:
        """Standard normal draws of an input, shape (N,)."""
        if name not in self.inputs:
            self.inputs[name] = self._drawn(name)
        return self.inputs[name]

    def unstated(self, name: str, sign: int) -> Draws:
        """Factor of a time for a value that a profile does not state, shape (N,).

        Without it, a time may seem surer without a value whose assumption makes uncertain parts
        small. For a value of nodes, it moves the time to the same side as the value does. For one
        between nodes, it is the same for all machines that do not state it: what two offers leave
        open is no difference between them, and what they state has to decide.

        Args:
            name: the machine and the path of the value, such as "jureca-dc/node.clock".
            sign: whether a larger value makes times shorter (1) or longer (-1).

        Example:
            >>> recorder = Recorder()
            >>> first = recorder.unstated("offer-a/interconnect.gap", -1)
            >>> bool((first == recorder.unstated("offer-b/interconnect.gap", -1)).all())
            True
        """
        _, _, path = name.partition("/")
        z = normal(f"unstated/{path}") if is_between_nodes(path) else self.normal(name)
        factor: Draws = np.exp(-sign * UNSTATED_SD * z)
        return factor

    def _drawn(self, name: str) -> Draws:
        """Draws of an input: of one that a slow model takes, SETTINGS different ones."""
        machine, _, path = name.partition("/")
        if path not in self._column:
            return normal(name)
        group, column = self._column[path]
        design = _design(f"{machine}/{group[0]}", len(group))
        drawn: Draws = design[_setting_of_draw(), column]
        return drawn
