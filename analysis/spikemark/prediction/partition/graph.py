"""The graph that a partition divides: units of neurons, and how probably a neuron is a source of
another.

A *unit* is a population: neurons with equal inputs and outputs. An *atom* is what a partition moves
as a whole: an area of a run description, a voxel of a coarse graph; the mini-app's placements have
it as an area. Units whose neurons have the same inputs share a *column*. `misses[u, c]` is the log
of the probability that a given neuron of unit u has no synapse on a given neuron of column c. So
the probability that it has any synapse on a set A of neurons is

    h[u, A] = 1 - exp(sum_c misses[u, c] |A in c|),

which is 1 - (1 - 1/n_u)^S for S draws with repetition, and as exact for random in-degrees.

A graph takes up to 60 bytes for each pair of units with a projection.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_json_or_yaml
from spikemark.network import description, pools
from spikemark.network.description import Description
from spikemark.network.named_files import located
from spikemark.network.presets import voxels

ASSUMED_HZ = 2.5  #: rate of units whose rate nobody states
BYTES_PER_PAIR = 60  #: at most, of all copies of a pair of units together
VOXEL_CYCLE_MS = 0.1  #: d_min of a voxel graph


@dataclass(frozen=True)
class Graph:
    """U units in C columns and A atoms; the units of an atom are neighbours, and atoms ascend."""

    sizes: np.ndarray  #: [U] neurons
    area_of: np.ndarray  #: [U] number of the atom
    column: np.ndarray  #: [U] number of the column
    rates_hz: np.ndarray  #: [U]
    misses: sparse.csr_array  #: [U, C], see the module
    cycle_ms: float  #: d_min
    described: Description | None = None  #: the run description, if it is of one
    assumed: tuple[str, ...] = ()  #: what the numbers of words rest on

    @property
    def neurons(self) -> int:
        """Neurons of all units."""
        return int(self.sizes.sum())

    @property
    def areas(self) -> range:
        """The atoms."""
        return range(self.area_of[-1] + 1)


def load(path: Path) -> Graph:
    """The graph of a file: a run description or a voxel graph.

    Raises BadInput naming file and field.

    Example:
        >>> int(load(Path("tests/golden/analysis/networks/graph-64.json")).sizes.sum())  # neurons
        1000000
    """
    content = read_json_or_yaml(path, "`spikemark preset voxels` writes one")
    if isinstance(content, dict) and content.get("kind") == voxels.KIND:
        return of_voxels(voxels.of_file(content, path))
    return _of_description(description.read_description(located(content, path.parent), f"{path}: "))


def of_voxels(options: voxels.VoxelsOptions) -> Graph:
    """The coarse graph of these options: an excitatory and an inhibitory unit for each voxel.

    Raises BadInput where it does not fit into memory.

    Example:
        >>> graph = of_voxels(voxels.VoxelsOptions(voxels=12))
        >>> graph.sizes.shape
        (24,)
    """
    count = options.voxels
    pairs = count * max(1, options.connected * count)
    memory.check(
        BYTES_PER_PAIR * pairs,
        f"options.voxels={count}, options.connected={options.connected:g}: a graph of {pairs:.3g}"
        " pairs",
    )
    drawn = options.drawn()
    sizes = np.c_[drawn.excitatory, drawn.inhibitory]
    # Excitatory neurons project to other voxels: the in-degree from there, per source neuron.
    to_others = drawn.sources.T.tocsr()  # [source, target]
    per_neuron = ((options.indegree - sum(options.local)) / drawn.excitatory).astype(np.float32)
    to_others.data *= np.repeat(-per_neuron, np.diff(to_others.indptr))
    # Both kinds project within their voxel; a kind of one neuron is certain to be the source.
    one_source = np.where(sizes > 1, np.log1p(-1 / np.maximum(sizes, 2)), pools.CERTAIN)
    within = (np.array(options.local) * one_source).T.astype(np.float32)
    excitatory = to_others + sparse.diags_array(within[0]).tocsr()
    inhibitory = sparse.diags_array(within[1]).tocsr()
    by_kind = sparse.vstack([excitatory, inhibitory], format="csr")
    by_voxel = np.arange(2 * count).reshape(2, count).T.ravel()
    voxel = np.repeat(np.arange(count), 2)  # [U]
    return Graph(
        sizes=sizes.ravel(),
        area_of=voxel,
        column=voxel,
        rates_hz=np.full(2 * count, options.rate),
        misses=by_kind[by_voxel],
        cycle_ms=VOXEL_CYCLE_MS,
    )


def _of_description(described: Description) -> Graph:
    """The graph of a run description; its areas are the atoms, numbered in the order of their
    neurons.

    Raises BadInput for areas whose populations are not neighbours.
    """
    network = described.network
    area = np.array(network.area_of)
    returns = np.flatnonzero(np.diff(area) < 0) + 1  # units of an area that was left before
    if len(returns):
        name = network.populations[returns[0]].area
        raise BadInput(
            field="network.populations",
            reason=f"area {name!r}",
            expected="its populations side by side",
        )
    pairs = sum(len(projection.sources) for projection in network.projections)
    memory.check(BYTES_PER_PAIR * pairs, f"network.projections: a graph of {pairs:.3g} pairs")
    stated_hz = [population.neuron.hz for population in network.populations]
    unstated = stated_hz.count(None)
    assumed: tuple[str, ...] = ()
    if unstated:
        assumed = (f"rates of {unstated} of {len(stated_hz)} populations: {ASSUMED_HZ:g} spikes/s",)
    return Graph(
        sizes=network.sizes,
        area_of=area,
        column=np.arange(len(area)),
        rates_hz=np.array([ASSUMED_HZ if hz is None else hz for hz in stated_hz]),
        misses=pools.source_pools(network).misses,
        cycle_ms=described.time.cycle_ms,
        described=described,
        assumed=assumed,
    )
