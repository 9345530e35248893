"""Better data of a machine never make a time longer, and less knowledge never makes it surer.

Machines are the project's own, with some values multiplied or left out at random; networks, ranks,
schedules and numbers of nodes are drawn, too.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from published_networks import multi_area_model

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import priors
from spikemark.machines.profile import Profile
from spikemark.prediction import anchors, question
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import BETTER, performance
from spikemark.prediction.published_machine import machine_of

ALWAYS = ("node.cores", "node.sockets")  #: values that every machine states
GROUPS = ("node", "interconnect", "jitter")
SMALLEST_EFFECT = 0.02  #: log of a ratio of times that is looked at
ROUNDING = 1e-5  #: relative: of the quadrature over compute times
#: Relative: of a median of draws. A value that is stated changes also how far they scatter, which
#: moves the median of a sum, and that of waiting, which is interpolated between draws.
SAMPLED = 1e-3
LARGEST_CHANGE = 4.0  #: factor by which a value is better
SMALL = [
    question.of_preset(
        "mam-benchmark", options=[f"areas={areas}", f"neurons_per_area={size}", "indegree=200"]
    )
    for areas, size in ((4, 2000), (32, 300))
]
SCHEDULES = ("conventional", "structure_aware", "overlapped", "hierarchical")
NAMES = [name for name in machines.names() if machines.load(name).get("node.cores")]
#: How much narrower an interval may be without a value, by program. Of the mini-app, a part that is
#: less certain than the others may be smaller with the assumed value than with the stated one.
COMPOSITION = {"mini-app": 0.1, "nest": 0.02}


@dataclass(frozen=True)
class Way:
    """How the mini-app and NEST run."""

    network: int
    ranks: int
    threads: int
    schedule: str
    nodes: int  #: of NEST

    @classmethod
    def drawn(cls, rng):
        network = int(rng.integers(len(SMALL)))
        ranks = [1, 2, 4] if network == 0 else [2, 3, 8, 32]
        return cls(
            network=network,
            ranks=int(rng.choice(ranks)),
            threads=int(rng.choice([1, 2, 8])),
            schedule=str(rng.choice(SCHEDULES)),
            nodes=int(rng.choice([1, 2, 5, 30])),
        )


def mini_app(profile, way):
    """Draws of the real-time factor of the mini-app."""
    machine = machines.filled(profile)
    threads = min(way.threads, round(machine.values["node.cores"].value))
    placement = "round_robin" if way.ranks == 3 else None
    loads = SMALL[way.network].counting.loads(way.ranks, threads, way.schedule, placement)
    return performance(
        loads, machine, MachineLayout.from_machine(machine, way.ranks, threads)
    ).real_time_factor


def nest(profile, way):
    """Draws of the real-time factor of NEST."""
    run = multi_area_model().simulated_by("nest", "", machine_of(profile), 1).with_nodes(way.nodes)
    return anchors.predict([run]).total[0]


PROGRAMS = {"mini-app": mini_app, "nest": nest}


def some_machine(rng):
    """A machine of the project with other numbers, and without some of its values."""
    profile = machines.load(str(rng.choice(NAMES)))
    values = {}
    for path, value in profile.values.items():
        may_vary = path.split(".")[0] in GROUPS and "tables" not in path and path not in ALWAYS
        if may_vary and rng.random() < 0.3:
            continue
        if path in BETTER and value.value and rng.random() < 0.5:
            factor = float(np.exp(0.7 * rng.standard_normal()))
            value = replace(value, value=factor * value.value, interval=None)
        values[path] = value
    return Profile("offer", "An offer", values)


def better_pair(rng):
    """A machine, the same with one better value, and which; None where it cannot be."""
    try:
        machine = some_machine(rng)
        path = str(rng.choice(list(BETTER)))
        value = machines.filled(machine).get(path)
        if value is None or not value.value:
            return None
        factor = LARGEST_CHANGE ** (BETTER[path] * rng.random())
        stated = replace(value, value=float(value.value), interval=None, kind="measured")
        better = replace(stated, value=factor * stated.value)
        pair = machine.with_values({path: stated}), machine.with_values({path: better})
        for profile in pair:
            machines.filled(profile)
        return *pair, path
    except BadInput:  # a core has more bandwidth than its node, and the like
        return None


def check_better(count, seed):
    """Medians of `count` pairs with each program."""
    rng = np.random.default_rng(seed)
    worse = []
    compared = 0
    while compared < count:
        pair = better_pair(rng)
        if pair is None:
            continue
        machine, better, path = pair
        way = Way.drawn(rng)
        for name, times in PROGRAMS.items():
            try:
                before, after = np.median(times(machine, way)), np.median(times(better, way))
            except BadInput:  # the schedule cannot be on so many ranks
                continue
            compared += 1
            if after > before * (1 + SAMPLED):
                worse.append((name, path, way, after / before))
    assert not worse


def check_knowledge(count, seed):
    """`count` machines beside themselves with one value less, with each program."""
    rng = np.random.default_rng(seed)
    wrong = []
    compared = 0
    while compared < count:
        stated = machines.load(str(rng.choice(NAMES)))
        known = Profile("offer", "An offer", stated.values, processor=stated.processor)
        path = str(rng.choice([path for path in BETTER if path in known.values] or ["none"]))
        values = {name: value for name, value in known.values.items() if name != path}
        unknown = replace(known, values=values)
        way = Way.drawn(rng)
        for name, times in PROGRAMS.items():
            try:
                before, after = times(known, way), times(unknown, way)
                ratio = times(replace(unknown, drawn_as="another machine"), way) / before
            except BadInput:
                continue
            compared += 1
            low, high = np.quantile(ratio, [0.025, 0.975])
            narrower = spread(after) < (1 - COMPOSITION[name]) * spread(before)
            if low > 1 + ROUNDING or high < 1 - ROUNDING or narrower:
                wrong.append((name, stated.name, path, way, low, high))
    assert not wrong


def spread(times):
    """SD of the logarithm, which all draws decide: quantiles depend on their order by 3 %."""
    return float(np.log(times).std())


@pytest.mark.slow
def test_a_better_value_never_makes_a_time_longer():
    check_better(10, seed=1)


@pytest.mark.slow
def test_a_value_less_never_makes_a_machine_the_sure_winner_or_loser():
    check_knowledge(10, seed=1)


@pytest.mark.nightly
@pytest.mark.parametrize("check", [check_better, check_knowledge])
def test_a_thousand(check):
    check(1000, seed=7)


#: Ranks and threads of layouts in which values that may be assumed have an effect.
LAYOUTS = [(1, 8), (4, 1), (32, 8)]


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "threads"), LAYOUTS)
def test_an_assumed_value_that_moves_the_time_is_drawn(ranks, threads):
    stated = machines.load("jureca-dc")
    rows = [row for row in priors._table()["rows"] if "interval" in row]
    paths = dict.fromkeys(row["path"] for row in rows if row["path"].split(".")[0] in GROUPS)
    way = Way(1, ranks, threads, "conventional", nodes=1)
    moving = set()
    for path in paths:
        others = {name: value for name, value in stated.values.items() if name != path}
        filled = machines.filled(Profile("offer", "An offer", others))
        assumed = filled.values[path]
        known = []
        for number in (assumed.value, *assumed.interval):
            value = replace(assumed, value=number, interval=None, kind="measured")
            try:
                known.append(mini_app(filled.with_values({path: value}), way))
            except BadInput:  # a base clock above the turbo clock, and the like
                break
        if len(known) < 3:
            continue
        middle, low, high = known
        effect = abs(float(np.log(np.median(high) / np.median(low))))
        if effect > SMALLEST_EFFECT:
            moving.add(path)
            ends = np.quantile(np.log(mini_app(filled, way) / middle), [0.025, 0.975])
            assert ends[1] - ends[0] > 0.4 * effect, path
    assert "jitter.cv" in moving
