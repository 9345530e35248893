"""The fields of a run description: what each may hold, and the check of a description against that.

The table is the mini-app's: `listing.json` is a copy of what `miniapp --list` prints, so that
predictions do not need the mini-app, and a test compares the two. After a change of the mini-app,
write the copy anew:
`build/miniapp --list > analysis/spikemark/network/listing.json`.

The check looks at one field at a time: its name, its type, its range. A quick look at each field of
all objects of a kind says whether all of them fit, which takes a fifth of the time; only where it
does not say so, each object is looked at, and the first fault is named. How fields fit each other
is checked in description.py, and what depends on the number of ranks in lanes.py.
"""

import itertools
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput, proposal, short_repr

#: Values that hold others, and numbers: tuples are asked faster than unions of types.
CONTAINERS = (dict, list)
NUMBERS = (int, float)
LISTING: dict[str, Any] = json.loads(Path(__file__).with_name("listing.json").read_text())


@dataclass(frozen=True)
class FieldRule:
    """What a field of a run description may hold."""

    path: str  #: from the top of the description; "*" stands for an item of a list
    types: tuple[str, ...]  #: of number, integer, boolean, text, object, list
    items: tuple[str, ...] = ()  #: the same, of the items of a list
    required: bool = False  #: whether it may not be left out
    default: Any = None  #: None: the field may be left out, and has no value then
    low: float | None = None  #: of a number or an integer, also as an item
    high: float | None = None  #: the same
    #: The texts that are allowed; None: all but the empty one.
    values: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition(".")[2]

    def expected(self, types: tuple[str, ...]) -> str:
        """What is expected of a value of these types, in words."""
        return ", or ".join(self._in_words(name) for name in types)

    def _in_words(self, name: str) -> str:
        """One type in words, with its limits."""
        if name in ("number", "integer"):
            noun = "an integer" if name == "integer" else "a number"
            return f"{noun} from {self.low:.16g} to {self.high:.16g}"
        if name == "text":
            return ", ".join(self.values or ["text that is not empty"])
        if name == "list":
            return f"a list, each item {self.expected(self.items)}"
        return {"boolean": "true or false", "object": "a mapping of fields"}[name]

    def allows(self, value: Any, types: tuple[str, ...]) -> bool:
        """Says whether a value is of one of the types, and within the limits."""
        if type(value) in NUMBERS:  # most values; no boolean is
            return self._allows_number(value, types)
        if isinstance(value, bool):
            return "boolean" in types
        if isinstance(value, NUMBERS):
            return self._allows_number(value, types)
        if isinstance(value, str):
            return "text" in types and self._allows_text(value)
        if isinstance(value, dict):
            return "object" in types
        return isinstance(value, list) and "list" in types

    def _allows_number(self, value: float, types: tuple[str, ...]) -> bool:
        if self.low is None or self.high is None or not self.low <= value <= self.high:
            return False
        return "number" in types or ("integer" in types and value == math.floor(value))

    def allows_numbers(self, values: list[float], types: tuple[str, ...]) -> bool:
        """Says the same of many numbers, none of them a boolean."""
        if self.low is None or self.high is None:
            return False
        low, high = self.low, self.high
        if not all(low <= value <= high for value in values):
            return False
        if "number" in types:
            return True
        return "integer" in types and all(value == math.floor(value) for value in values)

    def _allows_text(self, value: str) -> bool:
        if self.values is not None:
            return value in self.values
        return value != "" and "\0" not in value


def _rules_by_object(listing: dict[str, Any]) -> dict[str, dict[str, FieldRule]]:
    """The rules of the fields of each object.

    The path of the object with a dot behind -> name -> rule.
    """
    objects: dict[str, dict[str, FieldRule]] = {}
    for entry in listing["fields"]:
        rule = FieldRule(
            path=entry["path"],
            types=tuple(entry["types"]),
            items=tuple(entry["items"]),
            required=entry["required"],
            default=entry["default"],
            low=entry["low"],
            high=entry["high"],
            values=None if entry["values"] is None else tuple(entry["values"]),
        )
        objects.setdefault(rule.path.removesuffix(rule.name), {})[rule.name] = rule
    return objects


def _rules_of_models(listing: dict[str, Any]) -> dict[str, dict[str, FieldRule]]:
    """The rules of the fields of `neuron`, by the name of the model."""
    names = tuple(model["name"] for model in listing["neuron_models"])
    models: dict[str, dict[str, FieldRule]] = {}
    for model in listing["neuron_models"]:
        rules = {"model": FieldRule("model", ("text",), required=True, values=names)}
        for parameter in model["parameters"]:
            rule = FieldRule(
                parameter["name"],
                ("number",),
                default=parameter["default"],
                low=parameter["low"],
                high=parameter["high"],
            )
            rules[rule.name] = rule
        models[model["name"]] = rules
    return models


