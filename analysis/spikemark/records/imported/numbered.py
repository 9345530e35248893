"""Aligns lines of a table by the numbers of their ranks and cycles: missing cycles, restarts, any order."""

from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.quantities.words import counted

from .found import Columns
from .join import equal

RANK, CYCLE = "rank", "cycle"
LEAST = 0.5  # of the cycles, that all ranks must have


def aligned(where: Path, table: Columns) -> tuple[Columns, list[int], tuple[str, ...]]:
    """Columns [rank, cycle] from columns [line] with `rank` and perhaps `cycle`; ranks; what was left out.

    Where a number of a cycle comes again on its rank, the program was restarted: lines of a rank are then in
    the order of the file, and a number that is not above the one before begins another run. Cycles that are
    not on all ranks are left out. Raises BadInput where ranks have different numbers of runs, or less than
    half of the cycles in common.
    """
    table = dict(table)
    rank = table.pop(RANK)
    if CYCLE not in table:
        numbers, cycles = np.unique(rank, return_counts=True)
        equal(where, dict(zip(numbers.tolist(), cycles.tolist(), strict=True)))
        order = np.argsort(rank, kind="stable")
        return _shaped(table, order, len(numbers)), numbers.astype(int).tolist(), ()
    lines = pd.DataFrame({RANK: rank, CYCLE: table.pop(CYCLE)})
    if lines.duplicated().any():
        again = lines.groupby(RANK)[CYCLE].diff() <= 0
        lines["run"] = again.groupby(lines[RANK]).cumsum()
    else:
        lines["run"] = 0
    runs = lines.groupby(RANK)["run"].max() + 1
    if runs.nunique() > 1:
        raise BadInput(
            f"{where}: {CYCLE}: restarts {counted(int(runs.min()) - 1, 'time')} on rank {runs.idxmin():g}"
            f" and {counted(int(runs.max()) - 1, 'time')} on rank {runs.idxmax():g}; needed: the same of all"
        )
    shared = lines.groupby(["run", CYCLE])[RANK].transform("count") == len(runs)
    remarks = []
    if runs.iloc[0] > 1:
        times = counted(int(runs.iloc[0]) - 1, "time")
        remarks.append(f"the program was restarted {times}: its cycles follow each other")
    if not shared.all():
        lost = lines.loc[~shared, ["run", CYCLE]].drop_duplicates()
        whole = len(lines[["run", CYCLE]].drop_duplicates())
        if len(lost) > (1 - LEAST) * whole:
            raise BadInput(
                f"{where}: {CYCLE}: all ranks have only {whole - len(lost)} of {whole} cycles in common;"
                " needed: at least half of them"
            )
        remarks.append(
            f"{len(lost)} of {whole} cycles are not on all ranks and are left out, such as"
            f" {lost[CYCLE].iloc[0]:g}"
        )
    kept = lines[shared]
    order = kept.sort_values([RANK, "run", CYCLE]).index.to_numpy()
    return _shaped(table, order, len(runs)), [int(n) for n in runs.index], tuple(remarks)


def _shaped(table: Columns, order: np.ndarray, ranks: int) -> Columns:
    return {name: values[order].reshape(ranks, -1) for name, values in table.items()}
