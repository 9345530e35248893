"""`spikemark predict --machine` and `spikemark compare`: answers, words, page, and what is refused."""

import json

import pytest
from html_page import Page
from small_machine import Machine, Value

from spikemark import machines
from spikemark.prediction import asked, compare_show
from spikemark.prediction.compare import compare
from spikemark.presets import mam_benchmark

OPTIONS = ("areas=8", "neurons_per_area=6000", "indegree=400")


def priced(**changes):
    return Machine().with_(**changes)


def dear(name="dear", **changes):
    """A faster machine that takes more power."""
    quick = {f"kernels__full_node__{k}": v for k, v in (("t_first", 30), ("t_next", 0.8))}
    return Machine(name, priced(**quick, power__core=100, price__node_hour=9, **changes).values)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2, 4, 8))


@pytest.fixture
def network():
    return asked.of_preset("mam-benchmark", options=list(OPTIONS))


@pytest.fixture
def known(monkeypatch):
    """The command line finds the made-up machines."""
    found = {"made-up": Machine(), "dear": dear(), "unpriced": Machine("unpriced", Machine().with_(
        price__node_hour=None).values)}  # fmt: skip
    monkeypatch.setattr(machines, "load", found.__getitem__)
    monkeypatch.setattr(machines, "filled", lambda profile: profile, raising=False)


def test_the_fewest_nodes_that_reach_the_target(network):
    made = compare(network, [Machine(), dear()], target=0.2, schedule="conventional")
    for c in made.candidates:
        factors = [p.figures["real_time_factor"].value for p in c.tried]
        reached = [p.nodes for p, f in zip(c.tried, factors, strict=True) if f <= 0.2]
        assert c.needed.nodes == min(reached) and c.needed is c.chosen
    slow, quick = made.candidates
    assert quick.needed.nodes <= slow.needed.nodes


def test_a_target_nobody_reaches(network):
    made = compare(network, [Machine()], target=1e-6)
    (only,) = made.candidates
    assert only.needed is None and only.chosen is only.fastest and only.certainty == "not reached"
    assert "does not reach" in compare_show.verdict(made)


def test_nobody_beats_the_pareto_points(network):
    made = compare(network, [Machine(), dear()], target=0.5)
    points = [p for c in made.candidates for p in c.usable]

    def both(p):
        return p.figures["real_time_factor"].value, p.figures["energy_j"].value

    for p in points:
        beaten = any(all(x < y for x, y in zip(both(q), both(p), strict=True)) for q in points)
        assert beaten == (p not in made.pareto)


def test_machines_without_the_memory_are_out(network):
    small = Machine("small", Machine().with_(node__memory=1e-4).values)
    made = compare(network, [Machine(), small], target=0.5)
    assert made.candidates[1].usable == []
    assert "small has too little memory" in compare_show.verdict(made)
    assert compare_show.content(made)["machines"][1]["chosen"] is None


def test_more_ranks_than_areas_take_groups(network, monkeypatch):
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (8, 12, 999))
    made = compare(network, [Machine()], target=1e-6, schedule="structure_aware")
    placements = {p.nodes: p.placement for p in made.candidates[0].tried}
    assert placements[8] == "area" and placements[12] == "area_group"
    assert list(placements) == [8, 12]  # not beyond MOST_RANKS


def test_the_verdict_is_made_of_the_numbers(network):
    made = compare(network, [Machine(), dear()], target=0.2)
    words = compare_show.verdict(made)
    for c in made.candidates:
        assert c.name in words and f"{c.needed.nodes} node" in words
    assert "the least energy" in words and "the least money" in words
    assert "would help most" in words


def test_predict_on_a_machine(spikemark, known):
    arguments = ["predict", "--machine", "made-up", "--preset", "mam-benchmark", "--ranks", "2,8"]
    arguments += [a for o in OPTIONS for a in ("--option", o)]
    status, output, errors = spikemark(*arguments, "--threads", "16", "--schedule", "structure_aware")
    assert (status, errors) == (0, "")
    for text in ("real-time factor", "8 ranks", "measured", "depends most on", "rates: of the description"):
        assert text in output
    status, output, _ = spikemark(*arguments, "--json")
    content = json.loads(output)
    assert [p["ranks"] for p in content["predictions"]] == [2, 8]
    assert content["predictions"][0]["threads"] == 16  # all cores


