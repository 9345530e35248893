"""What projections mean for a neuron: how often it is drawn as a source, and how often missed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from spikemark.core.errors import BadInput

from .description import Network, Population

if TYPE_CHECKING:
    from scipy import sparse

#: In place of ln(1 - 1/1), of a pool that no draw can miss; unlike -inf it can be multiplied by 0.
CERTAIN = -1e9
#: Coefficient of variation below which no rate has to be drawn again.
MIN_REDRAWN_CV = 1e-3
#: Populations up to which matrices of all pairs are dense, 8 MB each; the import of scipy.sparse
#: takes as long as hundreds of their products.
DENSE_POPULATIONS = 1024

#: [source population, target population]
Matrix = Union[np.ndarray, "sparse.csr_array"]


@dataclass(frozen=True, eq=False)
class Pools:
    """All projections together, pair by pair of populations; a pair of several projections occurs
    as often, and its entries add up.

    Numbers are per target neuron and source neuron.
    """

    populations: int  #: of the network
    source: np.ndarray  #: [pair], number of the population
    target: np.ndarray  #: [pair], number of the population
    pair_misses: np.ndarray  #: [pair], ln of the probability that no synapse has the source
    pair_hits: np.ndarray  #: [pair], expected synapses from the source

    def matrix(self, of_pair: np.ndarray) -> Matrix:
        """Numbers [pair] as a matrix of populations, whose products are the same dense and sparse.

        Dense for up to DENSE_POPULATIONS populations; else sparse, of the pairs that are not 0.
        """
        shape = (self.populations, self.populations)
        if self.populations <= DENSE_POPULATIONS:
            sums = np.bincount(
                self.source * self.populations + self.target, of_pair, shape[0] * shape[1]
            )
            return sums.reshape(shape)
        from scipy import sparse

        kept = of_pair != 0
        places = self.source[kept], self.target[kept]
        return sparse.coo_array((of_pair[kept], places), shape).tocsr()

    @cached_property
    def misses(self) -> "sparse.csr_array":
        """ln of the probability that no synapse has the source, sparse."""
        return self._sparse(self.pair_misses)

    @cached_property
    def hits(self) -> "sparse.csr_array":
        """Expected synapses from the source, sparse."""
        return self._sparse(self.pair_hits)

    def _sparse(self, of_pair: np.ndarray) -> "sparse.csr_array":
        """Numbers [pair] as a sparse matrix, with all pairs that there are."""
        from scipy import sparse

        shape = (self.populations, self.populations)
        return sparse.coo_array((of_pair, (self.source, self.target)), shape).tocsr()


def source_pools(network: Network) -> Pools:
    """Hits and misses of the projections of a network.

    Sources are drawn uniformly from a projection's pool; a population named twice is in it twice.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = mam_benchmark.describe(areas=2, neurons_per_area=600, indegree=40)
        >>> drawn = source_pools(read_description(network).network)
        >>> round(float(drawn.hits[0, 0]), 6)  # 20 synapses from 600 neurons
        0.033333
    """
    populations = len(network.sizes)
    projection, source, _ = network.connections
    in_pool = np.bincount(projection, network.sizes[source], len(network.projections))  # neurons
    pair, times = np.unique(projection * populations + source, return_counts=True)
    projection, source = np.divmod(pair, populations)
    share = times / in_pool[projection]  # of the draws, of each neuron
    indegree = np.array([each.synapses for each in network.projections], dtype=float)[projection]
    poisson = np.array([each.poisson for each in network.projections], dtype=bool)[projection]
    missed_by_one = np.full(len(pair), CERTAIN)  # ln of the probability that a draw misses it
    np.log1p(-share, out=missed_by_one, where=share < 1)
    return Pools(
        populations=populations,
        source=source,
        target=network.target_of[projection],
        pair_misses=indegree * np.where(poisson, -share, missed_by_one),
        pair_hits=indegree * share,
    )


def neurons_with_targets(neurons: Any, unmet: Any) -> Any:
    """Expected neurons of each rank with a synapse in each set of ranks, [rank, set].

    Args:
        neurons: that live on each rank, [population, rank], dense or sparse. They may be weighted,
            such as by their spikes.
        unmet: log of the probability that a neuron has no synapse in a set, [population, set],
            dense or sparse.

    Returns:
        Dense, or sparse where both arguments are.

    Example:
        >>> neurons_with_targets(np.array([[10.0]]), np.array([[math.log(0.25)]]))
        array([[7.5]])
    """
    if isinstance(unmet, np.ndarray):
        return neurons.T @ -np.expm1(unmet)
    met = unmet.copy()
    met.data = -np.expm1(unmet.data)
    return neurons.T @ met


def rates(populations: list[Population], rates_hz: Mapping[str, float] | None) -> np.ndarray:
    """Mean rate of each population in Hz, [population].

    Args:
        populations: of the network.
        rates_hz: by name; None for the described rates.

    Raises:
        BadInput: for a population that is not in `rates_hz`, or whose description has no rate.

    Example:
        >>> from spikemark.network.description import read_description
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = read_description(mam_benchmark.describe(areas=2)).network
        >>> rates(network.populations, {"area0": 2.0, "area1": 3.0})  # Hz
        array([2., 3.])
    """
    if rates_hz is None:
        return np.array([_described_hz(population) for population in populations])
    for population in populations:
        if population.name not in rates_hz:
            raise BadInput(
                f"rates_hz: no rate of population {population.name!r}",
                field="rates_hz",
                code="missing",
            )
    return np.array([rates_hz[population.name] for population in populations], dtype=float)


def _described_hz(population: Population) -> float:
    """Mean rate of an ignore_and_fire population, Hz.

    The rates of its neurons are normal with `rate_cv`, and drawn again where they are not positive.
    """
    rate, cv = population.neuron.hz, population.neuron.rate_cv
    if rate is None:
        raise BadInput(
            f"rates_hz: no rate of population {population.name!r}, whose model has no rate of"
            " its own",
            field="rates_hz",
            code="missing",
        )
    if cv < MIN_REDRAWN_CV:
        return float(rate)
    density_at_0 = math.exp(-0.5 / cv**2) / math.sqrt(2 * math.pi)
    positive_share = 0.5 * math.erfc(-1 / (cv * math.sqrt(2)))
    return rate * (1 + cv * density_at_0 / positive_share)
