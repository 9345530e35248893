"""Values of a machine by path, each with its unit, kind and reference.

A profile has the values of equal nodes; machines of unequal nodes are in parts.py.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from spikemark.core import fields
from spikemark.core.errors import BadInput
from spikemark.core.summary import Summarised

from .fields import ACCELERATOR, FIELD, MODELS, NETWORK, ORDERED, PATHS, SLOWER, ProfileFile

#: Kernel times that 0.2 wrote and no model uses; a file that states them stays readable.
#: What the reference of a value begins with that no file states (priors.py).
ASSUMED = "assumed: "
RETIRED = re.compile(r"t_(ring|row|far|close)_\d+|t_row|t_leave|t_route")
#: GHz of the slowest and the fastest core that anyone makes.
CLOCKS = (0.3, 8.0)
#: How paths of a node begin.
NODE = "node."
#: Paths that an error about an unknown one suggests.
MAX_SUGGESTIONS = 5


#: What an unmeasured machine is drawn as, if it is the only one.
UNMEASURED = "unmeasured machine"


class UnknownValue(BadInput):
    """A value is needed that the profile does not know."""


@dataclass(frozen=True)
class Value:
    """What a profile states at a path."""

    value: Any  #: a number, a text, or the rows (ranks, bytes, us) of a table
    unit: str | None  #: of the number; None for texts
    kind: str  #: measured, literature or assumed
    reference: str  #: how or where; for assumed values why
    interval: tuple[float, float] | None = None  #: 95 % interval, in `unit`

    def agrees(self, other: "Value | None") -> bool:
        """Whether another value is the same number or text with the same interval.

        Example:
            >>> cores = Value(64, "1", "literature", "the offer")
            >>> cores.agrees(Value(64, "1", "measured", "lscpu")), cores.agrees(None)
            (True, False)
        """
        if other is None:
            return False
        return (self.value, self.interval) == (other.value, other.interval)


class Assumption(NamedTuple):
    """A value that is assumed where a profile states none, in the unit of its field."""

    value: Any  #: a number or a text
    why: str  #: the reference
    interval: tuple[float, float] | None = None  #: 95 % interval


class ProfileValues(Summarised):
    """Values by path, of a profile, a part, a link or a machine. What is unknown has no value.

    Classes that extend this one have `name`, `values` (by path) and `paths`.
    """

    name: str
    values: dict[str, Value]
    paths: tuple[str, ...] = PATHS
    without_sheet: str = ""  #: why no data sheet of a processor gives what is unknown of a node

    def _summary(self) -> str:
        unknown = len(self.unknown())
        return f"{self.name}, {len(self.values)} values, {unknown} unknown"

    def _further(self) -> str:
        path = next(iter(self.values), "node.cores")
        return f".get({path!r}) is a value with unit, kind and reference; .values, .unknown()"

    def _rows(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("path", "value", "unit", "kind", "reference")]
        for path, value in self.values.items():
            rows.append((path, str(value.value), value.unit or "", value.kind, value.reference))
        return rows

    @property
    def identity(self) -> str:
        """What tells this from others, whose draws differ."""
        return self.name

    @property
    def node_identity(self) -> str:
        """What tells its nodes from others: after it errors of their models are named."""
        return self.identity

    @property
    def network_identity(self) -> str:
        """What tells its network from others."""
        return self.identity

    @property
    def names_of_draws(self) -> dict[str, str]:
        """Names for readers, by what draws are named after."""
        return {}

    def get(self, path: str) -> Value | None:
        """The value at a path such as node.cores; None if unknown.

        Raises:
            BadInput: for a path that does not exist.
        """
        if path not in self.values and listed(path) not in self.paths:
            close = get_close_matches(path, self.paths, MAX_SUGGESTIONS, cutoff=0)
            raise BadInput(
                f"{self.name}: path {path!r}; expected one such as {', '.join(close)}",
                field=path,
                code="unknown",
            )
        return self.values.get(path)

    def need(self, path: str, purpose: str) -> Value:
        """The value at a path.

        Raises:
            UnknownValue: naming the purpose, where there is none.
        """
        value = self.get(path)
        if value is None:
            raise self.unknown_value(path, purpose)
        return value

    def unknown_value(self, path: str, purpose: str) -> UnknownValue:
        """The complaint that a value is unknown, and why no data sheet gives it.

        Example:
            >>> from spikemark import machines
            >>> str(machines.load("jureca-dc").unknown_value("jitter.cv", "an example"))
            'jureca-dc: jitter.cv is unknown, needed for an example'
        """
        reason = f"{self.name}: {path} is unknown, needed for {purpose}"
        if self.without_sheet and path.startswith(NODE):
            reason = f"{reason}: {self.without_sheet}"
        return UnknownValue(reason, field=path, code="missing")

    def unknown(self) -> list[str]:
        """Paths without a value, in the order of the fields.

        Those of accelerators are among them where the profile states any.
        """
        left_out = (SLOWER,) if self.accelerated else (SLOWER, ACCELERATOR)
        stated = {listed(path) for path in self.values}
        unknown = []
        for path in self.paths:
            if path not in stated and not any(word in path for word in left_out):
                unknown.append(path)
        return unknown

    @property
    def accelerated(self) -> bool:
        """True if anything is stated of accelerators."""
        return any(path.startswith(ACCELERATOR) for path in self.values)

    @property
    def groups(self) -> Mapping[str, "ProfileValues"]:
        """What consists of equal nodes, by the start of its paths."""
        return {"": self}


@dataclass(frozen=True, repr=False)
class Profile(ProfileValues):
    """A checked profile, made by `load`, `checked` or `assume`."""

    name: str  #: as commands take it
    title: str  #: for readers
    values: dict[str, Value]  #: by path, in the order of the fields

    #: The machine of machines/ that this is; None: nobody has measured it yet.
    measured_as: str | None = None
    processor: str | None = None  #: id of the processor; None: not stated
    #: What contradicts its data sheet, or is not usual, a line each.
    remarks: tuple[str, ...] = ()
    without_sheet: str = ""
    #: After what its draws are named, where nobody has measured it: not after its file, so that
    #: another name changes no number. Unmeasured machines of one question have one each.
    drawn_as: str = UNMEASURED
    #: Another machine of the question whose nodes are the same, so that both share draws
    #: (identity.sharing_draws), and one whose network is.
    same_node: "Profile | None" = None
    same_network: "Profile | None" = None

    def _summary(self) -> str:
        return f"{super()._summary()}: {self.title}"

    @property
    def identity(self) -> str:
        """What tells this machine from others: what it is measured as, else what it is drawn as.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> jureca.identity
            'jureca-dc'
        """
        return self.measured_as or self.drawn_as

    @property
    def node_identity(self) -> str:
        """What tells its nodes from others: the processor, if it names one and has its clock.

        Example:
            >>> from spikemark import machines
            >>> machines.load("jureca-dc").node_identity, machines.load("epyc-vm").node_identity
            ('processor epyc-7742', 'epyc-vm')
        """
        clock = self.values.get("node.clock")
        if self.processor and clock is not None and clock.kind != "assumed":
            return f"processor {self.processor}"
        return self.identity if self.same_node is None else self.same_node.node_identity

    @property
    def network_identity(self) -> str:
        """What tells its network from others.

        Example:
            >>> from spikemark import machines
            >>> machines.load("jureca-dc").network_identity
            'jureca-dc'
        """
        return self.identity if self.same_network is None else self.same_network.network_identity

    def draws_of(self, path: str) -> str:
        """After what the draws of the value at a path are named.

        What is assumed of a node comes from its processor, or from what else its profile states: a
        kernel that takes longer than assumed does so on all nodes of that processor, whatever
        network connects them. So machines of one processor share the draws of what is assumed of
        their nodes. Jitter is among it, though it depends on the operating system, too: who
        compares offers would run the same one on each. Of what a profile states with an interval,
        its own assumptions among it, machines share the draws where they state the same of their
        nodes, or of their networks.
        A processor whose clock is assumed, too, says nothing of times.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.filled(machines.load("jureca-dc"))
            >>> jureca.draws_of("jitter.cv"), jureca.draws_of("interconnect.latency")
            ('processor epyc-7742', 'jureca-dc')
        """
        value = self.values.get(path)
        same = self.same_node
        if is_between_nodes(path):
            same = self.same_network
        elif value is not None and value.reference.startswith(ASSUMED):
            return self.node_identity
        if same is not None and value is not None and value.agrees(same.values.get(path)):
            return same.draws_of(path)
        return self.identity

    @property
    def names_of_draws(self) -> dict[str, str]:
        """The names of an unmeasured machine, and of those with which it shares draws, by identity.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> jureca.names_of_draws
            {}
        """
        names = {} if self.measured_as else {self.drawn_as: self.name}
        for other in (self.same_node, self.same_network):
            if other is not None:
                names |= other.names_of_draws
        return names

    def refuse_accelerators(self) -> None:
        """Raises BadInput for a node with accelerators, where only CPU cores can be predicted.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> jureca.refuse_accelerators()
        """
        if self.accelerated:
            raise BadInput(
                f"machine {self.name} has accelerators; expected CPU cores alone, since predictions"
                " and simulations do not cover GPUs. docs/machine-profile.md has published runs",
                field="machine",
            )

    def assume(self, path: str, value: object, unit: str | None, why: str) -> "Profile":
        """This profile with an assumed value at `path`; `unit`: None for texts.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> slower = jureca.assume("node.clock", 2.0, "GHz", "what if")
            >>> slower.values["node.clock"].kind
            'assumed'
        """
        return self.with_values({path: Value(value, unit, "assumed", why)})

    def assume_all(self, assumptions: Mapping[str, Assumption]) -> "Profile":
        """This profile with assumed values, by path.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> assumed = jureca.assume_all({"jitter.cv": Assumption(0.02, "a guess")})
            >>> assumed.values["jitter.cv"].value
            0.02
        """
        values = {}
        for path, assumption in assumptions.items():
            unit = FIELD[listed(path)].unit
            values[path] = Value(
                assumption.value, unit, "assumed", assumption.why, assumption.interval
            )
        return self.with_values(values)

    def with_values(self, changed: Mapping[str, Value]) -> "Profile":
        """This profile with other values.

        Raises:
            BadInput: for values that cannot be true together.

        Example:
            >>> from spikemark import machines
            >>> jureca = machines.load("jureca-dc")
            >>> clock = Value(2.0, "GHz", "measured", "turbostat")
            >>> jureca.with_values({"node.clock": clock}).values["node.clock"].value
            2.0
        """
        values = self.values | dict(changed)
        return replace(self, values=arranged(values, f"{self.name}, assumed"))


def is_between_nodes(path: str) -> bool:
    """Whether the value at a path is one of what connects nodes.

    Example:
        >>> is_between_nodes("interconnect.latency"), is_between_nodes("interconnect.latency_node")
        (True, False)
    """
    return path.startswith(f"{NETWORK}.") and not path.endswith("_node")


def listed(path: str) -> str:
    """The path among those of the fields: that of all neuron models for the update of one.

    Example:
        >>> listed("kernels.full_node.update.lif_exp")
        'kernels.full_node.update'
    """
    group = path.rpartition(".")[0]
    return group if group.endswith(MODELS) else path


def place(path: str) -> int:
    """Where a path comes among the fields.

    Example:
        >>> place("node.cores")
        1
    """
    return PATHS.index(listed(path))


def checked(content: Any, where: str) -> Profile:
    """A profile from the content of a file.

    Raises:
        BadInput: naming the file `where`, the path, its value and what is expected.

    Example:
        >>> checked({"format_version": 1, "name": "mine"}, "mine.yaml")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: mine.yaml: title: missing
    """
    kernels = content.get("kernels") if isinstance(content, dict) else None
    if isinstance(kernels, dict):
        current = {name: _without_retired(group) for name, group in kernels.items()}
        content = content | {"kernels": current}
    fields.checked(ProfileFile, content, Path(where), "content")
    groups = {name: group for name, group in content.items() if isinstance(group, dict)}
    values = values_of(groups)
    _check_clocks(values, where)
    return Profile(
        name=content["name"],
        title=content["title"],
        values=arranged(values, where),
        measured_as=content.get("measured_as"),
        processor=content.get("processor"),
    )


def _check_clocks(values: Mapping[str, Value], where: str) -> None:
    """Raises BadInput for a clock that no core has, such as one in MHz."""
    slowest, fastest = CLOCKS
    for path in ("node.clock", "node.clock_turbo"):
        if path in values and not slowest <= values[path].value <= fastest:
            clock = values[path].value
            expected = f"{slowest:g} to {fastest:g} GHz"
            if slowest <= clock / 1000 <= fastest:
                expected += f": {clock:g} MHz are {clock / 1000:g} GHz"
            raise BadInput(
                field=f"{path}.value",
                value=clock,
                expected=expected,
                file=where,
                code="range",
            )


def _without_retired(group: object) -> Any:
    """A group of kernel times without those that no model uses."""
    if not isinstance(group, dict):
        return group
    return {name: leaf for name, leaf in group.items() if not RETIRED.fullmatch(str(name))}


def values_of(groups: dict[str, Any]) -> dict[str, Value]:
    """The values by path in checked groups of a file.

    Example:
        >>> cores = {"value": 8, "unit": "1", "kind": "measured", "reference": "lscpu"}
        >>> values_of({"node": {"cores": cores}})["node.cores"].value
        8
    """
    return dict(_leaves(groups, ""))


def _leaves(groups: dict[str, Any], start: str) -> Iterator[tuple[str, Value]]:
    """Paths and values below groups whose paths begin with `start`."""
    for name, group in groups.items():
        if isinstance(group.get("kind"), str):
            yield start + name, _value_of(group)
        else:
            yield from _leaves(group, f"{start}{name}.")


def _value_of(leaf: dict[str, Any]) -> Value:
    """The value that a leaf of a file states."""
    interval = tuple(leaf["interval"]) if "interval" in leaf else None
    if "rows" in leaf:
        rows = tuple(tuple(row) for row in leaf["rows"])
        return Value(rows, "us", leaf["kind"], leaf["reference"], interval)
    return Value(leaf["value"], leaf.get("unit"), leaf["kind"], leaf["reference"], interval)


def arranged(values: Mapping[str, Value], where: str) -> dict[str, Value]:
    """Values in the order of the fields.

    Raises:
        BadInput: for values that cannot be true together; its line begins with `where`.

    Example:
        >>> values = {"node.cores": Value(64, "1", "measured", "lscpu")}
        >>> values["node.sockets"] = Value(2, "1", "measured", "lscpu")
        >>> list(arranged(values, "offer.yaml"))
        ['node.sockets', 'node.cores']
    """
    for small, large in ORDERED:
        if small in values and large in values and values[small].value > values[large].value:
            stated = f"{small}={values[small].value:g}, {large}={values[large].value:g}"
            raise BadInput(
                f"{stated}; expected {small} up to {large}",
                field=small,
                file=where,
                code="conflict",
            )
    return {path: values[path] for path in sorted(values, key=place)}
