"""What the cortical networks share: the column of Potjans & Diesmann 2014, and such areas.

Figures in cortex.csv: Potjans & Diesmann (2014), tables 4 and 5, as in the reference implementation
of NEST (`Potjans_2014`), which also gives the rates of the full network (`full_mean_rates`,
spikes/s), and the initial potentials that avoid a synchronous start (`optimized`). The columns
named as populations have the probability that a pair of neurons is connected at least once, by
target (row) and source.
"""

import math
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

TABLE = np.genfromtxt(
    Path(__file__).with_suffix(".csv"),
    delimiter=",",
    names=True,
    dtype=None,
    encoding="utf-8",
)
POPULATIONS: tuple[str, ...] = tuple(TABLE["population"].tolist())
EXCITATORY = np.array([name.endswith("E") for name in POPULATIONS])
#: Of each population.
NEURONS, EXTERNAL_INDEGREES = TABLE["neurons"], TABLE["external"]
RATES_HZ = dict(zip(POPULATIONS, TABLE["rate_hz"].tolist(), strict=True))
TAU_M_MS, TAU_SYN_MS, T_REF_MS, C_M_PF = 10.0, 0.5, 2.0, 250.0
E_L_MV, V_TH_MV, V_RESET_MV = -65.0, -50.0, -65.0
NEURON = {
    "model": "lif_exp",
    "C_m_pF": C_M_PF,
    "tau_m_ms": TAU_M_MS,
    "tau_syn_ms": TAU_SYN_MS,
    "t_ref_ms": T_REF_MS,
    "E_L_mV": E_L_MV,
    "V_th_mV": V_TH_MV,
    "V_reset_mV": V_RESET_MV,
}
#: Peak potential of an excitatory synapse; inhibitory over excitatory weights; CVs.
PSP_MV, INHIBITION, WEIGHT_CV, DELAY_CV = 0.15, -4.0, 0.1, 0.5
#: |zeta(1/2)| / sqrt(2): shift of threshold and reset, times sqrt(tau_syn / tau_m).
SHIFT = 1.4603545088095868 / math.sqrt(2)
#: Mean delay within an area, by source.
DELAY_MS = np.where(EXCITATORY, 1.5, 0.75)
#: Of delays between areas.
SPEED_MM_PER_MS, SHORTEST_MS = 3.5, 1.0
#: Mean synapses per neuron; a projection that has fewer is left out.
MIN_INDEGREE = 1e-4
#: Distance of the mean potential from threshold, in SDs, beyond which a neuron does not fire: more
#: than exp(400) ms for a spike.
MAX_DISTANCE_SD = 20
#: Of the Gauss-Legendre sum for the mean time between spikes.
NODES = 64


def indegrees() -> np.ndarray:
    """Mean synapses of a neuron by target and source, [8, 8] (Potjans & Diesmann 2014, eq 1).

    Example:
        >>> indegrees().shape
        (8, 8)
    """
    pairs = np.outer(NEURONS, NEURONS).astype(float)
    probabilities = np.array([TABLE[source] for source in POPULATIONS]).T
    synapses = np.log1p(-probabilities) / np.log1p(-1 / pairs)
    return np.asarray(synapses / NEURONS[:, np.newaxis])


def current_pA(psp_mv: float) -> float:
    """The exponential current, by its initial value, that causes a potential with peak `psp_mv`.

    Example:
        >>> round(current_pA(0.15), 1)  # of the published 87.8 pA
        87.8
    """
    tau_m, tau_syn = TAU_M_MS, TAU_SYN_MS
    peak_ms = tau_m * tau_syn / (tau_m - tau_syn) * math.log(tau_m / tau_syn)
    decayed = math.exp(-peak_ms / tau_m) - math.exp(-peak_ms / tau_syn)
    return psp_mv * C_M_PF * (tau_m - tau_syn) / (tau_m * tau_syn * decayed)


def weights() -> np.ndarray:
    """Mean weights in pA by target and source, [8, 8].

    Inhibition is -4 times excitation, L4E to L23E twice the others.

    Example:
        >>> weights().shape
        (8, 8)
    """
    matrix = np.tile(np.where(EXCITATORY, 1.0, INHIBITION), (8, 1))
    matrix[POPULATIONS.index("L23E"), POPULATIONS.index("L4E")] = 2.0
    return matrix * current_pA(PSP_MV)


