"""The fields of an experiment file, workflows/experiments/NAME.yaml (docs/experiments.md)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    TypeAdapter,
    ValidationError,
    model_validator,
)
from pydantic.config import JsonDict

from spikemark.core.errors import BadInput, proposal, short_repr
from spikemark.core.validation import invalid
from spikemark.launch.layout import Binding, Distribution

from .plan import TIME_LIMIT_S, Count, Repetition, Seed, SimulatedOn, TimeLimit

#: Fields of a run description that an experiment may set; `seed` comes from `seeds`.
DESCRIPTION_FIELDS = (
    "time",
    "delay_ratio",
    "schedule",
    "lag",
    "placement",
    "exchange",
    "wire",
    "delivery",
    "network",
    "record",
    "inject",
)
#: Prefixes of fields of the grid: options of the preset, and changes of the field `machine`.
PRESET = "preset."
MACHINE_PREFIX = "machine."
PRESET_NAME = f"{PRESET}name"  # the field of the grid that names another preset
#: Fields of a configuration of the workflow beside those of an experiment.
CONFIG_FIELDS = {
    "experiment": "the name of an experiment, or its file; the other fields change it",
    "results": "the folder of the results [results/NAME/MACHINE]",
}
#: How ranks lie on nodes and cores: fields that may be left out, and then are no part of a run's
#: id.
LAYOUT: dict[str, TypeAdapter[Any]] = {
    "ranks_per_node": TypeAdapter(Count),
    "distribution": TypeAdapter(Distribution),
    "binding": TypeAdapter(Binding),
}
#: Fields of a grid that replace those of the experiment and are not part of a run description.
PLACES: dict[str, TypeAdapter[Any]] = {
    "ranks": TypeAdapter(Count),
    "threads": TypeAdapter(Count),
    **LAYOUT,
}


def as_list(value: object) -> list[Any]:
    """A list as it is, and anything else as a list of one.

    Example:
        >>> as_list(4), as_list([1, 2])
        ([4], [1, 2])
    """
    return value if isinstance(value, list) else [value]


def _as_list(kind: object) -> BeforeValidator:
    """Takes one value of a kind for a list of one, also in the JSON Schema."""
    return BeforeValidator(as_list, json_schema_input_type=kind)


#: One value or several, as a list; those that may be empty have no limit.
SomeCounts = Annotated[list[Count], Field(min_length=1)]
SomeSeeds = Annotated[list[Seed], Field(min_length=1)]
Counts = Annotated[SomeCounts, _as_list(Count | SomeCounts)]
Seeds = Annotated[SomeSeeds, _as_list(Seed | SomeSeeds)]
AnyCounts = Annotated[list[Count], _as_list(Count | list[Count])]
Distributions = Annotated[list[Distribution], _as_list(Distribution | list[Distribution])]
Bindings = Annotated[list[Binding], _as_list(Binding | list[Binding])]


class PresetChoice(BaseModel):
    """A preset and its options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(description="a preset")
    options: dict[str, Any] = Field(
        {},
        description="options of the preset, with `_` for `-`",
    )


def _begins_with(names: Iterable[str]) -> dict[str, Any]:
    """What a JSON Schema says of an object whose fields are paths that begin with these names."""
    pattern = rf"^({'|'.join(names)})(\.[^.]+)*$"
    return {"type": "object", "propertyNames": {"pattern": pattern}}


#: What a JSON Schema says of an experiment: it has a preset or a description.
_ONE_NETWORK: JsonDict = {
    "oneOf": [
        {"required": ["preset"], "properties": {"preset": {"type": "object"}}},
        {"required": ["description"], "properties": {"description": {"type": "string"}}},
    ]
}


