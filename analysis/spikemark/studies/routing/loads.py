"""Words that ranks send in levels: a brain on many ranks, computed once and kept in the results folder."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.prediction.partition import graph, levels, routed, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import voxels
from spikemark.presets.options import choose

FILE = "loads.json"
RANKS = (256, 512, 1000, 2000, 4000, 8000, 16000)
MOST_QUICK = 4000  # ranks; more of them only at full size
NEURONS_PER_RANK = 5_000_000
SCATTERED, NEAR = "largest_first", "space_filling"  # balanced without locality, and neighbours together
INDEGREE, INDEGREES, ABLATED = 100, (100, 556, 1000), 2000  # the others on so many ranks only
MOST_LEVELS = 4
GROUPS = (1 / 4, 1 / 2, 2, 4)  # sizes of groups over the best one


@dataclass(frozen=True)
class Way:
    """How spikes travel; one size is one level: directly."""

    sizes: tuple[int, ...]
    side: str = "sender"
    merged: bool = False

    @property
    def words(self) -> str:
        if len(self.sizes) == 1:
            return "direct"
        return f"{'x'.join(map(str, self.sizes))}, {self.side}{', merged' if self.merged else ''}"


@dataclass(frozen=True)
class Item:
    """One placed brain."""

    ranks: int
    method: str = SCATTERED
    indegree: int = INDEGREE

    @property
    def key(self) -> str:
        return f"{self.ranks} ranks, {self.method}, in-degree {self.indegree}"

    @property
    def options(self) -> dict[str, Any]:
        return {**voxels.FULL, "neurons": NEURONS_PER_RANK * self.ranks, "indegree": self.indegree}

    @property
    def digest(self) -> str:
        """Changes with everything that the result depends on but the code."""
        chosen = choose(voxels.Options, self.options, False, {}).model_dump()
        text = json.dumps([chosen, asdict(self), [asdict(way) for way in self.ways]], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def ways(self) -> list[Way]:
        """Levels 1 to 4 with both sides, merged and not, and groups around the best size of two levels."""
        found = [Way((self.ranks,))]
        for count in range(2, MOST_LEVELS + 1):
            sizes = levels.most_equal(self.ranks, count)
            found += [Way(sizes, side, merged) for side in levels.SIDES for merged in (False, True)]
        return list(dict.fromkeys([*found, *(Way(sizes) for sizes in group_sizes(self.ranks))]))


def group_sizes(ranks: int) -> list[tuple[int, int]]:
    """Two levels with the divisors of `ranks` that are next to the best group times GROUPS."""
    divisors = [d for d in range(2, ranks) if ranks % d == 0]
    best = levels.best_group(ranks)
    near = [min(divisors, key=lambda d, f=f: abs(np.log(d / (f * best)))) for f in GROUPS]
    return [(d, ranks // d) for d in dict.fromkeys(near)]


def items(full: bool = False) -> list[Item]:
    """All brains of the study, the small ones first, and each brain side by side; `full`: on any ranks."""
    found = []
    for ranks in (n for n in RANKS if full or n <= MOST_QUICK):
        degrees = INDEGREES if ranks == ABLATED else (INDEGREE,)
        found += [Item(ranks, method, degree) for degree in degrees for method in (SCATTERED, NEAR)]
    return found


@dataclass(frozen=True, eq=False)
class Placed:
    """A brain on ranks. `words` are those that a route carries in a cycle; `sums` are of each way."""

    item: Item
    words: float
    cycle_ms: float
    peak: float  # largest number of routes that begin on a rank
    mean: float
    sums: dict[Way, list[routed.Sums]]
    forwarded: dict[Way, float]  # most routes that a rank sends on for others in the last hop

    def bytes(self, cycles: float) -> float:
        """Bytes that the busiest rank has to send in a window, whatever the way."""
        return traffic.WORD * self.words * cycles * self.peak


def load(folder: Path) -> dict[Item, Placed]:
    """What has been computed; brains whose options have changed since are left out."""
    path = folder / FILE
    found = read_json(path) if path.is_file() else {}
    return {
        i: _placed(i, found[i.key])
        for i in items(full=True)
        if found.get(i.key, {}).get("digest") == i.digest
    }


def _placed(item: Item, kept: dict[str, Any]) -> Placed:
    sums, forwarded = {}, {}
    for way in item.ways:
        own = kept["ways"][way.words]
        sums[way] = [routed.Sums(**hop) for hop in own["hops"]]
        forwarded[way] = own["forwarded"]
    return Placed(item, kept["words"], kept["cycle_ms"], kept["peak"], kept["mean"], sums, forwarded)


def compute(folder: Path, full: bool = False) -> Iterator[str]:
    """Compute what is missing, and yield what cannot be; the next call goes on after an interruption."""
    path = folder / FILE
    known = load(folder)
    found = read_json(path) if path.is_file() else {}
    missing = [item for item in items(full) if item not in known]
    for number, item in enumerate(missing, 1):
        print(f"routing: {number} of {len(missing)} brains: {item.key}", flush=True)
        try:
            found[item.key] = result(item)
        except BadInput as reason:
            yield f"{item.key}: {reason}"
            continue
        write_json(path, found)


@lru_cache(maxsize=1)  # two do not fit side by side everywhere
def _brain(ranks: int, indegree: int) -> graph.Graph:
    options = Item(ranks, indegree=indegree).options
    return graph.of_voxels(choose(voxels.Options, options, False, {}))


def drawn(item: Item) -> tuple[graph.Graph, traffic.Hits]:
    """The brain and its placement. Raises BadInput where memory is too small."""
    brain = _brain(item.ranks, item.indegree)
    return brain, traffic.Hits(brain, divide(brain, item.ranks, METHODS[item.method]).placement)


def result(item: Item) -> dict[str, Any]:
    """The loads of all ways. Raises BadInput where memory is too small."""
    began = time.process_time()
    brain, hits = drawn(item)
    pairs = hits.links()
    sent = np.asarray(pairs.sum(axis=1)).ravel()
    ways = {}
    for way in item.ways:
        found = levels.loads(hits, pairs, way.sizes, way.side, way.merged)
        hops = [asdict(routed.Sums.of(level)) for level in found]
        ways[way.words] = {"hops": hops, "forwarded": float(found[-1].forwarded.max())}
    return {
        "digest": item.digest,
        "processor_s": time.process_time() - began,
        "words": float(1e-3 * brain.cycle_ms * brain.rates_hz[0]),
        "cycle_ms": brain.cycle_ms,
        "peak": float(sent.max()),
        "mean": float(sent.mean()),
        "ways": ways,
    }
