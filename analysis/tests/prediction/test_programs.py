"""Programs behind one interface: what ranks do adds up to what runs take."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import spikemark
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.network.presets import mam_benchmark
from spikemark.prediction import anchors, performance, program_costs, programs, question
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.option import Option
from spikemark.prediction.performance import COMPUTE
from spikemark.prediction.workload import Loads

MICROCIRCUIT = question.of_preset("microcircuit", full=True)
SMALL = question.of_description(
    "a network", mam_benchmark.describe(areas=4, neurons_per_area=2000, indegree=100)
)
MACHINES = {"nest": "jureca-dc", "dpsnn": "simula-e5-2630-v2", "mini-app": "epyc-vm"}
OF_PROGRAMS = [
    name
    for name in spikemark.__all__
    if inspect.isfunction(getattr(spikemark, name))
    and "program" in inspect.signature(getattr(spikemark, name)).parameters
]


def placed(network, machine, ranks, threads, schedule="conventional", placement="round_robin"):
    """What each rank does, and the ranks on as few nodes as take them."""
    layout = MachineLayout.from_machine(machine, ranks, threads)
    hz = network.rates.hz
    return Loads.count(network.description, ranks, threads, hz, schedule, placement), layout


def times_of(name, network, schedule="conventional", placement="round_robin", ranks=4):
    machine = machines.filled(machines.load(MACHINES[name]))
    loads, layout = placed(network, machine, ranks, 2, schedule, placement)
    times = programs.PROGRAMS[name].times(network, loads, machine, layout)
    return machine, loads, layout, times


@pytest.mark.parametrize("name", programs.PROGRAMS)
@pytest.mark.parametrize(
    ("schedule", "placement"),
    [("conventional", "round_robin"), ("structure_aware", "area"), ("conventional", "area")],
)
def test_every_program_has_times_for_every_placement_and_schedule(name, schedule, placement):
    _, loads, layout, times = times_of(name, SMALL, schedule, placement)
    program = programs.PROGRAMS[name]
    assert set(times) == set(COMPUTE)
    assert all(seconds.shape == (4,) and (seconds >= 0).all() for seconds in times.values())
    assert times["deliver"].min() > 0
    values = performance.Values(machines.filled(machines.load(MACHINES[name])))
    counts = program.counts(SMALL, loads, values, layout.shares[0].node)
    assert set(counts) <= set(COMPUTE)
    for of_phase in counts.values():
        for cost in of_phase:
            assert program.cost_s(cost, values, layout.shares[0].node) >= 0


def test_the_mini_app_computes_as_long_as_predict_says():
    machine, loads, layout, times = times_of("mini-app", SMALL)
    parts = performance.performance(loads, machine, layout, drawn=False).parts
    for phase in COMPUTE:
        mean_s = times[phase].mean() / loads.cycle_s
        assert mean_s == pytest.approx(float(parts[phase][0]), rel=1e-9)


@pytest.mark.parametrize("name", program_costs.PROGRAMS)
@pytest.mark.parametrize("network", [SMALL, MICROCIRCUIT], ids=["small", "microcircuit"])
def test_ranks_of_production_programs_compute_as_long_as_predict_says(name, network):
    """The mean rank of an even placement, whose counts published runs are scaled by."""
    machine, loads, layout, times = times_of(name, network)
    run = programs.PROGRAMS[name]._run(network, loads, machine, layout.nodes)
    kernel_s = np.median(anchors.predict([run]).kernel[0])
    computed = (times["deliver"] + times["update"]).mean() / loads.cycle_s
    assert computed == pytest.approx(kernel_s, rel=0.01)
    exchange_s = np.median(anchors.predict([run]).exchange[0])
    assert 0 < times["collocate"].mean() / loads.cycle_s <= 1.001 * exchange_s


def test_a_rank_with_more_neurons_computes_longer():
    """Areas of unequal size on ranks of their own; an even mean would not tell."""
    description = mam_benchmark.describe(areas=4, neurons_per_area=2000, indegree=100)
    for population, size in zip(
        description["network"]["populations"], (500, 1000, 2000, 4000), strict=False
    ):
        population["size"] = size
    network = question.of_description("unequal areas", description)
    for name in programs.PROGRAMS:
        _, loads, _, times = times_of(name, network, placement="area")
        held = loads.of_rank(loads.held)
        computed = sum(times[phase] for phase in ("deliver", "update"))
        assert np.ptp(held) > 0
        assert (np.argsort(computed) == np.argsort(held)).all()


def test_what_was_never_measured_is_refused_by_name():
    machine = machines.filled(machines.load("jureca-dc"))
    loads, layout = placed(SMALL, machine, 2, 2)
    cases = {"dpsnn": "program", "nothing": "program"}
    for name, field in cases.items():
        with pytest.raises(BadInput) as error:
            programs.program_named(name).times(SMALL, loads, machine, layout)
        assert error.value.field == field


@pytest.mark.parametrize("function", OF_PROGRAMS)
def test_an_unknown_program_is_refused_by_every_function(function):
    machine = ["jureca-dc"] if function == "compare" else "jureca-dc"
    with pytest.raises(BadInput) as error:
        getattr(spikemark, function)("microcircuit", machine, program="nets", nodes=1)
    assert error.value.field == "program"


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_an_argument_that_means_nothing_for_a_program_is_refused(name):
    program = programs.PROGRAMS[name]
    assert program.unused
    for argument in program.unused:
        with pytest.raises(BadInput) as error:
            program.refuse_unused(**{argument: 2})
        assert error.value.field == argument
    program.refuse_unused(**dict.fromkeys(program.unused), nodes=2)


def test_both_kinds_of_options_have_one_interface():
    """What answers take of an option is the base class's, so that none has to ask which it is."""
    mini, nest = (
        programs.PROGRAMS[name].search(
            SMALL.way(schedule="conventional" if name == "mini-app" else None),
            machines.filled(machines.load(MACHINES[name])),
            nodes=1,
        )
        for name in ("mini-app", "nest")
    )
    public = [name for name in dir(Option) if not name.startswith("_")]
    public += [field.name for field in fields(Option)]
    for option in (mini.best, nest.best):
        for name in public:
            assert hasattr(option, name)
        assert option.rests_on.endswith(".") and option.advice.endswith(".")
    assert mini.best.anchor is None and mini.best.run_command
    assert nest.best.anchor.run.seconds and nest.best.run_command is None
    assert nest.best.version == anchors.newest_of("nest") and not mini.best.version
