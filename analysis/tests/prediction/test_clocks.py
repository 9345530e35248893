"""The clock of cores at work lies between the base and the turbo clock of the data sheet, and how
far is drawn: a better clock never makes a time longer.
"""

from dataclasses import replace

import numpy as np
import pytest
from published_networks import multi_area_model

from spikemark import machines
from spikemark.machines import priors, processors
from spikemark.machines.profile import Profile, Value
from spikemark.prediction import anchors, draws, question
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import performance
from spikemark.prediction.published_machine import machine_of, measured_machine

SHARE = "node.clock_share"
#: Values of the clock, with a number that a few per cent more of it may have.
BETTER = {"node.clock": 1.04, "node.clock_turbo": 1.04, SHARE: 1.1}
WITH_TURBO = [name for name in processors.names() if "turbo" in processors.sheet(name).values]
CHOSEN = ("epyc-9654", "epyc-7742", "xeon-8480", "altra-q80-30", "grace", "xeon-e5-2680-v3")
LITTLE_WORK = question.of_preset(
    "mam-benchmark", options=["areas=4", "neurons_per_area=2000", "indegree=200"]
)
ROUNDING = 1e-5


def stated(path, number, unit="GHz", kind="literature"):
    return {path: Value(number, unit, kind, "the offer")}


def offer(processor, **changed):
    """Nodes of two sockets of a processor, with some values of their own."""
    own = stated("node.sockets", 2, "1") | changed
    values = processors.completed(own, processor, "offer").values
    return Profile("offer", "An offer", dict(values), processor=processor)


def nest(profile, nodes=1):
    run = multi_area_model().simulated_by("nest", "", machine_of(profile), 1)
    return anchors.predict([run.with_nodes(nodes)])


def mini_app(profile):
    machine = machines.filled(profile)
    threads = round(machine.values["node.cores"].value)
    loads = LITTLE_WORK.counting.loads(1, threads, "conventional", None)
    layout = MachineLayout.from_machine(machine, 1, threads)
    return performance(loads, machine, layout).real_time_factor


PROGRAMS = {"nest": lambda profile: nest(profile).total[0], "mini-app": mini_app}


def test_the_clock_at_work_is_between_both_and_no_better_number_makes_it_slower():
    rng = np.random.default_rng(5)
    base, share, busy = rng.uniform(1, 4, 1000), rng.uniform(0, 1.5, 1000), rng.random(1000)
    turbo = base * rng.uniform(0.8, 2.1, 1000)
    clock = priors.clock_at_work(base, turbo, share, busy)
    assert (clock >= base).all() and (clock <= np.maximum(base, turbo) * (1 + 1e-12)).all()
    for better in (
        priors.clock_at_work(1.01 * base, turbo, share, busy),
        priors.clock_at_work(base, 1.01 * turbo, share, busy),
        priors.clock_at_work(base, turbo, share + 0.01, busy),
        priors.clock_at_work(base, turbo, share, 0.99 * busy),
    ):
        assert (better >= clock - 1e-12).all()


@pytest.mark.parametrize("name", [name for name in machines.names() if machines.load(name).values])
def test_a_measured_clock_is_that_of_all_cores_and_one_of_a_data_sheet_is_not(name):
    profile = machines.load(name)
    if "node.clock" not in profile.values or "node.cores" not in profile.values:
        return
    share = machines.filled(profile).values[SHARE]
    if profile.values["node.clock"].kind == "measured":
        assert share.value == 0 and measured_machine(name).full_ghz == pytest.approx(
            profile.values["node.clock"].value
        )
    else:
        assert share.kind == "assumed" and share.interval[0] < share.value < share.interval[1]


@pytest.mark.parametrize("path", BETTER)
@pytest.mark.parametrize("processor", CHOSEN)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_better_clock_never_makes_a_time_longer(program, processor, path):
    known = machines.filled(offer(processor)).values[path]
    times = []
    for factor in (1.0, BETTER[path]):
        number = factor * float(known.value)
        profile = offer(processor)
        if path == "node.clock":  # no more than the turbo clock, which the sheet may not state
            turbo = profile.values.get("node.clock_turbo")
            number = min(number, float(turbo.value)) if turbo else number
        changed = Value(number, known.unit, "literature", "the offer")
        profile = replace(profile, values={**profile.values, path: changed})
        times.append(np.median(PROGRAMS[program](profile)))
    assert times[1] <= times[0] * (1 + ROUNDING)


@pytest.mark.parametrize("processor", CHOSEN)
def test_the_share_is_drawn_and_stating_it_neither_wins_nor_loses(processor):
    unknown = offer(processor)
    assumed = machines.filled(unknown).values[SHARE]
    known = replace(unknown, values=unknown.values | stated(SHARE, assumed.value, "1"))
    ratio = nest(unknown).total[0] / nest(known).total[0]
    low, high = np.quantile(ratio, [0.025, 0.975])
    assert low <= 1 + ROUNDING and high >= 1 - ROUNDING
    turbo, clock = (machines.filled(unknown).values[f"node.clock{end}"] for end in ("_turbo", ""))
    if processor != "epyc-7742" and turbo.value > 1.2 * clock.value:
        assert np.log(nest(unknown).total[0]).std() > np.log(nest(known).total[0]).std()


def test_the_same_processor_has_the_same_share_wherever_it_is_offered():
    names = [
        {name for name in nest(offer(processor)).inputs if name.endswith(SHARE)}
        for processor in ("epyc-9654", "epyc-9554")
    ]
    assert all(len(of_offer) == 1 for of_offer in names) and names[0] != names[1]
    again = nest(offer("epyc-9654", **stated("node.memory", 768.0, "GB"))).inputs
    assert names[0] <= again.keys()


def test_a_published_processor_has_run_at_its_share_already():
    """What its runs took holds the clock at which they ran."""
    assert not [name for name in nest(offer("epyc-7742")).inputs if name.endswith(SHARE)]


def test_more_cores_of_a_kind_with_a_lower_base_clock_are_no_slower():
    """EPYC 9654 has 1.5 times the cores of EPYC 9554, at three quarters of its base clock."""
    many, few = nest(offer("epyc-9654")), nest(offer("epyc-9554"))
    assert np.median(many.kernel[0]) < 0.95 * np.median(few.kernel[0])
    assert np.median(many.total[0]) < np.median(few.total[0])
    middle, low, high = draws.interval(many.total[0] / few.total[0])
    assert low < middle < high and high > 1  # which of them is faster, nobody has measured
