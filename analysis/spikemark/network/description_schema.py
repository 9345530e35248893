"""The JSON Schema of run descriptions, from the mini-app's table of fields.

Names, types, ranges and defaults are those of the table (fields.py), which the mini-app prints and
checks; what each field means is said here. A schema looks at one field at a time: how fields fit
each other, and which lanes a schedule has, is checked when a description is read (description.py).
"""

from typing import Any

from .fields import CHOICES, NEURON_RULES, RULES_BY_OBJECT, FieldRule

#: What each field means, by its path in the table.
MEANINGS = {
    "format_version": "version of the format",
    "seed": "the seed and `network` alone determine the network",
    "time": "the times to simulate, ms",
    "time.resolution_ms": "h, the step of the neurons, ms",
    "time.cycle_ms": "d_min, the time of a cycle, ms; a multiple of the resolution [that]",
    "time.warmup_ms": "simulated first and not measured, ms; a multiple of the cycle",
    "time.simulate_ms": "the measured part, ms; a multiple of the cycle",
    "delay_ratio": "D, cycles of a window; auto: the largest that is exact",
    "schedule": "when ranks exchange spikes: a name of `miniapp --list`, or a list of lanes",
    "schedule.*.name": "name of the lane; `exchange` and `wire` refer to it",
    "schedule.*.group": "ranks that it joins: those that share an area, blocks of so many, or all",
    "schedule.*.from": "areas whose spikes it carries [all]",
    "schedule.*.to": "areas that it carries spikes to [all]",
    "schedule.*.period": "P, cycles of a window; D: D / (lag + 1); auto: the longest exact one",
    "schedule.*.lag": "L, windows from the start of an exchange to its end",
    "lag": "L of the schedule `overlapped`",
    "placement": "where the neurons are [that of the schedule]",
    "placement.name": "name of the placement",
    "placement.file": "path of a placement file, for `from_file`",
    "placement.weights": "weight of each rank, for `round_robin` and `area_group`",
    "exchange": "how spikes travel, for all lanes or by lane",
    "exchange.two_level.name": "name of the composed exchange",
    "exchange.two_level.inner": "exchange within groups of neighbouring ranks",
    "exchange.two_level.outer": "exchange between groups",
    "exchange.two_level.group": "ranks of a group [about the square root of the ranks]",
    "exchange.multi_level.name": "name of the composed exchange",
    "exchange.multi_level.dimensions": "sizes of the grid of ranks, innermost first [two, as equal"
    " as possible]",
    "exchange.multi_level.parts": "exchange of all levels, or one for each [alltoallv]",
    "exchange.multi_level.side": "whose group the bridges belong to",
    "exchange.multi_level.merge": "whether a spike for several ranks travels to a bridge once",
    "exchange.multi_level.order": "path of a file with the place of each rank in the grid",
    "exchange.multi_level.table": "path of a file that chooses the bridges",
    "wire": "how a spike is written in a message, for all lanes or by lane",
    "delivery": "how synapses are visited: tuned, or in the plain loop of the reference [tuned]",
    "network": "populations, and what projects from one to another",
    "network.populations": "neurons, by model and area",
    "network.populations.*.name": "name, which no other population has",
    "network.populations.*.area": "area that it belongs to [its name]",
    "network.populations.*.size": "neurons",
    "network.populations.*.neuron": "model of the neurons, and its parameters",
    "network.populations.*.external": "input from outside: a Poisson process for each neuron",
    "network.populations.*.external.rate_hz": "events per second of each synapse from outside",
    "network.populations.*.external.synapses": "synapses from outside of each neuron",
    "network.populations.*.external.weight": "weight of an event, in the unit of the model",
    "network.projections": "synapses between populations",
    "network.projections.*.source": "population of the sources; several count as one pool",
    "network.projections.*.target": "population onto each of whose neurons it projects",
    "network.projections.*.indegree": "synapses per target neuron, or their distribution",
    "network.projections.*.indegree.mean": "mean number of synapses",
    "network.projections.*.indegree.distribution": "distribution of the number of synapses",
    "network.projections.*.weight": "input per spike, in the unit of the target's model, or a"
    " distribution",
    "network.projections.*.weight.mean": "mean of the weights",
    "network.projections.*.weight.sd": "standard deviation of the weights",
    "network.projections.*.weight.classes": "number of different weights; 0: each synapse has its"
    " own",
    "network.projections.*.delay": "distribution of the delays, ms",
    "network.projections.*.delay.distribution": "kind of the distribution",
    "network.projections.*.delay.mean": "mean before redrawing, ms; of exponential delays the decay"
    " length",
    "network.projections.*.delay.sd": "standard deviation before redrawing, ms",
    "network.projections.*.delay.min": "shorter delays are redrawn, ms [the resolution]",
    "network.projections.*.delay.max": "longer delays are redrawn, ms [mean + 4 sd; exponential: 5"
    " mean]",
    "record": "what is measured and written",
    "record.cycles": "write cycles.npy and activity.npy",
    "record.spikes": "write spikes.npy",
    "record.barrier": "meet at a barrier before an exchange, timed apart",
    "record.counters": "read counters between the phases of every cycle: all, or those named",
    "record.energy": "read the energy meter of every node beside the program",
    "record.energy_interval_s": "time between two readings of the meter, s",
    "record.energy_sensors": "read only these sensors of the board, CHIP/LABEL",
    "record.idle_pause_s": "pause before the program starts, so that idle power shows, s",
    "inject": "waits that are added to the work of ranks",
    "inject.mean_us": "mean wait of a rank in a cycle, us",
    "inject.sd_us": "standard deviation of the wait, us",
    "inject.correlation": "correlation of the waits of a rank from cycle to cycle",
    "inject.rank_sd_us": "spread of the mean wait between ranks, us",
    "inject.per_synapse_ns": "wait for each synapse delivered to, ns, of all ranks or of each",
    "inject.per_neuron_ns": "wait for each neuron, ns, of all ranks or of each",
    "inject.minor_mode": "waits that are longer now and then",
    "inject.minor_mode.share": "probability of a longer wait",
    "inject.minor_mode.factor": "how many times as long it is",
    "inject.wait": "how to wait; sleep: the core is free for other ranks",
}
#: What the parameters of neuron models mean, by name.
PARAMETERS = {
    "model": "a name of `miniapp --list`",
    "rate_hz": "mean rate, spikes/s; 0 is silent",
    "rate_cv": "spread of the rate between neurons over its mean",
    "C_m_pF": "capacitance of the membrane, pF",
    "tau_m_ms": "time constant of the membrane, ms",
    "tau_syn_ms": "time constant of the synaptic current, ms",
    "t_ref_ms": "refractory time, ms",
    "E_L_mV": "resting potential, mV",
    "V_th_mV": "threshold, mV",
    "V_reset_mV": "potential after a spike, mV; below the threshold",
    "V_init_mV": "mean initial potential, mV",
    "V_init_sd_mV": "standard deviation of the initial potential, mV",
    "I_e_pA": "constant input current, pA",
    "g_c_mV_per_ms": "strength of the adaptation, mV/ms",
    "alpha_c": "what a spike adds to the adaptation",
    "tau_c_ms": "time constant of the adaptation, ms",
}
#: Fields that may hold a value for each lane by its name.
BY_LANE = tuple(CHOICES)
#: Exchanges that are composed of others.
COMPOSED = ("two_level", "multi_level")

