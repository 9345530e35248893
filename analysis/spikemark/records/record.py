"""Reads run records (miniapp/FORMAT.md) and refuses those that are not whole and consistent."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.network.named_files import copied
from spikemark.network.placement_file import name_of

from . import run_files
from .arrays import check_possible, check_times, map_array, read_object, read_table
from .judged import FOREIGN, FOREIGN_CORES, SHARED
from .phases import BARRIER, COMPUTE_PHASES, OVERLAP, PARTS, THREADS
from .record_fields import FORMAT_VERSIONS, Launched, Record

DRY_RUN = "dry_run"  # kind of the record of one rank that ran alone (dry_run.py)
WHOLE = f"a finished run holds {run_files.RECORD} and {run_files.RANKS}"
#: Columns of ranks.csv that add up to `totals`; all columns with their types; those that may be missing.
COUNTED = (
    "neurons", "synapses", "spikes", "synaptic_events", "external_events", "first_accesses", "messages",
    "bytes_sent",
)  # fmt: skip
LATER_COLUMNS = {"external_events": "Int64", f"{THREADS}_s": "float64", "node": "int64", "lookups": "int64"}
LATER_COLUMNS |= {f"{x}_level_{n}": "Int64" for x in ("messages", "words", "bytes") for n in range(1, 9)}
COLUMNS = {"rank": "int64", **dict.fromkeys((*COUNTED, "peak_bytes"), "Int64")}
COLUMNS |= {"build_s": "float64", "simulate_s": "float64"} | LATER_COLUMNS
NEEDED = [name for name in COLUMNS if name not in LATER_COLUMNS]


@dataclass(frozen=True)
class Run:
    """One run: the record and the files beside it. Times are in seconds.

    `cycles`: float32 memory map [rank, cycle, phase], `spikes`: uint32 [spike, (gid, step)]; None if not
    recorded. `simulation`: on which machine it was simulated, and how. `launched`: how it was started; None
    outside a results folder.
    """

    path: Path
    record: Record
    cycles: np.ndarray | None
    spikes: np.ndarray | None
    simulation: dict[str, Any] | None = None
    launched: Launched | None = None

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """One line per rank, columns as in ranks.csv; unknown values are NA. Raises BadInput as `load`."""
        return _read_ranks(self.path / run_files.RANKS, self.record)

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
        if name in self.record.phases:
            return self.cycles[:, :, self.record.phases.index(name)]
        if name == THREADS:  # of format 1
            return np.broadcast_to(np.float32(0), self.cycles.shape[:2])
        raise BadInput(f"phase={name!r}: {self.path} has {', '.join(self.record.phases)}")

    def disturbed(self, shared: bool = True) -> str:
        """The first warning of other programs, or of ranks that `shared` cores, whose times say little about
        speed; empty without one, and for simulated runs."""
        if self.record.kind != "measured":
            return ""
        said, load = self.record.warnings, self.record.host.foreign_load or 0.0
        if load > FOREIGN_CORES:
            said = [f"foreign load: other processes kept {load:.2g} cores busy", *said]
        return next((text for text in said if text.startswith(FOREIGN + SHARED * shared)), "")

    @property
    def waiting_phases(self) -> tuple[str, ...]:
        """The phases whose sum is the waiting of this run for other ranks; every page and study means this.

        `synchronise` of ranks that meet at a barrier: the wait for the slowest and the barrier itself.
        `overlap_wait` of ranks whose lanes have a lag: the wait until what was sent L windows before is
        there, so it includes transport. Both for a run with lanes of both kinds.
        """
        lags = [lane.lag > 0 for lane in self.record.lanes if lane.ranks > 1]
        return (() if lags and all(lags) else (BARRIER,)) + ((OVERLAP,) if any(lags) else ())

    def spent_s(self, *parts: str) -> float | None:
        """Time in `parts`, keys of PARTS, of the measured part in s, mean over ranks.

        None where a phase of it was not timed, such as waiting without a barrier.
        """
        phases, found = self.record.timing.phases, []
        for part in parts:
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

        So long computes the slowest thread of a rank. Waits that the description injects count, too. Raises
        BadInput for a run without cycles.npy or with a time that cannot be.
        """
        present = [name for name in COMPUTE_PHASES if name in self.record.phases]
        total = sum(self.phase(name).astype(np.float64) for name in present)
        check_possible(total, "compute", f"{self.path / run_files.CYCLES}: ")
        return total


