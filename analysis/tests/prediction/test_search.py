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
from small_machine import Machine, Value

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.network.presets import mam_benchmark
from spikemark.network.schedules import find
from spikemark.prediction import answers, draws, points, question, search
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
        "format_version": 1, "name": name, "title": title,
        "node": {"sockets": leaf(2, "1"), "cores": leaf(cores, "1"), "clock": leaf(clock, "GHz")},
        "interconnect": {"fabric": leaf(fabric)},
        "offer": {"nodes": leaf(nodes, "1"), "price": leaf(price, "EUR"), "watts": leaf(watts, "W")},
    }  # fmt: skip
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def asked(**way):
    return question.of_description("a network", NETWORK).way(**way)


def test_nodes_are_never_more_than_offered_and_exactly_as_many_as_given():
    offered = Machine()
    offered.values["offer.nodes"] = Value(6, "1")
    assert search.counts(offered, None)[-1] == 6 and search.counts(offered, 5) == [5]
    with pytest.raises(BadInput):
        search.counts(offered, 7)
    found = search.mini_app(asked(schedule="conventional"), offered, None, 5)
    assert [one.nodes for one in found.options] == [5]


def test_the_best_is_first_and_has_the_largest_exact_d():
    found = search.mini_app(asked(), Machine(), None, 4).options
    middle = [float(np.median(one.rtf)) for one in found]
    assert middle[0] <= min(middle) * search.TIE and len(found) >= 4
    aware = next(one for one in found if one.way["schedule"] == "structure_aware")
    assert aware.way["delay_ratio"] == aware.detail.loads.largest_delay_ratio


def test_fewest_nodes_reach_a_target_in_half_of_the_draws_and_more_in_95_per_cent():
    slow = Machine().with_(kernels__full_node__update__ignore_and_fire=Value(20, "ns"))  # more nodes help
    one = search.mini_app(asked(schedule="conventional"), slow, None, 1).best
    found = search.mini_app(asked(schedule="conventional"), slow, 0.96 * one.median)
    assert found.best.nodes > 1 and found.best.median <= 0.96 * one.median
    target = float(np.quantile(one.rtf, 0.7))
    found = search.mini_app(asked(schedule="conventional"), slow, target)
    assert found.best.nodes == 1 and found.best.reaches(target) >= 0.5
    assert found.sure.nodes > 1 and found.sure.reaches(target) >= search.SURE
    assert search.mini_app(asked(schedule="conventional"), Machine(), 1e-3).sure is None


def test_the_answer_does_not_depend_on_where_the_search_begins():
    slow = Machine().with_(kernels__full_node__update__ignore_and_fire=Value(2000, "ns"))
    schedule = find("conventional")
    for target in (None, 0.3):
        best = [search.Search(asked(), slow).best(schedule, [*range(1, 33)], target, near)
                for near in (None, 1, 7, 32)]  # fmt: skip
        assert best[0].nodes > 1
        assert {one.nodes for one in best} == {best[0].nodes}, [(one.nodes, one.median) for one in best]


def test_answers_are_one_screen():
    found = {name: search.mini_app(asked(), Machine(name), 1.0, 2) for name in ("a", "b")}
    for sentences, table, lines in (
        answers.compared(found, 1.0, 5, 8000, 0.3),
        answers.advised(found["a"], 1.0),
        answers.predicted(found["a"].options[:2]),
    ):
        assert len(table.rows) <= 12 and len(sentences) + len(lines) <= 6
    content = answers.compared_content(found, 1.0)
    assert json.dumps(content, allow_nan=False)
    assert content["machines"][0]["ratio"]["value"] == pytest.approx(1)
    advice = answers.advised_content(found["a"])
    assert advice["ratios"][0]["value"] == 1 and "miniapp" in advice["command"]


def test_the_command_for_a_yaml_file_writes_the_json_that_it_runs(tmp_path):
    file, other = tmp_path / "a network.yaml", tmp_path / "a network.json"
    file.write_text(yaml.safe_dump(NETWORK))
    other.write_text("{}")
    best = search.mini_app(replace(asked(), named=file), Machine(), None, 1).best
    writes, runs = answers.command(best).split(" && ")
    subprocess.run(writes.replace("python3", sys.executable, 1), shell=True, check=True)
    written = next(Path(word) for word in shlex.split(runs) if word.endswith(".json"))
    assert json.loads(written.read_text()) == NETWORK and other.read_text() == "{}"
    assert answers.command(replace(best, question=replace(asked(), named=other))).startswith("OMP_NUM")