Schema = dict[str, Any]


def description_schema() -> Schema:
    """The JSON Schema (2020-12) of a run description.

    Example:
        >>> sorted(description_schema()["required"])
        ['format_version', 'network', 'time']
    """
    schema = _object("", RULES_BY_OBJECT[""])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Run description",
        "description": "A network, the time to simulate, and how ranks exchange spikes.",
        **schema,
    }


def _object(path: str, rules: dict[str, FieldRule]) -> Schema:
    """The schema of an object; `path` with a dot behind, as a key of FIELDS."""
    required = [name for name, rule in rules.items() if rule.required]
    schema: Schema = {
        "type": "object",
        "properties": {name: _field(f"{path}{name}", rule) for name, rule in rules.items()},
        "additionalProperties": False,
    }
    if required:
        schema["required"] = required
    return schema


def _field(path: str, rule: FieldRule) -> Schema:
    """The schema of a field: what it means, its default, and what it may hold."""
    schema: Schema = {"description": MEANINGS[path]}
    if rule.default is not None:
        schema["default"] = rule.default
    return schema | _any_of([_value(path, rule, kind) for kind in rule.types])


def _any_of(schemas: list[Schema]) -> Schema:
    """A schema that accepts what one of them accepts."""
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _value(path: str, rule: FieldRule, kind: str) -> Schema:
    """The schema of a value of one kind (`FieldRule.types`)."""
    if kind in ("integer", "number"):
        return {"type": kind, "minimum": rule.low, "maximum": rule.high}
    if kind == "boolean":
        return {"type": "boolean"}
    if kind == "text":
        return {"enum": list(rule.values)} if rule.values else {"type": "string", "minLength": 1}
    if kind == "list":
        items = [_item(path, rule, kind_of_item) for kind_of_item in rule.items]
        return {"type": "array", "items": _any_of(items)}
    return _object_of_field(path, rule)


def _item(path: str, rule: FieldRule, kind: str) -> Schema:
    """The schema of an item of a list, of one kind."""
    if kind == "object":
        return _object(f"{path}.*.", RULES_BY_OBJECT[f"{path}.*."])
    return _value(path, rule, kind)


def _object_of_field(path: str, rule: FieldRule) -> Schema:
    """The schema of an object that is the value of a field."""
    if path == "network.populations.*.neuron":
        return _any_of([_neuron(model) for model in NEURON_RULES])
    if path in BY_LANE:
        return _by_lane(rule)
    return _object(f"{path}.", RULES_BY_OBJECT[f"{path}."])


def _neuron(model: str) -> Schema:
    """The schema of a neuron model and its parameters."""
    schema = {"description": PARAMETERS["model"], "const": model}
    properties: dict[str, Schema] = {"model": schema}
    for name, rule in NEURON_RULES[model].items():
        if name != "model":
            limits = {"type": "number", "minimum": rule.low, "maximum": rule.high}
            about = {"description": PARAMETERS[name], "default": rule.default}
            properties[name] = about | limits
    return {
        "type": "object",
        "properties": properties,
        "required": ["model"],
        "additionalProperties": False,
    }


def _by_lane(rule: FieldRule) -> Schema:
    """The schema of a composed exchange, or of an object with a choice for each lane."""
    choices = [_value(rule.path, rule, "text")]
    composed = []
    if rule.name == "exchange":
        composed = [_composed(name) for name in COMPOSED]
    lanes = {
        "type": "object",
        "propertyNames": {"not": {"const": "name"}},
        "additionalProperties": _any_of([*choices, *composed]),
    }
    return _any_of([*composed, lanes])


def _composed(name: str) -> Schema:
    """The schema of a composed exchange."""
    path = f"exchange.{name}."
    schema = _object(path, RULES_BY_OBJECT[path])
    schema["properties"]["name"] = {"description": MEANINGS[f"{path}name"], "const": name}
    return schema
