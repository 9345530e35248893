"""A parametric brain of voxels in the spirit of Du et al. (2022), without licensed data.

Voxels lie in a ball, or on a flat sheet without border, and are sorted by region. A pair of voxels is kept
with a probability that falls as exp(-distance / lambda); `connected` of all pairs are kept. A neuron of
voxel t draws a source outside t from voxel v with the probability

    p(t <- v) ~ size(v) hub(v) exp(-distance / lambda) lognormal(weight_sd)   over the kept pairs.

`hub` is lognormal with the coefficient of variation `unevenness`; it makes some voxels speak to many others.
No measured connectivity is used. Distances are in radii of the ball, or in half widths of the sheet.

A small brain is a run description. A large one is a coarse graph: the file holds the options, and
`spikemark partition` draws the graph from them, the same one each time.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked

from .options import RunOptions, choose, option

SUMMARY = "voxels in regions with uneven, local connectivity, as a network to run or as a coarse graph"
KIND = "voxel graph"
# Du et al.: 1e10 neurons on 2000 GPUs, 22 603 voxels, about 3 % of pairs, in-degree 100. The others are
# tuned: lambda_ for 1552 partners of a rank, unevenness for a random peak 1.45 times the balanced one.
FULL = {"form": "graph", "voxels": 22_603, "neurons": 10_000_000_000, "connected": 0.03, "regions": 378}
MOST_RUN, MOST_PAIRS, LEAST_MEAN = 1_000_000, 100_000, 1e-4

EXCITATORY = 0.8  # share of a voxel's neurons, E:I 4:1; only they project to other voxels
#: Shares of a neuron's synapses from E and I of its own voxel; the rest is from E of others (Du et al.).
LOCAL_E, LOCAL_I = 4 / 7, 1 / 7
BLOCK, SCALINGS = 256, 3  # target voxels at a time; scalings of chances to their sum


@dataclass(frozen=True)
class Voxels:
    """V voxels, numbered region by region."""

    places: np.ndarray  # [V, 3]
    region: np.ndarray  # [V]
    excitatory: np.ndarray  # [V] neurons
    inhibitory: np.ndarray  # [V] neurons
    sources: sparse.csr_array  # [V target, V source] p(t <- v); each row sums to 1, or is empty


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop. `full` is the brain of Du et al. as a graph."""

    published: ClassVar = FULL

    form: Literal["run", "graph"] = option("run", "a run description, or a coarse graph for partition")
    voxels: int = option(64, "number of voxels", ge=1, le=100_000)
    neurons: int = option(20_000, "neurons of all voxels", ge=4, le=10**12)
    indegree: int = option(100, "synapses per neuron", ge=7, le=100_000)
    geometry: Literal["ball", "sheet"] = option("ball", "where voxels lie")
    regions: int = option(8, "regions; voxels are sorted by them", ge=1, le=10_000)
    connected: float = option(0.25, "share of the other voxels that a voxel gets input from", gt=0, le=1)
    lambda_: float = option(0.31, "distance over which connections fall by e, in radii", ge=1e-6, le=1e6)
    weight_sd: float = option(1.5, "SD of the logarithms of the weights of pairs of voxels", ge=0, le=5)
    unevenness: float = option(0.2, "CV of how strongly voxels project to others", ge=0, le=10)
    size_cv: float = option(0.2, "CV of the voxels' neurons", ge=0, le=10)
    rate: float = option(2.5, "mean rate, spikes/s", ge=0, le=1e6)
    delay_ms: float = option(2.0, "delay between voxels, ms", ge=1, le=1000)

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        pairs, run = round(self.voxels * self.connected * self.voxels), self.form == "run"
        few = f"at most {MOST_PAIRS} connected pairs (these are {pairs}), or form=graph"
        self.expect(
            (self.neurons >= 4 * self.voxels, "neurons", f"at least {4 * self.voxels}, four for each voxel"),
            (not run or self.neurons <= MOST_RUN, "neurons", f"at most {MOST_RUN}, or form=graph"),
            (not run or pairs <= MOST_PAIRS, "voxels", few),
        )
        return self

    def description(self) -> dict:
        """The run description, or the coarse graph (docs/placement.md), which `of_file` reads."""
        if self.form == "graph":
            return {"kind": KIND, "format_version": 1, "options": self.model_dump(exclude_none=True)}
        voxels, (from_e, from_i) = self.drawn(), self.local
        near, far = ({"distribution": "constant", "mean": mean} for mean in (1.0, self.delay_ms))
        neuron = {"model": "ignore_and_fire", "rate_hz": self.rate}
        populations, projections = [], []
        for number in range(self.voxels):
            name, row = f"voxel{number}", voxels.sources[[number]]
            means = row.data.astype(float) * (self.indegree - from_e - from_i)
            for kind, size in (("E", voxels.excitatory[number]), ("I", voxels.inhibitory[number])):
                target = name + kind
                populations.append({"name": target, "area": name, "size": int(size), "neuron": neuron})
                projections += [
                    {"source": f"{name}E", "target": target, "indegree": from_e, "delay": near},
                    {"source": f"{name}I", "target": target, "indegree": from_i, "weight": -4, "delay": near},
                ]
                for v, mean in sorted(zip(row.indices, map(float, means), strict=True)):
                    indegree = {"mean": round(mean, 9), "distribution": "poisson"}
                    others = {"source": f"voxel{v}E", "target": target, "indegree": indegree, "delay": far}
                    projections += [others] * (mean >= LEAST_MEAN)
        return self.run(populations, projections)

    @property
    def local(self) -> tuple[int, int]:
        """Synapses of a neuron from E and from I of its own voxel."""
        return round(LOCAL_E * self.indegree), round(LOCAL_I * self.indegree)

    def drawn(self) -> Voxels:
        """The brain that the options and the seed give."""
        rng = np.random.Generator(np.random.SFC64(self.seed))
        places, region = self._places(rng)
        sizes = _lognormal(rng, self.voxels, self.size_cv)  # then whole numbers, at least 2
        ends = np.rint(np.cumsum(sizes) / sizes.sum() * (self.neurons - 2 * self.voxels)).astype(np.int64)
        sizes = 2 + np.diff(ends, prepend=0)
        inhibitory = np.maximum(1, np.rint((1 - EXCITATORY) * sizes)).astype(np.int64)
        strength = (sizes - inhibitory) * _lognormal(rng, self.voxels, self.unevenness)
        sources = self._pairs(rng, places, strength)
        return Voxels(places, region, sizes - inhibitory, inhibitory, sources)

    def _places(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Places of the voxels and their regions: each voxel belongs to the nearest of random centres.

        Regions are numbered along a line through the brain; so are the voxels within each.
        """

        def scattered(n: int) -> np.ndarray:
            if self.geometry == "sheet":
                return np.c_[rng.uniform(-1, 1, (n, 2)), np.zeros(n)]
            directions = rng.normal(size=(n, 3))
            directions /= np.linalg.norm(directions, axis=1)[:, np.newaxis]
            return directions * rng.uniform(size=n)[:, np.newaxis] ** (1 / 3)

        centres, places = scattered(self.regions), scattered(self.voxels)
        centres = centres[np.argsort(centres[:, 0])]
        apart = (centres**2).sum(axis=1) - 2 * places @ centres.T  # plus what is the same for all centres
        region = apart.argmin(axis=1)
        order = np.lexsort((places[:, 0], region))
        return places[order], region[order]

    def _pairs(self, rng: np.random.Generator, places: np.ndarray, strength: np.ndarray) -> sparse.csr_array:
        """p(t <- v) of the kept pairs, [target, source], blocks of targets side by side."""
        count = self.voxels
        wanted = np.float32(min(self.connected * count, count - 1))
        at = places.astype(np.float32)
        seeds = rng.integers(2**63, size=-(-count // BLOCK))

        def over(chances: np.ndarray) -> np.ndarray:
            """`wanted` over the sums of the targets; 0 for those that no other voxel reaches."""
            sums = chances.sum(axis=1, keepdims=True)
            return np.divide(wanted, sums, out=np.zeros_like(sums), where=sums > 0)

        def block(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """Sources, weights, and how many of them each target of the block has."""
            own = np.random.Generator(np.random.SFC64(seeds[number]))
            first, last = number * BLOCK, min((number + 1) * BLOCK, count)
            near = _distances(at[first:last], at, self.geometry == "sheet")
            near /= -np.float32(self.lambda_)
            np.exp(near, out=near)
            near[np.arange(last - first), np.arange(first, last)] = 0
            chance = near * over(near)
            for _ in range(SCALINGS):  # pairs that are kept for sure leave more to the others
                np.minimum(chance, 1, out=chance)
                chance *= over(chance)
            kept = np.flatnonzero(own.random(near.shape, dtype=np.float32) < chance)
            rows, columns = np.divmod(kept, count)
            weights = strength[columns] * near.ravel()[kept]
            weights *= np.exp(self.weight_sd * own.standard_normal(len(rows)))
            sums = np.bincount(rows, weights, last - first)[rows]
            weights = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)  # 0: underflow
            counts = np.bincount(rows, minlength=last - first)
            return columns.astype(np.int32), weights.astype(np.float32), counts

        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
            indices, data, counts = zip(*threads.map(block, range(len(seeds))), strict=True)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
        return sparse.csr_array((np.concatenate(data), np.concatenate(indices), starts), shape=(count, count))


def _lognormal(rng: np.random.Generator, count: int, cv: float) -> np.ndarray:
    """[count] lognormal numbers with mean 1 and the coefficient of variation `cv`."""
    variance = np.log1p(cv**2)
    return np.exp(rng.normal(-variance / 2, np.sqrt(variance), count))


def _distances(of: np.ndarray, to: np.ndarray, wraps: bool) -> np.ndarray:
    """[of, to]; on a sheet that wraps, the shortest way."""
    if wraps:
        along = (np.abs(of[:, axis, np.newaxis] - to[:, axis]) for axis in (0, 1))
        return np.sqrt(sum(np.minimum(x, 2 - x) ** 2 for x in along))
    squares = (of**2).sum(axis=1)[:, np.newaxis] + (to**2).sum(axis=1) - 2 * of @ to.T
    return np.sqrt(np.maximum(squares, 0))


describe = Options.describe


class _File(BaseModel):
    """A coarse graph as `Options.description` writes it."""

    model_config = ConfigDict(extra="forbid", strict=True)
    kind: Literal["voxel graph"]
    format_version: Annotated[int, Field(ge=1, le=1)]
    options: dict[str, Any]


def of_file(given: dict[str, Any], path: Path) -> Options:
    """The options of a coarse graph. Raises BadInput naming file and field."""
    file = checked(_File, given, path, "file")
    try:
        return choose(Options, file.options)
    except BadInput as error:
        raise BadInput(f"{path}: options: {error}") from None
