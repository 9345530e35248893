"""The readings a run made itself: energy.csv beside its record (miniapp/FORMAT.md)."""

import csv
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.records import run_files
from spikemark.records.record import Run

from .resolution import step_w
from .source import Source
from .timeline import of_run
from .trace import Trace

COLUMNS = ("node", "source", "channel", "time_s", "energy_j", "power_w")
NOT_ASKED = "energy was not asked for (record.energy is false)"


def reason(run: Run) -> str | None:
    """Why the run has no readings; None if it has."""
    energy = run.record.energy
    if energy is None:
        return run.record.energy_reason or NOT_ASKED
    if energy.status != "ok":
        return energy.reason or f"the meter {energy.source} was {energy.status}"
    return None


def source(run: Run) -> Source:
    """The channels of all nodes. Raises BadInput for a run without readings that can be used."""
    if why := reason(run):
        raise BadInput(f"{run.path}: {why}")
    timeline = of_run(run)
    if timeline is None:
        raise BadInput(f"{run.path / 'record.json'}: timing.simulate_started_s: missing")
    path = run.path / run_files.ENERGY
    traces = {name: _trace(rows, path) for name, rows in _channels(path).items()}
    energy = run.record.energy
    notes = [f"reading took up to {100 * energy.sampling_cost:.2g} % of a processor"]
    notes += [f"{c.name} on node {c.node}: {c.failed} readings failed" for c in energy.channels if c.failed]
    return Source(energy.source, traces, timeline, notes=notes)


def _channels(path: Path) -> dict[str, list[tuple[int, dict[str, str]]]]:
    lines = read_text(path, "a run with energy in its record has it").splitlines()
    rows = list(csv.DictReader(lines))
    if not rows or any(name not in rows[0] for name in COLUMNS):
        raise BadInput(
            f"{path}: truncated: the columns {', '.join(COLUMNS)} and at least one line are needed"
        )
    found: dict[str, list[tuple[int, dict[str, str]]]] = {}
    for number, row in enumerate(rows, 2):
        found.setdefault(f"{row['channel']} on node {row['node']}", []).append((number, row))
    return found


def _trace(rows: list[tuple[int, dict[str, str]]], path: Path) -> Trace:
    counter = bool(rows[0][1]["energy_j"])
    unit = "energy_j" if counter else "power_w"
    if len(rows) < 2:
        raise BadInput(f"{path}: line {rows[0][0]}: one reading of this channel; at least two are needed")
    times, values = (
        np.array([_number(row, name, line, path) for line, row in rows]) for name in ("time_s", unit)
    )
    _check(np.diff(times) > 0, "time_s", "later than", rows, path)
    if not counter:
        return Trace(times, power_w=values, step_w=step_w(values))
    _check(np.diff(values) >= 0, unit, "at least", rows, path)
    return Trace(times, counter_j=values)


def _check(
    good: np.ndarray, name: str, words: str, rows: list[tuple[int, dict[str, str]]], path: Path
) -> None:
    """Raises BadInput for the first reading that is not `words` the one before it."""
    if not good.all():
        line, row = rows[int(np.argmin(good)) + 1]
        raise BadInput(
            f"{path}: line {line}: {name}={row[name]}; allowed: {words} that of the reading before"
        )


def _number(row: dict[str, str], name: str, line: int, path: Path) -> float:
    try:
        value = float(row[name])
    except (TypeError, ValueError):
        value = np.nan
    if not (np.isfinite(value) and value >= 0):
        raise BadInput(f"{path}: line {line}: {name}={row[name]!r}: a number >= 0 is needed")
    return value
