"""Whose times are predicted, D where none is stated, and where each comes from."""

import json

import pytest
from small_machine import Machine
from small_network import describe

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.network.description import read
from spikemark.prediction import asked, nest, rates, show, simulators
from spikemark.prediction.predict import predict
from spikemark.prediction.simulators import Run
from spikemark.presets import PRESETS


@pytest.fixture
def runs(monkeypatch):
    """Two networks of four areas, then one of a single area with a hundredth of the synapses."""
    several, one = {"areas": 4, "synapses": SYNAPSES}, {"areas": 1, "synapses": SYNAPSES / 100}
    found = (
        Run("a", "", 4, 20.0, 2.0, **several), Run("a", "", 8, 40.0, 1.0, **several),
        Run("b", "", 4, 9.0, 1.0, **several), Run("c", "", 1, 2.0, 1.0, **one),
    )  # fmt: skip
    made = simulators.Simulator("nest", "NEST", lambda: found, nest.WAYS, nest.how)
    monkeypatch.setitem(simulators.SIMULATORS, "nest", made)
    return found


SYNAPSES = read(describe(areas=4)).network.synapses


def test_nest_takes_so_many_times_as_long_with_a_wide_interval(runs):
    how = (describe(areas=4), Machine(), 4, 4, "structure_aware")
    mine, nest = predict(*how), predict(*how, simulator="nest")
    middle = (20 * 9) ** 0.5  # the geometric mean of the means of a, 20, and b, 9
    ours, theirs = (p.figures["real_time_factor"] for p in (mine, nest))
    assert theirs.value == pytest.approx(middle * ours.value) and theirs.kind == "extrapolated"
    assert 2 * ours.value < theirs.low <= 9 * ours.value and theirs.high >= 40 * ours.value
    assert theirs.depends[0] == "nest over mini-app"
    for name in ("deliver", "exchange", "memory_gb"):
        assert not nest.figures[name] and "NEST" in nest.figures[name].reason
    assert nest.slowest is None and nest.fits is None
    assert show.lines([mine])[0] == simulators.MINE and "(9.0 to 40)" in show.lines([nest])[0]


def test_a_factor_comes_from_published_runs_near_the_network(runs):
    several, one = (simulators.find("nest", describe(areas=n)) for n in (4, 1))
    assert several.near == runs[:3] and one.near == ()  # one area, but too many synapses
    of_c = simulators.find("nest", describe(areas=1, neurons=20, indegree=10))
    assert of_c.near == runs[3:] and (of_c.slower.low, of_c.slower.high) == (2, 2)
    said = " ".join(several.said())
    assert "3 published runs of a and b" in said and "of c" not in said and "4 to 8 nodes" in said
    assert "published runs, and released NEST, have this schedule only: conventional" in said


def test_where_no_run_is_near_the_interval_widens_and_the_middle_does_not_improve(runs):
    small = simulators.find("nest", describe(areas=4, neurons=20, indegree=9))
    assert small.near == () and (small.slower.low, small.slower.high) == (2 / 2, 40 * 2)
    assert small.slower.value == pytest.approx((20 * 9) ** 0.5)  # of a and b, which have several areas, too
    one = simulators.find("nest", describe(areas=1))
    assert one.slower.value == pytest.approx((20 * 9 * 2) ** (1 / 3))  # of all: larger than 2, that of c
    assert "No published run of NEST is near this network" in small.said()[1]


@pytest.mark.parametrize(("nodes", "wider"), [(1, True), (2, False), (16, False), (17, True), (None, False)])
def test_far_more_or_fewer_nodes_than_in_the_runs_widen_the_interval(runs, nodes, wider):
    nest, inputs = simulators.find("nest", describe(areas=4)), Inputs(Machine())
    nest.factor(inputs, nodes)
    found = inputs.used[nest.path]
    assert (found.low, found.high) == ((4.5, 80) if wider else (9, 40))


def test_a_network_like_the_multi_area_model_does_not_get_the_factor_of_the_microcircuit():
    for name, other in (("mam", "microcircuit"), ("mam-benchmark", "microcircuit"), ("microcircuit", "mam")):
        found = simulators.find("nest", PRESETS[name].describe(full=True))
        assert found.near and other not in {run.network for run in found.near}
    mam, circuit = (simulators.find("nest", PRESETS[n].describe(full=True)) for n in ("mam", "microcircuit"))
    assert mam.slower.low > circuit.slower.value


def test_d_is_the_largest_exact_one_unless_one_is_stated_or_given():
    stated = describe(areas=4, delay_ratio=12)
    own = {name: value for name, value in stated.items() if name != "delay_ratio"}
    for description, given, ratio, words in (
        (own, None, 12, asked.UNSTATED), (stated, None, 12, asked.STATED),
        (stated | {"delay_ratio": 4}, None, 4, "up to 12 is exact"), (own, 6, 6, "given"),
        (stated | {"delay_ratio": "auto"}, None, 12, asked.ASKS),
        (stated | {"delay_ratio": 4}, "auto", 12, asked.LARGEST),
    ):  # fmt: skip
        network = asked.Network("small", description, rates.of(description))
        network = asked.run_as(network, "structure_aware", given)
        made = predict(network.description, Machine(), 4, 4, "structure_aware")
        assert made.loads.delay_ratio == ratio
        (line,) = show.where_from(made.loads, network.sources)
        assert line.startswith(f"D = {ratio}: ") and words in line
        assert show.table([made]).rows[0]["delay_ratio"] == str(ratio)
    with pytest.raises(BadInput, match="the largest exact delay_ratio is 12"):
        predict(stated | {"delay_ratio": 13}, Machine(), 4, 4, "structure_aware")
    with pytest.raises(BadInput, match="conventional does not use it"):
        asked.run_as(network, "conventional", 5)


def test_the_command_line_says_d_and_the_simulator(spikemark, monkeypatch):
    monkeypatch.setattr(machines, "load", {"made-up": Machine()}.__getitem__)
    monkeypatch.setattr(machines, "load_any", {"made-up": Machine()}.__getitem__)
    monkeypatch.setattr(machines, "filled", lambda profile: profile, raising=False)
    ask = ("predict", "--machine", "made-up", "--preset", "mam-benchmark", "--ranks", "1,4", "--threads", "4",
           "--schedule", "structure_aware", "--delay-ratio", "auto")  # fmt: skip
    _, output, _ = spikemark(*ask)
    assert "1 rank " in output and "1 node " in output and "D = 10: the largest that is exact" in output
    content = json.loads(spikemark(*ask, "--json")[1])
    assert content["simulator"] == "mini_app" and content["predictions"][0]["delay_ratio"] == 10
