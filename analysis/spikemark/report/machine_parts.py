"""What ranks did on each part of a simulated machine of unequal parts: a table with a row for
each.
"""

from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.frames import Frames
from spikemark.records.record import Run

COLUMNS = [
    Column("run", "run", "given"),
    Column("part", "part", "given"),
    Column("ranks", "ranks", "given"),
    Column("nodes", "nodes", "given"),
    Column("computing_s", "computing (s per simulated s)", "simulated"),
    Column("waiting_s", "waiting (s per simulated s)", "simulated"),
]
TITLE = "By part of the machine: means over the ranks of the part"


def table(frames: Frames) -> Table | None:
    """A row for each part of each run; None where no run was simulated on a machine of parts.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> table(frames) is None  # all nodes of this machine are alike
        True
    """
    labels = dict(zip(frames.runs["id"], frames.runs["label"], strict=True))
    rows: list[dict[str, Cell]] = []
    for id, run in frames.records.items():
        rows += _rows(labels[id], run)
    if rows:
        return Table(COLUMNS, rows, TITLE)
    return None


def _rows(label: str, run: Run) -> list[dict[str, Cell]]:
    """A row for each part of the machine of a run, in the order of its ranks."""
    rows: list[dict[str, Cell]] = []
    first = 0
    for name, part in (run.simulation or {}).get("parts", {}).items():
        ranks = slice(first, first + part["ranks"])
        first = ranks.stop
        row: dict[str, Cell] = {
            "run": label,
            "part": name,
            "ranks": part["ranks"],
            "nodes": part["nodes"],
        }
        rows.append(row | _times(run, ranks))
    return rows


def _times(run: Run, ranks: slice) -> dict[str, Cell]:
    """Computing and waiting of these ranks, s per simulated s."""
    if run.cycles is None:
        return dict.fromkeys(("computing_s", "waiting_s"), missing("cycles were not recorded"))
    model_s = run.record.timing.model_s
    waiting = run.waiting()
    computing = float(run.compute()[ranks].sum(axis=1).mean()) / model_s
    if waiting is None:
        return {"computing_s": computing, "waiting_s": missing("waiting was not timed")}
    return {
        "computing_s": computing,
        "waiting_s": float(waiting[ranks].sum(axis=1).mean()) / model_s,
    }
