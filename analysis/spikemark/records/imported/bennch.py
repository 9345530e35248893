"""Tables of beNNch: a line per run, with NEST's stopwatches as means over ranks.

The columns are those of its benchmarks (`wall_time_sim`, `wall_time_phase_communicate`) or of its later
versions (`time_simulate`, `time_communicate_spike_data`), in s; `model_time_sim` is in ms.
"""

from functools import partial
from pathlib import Path

import pandas as pd

from spikemark.core.errors import BadInput

from .found import Asked
from .join import stated
from .stopwatches import COMMUNICATED, RUN, SYNCHRONISED, made
from .sums import Sums
from .tables import contents

NAME, SUMMARY = "bennch", "tables of beNNch, .csv with a line per run: sums only"
OLDER = {RUN: "wall_time_sim", COMMUNICATED: "wall_time_phase_communicate"}
NODES, PER_NODE, MODEL = "num_nodes", "tasks_per_node", "model_time_sim"


def recognises(path: Path) -> bool:
    """True if the first line of the file has the columns."""
    try:
        with path.open(errors="replace") as file:
            columns = set(file.readline().strip().split(",")) if path.suffix == ".csv" else ()
    except OSError:
        return False
    return any({names[RUN], names[COMMUNICATED]} <= set(columns) for names in (OLDER, {k: k for k in OLDER}))


def read(files: list[Path], asked: Asked) -> Sums:
    """What the files say. Raises BadInput naming the file and what is wrong."""
    runs = []
    for path in files:
        table = contents(path, partial(pd.read_csv, compression=None))
        table = table.rename(columns={theirs: ours for ours, theirs in OLDER.items()})
        for name in (RUN, COMMUNICATED):
            if name not in table or not pd.api.types.is_numeric_dtype(table[name]):
                raise BadInput(f"{path}: no numbers in {name} or {OLDER[name]}; needed: a table of beNNch")
        runs += [_run(path, line) for line in table.to_dict("records")]
    return made(files, NAME, runs)


def _run(path: Path, line: dict) -> dict:
    def known(name: str) -> float | None:
        value = line.get(name)
        return None if value is None or pd.isna(value) else stated(path, name, value)

    nodes, per_node, model = known(NODES), known(PER_NODE), known(MODEL)
    words = [
        f"{nodes:g} nodes" if nodes else path.stem,
        f"seed {line['rng_seed']}" if "rng_seed" in line else "",
    ]
    wait = known(SYNCHRONISED)
    return {
        "name": ", ".join(filter(None, words)), "of": "mean",
        "ranks": round(nodes * per_node) if nodes and per_node else None,
        "run_s": [float(line[RUN])], "communicate_s": [float(line[COMMUNICATED])],
        "wait_s": [wait] if wait else None, "model_s": model / 1e3 if model else None,
    }  # fmt: skip
