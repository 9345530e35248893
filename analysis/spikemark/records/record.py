"""Reads run records (miniapp/FORMAT.md) and refuses those that are not whole and consistent.

`load_run` reads record.json and ranks.csv and maps the arrays, whose times it looks at once,
O(ranks x cycles), unless they were checked before. A `Run` then answers what pages and models ask.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.fields import checked
from spikemark.core.summary import Summarised
from spikemark.network.description import Network
from spikemark.network.named_files import copied
from spikemark.network.placement_text import name_of
from spikemark.quantities.figure import PALETTE, new_axes
from spikemark.quantities.words import counted

from . import run_files
from .arrays import (
    NumberType,
    check_possible,
    check_times,
    map_array,
    read_object,
    read_table,
)
from .judged import FOREIGN, FOREIGN_CORES, SHARED, no_evidence, too_short
from .phases import BARRIER, COMPUTE_PHASES, OVERLAP, PARTS, THREADS
from .schema import FORMAT_VERSIONS, CommonRecord, LaunchRecord, Record

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

DRY_RUN = "dry_run"  # kind of the record of one rank that ran alone (dry_run.py)
RECORD_ADVICE = f"a finished run holds {run_files.RECORD} and {run_files.RANKS}"
#: Columns of ranks.csv that add up to `totals` of the record.
COUNTED = (
    "neurons",
    "synapses",
    "spikes",
    "synaptic_events",
    "external_events",
    "first_accesses",
    "messages",
    "bytes_sent",
)
LARGEST_LEVEL = 8  # of a composed exchange


def _columns_of_levels() -> list[str]:
    """Columns of ranks.csv that count the traffic of each level of a composed exchange."""
    names = []
    for count in ("messages_level", "words_level", "bytes_level"):
        names += [f"{count}_{level}" for level in range(1, LARGEST_LEVEL + 1)]
    return names


#: Columns of ranks.csv that older files, or those of other runs, do not have, and their dtypes.
LATER_COLUMNS: dict[str, NumberType] = {
    "external_events": "Int64",
    f"{THREADS}_s": "float64",
    "node": "int64",
    "lookups": "int64",
    **dict.fromkeys(_columns_of_levels(), "Int64"),
}
#: All columns of ranks.csv and their dtypes.
RANK_COLUMNS: dict[str, NumberType] = {
    "rank": "int64",
    **dict.fromkeys(COUNTED, "Int64"),
    "peak_bytes": "Int64",
    "build_s": "float64",
    "simulate_s": "float64",
    **LATER_COLUMNS,
}
NEEDED_COLUMNS = [name for name in RANK_COLUMNS if name not in LATER_COLUMNS]


@dataclass(frozen=True, repr=False)
class Run(Summarised):
    """One run: the record and the files beside it. Times are in seconds."""

    path: Path
    record: Record
    #: float32 memory map [rank, cycle, phase]; None if not recorded.
    cycles: np.ndarray | None
    #: uint32 [spike, (gid, step)]; None if not recorded.
    spikes: np.ndarray | None
    #: On which machine the run was simulated, and how.
    simulation: dict[str, Any] | None = None
    #: How the run was started; None outside a results folder.
    launched: LaunchRecord | None = None

    def _summary(self) -> str:
        record = self.record
        factor = f"real-time factor {record.timing.real_time_factor:.3g} ({record.kind})"
        layout = f"{counted(record.ranks, 'rank')} x {counted(record.threads, 'thread')}"
        return f"{self.path}, {layout}, {record.described.schedule}, {factor}"

    def _further(self) -> str:
        return ".record has the fields of record.json; .cycles, .spikes, .ranks, .network, .plot()"

    @cached_property
    def ranks(self) -> "pd.DataFrame":
        """One line per rank, columns as in ranks.csv; unknown values are NA.

        Raises BadInput as `load_run`.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> int(run.ranks["synaptic_events"].sum()) == run.record.totals.synaptic_events
            True
        """
        return _read_ranks(self.path / run_files.RANKS, self.record)

    @cached_property
    def activity(self) -> np.ndarray | None:
        """Spikes of each population in each cycle, float64 [cycle, population].

        Where the record counts stretches of cycles, the spikes of a stretch are spread over it.
        None where they were not counted. Raises BadInput as `load_run`.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.activity is None
            True
        """
        timing = self.record.timing
        if timing.stretch_cycles is None or self.cycles is None:
            return None
        path = self.path / run_files.ACTIVITY
        starts = np.arange(0, timing.cycles, timing.stretch_cycles)
        populations = len(self.record.described.network.populations)
        spikes = map_array(path, np.uint32, (len(starts), populations))
        total = int(spikes.sum(dtype=np.int64))
        if total != self.record.totals.spikes:
            recorded = f"record.json has totals.spikes={self.record.totals.spikes}"
            raise BadInput(
                f"spikes add up to {total}; {recorded}",
                field="spikes",
                file=path,
            )
        lengths = np.diff(np.append(starts, timing.cycles))
        return np.repeat(spikes / lengths[:, None], lengths, axis=0)

    @property
    def network(self) -> Network:
        """The network that was simulated: its populations, areas and projections.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> len(run.network.populations)
            4
        """
        return self.record.described.network

    @property
    def node_of_rank(self) -> list[str] | None:
        """The name of the node of each rank; None where a record of several nodes does not say.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.node_of_rank
            ['vm', 'vm', 'vm', 'vm']
        """
        host = self.record.host
        if "node" in self.ranks and host.node_names is not None:
            return [host.node_names[node] for node in self.ranks["node"]]
        if host.nodes == 1:
            return [host.name for _ in range(self.record.ranks)]
        return None

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Histogram of the compute times of all ranks and cycles in ms; counts are logarithmic.

        Raises BadInput for a run without cycles.npy.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.plot().get_xlabel()
            'compute time of a cycle (ms)'
        """
        times_ms = 1e3 * self.compute().ravel()
        axes = axes or new_axes()
        axes.hist(times_ms, bins=100, log=True, color=PALETTE[0])
        title = f"{counted(self.record.ranks, 'rank')}, {self.schedule.replace('_', ' ')}"
        axes.set(xlabel="compute time of a cycle (ms)", ylabel="cycles of ranks", title=title)
        return axes

    @property
    def schedule(self) -> str:
        """The name of the schedule, or `lanes` where the description lists the lanes itself.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.schedule
            'structure_aware'
        """
        schedule = self.record.description["schedule"]
        return schedule if isinstance(schedule, str) else "lanes"

    @property
    def placement(self) -> str:
        """The placement in words: its name, and the name of its file.

        `record.described` has the path of the copy in this folder.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.placement
            'area'
        """
        placement = self.record.placement
        if placement is not None and placement.file is not None:
            return name_of({"name": placement.name, "file": placement.file})
        return name_of(self.record.description["placement"])

    @property
    def delay_ratio(self) -> int:
        """D as run: the description's number, or for `auto` the longest period of a lane.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.delay_ratio
            10
        """
        ratio = self.record.description["delay_ratio"]
        if isinstance(ratio, int):
            return ratio
        return max(lane.period for lane in self.record.lanes)

    @property
    def window(self) -> int:
        """Cycles between two exchanges in which ranks wait for each other.

        The shortest period of the lanes that span several ranks; if there is none, the longest of
        all lanes.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.window
            10
        """
        shared = [lane.period for lane in self.record.lanes if lane.ranks > 1]
        if shared:
            return min(shared)
        return max(lane.period for lane in self.record.lanes)

    def phase(self, name: str) -> np.ndarray:
        """Times of one phase, float32 [rank, cycle] not to be written to.

        NaN throughout where it was not measured. Raises BadInput for an unknown name or a run
        without cycles.npy.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.phase("deliver").shape
            (4, 1000)
        """
        if self.cycles is None:
            raise BadInput(
                "no cycles.npy (record.cycles was false); run again with record.cycles=true",
                field="record.cycles",
                file=self.path,
                code="missing",
            )
        if name in self.record.phases:
            return self.cycles[:, :, self.record.phases.index(name)]
        if name == THREADS:  # of format 1
            return np.broadcast_to(np.float32(0), self.cycles.shape[:2])
        raise unknown_name("phase", name, self.record.phases, file=self.path)

    def disturbed(self, shared: bool = True) -> str:
        """The first warning of what makes the times say little about speed.

        Of other programs, or of ranks that share cores unless `shared` is false; empty without one,
        and for simulated runs.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.disturbed().split(":")[0]
            'foreign load'
        """
        if self.record.kind != "measured":
            return ""
        warnings = self.record.warnings
        foreign_cores = self.record.host.foreign_load or 0.0
        if foreign_cores > FOREIGN_CORES:
            foreign = f"foreign load: other processes kept {foreign_cores:.2g} cores busy"
            warnings = [foreign, *warnings]
        kinds = FOREIGN + SHARED if shared else FOREIGN
        for warning in warnings:
            if warning.startswith(kinds):
                return warning
        return ""

    @property
    def too_short(self) -> str:
        """Why the run says nothing about speed, as `judged.too_short`; empty if it may.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.too_short == ""  # it took 0.4 s
            True
        """
        timing = self.record.timing
        return too_short(self.record.kind, timing.simulate_s, timing.timer_overhead)

    @property
    def cautions(self) -> list[str]:
        """Why the times are no evidence of speed: disturbed, on shared cores, or too short.

        Every command that judges the times of a run says so. Empty for simulated runs.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> [caution.split(":")[0] for caution in run.cautions]
            ['foreign load', 'oversubscribed']
        """
        first = self.disturbed()
        reasons = [first]
        for warning in self.record.warnings:
            if first and warning.startswith(FOREIGN + SHARED):
                reasons.append(warning)
        if self.too_short:
            reasons.append(f"too short: {self.too_short}")
        by_kind: dict[str, str] = {}
        for reason in reasons:
            if reason:
                by_kind.setdefault(reason.split(":")[0], no_evidence(reason))
        return list(by_kind.values())

    @property
    def waiting_phases(self) -> tuple[str, ...]:
        """The phases whose sum is the waiting of this run for other ranks.

        `synchronise` of ranks that meet at a barrier: the wait for the slowest and the barrier
        itself. `overlap_wait` of ranks whose lanes have a lag: the wait until what was sent L
        windows before is there, so it includes transport. Both for a run with lanes of both kinds.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.waiting_phases
            ('synchronise',)
        """
        lags = [lane.lag > 0 for lane in self.record.lanes if lane.ranks > 1]
        if lags and all(lags):
            return (OVERLAP,)
        return (BARRIER, OVERLAP) if any(lags) else (BARRIER,)

    def spent_s(self, *parts: str) -> float | None:
        """Time in `parts`, keys of PARTS, of the measured part in s, mean over ranks.

        None where a phase of it was not timed, such as waiting without a barrier.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.spent_s("update") < run.spent_s("deliver", "update")
            True
        """
        phases = self.record.timing.phases
        total_s = 0.0
        for part in parts:
            names = self.waiting_phases if part == "waiting" else PARTS[part]
            recorded = [phases[name].mean_s for name in names if name in phases]
            if not recorded:
                return None
            for seconds in recorded:
                if seconds is None:
                    return None
                total_s += seconds
        return total_s

    def waiting(self) -> np.ndarray | None:
        """Waiting in each cycle in s, float64 [rank, cycle]; None where not all of it was timed.

        Raises BadInput for a run without cycles.npy.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> run.waiting().shape
            (4, 1000)
        """
        waiting = self._sum_of_phases(self.waiting_phases)
        return None if np.isnan(waiting).any() else waiting

    def compute(self) -> np.ndarray:
        """Compute time c[m, s], float64 [rank, cycle] in s (L26, 2.2).

        deliver + update + thread_wait + collocate: so long computes the slowest thread of a rank.
        Waits that the description injects count, too. Raises BadInput for a run without cycles.npy
        or with a time that cannot be.

        Example:
            >>> run = load_run("tests/golden/analysis/records/aware-4")
            >>> bool((run.compute() > 0).all())
            True
        """
        present = [name for name in COMPUTE_PHASES if name in self.record.phases]
        compute = self._sum_of_phases(present)
        check_possible(compute, "compute", self.path / run_files.CYCLES)
        return compute

    def _sum_of_phases(self, names: Iterable[str]) -> np.ndarray:
        """Time in several phases, float64 [rank, cycle] in s."""
        first, *others = names
        total = self.phase(first).astype(np.float64)
        for name in others:
            total += self.phase(name)
        return total


