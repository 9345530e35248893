"""The arrays of a run on disk: of the type and shape that its record says, with times that can be."""

import io
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy

from . import run_files
from .record_fields import PhaseTime

#: Single precision of a time, and of the sums of the mini-app, which are rounded when they are written.
RELATIVE, ABSOLUTE_S = 1e-5, 1e-12


def map_array(path: Path, dtype: type, shape: tuple[int, ...], by: str = run_files.RECORD) -> np.ndarray:
    """A memory map of the array in `path`.

    Raises BadInput if it is missing or not of the type and shape that the file `by` asks for.
    """
    try:
        array = read_npy(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: not found, although the run says it recorded it") from None
    if array.dtype != np.dtype(dtype) or array.shape != shape:
        raise BadInput(
            f"{path}: holds {array.dtype} {list(array.shape)}; {by} asks for {np.dtype(dtype)} {list(shape)}"
        )
    return array


def npy_bytes(array: np.ndarray) -> bytes:
    """The content of a .npy file that holds the array."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def check_times(path: Path, times: np.ndarray, phases: dict[str, PhaseTime]) -> None:
    """Refuse times that cannot be, or are not those of `timing.phases`.

    `times`: s, [rank, cycle, phase], phases in the order of `phases`. A phase that was not timed is NaN
    throughout; every other time is a number >= 0, and their sums are those of the record. Raises BadInput
    with the first time that is not.
    """
    with np.errstate(invalid="ignore"):  # infinite times, which are refused below
        sums = np.array([rank.sum(axis=0, dtype=np.float64) for rank in times])  # [rank, phase]
    for number, (name, summary) in enumerate(phases.items()):
        if summary.mean_s is None:
            _not_timed(path, name, times[:, :, number])
            continue
        _numbers(path, name, times[:, :, number])
        for what, found, wanted in (
            ("mean", sums[:, number].mean(), summary.mean_s),
            ("largest", sums[:, number].max(), summary.max_s),
        ):
            if abs(found - wanted) > ABSOLUTE_S + RELATIVE * wanted:
                raise BadInput(
                    f"{path}: {name}: the {what} time of a rank is {found:.6g} s; timing.phases has"
                    f" {wanted:.6g} s"
                )


def _not_timed(path: Path, name: str, times: np.ndarray) -> None:
    if not np.isnan(times).all():
        rank, cycle = np.argwhere(~np.isnan(times))[0]
        raise BadInput(
            f"{path}: {name} time {times[rank, cycle]} s of rank {rank} in cycle {cycle}; timing.phases"
            " says that it was not timed"
        )


def _numbers(path: Path, name: str, times: np.ndarray) -> None:
    for rank, row in enumerate(times):
        wrong = ~((row >= 0) & (row < np.inf))  # also true for NaN
        if wrong.any():
            cycle = int(wrong.argmax())
            raise BadInput(
                f"{path}: {name} time {row[cycle]} s of rank {rank} in cycle {cycle}; a time is a number >= 0"
            )
