"""Reads .npz files that may contain anything."""

import tokenize
import zipfile
from pathlib import Path

import numpy as np

from . import memory


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file, by name. Nothing in it is executed (no pickled objects).

    Raises BadInput for arrays that need more memory than there is, and what NumPy raises for damaged ones.
    """
    with open(path, "rb") as file:  # NumPy leaves it open if it is damaged
        with zipfile.ZipFile(file) as archive:
            memory.check(sum(one.file_size for one in archive.infolist()), f"{path}: what it holds")
        try:
            found = dict(np.load(file, allow_pickle=False))
        except tokenize.TokenError as error:  # headers are Python text
            raise ValueError(f"a header is damaged: {error.args[0]}") from None
    for name, values in found.items():
        if not isinstance(values, np.ndarray):
            raise ValueError(f"{name} is no array of NumPy")
    return found
