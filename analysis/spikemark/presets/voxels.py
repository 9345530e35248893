"""A parametric brain of voxels in the spirit of Du et al. (2022), without licensed data.

A small one is a run description. A large one is a coarse graph: the file holds the options, and
`spikemark partition` and `spikemark traffic` draw the graph from them, the same one each time.
"""

from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from . import voxel_graph
from .options import choose
from .run_options import RunOptions

SUMMARY = "voxels in regions with uneven, local connectivity, as a network to run or as a coarse graph"
KIND = "voxel graph"
# Du et al.: 1e10 neurons on 2000 GPUs, 22 603 voxels, about 3 % of pairs, in-degree 100. The others are
# tuned: lambda_ for 1552 partners of a rank, unevenness for a random peak 1.45 times the balanced one.
FULL = {
    "form": "graph",
    "voxels": 22_603,
    "neurons": 10_000_000_000,
    "connected": 0.03,
    "regions": 378,
}
MOST_RUN, MOST_PAIRS, LEAST_MEAN = 1_000_000, 100_000, 1e-4
MOST_VOXELS, MOST_NEURONS = 100_000, 10**12


class Options(RunOptions):
    """What `describe` accepts; the defaults suit a laptop."""

    form: Annotated[
        Literal["run", "graph"],
        Field(description="run: a run description; graph: a coarse graph for partition and traffic"),
    ] = "run"
    voxels: Annotated[int, Field(ge=1, le=MOST_VOXELS, description="number of voxels")] = 64
    neurons: Annotated[int, Field(ge=4, le=MOST_NEURONS, description="neurons of all voxels")] = 20_000
    indegree: Annotated[int, Field(ge=7, le=100_000, description="synapses per neuron")] = 100
    geometry: Annotated[Literal["ball", "sheet"], Field(description="where voxels lie")] = "ball"
    regions: Annotated[int, Field(ge=1, le=10_000, description="regions; voxels are sorted by them")] = 8
    connected: Annotated[
        float, Field(gt=0, le=1, description="share of the other voxels that a voxel gets input from")
    ] = 0.25
    lambda_: Annotated[
        float, Field(gt=0, le=1e6, description="distance over which connections fall by e, in radii")
    ] = 0.31
    weight_sd: Annotated[
        float, Field(ge=0, le=5, description="SD of the logarithms of the weights of pairs of voxels")
    ] = 1.5
    unevenness: Annotated[
        float, Field(ge=0, le=10, description="CV of how strongly voxels project to others")
    ] = 0.2
    size_cv: Annotated[float, Field(ge=0, le=10, description="CV of the voxels' neurons")] = 0.2
    rate: Annotated[float, Field(ge=0, le=1e6, description="mean rate, spikes/s")] = 2.5
    delay_ms: Annotated[float, Field(ge=1, le=1000, description="delay between voxels, ms")] = 2.0

    @model_validator(mode="after")
    def _possible(self) -> "Options":
        if self.neurons < 4 * self.voxels:
            raise ValueError(f"neurons={self.neurons}: at least {4 * self.voxels}, four for each voxel")
        if self.form == "graph":
            return self
        if self.neurons > MOST_RUN:
            raise ValueError(
                f"neurons={self.neurons}: at most {MOST_RUN} in a run description; form=graph has no limit"
            )
        pairs = round(self.voxels * self.connected * self.voxels)
        if pairs > MOST_PAIRS:
            raise ValueError(
                f"voxels={self.voxels}: {pairs} connected pairs; a run description has at most {MOST_PAIRS},"
                " so choose fewer voxels, a smaller connected, or form=graph"
            )
        return self

    def drawn(self) -> voxel_graph.Voxels:
        """The brain that the options give."""
        names = ("geometry", "regions", "connected", "lambda_", "weight_sd", "unevenness", "size_cv")
        own = {name: getattr(self, name) for name in names}
        return voxel_graph.draw(self.voxels, self.neurons, self.seed, **own)

    @property
    def local(self) -> tuple[int, int]:
        """Synapses of a neuron from E and from I of its own voxel."""
        return round(voxel_graph.LOCAL_E * self.indegree), round(voxel_graph.LOCAL_I * self.indegree)


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md), or the coarse graph (docs/partition.md), for `options`.

    `full` is the brain of Du et al. as a graph. Raises BadInput: option, its value and what is allowed.
    """
    chosen = choose(Options, options, full, FULL)
    if chosen.form == "graph":
        return {"kind": KIND, "format_version": 1, "options": chosen.model_dump(exclude_none=True)}
    voxels = chosen.drawn()
    populations, projections = [], []
    for number in range(chosen.voxels):
        name = f"voxel{number}"
        for kind, size in (("E", voxels.excitatory[number]), ("I", voxels.inhibitory[number])):
            neuron = {"model": "ignore_and_fire", "rate_hz": chosen.rate}
            populations.append({"name": name + kind, "area": name, "size": int(size), "neuron": neuron})
    for number in range(chosen.voxels):
        for kind in "EI":
            projections += _inputs(number, f"voxel{number}{kind}", voxels, chosen)
    return chosen.described(populations, projections)


def _inputs(number: int, target: str, voxels: voxel_graph.Voxels, options: Options) -> list[dict]:
    """Projections onto one population of voxel `number`."""
    near = {"distribution": "constant", "mean": 1.0}
    far = {"distribution": "constant", "mean": options.delay_ms}
    from_e, from_i = options.local
    found = [
        {"source": f"voxel{number}E", "target": target, "indegree": from_e, "delay": near},
        {"source": f"voxel{number}I", "target": target, "indegree": from_i, "weight": -4, "delay": near},
    ]
    row = voxels.sources[[number]].tocoo()
    order = np.argsort(row.coords[1])
    for source, share in zip(row.coords[1][order], row.data[order], strict=True):
        mean = float(share) * (options.indegree - from_e - from_i)
        if mean >= LEAST_MEAN:
            indegree = {"mean": round(mean, 9), "distribution": "poisson"}
            found.append({"source": f"voxel{source}E", "target": target, "indegree": indegree, "delay": far})
    return found
