"""What a dry run runs on this node, decided before anything is built."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.launch import available_cores
from spikemark.network.description import read
from spikemark.prediction import building, rates
from spikemark.prediction.loads import Loads
from spikemark.quantities.words import counted

from .sample import Sample, choose, filled, work

MEMINFO = Path("/proc/meminfo")


@dataclass(frozen=True)
class Plan:
    """The ranks to run, and their settings."""

    description: dict[str, Any]
    ranks: int
    threads: int
    side_by_side: int
    sample: Sample
    counts: np.ndarray  # [rank, part], sample.work
    memory: np.ndarray  # [rank], modelled bytes, at most while a rank is built
    rates: rates.Rates
    rate_hz: float | None
    seed: int
    cores: int

    @property
    def bound(self) -> bool:
        """True if every thread gets a core of its own."""
        return self.side_by_side * self.threads <= self.cores

    @property
    def warnings(self) -> list[str]:
        """Reasons why the times differ from those on a node of the machine."""
        found = []
        if not self.bound:
            asked = f"{counted(self.side_by_side, 'rank')} with {counted(self.threads, 'thread')} each"
            found.append(f"oversubscribed: {asked} share {counted(self.cores, 'core')}; times are too long")
        return found

    def waves(self, missing: list[int]) -> list[list[int]]:
        """The ranks that are started together."""
        n = self.side_by_side
        return [missing[first : first + n] for first in range(0, len(missing), n)]


def plan(
    description: dict[str, Any],
    ranks: int,
    threads: int = 1,
    side_by_side: int = 1,
    sample: int | None = None,
    seed: int = 1,
    rate_hz: float | None = None,
) -> Plan:
    """What a dry run does. `sample`: ranks to run, more where the last group has room; None: one group.

    Raises BadInput for a description that cannot be run so, unknown or useless rates, more ranks than there
    are, and for groups that do not fit into the memory that is free.
    """
    known = read(description)
    if not (description.get("record") or {}).get("cycles", True):
        raise BadInput("record.cycles=false: a dry run is about cycle times; allowed: true")
    exact = all(p.neuron.model == "ignore_and_fire" for p in known.network.populations)
    if exact and rate_hz is not None:
        raise BadInput(f"rate={rate_hz:g}: all spikes are known exactly; allowed only for other neurons")
    if side_by_side > ranks:
        raise BadInput(f"ranks_here={side_by_side}; allowed: 1 to {ranks}, the ranks of --of")
    found = rates.of(description, rate_hz)
    loads = Loads.of(known, ranks, threads, found.hz)
    counts = work(loads)
    asked = side_by_side if sample is None else sample
    if asked <= ranks:
        asked = filled(asked, side_by_side, ranks)
    chosen = choose(counts, asked, seed)
    made = Plan(
        description, ranks, threads, side_by_side, chosen, counts, building.bytes_at_most(loads), found,
        None if exact else rate_hz, seed, available_cores(),
    )  # fmt: skip
    _check_memory(made)
    return made


def _check_memory(wanted: Plan) -> None:
    """Raises BadInput for a group that does not fit, before anything is built."""
    free = _free_bytes()
    if free is None:
        return
    each = float(wanted.memory[wanted.sample.ranks].max())
    if wanted.side_by_side * each > free:
        fit = int(free // each)
        allowed = f"up to {fit}" if fit else f"none; a rank needs {1e-9 * each:.3g} GB"
        raise BadInput(
            f"ranks_here={wanted.side_by_side}: {1e-9 * wanted.side_by_side * each:.3g} GB are needed,"
            f" {1e-9 * free:.3g} GB are free; allowed: {allowed}"
        )


def _free_bytes() -> int | None:
    """Memory that can still be used on this node; None where the system does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in MEMINFO.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    return None
