"""Rate of a leaky integrate-and-fire neuron with noisy input, in diffusion approximation.

Siegert's formula with the first-order correction for exponential currents, an upward shift of threshold and
reset (Fourcaud & Brunel 2002), as used for the multi-area model by Schuecker et al. (2017).
"""

import math

import numpy as np

from .cortex import NEURON, WEIGHT_CV

SHIFT = 1.4603545088095868 / math.sqrt(2)  # |zeta(1/2)| / sqrt(2), times sqrt(tau_syn / tau_m)


def rate_hz(mean_mv: float, sd_mv: float) -> float:
    """Rate in spikes/s of cortex.NEURON whose free potential has mean `mean_mv` above E_L.

    `sd_mv` is the strength of the noise: its square is tau_m times the sum over inputs of rate times squared
    jump of the potential (twice the variance of the free potential).
    """
    from scipy.integrate import quad
    from scipy.special import erfcx

    tau_m = NEURON["tau_m_ms"]
    shift = SHIFT * math.sqrt(NEURON["tau_syn_ms"] / tau_m)
    high, low = (
        (NEURON[level] - NEURON["E_L_mV"] - mean_mv) / sd_mv + shift for level in ("V_th_mV", "V_reset_mV")
    )
    if high > 20:
        return 0.0  # slower than one spike in exp(400) ms, and beyond the range of numbers
    passage, _ = quad(lambda x: erfcx(-x), low, high)
    return 1e3 / (NEURON["t_ref_ms"] + tau_m * math.sqrt(math.pi) * passage)


def rate_of(events_hz: np.ndarray, weights_pA: np.ndarray) -> float:
    """Rate in spikes/s of cortex.NEURON that receives `events_hz` of each weight."""
    jump = weights_pA * NEURON["tau_syn_ms"] / NEURON["C_m_pF"]  # mV, as if it were instantaneous
    tau_s = 1e-3 * NEURON["tau_m_ms"]
    spread = 1 + WEIGHT_CV**2
    return rate_hz(tau_s * events_hz @ jump, math.sqrt(tau_s * spread * (events_hz @ jump**2)))
