"""Compute times of cycles, and their sums over windows.

Arrays `compute` are c[m, s] of Lober et al. 2026 (L26), section 2.2: seconds, shape [rank, cycle], as
`Run.compute()` returns them. Every function raises BadInput for an array of another shape or a window that
does not fit into it.
"""

import numpy as np

from spikemark.core.errors import BadInput


def times(compute: np.ndarray) -> np.ndarray:
    """`compute` as a float64 array [..., rank, cycle] with at least one element."""
    array = np.asarray(compute, dtype=np.float64)
    if array.ndim < 2 or array.size == 0:
        raise BadInput(
            f"cycle times of shape {list(array.shape)}: expected [rank, cycle], neither of them empty"
        )
    return array


def lump(compute: np.ndarray, window: int) -> np.ndarray:
    """C[m, w] of L26, eqs 4-5: sums over `window` consecutive cycles, [..., window] from [..., cycle].

    Cycles after the last whole window are left out. The precision of the times stays.
    """
    array = np.asarray(compute)
    cycles = array.shape[-1]
    if not 1 <= window <= cycles:
        raise BadInput.of("window", window, f"1 to {cycles}, the number of cycles")
    whole = array[..., : cycles - cycles % window]
    return array if window == 1 else whole.reshape(*array.shape[:-1], -1, window).sum(axis=-1)
