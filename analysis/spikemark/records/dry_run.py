"""The folder of a dry run: some ranks of a machine, each run alone by one process on one node.

dryrun.json     what was run, which ranks, what was measured, and why the rest is null
cycles.npy      float32 [row, cycle, phase] in s, one row for each sampled rank; NaN for what others cause
ranks.csv       one line for each row, with the columns of a run
work.csv        what every rank of the machine has to do in a cycle, as expected counts, one line per rank
run.json        the description, as it was given, and placement.json, the placement file that it names
ranks/NUMBER/   the record of that rank, as the mini-app wrote it (`miniapp --as-rank r --of R`)
failed.log      what a rank said that failed, until the same command succeeds
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.models import resampling
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.network.named_files import located

from .arrays import map_array, npy_bytes, read_table
from .phases import COMPUTE, HELD, PARTS, THREADS
from .record import COLUMNS, DRY_RUN, map_cycles, read_content
from .record_fields import About, DryRecord
from .run_files import CYCLES, PLACEMENT, RANKS, RECORD

ABOUT, WORK, RUN, EACH, FAILED = "dryrun.json", "work.csv", "run.json", "ranks", "failed.log"
PAGE = "report.html"  # written by `spikemark report`
FILES = ABOUT, WORK, RUN, EACH, FAILED, PAGE, CYCLES, RANKS, PLACEMENT
#: Columns of work.csv, by the part of a cycle that they determine; threads wait longer the more is delivered.
WORK_OF = {
    "deliver": "synaptic_events", "update": "neurons", THREADS: "synaptic_events", "collocate": "spikes_sent",
}  # fmt: skip
ALONE = "each rank ran alone, so nobody waited for it and no message was sent"
LEAST_BESIDE = 0.8  # share of the time with all neighbours below which a rank is warned of


@dataclass(frozen=True)
class DryRank:
    """One rank that ran alone: `row` is its line of ranks.csv, `cycles` float32 [cycle, phase] in s."""

    path: Path
    record: DryRecord
    row: dict[str, Any]
    cycles: np.ndarray

    @property
    def rank(self) -> int:
        return self.record.dry_run.rank

    @property
    def span(self) -> tuple[float, float] | None:
        """When its measured part began and ended, Unix time in s; None where the record does not say."""
        timing = self.record.timing
        ends = timing.simulate_started_s, timing.simulate_ended_s
        return None if None in ends else ends


def load_rank(folder: Path) -> DryRank:
    """The record of one rank. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    record = checked(DryRecord, read_content(path), path / RECORD, "a dry run of a rank")
    alone = record.dry_run
    if record.ranks != alone.of or alone.rank >= record.ranks:
        raise BadInput(
            f"{path / RECORD}: dry_run.rank={alone.rank}, dry_run.of={alone.of}; expected ranks below"
            f" ranks={record.ranks}, and as many"
        )
    table = _ranks(path / RANKS, COLUMNS, ["rank"], [alone.rank])
    row = {name: None if pd.isna(value) else value for name, value in table.iloc[0].items()}
    return DryRank(path, record, row, map_cycles(path, record, 1)[0])


def _ranks(path: Path, dtypes: dict[str, str], needed: list[str], ranks: Iterable[int]) -> pd.DataFrame:
    """A table with a line for each of these ranks, in order."""
    table = read_table(path, dtypes, needed)
    if table["rank"].tolist() != (expected := list(ranks)):
        raise BadInput(
            f"{path}: {len(table)} lines, rank={table['rank'].tolist()[:9]}; expected {len(expected)},"
            f" {expected[:9]}"
        )
    return table