def test_what_narrows_most_is_what_decides():
    wide = Machine().with_(kernels__full_node__t_first=Value(80, "ns", interval=(10, 640)))
    found = search.mini_app(asked(schedule="conventional"), wide, None, 2).best
    (name, share), *_ = answers.decides(found.rtf, found.inputs)
    assert name == "made-up/kernels.full_node.t_first" and share > 0.3
    known = answers.without(found.rtf, found.inputs[name])
    assert np.std(np.log(known)) < 0.85 * np.std(np.log(found.rtf))


def test_two_offers_are_compared_on_one_screen(spikemark, tmp_path):
    """The ratio, energy, power and prices of two offers; no machine is asked beyond its nodes."""
    files = [offer(tmp_path, name) for name in OFFERS]
    words = ("compare", *files, "--preset", "mam", "--full", "--simulator", "nest", "--price-kwh", "0.3")
    status, out, error = spikemark(*words, "--html", tmp_path / "page.html")
    assert status == 0, error
    assert len(out.splitlines()) <= 24
    assert (tmp_path / "page.html").read_text().count("<svg") == 2
    found = json.loads(spikemark(*words, "--json")[1])
    for one, (_, _, _, _, nodes, price, watts) in zip(found["machines"], OFFERS.values(), strict=True):
        assert one["best"]["nodes"] <= nodes and max(o["nodes"] for o in one["by_nodes"]) == nodes
        assert one["price_eur"] == one["best"]["nodes"] * price
        power = one["best"]["figures"]["power_w"]
        assert power["value"] == pytest.approx(one["best"]["nodes"] * watts)
        assert one["best"]["figures"]["energy_per_event_uj"]["interval"][0] > 0
        assert one["best"]["anchor"]["simulator"] == "NEST"
    assert found["machines"][1]["ratio"]["interval"][0] < found["machines"][1]["ratio"]["value"]


def test_a_production_simulator_gets_a_bound_for_another_schedule_or_a_replay():
    named = question.of_preset("mam-benchmark", True).way()
    machine = machines.filled(machines.load("grace"))
    made = search.anchored(named, machine, "nest", None, 32)
    conventional, aware = search.by_schedule(made).options
    assert aware.way["from"] == "bound" and aware.way["delay_ratio"] == 10
    assert aware.parts["exchange"] == pytest.approx(conventional.parts["exchange"] / 10**0.5)
    assert (aware.parts["kernel"] == conventional.parts["kernel"]).all()
    replayed = search.by_schedule(made, {"structure_aware": Quantity(0.8, 0.7, 0.9)}).options[1]
    middle, low, high = draws.interval(replayed.rtf / conventional.rtf)
    assert (middle, high / low) == (pytest.approx(0.8, rel=0.01), pytest.approx(0.9 / 0.7, rel=0.02))


def test_own_runs_are_the_anchor_and_narrow_what_comes_next(tmp_path):
    named = question.of_preset("mam-benchmark", True).way()
    machine = machines.filled(machines.load("grace"))
    (tmp_path / "runs.csv").write_text("nodes,ranks,threads,real_time_factor\n32,64,72,9\n")
    before, own = (search.anchored(named, machine, "nest", None, 32, one).best
                   for one in (None, tmp_path / "runs.csv"))  # fmt: skip
    assert own.near in own.own and own.differs == ()
    assert answers.width(own.rtf) < answers.width(before.rtf) / 2
    assert points.own_runs(tmp_path / "runs.csv", own.run)[0].seconds == 9
    assert len(answers.next_step([(before, 1)], before.rtf, before.inputs)) == 1
    assert len(answers.next_step([(own, 1)], own.rtf, own.inputs)) <= 1


@pytest.mark.parametrize(
    ("words", "field"),
    [
        (("predict", "microcircuit", "--machine", "nowhere", "--nodes", "1"), "nowhere"),
        (("predict", "microcircuit", "--machine", "jureca-dc"), "nodes"),
        (("predict", "microcircuit", "--machine", "jureca-dc", "--ranks", "0"), "ranks"),
        (("predict", "microcircuit", "mam", "--machine", "jureca-dc", "--nodes", "1"), "NETWORK"),
        (("predict", "--machine", "jureca-dc", "--nodes", "1"), "NETWORK"),
        (("predict", "mam", "--machine", "jureca-dc", "--simulator", "nest", "--ranks", "2"), "ranks"),
        (("compare", "jureca-dc", "--preset", "microcircuit", "--target-rtf", "-1"), "target_rtf"),
        (("compare", "jureca-dc", "jureca-dc", "--preset", "microcircuit"), "machine"),
        (("advise", "microcircuit"), "machine"),
    ],
)
def test_bad_input_names_its_field(spikemark, words, field):
    status, out, error = spikemark(*words)
    assert status == 2 and not out and field in error and error.count("\n") == 1
