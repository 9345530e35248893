"""Cycle logs of NEST 3.10 and later, written by the script of docs/nest.md: one .npz file per rank.

NEST built with `with-detailed-timers` and `with-cycle-timers` keeps `nest.cycle_time_log`, in s, one entry
per cycle. `time_update` is the difference of the stopwatch `time_simulate` at the ends of two cycles: it is
the whole cycle and not the update of neurons. `time_communicate_spike_data` is that of the stopwatch around
the collective call. `local_spike_counter` counts spikes of the rank. The log goes on over all calls of
Simulate since the kernel was reset (nestkernel/simulation_manager.cpp and cycle_time_log.cpp of NEST 3.10).
"""

from pathlib import Path
from zipfile import BadZipFile, ZipFile

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.npz import read_npz

from .found import COMMUNICATE, SPIKES, Asked, Columns, Found
from .join import in_order, joined, missing, processes_of, ranks_of, stated
from .tables import WHOLE, compute_of, contents

NAME, SUMMARY = "nest", "nest.cycle_time_log of NEST 3.10, one file per rank as docs/nest.md writes it"
CYCLE, EXCHANGE, SPIKED = "time_update", "time_communicate_spike_data", "local_spike_counter"
FIELDS = {WHOLE: CYCLE, COMMUNICATE: EXCHANGE, SPIKES: SPIKED}


def recognises(path: Path) -> bool:
    """True if the file holds the arrays of NEST's log."""
    try:
        with ZipFile(path) as archive:
            return {f"{CYCLE}.npy", f"{EXCHANGE}.npy"} <= set(archive.namelist())
    except (OSError, BadZipFile):
        return False


def read(files: list[Path], asked: Asked) -> Found:
    """What the files say. Raises BadInput naming the file and what is wrong."""
    files = in_order(files)
    held = [contents(path, read_npz) for path in files]
    parts = [(path, _columns(path, one)) for path, one in zip(files, held, strict=True)]
    columns = joined(parts)
    kernel = {name: _same(files, held, name) for name in ("num_processes", "min_delay", "biological_time")}
    lacking = missing(ranks_of(files), processes_of(files[0], kernel["num_processes"]))
    remarks = cycles_of(columns[WHOLE].shape[1], kernel)
    return Found(compute_of(columns, files[0]), remarks, lacking, kernel["min_delay"])


def _columns(path: Path, held: dict) -> Columns:
    lacks = [theirs for theirs in (CYCLE, EXCHANGE) if theirs not in held]
    if lacks:
        raise BadInput(
            f"{path}: no array {lacks[0]!r}; needed: nest.cycle_time_log, as docs/nest.md writes it"
        )
    found = {name: np.asarray(held[theirs]) for name, theirs in FIELDS.items() if theirs in held}
    for name, values in found.items():
        if values.ndim != 1 or not values.size or values.dtype.kind not in "fiu":
            raise BadInput(
                f"{path}: {FIELDS[name]}: {values.dtype} {list(values.shape)}; needed: numbers [cycle]"
            )
        if values.size != found[WHOLE].size:
            raise BadInput(f"{path}: {FIELDS[name]}: {values.size} entries; {CYCLE} has {found[WHOLE].size}")
    return found


def _same(files: list[Path], held: list[dict], name: str) -> float | None:
    """A number of the kernel, which is the same on all ranks. Raises BadInput where it is not."""
    values = {stated(path, name, one[name]) for path, one in zip(files, held, strict=True) if name in one}
    if len(values) > 1:
        raise BadInput(
            f"{files[0].parent}: {name}: {sorted(values)} in different files; needed: files of one run"
        )
    return next(iter(values), None)


def cycles_of(cycles: int, kernel: dict[str, float | None]) -> tuple[str, ...]:
    """A remark if a log has another number of cycles than the kernel simulated."""
    delay, model = kernel["min_delay"], kernel["biological_time"]
    if not delay or not model or cycles == round(model / delay):
        return ()
    return (
        f"the log has {cycles} entries, and {model:g} ms are {model / delay:g} cycles of {delay:g} ms: a"
        " call of Simulate was no multiple of the cycle, or a part of the run was not logged",
    )
