"""Reads .npy and .npz files that may contain anything.

Nothing in them is executed: pickled objects are refused.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from . import memory
from .errors import BadInput
from .reading import check_file


@contextmanager
def _refusing_damaged(path: Path) -> Iterator[None]:
    """Turns any error about the content of a file into BadInput."""
    try:
        yield
    except BadInput:
        raise
    except Exception as error:  # headers are Python text: any bytes there may raise anything
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"truncated or not a {path.suffix} file: {reason}"
        raise BadInput(message, file=path, code="file") from None


def _check_no_objects(name: str, file: IO[bytes]) -> None:
    """Raises BadInput for an array of Python objects, which only running code would read.

    Args:
        name: of the file, or of the array in it.
        file: at the begin of an array in NumPy's format.
    """
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        read_header = np.lib.format.read_array_header_2_0
    _, _, dtype = read_header(file)
    if dtype.hasobject:
        message = "an array of Python objects; expected numbers, and rows of one length"
        raise BadInput(message, file=name, code="file")


def read_npy(path: Path, advice: str = "") -> np.ndarray:
    """The array of a .npy file, as a memory map for reading.

    Raises BadInput, with `advice` if it is missing, for what is no such file, is cut off or goes on
    after the array.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     np.save(Path(folder, "times.npy"), np.zeros((4, 100)))
        ...     read_npy(Path(folder, "times.npy")).shape
        (4, 100)
    """
    check_file(path, advice)
    with _refusing_damaged(path):
        with path.open("rb") as file:
            _check_no_objects(str(path), file)
        array = np.lib.format.open_memmap(path, mode="r")
        data_bytes = path.stat().st_size - array.offset
        if data_bytes != array.nbytes:
            shape = list(array.shape)
            raise ValueError(f"{array.dtype} {shape} takes {array.nbytes} bytes of {data_bytes}")
        return array


def load_npy(path: Path) -> np.ndarray:
    """The array of a .npy file, in memory.

    Raises BadInput as `read_npy`, and for an array that needs more memory than there is.

    Example:
        >>> load_npy(Path("tests/golden/analysis/inputs/iid-8.npy")).flags.writeable
        True
    """
    mapped = read_npy(path)
    memory.check(mapped.nbytes, f"{path}: what it holds")
    with _refusing_damaged(path):
        array: np.ndarray = np.load(path, allow_pickle=False)
    return array


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a .npz file, by name.

    Raises BadInput for what is no such file and for arrays that need more memory than there is.

    Example:
        >>> arrays = read_npz(Path("tests/golden/analysis/inputs/nest/nest-cycles-0.npz"))
        >>> all(isinstance(array, np.ndarray) for array in arrays.values())
        True
    """
    check_file(path)
    with _refusing_damaged(path), open(path, "rb") as file:  # NumPy leaves damaged files open
        with zipfile.ZipFile(file) as archive:
            _check_members(path, archive)
        file.seek(0)
        arrays = dict(np.load(file, allow_pickle=False))
        for name, values in arrays.items():
            if not isinstance(values, np.ndarray):
                raise ValueError(f"{name} is no array of NumPy")
        return arrays


def _check_members(path: Path, archive: zipfile.ZipFile) -> None:
    """Raises BadInput for too much data, for Python objects, and for two arrays of one name."""
    total_bytes = sum(member.file_size for member in archive.infolist())
    memory.check(total_bytes, f"{path}: what it holds")
    names = archive.namelist()
    for name in names:
        if name.endswith(".npy"):
            with archive.open(name) as member:
                _check_no_objects(f"{path}: {name.removesuffix('.npy')}", member)
    if len(set(names)) < len(names):
        repeated = max(names, key=names.count).removesuffix(".npy")
        message = f"two arrays {repeated!r}; expected a name of its own for each array"
        raise BadInput(message, file=path, code="file")
