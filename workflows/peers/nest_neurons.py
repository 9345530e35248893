"""Populations of a run description (miniapp/FORMAT.md) as neurons of NEST.

`described` takes the models of the description as they are; the two others stand in for
ignore_and_fire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


class Refusal(ValueError):
    """NEST cannot do what the description asks for; the message is one line."""


#: Parameters of all models: name in the description -> (NEST's name, default).
SHARED = {
    "C_m_pF": ("C_m", 250.0),
    "I_e_pA": ("I_e", 0.0),
    "tau_m_ms": ("tau_m", 10.0),
    "t_ref_ms": ("t_ref", 2.0),
    "E_L_mV": ("E_L", -65.0),
    "V_th_mV": ("V_th", -50.0),
    "V_reset_mV": ("V_reset", -65.0),
}
#: NEST's model and parameters for each model of the mini-app that it has, too.
DESCRIBED = {
    "lif_delta": ("iaf_psc_delta", SHARED),
    "lif_exp": ("iaf_psc_exp", SHARED | {"tau_syn_ms": ("tau_syn_ex", 0.5)}),
}
#: Mean and standard deviation of initial potentials, and their defaults.
INITIAL = {"V_init_mV": -65.0, "V_init_sd_mV": 0.0}
IGNORING = "ignore_and_fire"

#: What a reader must know of each kind of neurons.
NOTES = {
    "ignore_and_fire": (
        "it drops its input (the spike handler is empty, there is no ring buffer), so delivery"
        " and update do less than in the mini-app"
    ),
    "iaf_psc_delta": (
        "it integrates its input as usual, with the weights of the description, but fires at the"
        " rates of the description (`ignore_and_spike`, NEST 3.10)"
    ),
    "described": (
        "iaf_psc_delta and iaf_psc_exp with the parameters of the description; input from outside"
        " comes from one poisson_generator per population, which draws for every neuron apart"
    ),
}


@dataclass
class External:
    """Input from outside, of one neuron."""

    rate: float  #: spikes/s of all its synapses together
    weight: float


@dataclass
class Population:
    """A population, and what creating it takes."""

    size: int
    external: External | None
    rate: float = 0.0  #: mean rate in Hz, where neurons fire at a rate of their own
    rate_cv: float = 0.0  #: standard deviation over mean of these rates
    model: str = ""  #: NEST's model, where it is that of the description
    parameters: dict[str, float] = field(default_factory=dict)  #: by NEST's names
    initial_mean: float = 0.0  #: initial potential, mV
    initial_sd: float = 0.0  #: mV


def population(description: dict[str, Any], as_described: bool) -> Population:
    """A population of a run description.

    `as_described`: whether its own model is taken. Raises Refusal for what the asked kind of neuron
    cannot do.
    """
    name, neuron = description["name"], description["neuron"]
    external = description.get("external")
    if as_described:
        result = Population(int(description["size"]), _external(external))
        _set_described(result, name, neuron)
        return result
    result = Population(int(description["size"]), None)
    _set_ignoring(result, name, neuron)
    if external is not None:
        raise Refusal(f"population {name!r}: external: expected no input from outside")
    return result


def _external(description: dict[str, Any] | None) -> External | None:
    """Input from outside, as the description states it."""
    if description is None:
        return None
    rate = float(description["rate_hz"]) * int(description.get("synapses", 1))
    return External(rate, float(description["weight"]))


def _set_described(population: Population, name: str, neuron: dict[str, Any]) -> None:
    """Gives a population the model and the parameters of the description."""
    model = neuron["model"]
    if model not in DESCRIBED:
        expected = ", ".join(DESCRIBED)
        raise Refusal(f"population {name!r}: neuron.model: {model!r}; expected {expected}")
    population.model, parameters = DESCRIBED[model]
    _refuse_unknown(name, neuron, [*parameters, *INITIAL])
    for description_name, (nest_name, default) in parameters.items():
        population.parameters[nest_name] = float(neuron.get(description_name, default))
    if "tau_syn_ex" in population.parameters:
        population.parameters["tau_syn_in"] = population.parameters["tau_syn_ex"]
    population.initial_mean = float(neuron.get("V_init_mV", INITIAL["V_init_mV"]))
    population.initial_sd = float(neuron.get("V_init_sd_mV", INITIAL["V_init_sd_mV"]))


def _set_ignoring(population: Population, name: str, neuron: dict[str, Any]) -> None:
    """Gives a population the rates of the description."""
    model = neuron["model"]
    if model != IGNORING:
        raise Refusal(f"population {name!r}: neuron.model: {model!r}; expected {IGNORING}")
    _refuse_unknown(name, neuron, ["rate_hz", "rate_cv"])
    population.rate = float(neuron.get("rate_hz", 2.5))
    population.rate_cv = float(neuron.get("rate_cv", 0))
    if population.rate <= 0:
        expected = "above 0, as NEST has no silent ignore_and_fire"
        value = f"neuron.rate_hz: {population.rate:g}"
        raise Refusal(f"population {name!r}: {value}; expected {expected}")


def _refuse_unknown(name: str, neuron: dict[str, Any], fields: list[str]) -> None:
    """Raises Refusal for parameters of a neuron that NEST's lacks."""
    unknown = set(neuron) - {"model", *fields}
    if unknown:
        expected = ", ".join(fields)
        raise Refusal(f"population {name!r}: neuron.{min(unknown)}: expected {expected}")


def _rates(nest: Any, population: Population) -> Any:
    """Rates of the neurons in Hz, normal around their mean, redrawn until positive."""
    rate = population.rate
    if not population.rate_cv:
        return rate
    normal = nest.random.normal(mean=rate, std=population.rate_cv * rate)
    return nest.math.redraw(normal, min=1e-6 * rate, max=1e3 * rate)


def ignore_and_fire(nest: Any, population: Population, step_ms: float) -> dict[str, Any]:
    """Parameters of neurons that fire at rates; phase uniform in (0, 1]."""
    return {"rate": _rates(nest, population), "phase": 1.0 - nest.random.uniform()}


def iaf_psc_delta(nest: Any, population: Population, step_ms: float) -> dict[str, Any]:
    """Parameters of NEST's defaults, forced to fire at the rates of the description.

    Phases are uniform from one step on: within a step of 0, a neuron never fires.
    """
    return {
        "ignore_and_spike": True,
        "ignore_and_spike_interval": 1000 / _rates(nest, population),
        "ignore_and_spike_offset": nest.random.uniform(min=step_ms, max=1000 / population.rate),
    }


def described(nest: Any, population: Population, step_ms: float) -> dict[str, Any]:
    """Parameters of the description; initial potentials normal."""
    initial = population.initial_mean
    if population.initial_sd:
        initial = nest.random.normal(mean=initial, std=population.initial_sd)
    return {**population.parameters, "V_m": initial}


#: What gives the parameters of each kind of neurons: (nest, population, step_ms) -> parameters.
KINDS = {"ignore_and_fire": ignore_and_fire, "iaf_psc_delta": iaf_psc_delta, "described": described}