@dataclass(frozen=True)
class ScaledInputs:
    """Inputs of a network with a fraction of the synapses."""

    indegrees: np.ndarray  #: [P, P + 1] mean synapses by target and source
    weights_pA: np.ndarray  #: [P, P + 1]
    current_pA: np.ndarray  #: [P] that stands for the mean of what is lost


@dataclass(frozen=True)
class Areas:
    """A network of areas at full size; P populations in all, numbered area by area.

    The last column of `indegrees` and `weights_pA` is the background, Poisson input at
    `background_hz`.
    """

    names: list[str]  #: of the areas
    area: np.ndarray  #: [P] number of the area
    kind: np.ndarray  #: [P] number in POPULATIONS
    neurons: np.ndarray  #: [P]
    indegrees: np.ndarray  #: [P, P + 1] mean synapses of a neuron by target and source
    weights_pA: np.ndarray  #: [P, P + 1]
    rates_hz: np.ndarray  #: [P] expected
    background_hz: float  #: rate of each background input
    distances_mm: np.ndarray  #: [area, area]

    @cached_property
    def populations(self) -> list[str]:
        """Their names; a single area is not named."""
        prefixes = [f"{name}-" if len(self.names) > 1 else "" for name in self.names]
        kinds = zip(self.area, self.kind, strict=True)
        return [prefixes[area] + POPULATIONS[kind] for area, kind in kinds]

    def scaled(self, scale: float) -> ScaledInputs:
        """Inputs with `scale` of the synapses.

        Weights grow by 1 / sqrt(scale), which keeps the variance of the input, and the current
        keeps its mean (van Albada et al. 2015).
        """
        indegrees = scale * self.indegrees
        indegrees[:, -1] = np.rint(indegrees[:, -1])
        weights = self.weights_pA / np.sqrt(scale)
        lost = self.indegrees * self.weights_pA - indegrees * weights
        events_hz = np.r_[self.rates_hz, self.background_hz]
        return ScaledInputs(indegrees, weights, 1e-3 * TAU_SYN_MS * lost @ events_hz)

    def network(
        self, scale: float, indegree_scale: float, classes: int
    ) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Populations and projections of a run description.

        Synapses are dealt to their targets at random, with normal delays and weights. Sources that
        lie in one area and agree in weight and in synapses sent share a projection.

        Args:
            scale: fraction of the neurons.
            indegree_scale: fraction of the synapses of each.
            classes: number of different weights of a projection.
        """
        sizes: list[int] = np.rint(scale * self.neurons).astype(int).tolist()
        scaled = self.scaled(indegree_scale)
        populations: list[dict[str, Any]] = []
        projections: list[dict[str, Any]] = []
        for target, name in enumerate(self.populations):
            populations.append(self._population(target, name, sizes[target], scaled))
            indegrees: list[float] = scaled.indegrees[target].tolist()
            weights: list[float] = scaled.weights_pA[target].tolist()
            for pool in self._pools(target):
                synapses = sum(indegrees[source] for source in pool)
                if synapses < MIN_INDEGREE or not any(sizes[source] for source in pool):
                    continue
                weight = weights[pool[0]]
                projection = {
                    "source": self._names(pool),
                    "target": name,
                    "indegree": {"distribution": "poisson", "mean": synapses},
                    "weight": {"mean": weight, "sd": WEIGHT_CV * abs(weight), "classes": classes},
                    "delay": self._delay(target, pool[0]),
                }
                projections.append(projection)
        return populations, projections

    def _population(
        self,
        number: int,
        name: str,
        size: int,
        scaled: ScaledInputs,
    ) -> dict[str, Any]:
        """A population of a run description."""
        kind = self.kind[number]
        start = {field: float(TABLE[field][kind]) for field in ("V_init_mV", "V_init_sd_mV")}
        external = {
            "rate_hz": self.background_hz,
            "synapses": int(scaled.indegrees[number, -1]),
            "weight": float(scaled.weights_pA[number, -1]),
        }
        return {
            "name": name,
            "area": self.names[self.area[number]],
            "size": size,
            "neuron": NEURON | start | {"I_e_pA": float(scaled.current_pA[number])},
            "external": external,
        }

    def _pools(self, target: int) -> list[list[int]]:
        """Sources of a population that lie in one area and agree in weight and synapses sent."""
        sources = np.flatnonzero(self.indegrees[target, :-1])
        density = np.log(self.indegrees[target, sources] / self.neurons[sources])
        pools: dict[tuple[Any, ...], list[int]] = {}
        for source, *key in zip(
            sources.tolist(),
            self.area[sources].tolist(),
            self.weights_pA[target, sources].tolist(),
            np.round(density, 6).tolist(),
            strict=True,
        ):
            pools.setdefault(tuple(key), []).append(source)
        return list(pools.values())

    def _names(self, pool: list[int]) -> str | list[str]:
        """The field `source` of a projection."""
        names = self.populations
        return names[pool[0]] if len(self.names) == 1 else [names[source] for source in pool]

    def _delay(self, target: int, source: int) -> dict[str, Any]:
        """The field `delay` of a projection."""
        own_area, source_area = self.area[target], self.area[source]
        mean_ms = float(DELAY_MS[self.kind[source]])
        if own_area != source_area:
            mean_ms = float(self.distances_mm[own_area, source_area]) / SPEED_MM_PER_MS
        delay = {"distribution": "normal", "mean": mean_ms, "sd": DELAY_CV * mean_ms}
        if own_area != source_area:
            delay["min"] = SHORTEST_MS
        return delay


def moments(events_hz: np.ndarray, weights_pA: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean of the free potential of NEURON above E_L in mV, and the square of the strength of its
    noise in mV^2.

    The square of the strength of the noise is tau_m times the sum over inputs of rate times squared
    jump of the potential (twice the variance of the free potential). Moments of independent inputs
    add up.

    Args:
        events_hz: rate of the events of each weight, shape [..., input].
        weights_pA: their weights, of the same shape.

    Returns:
        Two arrays of shape [...].

    Example:
        >>> mean_mv, noise = moments(np.array([8000.0]), np.array([87.8]))
        >>> round(float(mean_mv), 1)
        14.0
    """
    tau_s = 1e-3 * TAU_M_MS
    jump_mv = weights_pA * TAU_SYN_MS / C_M_PF  # as if it were instantaneous
    mean_mv = tau_s * (events_hz * jump_mv).sum(axis=-1)
    noise = tau_s * (1 + WEIGHT_CV**2) * (events_hz * jump_mv**2).sum(axis=-1)
    return mean_mv, noise


