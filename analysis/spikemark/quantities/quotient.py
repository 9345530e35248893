"""Division of arrays of which some elements can be 0."""

import numpy as np


def quotient(
    dividend: np.ndarray | np.floating,
    divisor: np.ndarray,
    otherwise: float,
) -> np.ndarray:
    """Element by element, and `otherwise` where the divisor is not positive.

    Args:
        dividend: of any shape that fits that of the divisor.
        divisor: of any shape, such as counts or squares.
        otherwise: the result where there is nothing to divide by.

    Returns:
        An array of the common shape, with the precision of both; of whole numbers, that of float64.

    Example:
        >>> quotient(np.array([3.0, 2.0]), np.array([2.0, 0.0]), otherwise=1.0).tolist()
        [1.5, 1.0]
    """
    shape = np.broadcast_shapes(np.shape(dividend), divisor.shape)
    precision = np.result_type(dividend, divisor, np.float32)  # not of whole numbers
    result = np.full(shape, otherwise, dtype=precision)
    np.divide(dividend, divisor, out=result, where=divisor > 0)
    return result
