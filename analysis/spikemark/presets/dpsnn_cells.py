"""The cells of DPSNN: neurons, efficacies, delays and input from outside of one population or projection.

From the public configuration of Pastorelli et al. 2019 (AW2.8Hz_lambda04, SW_lambda04), which Simula et al.
2019 run too: a quarter of the excitatory neurons are foreground (F), the others background (B); I inhibits.
"""

import math
from typing import Literal

State = Literal["aw", "sw"]

POPULATIONS = ("F", "B", "I")
#: Share of the neurons, and of the 1125 synapses that a neuron receives, nine tenths of a column of 1250.
SHARES = {"F": 0.2, "B": 0.6, "I": 0.2}
INDEGREES = {"F": 225, "B": 675, "I": 225}

#: Mean efficacies, mV, by state, source and target in the order of POPULATIONS; relative SD 0.25.
EFFICACY_MV: dict[str, dict[str, tuple[float, float, float]]] = {
    "aw": {"F": (0.51511, 0.412534, 0.560233), "B": (0.412534, 0.429258, 0.560233), "I": (-1.5, -1.5, -1.5)},
    "sw": {"F": (0.600961, 0.382635, 0.560233), "B": (0.382635, 0.429258, 0.560233), "I": (-1.5, -1.5, -1.5)},
}
EXTERNAL_MV: dict[str, tuple[float, float, float]] = {
    "aw": (0.858516, 0.858516, 1.12047),
    "sw": (0.832761, 0.858516, 1.12047),
}
RELATIVE_SD = 0.25

EXTERNAL_SYNAPSES = 400
EXTERNAL_HZ = {"F": 3.16676, "B": 3.16676, "I": 3.0}
#: The rate for excitatory neurons on a grid of 1 ms, see external_hz().
EXTERNAL_HZ_COARSE = 3.235

#: Longest delay, ms; delays fall exponentially to a twentieth there, on a grid of 1 ms.
DELAY_MAX_MS = {"F": 80.0, "B": 80.0, "I": 20.0}
DELAY_MIN_MS = 1.0


def external_hz(name: str, resolution_ms: float) -> float:
    """Rate of an external synapse, events/s ("about 3 Hz" in Simula et al. 2019).

    On a fine grid it is that of the configuration, and AW fires at its 3.2 Hz. On a grid of 1 ms the
    potential is compared with the threshold more rarely and AW would fire at 3.0 Hz, so excitatory neurons
    get 2 % more.
    """
    return EXTERNAL_HZ_COARSE if name != "I" and resolution_ms > 0.5 else EXTERNAL_HZ[name]


def neuron(name: str) -> dict:
    """Parameters of `lif_sfa`. The potential starts anywhere between rest and threshold, the fatigue at 0."""
    inhibitory = name == "I"
    return {
        "model": "lif_sfa",
        "tau_m_ms": 10.0 if inhibitory else 20.0,
        "t_ref_ms": 1.0 if inhibitory else 2.0,
        "E_L_mV": 0.0,
        "V_th_mV": 20.0,
        "V_reset_mV": 15.0,
        "V_init_mV": 10.0,
        "V_init_sd_mV": 5.0,
        "g_c_mV_per_ms": 0.0 if inhibitory else 0.02,
        "alpha_c": 1.0,
        "tau_c_ms": 1000.0,
    }


def external(name: str, state: State, stimulation: float, resolution_ms: float) -> dict:
    """Input from outside, which for F weighs `stimulation` times the published efficacy.

    Published efficacies are spread over the 400 synapses with a relative SD c; one efficacy of (1 + c^2)
    times the mean at 1 / (1 + c^2) of the rate has the same mean and variance of the input.
    """
    spread = 1 + RELATIVE_SD**2
    weight = EXTERNAL_MV[state][POPULATIONS.index(name)] * (stimulation if name == "F" else 1)
    return {
        "rate_hz": external_hz(name, resolution_ms) / spread,
        "synapses": EXTERNAL_SYNAPSES,
        "weight": weight * spread,
    }


def projection(
    sources: list[str], kind: str, target: str, to: str, indegree: int, state: State, classes: int
) -> dict:
    """`indegree` synapses on each neuron of `target`, a `to`, from the pool of `sources`, all of a `kind`.

    Efficacies take `classes` values that keep mean and SD, so the input keeps both; what they lack is the far
    tails. With 0 classes every synapse has a weight of its own, in eight bytes.
    """
    mean = EFFICACY_MV[state][kind][POPULATIONS.index(to)]
    longest = DELAY_MAX_MS[kind]
    return {
        "source": sources,
        "target": target,
        "indegree": indegree,
        "weight": {"mean": mean, "sd": RELATIVE_SD * abs(mean), "classes": classes},
        "delay": {
            "distribution": "exponential",
            "mean": longest / math.log(20),
            "min": DELAY_MIN_MS,
            "max": longest,
        },
    }
