"""The folder of a dry run: some ranks of a machine, each run alone by one process on one node.

dryrun.json     what was run, and which ranks
work.csv        what every rank of the machine has to do in a cycle, as expected counts, one line per rank
run.json        the description, as it was given, and placement.json, the placement file that it names
ranks/NUMBER/   the record of that rank, as the mini-app wrote it (`miniapp --as-rank r --of R`)
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
from spikemark.network.description import read
from spikemark.network.named_files import located
from spikemark.quantities.words import counted

from .arrays import check_possible, read_object, read_table
from .phases import COMPUTE, PARTS, THREADS
from .record import COLUMNS, map_cycles, read_content
from .record_fields import About, DryRecord
from .run_files import PLACEMENT, RANKS, RECORD

ABOUT, WORK, RUN, EACH = "dryrun.json", "work.csv", "run.json", "ranks"
PAGE = "report.html"  # written by `spikemark report`
FILES = ABOUT, WORK, RUN, EACH, PAGE, PLACEMENT
#: Columns of work.csv, by the part of a cycle that they determine; threads wait longer the more is delivered.
WORK_OF = {
    "deliver": "synaptic_events", "update": "neurons", THREADS: "synaptic_events", "collocate": "spikes_sent",
}  # fmt: skip


@dataclass(frozen=True)
class DryRank:
    """One rank that ran alone: `counts` is its line of ranks.csv.

    `times`: float32 [cycle, part of COMPUTE] in s; injected waits count as update.
    """

    record: DryRecord
    counts: dict[str, Any]
    times: np.ndarray


def load_rank(folder: Path) -> DryRank:
    """The record of one rank. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    record = checked(DryRecord, read_content(path), path / RECORD, "a dry run of a rank")
    alone, table = record.dry_run, read_table(path / RANKS, COLUMNS, ["rank"])
    if table["rank"].tolist() != [alone.rank]:
        raise BadInput(f"{path / RANKS}: rank={table['rank'].tolist()}; expected [{alone.rank}]")
    cycles = map_cycles(path, record, 1)[0]
    held = [[name in PARTS[part] for name in record.phases] for part in COMPUTE]
    times = np.stack([cycles[:, own].sum(axis=-1) for own in held], axis=-1)
    check_possible(times[None, :, :].sum(axis=-1), "compute", f"{path}: ")
    return DryRank(record, table.iloc[0].dropna().to_dict(), times)


@dataclass(frozen=True)
class DryRun:
    """`sampled`: the ranks that ran, in ascending order. `work`: float64 [rank, part of COMPUTE]."""

    path: Path
    about: About
    sampled: list[DryRank]
    work: np.ndarray

    @property
    def ranks(self) -> int:
        """R, the ranks of the machine."""
        return self.about.ranks

    @property
    def alone(self) -> Any:
        """What the record of the first rank says of its spikes."""
        return self.sampled[0].record.dry_run

    @cached_property
    def timed(self) -> np.ndarray:
        """The ranks that ran, [row]."""
        return np.array([one.rank for one in self.about.sampled])

    @cached_property
    def rows(self) -> np.ndarray:
        """Times of the ranks that ran, float32 [row, cycle, part of COMPUTE] in s."""
        return np.stack([one.times for one in self.sampled])

    @cached_property
    def doubt(self) -> float | None:
        """Half of the 95 % interval of the mean compute time that comes from sampling, over that mean."""
        return resampling.doubt(self.rows.mean(axis=1, dtype=np.float64), self.timed, self.work)

    @property
    def meets_every(self) -> int:
        """Cycles from one meeting at a barrier to the next; 1 where no rank meets another.

        Raises BadInput for a schedule with a lag.
        """
        description = read(self.about.description)
        schedule, placement = lanes.chosen(description, None, None)
        shared = [lane for lane in lanes.read(description, self.ranks, schedule, placement) if not lane.alone]
        if any(lane.lag for lane in shared):
            raise BadInput(
                f"{self.path}: a dry run of a schedule with a lag, whose ranks meet at no barrier; expected a"
                " schedule without"
            )
        return min((lane.period for lane in shared), default=1)

    @cached_property
    def _donors(self) -> resampling.Donors:
        rng = np.random.default_rng(self.about.seed)
        return resampling.donors(self.timed, self.ranks, self.rows.shape[1], rng)

    def times(self) -> np.ndarray:
        """Times of all R ranks, float32 [rank, cycle, part] in s; those that did not run are resampled.

        Raises BadInput for more times than fit into memory.
        """
        memory.check(self.ranks * self.rows[0].nbytes, f"{self.path}: the times of {self.ranks} ranks")
        return resampling.resampled(self.rows, self.timed, self.work, self._donors)

    def means(self) -> np.ndarray:
        """Mean times of all R ranks, float64 [rank, part] in s, as `times` has them."""
        row = self._donors.row
        means = self.rows.mean(axis=1, dtype=np.float64)
        return means[row] * resampling.factors(self.work, self.timed, row)

    @property
    def remarks(self) -> list[str]:
        """Assumptions behind everything that is computed from these times."""
        about, rows, host = self.about, len(self.timed), self.sampled[0].record.host
        found = [
            f"computing was measured by a dry run of {rows} of {self.ranks} ranks, {about.ranks_here} side by"
            f" side with {counted(about.threads, 'thread')} each, on {host.name} ({host.cpu})",
            "waiting and exchange were not measured: each rank ran alone",
        ]
        if rows < self.ranks:
            found.append(
                f"the other {self.ranks - rows} ranks take whole rows of those that ran, turned in time and"
                " scaled by their expected synaptic events, neurons and spikes"
            )
        if self.alone.spikes == "drawn":
            found.append(f"the spikes of other ranks were drawn; rates: {about.rates}")
        return [*found, *about.warnings]


def is_dry_run(folder: Path) -> bool:
    """True if a folder holds a dry run, with all of its ranks."""
    return (Path(folder) / ABOUT).is_file()


def load(folder: Path) -> DryRun:
    """The dry run in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    content = read_object(path / ABOUT, "`spikemark dryrun` writes it once all of its ranks have run")
    content["description"] = located(content.get("description"), path)
    about = checked(About, content, path / ABOUT, "a dry run")
    sampled = [load_rank(path / EACH / str(one.rank)) for one in about.sampled]
    names = [WORK_OF[part] for part in COMPUTE]
    work = read_table(path / WORK, dict.fromkeys(names, "float64"), names)[names].to_numpy(np.float64)
    if np.isnan(work).any() or {len(work)} | {one.record.dry_run.of for one in sampled} != {about.ranks}:
        raise BadInput(f"{path / WORK}: expected counts of {about.ranks} ranks, of which ranks/ has some")
    return DryRun(path, about, sampled, work)
