"""The folder of a dry run: some ranks of a machine, each run alone by one process on one node.

dryrun.json     what was run, and which ranks
work.csv        what every rank has to do in a cycle, as expected counts, one line per rank
run.json        the description, as it was given, and placement.json, the file that it names
ranks/NUMBER/   the record of that rank, as the mini-app wrote it (`miniapp --as-rank r --of R`)

Times of ranks that did not run are resampled from those that did (`models.resampling`), which takes
O(ranks x cycles) of memory.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.models import resampling
from spikemark.network import lanes
from spikemark.network.description import read_description
from spikemark.network.named_files import located
from spikemark.quantities.words import counted

from .arrays import check_possible, read_object, read_table
from .phases import COMPUTE_PARTS, PARTS, THREADS
from .record import RANK_COLUMNS, map_cycles, read_content
from .run_files import PLACEMENT, RANKS, RECORD
from .schema import DryRecord, DryRunFile, RankAlone

#: The files of the folder, and the folder of the records of ranks.
DRY_RUN_FILE = "dryrun.json"
WORK = "work.csv"
DESCRIPTION_FILE = "run.json"
EACH = "ranks"
PAGE = "report.html"  # written by `spikemark report`
FILES = (DRY_RUN_FILE, WORK, DESCRIPTION_FILE, EACH, PAGE, PLACEMENT)
#: Columns of work.csv, by the part of a cycle that they determine; threads wait longer the more is
#: delivered.
WORK_OF = {
    "deliver": "synaptic_events",
    "update": "neurons",
    THREADS: "synaptic_events",
    "collocate": "spikes_sent",
}


@dataclass(frozen=True)
class DryRank:
    """One rank that ran alone."""

    record: DryRecord
    #: Its line of ranks.csv.
    counts: dict[str, Any]
    #: float32 [cycle, part of COMPUTE] in s; injected waits count as update.
    times: np.ndarray


def load_rank(folder: Path) -> DryRank:
    """The record of one rank. Raises BadInput naming the file and what is wrong.

    Example:
        >>> load_rank(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/record.json: not found; a finished run holds ...
    """
    path = Path(folder)
    record = checked(DryRecord, read_content(path), path / RECORD, "a dry run of a rank")
    table = read_table(path / RANKS, RANK_COLUMNS, ["rank"])
    ranks = table["rank"].tolist()
    if ranks != [record.dry_run.rank]:
        expected = str([record.dry_run.rank])
        raise BadInput(
            field="rank",
            value=ranks,
            expected=expected,
            file=path / RANKS,
        )
    cycles = map_cycles(path, record, 1)[0]
    times_of_parts = []
    for part in COMPUTE_PARTS:
        is_of_part = [phase in PARTS[part] for phase in record.phases]
        times_of_parts.append(cycles[:, is_of_part].sum(axis=-1))
    times = np.stack(times_of_parts, axis=-1)
    check_possible(times[None, :, :].sum(axis=-1), "compute", path)
    counts = {str(name): count for name, count in table.iloc[0].dropna().items()}
    return DryRank(record, counts, times)


@dataclass(frozen=True)
class DryRun:
    """A dry run: what was run, and what it measured."""

    path: Path
    about: DryRunFile
    #: The ranks that ran, in ascending order.
    sampled: list[DryRank]
    #: Expected counts of every rank, float64 [rank, part of COMPUTE].
    work: np.ndarray

    @property
    def ranks(self) -> int:
        """R, the ranks of the machine."""
        return self.about.ranks

    @property
    def alone(self) -> RankAlone:
        """What the record of the first rank says of its spikes."""
        return self.sampled[0].record.dry_run

    @cached_property
    def timed(self) -> np.ndarray:
        """The ranks that ran, [row]."""
        return np.array([sampled.rank for sampled in self.about.sampled])

    @cached_property
    def rows(self) -> np.ndarray:
        """Times of the ranks that ran, float32 [row, cycle, part of COMPUTE] in s."""
        return np.stack([sampled.times for sampled in self.sampled])

    @cached_property
    def doubt(self) -> float | None:
        """Half of the 95 % interval of the mean compute time that comes from sampling.

        As a share of that mean; None where sampling tells nothing, see
        `resampling.relative_uncertainty`.
        """
        return resampling.relative_uncertainty(
            self.rows.mean(axis=1, dtype=np.float64), self.timed, self.work
        )

    @property
    def meets_every(self) -> int:
        """Cycles from one meeting at a barrier to the next; 1 where no rank meets another.

        Raises BadInput for a schedule with a lag.
        """
        description = read_description(self.about.description)
        schedule, placement = lanes.schedule_and_placement(description, None, None)
        all_lanes = lanes.plan_lanes(description, self.ranks, schedule, placement)
        shared = [lane for lane in all_lanes if not lane.alone]
        if any(lane.lag for lane in shared):
            raise BadInput(
                "a dry run of a schedule with a lag, whose ranks meet at no barrier; expected a"
                " schedule without",
                field="schedule",
                file=self.path,
            )
        return min((lane.period for lane in shared), default=1)

    @cached_property
    def _donors(self) -> resampling.Donors:
        generator = np.random.default_rng(self.about.seed)
        return resampling.donors(self.timed, self.ranks, self.rows.shape[1], generator)

    def times(self) -> np.ndarray:
        """Times of all R ranks, float32 [rank, cycle, part] in s.

        Those of ranks that did not run are resampled. Raises BadInput for more times than fit into
        memory.
        """
        bytes_needed = self.ranks * self.rows[0].nbytes
        memory.check(bytes_needed, f"{self.path}: the times of {self.ranks} ranks")
        return resampling.resampled(self.rows, self.timed, self.work, self._donors)

    def means(self) -> np.ndarray:
        """Mean times of all R ranks, float64 [rank, part] in s, as `times` has them."""
        row = self._donors.row
        means = self.rows.mean(axis=1, dtype=np.float64)
        scaled: np.ndarray = means[row] * resampling.factors(self.work, self.timed, row)
        return scaled

    @property
    def remarks(self) -> list[str]:
        """Assumptions behind everything that is computed from these times."""
        about = self.about
        ran = len(self.timed)
        host = self.sampled[0].record.host
        sentences = [
            f"computing was measured by a dry run of {ran} of {self.ranks} ranks,"
            f" {about.ranks_here} side by side with {counted(about.threads, 'thread')} each, on"
            f" {host.name} ({host.cpu})",
            "waiting and exchange were not measured: each rank ran alone",
        ]
        if ran < self.ranks:
            sentences.append(
                f"the other {self.ranks - ran} ranks take whole rows of those that ran, turned in"
                " time and scaled by their expected synaptic events, neurons and spikes"
            )
        if self.alone.spikes == "drawn":
            sentences.append(f"the spikes of other ranks were drawn; rates: {about.rates}")
        return [*sentences, *about.warnings]


def is_dry_run(folder: Path) -> bool:
    """True if a folder holds a dry run, with all of its ranks.

    Example:
        >>> is_dry_run(Path("tests/golden/analysis/records/aware-4"))  # all ranks ran
        False
    """
    return (Path(folder) / DRY_RUN_FILE).is_file()


def load_dry_run(folder: Path) -> DryRun:
    """The dry run in a folder. Raises BadInput naming the file and what is wrong.

    Example:
        >>> load_dry_run(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/dryrun.json: not found; `spikemark dryrun` ...
    """
    path = Path(folder)
    advice = "`spikemark dryrun` writes it once all of its ranks have run"
    content = read_object(path / DRY_RUN_FILE, advice)
    content["description"] = located(content.get("description"), path)
    about = checked(DryRunFile, content, path / DRY_RUN_FILE, "a dry run")
    sampled = [load_rank(path / EACH / str(sampled.rank)) for sampled in about.sampled]
    names = [WORK_OF[part] for part in COMPUTE_PARTS]
    table = read_table(path / WORK, dict.fromkeys(names, "float64"), names)
    work = table[names].to_numpy(np.float64)
    ranks = {len(work), *(rank.record.dry_run.of for rank in sampled)}
    if np.isnan(work).any() or ranks != {about.ranks}:
        expected = f"counts of {about.ranks} ranks, of which ranks/ has some"
        raise BadInput(
            f"expected {expected}",
            field="ranks",
            file=path / WORK,
        )
    return DryRun(path, about, sampled, work)
