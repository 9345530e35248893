"""An MPI library that nobody stated counts as the slowest one, also where `advise` chooses exchanges."""

from dataclasses import replace
from itertools import product

import pytest
from vendor import offered

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.network.description import read
from spikemark.prediction import advise_exchange, choices, exchange, rates, times
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Loads
from spikemark.presets import mam_benchmark

RATE_HZ = 10.0
UNKNOWN = offered(interconnect__selector=None, interconnect__topology=None)
STATED = [
    offered(interconnect__selector=selector, interconnect__topology=topology)
    for selector, topology in product(*choices.CHOICES.values())
]
#: Schedule, ranks, ranks on a node.
WAYS = [
    ("conventional", 8, 1), ("conventional", 8, 4), ("conventional", 64, 1), ("conventional", 64, 8),
    ("structure_aware", 16, 2), ("structure_aware", 64, 4), ("overlapped", 16, 1), ("overlapped", 64, 4),
    ("hierarchical", 16, 4),
]  # fmt: skip


def loads_of(schedule: str, ranks: int) -> Loads:
    made = read(mam_benchmark.describe(areas=ranks, neurons_per_area=1000, indegree=200))
    return Loads.of(made, ranks, 1, rates.of(made, RATE_HZ).hz, schedule)


def slowest(lane, traffic, layout: Layout) -> float:
    """Seconds of a lane's exchange with the library and the topology that take longest."""
    return max(exchange.seconds(Collectives.of(Inputs(m), layout.nodes), lane, traffic) for m in STATED)


def exchanging(schedule: str, ranks: int, each: int):
    """Loads, their layout, and the lanes in which ranks exchange, with what they send."""
    loads, layout = loads_of(schedule, ranks), Layout.of(UNKNOWN, ranks, 1, each)
    sent = [(lane, exchange.groups(loads, n, layout)) for n, lane in enumerate(loads.lanes)]
    return loads, layout, [(lane, traffic) for lane, traffic in sent if traffic]


@pytest.mark.parametrize(("schedule", "ranks", "each"), WAYS)
def test_the_exchange_is_the_best_with_the_slowest_library(schedule, ranks, each):
    loads, layout, lanes = exchanging(schedule, ranks, each)
    found = advise_exchange.least(loads, layout, UNKNOWN)
    for lane, traffic in lanes:
        others = []
        for name in exchange.EXCHANGES if not lane.lag else exchange.OVERLAPPING:
            try:
                others.append(slowest(replace(lane, exchange=name), traffic, layout))
            except BadInput:  # it cannot serve these ranks
                continue
        assert slowest(replace(lane, exchange=found[lane.name]), traffic, layout) == pytest.approx(
            min(others)
        )


@pytest.mark.parametrize(("schedule", "ranks", "each"), WAYS)
def test_what_is_surely_faster_is_faster_with_every_library(schedule, ranks, each):
    loads, layout, lanes = exchanging(schedule, ranks, each)
    for name in exchange.EXCHANGES:
        wanted = {lane.name: name for lane, _ in lanes if not lane.lag and name != "shared"}
        found = advise_exchange.surely(wanted, loads, layout, UNKNOWN)
        for lane, traffic in lanes:
            if found.get(lane.name, lane.exchange) != lane.exchange:
                for machine in STATED:
                    net = Collectives.of(Inputs(machine), layout.nodes)
                    own = exchange.seconds(net, lane, traffic)
                    assert exchange.seconds(net, replace(lane, exchange=name), traffic) < own, name


@pytest.mark.parametrize(("schedule", "ranks", "each"), WAYS)
def test_the_bound_that_a_search_rests_on_counts_the_library_that_the_prediction_counts(
    schedule, ranks, each
):
    """It never exceeds the prediction, and is no lower than with the text that a simulation would take."""
    loads, layout, _ = exchanging(schedule, ranks, each)
    parts = times.of_parts(loads, Inputs(UNKNOWN), layout)
    compute = times.at_least(loads, Inputs(UNKNOWN), layout, exchanging=False)
    bound = times.at_least(loads, Inputs(UNKNOWN), layout)
    nets = times.network_of(loads, Inputs(UNKNOWN), layout)
    calls = sum(
        nets.exchange_s(lane, traffic) / lane.period
        for lane, traffic in times.meeting(loads, layout)
        if not lane.lag
    )
    assert bound == pytest.approx(compute + calls / loads.cycle_s)
    assert bound <= compute + parts["exchange"] * (1 + 1e-9)  # with waiting of those who left a barrier early
    assert bound <= sum(parts.values()) * (1 + 1e-9)
