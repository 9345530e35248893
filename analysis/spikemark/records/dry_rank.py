"""The record of one rank of a machine that one process ran alone: `miniapp --as-rank r --of R`.

Its fields are those of a run (record_fields.py); what would need the other ranks is null (miniapp/FORMAT.md).
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.network.named_files import copied

from . import run_files
from .arrays import check_times, map_array
from .csv_table import read_csv
from .field_types import Count, Fields, Positive, Seconds
from .record_fields import FORMAT_VERSIONS, READABLE, OfProcesses, Timing


class Alone(Fields):
    """Which rank it is, of how many, and where the spikes of the others came from."""

    rank: Count
    of: Positive
    spikes: Literal["exact", "drawn"]
    rate_hz: Seconds | None
    routes: Literal["exact", "drawn"]  #: which ranks its own spikes go to
    compute_s: Seconds  #: of the measured part
    inbox_s: Seconds  #: time in which the spikes of all ranks were copied into the inbox
    prepare_s: Seconds  #: time in which these spikes were made up
    words: Count  #: that were copied
    routes_s: Seconds | None = None  #: part of the construction: making up routes; None in older records


class DryTiming(Timing):
    """A rank that ran alone has no time of the whole run."""

    simulate_s: None
    real_time_factor: None


class DryRecord(OfProcesses):
    """record.json of such a run, as far as the analysis relies on it."""

    kind: Literal["dry_run"]
    timing: DryTiming
    dry_run: Alone


@dataclass(frozen=True)
class DryRank:
    """One rank: `row` is its line of ranks.csv, `cycles` float32 [cycle, phase] in s."""

    path: Path
    record: DryRecord
    row: dict[str, Any]
    cycles: np.ndarray

    @property
    def rank(self) -> int:
        return self.record.dry_run.rank

    @cached_property
    def span(self) -> tuple[float, float] | None:
        """When its measured part began and ended, Unix time in s; None where the record does not say."""
        timing = self.record.timing
        ends = timing.simulate_started_s, timing.simulate_ended_s
        return None if None in ends else ends

    def phase(self, name: str) -> np.ndarray:
        """Times of one phase, [cycle] in s. Raises BadInput for a phase that the record lacks."""
        if name not in self.record.phases:
            raise BadInput(f"phase={name!r}: {self.path} has {', '.join(self.record.phases)}")
        return self.cycles[:, self.record.phases.index(name)]


def load(folder: Path) -> DryRank:
    """The record of one rank. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    content = read_json(path / run_files.RECORD, "a dry run of a rank holds it")
    if not isinstance(content, dict) or content.get("format_version") not in FORMAT_VERSIONS:
        raise BadInput(f"{path / run_files.RECORD}: not a run record of format_version {READABLE}")
    of_copy = copied(content.get("description"), path / run_files.PLACEMENT, path / run_files.EXCHANGE)
    content = content | {"description": of_copy}
    record = checked(DryRecord, content, path / run_files.RECORD, "a dry run of a rank")
    shape = (1, record.timing.cycles, len(record.phases))
    cycles = map_array(path / run_files.CYCLES, np.float32, shape, run_files.RECORD)
    phases = {name: record.timing.phases[name] for name in record.phases}
    check_times(path / run_files.CYCLES, cycles, phases)
    found = DryRank(path, record, _row(path / run_files.RANKS, record), cycles[0])
    if record.ranks != record.dry_run.of or record.dry_run.rank >= record.ranks:
        raise BadInput(
            f"{path / run_files.RECORD}: dry_run.rank={record.dry_run.rank}, dry_run.of={record.dry_run.of};"
            f" allowed are ranks below ranks={record.ranks}, and as many"
        )
    return found


def _row(path: Path, record: DryRecord) -> dict[str, Any]:
    """The one line of ranks.csv; None where it is empty."""
    table = read_csv(path, dtype={"checksum": str})
    if "rank" not in table or table["rank"].tolist() != [record.dry_run.rank]:
        raise BadInput(f"{path}: one line of rank {record.dry_run.rank} is needed")
    row = {name: None if pd.isna(value) else value for name, value in table.iloc[0].items()}
    for name, value in row.items():
        if isinstance(value, int | float | np.number) and not 0 <= value < np.inf:
            raise BadInput(f"{path}: {name}={value}: allowed is a number >= 0")
    return row
