"""`spikemark advise --simulator nest`: only what NEST can run, and what to do with an own NEST script."""

import json
import shlex

import pytest
from advised import MACHINE, benchmark, few, network

from spikemark.core.errors import BadInput
from spikemark.prediction import advise_show, asked, compare_show, nest, simulators
from spikemark.prediction.advise import advise
from spikemark.prediction.compare import compare
from spikemark.report import advice_page, machines_page

ASKED = ("advise", "mam-benchmark", "--option", "areas=4", "--option", "neurons_per_area=2000", "--option",
         "indegree=200", "--machine", "made-up", "--simulator", "nest")  # fmt: skip
NEVER = ("overlapped", "hierarchical")


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    few(monkeypatch)


@pytest.fixture(autouse=True)
def _runs(monkeypatch):
    found = (simulators.Run("a", "", 1, 2.0, 1.0, 4, 1.0), simulators.Run("a", "", 1, 8.0, 1.0, 4, 1.0))
    made = simulators.Simulator("nest", "NEST", lambda: found, nest.WAYS, nest.how, True)
    monkeypatch.setitem(simulators.SIMULATORS, "nest", made)


def test_only_ways_that_nest_has_are_ranked_and_released_ones_first():
    made = advise(network(benchmark(areas=4)), MACHINE.with_(jitter__cv=0.3), simulator="nest")
    ways = [(r.prediction.schedule, r.prediction.placement) for r in made.ranked]
    assert ways[0] == ("conventional", "round_robin") and set(ways) <= set(nest.WAYS)
    assert {schedule for schedule, _ in ways} == {"conventional", "placement_only", "structure_aware"}
    for r in made.ranked:
        said = advise_show.verdict(made, r)
        assert ("only in the branch published with arXiv 2602.23274" in said) == (r is not made.best)
        assert all(lane.exchange == "alltoallv" for lane in r.prediction.loads.lanes if not lane.alone)
    assert "run NEST with the conventional schedule" in advise_show.sentence(made)
    assert "fastest way of released NEST" in advise_show.sentence(made)
    said = " ".join(made.times_of)
    assert "No NEST has the overlapped or the hierarchical schedule" in said
    assert "simulate" not in " ".join(advise_show.lines(made))  # which runs the mini-app


def test_the_commands_are_those_of_a_user_of_nest(spikemark, known):
    text = spikemark(*ASKED)[1]
    content = json.loads(spikemark(*ASKED, "--json")[1])
    best, commands = content["options"][0], content["commands"]
    (run,), (script,) = commands["run"], commands["in_script"]
    words = shlex.split(run)
    assert script == f"nest.local_num_threads = {best['threads']}"
    assert words[:2] == ["OMP_PROC_BIND=close", "OMP_PLACES=cores"]
    assert words[words.index("-n") + 1] == str(best["ranks"]) and words[-2:] == ["python3", "my_network.py"]
    assert f"ppr:{best['ranks_per_node']}:node:PE={best['threads']}" in words
    for line in (run, script, "Run it with NEST", "ignores OMP_NUM_THREADS", "nest.min_delay"):
        assert line in text
    assert "miniapp" not in text and "miniapp" not in json.dumps(commands)
    assert commands["predict"].endswith("--simulator nest")
    assert {o["schedule"] for o in content["options"]}.isdisjoint(NEVER)
    assert content["options"][0]["version"] == "released NEST"


def test_the_page_says_what_the_terminal_says():
    made = advise(network(benchmark(areas=4)), MACHINE, simulator="nest")
    html = advice_page.render(made)
    assert "nest.local_num_threads" in html and "Run it with NEST" in html and "OMP_PROC_BIND" in html
    assert "Run it with the mini-app" not in html and "overlapped, " not in html.partition('id="way"')[0]


def test_an_interval_that_leaves_all_open_is_said(monkeypatch):
    """From 1 to 60 times the mini-app's: whether NEST reaches the target cannot be told."""
    found = (simulators.Run("a", "", 1, 1.0, 1.0, 4, 1.0), simulators.Run("a", "", 1, 60.0, 1.0, 4, 1.0))
    made = simulators.Simulator("nest", "NEST", lambda: found, nest.WAYS, nest.how, True)
    monkeypatch.setitem(simulators.SIMULATORS, "nest", made)
    for how in ({}, {"schedule": "structure_aware"}):
        free = advise(network(benchmark(areas=4), **how), MACHINE, simulator="nest")
        target = 1.1 * free.best.prediction.figures["real_time_factor"].value
        made = advise(network(benchmark(areas=4), **how), MACHINE, target, "nest")
        said = advise_show.sentence(made)
        assert said.endswith(": possible, but cannot be told.") and len(said.split()) <= 30
        assert made.best.reached == "possible"
        assert any("cannot be told from what is known" in line for line in advise_show.explained(made))
        assert advise_show.verdict(made, made.best).endswith("target possible, but cannot be told")


