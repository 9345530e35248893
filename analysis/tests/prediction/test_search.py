"""The search over nodes, schedules, placements and exchanges, and the commands' answers."""

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from leaves import leaf
from published_networks import multi_area_model
from small_machine import Machine, Value

import spikemark
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.network.presets import mam_benchmark
from spikemark.network.schedules import find_schedule
from spikemark.prediction import (
    anchors,
    draws,
    effects,
    narrowing,
    option,
    points,
    production,
    question,
    search,
)
from spikemark.prediction.advised import AdviceAnswer
from spikemark.prediction.compared import ComparisonAnswer
from spikemark.prediction.costs import Use
from spikemark.prediction.narrowing import RatioTerm
from spikemark.prediction.predicted import PredictionAnswer
from spikemark.prediction.wording import interval
from spikemark.quantities.quantity import Quantity

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=6000, indegree=400)
#: Two offers as a buyer has them: the data sheet, the fabric, and what is offered.
OFFERS = {
    "offer-a": ("2 x EPYC 7742, HDR100", 128, 2.25, "infiniband", 40, 9000, 650),
    "offer-b": ("2 x EPYC 9654, 100 Gbit/s", 192, 2.4, "ethernet", 24, 17000, 1000),
}


def offer(folder: Path, name: str) -> Path:
    title, cores, clock, fabric, nodes, price, watts = OFFERS[name]
    content = {
        "format_version": 1,
        "name": name,
        "title": title,
        "node": {"sockets": leaf(2, "1"), "cores": leaf(cores, "1"), "clock": leaf(clock, "GHz")},
        "interconnect": {"fabric": leaf(fabric)},
        "offer": {
            "nodes": leaf(nodes, "1"),
            "price": leaf(price, "EUR"),
            "watts": leaf(watts, "W"),
        },
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def asked(**way):
    return question.of_description("a network", NETWORK).way(**way)


def test_nodes_are_never_more_than_offered_and_exactly_as_many_as_given():
    offered = Machine()
    offered.values["offer.nodes"] = Value(6, "1")
    assert option.numbers_of_nodes(offered, None)[-1] == 6 and option.numbers_of_nodes(
        offered, 5
    ) == [5]
    with pytest.raises(BadInput):
        option.numbers_of_nodes(offered, 7)
    found = search.mini_app(asked(schedule="conventional"), offered, None, 5)
    assert [one.nodes for one in found.options] == [5]


def test_the_best_is_first_and_has_the_largest_exact_d():
    found = search.mini_app(asked(), Machine(), None, 4).options
    middle = [float(np.median(one.rtf)) for one in found]
    assert middle[0] <= min(middle) * search.TIE and len(found) >= 4
    aware = next(one for one in found if one.way.schedule == "structure_aware")
    assert aware.way.delay_ratio == aware.performance.loads.largest_delay_ratio


def test_fewest_nodes_reach_a_target_in_half_of_the_draws_and_more_in_95_per_cent():
    slow = Machine().with_(
        kernels__full_node__update__ignore_and_fire=Value(20, "ns")
    )  # more nodes help
    one = search.mini_app(asked(schedule="conventional"), slow, None, 1).best
    found = search.mini_app(asked(schedule="conventional"), slow, 0.96 * one.median)
    assert found.best.nodes > 1 and found.best.median <= 0.96 * one.median
    target = float(np.quantile(one.rtf, 0.7))
    found = search.mini_app(asked(schedule="conventional"), slow, target)
    assert found.best.nodes == 1 and found.best.reaches(target) >= 0.5
    assert found.surest.nodes > 1 and found.surest.reaches(target) >= option.SURE
    found = search.mini_app(asked(schedule="conventional"), Machine(), 1e-3)
    assert found.surest.reaches(1e-3) == 0


def test_the_answer_does_not_depend_on_where_the_search_begins():
    slow = Machine().with_(kernels__full_node__update__ignore_and_fire=Value(2000, "ns"))
    schedule = find_schedule("conventional")
    for target in (None, 0.3):
        best = [
            search.Search(asked(), slow).best(schedule, [*range(1, 33)], target, near)
            for near in (None, 1, 7, 32)
        ]
        assert best[0].nodes > 1
        assert {one.nodes for one in best} == {best[0].nodes}, [
            (one.nodes, one.median) for one in best
        ]


def test_answers_are_one_screen():
    found = {name: search.mini_app(asked(), Machine(name), 1.0, 2) for name in ("a", "b")}
    comparison = ComparisonAnswer(found, asked(), 1.0, Use(5, 8000, 0.3), {})
    advice = AdviceAnswer(found["a"], asked(), 1.0, {})
    prediction = PredictionAnswer(found["a"].options[:2], Machine())
    for answer in (comparison, advice, prediction):
        screen = answer.screen()
        (table,) = screen.tables
        assert len(table.rows) <= 12 and len(screen.lines) + len(screen.notes) <= 6
    content = comparison.content()
    assert json.dumps(content, allow_nan=False)
    assert content["machines"][0]["ratio"]["value"] == pytest.approx(1)
    advice = advice.content()
    assert advice["ratios"][0]["value"] == 1 and "miniapp" in advice["command"]


def test_the_command_for_a_yaml_file_writes_the_json_that_it_runs(tmp_path):
    file, other = tmp_path / "a network.yaml", tmp_path / "a network.json"
    file.write_text(yaml.safe_dump(NETWORK))
    other.write_text("{}")
    best = search.mini_app(replace(asked(), named=file), Machine(), None, 1).best
    writes, runs = best.run_command.split(" && ")
    subprocess.run(writes.replace("python3", sys.executable, 1), shell=True, check=True)
    written = next(Path(word) for word in shlex.split(runs) if word.endswith(".json"))
    assert json.loads(written.read_text()) == NETWORK and other.read_text() == "{}"
    of_other = replace(best, question=replace(asked(), named=other))
    assert of_other.run_command.startswith("OMP_NUM")


def test_what_narrows_most_is_what_decides():
    wide = Machine().with_(kernels__full_node__t_first=Value(80, "ns", interval=(10, 640)))
    found = search.mini_app(asked(schedule="conventional"), wide, None, 2).best
    (name, share), *_ = narrowing.decides(found.rtf, found.inputs)
    assert name == "made-up/kernels.full_node.t_first" and share > 0.3
    known = narrowing.without(found.rtf, found.inputs[name])
    assert np.std(np.log(known)) < 0.85 * np.std(np.log(found.rtf))


@pytest.mark.slow
def test_two_offers_are_compared_on_one_screen(spikemark, tmp_path):
    """The ratio, energy, power and prices of two offers; no machine is asked beyond its nodes."""
    files = [offer(tmp_path, name) for name in OFFERS]
    words = (
        "compare",
        *files,
        "--preset",
        "mam",
        "--full",
        "--program",
        "nest",
        "--price-kwh",
        "0.3",
    )
    status, out, error = spikemark(*words, "--html", tmp_path / "page.html")
    assert status == 0, error
    answer, _, to_do = out.partition("Next: ")
    assert len(answer.splitlines()) <= 24 and len(to_do.splitlines()) <= 1 + len(OFFERS)
    assert (tmp_path / "page.html").read_text().count("<svg") == 2
    found = json.loads(spikemark(*words, "--json")[1])
    for one, (_, _, _, _, nodes, price, watts) in zip(
        found["machines"], OFFERS.values(), strict=True
    ):
        assert one["best"]["nodes"] <= nodes and max(o["nodes"] for o in one["by_nodes"]) == nodes
        assert one["price_eur"] == one["best"]["nodes"] * price
        power = one["best"]["figures"]["power_w"]
        assert power["value"] == pytest.approx(one["best"]["nodes"] * watts)
        assert one["best"]["figures"]["energy_per_event_uj"]["interval"][0] > 0
        assert one["best"]["anchor"]["program"] == "NEST"
    assert found["machines"][1]["ratio"]["interval"][0] < found["machines"][1]["ratio"]["value"]


def test_a_production_simulator_gets_a_bound_for_another_schedule_or_a_replay():
    named = question.of_preset("mam-benchmark", True).way()
    machine = machines.filled(machines.load("grace"))
    made = production.anchored(named, machine, "nest", None, 32)
    conventional, aware = production.by_schedule(made).options
    assert aware.way.origin == "bound" and aware.way.delay_ratio == 10
    assert aware.parts["exchange"] == pytest.approx(conventional.parts["exchange"] / 10**0.5)
    assert (aware.parts["kernel"] == conventional.parts["kernel"]).all()
    replayed = production.by_schedule(made, {"structure_aware": Quantity(0.8, 0.7, 0.9)}).options[1]
    middle, low, high = draws.interval(replayed.rtf / conventional.rtf)
    assert (middle, high / low) == (
        pytest.approx(0.8, rel=0.01),
        pytest.approx(0.9 / 0.7, rel=0.02),
    )


def test_own_runs_are_the_anchor_and_narrow_what_comes_next(tmp_path):
    named = question.of_preset("mam-benchmark", True).way()
    machine = machines.filled(machines.load("grace"))
    (tmp_path / "runs.csv").write_text("nodes,ranks,threads,real_time_factor\n32,64,72,9\n")
    table = production.OwnTable(tmp_path / "runs.csv", machine)
    before, own = (
        production.anchored(named, machine, "nest", None, 32, tables).best
        for tables in ((), [table])
    )
    assert own.anchor.is_own and own.anchor.differs == ()
    assert narrowing.width(own.rtf) < narrowing.width(before.rtf) / 2
    assert points.own_runs(tmp_path / "runs.csv", own.run)[0].seconds == 9
    assert len(narrowing.next_step([RatioTerm(before)], before.rtf, before.inputs)) == 1
    assert len(narrowing.next_step([RatioTerm(own)], own.rtf, own.inputs)) <= 1


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("predict", "microcircuit", "--machine", "nowhere", "--nodes", "1"), "nowhere"),
        (("predict", "microcircuit", "--machine", "jureca-dc"), "nodes"),
        (("predict", "microcircuit", "--machine", "jureca-dc", "--ranks", "0"), "ranks"),
        (("predict", "microcircuit", "mam", "--machine", "jureca-dc", "--nodes", "1"), "NETWORK"),
        (("predict", "--machine", "jureca-dc", "--nodes", "1"), "NETWORK"),
        (
            ("predict", "mam", "--machine", "jureca-dc", "--program", "nest", "--ranks", "2"),
            "ranks",
        ),
        (
            ("compare", "jureca-dc", "--preset", "microcircuit", "--target-rtf", "-1"),
            "--target-rtf",
        ),
        (("compare", "jureca-dc", "jureca-dc", "--preset", "microcircuit"), "machine"),
        (("advise", "microcircuit"), "machine"),
    ],
)
def test_bad_input_names_its_field(spikemark, words, field):
    status, out, error = spikemark(*words)
    assert status == 2 and not out and field in error and error.count("\n") == 1