@dataclass(frozen=True)
class DryRun:
    """Times in seconds; `rows` are the sampled ranks, in ascending order.

    `cycles`: float32 [row, cycle, phase]. `table`: ranks.csv. `work`: float64 [rank, part of COMPUTE].
    """

    path: Path
    about: About
    cycles: np.ndarray
    table: pd.DataFrame
    work: np.ndarray

    @property
    def ranks(self) -> int:
        """R, the ranks of the machine."""
        return self.about.ranks

    @property
    def mixed(self) -> bool:
        """True if times of delivery and update hold the waiting of threads, as before format 2 of records."""
        return self.about.threads > 1 and THREADS not in self.about.phases

    @property
    def title(self) -> str:
        """The name of its network, for tables."""
        return f"the network of {self.path}"

    @cached_property
    def timed(self) -> np.ndarray:
        """The ranks that ran, [row]."""
        return np.array([one.rank for one in self.about.sampled])

    @cached_property
    def rows(self) -> np.ndarray:
        """Times of the parts of COMPUTE, float32 [row, cycle, part]; injected waits count as update."""
        phases = self.about.phases
        parts = [[phases.index(name) for name in PARTS[part] if name in phases] for part in COMPUTE]
        found = np.stack([self.cycles[:, :, part].sum(axis=-1) for part in parts], axis=-1)
        if not np.all(found >= 0):  # also false for NaN
            raise BadInput(f"{self.path / CYCLES}: a compute time is missing or negative; expected >= 0")
        return found

    @cached_property
    def _means(self) -> np.ndarray:
        return self.rows.mean(axis=1, dtype=np.float64)

    @cached_property
    def doubt(self) -> float | None:
        """Half of the 95 % interval of the mean compute time that comes from sampling, over that mean."""
        return resampling.doubt(self._means, self.timed, self.work)

    @cached_property
    def doubts(self) -> np.ndarray | None:
        """The same of each part of COMPUTE, over the mean time of that part, [part]."""
        return resampling.doubts(self._means, self.timed, self.work)

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

    def times(
        self, seed: int | None = None, pool: Sequence[int] | None = None, cycles: int | None = None
    ) -> np.ndarray:
        """Times of all R ranks, float32 [rank, cycle, part]; those that did not run are resampled.

        `pool`: the rows to draw from, instead of all. `cycles`: only so many. Raises BadInput for more times
        than fit into memory.
        """
        rows = self.rows[:, :cycles]
        memory.check(self.ranks * rows[0].nbytes, f"{self.path}: the times of {self.ranks} ranks")
        return resampling.resampled(rows, self.timed, self.work, self._donors(seed, pool, rows.shape[1]))

    def means(self) -> np.ndarray:
        """Mean times of all R ranks, float64 [rank, part] in s, as `times` has them."""
        row = self._donors().row
        return self._means[row] * resampling.factors(self.work, self.timed, row)

    @property
    def times_of(self) -> list[int]:
        """The rank whose times each rank has in `times`, [rank]."""
        return self.timed[self._donors().row].tolist()

    def _donors(self, seed: int | None = None, pool=None, cycles: int | None = None) -> resampling.Donors:
        rng = np.random.default_rng(self.about.seed if seed is None else seed)
        return resampling.donors(self.timed, self.ranks, cycles or self.rows.shape[1], rng, pool)

    @property
    def content(self) -> dict[str, Any]:
        """What other outputs say of it, for JSON."""
        about = self.about
        known = {name: getattr(about, name) for name in ("threads", "ranks_here", "host", "spikes")}
        measured = {"measured": [*COMPUTE], "not_measured": ["waiting", "exchange"]}
        return {"folder": str(self.path), "of": self.ranks, "sampled": self.timed.tolist()} | known | measured

    @property
    def warnings(self) -> list[str]:
        """Reasons why the times differ from those on a node of the machine."""
        sampled = self.about.sampled
        alone = [str(one.rank) for one in sampled if one.beside is not None and one.beside < LEAST_BESIDE]
        apart = f"neighbours of rank {', '.join(alone)} were not at work all the time: its times may be too"
        return [*self.about.warnings, *([f"{apart} short"] if alone else [])]

    @property
    def remarks(self) -> list[str]:
        """Assumptions behind everything that is computed from these times."""
        about, rows = self.about, len(self.timed)
        threads = f"{about.threads} thread{'s' * (about.threads > 1)}"
        others = (
            f"the other {self.ranks - rows} ranks take whole rows of those that ran, turned in time and"
            " scaled by their expected synaptic events, neurons and spikes"
        )
        said = {
            f"computing was measured by a dry run of {rows} of {self.ranks} ranks, {about.ranks_here} side by"
            f" side with {threads} each, on {about.host.get('name')} ({about.host.get('cpu')})": True,
            f"waiting and exchange were not measured: {ALONE}": True,
            others: rows < self.ranks,
            f"waiting of threads was {HELD}": self.mixed,
            f"the spikes of other ranks were drawn; rates: {about.rates}": about.spikes == "drawn",
        }
        return [*(text for text, holds in said.items() if holds), *self.warnings]


def is_dry_run(folder: Path) -> bool:
    """True if a folder holds a dry run, with all of its ranks."""
    return (Path(folder) / ABOUT).is_file()


def load(folder: Path) -> DryRun:
    """The dry run in a folder. Raises BadInput naming the file and what is wrong."""
    path = Path(folder)
    content = read_json(path / ABOUT, "`spikemark dryrun` writes it once all of its ranks have run")
    if isinstance(content, dict):
        content = content | {"description": located(content.get("description"), path)}
    about = checked(About, content, path / ABOUT, "a dry run")
    ran = [one.rank for one in about.sampled]
    if ran != sorted(set(ran)) or ran[-1] >= about.ranks:
        raise BadInput(f"{path / ABOUT}: sampled={ran}; expected ranks below {about.ranks}, ascending")
    cycles = map_array(path / CYCLES, np.float32, (len(ran), about.cycles, len(about.phases)), ABOUT)
    real = dict.fromkeys((*COLUMNS, *WORK_OF.values()), "float64") | {"rank": "int64"}
    table = _ranks(path / RANKS, real, ["rank"], ran)
    work = _ranks(path / WORK, real, ["rank", *WORK_OF.values()], range(about.ranks))
    counts = work[[WORK_OF[part] for part in COMPUTE]].to_numpy(np.float64)
    if np.isnan(counts).any():
        raise BadInput(f"{path / WORK}: a count is missing; expected numbers >= 0")
    return DryRun(path, about, cycles, table, counts)


def save(out: Path, about: dict[str, Any], ranks: list[DryRank], work: np.ndarray) -> DryRun:
    """Writes the folder `out` from the ranks that ran, ascending; ABOUT comes last and tells it is whole."""
    write_atomically(out / CYCLES, npy_bytes(np.stack([rank.cycles for rank in ranks])))
    write_atomically(out / RANKS, pd.DataFrame([rank.row for rank in ranks]).to_csv(index=False))
    table = pd.DataFrame({WORK_OF[part]: counts for part, counts in zip(COMPUTE, work.T, strict=True)})
    table.insert(0, "rank", np.arange(len(work)))
    write_atomically(out / WORK, table.to_csv(index=False))
    write_json(out / ABOUT, {"format_version": 1, "kind": DRY_RUN, **about})
    return load(out)
