"""Run descriptions with their defaults filled in, as far as the mini-app does so in its records."""

from __future__ import annotations

INJECT = {
    "mean_us": 0.0, "sd_us": 0.0, "correlation": 0.0, "rank_sd_us": 0.0, "per_neuron_ns": 0.0,
    "per_synapse_ns": 0.0, "wait": "spin",
    "minor_mode": {"share": 0.0, "factor": 1.0},
}  # fmt: skip
RECORD_DEFAULTS = {
    "energy": False, "cycles": True, "spikes": False, "barrier": True, "energy_interval_s": 0.1,
    "kernel": False, "kernel_interval_s": 0.01, "counters": False, "energy_sensors": [],
}  # fmt: skip
#: What the neurons of a model have where the description does not say otherwise.
LIF = {
    "tau_m_ms": 10.0, "t_ref_ms": 2.0, "E_L_mV": -65.0, "V_th_mV": -50.0, "V_reset_mV": -65.0,
    "V_init_mV": -65.0, "V_init_sd_mV": 0.0,
}  # fmt: skip
NEURONS = {
    "ignore_and_fire": {"rate_hz": 2.5, "rate_cv": 0.0},
    "lif_exp": {"C_m_pF": 250.0, "tau_syn_ms": 0.5, "I_e_pA": 0.0, **LIF},
    "lif_delta": {"C_m_pF": 250.0, "I_e_pA": 0.0, **LIF},
    "lif_sfa": {"g_c_mV_per_ms": 0.02, "alpha_c": 1.0, "tau_c_ms": 1000.0, **LIF},
}
TOP = {"seed": 1, "delay_ratio": 1, "lag": 1, "schedule": "conventional", "wire": "compact"}


def filled(description: dict) -> dict:
    """A copy of a description of the form DESCRIPTION with defaults. Odd values stay as they are."""
    time = description["time"]
    step = time.get("resolution_ms", 0.1)
    found = {**TOP, "exchange": "alltoallv", **description}
    found["time"] = {"resolution_ms": step, "cycle_ms": step, "warmup_ms": 0, **time}
    found["inject"] = {**INJECT, **description.get("inject", {})}
    record = {**RECORD_DEFAULTS, **description.get("record", {})}
    found["record"] = record
    network = description["network"]
    found["network"] = {
        **network,
        "populations": [_population(one) for one in network["populations"]],
        "projections": [_projection(one, step) for one in network.get("projections", [])],
    }
    return found


def _population(population: dict) -> dict:
    neuron = population["neuron"]
    model = neuron.get("model")
    defaults = NEURONS.get(model, {}) if isinstance(model, str) else {}
    found = {"area": population["name"], **population, "neuron": {**defaults, **neuron}}
    if isinstance(found.get("external"), dict):
        found["external"] = {"synapses": 1, **found["external"]}
    return found


def _projection(projection: dict, step: float) -> dict:
    found = {"weight": 1.0, **projection}
    if isinstance(found["weight"], dict):
        found["weight"] = {"sd": 0.0, "classes": 32, **found["weight"]}
    if isinstance(found.get("indegree"), dict):
        found["indegree"] = {"distribution": "poisson", **found["indegree"]}
    delay = found.get("delay")
    if isinstance(delay, dict):
        found["delay"] = delay = {"distribution": "normal", "sd": 0.0, **delay}
        mean, sd = delay.get("mean"), delay["sd"]
        if isinstance(delay["distribution"], str) and all(isinstance(x, (int, float)) for x in (mean, sd)):
            longest = {"normal": mean + 4 * sd, "exponential": 5 * mean}.get(delay["distribution"], mean)
            shortest = mean if delay["distribution"] == "constant" else step
            delay.update({"min": delay.get("min", shortest), "max": delay.get("max", longest)})
    return found