def test_every_effect_of_a_published_run_has_words():
    keys = {key for run in points.published() for key in effects.effects_of(run)}
    assert any(name.endswith("/") for _, _, name in keys)  # a network without variants
    for part, aspect, name in keys:
        words = narrowing.words_of(f"error/{part}/{aspect}/{name}")
        assert (part, aspect) in narrowing.EFFECTS
        assert "()" not in words and "{" not in words and words == words.rstrip(" ,/")


RUNS_OF_MINE = "nodes,ranks,threads,real_time_factor\n1,2,64,1.9\n"
COMPARED = ["compare", "offer-a.yaml", "offer-b.yaml", "--preset", "microcircuit", "--full"]
COMPARED += ["--program", "nest", "--nodes", "1"]


@pytest.mark.slow
def test_own_runs_belong_to_the_machine_that_is_named(spikemark, tmp_path, monkeypatch):
    """A run on one offer says nothing about the other's own effects."""
    monkeypatch.chdir(tmp_path)
    for name in OFFERS:
        offer(tmp_path, name)
    (tmp_path / "my runs.csv").write_text(RUNS_OF_MINE)

    def widths(*more):
        status, output, errors = spikemark(*COMPARED, *more, "--json")
        assert status == 0, errors
        widths = {}
        for one in json.loads(output)["machines"]:
            low, high = one["best"]["figures"]["real_time_factor"]["interval"]
            widths[one["name"]] = np.log(high / low)
        return widths

    before = widths()
    for word in "offer-a.yaml", "offer-a":
        after = widths("--anchor", f"{word}=my runs.csv")
        assert after["offer-a"] < before["offer-a"] / 2
        assert after["offer-b"] > 0.7 * before["offer-b"]
    for wrong in "my runs.csv", "offer-c=my runs.csv", "offer-a=":
        status, output, errors = spikemark(*COMPARED, "--anchor", wrong)
        assert (status, output) == (2, "") and errors.startswith("spikemark: --anchor")
    status, _, errors = spikemark(
        "compare", "offer-a.yaml", *COMPARED[3:], "--anchor", "my runs.csv"
    )
    assert status == 0, errors


