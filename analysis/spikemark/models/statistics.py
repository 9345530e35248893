"""Compute times of cycles, and their sums over windows of cycles.

Arrays `compute` are c[m, s] of Lober et al. 2026 (L26), section 2.2: seconds, shape [rank, cycle],
as `Run.compute()` returns them. Every function raises BadInput for an array of another shape or a
window that does not fit into it.
"""

import numpy as np

from spikemark.core.errors import BadInput

#: Kinds of NumPy's types that hold times: floating-point numbers and integers.
KINDS_OF_NUMBERS = "fiu"


def times(compute: np.ndarray) -> np.ndarray:
    """Check the type and the shape of compute times, and convert them to float64.

    Args:
        compute: times in s, shape [..., rank, cycle], at least one rank and one cycle.

    Raises:
        BadInput: for another shape, and for what is no number, such as texts, truth values and
            complex numbers.

    Example:
        >>> times([[1, 2], [3, 4]])
        array([[1., 2.],
               [3., 4.]])
    """
    array = np.asarray(compute)
    if array.dtype.kind not in KINDS_OF_NUMBERS:
        raise BadInput(
            f"cycle times of type {array.dtype}: expected real numbers",
            field="cycle times",
        )
    array = np.asarray(array, dtype=np.float64)
    if array.ndim < 2 or array.size == 0:
        raise BadInput(
            f"cycle times of shape {list(array.shape)}: expected [rank, cycle], neither of them"
            " empty",
            field="cycle times",
        )
    return array


def lump(compute: np.ndarray, window: int) -> np.ndarray:
    """Sum compute times over windows of consecutive cycles: C[m, w] of L26, eqs 4-5.

    Cycles after the last whole window are left out. The precision of the times stays.

    Args:
        compute: times in s, shape [..., cycle].
        window: number of cycles in a window.

    Returns:
        Sums in s, shape [..., window].

    Raises:
        BadInput: for a window shorter than one cycle or longer than all cycles.

    Example:
        >>> lump(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]), 2)
        array([[3., 7.]])
    """
    array = np.asarray(compute)
    cycles = array.shape[-1]
    if not 1 <= window <= cycles:
        raise BadInput(
            field="window", value=window, expected=f"1 to {cycles}, the number of cycles"
        )
    if window == 1:
        return array
    windows = cycles // window
    in_windows = array[..., : windows * window].reshape(*array.shape[:-1], windows, window)
    sums: np.ndarray = in_windows.sum(axis=-1)
    return sums


class Meetings:
    """How long ranks wait that meet after every window, from the times of some of them at a time.

    Example:
        >>> meetings = Meetings(window=1)
        >>> meetings.add(np.array([[1.0, 2.0]]))
        >>> meetings.add(np.array([[2.0, 4.0]]))
        >>> meetings.waited.tolist(), meetings.computing
        ([0.5, 1.0], 2.25)
    """

    def __init__(self, window: int):
        """`window`: number of cycles in a window."""
        self._window = window
        self._ranks = 0
        self._times = 0
        self._computing = 0.0
        self._slowest = np.zeros(1)
        self._total = np.zeros(1)

    def add(self, compute: np.ndarray) -> None:
        """Adds further ranks. Rank by rank, so that no copy of their times is made.

        Args:
            compute: their times in s, [rank, cycle].

        Raises BadInput as `lump`.
        """
        for times in compute:
            sums = lump(times, self._window)
            self._slowest = np.maximum(self._slowest, sums)
            self._total = self._total + sums
        self._ranks += len(compute)
        self._times += compute.size
        self._computing += float(compute.sum(dtype=np.float64))

    @property
    def waited(self) -> np.ndarray:
        """Waiting at each meeting, mean over ranks, [window] in s."""
        return np.asarray(self._slowest - self._total / self._ranks)

    @property
    def computing(self) -> float:
        """Mean compute time over ranks and cycles in s."""
        return self._computing / self._times


def waited(compute: np.ndarray, window: int) -> np.ndarray:
    """How long ranks that meet after every window wait there, mean over ranks, [window] in s.

    Args:
        compute: times in s, [rank, cycle].
        window: number of cycles in a window.

    Raises BadInput as `lump`.

    Example:
        >>> waited(np.array([[1.0, 2.0], [2.0, 4.0]]), 1).tolist()
        [0.5, 1.0]
    """
    meetings = Meetings(window)
    meetings.add(compute)
    return meetings.waited
