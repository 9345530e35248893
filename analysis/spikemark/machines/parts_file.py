"""Reads a machine of parts from the content of machines/NAME.yaml (docs/own-machine.md)."""

from collections.abc import Callable
from itertools import combinations
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, ValidationError, create_model

from spikemark.core.errors import BadInput, shown
from spikemark.core.fields import no_boolean

from .complaint import TAG, one_line
from .fields import COUNT
from .parts import BETWEEN, Link, Machine, Part
from .profile import Profile, Value, checked
from .schema import AT_LEAST_ONE, NAME, NUMBERS, Count, Number, ProfileFile, Strict, Text

PartName = Annotated[str, Field(strict=True, pattern=r"^[a-z][a-z0-9_]*$")]
Slower = create_model(
    "Slower", __base__=Number, value=(NUMBERS[AT_LEAST_ONE], ...), unit=(Literal["1"], ...),
    interval=(tuple[(NUMBERS[AT_LEAST_ONE],) * 2], None),
)  # fmt: skip
#: A number of nodes with its source.
Counted = create_model(
    "Counted", __base__=Number, value=(NUMBERS[COUNT], ...), unit=(Literal["1"], ...),
    interval=(tuple[(NUMBERS[AT_LEAST_ONE],) * 2], None),
)  # fmt: skip
ALONE, SOURCED = f"{TAG}number", f"{TAG}leaf"  # ways to state a number of nodes
Nodes = Annotated[
    Annotated[Count, Tag(ALONE)] | Annotated[Counted, Tag(SOURCED)],
    Discriminator(lambda given: SOURCED if isinstance(given, dict) else ALONE),
]
Interconnect = ProfileFile.model_fields["interconnect"].annotation


class PartFile(Strict):
    """A number of nodes with one profile."""

    profile: Text
    nodes: Nodes
    slower: Slower | None = None
    interconnect: Interconnect | None = None


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
        raise BadInput(f"{where}: {one_line(error, MachineFile)}") from None
    parts = {name: _part(name, given, where, load) for name, given in content["parts"].items()}
    links = _links(content.get("links", {}), list(parts), where)
    return Machine(content["name"], content["title"], parts, links, content, where)


def _part(name: str, given: dict[str, Any], where: str, load: Callable[[str], Profile]) -> Part:
    at = f"{where}: parts.{name}"
    try:
        profile = load(given["profile"])
    except (OSError, ValueError) as error:  # of the file, which may be no possible name, or of its content
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{at}.profile={shown(given['profile'])}: {reason}") from None
    if "interconnect" in given:
        merged = {**profile.content.get("interconnect", {}), **given["interconnect"]}
        profile = checked({**profile.content, "interconnect": merged}, at)
    nodes = given["nodes"]
    counted = _value(nodes) if isinstance(nodes, dict) else None
    slower = _value(given["slower"]) if "slower" in given else None
    return Part(name, profile, nodes if counted is None else counted.value, slower, counted)


def _value(leaf: dict[str, Any]) -> Value:
    interval = tuple(leaf["interval"]) if "interval" in leaf else None
    return Value(leaf["value"], leaf["unit"], leaf["kind"], leaf["reference"], interval)


def _links(given: dict[str, Any], parts: list[str], where: str) -> dict[str, Link]:
    pairs = {frozenset(pair): BETWEEN.join(pair) for pair in combinations(parts, 2)}
    found: dict[frozenset[str], Link] = {}
    for name, interconnect in given.items():
        at, ends = f"{where}: links.{name}", frozenset(name.split(BETWEEN))
        if ends in found:
            raise BadInput(
                f"{at}: {found[ends].name} links these parts already; allowed: one link of two parts"
            )
        if ends not in pairs:
            raise BadInput(f"{at}: {_no_pair(name, parts)}; allowed: {', '.join(pairs.values()) or 'none'}")
        content = {"format_version": 1, "name": name, "title": name, "interconnect": interconnect}
        found[ends] = Link(name, checked(content, at))
    for ends, name in pairs.items():
        if ends not in found:
            both = name.replace(BETWEEN, " and ")
            raise BadInput(f"{where}: links.{name} is missing: the parts {both} are not linked")
    return {link.name: link for link in found.values()}


def _no_pair(name: str, parts: list[str]) -> str:
    """Why the name of a link does not name two parts."""
    ends = name.split(BETWEEN)
    for end in ends:
        if end not in parts:
            return f"{end!r} is no part"
    return "a part is not linked with itself" if len(set(ends)) == 1 else "a link has two parts"