class Experiment(BaseModel):
    """An experiment: a network, and the grid of settings to run it with."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra=_ONE_NETWORK,
    )

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description="the folder of the results, results/NAME/MACHINE",
    )
    title: str = Field(description="the title of the report")
    preset: PresetChoice | None = Field(
        None, description="the network: a preset; `description` is required without it"
    )
    description: Path | None = Field(
        None, description="the network: a file, JSON or YAML, relative to the experiment"
    )
    set: dict[str, Any] = Field(
        {},
        description="fields of the description that all runs share, with `.` between levels",
        json_schema_extra=_begins_with(DESCRIPTION_FIELDS),
    )
    machine: SimulatedOn | None = Field(
        None, description="the machine to simulate the runs on; null: they are measured"
    )
    grid: list[dict[str, Any]] = Field(
        min_length=1,
        description="what is varied: each entry maps fields to a value or a list of values, and"
        " yields all combinations of its lists",
        json_schema_extra={
            "items": _begins_with((*DESCRIPTION_FIELDS, "preset", "machine", *PLACES))
        },
    )
    ranks: Counts = Field(description="MPI ranks, one number or several")
    threads: Counts = Field(
        [1],
        description="threads of each rank, likewise",
    )
    ranks_per_node: AnyCounts = Field(
        [], description="the most ranks on a node, likewise; empty: as many as its cores allow"
    )
    distribution: Distributions = Field(
        [],
        description="block: successive ranks share a node; cyclic: they lie on successive nodes;"
        " empty: left to the launcher",
    )
    binding: Bindings = Field(
        [], description="cores: every thread has a core of its own; none; empty: as the cores allow"
    )
    seeds: Seeds = Field(
        [1],
        description="seeds of the network, one or a list: a number is a seed, not how many",
    )
    repetitions: Repetition = Field(
        1,
        description="how often every run is made",
    )
    shuffle_seed: Seed = Field(description="seed of the random order of the runs")
    skip_impossible: StrictBool = Field(
        False,
        description="leave out points of the grid that the mini-app would refuse, instead of"
        " refusing the experiment",
    )
    time_limit_s: TimeLimit = Field(
        TIME_LIMIT_S, description="a run that takes longer is stopped and counts as failed, s"
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.preset is None) == (self.description is None):
            raise BadInput(
                "exactly one of the fields 'preset' and 'description' is needed", field="preset"
            )
        if self.preset and "seed" in self.preset.options:
            field = "preset.options.seed"
            raise BadInput(f"field '{field}' cannot be set: give 'seeds'", field=field)
        for field in self.set:
            _check_field(field, DESCRIPTION_FIELDS, beside=tuple(type(self).model_fields))
        self._check_grid()
        if self.machine:
            self._check_machine(self.machine)
        return self

    def _check_grid(self) -> None:
        """Raises BadInput for fields that cannot be varied, and for values that they cannot
        have.
        """
        varied = [*DESCRIPTION_FIELDS]
        if self.preset:
            varied.append("preset")
        if self.machine:
            varied.append("machine")
        varied += PLACES
        for entry in self.grid:
            for field, values in entry.items():
                _check_field(field, varied)
                if values == []:
                    reason = f"field {field!r} of the grid has no values: give at least one"
                    raise BadInput(reason, field=field)
                if field in PLACES:
                    _check_place(field, as_list(values))

    def _check_machine(self, machine: SimulatedOn) -> None:
        """Raises BadInput for a layout beside the simulated machine, and for what `compute_of`
        cannot change.
        """
        for field in LAYOUT:
            if self.varies(field):
                raise cannot_be_set(field, "'machine.ranks_per_node' with the field 'machine'")
        changed = [*DESCRIPTION_FIELDS]
        if self.preset:
            changed.append("preset")
        for field in machine.compute_of:
            _check_field(field, changed)

    def varies(self, field: str) -> bool:
        """Says whether one of PLACES is given, for all runs or in the grid."""
        return bool(getattr(self, field)) or any(field in entry for entry in self.grid)


def _check_place(field: str, values: list[Any]) -> None:
    """Raises BadInput for a value that a field of PLACES cannot have."""
    for value in values:
        try:
            PLACES[field].validate_python(value)
        except ValidationError as error:
            raise invalid(error, field).within(file="grid") from None


def _check_field(
    field: str, possible: list[str] | tuple[str, ...], beside: tuple[str, ...] = ()
) -> None:
    """Raises BadInput for a field that cannot be set, or not by this path.

    Args:
        field: a path, with `.` between levels.
        possible: what it may begin with.
        beside: fields of the experiment, which `--set` takes too; the complaint may propose one.
    """
    first, *parts = field.split(".")
    if first not in possible:
        expected = fields_in_words(possible)
        if first in beside:
            raise cannot_be_set(field, f"{expected}; {first!r} stands beside 'set', not in it")
        paths = [".".join([name, *parts]) for name in (*possible, *beside)]
        raise cannot_be_set(field, expected + proposal(field, paths))
    if "" in parts:
        raise cannot_be_set(field, "names with '.' between")
    if first in PLACES and parts:
        raise cannot_be_set(field, f"{first!r}, which has no parts")
    if first == "machine" and (len(parts) != 1 or parts[0] not in SimulatedOn.model_fields):
        names = [MACHINE_PREFIX + name for name in SimulatedOn.model_fields]
        raise cannot_be_set(field, ", ".join(names))
    if first == "preset" and parts in ([], ["seed"]):
        expected = "options of the preset as in 'preset.areas'; 'seeds' gives seeds"
        raise cannot_be_set(field, expected)


def fields_in_words(possible: Iterable[str]) -> str:
    """The fields that may be set, for a complaint: those with parts of a description first.

    Example:
        >>> fields_in_words(["time", "lag", "preset", "ranks"])
        "time, lag, with '.' for parts; preset.OPTION, ranks"
    """
    names = list(possible)
    of_description = [name for name in names if name in DESCRIPTION_FIELDS]
    others = {"preset": f"{PRESET}OPTION", "machine": f"{MACHINE_PREFIX}FIELD"}
    further = [others.get(name, name) for name in names if name not in of_description]
    words = f"{', '.join(of_description)}, with '.' for parts"
    return f"{words}; {', '.join(further)}" if further else words


def cannot_be_set(field: str, expected: str) -> BadInput:
    """The complaint about a field that an experiment does not have.

    Example:
        >>> str(cannot_be_set("foo", "time"))
        "field 'foo' cannot be set: expected time"
    """
    return BadInput(
        f"field {short_repr(field)} cannot be set: expected {expected}", field=field, code="unknown"
    )
