"""Reads .npy and .npz files that may contain anything; nothing in them is executed (no pickled objects)."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from . import memory
from .errors import BadInput


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, BadInput):
        raise
    except Exception as error:  # headers are Python text: any bytes there may raise anything
        what = " ".join(str(error).split()) or type(error).__name__
        raise BadInput(f"{path}: truncated or not a {path.suffix} file: {what}", code="file") from None


def read_npy(path: Path) -> np.ndarray:
    """The array of a .npy file, as a memory map for reading.

    Raises BadInput for what is no such file, is cut off or goes on after the array; FileNotFoundError.
    """
    with _whole(path):
        found = np.lib.format.open_memmap(path, mode="r")
        if (there := path.stat().st_size - found.offset) != found.nbytes:
            raise ValueError(f"{found.dtype} {list(found.shape)} takes {found.nbytes} bytes of {there}")
        return found


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file, by name.

    Raises BadInput for what is no such file and for arrays that need more memory than there is;
    FileNotFoundError.
    """
    with _whole(path), open(path, "rb") as file:  # NumPy leaves it open if it is damaged
        with zipfile.ZipFile(file) as archive:
            memory.check(sum(one.file_size for one in archive.infolist()), f"{path}: what it holds")
        found = dict(np.load(file, allow_pickle=False))
        for name, values in found.items():
            if not isinstance(values, np.ndarray):
                raise ValueError(f"{name} is no array of NumPy")
        return found