def rate_of(mean_mv: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Rate in spikes/s of NEURON with input of these `moments`.

    Diffusion approximation: Siegert's formula with the first-order correction for exponential
    currents, an upward shift of threshold and reset (Fourcaud & Brunel 2002), as used for the
    multi-area model (Schuecker et al. 2017). The integral is a Gauss-Legendre sum, whose relative
    error is below 1e-12 where the rate is above 1e-20 spikes/s.

    Args:
        mean_mv: mean of the free potential above E_L, any shape.
        noise: square of the strength of the noise in mV^2, of the same shape, above 0.

    Returns:
        Rates of the same shape; 0 beyond MAX_DISTANCE_SD.

    Example:
        >>> enough, too_few = rate_of(*moments(np.array([[8000.0], [800.0]]), np.array([87.8])))
        >>> bool(enough > 0)  # of 8000 events per second
        True
        >>> float(too_few)  # 800 do not reach the threshold
        0.0
    """
    from scipy.special import erfcx

    sd_mv = np.sqrt(noise)
    shift = SHIFT * math.sqrt(TAU_SYN_MS / TAU_M_MS)
    threshold = (V_TH_MV - E_L_MV - mean_mv) / sd_mv + shift
    reset = (V_RESET_MV - E_L_MV - mean_mv) / sd_mv + shift
    reached = threshold <= MAX_DISTANCE_SD
    threshold = np.minimum(threshold, MAX_DISTANCE_SD)
    node, share = _gauss_legendre()
    half = (threshold - reset) / 2
    place = np.multiply.outer(half, node) + np.expand_dims((threshold + reset) / 2, -1)
    passage = half * (erfcx(-place) @ share)
    rates = 1e3 / (T_REF_MS + TAU_M_MS * math.sqrt(math.pi) * passage)
    return np.where(reached, rates, 0.0)


@cache
def _gauss_legendre() -> tuple[np.ndarray, np.ndarray]:
    """Places between -1 and 1 of a sum that stands for an integral, and the share of each."""
    node, share = np.polynomial.legendre.leggauss(NODES)
    return node, share