def load_run(directory: str | Path, verified: bool = False) -> Run:
    """Read and check the run record in `directory`.

    Args:
        directory: the folder of the run.
        verified: all of it was checked before, as runs of a results folder are when they are kept;
            then arrays are mapped without a look at every time in them. record.json and ranks.csv
            are always read and checked: a run without one of them is complete to nobody.

    Raises BadInput naming the file and what is wrong: a missing, truncated or foreign file, a field
    that is missing or impossible, arrays and tables that do not fit the record.

    Example:
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> run.record.ranks, run.cycles.shape
        (4, (4, 1000, 8))
    """
    path = Path(directory)
    content = read_content(path)
    if content.get("kind") == DRY_RUN:
        raise BadInput(
            field="kind",
            value=DRY_RUN,
            reason="one rank that ran alone",
            expected="a run of all ranks, or the folder that `spikemark dryrun` wrote",
            file=path / run_files.RECORD,
        )
    record = checked(Record, content, path / run_files.RECORD, "record")
    recorded = record.description["record"]
    cycles = None
    if recorded.get("cycles", True):
        cycles = map_cycles(path, record, record.ranks, verified)
    spikes = None
    if recorded.get("spikes", False):
        spikes = map_array(path / run_files.SPIKES, np.uint32, (record.totals.spikes, 2))
    launch = _read_if_there(path / run_files.LAUNCH)
    simulation = _read_if_there(path / run_files.SIMULATION)
    launched = None
    if launch is not None:
        launched = checked(LaunchRecord, launch, path / run_files.LAUNCH, "launch")
    run = Run(path, record, cycles, spikes, simulation, launched)
    run.ranks  # noqa: B018 - reads and checks it
    if not verified:
        run.activity  # noqa: B018 - likewise
    return run


