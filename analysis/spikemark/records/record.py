"""Reads run records (miniapp/FORMAT.md) and refuses those that are not whole and consistent."""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pandera.pandas as pa
from pandera.errors import SchemaErrors

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json, read_text
from spikemark.network.named_files import copied
from spikemark.network.placement_field import name_of

from . import run_files
from .arrays import check_times, map_array
from .csv_table import of_text
from .launched import Launched, read_launched
from .phases import BARRIER, COMPUTE_PHASES, LATER, OVERLAP, PARTS, THREADS
from .record_fields import FORMAT_VERSIONS, READABLE, Record

COUNT_COLUMNS = (
    "neurons",
    "synapses",
    "spikes",
    "synaptic_events",
    "external_events",
    "first_accesses",
    "messages",
    "bytes_sent",
)
SECONDS_COLUMNS = ("build_s", "simulate_s")
THREADS_COLUMN = f"{THREADS}_s"  # records of format 1 lack it
DRY_RUN = "dry_run"  # kind of the record of one rank that ran alone (dry_rank.py)
WHOLE = f"a finished run holds {run_files.RECORD} and {run_files.RANKS}"


@dataclass(frozen=True)
class Run:
    """One run: the record and the files beside it. Times are in seconds."""

    path: Path
    record: Record
    ranks: pd.DataFrame  # one line per rank, columns as in ranks.csv; unknown values are NA
    cycles: np.ndarray | None  # float32 memory map [rank, cycle, phase]; None if the run did not record it
    spikes: np.ndarray | None  # uint32 memory map [spike, (gid, step)]; None if the run did not record it
    simulation: dict[str, Any] | None = None  # on which machine it was simulated, and how; None if measured
    launched: Launched | None = None  # how it was started; None for a run outside a results folder

    @property
    def measured_cycles(self) -> int:
        """Cycles of the measured part."""
        return self.record.timing.cycles

    @property
    def cluster(self) -> str | None:
        """The name of the cluster that Slurm told; None outside Slurm."""
        allocation = self.launched and self.launched.allocation
        return allocation.cluster if allocation else None

    @property
    def cpus(self) -> tuple[str | None, ...]:
        """The models of the processors of its nodes, each once."""
        host = self.record.host
        return tuple(sorted({node.cpu or "" for node in host.per_node})) if host.per_node else (host.cpu,)

    @property
    def node_of_rank(self) -> list[str] | None:
        """The name of the node of each rank, [rank]; None where the record of several nodes does not say."""
        host = self.record.host
        if "node" in self.ranks and host.node_names is not None:
            return [host.node_names[node] for node in self.ranks["node"]]
        return [host.name] * self.record.ranks if host.nodes == 1 else None

    @property
    def schedule(self) -> str:
        """The name of the schedule, or `lanes` where the description lists the lanes itself."""
        schedule = self.record.description["schedule"]
        return schedule if isinstance(schedule, str) else "lanes"

    @property
    def placement(self) -> str:
        """The placement in words: its name, and the name of its file. Record.described has its path."""
        known = self.record.placement
        if known is not None and known.file is not None:
            return name_of({"name": known.name, "file": known.file})
        return name_of(self.record.description["placement"])

    @property
    def delay_ratio(self) -> int:
        """D as run: the description's number, or for `auto` the longest period of a lane."""
        value = self.record.description["delay_ratio"]
        return value if isinstance(value, int) else max(lane.period for lane in self.record.lanes)

    @property
    def window(self) -> int:
        """Cycles between two exchanges in which ranks wait for each other.

        The shortest period of the lanes that span several ranks; if there is none, the longest of all lanes.
        """
        shared = [lane.period for lane in self.record.lanes if lane.ranks > 1]
        return min(shared) if shared else max(lane.period for lane in self.record.lanes)

    def phase(self, name: str) -> np.ndarray:
        """Times of one phase, float32 [rank, cycle] not to be written to; NaN throughout where not measured.

        Raises BadInput for an unknown name or a run without cycles.npy.
        """
        if self.cycles is None:
            raise BadInput(
                f"{self.path}: no cycles.npy (record.cycles was false); run again with record.cycles=true"
            )
        if name == THREADS and name not in self.record.phases:
            untold = np.float32(0 if self.record.threads == 1 else np.nan)
            return np.broadcast_to(untold, self.cycles.shape[:2])
        if name not in self.record.phases:
            raise BadInput(f"phase={name!r}: {self.path} has {', '.join(self.record.phases)}")
        return self.cycles[:, :, self.record.phases.index(name)]

    @property
    def waiting_phases(self) -> tuple[str, ...]:
        """The phases whose sum is the waiting of this run for other ranks; every page and study means this.

        `synchronise` of ranks that meet at a barrier: the wait for the slowest and the barrier itself.
        `overlap_wait` of ranks whose lanes have a lag: the wait until what was sent L windows before is
        there, so it includes transport. Both for a run with lanes of both kinds.
        """
        lags = [lane.lag > 0 for lane in self.record.lanes if lane.ranks > 1]
        return (() if lags and all(lags) else (BARRIER,)) + ((OVERLAP,) if any(lags) else ())

    @property
    def waits(self) -> str:
        """Where the ranks of this run wait, in words that stand beside the number."""
        words = {BARRIER: "at the barrier", OVERLAP: "for messages under way, with their transport"}
        return " and ".join(words[name] for name in self.waiting_phases)

    def spent_s(self, *parts: str) -> float | None:
        """Time in `parts`, keys of PARTS, of the measured part in s, mean over ranks.

        None where a phase of it was not timed, such as waiting without a barrier, or is not known apart from
        others (Record.mixed).
        """
        mixed = {*self.record.mixed, THREADS} if self.record.mixed else set()
        if mixed & {*parts} and not mixed <= {*parts}:
            return None
        phases, found = self.record.timing.phases, []
        for part in (part for part in parts if not (mixed and part == THREADS)):
            names = self.waiting_phases if part == "waiting" else PARTS[part]
            found += [phases[name].mean_s for name in names if name in phases] or [None]
        return None if None in found else sum(found)

    def waiting(self) -> np.ndarray | None:
        """Waiting in each cycle in s, float64 [rank, cycle]; None where not all of it was timed.

        Raises BadInput for a run without cycles.npy.
        """
        waiting = sum(self.phase(name).astype(np.float64) for name in self.waiting_phases)
        return None if np.isnan(waiting).any() else waiting

    def compute(self) -> np.ndarray:
        """Compute time c[m, s]: deliver + update + thread_wait + collocate, float64 [rank, cycle] (L26, 2.2).

        So long computes the slowest thread of a rank. Waits that the description injects count, too.

        Raises BadInput for a run without cycles.npy or with a time that is not a number or is negative.
        """
        told = self.record.phases
        present = [name for name in COMPUTE_PHASES if name in told or name not in LATER]
        total = sum(self.phase(name).astype(np.float64) for name in present)
        if not np.all(total >= 0):  # also false for NaN
            rank, cycle = np.argwhere(~(total >= 0))[0]
            raise BadInput(
                f"{self.path / run_files.CYCLES}: compute time {total[rank, cycle]} s of rank {rank} in cycle"
                f" {cycle}; a time is a number >= 0"
            )
        return total


