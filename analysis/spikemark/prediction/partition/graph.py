"""The graph that a partition divides: units of neurons, and how probably a neuron is a source of another.

A *unit* is a population: neurons with equal inputs and outputs. An *atom* is what a partition moves as a
whole: an area of a run description, a voxel of a coarse graph; the mini-app's placements have it as an area.
Units whose neurons have the same inputs share a *column*. `misses[u, c]` is the log of the probability that a
given neuron of unit u has no synapse on a given neuron of column c. So the probability that it has any
synapse on a set A of neurons is

    h[u, A] = 1 - exp(sum_c misses[u, c] |A in c|),

which is 1 - (1 - 1/n_u)^S for S draws with repetition, and as exact for random in-degrees.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.network import description, pools
from spikemark.network.description import Description
from spikemark.network.named_files import located
from spikemark.network.presets import voxels

RATE_HZ = 2.5  # of units whose rate nobody states
BYTES_PER_PAIR = 60  # at most, of all copies of a pair of units together


@dataclass(frozen=True)
class Graph:
    """U units in C columns and A atoms; the units of an atom are neighbours, and atoms ascend."""

    sizes: np.ndarray  # [U] neurons
    area_of: np.ndarray  # [U] number of the atom
    column: np.ndarray  # [U] number of the column
    rates_hz: np.ndarray  # [U]
    misses: sparse.csr_array  # [U, C]
    cycle_ms: float  # d_min
    described: Description | None = None
    assumed: tuple[str, ...] = ()  # behind the numbers of words

    @property
    def neurons(self) -> int:
        return int(self.sizes.sum())

    @property
    def areas(self) -> range:
        """The atoms."""
        return range(self.area_of[-1] + 1)


def load(path: Path) -> Graph:
    """The graph of a file: a run description or a voxel graph. Raises BadInput naming file and field."""
    given = read_json(path, "`spikemark preset voxels` writes one")
    if isinstance(given, dict) and given.get("kind") == voxels.KIND:
        return of_voxels(voxels.of_file(given, path))
    return of_description(description.read(located(given, path.parent), f"{path}: "))


def of_voxels(options: voxels.Options) -> Graph:
    """The coarse graph of these options. Raises BadInput where it does not fit into memory."""
    count = options.voxels
    pairs = count * max(1, options.connected * count)
    about = f"options.voxels={count}, options.connected={options.connected:g}: a graph of {pairs:.3g} pairs"
    memory.check(BYTES_PER_PAIR * pairs, about)
    drawn = options.drawn()
    sizes = np.c_[drawn.excitatory, drawn.inhibitory]
    sources = drawn.sources.T.tocsr()  # [source, target]
    per = ((options.indegree - sum(options.local)) / drawn.excitatory).astype(np.float32)
    sources.data *= np.repeat(-per, np.diff(sources.indptr))
    near = options.local * np.where(sizes > 1, np.log1p(-1 / np.maximum(sizes, 2)), pools.CERTAIN)
    own, inner = (sparse.diags_array(each).tocsr() for each in near.T.astype(np.float32))
    in_turn = np.arange(2 * count).reshape(2, count).T.ravel()  # rows of excitatory and inhibitory units
    at = np.repeat(np.arange(count), 2)
    misses = sparse.vstack([sources + own, inner], format="csr")[in_turn]
    return Graph(sizes.ravel(), at, at, np.full(2 * count, options.rate), misses, 0.1)


def of_description(described: Description) -> Graph:
    """The graph of a run description; its areas are the atoms, numbered in the order of their neurons.

    Raises BadInput for areas whose populations are not neighbours.
    """
    network, area = described.network, np.array(described.network.area_of)
    for unit in np.flatnonzero(np.diff(area) < 0)[:1] + 1:
        name = network.populations[unit].area
        raise BadInput(f"network.populations: area {name!r}; expected its populations side by side")
    pairs = sum(len(p.sources) for p in network.projections)
    memory.check(BYTES_PER_PAIR * pairs, f"network.projections: a graph of {pairs:.3g} pairs")
    hz = [p.neuron.hz for p in network.populations]
    rates = np.array([RATE_HZ if rate is None else rate for rate in hz])
    assumed = (f"rates of {hz.count(None)} of {len(hz)} populations: {RATE_HZ:g} spikes/s",) * (None in hz)
    misses, cycle_ms = pools.read(network).misses, described.time.cycle_ms
    return Graph(network.sizes, area, np.arange(len(area)), rates, misses, cycle_ms, described, assumed)
