"""Reads a machine of parts from the content of machines/NAME.yaml (docs/machines.md)."""

from collections.abc import Callable
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError, create_model

from spikemark.core.errors import BadInput
from spikemark.core.fields import no_boolean

from .complaint import one_line
from .parts import BETWEEN, Link, Machine, Part
from .profile import Profile, Value, checked
from .schema import AT_LEAST_ONE, NAME, NUMBERS, Count, Number, ProfileFile, Strict, Text

PartName = Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_]*$")]
Slower = create_model(
    "Slower", __base__=Number, value=(NUMBERS[AT_LEAST_ONE], ...), unit=(Literal["1"], ...),
    interval=(tuple[(NUMBERS[AT_LEAST_ONE],) * 2], None),
)  # fmt: skip


Interconnect = ProfileFile.model_fields["interconnect"].annotation


class PartFile(Strict):
    """So many nodes of a profile."""

    profile: Text
    nodes: Count
    slower: Slower | None = None


class MachineFile(Strict):
    """A whole file."""

    format_version: Annotated[Literal[1], BeforeValidator(no_boolean)]
    name: Annotated[str, Field(strict=True, pattern=NAME)]
    title: Text
    parts: Annotated[dict[PartName, PartFile], Field(min_length=1)]
    links: dict[str, Interconnect] = Field(default_factory=dict)


def read(content: Any, where: str, load: Callable[[str], Profile]) -> Machine:
    """A machine whose parts are profiles that `load` finds. Raises BadInput naming `where`, the path, the
    value and what is allowed; for parts that no link connects, too.
    """
    try:
        MachineFile.model_validate(content)
    except ValidationError as error:
        raise BadInput(f"{where}: {one_line(error, content)}") from None
    parts = {name: _part(name, given, load) for name, given in content["parts"].items()}
    links = _links(content.get("links", {}), list(parts), where)
    return Machine(content["name"], content["title"], parts, links, content, where)


def _part(name: str, given: dict[str, Any], load: Callable[[str], Profile]) -> Part:
    slower = given.get("slower")
    if slower is not None:
        interval = tuple(slower["interval"]) if "interval" in slower else None
        slower = Value(slower["value"], "1", slower["kind"], slower["reference"], interval)
    return Part(name, load(given["profile"]), given["nodes"], slower)


def _links(given: dict[str, Any], parts: list[str], where: str) -> dict[str, Link]:
    pairs = {frozenset(pair): BETWEEN.join(pair) for pair in combinations(parts, 2)}
    found = {}
    for name, interconnect in given.items():
        ends = frozenset(name.split(BETWEEN))
        if ends not in pairs:
            raise BadInput(f"{where}: links.{name}; allowed: {', '.join(pairs.values()) or 'none'}")
        head = {"format_version": 1, "name": name, "title": name}
        content = {**head, "interconnect": interconnect}
        found[pairs.pop(ends)] = Link(name, checked(content, f"{where}: links.{name}"))
    if pairs:
        first = next(iter(pairs.values()))
        raise BadInput(
            f"{where}: links.{first} is missing: the parts {first.replace(BETWEEN, ' and ')} are not linked"
        )
    return {name: Link(name, link.profile) for name, link in found.items()}