def load(directory: str | Path, verified: bool = False) -> Run:
    """Read and check the run record in `directory`.

    `verified`: all of it was checked before, as runs of a results folder are when they are kept; then only
    record.json is read, and arrays are mapped without a look at every time in them.

    Raises BadInput naming the file and what is wrong: a missing, truncated or foreign file, a field that is
    missing or impossible, arrays and tables that do not fit the record.
    """
    path = Path(directory)
    content = read_content(path)
    if content.get("kind") == DRY_RUN:
        raise BadInput(
            f"{path / run_files.RECORD}: kind='dry_run': one rank that ran alone; expected a run of all"
            " ranks, or the folder that `spikemark dryrun` wrote"
        )
    record = checked(Record, content, path / run_files.RECORD, "record")
    wanted, cycles, spikes = record.description["record"], None, None
    if wanted.get("cycles", True):
        cycles = map_cycles(path, record, record.ranks, verified)
    if wanted.get("spikes", False):
        spikes = map_array(path / run_files.SPIKES, np.uint32, (record.totals.spikes, 2))
    launch, simulation = (
        read_object(file) if file.is_file() else None
        for file in (path / run_files.LAUNCH, path / run_files.SIMULATION)
    )
    launched = None if launch is None else checked(Launched, launch, path / run_files.LAUNCH, "launch")
    run = Run(path, record, cycles, spikes, simulation, launched)
    if not verified:
        run.ranks  # noqa: B018 - reads and checks it
    return run


def read_content(path: Path) -> dict[str, Any]:
    """What the record.json in a folder holds, of a known version; its placement file is the copy there."""
    content = read_object(path / run_files.RECORD, WHOLE, FORMAT_VERSIONS)
    copies = (path / name for name in (run_files.PLACEMENT, run_files.EXCHANGE))
    return content | {"description": copied(content.get("description"), *copies)}


def map_cycles(path: Path, record, rows: int, verified: bool = False) -> np.ndarray:
    """The cycles.npy in a folder, float32 [row, cycle, phase]; its times are checked unless verified."""
    shape = (rows, record.timing.cycles, len(record.phases))
    cycles = map_array(path / run_files.CYCLES, np.float32, shape)
    for at, name in enumerate(() if verified else record.phases):
        check_times(path / run_files.CYCLES, name, cycles[:, :, at], record.timing.phases[name])
    return cycles


def _read_ranks(path: Path, record: Record) -> pd.DataFrame:
    table = read_table(path, COLUMNS, NEEDED, WHOLE)
    if sorted(table["rank"]) != list(range(record.ranks)):
        raise BadInput(
            f"{path}: rank={table['rank'].tolist()}; record.json has ranks 0 to {record.ranks - 1}"
        )
    if "external_events" not in table:  # of format 1
        table["external_events"] = pd.array([pd.NA] * len(table), "Int64")
    nodes = record.host.node_names
    if "node" in table and nodes is not None and not table["node"].between(0, len(nodes) - 1).all():
        raise BadInput(f"{path}: node={table['node'].tolist()}; record.json names {len(nodes)} nodes")
    for name in COUNTED:
        total, column = getattr(record.totals, name), table[name]
        if column.notna().all() and int(column.sum()) != total:
            raise BadInput(
                f"{path}: {name} adds up to {int(column.sum())}; record.json has totals.{name}={total}"
            )
    return table.sort_values("rank", ignore_index=True)