#: The rules of the fields of each object of a description, by the object's path.
RULES_BY_OBJECT = _rules_by_object(LISTING)
#: The rules of the fields of `neuron`, by the name of the model.
NEURON_RULES = _rules_of_models(LISTING)
#: The lanes of each schedule that has a name.
LANES_OF: dict[str, list[str]] = {}
for _schedule in LISTING["schedules"]:
    LANES_OF[_schedule["name"]] = [lane["name"] for lane in _schedule["lanes"]]
#: Rules for the name of an exchange or a wire format that is chosen for one lane.
CHOICES = {"exchange": RULES_BY_OBJECT[""]["exchange"], "wire": RULES_BY_OBJECT[""]["wire"]}


def rule(path: str) -> FieldRule:
    """The rule of a field.

    Example:
        >>> rule("network.populations.*.size").types
        ('integer',)
    """
    name = path.rpartition(".")[2]
    return RULES_BY_OBJECT[path.removesuffix(name)][name]


def default(path: str) -> Any:
    """The value of a field that is left out.

    Example:
        >>> default("time.resolution_ms")
        0.1
    """
    return rule(path).default


def check(description: object, where: str = "") -> None:
    """Check each field of a description by itself.

    Args:
        description: the content of a file.
        where: begins the line of an error.

    Raises:
        BadInput: naming the field by its path as the mini-app does, for an unknown or missing
            field, a wrong type, and a value out of range.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = mam_benchmark.describe(areas=2)
        >>> check(description)
        >>> try:
        ...     check(description | {"threads": 4})
        ... except BadInput as error:
        ...     print(error.field, error.code)
        threads unknown
    """
    try:
        if not isinstance(description, dict):
            message = f"run description={short_repr(description)}; expected a mapping of fields"
            raise BadInput(message, field=None, code="type")
        if not _all_fit([description], RULES_BY_OBJECT[""]):
            _check_object(description, "", RULES_BY_OBJECT[""])
        for number, population in enumerate(description["network"]["populations"]):
            _check_neuron(population["neuron"], f"network.populations.{number}.neuron.")
        _check_choices(description)
    except BadInput as error:
        raise error.within(file=where.removesuffix(": ") or None) from None


def check_time(description: object) -> None:
    """Check the field `time` of a description, whatever else it contains. Raises BadInput as
    `check`.

    Example:
        >>> check_time({"time": {"simulate_ms": 10}})
        >>> check_time({"time": {"simulate_ms": -1}})
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: time.simulate_ms=-1; expected a number from 1e-06 to ...
    """
    time = description.get("time") if isinstance(description, dict) else None
    _check_value(time, "time", RULES_BY_OBJECT[""]["time"])


def refusal(path: str, value: object, expected: str, code: str = "value") -> BadInput:
    """The error about a field that is not as expected.

    Example:
        >>> str(refusal("lag", -1, "at least 0"))
        'lag=-1; expected at least 0'
    """
    return BadInput(
        field=path,
        value=value,
        expected=expected,
        code=code,
    )


def unknown_field(path: str, fields: Iterable[str]) -> BadInput:
    """The error about a field that does not exist, with the one that may have been meant.

    Args:
        path: of the field that does not exist.
        fields: names of those that do, beside it.

    Example:
        >>> str(unknown_field("time.cycle", ["cycle_ms", "warmup_ms"]))
        "time.cycle: unknown field; expected cycle_ms, warmup_ms; did you mean 'cycle_ms'?"
    """
    names = list(fields)
    expected = f"{', '.join(names)}{proposal(path.rpartition('.')[2], names)}"
    return BadInput(
        field=path,
        reason="unknown field",
        expected=expected,
        code="unknown",
    )


def _missing(path: str, expected: str) -> BadInput:
    """The error about a field that must not be left out."""
    return BadInput(
        field=path,
        reason="missing",
        expected=expected,
        code="missing",
    )


def _all_fit(objects: list[dict[str, Any]], rules: dict[str, FieldRule]) -> bool:
    """Whether `_check_object` surely finds no fault in any of many objects of one kind."""
    if not set().union(*objects) <= rules.keys():
        return False
    for name, field in rules.items():
        values = [content[name] for content in objects if name in content]
        if field.required and len(values) < len(objects):
            return False
        lists = [value for value in values if type(value) is list]
        items = list(itertools.chain.from_iterable(lists))
        if lists:
            values = [value for value in values if type(value) is not list]
            if "list" not in field.types:
                return False
        if not _values_fit(values, field, field.types, f"{field.path}."):
            return False
        if not _values_fit(items, field, field.items, f"{field.path}.*."):
            return False
    return True


