"""Placements of the full brain and their traffic, computed once and kept in the results folder."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.network.description import read
from spikemark.network.placement_file import Placement
from spikemark.prediction.partition import graph, grouping, levels, library, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import mam, voxels
from spikemark.presets.options import choose
from spikemark.records.gather import Sweep

FILE = "partitions.json"
RANKS = (2000, 4000)
NEURONS_PER_RANK = 5_000_000
SEARCH_S, FULL_SEARCH_S = 60.0, 300.0  # of processor time, limits of the local search
GENETIC = ((1, None), (2, None), (3, None), (1, 5.0))  # seeds and limits; None: the published budget
POINTS = 100  # of a curve over ranks
#: Ways through two levels: side of the bridge, merged, and whether ranks are grouped by traffic.
WAYS = {
    "sender": ("sender", False, False),
    "sender, merged": ("sender", True, False),
    "receiver, merged": ("receiver", True, False),
    "sender, grouped": ("sender", False, True),
    "receiver, merged, grouped": ("receiver", True, True),
}
MULTI_AREA = "multi-area model"  # the preset mam at full size
#: Other brains at 2000 ranks: how much the numbers depend on what is assumed.
VARIANTS: dict[str, dict[str, Any]] = {
    "brain": {},
    "even": {"unevenness": 0},
    "uneven": {"unevenness": 0.5},
    "lambda 0.2": {"lambda_": 0.2},
    "lambda 1": {"lambda_": 1.0},
    "in-degree 556": {"indegree": 556},
    "in-degree 1000": {"indegree": 1000},
    "sheet": {"geometry": "sheet", "unevenness": 0, "size_cv": 0, "weight_sd": 0},
    MULTI_AREA: {},
}
SENSITIVE = ("random", "sequential", "space_filling", "largest_first")


@dataclass(frozen=True)
class Item:
    """One placement: of which brain, by which method; `limit_s` bounds the processor time of a search."""

    variant: str
    ranks: int
    method: str
    seed: int = 1
    limit_s: float | None = None

    @property
    def key(self) -> str:
        limit = "" if self.limit_s is None else f", {self.limit_s:g} s"
        return f"{self.variant}, {self.ranks} ranks, {self.method}, seed {self.seed}{limit}"

    @property
    def options(self) -> dict[str, Any]:
        """Options of the preset; 4000 ranks have twice the neurons of 2000."""
        if self.variant == MULTI_AREA:
            return {}
        return {**voxels.FULL, **VARIANTS[self.variant], "neurons": NEURONS_PER_RANK * self.ranks}

    @property
    def digest(self) -> str:
        """Changes with everything that the result depends on but the code."""
        chosen = choose(voxels.Options, self.options, False, {}).model_dump()
        text = json.dumps([chosen, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def drawn(self) -> graph.Graph:
        """The brain, drawn anew."""
        if self.variant == MULTI_AREA:
            return graph.of_description(read(mam.describe(full=True)))
        return graph.of_voxels(choose(voxels.Options, self.options, False, {}))


def items(full: bool = False) -> list[Item]:
    """All placements of the study, the cheap ones of each brain first; `full`: with long searches."""
    found = []
    for ranks in RANKS:
        found += [Item("brain", ranks, "random", seed) for seed in (1, 2, 3, 4, 5)]
        found += [Item("brain", ranks, m) for m in ("sequential", "space_filling", "largest_first")]
        found += [Item("brain", ranks, m) for m in ("greedy_swap", "greedy_affinity", "round_robin")]
        found += [Item("brain", ranks, "genetic", seed, limit_s) for seed, limit_s in GENETIC]
        searches = (SEARCH_S, FULL_SEARCH_S) if full else (SEARCH_S,)
        found += [Item("brain", ranks, "peak_search", 1, limit_s) for limit_s in searches]
        found += [Item("brain", ranks, "metis")]
    for variant in (v for v in VARIANTS if v != "brain"):
        curve = variant != MULTI_AREA  # it has no places
        found += [Item(variant, RANKS[0], m) for m in SENSITIVE if curve or m != "space_filling"]
    return found


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """What has been computed, by key; items whose options have changed since are left out."""
    path = folder / FILE
    if not path.is_file():
        return {}
    found = read_json(path)
    known = [i for i in items(full=True) if found.get(i.key, {}).get("digest") == i.digest]
    return {item.key: found[item.key] for item in known}


def compute(sweep: Sweep, full: bool = False) -> list[str]:
    """Computes what is missing, and says what cannot be; the next call goes on after an interruption."""
    return list(_compute(sweep.path, items(full)))


def _compute(folder: Path, wanted: list[Item]) -> Iterator[str]:
    found = load(folder)
    brain: tuple[str, graph.Graph] | None = None
    missing = [item for item in wanted if item.key not in found]
    missing.sort(key=lambda i: list(VARIANTS).index(i.variant))
    for number, item in enumerate(missing, 1):
        options = json.dumps(item.options)
        if brain is None or brain[0] != options:
            brain = None  # two do not fit side by side everywhere
            brain = options, item.drawn()
        print(f"partition-du: {number} of {len(missing)}: {item.key}", flush=True)
        kept = folder / f".{item.method}-{item.ranks}-{item.seed}.state"
        try:
            found[item.key] = result(item, brain[1], kept)
        except library.Absent as reason:  # optional: nothing went wrong
            print(f"left out: {item.key}: {reason}", flush=True)
            continue
        except BadInput as reason:
            yield f"{item.key}: {reason}"
            continue
        write_json(folder / FILE, found)
        kept.unlink(missing_ok=True)


def result(item: Item, brain: graph.Graph, kept: Path) -> dict[str, Any]:
    """Everything that the page needs of one placement; `kept` as in `divide`.

    Raises BadInput where a library is absent.
    """
    began = time.process_time()
    made = divide(
        brain, item.ranks, METHODS[item.method], item.seed,
        time_limit_s=item.limit_s, kept=kept, clock=time.process_time,
    )  # fmt: skip
    spent = time.process_time() - began
    hits = traffic.Hits(brain, made.placement)
    found = traffic.of_hits(hits, made.placement)
    partners = found.partners()
    content = asdict(item) | {
        "digest": item.digest,
        "processor_s": spent,
        "finished": made.finished,
        "uneven_size": traffic.unevenness(found.neurons),
        "peak": traffic.peak(found.sent),
        "mean": float(found.sent.mean()),
        "uneven": traffic.unevenness(found.sent),
        "peak_received": traffic.peak(found.received),
        "connections": float(partners.mean()),
        "connections_busy": float(found.partners(1.0).mean()),
        "partners": np.quantile(partners, np.linspace(0, 1, POINTS + 1)).tolist(),
        "sent": np.quantile(found.sent, np.linspace(0, 1, POINTS + 1)).tolist(),
    }
    if item.variant == "brain" and item.seed == 1:
        content["levels"] = _levels(brain, made.placement, hits, found)
    return content


def _levels(
    brain: graph.Graph, placement: Placement, hits: traffic.Hits, found: traffic.Traffic
) -> dict[str, dict[str, float]]:
    """Loads of two levels by way."""
    sizes = levels.most_equal(placement.ranks, 2)
    content = {}
    grouped = None
    for name, (side, merged, by_traffic) in WAYS.items():
        if by_traffic and (placement.over > 1).any():
            continue
        own, pairs = hits, found.pairs
        if by_traffic:
            if grouped is None:
                order = grouping.by_traffic(found.pairs, sizes[0])
                other = traffic.Hits(brain, grouping.renumbered(placement, order))
                grouped = other, other.between()
            own, pairs = grouped
        first, second = levels.loads(own, pairs, sizes, side, merged)
        total = levels.total([first, second])
        content[name] = {
            "peak": traffic.peak(second.forwarded),
            "mean": float(second.forwarded.mean()),
            "first_peak": traffic.peak(first.sent),
            "first_mean": float(first.sent.mean()),
            "total_peak": traffic.peak(total),
            "total_mean": float(total.mean()),
            "connections": float((first.partners + second.partners).mean()),
            "connections_most": float((first.partners + second.partners).max()),
        }
    return content
