"""Reads .npy files that may contain anything."""

from pathlib import Path

import numpy as np

from .errors import BadInput


def read_npy(path: Path) -> np.ndarray:
    """The array of a .npy file, as a memory map for reading.

    Raises BadInput for what is no such file, is cut off or goes on after the array; FileNotFoundError.
    """
    try:
        return _mapped(path)
    except FileNotFoundError:
        raise
    except Exception as error:  # headers are Python text: any bytes there may raise anything
        what = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{path}: truncated or not a .npy file: {what}", code="file") from None


def _mapped(path: Path) -> np.ndarray:
    with open(path, "rb") as stream:
        version = np.lib.format.read_magic(stream)
        header = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, by_columns, dtype = header(stream)
        start = stream.tell()
    if dtype.hasobject or any(n < 0 for n in shape):
        raise ValueError(f"{dtype} {list(shape)}: expected numbers, and counts >= 0")
    order, size = "F" if by_columns else "C", dtype.itemsize
    for n in shape:
        size *= n
    if (found := path.stat().st_size - start) != size:
        raise ValueError(f"{dtype} {list(shape)} takes {size} bytes, and there are {found}")
    if size == 0:  # cannot be mapped
        return np.empty(shape, dtype, order)
    return np.memmap(path, dtype, "r", start, shape, order)
