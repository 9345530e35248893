"""A parametric brain of voxels in the spirit of Du et al. (2022), without licensed data.

Voxels lie in a ball, or on a flat sheet without border, and are sorted by region. A pair of voxels
is kept with a probability that falls as exp(-distance / lambda); `connected` of all pairs are kept.
A neuron of voxel t draws a source outside t from voxel v with the probability

    p(t <- v) ~ size(v) hub(v) exp(-distance / lambda) lognormal(weight_sd)   over the kept pairs.

`hub` is lognormal with the coefficient of variation `unevenness`; it makes some voxels speak to
many others. No measured connectivity is used. Distances are in radii of the ball, or in half widths
of the sheet.

A small brain is a run description. A large one is a coarse graph: the file holds the options, and
`spikemark partition` draws the graph from them, the same one each time.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.quantities.quotient import quotient

from .options import RunOptions, choose, option

if TYPE_CHECKING:
    from scipy import sparse

SUMMARY = (
    "voxels in regions with uneven, local connectivity, as a network to run or as a coarse graph"
)
KIND = "voxel graph"
# Du et al.: 1e10 neurons on 2000 GPUs, 22 603 voxels, about 3 % of pairs, in-degree 100. The others
# are tuned: lambda_ for 1552 partners of a rank, unevenness for a random peak 1.45 times the
# balanced one.
FULL_BRAIN = {
    "form": "graph",
    "voxels": 22_603,
    "neurons": 10_000_000_000,
    "connected": 0.03,
    "regions": 378,
}
#: Neurons, and connected pairs of voxels, of a run description.
MAX_NEURONS_OF_RUN, MAX_PAIRS = 1_000_000, 100_000
#: Mean synapses of a projection between voxels; what has fewer is left out.
MIN_MEAN_SYNAPSES = 1e-4

#: Share of a voxel's neurons, E:I 4:1; only they project to other voxels.
EXCITATORY = 0.8
#: Shares of a neuron's synapses from E and I of its own voxel; the rest is from E of others (Du et
#: al.).
LOCAL_E, LOCAL_I = 4 / 7, 1 / 7
#: Target voxels at a time.
BLOCK = 256
#: Scalings of chances to their sum.
SCALINGS = 3
MAX_THREADS = 8
#: Weight of an inhibitory synapse.
INHIBITION = -4


@dataclass(frozen=True)
class Voxels:
    """V voxels, numbered region by region."""

    places: np.ndarray  #: [V, 3] in radii of the ball, or half widths of the sheet
    region: np.ndarray  #: [V] number of the region
    excitatory: np.ndarray  #: [V] neurons
    inhibitory: np.ndarray  #: [V] neurons
    #: [V target, V source] p(t <- v); each row sums to 1, or is empty.
    sources: "sparse.csr_array"


class VoxelsOptions(RunOptions):
    """What `describe` accepts; the defaults suit a laptop.

    `full` is the brain of Du et al. as a graph.
    """

    published: ClassVar[dict[str, Any]] = FULL_BRAIN

    form: Literal["run", "graph"] = option(
        "run", "a run description, or a coarse graph for partition"
    )
    voxels: int = option(64, "number of voxels", ge=1, le=100_000)
    neurons: int = option(
        20_000,
        "neurons of all voxels",
        ge=4,
        le=10**12,
    )
    indegree: int = option(
        100,
        "synapses per neuron",
        ge=7,
        le=100_000,
    )
    geometry: Literal["ball", "sheet"] = option("ball", "where voxels lie")
    regions: int = option(
        8,
        "regions; voxels are sorted by them",
        ge=1,
        le=10_000,
    )
    connected: float = option(
        0.25, "share of the other voxels that a voxel gets input from", gt=0, le=1
    )
    lambda_: float = option(
        0.31, "distance over which connections fall by e, in radii", ge=1e-6, le=1e6
    )
    weight_sd: float = option(
        1.5, "SD of the logarithms of the weights of pairs of voxels", ge=0, le=5
    )
    unevenness: float = option(
        0.2,
        "CV of how strongly voxels project to others",
        ge=0,
        le=10,
    )
    size_cv: float = option(
        0.2,
        "CV of the voxels' neurons",
        ge=0,
        le=10,
    )
    rate: float = option(2.5, "mean rate, spikes/s", ge=0, le=1e6)
    delay_ms: float = option(
        2.0,
        "delay between voxels, ms",
        ge=1,
        le=1000,
    )

    @model_validator(mode="after")
    def _possible(self) -> "VoxelsOptions":
        expected = f"at least {4 * self.voxels}, four for each voxel"
        self.expect(self.neurons >= 4 * self.voxels, "neurons", expected)
        if self.form == "run":
            expected = f"at most {MAX_NEURONS_OF_RUN}, or form=graph"
            self.expect(self.neurons <= MAX_NEURONS_OF_RUN, "neurons", expected)
            pairs = round(self.voxels * self.connected * self.voxels)
            expected = f"at most {MAX_PAIRS} connected pairs (these are {pairs}), or form=graph"
            self.expect(pairs <= MAX_PAIRS, "voxels", expected)
        return self

    def description(self) -> dict[str, Any]:
        """The run description, or the coarse graph (docs/placement.md), which `of_file` reads."""
        if self.form == "graph":
            options = self.model_dump(exclude_none=True)
            return {"kind": KIND, "format_version": 1, "options": options}
        voxels = self.drawn()
        neuron = {"model": "ignore_and_fire", "rate_hz": self.rate}
        populations: list[dict[str, Any]] = []
        projections: list[dict[str, Any]] = []
        for number in range(self.voxels):
            name = f"voxel{number}"
            inputs = self._means_of_others(voxels.sources[[number]])
            sizes = {"E": voxels.excitatory[number], "I": voxels.inhibitory[number]}
            for kind, size in sizes.items():
                target = name + kind
                population = {"name": target, "area": name, "size": int(size)}
                populations.append(population | {"neuron": dict(neuron)})
                projections += self._local_inputs(name, target)
                for source, mean in inputs:
                    projections.append(self._input_from_other(source, target, mean))
        return self.run(populations, projections)

    def _local_inputs(self, voxel: str, target: str) -> list[dict[str, Any]]:
        """Projections onto a population from its own voxel."""
        from_e, from_i = self.local
        delay = {"distribution": "constant", "mean": 1.0}
        excitation = {
            "source": f"{voxel}E",
            "target": target,
            "indegree": from_e,
            "delay": dict(delay),
        }
        inhibition = {
            "source": f"{voxel}I",
            "target": target,
            "indegree": from_i,
            "weight": INHIBITION,
            "delay": dict(delay),
        }
        return [excitation, inhibition]

    def _means_of_others(self, row: "sparse.csr_array") -> list[tuple[str, float]]:
        """Sources in other voxels, and the mean in-degree of each; `row` of `Voxels.sources`."""
        from_others = self.indegree - sum(self.local)
        means = row.data.astype(float) * from_others
        inputs = []
        for voxel, mean in sorted(zip(row.indices.tolist(), means.tolist(), strict=True)):
            if mean >= MIN_MEAN_SYNAPSES:
                inputs.append((f"voxel{voxel}E", round(mean, 9)))
        return inputs

    def _input_from_other(self, source: str, target: str, mean: float) -> dict[str, Any]:
        """The projection onto a population from another voxel."""
        return {
            "source": source,
            "target": target,
            "indegree": {"mean": mean, "distribution": "poisson"},
            "delay": {"distribution": "constant", "mean": self.delay_ms},
        }

    @property
    def local(self) -> tuple[int, int]:
        """Synapses of a neuron from E and from I of its own voxel."""
        return round(LOCAL_E * self.indegree), round(LOCAL_I * self.indegree)

    def drawn(self) -> Voxels:
        """The brain that the options and the seed give."""
        rng = np.random.Generator(np.random.SFC64(self.seed))
        places, region = self._places(rng)
        sizes = _lognormal(rng, self.voxels, self.size_cv)
        shares = np.cumsum(sizes) / sizes.sum()
        ends = np.rint(shares * (self.neurons - 2 * self.voxels)).astype(np.int64)
        sizes = 2 + np.diff(ends, prepend=0)  # whole numbers, at least 2
        inhibitory = np.maximum(1, np.rint((1 - EXCITATORY) * sizes)).astype(np.int64)
        strength = (sizes - inhibitory) * _lognormal(rng, self.voxels, self.unevenness)
        sources = self._pairs(rng, places, strength)
        return Voxels(places, region, sizes - inhibitory, inhibitory, sources)

    def _places(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Places of the voxels [V, 3], and their regions [V].

        Each voxel belongs to the nearest of random centres. Regions are numbered along a line
        through the brain; so are the voxels within each.
        """

        def scattered(n: int) -> np.ndarray:
            if self.geometry == "sheet":
                return np.column_stack([rng.uniform(-1, 1, (n, 2)), np.zeros(n)])
            directions = rng.normal(size=(n, 3))
            directions /= np.linalg.norm(directions, axis=1)[:, np.newaxis]
            radius = rng.uniform(size=n)[:, np.newaxis] ** (1 / 3)
            return np.asarray(directions * radius)

        centres = scattered(self.regions)
        places = scattered(self.voxels)
        centres = centres[np.argsort(centres[:, 0])]
        # Squared distances, less what is the same for all centres.
        distances = (centres**2).sum(axis=1) - 2 * places @ centres.T
        region = distances.argmin(axis=1)
        order = np.lexsort((places[:, 0], region))
        return places[order], region[order]

    def _pairs(
        self,
        rng: np.random.Generator,
        places: np.ndarray,
        strength: np.ndarray,
    ) -> "sparse.csr_array":
        """p(t <- v) of the kept pairs, [target, source], blocks of targets side by side."""
        from scipy import sparse

        count = self.voxels
        wanted = np.float32(min(self.connected * count, count - 1))
        places = places.astype(np.float32)
        seeds = rng.integers(2**63, size=-(-count // BLOCK))

        def to_wanted(chances: np.ndarray) -> np.ndarray:
            """`wanted` over the sums of the targets; 0 for those that no other voxel reaches."""
            return quotient(wanted, chances.sum(axis=1, keepdims=True), otherwise=0.0)

        def block(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            """Sources, weights, and how many of them each target of the block has."""
            block_rng = np.random.Generator(np.random.SFC64(seeds[number]))
            first = number * BLOCK
            last = min(first + BLOCK, count)
            near = _distances(places[first:last], places, self.geometry == "sheet")
            near /= -np.float32(self.lambda_)
            np.exp(near, out=near)
            near[np.arange(last - first), np.arange(first, last)] = 0
            chance = near * to_wanted(near)
            for _ in range(SCALINGS):  # pairs that are kept for sure leave more to the others
                np.minimum(chance, 1, out=chance)
                chance *= to_wanted(chance)
            drawn = block_rng.random(near.shape, dtype=np.float32) < chance
            pairs = np.flatnonzero(drawn)
            rows, columns = np.divmod(pairs, count)
            weights = strength[columns] * near.ravel()[pairs]
            weights *= np.exp(self.weight_sd * block_rng.standard_normal(len(rows)))
            sums = np.bincount(rows, weights, last - first)[rows]
            weights = quotient(weights, sums, otherwise=0.0)  # 0 where exp underflows
            counts = np.bincount(rows, minlength=last - first)
            return columns.astype(np.int32), weights.astype(np.float32), counts

        with ThreadPoolExecutor(min(MAX_THREADS, os.cpu_count() or 1)) as threads:
            indices, data, counts = zip(*threads.map(block, range(len(seeds))), strict=True)
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
        return sparse.csr_array(
            (np.concatenate(data), np.concatenate(indices), starts), shape=(count, count)
        )


def _lognormal(rng: np.random.Generator, count: int, cv: float) -> np.ndarray:
    """Lognormal numbers with mean 1 and a coefficient of variation, [count]."""
    variance = np.log1p(cv**2)
    return np.exp(rng.normal(-variance / 2, np.sqrt(variance), count))


def _distances(sources: np.ndarray, targets: np.ndarray, wraps: bool) -> np.ndarray:
    """Distances of places, [source, target]; on a sheet that wraps, the shortest way."""
    if wraps:
        squares = np.zeros((), dtype=sources.dtype)
        for axis in (0, 1):
            along = np.abs(sources[:, axis, np.newaxis] - targets[:, axis])
            squares = squares + np.minimum(along, 2 - along) ** 2
        return np.asarray(np.sqrt(squares))
    of_sources = (sources**2).sum(axis=1)[:, np.newaxis]
    squares = of_sources + (targets**2).sum(axis=1) - 2 * sources @ targets.T
    return np.asarray(np.sqrt(np.maximum(squares, 0)))


describe = VoxelsOptions.describe


class _GraphContent(BaseModel):
    """A coarse graph as `Options.description` writes it."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)
    kind: Literal["voxel graph"]
    format_version: Annotated[int, Field(ge=1, le=1)]
    options: dict[str, Any]


def of_file(content: dict[str, Any], path: Path) -> VoxelsOptions:
    """The options of a coarse graph.

    Raises:
        BadInput: naming file and field.

    Example:
        >>> of_file({"kind": "run"}, Path("graph.json"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: graph.json: kind='run'; expected 'voxel graph' (and 2 more)
    """
    graph = checked(_GraphContent, content, path, "file")
    try:
        return choose(VoxelsOptions, graph.options)
    except BadInput as error:
        raise error.within(file=path, field="options") from None
