"""What the cortical networks share: the column of Potjans & Diesmann 2014, and networks of such areas.

Figures in cortex.csv: Potjans & Diesmann (2014), tables 4 and 5, as in the reference implementation of NEST
(`Potjans_2014`), which also gives the rates of the full network (`full_mean_rates`, spikes/s), and the
initial potentials that avoid a synchronous start (`optimized`). The columns named as populations have the
probability that a pair of neurons is connected at least once, by target (row) and source.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

TABLE = np.genfromtxt(
    Path(__file__).with_suffix(".csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
POPULATIONS = tuple(TABLE["population"].tolist())
EXCITATORY = np.array([name.endswith("E") for name in POPULATIONS])
NEURONS, EXTERNAL_INDEGREES = TABLE["neurons"], TABLE["external"]
RATES_HZ = dict(zip(POPULATIONS, TABLE["rate_hz"].tolist(), strict=True))
NEURON = {
    "model": "lif_exp", "C_m_pF": 250.0, "tau_m_ms": 10.0, "tau_syn_ms": 0.5, "t_ref_ms": 2.0,
    "E_L_mV": -65.0, "V_th_mV": -50.0, "V_reset_mV": -65.0,
}  # fmt: skip
PSP_MV, INHIBITION, WEIGHT_CV, DELAY_CV = 0.15, -4.0, 0.1, 0.5
SHIFT = 1.4603545088095868 / math.sqrt(2)  # |zeta(1/2)| / sqrt(2), times sqrt(tau_syn / tau_m)
DELAY_MS = np.where(EXCITATORY, 1.5, 0.75)  # by source
SPEED_MM_PER_MS, SHORTEST_MS = 3.5, 1.0  # of delays between areas
LEAST_INDEGREE = 1e-4  # mean synapses per neuron; what has fewer is left out


def indegrees() -> np.ndarray:
    """Mean synapses of a neuron by target (rows) and source: [8, 8], Potjans & Diesmann 2014, eq 1."""
    pairs = np.outer(NEURONS, NEURONS).astype(float)
    probabilities = np.array([TABLE[source] for source in POPULATIONS]).T
    return np.log1p(-probabilities) / np.log1p(-1 / pairs) / NEURONS[:, np.newaxis]


def current_pA(psp_mv: float) -> float:
    """The exponential current, by its initial value, that causes a potential with peak `psp_mv`."""
    tau_m, tau_syn = NEURON["tau_m_ms"], NEURON["tau_syn_ms"]
    peak_ms = tau_m * tau_syn / (tau_m - tau_syn) * math.log(tau_m / tau_syn)
    decayed = math.exp(-peak_ms / tau_m) - math.exp(-peak_ms / tau_syn)
    return psp_mv * NEURON["C_m_pF"] * (tau_m - tau_syn) / (tau_m * tau_syn * decayed)


def weights() -> np.ndarray:
    """Mean weights in pA by target and source, [8, 8]: inhibition -4 times excitation, L4E to L23E twice."""
    matrix = np.tile(np.where(EXCITATORY, 1.0, INHIBITION), (8, 1))
    matrix[POPULATIONS.index("L23E"), POPULATIONS.index("L4E")] = 2.0
    return matrix * current_pA(PSP_MV)


@dataclass(frozen=True)
class Areas:
    """A network of areas at full size; P populations in all, numbered area by area.

    The last column of `indegrees` and `weights_pA` is the background, Poisson input at `background_hz`.
    """

    names: list[str]  # of the areas
    area: np.ndarray  # [P] number of the area
    kind: np.ndarray  # [P] number in POPULATIONS
    neurons: np.ndarray  # [P]
    indegrees: np.ndarray  # [P, P + 1] mean synapses of a neuron by target and source
    weights_pA: np.ndarray  # [P, P + 1]
    rates_hz: np.ndarray  # [P] expected
    background_hz: float
    distances_mm: np.ndarray  # [areas, areas]

    @property
    def populations(self) -> list[str]:
        """Their names; a single area is not named."""
        areas = [f"{name}-" if len(self.names) > 1 else "" for name in self.names]
        return [areas[a] + POPULATIONS[k] for a, k in zip(self.area, self.kind, strict=True)]

    def scaled(self, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """In-degrees and weights with `scale` of the synapses, and the current [P] in pA that is lost.

        Weights grow by 1 / sqrt(scale), which keeps the variance of the input, and the current keeps its mean
        (van Albada et al. 2015).
        """
        kept, weights = scale * self.indegrees, self.weights_pA / np.sqrt(scale)
        kept[:, -1] = np.rint(kept[:, -1])
        lost = self.indegrees * self.weights_pA - kept * weights
        return kept, weights, 1e-3 * NEURON["tau_syn_ms"] * lost @ np.r_[self.rates_hz, self.background_hz]

    def network(self, scale: float, indegree_scale: float, classes: int) -> tuple[list[dict], list[dict]]:
        """Populations and projections with `scale` of the neurons and `indegree_scale` of the synapses each.

        Synapses are dealt to their targets at random, with normal delays and weights in `classes` values.
        Sources that lie in one area and agree in weight and in synapses sent share a projection.
        """
        sizes, names = np.rint(scale * self.neurons).astype(int), self.populations
        kept, weights, current = self.scaled(indegree_scale)
        populations, projections = [], []
        for p, name in enumerate(names):
            here, kind = self.area[p], self.kind[p]
            neuron = {name: float(TABLE[name][kind]) for name in ("V_init_mV", "V_init_sd_mV")}
            outside = {"rate_hz": self.background_hz, "synapses": int(kept[p, -1])}
            populations.append({
                "name": name,
                "area": self.names[here],
                "size": int(sizes[p]),
                "neuron": NEURON | neuron | {"I_e_pA": float(current[p])},
                "external": outside | {"weight": float(weights[p, -1])},
            })  # fmt: skip
            sources = np.flatnonzero(self.indegrees[p, :-1])
            density = np.round(np.log(self.indegrees[p, sources] / self.neurons[sources]), 6)
            pools: dict[tuple, list[int]] = {}
            for source, *key in zip(
                sources, self.area[sources], self.weights_pA[p, sources], density, strict=True
            ):
                pools.setdefault(tuple(key), []).append(source)
            for (there, *_), pool in pools.items():
                synapses, weight = kept[p, pool].sum(), float(weights[p, pool[0]])
                if sizes[pool].sum() == 0 or synapses < LEAST_INDEGREE:
                    continue
                mean, least = DELAY_MS[self.kind[pool[0]]], {}
                if here != there:
                    mean, least = self.distances_mm[here, there] / SPEED_MM_PER_MS, {"min": SHORTEST_MS}
                delay = {"distribution": "normal", "mean": float(mean), "sd": float(DELAY_CV * mean)}
                projections.append({
                    "source": names[pool[0]] if len(self.names) == 1 else [names[s] for s in pool],
                    "target": name,
                    "indegree": {"distribution": "poisson", "mean": float(synapses)},
                    "weight": {"mean": weight, "sd": WEIGHT_CV * abs(weight), "classes": classes},
                    "delay": delay | least,
                })  # fmt: skip
        return populations, projections


def rate_of(events_hz: np.ndarray, weights_pA: np.ndarray) -> float:
    """Rate in spikes/s of NEURON that receives `events_hz` of each weight.

    Diffusion approximation: Siegert's formula with the first-order correction for exponential currents, an
    upward shift of threshold and reset (Fourcaud & Brunel 2002), as used for the multi-area model (Schuecker
    et al. 2017). The square of the strength of the noise is tau_m times the sum over inputs of rate times
    squared jump of the potential (twice the variance of the free potential).
    """
    from scipy.integrate import quad
    from scipy.special import erfcx

    tau_m, tau_s = NEURON["tau_m_ms"], 1e-3 * NEURON["tau_m_ms"]
    jump = weights_pA * NEURON["tau_syn_ms"] / NEURON["C_m_pF"]  # mV, as if it were instantaneous
    mean_mv = tau_s * events_hz @ jump  # of the free potential, above E_L
    sd_mv = math.sqrt(tau_s * (1 + WEIGHT_CV**2) * (events_hz @ jump**2))
    shift = SHIFT * math.sqrt(NEURON["tau_syn_ms"] / tau_m)
    high, low = (
        (NEURON[level] - NEURON["E_L_mV"] - mean_mv) / sd_mv + shift for level in ("V_th_mV", "V_reset_mV")
    )
    if high > 20:
        return 0.0  # slower than one spike in exp(400) ms, and beyond the range of numbers
    passage, _ = quad(lambda x: erfcx(-x), low, high)
    return 1e3 / (NEURON["t_ref_ms"] + tau_m * math.sqrt(math.pi) * passage)
