"""The graph that a partition divides: units of neurons, and how probably a neuron is a source of another.

A *unit* is a population: neurons with equal inputs and outputs. An *atom* is what a partition moves as a
whole: an area of a run description, a voxel of a coarse graph. Units whose neurons have the same inputs
share a *column*. `miss[u, c]` is -log of the probability that a given neuron of unit u has no synapse on a
given neuron of column c. So the probability that it has any synapse on a set A of neurons is

    h[u, A] = 1 - exp(-sum_c miss[u, c] |A in c|),

which is 1 - (1 - 1/n_u)^S for S draws with repetition, and as exact for random in-degrees.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from scipy import sparse

from spikemark.core import memory
from spikemark.core.errors import BadInput, first_complaint
from spikemark.core.reading import read_json
from spikemark.network import description
from spikemark.network.description import Description
from spikemark.network.named_files import located
from spikemark.presets import voxels
from spikemark.presets.options import choose

RATE_HZ = 2.5  # of units whose rate nobody states
BYTES_PER_PAIR = 60  # at most, of all copies of a pair of units together


@dataclass(frozen=True)
class Graph:
    """U units in C columns and A atoms; the units of an atom are neighbours, and atoms ascend."""

    sizes: np.ndarray  # [U] neurons
    atom: np.ndarray  # [U] number of the atom
    column: np.ndarray  # [U] number of the column
    rates_hz: np.ndarray  # [U]
    miss: sparse.csr_array  # [U, C]
    cycle_ms: float  # d_min
    places: np.ndarray | None = None  # [A, 3] where the atoms lie, where that is known
    described: Description | None = None
    unstated: int = 0  # units whose rate is assumed, RATE_HZ

    @property
    def neurons(self) -> int:
        return int(self.sizes.sum())

    @property
    def first(self) -> np.ndarray:
        """[U] id of the first neuron of each unit."""
        return np.concatenate([[0], np.cumsum(self.sizes)[:-1]])

    @property
    def assumed(self) -> list[str]:
        """Assumptions behind the numbers of words."""
        if not self.unstated:
            return []
        return [f"rates of {self.unstated} of {len(self.sizes)} populations: {RATE_HZ:g} spikes/s"]

    @property
    def atoms(self) -> int:
        return int(self.atom[-1]) + 1

    @property
    def atom_sizes(self) -> np.ndarray:
        """[A] neurons of each atom."""
        return np.bincount(self.atom, self.sizes, self.atoms).astype(np.int64)


def load(path: Path) -> Graph:
    """The graph of a file: a run description or a voxel graph. Raises BadInput naming file and field."""
    given = read_json(path, "`spikemark preset voxels` writes one")
    if isinstance(given, dict) and given.get("kind") == voxels.KIND:
        return of_voxels(_options(given, path))
    return of_description(description.read(located(given, path.parent), f"{path}: "))


class _VoxelFile(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    kind: str
    format_version: int
    options: dict[str, Any]


def _options(given: dict, path: Path) -> voxels.Options:
    try:
        file = _VoxelFile.model_validate(given)
    except ValidationError as error:
        raise BadInput(f"{path}: {first_complaint(error, 'file')}") from None
    if file.format_version != 1:
        raise BadInput(f"{path}: format_version={file.format_version}: 1 is known")
    try:
        return choose(voxels.Options, file.options, False, {})
    except BadInput as error:
        raise BadInput(f"{path}: options: {error}") from None


def of_voxels(options: voxels.Options) -> Graph:
    """The coarse graph of these options. Raises BadInput where it does not fit into memory."""
    count = options.voxels
    pairs = count * max(1, options.connected * count)
    about = f"options.voxels={count}, options.connected={options.connected:g}: a graph of {pairs:.3g} pairs"
    memory.check(BYTES_PER_PAIR * pairs, about)
    drawn = options.drawn()
    from_e, from_i = options.local
    others = options.indegree - from_e - from_i
    own = _repeated(from_e, drawn.excitatory)
    sources = drawn.sources.T.tocsr()  # [source, target]
    per = (others / drawn.excitatory).astype(np.float32)
    sources.data *= np.repeat(per, np.diff(sources.indptr))
    at = np.arange(count)
    local = sparse.csr_array((own.astype(np.float32), (at, at)), shape=(count, count))
    inner = sparse.csr_array((_repeated(from_i, drawn.inhibitory).astype(np.float32), (at, at)),
                             shape=(count, count))  # fmt: skip
    return Graph(
        sizes=np.c_[drawn.excitatory, drawn.inhibitory].ravel(),
        atom=np.repeat(at, 2),
        column=np.repeat(at, 2),
        rates_hz=np.full(2 * count, options.rate),
        miss=_interleaved(sources + local, inner),
        cycle_ms=0.1,
        places=drawn.places,
    )


def _repeated(draws: float, among: np.ndarray) -> np.ndarray:
    """-log of the probability that none of `draws` with repetition among so many neurons hits a given one.

    Among one neuron, every draw hits it.
    """
    with np.errstate(divide="ignore"):
        return np.where(among > 1, -draws * np.log1p(-1 / np.maximum(among, 1)), draws * 1e3)


def _interleaved(even: sparse.csr_array, odd: sparse.csr_array) -> sparse.csr_array:
    """The rows of two matrices of one shape in turn."""
    stacked = sparse.vstack([even, odd], format="csr")
    return stacked[np.arange(stacked.shape[0]).reshape(2, -1).T.ravel()]


def of_description(described: Description) -> Graph:
    """The graph of a run description; its areas are the atoms, numbered in the order of their neurons.

    Raises BadInput for areas whose populations are not neighbours.
    """
    network = described.network
    number, count = network.numbers, len(network.populations)
    area = np.array(network.area_of)
    if (np.diff(area) < 0).any():
        names = [network.populations[u].area for u in np.flatnonzero(np.diff(area) < 0) + 1]
        raise BadInput(
            f"network.populations: area {names[0]!r}: its populations must stand side by side in the list"
        )
    pairs = sum(len(p.sources) for p in network.projections)
    memory.check(BYTES_PER_PAIR * pairs, f"network.projections: a graph of {pairs:.3g} pairs")
    rows, columns, data = [], [], []
    for projection in network.projections:
        if not network.has_synapses(projection):
            continue
        sources = [number[name] for name in projection.sources]
        pool = sum(network.populations[u].size for u in sources)
        draws = projection.synapses
        once = draws / pool if projection.poisson else float(_repeated(draws, np.array(pool)))
        times: dict[int, int] = {}
        for u in sources:
            times[u] = times.get(u, 0) + 1
        for u, named in times.items():  # a source that is named twice is in the pool twice
            chance = named / pool
            twice = draws * (chance if projection.poisson else -math.log1p(-chance) if chance < 1 else 1e3)
            rows.append(u)
            columns.append(number[projection.target])
            data.append(once if named == 1 else twice)
    hz = [p.neuron.hz for p in network.populations]
    return Graph(
        sizes=np.array([p.size for p in network.populations], dtype=np.int64),
        atom=area,
        column=np.arange(count),
        rates_hz=np.array([RATE_HZ if rate is None else rate for rate in hz]),
        miss=sparse.csr_array((data, (rows, columns)), shape=(count, count)),
        cycle_ms=described.time.cycle_ms,
        described=described,
        unstated=hz.count(None),
    )