def _read_if_there(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file; None where there is none."""
    return read_object(path) if path.is_file() else None


def read_content(path: Path) -> dict[str, Any]:
    """The content of the record.json in a folder, of a known version.

    Files that its description names are the copies in the folder. Raises BadInput for a folder of
    several runs, too, and names one.

    Example:
        >>> read_content(Path("tests/golden/analysis/records/aware-4"))["ranks"]
        4
    """
    run_files.refuse_several(path)
    content = read_object(path / run_files.RECORD, RECORD_ADVICE, FORMAT_VERSIONS)
    description = copied(
        content.get("description"), path / run_files.PLACEMENT, path / run_files.EXCHANGE
    )
    return content | {"description": description}


def map_cycles(path: Path, record: CommonRecord, rows: int, verified: bool = False) -> np.ndarray:
    """The cycles.npy in a folder, float32 [row, cycle, phase].

    Raises BadInput as `load_run`; times are not looked at where they are `verified`.

    Example:
        >>> path = Path("tests/golden/analysis/records/aware-4")
        >>> record = load_run(path).record
        >>> map_cycles(path, record, rows=record.ranks).shape
        (4, 1000, 8)
    """
    shape = (rows, record.timing.cycles, len(record.phases))
    cycles = map_array(path / run_files.CYCLES, np.float32, shape)
    if not verified:
        for number, name in enumerate(record.phases):
            summary = record.timing.phases[name]
            check_times(path / run_files.CYCLES, name, cycles[:, :, number], summary)
    return cycles


def _read_ranks(path: Path, record: Record) -> "pd.DataFrame":
    """The content of ranks.csv, in the order of ranks. Raises BadInput as `load_run`."""
    import pandas as pd

    table = read_table(path, RANK_COLUMNS, NEEDED_COLUMNS, RECORD_ADVICE)
    ranks = table["rank"].tolist()
    if sorted(ranks) != list(range(record.ranks)):
        reason = f"rank={ranks}; record.json has ranks 0 to {record.ranks - 1}"
        raise BadInput(reason, field="rank", file=path)
    if "external_events" not in table:  # of format 1
        table["external_events"] = pd.Series(pd.NA, table.index, dtype="Int64")
    nodes = record.host.node_names
    if "node" in table and nodes is not None and not table["node"].between(0, len(nodes) - 1).all():
        reason = f"node={table['node'].tolist()}; record.json names {len(nodes)} nodes"
        raise BadInput(reason, field="node", file=path)
    for name in COUNTED:
        total = getattr(record.totals, name)
        counts = table[name].array
        if not counts.isna().any() and int(counts.sum()) != total:
            reason = f"{name} adds up to {int(counts.sum())}; record.json has totals.{name}={total}"
            raise BadInput(reason, field=name, file=path)
    if ranks == list(range(record.ranks)):
        return table
    return table.sort_values("rank", ignore_index=True)
