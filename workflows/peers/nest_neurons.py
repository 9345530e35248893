"""Populations of a run description (miniapp/FORMAT.md) as neurons of NEST.

`described` takes the models of the description as they are; the two others stand in for ignore_and_fire.
"""


class Refusal(ValueError):
    """NEST cannot do what the description asks for; the message is one line."""


#: NEST's model and parameters for each model of the mini-app: description -> (NEST's name, default).
SHARED = {
    "C_m_pF": ("C_m", 250.0),
    "I_e_pA": ("I_e", 0.0),
    "tau_m_ms": ("tau_m", 10.0),
    "t_ref_ms": ("t_ref", 2.0),
    "E_L_mV": ("E_L", -65.0),
    "V_th_mV": ("V_th", -50.0),
    "V_reset_mV": ("V_reset", -65.0),
}
DESCRIBED = {
    "lif_delta": ("iaf_psc_delta", SHARED),
    "lif_exp": ("iaf_psc_exp", SHARED | {"tau_syn_ms": ("tau_syn_ex", 0.5)}),
}
INITIAL = {"V_init_mV": -65.0, "V_init_sd_mV": 0.0}
IGNORING = "ignore_and_fire"

NOTES = {
    "ignore_and_fire": "it drops its input (the spike handler is empty, there is no ring buffer), so delivery"
    " and update do less than in the mini-app",
    "iaf_psc_delta": "it integrates its input as usual, with the weights of the description, but fires at the"
    " rates of the description (`ignore_and_spike`, NEST 3.10)",
    "described": "iaf_psc_delta and iaf_psc_exp with the parameters of the description; input from outside"
    " comes from one poisson_generator per population, which draws for every neuron apart",
}


def population(given, described):
    """Size, and what creating it takes; raises Refusal for what the asked kind of neuron cannot do."""
    name, neuron = given["name"], given["neuron"]
    taken = _described(name, neuron) if described else _ignoring(name, neuron)
    external = given.get("external")
    if external is not None and not described:
        raise Refusal(f"population {name!r}: external: expected no input from outside")
    if external is not None:
        rate = float(external["rate_hz"]) * int(external.get("synapses", 1))
        external = {"rate": rate, "weight": float(external["weight"])}
    return {"size": int(given["size"]), "external": external, **taken}


def _described(name, neuron):
    if neuron["model"] not in DESCRIBED:
        raise Refusal(
            f"population {name!r}: neuron.model: {neuron['model']!r}; expected {', '.join(DESCRIBED)}"
        )
    model, parameters = DESCRIBED[neuron["model"]]
    _known(name, neuron, (*parameters, *INITIAL))
    values = {theirs: float(neuron.get(ours, default)) for ours, (theirs, default) in parameters.items()}
    if "tau_syn_ex" in values:
        values["tau_syn_in"] = values["tau_syn_ex"]
    initial = {ours: float(neuron.get(ours, default)) for ours, default in INITIAL.items()}
    return {"model": model, "parameters": values, "initial": initial}


def _ignoring(name, neuron):
    if neuron["model"] != IGNORING:
        raise Refusal(f"population {name!r}: neuron.model: {neuron['model']!r}; expected {IGNORING}")
    _known(name, neuron, ("rate_hz", "rate_cv"))
    rate, cv = float(neuron.get("rate_hz", 2.5)), float(neuron.get("rate_cv", 0))
    if rate <= 0:
        raise Refusal(
            f"population {name!r}: neuron.rate_hz: {rate:g}; expected above 0, as NEST has no silent"
            " ignore_and_fire"
        )
    return {"rate": rate, "cv": cv}


def _known(name, neuron, known):
    unknown = set(neuron) - {"model", *known}
    if unknown:
        raise Refusal(f"population {name!r}: neuron.{min(unknown)}: expected {', '.join(known)}")


def _rate(nest, population):
    """In Hz, normal around its mean, redrawn until positive."""
    rate = population["rate"]
    if not population["cv"]:
        return rate
    spread = nest.random.normal(mean=rate, std=population["cv"] * rate)
    return nest.math.redraw(spread, min=1e-6 * rate, max=1e3 * rate)


def ignore_and_fire(nest, population, h):
    """Phase uniform in (0, 1]."""
    return "ignore_and_fire", {"rate": _rate(nest, population), "phase": 1.0 - nest.random.uniform()}


def iaf_psc_delta(nest, population, h):
    """NEST's defaults, forced to fire at the rate of the description; phases uniform."""
    rate = _rate(nest, population)
    phase = nest.random.uniform(min=h, max=1000 / population["rate"])  # within a step of 0, it never fires
    forced = {"ignore_and_spike_interval": 1000 / rate, "ignore_and_spike_offset": phase}
    return "iaf_psc_delta", {"ignore_and_spike": True, **forced}


def described(nest, population, h):
    """The model of the description; initial potentials normal."""
    mean, sd = population["initial"].values()
    initial = nest.random.normal(mean=mean, std=sd) if sd else mean
    return population["model"], {**population["parameters"], "V_m": initial}


#: Kinds of neurons by name: (nest, population, h) -> NEST's model and parameters.
KINDS = {"ignore_and_fire": ignore_and_fire, "iaf_psc_delta": iaf_psc_delta, "described": described}