@pytest.mark.parametrize(
    ("how", "complaint"),
    [
        ({"schedule": "overlapped"}, "schedule='overlapped': no NEST has it; allowed: conventional"),
        ({"placement": "area_group"}, "placement='area_group': no NEST has it; allowed: round_robin"),
        ({"schedule": "structure_aware", "placement": "round_robin"}, "placement='round_robin': no NEST has"),
        ({"exchange": "p2p"}, "exchange='p2p': NEST exchanges with MPI_Alltoall"),
        ({"lag": 2}, "lag=2: no NEST has it"),
    ],
)
def test_what_no_nest_has_is_refused(how, complaint):
    with pytest.raises(BadInput) as refused:
        advise(network(benchmark(areas=4), **how), MACHINE, simulator="nest")
    assert complaint in str(refused.value)


def test_the_branch_is_named_where_it_is_asked_for():
    made = advise(network(benchmark(areas=4), schedule="structure_aware"), MACHINE, simulator="nest")
    said = advise_show.sentence(made)
    assert "run NEST's branch with" in said and "released" not in said and len(said.split()) <= 30
    assert any("arXiv 2602.23274" in line for line in advise_show.explained(made))


def test_what_the_description_states_counts_only_if_nest_has_it():
    stated = benchmark(areas=4) | {"schedule": "overlapped", "exchange": "p2p"}
    made = advise(network(stated), MACHINE, simulator="nest")
    assert "it cannot be run with NEST: no version has the overlapped schedule" in advise_show.described(made)
    assert all(lane.exchange == "alltoallv" for lane in made.best.prediction.loads.lanes)


def test_machines_are_compared_with_what_nest_can_run(monkeypatch):
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2))
    of = asked.for_all_schedules(asked.of_preset("mam-benchmark", options=["areas=4", "neurons_per_area=2000",
                                                                          "indegree=200"]))  # fmt: skip
    made = compare(of, [MACHINE], 1.0, simulator="nest")
    assert {(p.schedule, p.placement) for p in made.candidates[0].tried} == {("conventional", "round_robin")}
    (line,) = compare_show.chosen_schedules(made)
    assert "that released NEST has" in line and "exchange" not in line
    html = machines_page.render(made)  # of parts that are not known there is no picture
    assert "Where the time goes" not in html and "Times of NEST" in html and "None" not in html
    assert "limits it" not in " ".join(compare_show.verdict(made))


SMALL = ASKED[1:8]  # the network
#: How to ask each command what NEST would do with a schedule; all of them refuse alike.
COMMANDS = {
    "advise": ("advise", *SMALL, "--machine", "made-up"),
    "predict": ("predict", *SMALL, "--machine", "made-up", "--ranks", 2),
    "compare": ("compare", "made-up", "--preset", *SMALL),
}
NEVER_IN_NEST = [
    (
        ("--schedule", "overlapped"),
        "schedule='overlapped': no NEST has it; allowed: conventional, ",
    ),
    (("--schedule", "hierarchical"), "schedule='hierarchical': no NEST has it"),
    (
        ("--schedule", "structure_aware", "--placement", "area_group"),
        "placement='area_group': no NEST has it",
    ),
    (("--schedule", "conventional", "--exchange", "p2p"), "exchange='p2p': NEST exchanges with MPI_Alltoall"),
    (("--schedule", "conventional", "--lag", 2), "lag=2: "),
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("options", "complaint"), NEVER_IN_NEST)
def test_every_command_refuses_what_no_nest_has(command, options, complaint, spikemark, known):
    status, output, errors = spikemark(*COMMANDS[command], *options, "--simulator", "nest")
    assert status == 2 and not output
    assert complaint in " ".join(errors.split()) and len(errors.splitlines()) == 1


def test_a_stated_exchange_of_the_mini_app_does_not_count_for_nest(spikemark, known, tmp_path):
    """A description states `exchange` for the mini-app; NEST has its own."""
    times = []
    for name, stated in (("plain", {}), ("p2p", {"exchange": "p2p"})):
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(benchmark(areas=4) | {"schedule": "conventional"} | stated))
        asked_for = ("predict", path, "--machine", "made-up", "--ranks", 2, "--simulator", "nest", "--json")
        status, output, _ = spikemark(*asked_for)
        assert status == 0
        times.append(json.loads(output)["predictions"])
    assert times[0] == times[1]


def test_compare_keeps_to_the_placements_of_nest(spikemark, known, monkeypatch):
    """Where ranks outnumber areas, the mini-app has area_group; NEST is refused there."""
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (2, 8))
    asked_for = (*COMMANDS["compare"], "--schedule", "structure_aware", "--simulator", "nest", "--json")
    status, output, errors = spikemark(*asked_for)
    assert status == 0, errors
    (machine,) = json.loads(output)["machines"]
    assert [p["nodes"] for p in machine["tried"]] == [2] and list(machine["refused"]) == ["8"]
    assert machine["chosen"]["placement"] == "area"
