"""No number of the network is ignored: where an offer states another one, every model of an
exchange answers otherwise, or EXCEPTIONS says why not.

A new row `interconnect.*` of machines/fields.csv is asked about by itself. A place that has
forgotten it fails here; CONTRIBUTING.md ("A new cost of messages") says where each place is.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from published_networks import multi_area_model

from spikemark import machines
from spikemark.machines import profile
from spikemark.machines.fields import FIELD, TABLE
from spikemark.machines.identity import AGREEING
from spikemark.machines.parts import LINKS, OF_LINKS, MachineOfParts
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values
from spikemark.prediction import growth, likeness, performance, question
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.published_machine import PATHS, machine_of
from spikemark.running.simulation import platform
from spikemark.running.simulation.times import values_of

NUMBERS = [
    path
    for path, field in FIELD.items()
    if path.startswith("interconnect.") and field.unit and field.allowed != TABLE
]
PLANTED = "interconnect.nobody_reads_it"
#: Other numbers of a field are its number times these: one of them must make a difference.
FACTORS = (0.001, 0.125, 8.0)
RANKS, NODES = 16, 8
NETWORK = question.of_preset(
    "mam-benchmark", options=["areas=16", "neurons_per_area=500", "indegree=200"]
)


@cache
def offer() -> Profile:
    """A machine that nobody has measured; calls are modelled, so that all numbers count."""
    measured = machines.load("jureca-dc")
    values = {path: value for path, value in measured.values.items() if "tables" not in path}
    return machines.filled(replace(measured, values=values, measured_as=None, processor=None))


def stating(path: str, factor: float) -> Profile:
    """The offer with another number."""
    known = offer().values.get(path)
    number = 1.0 if known is None else known.value
    stated = Value(factor * number, FIELD[path].unit if path in FIELD else "1", "measured", "test")
    return replace(offer(), values=offer().values | {path: stated})


@cache
def two_parts() -> MachineOfParts:
    """Two parts whose link is as the network within them."""
    machine = machines.filled(machines.load_any("two-generations"))
    assert isinstance(machine, MachineOfParts)
    return machine


def linked(path: str, factor: float) -> MachineOfParts:
    """The two parts with another number of their link."""
    links = {}
    for name, link in two_parts().links.items():
        known = link.profile.values.get(path)
        number = 1.0 if known is None else known.value
        value = Value(factor * number, known.unit if known else "1", "measured", "test")
        values = link.profile.values | {path: value}
        links[name] = replace(link, profile=replace(link.profile, values=values))
    return replace(two_parts(), links=links)


def of_two_parts(machine: MachineOfParts) -> MachineLayout:
    return MachineLayout.from_machine(
        machine, RANKS, 1, 2, dict.fromkeys(machine.parts, RANKS // 2)
    )


def mini_app(path: str, factor: float) -> Any:
    machine = stating(path, factor)
    loads = NETWORK.counting.loads(RANKS, 1, "conventional", None)
    layout = MachineLayout.from_machine(machine, RANKS, 1, RANKS // NODES)
    return performance.performance(loads, machine, layout).parts["exchange"].tolist()


def production(program: str) -> Callable[[str, float], Any]:
    def counted(path: str, factor: float) -> Any:
        machine = machine_of(stating(path, factor))
        run = multi_area_model().simulated_by(program, "", machine, 1).with_nodes(NODES)
        return growth.counts(run)

    return counted


def simulated(path: str, factor: float) -> Any:
    machine = stating(path, factor)
    layout = MachineLayout.from_machine(machine, RANKS, 1, RANKS // NODES)
    return platform.build_parts(platform.Networks.from_machine(machine, layout), layout)


def link(path: str, factor: float) -> Any:
    machine = linked(path, factor)
    return performance._networks(Values(machine), of_two_parts(machine))[-1]


def simulated_link(path: str, factor: float) -> Any:
    machine = linked(path, factor)
    layout = of_two_parts(machine)
    return platform.build_parts(platform.Networks.from_machine(machine, layout), layout)


def link_in_record(path: str, factor: float) -> Any:
    """What a simulated run says of its links, so that assumed values are named."""
    machine = linked(path, factor)
    values = values_of(machine, of_two_parts(machine))
    return {name: value.value for name, value in values.items() if name.startswith(LINKS)}


def in_table(table: Any) -> Callable[[str, float], Any]:
    """The number, where a table by path has it."""
    return lambda path, factor: factor if path in table else None


#: Fields of PublishedMachine whose difference makes a measured machine less alike.
ALIKE = {PATHS[name] for name in likeness.BETTER["exchange"]}
PLACES: dict[str, Callable[[str, float], Any]] = {
    "mini-app": mini_app,
    "nest": production("nest"),
    "dpsnn": production("dpsnn"),
    "link": link,
    "simulation": simulated,
    "simulated link": simulated_link,
    "link in the record": link_in_record,
    "performance.BETTER": in_table(performance.BETTER),
    "likeness.BETTER": in_table(ALIKE),
    "identity.AGREEING": in_table(AGREEING),
}
PRODUCTION = ("nest", "dpsnn")
OF_LINK = ("link", "simulated link", "link in the record")
#: Why a place does not read a number, by the number and the places.
REASONS: dict[tuple[str, tuple[str, ...]], str] = {
    ("nodes_per_leaf", PRODUCTION): "models of production programs know no switches",
    ("nodes_per_leaf", OF_LINK): "a link has no nodes",
    ("nodes_per_leaf", ("performance.BETTER", "likeness.BETTER")): "neither is better",
    ("latency_node", OF_LINK): "it is of the parts",
    ("bandwidth_node", OF_LINK): "it is of the parts",
    ("bandwidth_node", PRODUCTION): "models of production programs count a latency alone",
    ("bandwidth_node", ("likeness.BETTER",)): "models of production programs do not read it",
    ("bandwidth", ("dpsnn",)): "its messages are counted, whatever their size",
    ("congestion", ("dpsnn",)): "its messages are counted, whatever their size",
    ("eager", PRODUCTION): "models of production programs know no protocols",
    ("eager", OF_LINK): "all ranks share a library, whose threshold is that of the parts",
    (
        "eager",
        ("performance.BETTER",),
    ): "what is not known of it is drawn, and moves no time besides",
    ("eager", ("likeness.BETTER",)): "models of production programs do not read it",
}
#: Numbers that settings of the MPI library decide: they tell no machine from another.
SETTINGS = ("nodes_per_leaf", "latency_node", "bandwidth_node", "congestion", "eager")
REASONS |= {(name, ("identity.AGREEING",)): "settings of MPI or jobs decide" for name in SETTINGS}
EXCEPTIONS = {
    (f"interconnect.{name}", place): why
    for (name, places), why in REASONS.items()
    for place in places
}


def is_ignored(path: str, place: str) -> bool:
    """Whether the answer of a place is the same for all numbers of a field."""
    answers = PLACES[place]
    usual = answers(path, 1.0)
    return all(answers(path, factor) == usual for factor in FACTORS)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("path", NUMBERS)
def test_a_number_of_the_network_counts_or_is_an_exception(path, place):
    if place in OF_LINK and path not in OF_LINKS:
        assert (path, place) in EXCEPTIONS
    assert is_ignored(path, place) == ((path, place) in EXCEPTIONS), (
        f"{path} makes no difference to {place}, or no longer none: CONTRIBUTING.md, 'A new cost of"
        " messages', says where; or REASONS here says why not"
    )


@pytest.mark.parametrize("place", PLACES)
def test_a_forgotten_number_is_noticed(place, monkeypatch):
    monkeypatch.setattr(profile, "PATHS", (*profile.PATHS, PLANTED))
    assert is_ignored(PLANTED, place)


def test_every_exception_is_of_a_number_and_a_place():
    assert {path for path, _ in EXCEPTIONS} <= set(NUMBERS)
    assert {place for _, place in EXCEPTIONS} <= set(PLACES)
