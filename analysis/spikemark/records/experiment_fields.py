"""The fields of an experiment file, workflows/experiments/NAME.yaml."""

import itertools
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from spikemark.core.errors import invalid, shown
from spikemark.launch.layout import Binding, Distribution

from .plan import TIME_LIMIT_S, Count, Repetition, Seed, SimulatedOn, TimeLimit

#: Fields of a run description that an experiment may set; `seed` comes from `seeds`.
DESCRIPTION_FIELDS = (
    *("time", "delay_ratio", "schedule", "lag", "placement", "exchange", "wire"),
    *("network", "record", "inject"),
)
#: Prefixes of grid fields: options of the preset, and changes of the field `machine` of the experiment.
PRESET, MACHINE = "preset.", "machine."
PRESET_NAME = f"{PRESET}name"  # the grid field that names another preset
#: How ranks lie on nodes and cores: fields that may be left out, and then are no part of a run's id.
LAYOUT = {"ranks_per_node": Count, "distribution": Distribution, "binding": Binding}
#: Fields of a grid that replace those of the experiment and are not part of a run description.
PLACES = {"ranks": Count, "threads": Count, **LAYOUT}


def as_list(value: Any) -> Any:
    """Returns a list as it is, and anything else as a list of one."""
    return value if isinstance(value, list) else [value]


Counts = Annotated[list[Count], BeforeValidator(as_list), Field(min_length=1)]
Seeds = Annotated[list[Seed], BeforeValidator(as_list), Field(min_length=1)]


class Source(BaseModel):
    """A preset and its options."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    options: dict[str, Any] = {}


class Experiment(BaseModel):
    """The content of `workflows/experiments/NAME.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    title: str
    preset: Source | None = None
    description: Path | None = None
    set: dict[str, Any] = {}
    machine: SimulatedOn | None = None
    grid: list[dict[str, Any]] = Field(min_length=1)
    ranks: Counts
    threads: Counts = [1]
    ranks_per_node: Annotated[list[Count], BeforeValidator(as_list)] = []  # empty: left to the launcher
    distribution: Annotated[list[Distribution], BeforeValidator(as_list)] = []
    binding: Annotated[list[Binding], BeforeValidator(as_list)] = []
    seeds: Seeds = [1]
    repetitions: Repetition = 1
    shuffle_seed: Seed
    skip_impossible: bool = False  # leave out what the mini-app would refuse, instead of refusing the grid
    time_limit_s: TimeLimit = TIME_LIMIT_S

    @model_validator(mode="after")
    def _check(self) -> "Experiment":
        if (self.preset is None) == (self.description is None):
            raise ValueError("exactly one of the fields 'preset' and 'description' is needed")
        if self.preset and "seed" in self.preset.options:
            raise ValueError("field 'preset.options.seed' cannot be set: give 'seeds'")
        for field in self.set:
            self._check_field(field, DESCRIPTION_FIELDS)
        for field, value in itertools.chain.from_iterable(entry.items() for entry in self.grid):
            sources = [name for name in ("preset", "machine") if getattr(self, name)]
            self._check_field(field, (*DESCRIPTION_FIELDS, *sources, *PLACES))
            if value == []:
                raise ValueError(f"field {field!r} of the grid has no values: give at least one")
            if field in PLACES:
                self._check_values(field, as_list(value))
        if self.machine and (given := [field for field in LAYOUT if self.varies(field)]):
            raise _unknown(given[0], "'machine.ranks_per_node' with the field 'machine'")
        for field in self.machine.compute_of if self.machine else ():
            self._check_field(field, (*DESCRIPTION_FIELDS, *(("preset",) if self.preset else ())))
        return self

    def varies(self, field: str) -> bool:
        """Says whether one of PLACES is given, for all runs or in the grid."""
        return bool(getattr(self, field)) or any(field in entry for entry in self.grid)

    def _check_values(self, field: str, values: list) -> None:
        for value in values:
            try:
                TypeAdapter(PLACES[field]).validate_python(value)
            except ValidationError as error:
                raise invalid(error, "grid: ", field) from None

    def _check_field(self, field: str, known: tuple[str, ...]) -> None:
        first, *parts = field.split(".")
        if first not in known:
            raise _unknown(field, f"{', '.join(known)}, with '.' for parts")
        if "" in parts:
            raise _unknown(field, "names with '.' between")
        if first in PLACES and parts:
            raise _unknown(field, f"{first!r}, which has no parts")
        if first == "machine" and (len(parts) != 1 or parts[0] not in SimulatedOn.model_fields):
            raise _unknown(field, ", ".join(MACHINE + name for name in SimulatedOn.model_fields))
        if first == "preset" and parts in ([], ["seed"]):
            raise _unknown(field, "options of the preset as in 'preset.areas'; 'seeds' gives seeds")


def _unknown(field: str, expected: str) -> ValueError:
    return ValueError(f"field {shown(field)} cannot be set: expected {expected}")