def load(directory: str | Path) -> Run:
    """Read and check the run record in `directory`.

    Raises BadInput naming the file and what is wrong: a missing, truncated or foreign file, a field that is
    missing or impossible, arrays and tables that do not fit the record.
    """
    path = Path(directory)
    record = _read_record(path / run_files.RECORD)
    wanted = record.description["record"]
    cycles = spikes = None
    if wanted.get("cycles", True):
        shape = (record.ranks, record.timing.cycles, len(record.phases))
        cycles = map_array(path / run_files.CYCLES, np.float32, shape)
        phases = {name: record.timing.phases[name] for name in record.phases}
        check_times(path / run_files.CYCLES, cycles, phases)
    if wanted.get("spikes", False):
        spikes = map_array(path / run_files.SPIKES, np.uint32, (record.totals.spikes, 2))
    ranks = _read_ranks(path / run_files.RANKS, record)
    simulation, launched = path / run_files.SIMULATION, path / run_files.LAUNCH
    return Run(path, record, ranks, cycles, spikes, _read_simulation(simulation), read_launched(launched))


def _read_simulation(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    found = read_json(path)
    if not isinstance(found, dict):
        raise BadInput(f"{path}: holds {type(found).__name__}; one JSON object is needed")
    return found


def _read_record(path: Path) -> Record:
    content: Any = read_json(path, WHOLE)
    if not isinstance(content, dict):
        raise BadInput(f"{path}: holds {type(content).__name__}, a run record is one JSON object")
    # These two come first: with another version or an unfinished run, complaints about other fields would
    # mislead.
    version, status = content.get("format_version"), content.get("status")
    if version not in FORMAT_VERSIONS or isinstance(version, bool):
        raise BadInput(f"{path}: format_version={version!r}; this version of Spikemark reads {READABLE}")
    if content.get("kind") == DRY_RUN:
        raise BadInput(
            f"{path}: kind='dry_run': one rank that ran alone; allowed: a run of all ranks, or the folder"
            " that `spikemark dryrun` wrote"
        )
    if status != "complete":
        raise BadInput(f"{path}: status={status!r}; only a run with status 'complete' can be used")
    copies = (path.with_name(name) for name in (run_files.PLACEMENT, run_files.EXCHANGE))
    of_copy = copied(content.get("description"), *copies)
    return checked(Record, content | {"description": of_copy}, path, "record")


@functools.cache
def ranks_contract():
    """The pandera contract of ranks.csv: every column of FORMAT.md, after which further ones may follow."""
    not_negative, seconds = pa.Check.ge(0), [pa.Check.ge(0), pa.Check.lt(float("inf"))]
    columns = {"rank": pa.Column("int64", not_negative)}
    columns |= dict.fromkeys((*COUNT_COLUMNS, "peak_bytes"), pa.Column("Int64", not_negative, nullable=True))
    columns |= dict.fromkeys(SECONDS_COLUMNS, pa.Column("float64", seconds, nullable=True))
    columns[THREADS_COLUMN] = pa.Column("float64", seconds, nullable=True, required=False)
    for name in ("node", "lookups"):  # records from before them lack them
        columns[name] = pa.Column("int64", not_negative, required=False)
    levels = pa.Column("Int64", not_negative, nullable=True, required=False, regex=True)
    columns[r"^(messages|words|bytes)_level_[1-8]$"] = levels
    return pa.DataFrameSchema(columns, coerce=True, strict=False)


def _read_ranks(path: Path, record: Record) -> pd.DataFrame:
    text = read_text(path, WHOLE)
    widths = {line.count(",") for line in text.splitlines()}
    if len(widths) != 1:  # pandas would fill a truncated line with missing values
        raise BadInput(f"{path}: truncated: it is empty or its lines differ in their number of fields")
    table = of_text(text, path)
    try:
        if "external_events" not in table:  # a record from before the field
            table["external_events"] = pd.NA
        table = ranks_contract().validate(table, lazy=True)
    except SchemaErrors as error:
        raise BadInput(f"{path}: {_contract_complaint(error)}") from None
    except ValueError as error:
        raise BadInput(f"{path}: not a table: {error}") from None
    if sorted(table["rank"]) != list(range(record.ranks)):
        raise BadInput(
            f"{path}: rank={table['rank'].tolist()}; record.json has ranks 0 to {record.ranks - 1}"
        )
    nodes = record.host.node_names
    if "node" in table and nodes is not None and not table["node"].between(0, len(nodes) - 1).all():
        raise BadInput(f"{path}: node={table['node'].tolist()}; record.json names {len(nodes)} nodes")
    for name in COUNT_COLUMNS:
        total, column = getattr(record.totals, name), table[name]
        if column.notna().all() and int(column.sum()) != total:
            raise BadInput(
                f"{path}: {name} adds up to {int(column.sum())}; record.json has totals.{name}={total}"
            )
    return table.sort_values("rank", ignore_index=True)


def _contract_complaint(error: Any) -> str:
    cases = error.failure_cases
    missing = cases[cases["check"] == "column_in_dataframe"]
    if len(missing):
        return f"missing column {', '.join(missing['failure_case'].astype(str))}"
    first = cases.iloc[0]
    kind = "a number" if first["column"].endswith("_s") else "a whole number"
    return f"{first['column']}={first['failure_case']}: allowed is {kind} >= 0"
