"""Cycles: NEST has its own, the mini-app keeps that of the description, and says which longer is exact."""

import json

import pytest
from advised import MACHINE, benchmark, few, network

from spikemark.models.published import papers
from spikemark.network.description import read
from spikemark.prediction import advise_show, cycles, simulators
from spikemark.prediction.advise import advise
from spikemark.prediction.compare import compare
from spikemark.prediction.predict import predict
from spikemark.presets import PRESETS
from spikemark.report import advice_page

FACTOR = "real_time_factor"
FINE = {"resolution_ms": 0.1, "cycle_ms": 0.1}


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    few(monkeypatch)
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2))


def described(cycle_ms: float, delay_ratio: int = 10, **times) -> dict:
    """Four areas; delays from 0.2 ms on within an area, from 2 ms on between areas."""
    found = benchmark(areas=4, cycle_ms=0.2, delay_ratio=10, delay_max=10.0)
    times = {"cycle_ms": cycle_ms, **times}
    return found | {"time": found["time"] | times, "delay_ratio": delay_ratio}


@pytest.fixture
def files(tmp_path):
    """The same network, described with cycles of 0.1 ms and of 0.2 ms; D is 2 ms in both."""
    found = tmp_path / "fine.json", tmp_path / "coarse.json"
    for path, (cycle, ratio) in zip(found, ((0.1, 20), (0.2, 10)), strict=True):
        path.write_text(json.dumps(described(cycle, ratio)))
    return found


def test_times_of_nest_do_not_depend_on_the_cycle_of_the_description():
    """NEST exchanges every shortest delay of the synapses, whatever cycle the mini-app would have."""
    fine, coarse = described(0.1, 20), described(0.2, 10)
    for schedule in ("conventional", "structure_aware"):
        a, b = (
            predict(d, MACHINE, 4, 16, schedule, simulator="nest").figures[FACTOR] for d in (fine, coarse)
        )
        assert a == b
        other = predict(fine, MACHINE, 4, 16, schedule).figures[FACTOR].value
        assert other != pytest.approx(predict(coarse, MACHINE, 4, 16, schedule).figures[FACTOR].value, 1e-3)
    made = [advise(network(d), MACHINE, simulator="nest") for d in (fine, coarse)]
    ways = [[(r.prediction.figures, r.prediction.loads.delay_ratio) for r in m.ranked] for m in made]
    assert ways[0] == ways[1] and {ratio for _, ratio in ways[0]} == {None, 10}
    compared = [
        compare(network(d, exchange=None), [MACHINE], 1.0, simulator="nest").candidates
        for d in (fine, coarse)
    ]
    assert [p.figures for p in compared[0][0].tried] == [p.figures for p in compared[1][0].tried]


@pytest.mark.parametrize(
    "command",
    [
        ("advise", "FILE", "--machine", "made-up"),
        ("predict", "FILE", "--machine", "made-up", "--ranks", "4", "--schedule", "structure_aware"),
        ("predict", "FILE", "--machine", "made-up", "--ranks", "4", "--schedule", "structure_aware",
         "--delay-ratio", "10"),
        ("compare", "made-up", "--run", "FILE", "--schedule", "structure_aware", "--delay-ratio", "5"),
    ],
)  # fmt: skip
def test_commands_take_the_cycle_of_nest_and_say_so(spikemark, known, files, command):
    texts = []
    for path in files:
        words = [str(path) if word == "FILE" else word for word in command]
        status, text, errors = spikemark(*words, "--simulator", "nest")
        assert (status, errors) == (0, "")
        said = " ".join(text.split())
        assert "A cycle of NEST is the shortest delay of the synapses, 0.2 ms here" in said
        assert "0.1 ms" not in said
        texts.append(text.replace(path.name, "").replace(str(path.parent), ""))
    assert texts[0] == texts[1]


def test_what_nest_factor_is_built_on_has_the_cycle_of_nest():
    """The published runs are predicted with cycles of the shortest delay."""
    found = simulators.SIMULATORS["nest"]
    for name in {row["network"] for row in papers.rows("nest_jureca_dc")} | {"mam-benchmark"}:
        described = PRESETS[name].describe(full=True)
        assert found.taken(described) is described


def test_times_become_whole_cycles_and_a_network_without_synapses_has_steps():
    found = read(cycles.of_shortest_delay(described(0.1, 15, warmup_ms=0.3, simulate_ms=10.1)))
    assert (found.time.cycle_ms, found.time.warmup_ms, found.time.simulate_ms) == (0.2, 0.4, 10.2)
    assert found.delay_ratio == 7  # 1.4 ms, the whole number of cycles below 1.5 ms
    alone = described(0.2)
    alone["network"] = alone["network"] | {"projections": []}
    assert read(cycles.of_shortest_delay(alone)).time.cycle_ms == 0.1
    slow = described(0.1)
    slow["network"]["projections"] = [
        p | {"delay": {"distribution": "constant", "mean": 2500.0}} for p in slow["network"]["projections"]
    ]
    assert read(cycles.of_shortest_delay(slow)).time.cycle_ms == 1000.0


def test_a_longer_cycle_that_is_exact_is_named_with_its_time():
    """Half as many cycles take less time, as a prediction with that cycle says, too."""
    fine = described(0.1, 20)
    made = advise(network(fine), MACHINE)
    p, text = made.best.prediction, " ".join(advise_show.lines(made))
    assert p.loads.cycle_s == 1e-4 and made.longer.cycle_ms == 0.2
    assert "cycle_ms is 0.1; 0.2 is exact, too: the best option would take 0." in text
    schedule, changed = p.schedule, {"delay_ratio": "auto", **made.best.option.changed}
    other = predict(
        described(0.2) | changed, MACHINE, p.ranks, p.threads, schedule, p.placement, p.node.ranks
    )
    expected = other.figures[FACTOR].value / p.figures[FACTOR].value
    assert made.longer.ratio.value == pytest.approx(expected) and expected < 1
    assert advise_show.content(made)["longer_cycle"]["cycle_ms"] == 0.2
    assert "0.2 is exact, too" in advice_page.render(made)


@pytest.mark.parametrize(
    ("times", "simulator"),
    [
        ({"cycle_ms": 0.2}, "mini-app"),
        ({"cycle_ms": 0.1}, "nest"),
        ({"cycle_ms": 0.1, "simulate_ms": 10.1}, "mini-app"),
        ({"cycle_ms": 0.1, "warmup_ms": 0.1}, "mini-app"),
    ],
)
def test_no_longer_cycle_is_named_where_none_can_be_run(times, simulator):
    """Warm-up and simulated time have to be whole cycles; NEST has a cycle of its own."""
    made = advise(network(described(**times)), MACHINE, simulator=simulator)
    assert made.longer is None and "is exact, too" not in " ".join(advise_show.lines(made))
    assert advise_show.content(made)["longer_cycle"] is None


def test_a_longer_cycle_without_a_time_is_only_called_exact():
    """Delays of 2 ms hold twenty windows of 0.1 ms, but only ten of 0.2 ms."""
    found = network(described(0.1, 20), schedule="overlapped", lag=19)
    made = advise(found, MACHINE)
    assert made.longer == (0.2, None)
    assert "cycle_ms is 0.1; 0.2 is exact, too." in advise_show.lines(made)