def _values_fit(values: list[Any], field: FieldRule, types: tuple[str, ...], inside: str) -> bool:
    """Whether a field surely allows all of these values, and what they contain.

    `inside`: what the paths of their fields begin with, where they are objects.
    """
    by_kind: dict[type, list[Any]] = {}
    for value in values:
        by_kind.setdefault(type(value), []).append(value)
    for kind, alike in by_kind.items():
        if kind is dict:
            fit = "object" in types
            if inside in RULES_BY_OBJECT:
                fit = fit and _all_fit(alike, RULES_BY_OBJECT[inside])
        elif kind in NUMBERS:
            fit = field.allows_numbers(alike, types)
        elif kind is str:
            fit = all(field.allows(text, types) for text in set(alike))
        elif issubclass(kind, CONTAINERS):  # a list in a list, or a class of its own
            fit = False
        else:
            fit = all(field.allows(value, types) for value in alike)
        if not fit:
            return False
    return True


def _check_object(content: dict[str, Any], at: str, rules: dict[str, FieldRule]) -> None:
    """Check the fields of an object; `at`: its path with a dot behind."""
    if not content.keys() <= rules.keys():
        first = next(name for name in content if name not in rules)
        raise unknown_field(f"{at}{first}", rules)
    for name, field in rules.items():
        if name not in content:
            if field.required:
                raise _missing(f"{at}{name}", field.expected(field.types))
            continue
        value = content[name]
        if isinstance(value, CONTAINERS) or not field.allows(value, field.types):
            _check_value(value, f"{at}{name}", field)  # a path takes longer than a look at a number


def _check_value(value: object, path: str, field: FieldRule) -> None:
    """Check one value, and what it contains."""
    if not field.allows(value, field.types):
        raise _not_allowed(path, value, field, field.types)
    if isinstance(value, dict) and f"{field.path}." in RULES_BY_OBJECT:
        _check_object(value, f"{path}.", RULES_BY_OBJECT[f"{field.path}."])
    if isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, dict) or not field.allows(item, field.items):
                _check_item(item, f"{path}.{number}", field)


def _check_item(item: object, path: str, field: FieldRule) -> None:
    """Check one item of a list."""
    if not field.allows(item, field.items):
        raise _not_allowed(path, item, field, field.items)
    if isinstance(item, dict):
        _check_object(item, f"{path}.", RULES_BY_OBJECT[f"{field.path}.*."])


def _not_allowed(
    path: str,
    value: object,
    field: FieldRule,
    types: tuple[str, ...],
) -> BadInput:
    """The error about a value of these types that a field does not allow."""
    expected = f"{field.expected(types)}{proposal(value, field.values or ())}"
    return refusal(path, value, expected, _code(value, field))


def _code(value: object, field: FieldRule) -> str:
    """What is wrong with a value, as in `BadInput.code`."""
    types = {*field.types, *field.items}
    if isinstance(value, str) and "text" in types:
        return "unknown"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "range" if is_number and types & {"number", "integer"} else "type"


def _check_neuron(neuron: dict[str, Any], at: str) -> None:
    """Check a model and its parameters."""
    model = RULES_BY_OBJECT["network.populations.*."]["neuron"]
    if "model" not in neuron:
        raise _missing(f"{at}model", ", ".join(NEURON_RULES))
    if not isinstance(neuron["model"], str) or neuron["model"] not in NEURON_RULES:
        expected = f"{', '.join(NEURON_RULES)}{proposal(neuron['model'], NEURON_RULES)}"
        raise refusal(f"{at}model", neuron["model"], expected, _code(neuron["model"], model))
    _check_object(neuron, at, NEURON_RULES[neuron["model"]])


def _check_choices(description: dict[str, Any]) -> None:
    """Check what is chosen for all lanes, or for each by its name: exchanges and wire formats."""
    schedule = description.get("schedule", default("schedule"))
    lanes = _lane_names(schedule)
    for name, field in CHOICES.items():
        choice = description.get(name)
        if not isinstance(choice, dict):
            continue
        if name == "exchange" and "name" in choice:
            choice = dict.fromkeys(lanes[:1], choice)
        for lane in choice:
            if lane not in lanes:
                raise unknown_field(f"{name}.{lane}", lanes)
            _check_choice(choice[lane], f"{name}.{lane}", field)


def _lane_names(schedule: str | list[dict[str, Any]]) -> list[str]:
    """The names of the lanes of a schedule, which has a name or is a list of lanes."""
    if isinstance(schedule, str):
        return LANES_OF[schedule]
    return [lane["name"] for lane in schedule]


def _check_choice(choice: object, path: str, field: FieldRule) -> None:
    """Check what is chosen for a lane: a name, or the fields of a composed exchange."""
    types = field.types if field.name == "exchange" else ("text",)
    if not field.allows(choice, types):
        raise _not_allowed(path, choice, field, ("text",))
    if not isinstance(choice, dict):
        return
    name = choice.get("name")
    if not isinstance(name, str) or name not in (field.values or ()):
        raise _not_allowed(f"{path}.name", name, field, ("text",))
    only_name = {"name": FieldRule("name", ("text",), required=True)}
    _check_object(choice, f"{path}.", RULES_BY_OBJECT.get(f"exchange.{name}.", only_name))