@pytest.mark.slow
def test_screens_name_network_program_and_version(spikemark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in OFFERS:
        offer(tmp_path, name)
    words = ["microcircuit", "--full", "--machine", "offer-a.yaml", "--program", "nest"]
    program = f"NEST {anchors.newest_of('nest')}"
    words += ["--nodes", "1"]
    for line in COMPARED, ["predict", *words], ["advise", *words]:
        status, output, errors = spikemark(*line)
        assert status == 0, errors
        assert program in output and "microcircuit full size" in output
    status, _, errors = spikemark(*COMPARED, "--html", "page.html")
    assert status == 0, errors
    page = (tmp_path / "page.html").read_text()
    assert program in page and "microcircuit full size" in page


def test_next_is_a_run_on_each_machine_where_that_narrows_most():
    machines_of_offer = [machines.filled(machines.load(name)) for name in ("grace", "piz-daint")]
    circuit = question.of_preset("microcircuit", True).way()
    sides = [
        RatioTerm(production.anchored(circuit, machine, "nest", nodes=1).best, power=power)
        for machine, power in zip(machines_of_offer, (1, -1), strict=True)
    ]
    ratio = sides[0].option.rtf / sides[1].option.rtf
    each = narrowing._by_runs_on_each(sides, [1, 1], ratio)
    alone = [narrowing._by_run_on(1, side, ratio) for side in sides]
    assert narrowing.width(each.result) < min(narrowing.width(one.result) for one in alone)
    assert [command for one in alone for command in one.commands] == list(each.commands)


def test_an_offer_without_caches_and_processor_is_told_what_would_fill_them(tmp_path):
    path = offer(tmp_path, "offer-a")
    circuit = spikemark.network("microcircuit", full=True)
    answer = spikemark.predict(circuit, path, program="nest", nodes=1)
    assert any("processor" in line for line in answer.screen().notes)
    content = yaml.safe_load(path.read_text()) | {"processor": "epyc-7742"}
    path.write_text(yaml.safe_dump(content))
    for machine in path, "jureca-dc":
        answer = spikemark.predict(circuit, machine, program="nest", nodes=1)
        assert not any("processor:" in line for line in answer.screen().notes)


def test_an_interval_narrower_than_its_digits_is_one_number():
    rng = np.random.default_rng(1)
    narrow = 12400 * np.exp(1e-5 * rng.standard_normal(2048))
    assert interval(narrow, 3) == interval(12400.0, 3)
    assert "(" in interval(12400 * np.exp(0.01 * rng.standard_normal(2048)), 3)


@pytest.mark.slow
def test_where_no_number_of_nodes_is_near_the_target_the_surest_is_that_which_is_shown(tmp_path):
    offers = [offer(tmp_path, name) for name in OFFERS]
    for target in (1e-3, 50.0):
        answer = spikemark.compare(multi_area_model(), offers, program="nest", target_rtf=target)
        for result in answer.results.values():
            assert not result.is_given
            if target < 1:
                assert result.surest is result.best
                assert result.best.median <= 1.1 * min(one.median for one in result.options)
        assert ("the fastest number of nodes is shown" in answer.sentence) == (target < 1)
    given = spikemark.compare(multi_area_model(), offers, program="nest", target_rtf=1e-3, nodes=3)
    assert all(result.is_given for result in given.results.values())
    assert "the fastest number of nodes is shown" not in given.sentence


def test_advice_on_given_nodes_says_nothing_of_others(tmp_path):
    file = offer(tmp_path, "offer-a")
    network = multi_area_model()
    for nodes in (None, 3):
        asked_about = {"program": "nest", "target_rtf": 0.01, "nodes": nodes}
        advice = spikemark.advise(network, file, **asked_about)
        text = " ".join(advice.screen().lines)
        assert ("no number of nodes" in text) == (nodes is None)


def test_a_schedule_of_lanes_between_given_areas_is_among_those_that_are_tried():
    described = question.of_preset("music-cells", rate=3.0)
    jureca = machines.filled(machines.load("jureca-dc"))
    assert isinstance(described.description["schedule"], list)
    found = search.mini_app(described, jureca, nodes=1)
    name = find_schedule(described.description["schedule"]).name
    assert name in {found_option.way.schedule for found_option in found.options}
