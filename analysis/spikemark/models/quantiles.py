"""Medians and quantiles of more values than memory should hold twice.

Values come in blocks, several times over. A sample of them says between which two values the
wanted one lies; then only those between the two are kept and sorted. The result is exact.

Cost: three passes over the blocks, now and then one more.
"""

from collections.abc import Callable, Iterable

import numpy as np

#: Begins to yield all values, one array after the other; it is called once for every pass.
Blocks = Callable[[], Iterable[np.ndarray]]

MAX_HELD = 1 << 20  #: values up to which all are held
SAMPLED = 61  #: one of so many values is in the sample; a prime, so that no period of them matters
#: Standard errors of the sample by which the two values lie apart from the wanted one. The next
#: pass, if they were too close, has WIDER times as many.
STANDARD_ERRORS, WIDER = 2.0, 4.0


def median(blocks: Blocks) -> float:
    """The median of all values, as of `np.median`; NaN if there are none.

    Args:
        blocks: the values, in any unit, [value] each.

    Example:
        >>> median(lambda: (np.array([1.0, 9.0]), np.array([2.0, 4.0])))
        3.0
    """
    count = sum(block.size for block in blocks())
    if not count:
        return float("nan")
    middle = _neighbours(blocks, count, (count - 1) // 2)
    return float(middle[0] if count % 2 else middle.mean())


def quantile(blocks: Blocks, share: float) -> float:
    """The value that a share of all values is below, as of `np.quantile`; NaN if there are none.

    Args:
        blocks: the values, in any unit, [value] each.
        share: from 0 to 1.

    Example:
        >>> quantile(lambda: (np.array([1.0, 9.0]), np.array([2.0])), 0.75)
        5.5
    """
    count = sum(block.size for block in blocks())
    if not count:
        return float("nan")
    position = share * (count - 1)
    place = int(position)
    return float(np.quantile(_neighbours(blocks, count, place), position - place))


def _neighbours(blocks: Blocks, count: int, place: int) -> np.ndarray:
    """The values at a place, from 0, and at the next one if all `count` values are sorted."""
    places = np.arange(place, min(place + 2, count))
    if count <= MAX_HELD:
        values = np.concatenate(list(blocks()), dtype=np.float64)
        values.partition(places)
        return np.asarray(values[places])
    # Copied, since a view would hold its block.
    sample = np.sort(np.concatenate([block[::SAMPLED].copy() for block in blocks()]))
    margin = STANDARD_ERRORS * len(sample) ** 0.5
    while True:
        in_sample = place / count * len(sample)
        low, high = _at(sample, in_sample - margin), _at(sample, in_sample + margin)
        below, values = _between(blocks, low, high)
        if below <= places[0] and places[-1] < below + len(values):
            return values[places - below]
        margin *= WIDER


def _at(sample: np.ndarray, place: float) -> float:
    """The value of a sorted sample at a place; infinite outside."""
    if place < 0:
        return -np.inf
    if place >= len(sample):
        return np.inf
    return float(sample[int(place)])


def _between(blocks: Blocks, low: float, high: float) -> tuple[int, np.ndarray]:
    """How many values are below `low`, and those from `low` to `high`, sorted, [value]."""
    below = 0
    between = []
    for block in blocks():
        below += int(np.count_nonzero(block < low))
        between.append(block[(block >= low) & (block <= high)])
    return below, np.sort(np.concatenate(between, dtype=np.float64))
