"""DPSNN's grid of columns, and the sources of each column (Pastorelli et al. 2019, section 2.2, equation 1).

The probability of a synapse falls with the distance d of the columns as exp(-d / reach); inhibition stays in
the column. The published numbers are whole shares: 1000 times the kernel, rounded, over a sum that leaves 0.9
synapses per pair of a neuron and one of its pool in all. There are no columns beyond the edge of the grid, so
columns at the edge receive fewer synapses. The Gaussian kernel, exp(-d^2 / (2 reach^2)), follows the same
rule; what was published with it are columns of another kind.
"""

import math
from collections import defaultdict
from typing import Literal

from .dpsnn_cells import INDEGREES, POPULATIONS, State, projection

Kernel = Literal["exponential", "gaussian"]
KERNELS = {
    "exponential": lambda distance, reach: math.exp(-distance / reach),
    "gaussian": lambda distance, reach: math.exp(-(distance**2) / (2 * reach**2)),
}
RESOLUTION = 1000
Offset = tuple[int, int]


def stencil(kernel: Kernel, reach: float) -> dict[Offset, int]:
    """Share of each offset (dx, dy), in columns, in the excitatory synapses of a column; 1000 at its own."""
    fall = KERNELS[kernel]
    far = 0
    while round(RESOLUTION * fall(far + 1, reach)) > 0:
        far += 1
    around = range(-far, far + 1)
    shares = {(x, y): round(RESOLUTION * fall(math.hypot(x, y), reach)) for y in around for x in around}
    return {offset: share for offset, share in shares.items() if share > 0}


def populations_of(column: Offset, pool: str = "FBI") -> list[str]:
    """Names of the populations of a column that are in `pool`."""
    return [f"{area(column)}-{kind}" for kind in pool]


def area(column: Offset) -> str:
    """The name of the area that a column makes."""
    x, y = column
    return f"x{x}y{y}"


def grid(width: int, height: int) -> list[Offset]:
    """The columns (x, y), row by row, which is the order of their areas."""
    return [(x, y) for y in range(height) for x in range(width)]


def projections(
    width: int, height: int, kernel: Kernel, reach: float, state: State, classes: int
) -> list[dict]:
    """All projections of the grid. Columns at offsets of equal share are one pool."""
    shares = stencil(kernel, reach)
    whole = sum(shares.values())
    found = []
    for target in grid(width, height):
        pools = _pools(target, width, height, shares)
        for to in POPULATIONS:
            (name,) = populations_of(target, to)
            for kinds in ("FB",) if to == "I" else ("F", "B"):  # F and B weigh the same on I
                wanted = sum(INDEGREES[kind] for kind in kinds)
                indegrees = _split(wanted, [share * len(pools[share]) / whole for share in pools])
                for columns, indegree in zip(pools.values(), indegrees, strict=True):
                    sources = [
                        population for column in columns for population in populations_of(column, kinds)
                    ]
                    if indegree:
                        found.append(projection(sources, kinds[0], name, to, indegree, state, classes))
            own = populations_of(target, "I")
            found.append(projection(own, "I", name, to, INDEGREES["I"], state, classes))
    return found


def _pools(target: Offset, width: int, height: int, shares: dict[Offset, int]) -> dict[int, list[Offset]]:
    """Columns of the grid around `target` by share, the largest share first."""
    pools = defaultdict(list)
    for (dx, dy), share in shares.items():
        column = x, y = target[0] + dx, target[1] + dy
        if 0 <= x < width and 0 <= y < height:
            pools[share].append(column)
    return {share: pools[share] for share in sorted(pools, reverse=True)}


def _split(whole: int, parts: list[float]) -> list[int]:
    """Whole numbers nearest to `whole` times each of the parts that keep the sum (largest remainders)."""
    exact = [whole * part for part in parts]
    split = [math.floor(number) for number in exact]
    left = round(sum(exact)) - sum(split)
    for i in sorted(range(len(exact)), key=lambda i: split[i] - exact[i])[:left]:
        split[i] += 1
    return split