def test_predict_a_description(spikemark, known, tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(mam_benchmark.describe(areas=2, neurons_per_area=500)))
    status, output, errors = spikemark("predict", path, "--machine", "made-up", "--ranks", "2", "--json")
    assert (status, errors) == (0, "")
    assert json.loads(output)["network"] == "run.json"


def test_compare_prints_and_writes_a_page(spikemark, known, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["compare", "made-up", "dear", "--preset", "mam-benchmark", "--target-rtf", "0.2"]
    arguments += [a for o in OPTIONS for a in ("--option", o)]
    status, output, errors = spikemark(*arguments, "--html", page)
    assert (status, errors) == (0, "")
    assert "limited by" in output and "needs" in output
    shown = Page(page.read_text())
    assert shown.text
    for text in ("Where the time goes", "Time against energy", "What this rests on", "made-up", "dear"):
        assert text in page.read_text()
    status, output, _ = spikemark(*arguments, "--json")
    content = json.loads(output)
    assert [m["name"] for m in content["machines"]] == ["made-up", "dear"] and content["pareto"]


def test_a_price_can_be_given(known):
    from spikemark.cli_predict import _priced

    class Assuming(Machine):
        def assume(self, path, value, unit, why):
            return Machine(self.name, {**self.values, path: Value(value, unit, "assumed", why)})

    (found,) = _priced([Assuming()], ["made-up=7"])
    assert found.get("price.node_hour").value == 7


NEEDED = ("--preset", "mam-benchmark")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("predict", "--machine", "made-up", "--ranks", "2"), "one network is needed"),
        (
            ("predict", "--machine", "made-up", "--preset", "brain", "--ranks", "2"),
            "preset='brain': known are",
        ),
        (("predict", "--machine", "made-up", *NEEDED), "ranks: missing"),
        (("predict", "--machine", "made-up", *NEEDED, "--ranks", "2,x"), "ranks='2,x'"),
        (
            ("predict", "--machine", "made-up", *NEEDED, "--ranks", "2", "--threads", "17"),
            "threads=17: a node",
        ),
        (("predict", "--machine", "made-up", *NEEDED, "--ranks", "99999"), "ranks=99999: predictions were"),
        (("predict", "--machine", "made-up", *NEEDED, "--ranks", "2", "--option", "areas"), "option='areas'"),
        (("predict", "--machine", "made-up", *NEEDED, "--ranks", "2", "--group-period", "2"), "only without"),
        (("predict", "--machine", "made-up", "--preset", "dpsnn", "--ranks", "2", "--rate", "-1"), "rate=-1"),
        (("predict", "--ranks", "2"), "RUN_DIR: missing; or give --machine"),
        (("predict", "run", "--threads", "2", "--schedule", "conventional"), "threads: only with --machine"),
        (("compare", "made-up", "made-up", *NEEDED), "each only once"),
        (("compare", "made-up", *NEEDED, "--target-rtf", "0"), "target_rtf=0.0: a real-time factor above 0"),
        (("compare", "made-up", *NEEDED, "--ranks-per-node", "17"), "ranks_per_node=17: a node of made-up"),
        (("compare", "made-up", *NEEDED, "--price", "made-up=cheap"), "price='made-up=cheap': MACHINE=EUR"),
    ],
)
def test_bad_questions_are_refused_in_one_line(spikemark, known, arguments, complaint):
    status, output, errors = spikemark(*arguments)
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[]", "Input should be"),
        ("{}", "missing"),
        ('{"time": {}, "network": {"populations": []}}', "populations"),
        ('{"time": {}, "network": {"populations": [{"name": "a", "size": -1}]}}', "size=-1"),
        ('{"time": {}, "network": {"populations": [POPULATION]}, "wire": "thin"}', "wire"),
        ('{"time": {}, "network": {"populations": [POPULATION]}, "delay_ratio": "long"}', "delay_ratio"),
        ('{"time": {}, "network": {"populations": [POPULATION]}, "schedule": [{}]}', "schedule"),
        ('{"time": {}, "network": {"populations": [POPULATION]}, "schedule": "quick"}', "schedule='quick'"),
        ('{"time": {}, "network": {"populations": [POPULATION], "projections": [{}]}}', "projections"),
    ],
)  # fmt: skip
def test_files_that_are_no_descriptions(spikemark, known, tmp_path, content, complaint):
    path = tmp_path / "run.json"
    one = {"name": "a", "size": 100, "neuron": {"model": "ignore_and_fire"}}
    path.write_text(content.replace("POPULATION", json.dumps(one)))
    status, output, errors = spikemark("predict", path, "--machine", "made-up", "--ranks", "2")
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1
