"""Values of a machine by path, each with its unit, kind and reference; a profile has those of equal nodes."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from spikemark.core import fields
from spikemark.core.errors import BadInput

from .fields import ACCELERATOR, FIELD, MODELS, ORDERED, PATHS, SLOWER, ProfileFile

#: Kernel times that 0.2 wrote and no model uses; a file that states them stays readable.
RETIRED = re.compile(r"t_(ring|row|far|close)_\d+|t_row|t_leave|t_route")


class UnknownValue(BadInput):
    """A value is needed that the profile does not know."""


@dataclass(frozen=True)
class Value:
    """A leaf of a profile: `value` in `unit` (None for texts), or the rows (ranks, bytes, us) of a table.

    `kind`: measured | literature | assumed. `reference` says how or where, for assumed values why.
    """

    value: Any
    unit: str | None
    kind: str
    reference: str
    interval: tuple[float, float] | None = None


class Group:
    """Values by path, of a profile, a part, a link or a machine. What is unknown has no value."""

    name: str
    values: Mapping[str, Value]
    paths: tuple[str, ...] = PATHS

    def get(self, path: str) -> Value | None:
        """The value at a path such as node.cores; None if unknown. Raises BadInput for a wrong path."""
        if path not in self.values and listed(path) not in self.paths:
            expected = f"expected one such as {', '.join(get_close_matches(path, self.paths, 5, cutoff=0))}"
            raise BadInput(f"{self.name}: path {path!r}; {expected}", field=path, code="unknown")
        return self.values.get(path)

    def need(self, path: str, purpose: str) -> Value:
        """The value at a path. Raises UnknownValue, naming the purpose, where there is none."""
        found = self.get(path)
        if found is None:
            raise UnknownValue(f"{self.name}: {path} is unknown, needed for {purpose}")
        return found

    def unknown(self) -> list[str]:
        """Paths without a value, in the order of the fields; those of accelerators where there are some."""
        silent = (SLOWER,) if self.accelerated else (SLOWER, ACCELERATOR)
        known = {*map(listed, self.values)}
        return [p for p in self.paths if p not in known and not any(word in p for word in silent)]

    @property
    def accelerated(self) -> bool:
        """True if anything is stated of accelerators."""
        return any(path.startswith(ACCELERATOR) for path in self.values)

    @property
    def groups(self) -> Mapping[str, "Group"]:
        """What consists of equal nodes, by the start of its paths."""
        return {"": self}


@dataclass(frozen=True)
class Profile(Group):
    """A checked profile, made by `load`, `checked` or `assume`."""

    name: str
    title: str
    values: dict[str, Value]

    def refuse_accelerators(self) -> None:
        """Raises BadInput for a node with accelerators, where only CPU cores can be predicted."""
        if self.accelerated:
            raise BadInput(
                f"machine {self.name} has accelerators; expected CPU cores alone, of which predictions and"
                " simulations are. docs/machine-profile.md has published runs"
            )

    def assume(self, path: str, value: Any, unit: str | None, why: str) -> "Profile":
        """This profile with another value at `path`, of the kind assumed; `unit`: None for texts."""
        return self.with_values({path: Value(value, unit, "assumed", why)})

    def assume_all(self, found: dict[str, tuple]) -> "Profile":
        """This profile with assumed values: path -> value, in its unit, why, and maybe an interval."""
        return self.with_values({
            path: Value(value, FIELD[listed(path)].unit, "assumed", why, *interval)
            for path, (value, why, *interval) in found.items()
        })  # fmt: skip

    def with_values(self, changed: Mapping[str, Value]) -> "Profile":
        """This profile with other values. Raises BadInput for values that cannot be true together."""
        return replace(self, values=arranged(self.values | dict(changed), f"{self.name}, assumed"))


def listed(path: str) -> str:
    """The path among those of the fields: that of all neuron models for the update of one."""
    group = path.rpartition(".")[0]
    return group if group.endswith(MODELS) else path


def place(path: str) -> int:
    """Where a path comes among the fields."""
    return PATHS.index(listed(path))


def checked(content: Any, where: str) -> Profile:
    """A profile from the content of a file. Raises BadInput naming `where`, the path, its value and what is
    expected."""
    if isinstance(content, dict) and isinstance(kernels := content.get("kernels"), dict):
        content = content | {"kernels": {name: _current(group) for name, group in kernels.items()}}
    fields.checked(ProfileFile, content, Path(where), "content")
    groups = {name: group for name, group in content.items() if isinstance(group, dict)}
    return Profile(content["name"], content["title"], arranged(values(groups), where))


def _current(group: Any) -> Any:
    if not isinstance(group, dict):
        return group
    return {name: leaf for name, leaf in group.items() if not RETIRED.fullmatch(str(name))}


def values(groups: dict[str, Any]) -> dict[str, Value]:
    """The values by path in checked groups of a file."""
    return dict(_leaves(groups, ""))


def _leaves(groups: dict[str, Any], start: str) -> Iterator[tuple[str, Value]]:
    for name, of in groups.items():
        if not isinstance(of.get("kind"), str):
            yield from _leaves(of, f"{start}{name}.")
            continue
        value = tuple(map(tuple, of["rows"])) if "rows" in of else of["value"]
        interval = tuple(of["interval"]) if "interval" in of else None
        unit = "us" if "rows" in of else of.get("unit")
        yield start + name, Value(value, unit, of["kind"], of["reference"], interval)


def arranged(values: Mapping[str, Value], where: str) -> dict[str, Value]:
    """Values in the order of the fields. Raises BadInput for values that cannot be true together."""
    for small, large in ORDERED:
        if small in values and large in values and values[small].value > values[large].value:
            both = ", ".join(f"{path}={values[path].value:g}" for path in (small, large))
            raise BadInput(f"{where}: {both}; expected {small} up to {large}", field=small, code="conflict")
    return {path: values[path] for path in sorted(values, key=place)}
