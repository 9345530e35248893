"""Text files `cycle_time_log_<rank>` of the structure-aware NEST benchmark (Lober et al. 2026).

One line per cycle, in s: whole cycle, communication, communication of all ranks, communication within an
area, waiting at the barrier, spikes of the rank. The kernel's status of each rank is beside them in
`logfile_<rank>` (multi-area-model/model.py of mlober/beNNch-models-morph).

Whether the communication includes the time at the barrier is not documented. The files tell: ranks leave a
barrier together and then exchange for about as long, so communication varies among ranks only if it includes
the waiting.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput

from .found import COMMUNICATE, SPIKES, WAIT, Asked, Found
from .join import in_order, joined, missing, processes_of, ranks_of, stated
from .nest_log import cycles_of
from .stopwatches import LOG, key_values
from .tables import WHOLE, compute_of, contents

NAME, SUMMARY = "structure-aware", "cycle_time_log_<rank> of the structure-aware NEST benchmark, six columns"
PREFIX = "cycle_time_log_"
GLOBAL, LOCAL = "communicate_global", "communicate_local"
ORDER = (WHOLE, COMMUNICATE, GLOBAL, LOCAL, WAIT, SPIKES)


def recognises(path: Path) -> bool:
    """True if the file is called as the benchmark calls it."""
    return path.name.startswith(PREFIX) and path.suffix == ""


def read(files: list[Path], asked: Asked) -> Found:
    """What the files say. Raises BadInput naming the file and what is wrong."""
    files = in_order(files)
    columns = joined([(path, contents(path, _lines)) for path in files])
    logs = [path.with_name(path.name.replace(PREFIX, LOG, 1)) for path in files]
    beside = [path for path in logs if path.is_file()]
    kernel = key_values(beside[0]) if beside else {}
    named = [name for name in ("num_processes", "min_delay", "biological_time") if name in kernel]
    known = dict.fromkeys(("num_processes", "min_delay", "biological_time"))
    known |= {name: stated(beside[0], name, kernel[name][0]) for name in named}
    lacking = missing(ranks_of(files), processes_of(files[0], known["num_processes"]))
    remarks = list(cycles_of(columns[WHOLE].shape[1], known))
    if not beside:
        remarks.append(
            f"{logs[0].name} is not beside the cycle times: how many ranks there were is not known"
        )
    every = _meetings(files[0], columns.pop(GLOBAL))
    columns.pop(LOCAL)
    if _apart(columns):
        columns[COMMUNICATE] = columns[COMMUNICATE] + columns[WAIT]
        remarks.append("the time at the barrier is taken to be beside the communication, not a part of it")
    if not columns[WAIT].any():  # NEST was not built with a barrier before the exchange
        del columns[WAIT]
    return Found(compute_of(columns, files[0]), tuple(remarks), lacking, known["min_delay"], every)


def _lines(path: Path) -> dict[str, np.ndarray]:
    table = pd.read_csv(path, compression=None, sep=r"\s+", header=None, comment="#", dtype=np.float64)
    if table.shape[1] != len(ORDER):
        raise ValueError(f"{table.shape[1]} columns; needed: {len(ORDER)}, {', '.join(ORDER)}")
    if table.isna().any(axis=None):
        raise ValueError(f"line {int(table.isna().any(axis=1).idxmax()) + 1} is not complete")
    return {name: table[number].to_numpy() for number, name in enumerate(ORDER)}


def _meetings(path: Path, everywhere: np.ndarray) -> int:
    """Cycles from one exchange of all ranks to the next; 1 where none is marked.

    Raises BadInput where they are not regular.
    """
    met = np.flatnonzero((everywhere > 0).any(axis=0))
    if not met.size or met.size == everywhere.shape[1]:
        return 1
    every = int(met[0]) + 1
    regular = np.arange(every - 1, everywhere.shape[1], every)
    if not np.array_equal(met, regular):
        raise BadInput(
            f"{path}: {GLOBAL}: all ranks exchange in {met.size} of {everywhere.shape[1]} cycles, the first"
            f" in cycle {met[0]}; needed: in every D-th cycle"
        )
    return every


def _apart(columns: dict[str, np.ndarray]) -> bool:
    """True if waiting is not part of the communication."""
    communicate, wait = columns[COMMUNICATE], columns[WAIT]
    if not wait.any():
        return False
    if wait.sum() > communicate.sum():
        return True
    without = (communicate - wait).std(axis=0).sum(dtype=np.float64)
    return bool(communicate.std(axis=0).sum(dtype=np.float64) < without)
