"""`spikemark advise`: its commands, what the description states, the fewest nodes, NEST, the page."""

import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from advised import MACHINE, RANKS, SLOW, benchmark, few, network

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES
from spikemark.prediction import advise_search, advise_show, exchange, nest, rates, simulators
from spikemark.prediction.advise import advise
from spikemark.prediction.advise_option import layouts
from spikemark.prediction.loads import Loads
from spikemark.prediction.predict import numbers
from spikemark.report import advice_page

SOURCE = Path(advise_search.__file__).parents[2]
MINIAPP = os.environ.get("SPIKEMARK_MINIAPP", str(SOURCE.parent / "build" / "miniapp"))


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    few(monkeypatch)


WAYS = [
    (
        "mam-benchmark",
        ("--option", "areas=4", "--option", "neurons_per_area=2000", "--option", "indegree=200"),
    ),
    ("network.yaml", ()),
]


@pytest.mark.parametrize(("name", "options"), WAYS)
@pytest.mark.parametrize(
    "how", [("--schedule", "overlapped"), ("--schedule", "conventional", "--simulator", "nest"), ()]
)
def test_the_command_that_is_printed_predicts_the_same(
    spikemark, known, runs_of_nest, tmp_path, monkeypatch, name, options, how
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.yaml").write_text(json.dumps(benchmark(areas=4)))
    given = ("advise", "--run", name, *options, "--machine", "made-up", *how, "--json")
    content = json.loads(spikemark(*given)[1])
    words = shlex.split(content["commands"]["predict"])
    assert words[:2] == ["spikemark", "predict"]
    status, output, _ = spikemark(*words[1:], "--json")
    (prediction,) = json.loads(output)["predictions"]
    best = content["options"][0]
    for made in (prediction, best):
        made["figures"] = {n: f and f["value"] for n, f in made["figures"].items()}
    assert status == 0 and prediction["figures"] == best["figures"]
    same = ("schedule", "placement", "nodes", "ranks", "threads", "delay_ratio", "lanes")
    assert [prediction[field] for field in same] == [best[field] for field in same]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "options"), WAYS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_run_that_is_printed_is_the_best_option(
    spikemark, known, tmp_path, monkeypatch, name, options, schedule
):
    """The mini-app itself explains the same lanes for the fields that the commands set."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "network.yaml").write_text(json.dumps(benchmark(areas=4)))
    asked_for = ("advise", name, *options, "--machine", "made-up", "--schedule", schedule, "--json")
    content = json.loads(spikemark(*asked_for)[1])
    *first, run = content["commands"]["run"]
    best = content["options"][0]
    words = shlex.split(run)
    assert words[0] == f"OMP_NUM_THREADS={best['threads']}"
    assert words[words.index("-n") + 1] == str(best["ranks"])
    (write,) = first
    script = write.replace("python -c", f"{sys.executable} -c")
    script = script.replace("spikemark preset", f"{sys.executable} -m spikemark preset")
    subprocess.run(script, shell=True, check=True, env={**os.environ, "PYTHONPATH": str(SOURCE)})
    path, settings = words[words.index("miniapp") + 1], words[words.index("--out") + 2 :]
    explain = [MINIAPP, "--explain", path, "--ranks", str(best["ranks"]), *settings]
    said = subprocess.run(explain, check=True, capture_output=True, text=True).stdout
    assert f"placement {best['placement']}," in said
    assert best["delay_ratio"] is None or f"D = {best['delay_ratio']}" in said
    for lane in best["lanes"]:
        assert lane["exchange"] is None or lane["exchange"] in said


@pytest.mark.parametrize(("ratio", "words"), [(4, "is not the best"), (10, "is the best of those tried")])
def test_what_the_description_states_is_tried_and_compared(ratio, words):
    stated = benchmark(areas=4) | {"schedule": "structure_aware", "placement": "area", "delay_ratio": ratio}
    made = advise(network(stated, schedule="structure_aware"), MACHINE)
    line = advise_show.described(made)
    assert f"its D = {ratio} {words}" in line or (ratio == 10 and "itself states the best way" in line)
    own = made.described.prediction
    assert own.loads.delay_ratio == ratio and own.nodes == made.best.prediction.nodes
    assert made.best.prediction.loads.delay_ratio == 10 and made.described.ratio.value >= 1


def test_a_lag_an_exchange_and_lanes_that_are_stated_do_not_hide_others():
    stated = benchmark(areas=4) | {"schedule": "overlapped", "lag": 4, "exchange": "p2p"}
    given = network(stated)
    assert given.description["lag"] == 1 and given.own["lag"] == 4
    free = {name: value for name, value in stated.items() if name not in ("lag", "exchange")}
    without = advise(network(free), MACHINE)
    made = advise(given, MACHINE)
    assert made.best.option.factor <= without.best.option.factor * 1.001
    lanes = [{"name": "near", "group": "area"}, {"name": "far", "period": 5}]
    stated = benchmark(areas=4) | {"schedule": lanes}
    made = advise(network(stated), MACHINE)
    assert "lanes of its own" in {r.prediction.loads.schedule.label for r in made.ranked}


def test_a_description_that_cannot_run_on_the_best_nodes_is_said(monkeypatch):
    monkeypatch.setattr(advise_search, "DOUBLING", (4,))
    stated = benchmark(areas=2) | {"schedule": "structure_aware", "placement": "area"}
    made = advise(network(stated), MACHINE)
    assert "cannot be run on these nodes: ranks=" in advise_show.described(made)


def test_the_fewest_nodes_of_all_exchanges_and_lags(monkeypatch):
    """Slow connections make the choice of the exchange decide how many nodes are enough."""
    monkeypatch.setattr(advise_search, "BETWEEN", (3,))
    description, machine = benchmark(areas=4), MACHINE.with_(**SLOW)
    hz, found = rates.of(description).hz, {}
    for name in exchange.EXCHANGES:
        for nodes in (1, 2, 3, 4):
            for each in layouts(machine):
                asked_for = description | {"exchange": name}
                with suppress(BadInput):
                    if nodes * each <= RANKS:
                        loads = Loads.of(asked_for, nodes * each, 16 // each, hz, "conventional")
                        factor = numbers(loads, machine, each)["real_time_factor"]
                        found[nodes] = min(found.get(nodes, factor), factor)
    target = 1.05 * min(found.values())
    fewest = min(nodes for nodes, factor in found.items() if factor <= target)
    made = advise(network(description, schedule="conventional"), machine, target)
    assert made.best.prediction.nodes == fewest and made.best.reached == "likely"


def test_given_ways_leave_no_others():
    made = advise(network(benchmark(areas=4), schedule="structure_aware", placement="area_group"), MACHINE)
    (only,) = made.ranked
    assert (only.prediction.schedule, only.prediction.placement) == ("structure_aware", "area_group")


def test_nest_first_has_what_is_released(runs_of_nest):
    made = advise(network(benchmark(areas=4)), MACHINE.with_(jitter__cv=0.3), simulator="nest")
    assert made.best.prediction.schedule == "conventional"
    assert "run NEST with the conventional schedule" in advise_show.sentence(made)
    others = [advise_show.verdict(made, r) for r in made.ranked[1:]]
    assert others and all("only in the branch published" in verdict for verdict in others)
    said = " ".join(advise_show.lines(made))
    assert "time NEST itself" in said and "node.memory" not in said and "unknown part" not in said


@pytest.fixture
def runs_of_nest(monkeypatch):
    found = (simulators.Run("a", "", 1, 2.0, 1.0, 4, 1.0), simulators.Run("a", "", 1, 8.0, 1.0, 4, 1.0))
    made = simulators.Simulator("nest", "NEST", lambda: found, nest.WAYS, nest.how)
    monkeypatch.setitem(simulators.SIMULATORS, "nest", made)


@pytest.mark.parametrize("target", [None, 0.001])
@pytest.mark.parametrize("simulator", ["mini-app", "nest"])
def test_the_page_begins_with_a_sentence_a_picture_and_a_table(runs_of_nest, target, simulator):
    made = advise(network(benchmark(areas=4)), MACHINE, target, simulator)
    html = advice_page.render(made)
    top = html[html.index("<body") : html.index('id="way"')]
    assert top.count("<figure") == 1 and ("dashed line is the target" in html) == (target is not None)
    assert ("dashed: target" in top) == (target is not None)
    assert html.index(re.split("[(<]", advise_show.sentence(made))[0].strip()) < html.index("<figure")
    assert html.index("<figure") < html.index('id="way"')
    assert len(advise_show.sentence(made).split()) <= 30


@pytest.mark.parametrize("how", [(), ("--simulator", "nest")])
def test_a_command_for_fewer_cores_is_printed(spikemark, known, runs_of_nest, tmp_path, monkeypatch, how):
    """That for the nodes of the answer binds ranks to cores, which a small machine does not have."""
    monkeypatch.chdir(tmp_path)
    given = ("advise", *WAYS[0][:1], *WAYS[0][1], "--machine", "made-up", *how)
    content = json.loads(spikemark(*given, "--json")[1])
    page = tmp_path / "page.html"
    output = spikemark(*given, "--html", page)[1]
    run, small = content["commands"]["run"][-1], content["commands"]["on_fewer_cores"]
    assert "--map-by" in run and "--oversubscribe" not in run
    words, usual = shlex.split(small), shlex.split(run)
    assert words[words.index("-n") + 1] == usual[usual.index("-n") + 1]
    assert "--oversubscribe --bind-to none" in small and "PE=" not in small and "OMP_PROC" not in small
    program = "python3" if how else "miniapp"
    assert words[words.index(program) :] == usual[usual.index(program) :]
    assert f"{advise_show.FEWER}\n    {small}" in output
    assert "the times say nothing about speed" in page.read_text() and "--oversubscribe" in page.read_text()
