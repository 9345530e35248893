"""`spikemark predict --machine` and `spikemark compare`: answers, words, page, and what is refused."""

import json
import re
import shlex

import pytest
from html_page import Page
from small_machine import OPTIONS, Machine, Value, dear

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.prediction import compare as comparing
from spikemark.prediction import compare_show
from spikemark.presets import mam_benchmark
from spikemark.quantities.words import number
from spikemark.report import machines_page

pytestmark = pytest.mark.usefixtures("few")


def compare(*of, schedule: str = "conventional", **others):
    """A comparison with one schedule, since the best ones take long to find."""
    return comparing.compare(*of, schedule=schedule, **others)


NETWORK = ["--preset", "mam-benchmark", *(word for option in OPTIONS for word in ("--option", option))]


@pytest.fixture
def known(monkeypatch):
    """The command line finds the made-up machines."""
    monkeypatch.setattr(machines, "load", {"made-up": Machine(), "dear": dear()}.__getitem__)
    monkeypatch.setattr(machines, "load_any", {"made-up": Machine(), "dear": dear()}.__getitem__)
    monkeypatch.setattr(machines, "filled", lambda profile: profile, raising=False)


def test_all_machines_are_checked_before_any_is_computed(network, monkeypatch):
    def never(*_, **__):
        raise AssertionError("computed before all machines were checked")

    monkeypatch.setattr(comparing, "_candidate", never)
    with pytest.raises(BadInput, match=r"dear: node.cores is unknown, needed for placing ranks"):
        compare(network, [Machine(), dear().with_(node__cores=None)])
    with pytest.raises(BadInput, match="ranks_per_node=17: a node of dear has 16 cores"):
        compare(network, [Machine(values=Machine().with_(node__cores=32).values), dear()], ranks_per_node=17)


def test_nobody_beats_the_pareto_points(network):
    made = compare(network, [Machine(), dear()], target=0.5)
    points = [p for c in made.candidates for p in c.usable]

    def both(p):
        return p.figures["real_time_factor"].value, p.figures["energy_j"].value

    for p in points:
        beaten = any(all(x < y for x, y in zip(both(q), both(p), strict=True)) for q in points)
        assert beaten == (p not in made.pareto)


def test_more_ranks_than_areas_take_groups(network, monkeypatch):
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (8, 12, 999))
    made = compare(network, [Machine()], target=1e-6, schedule="structure_aware")
    placements = {p.nodes: p.placement for p in made.candidates[0].tried}
    assert placements[8] == "area" and placements[12] == "area_group"
    assert list(placements) == [8, 12]  # not beyond MOST_RANKS


def test_predict_on_a_machine(spikemark, known):
    arguments = ["predict", "--machine", "made-up", *NETWORK, "--ranks", "2,8"]
    options = ("--threads", "16", "--schedule", "structure_aware", "--assumptions")
    status, output, errors = spikemark(*arguments, *options)
    assert (status, errors) == (0, "")
    for text in ("real-time factor", "8 ranks", "measured", "depends most on", "rates: of the description"):
        assert text in output
    status, output, _ = spikemark(*arguments, "--json")
    content = json.loads(output)
    assert [p["ranks"] for p in content["predictions"]] == [2, 8]
    assert content["predictions"][0]["threads"] == 16  # all cores


def test_no_number_is_cut_however_many_there_are(spikemark, known):
    arguments = ["predict", "--machine", "made-up", *NETWORK, "--threads", "1"]
    arguments += ["--ranks", ",".join(map(str, range(1, 11)))]
    status, output, _ = spikemark(*arguments)
    assert status == 0 and "…" not in output
    content = json.loads(spikemark(*arguments, "--json")[1])
    for prediction in content["predictions"]:
        assert number(prediction["figures"]["real_time_factor"]["value"]) in output
    assert output.count("real-time factor ") >= 3  # tables


def test_predict_a_description(predict):
    status, output, errors = predict(mam_benchmark.describe(areas=2, neurons_per_area=500))
    assert (status, errors) == (0, "")
    assert json.loads(output)["network"] == "run.json"


def test_compare_prints_and_writes_a_page(spikemark, known, tmp_path):
    page = tmp_path / "page.html"
    arguments = ["compare", "made-up", "dear", *NETWORK, "--target-rtf", "0.2", "--schedule", "conventional"]
    status, output, errors = spikemark(*arguments, "--html", page)
    assert (status, errors) == (0, "")
    assert "limited by" in output and "nodes, possible" in output and "not of NEST" in output
    shown = Page(page.read_text())
    assert shown.text
    titles = ["What each machine needs", "How many nodes", "What to ask before buying", "Where the time goes"]
    places = [shown.text.index(title) for title in (*titles, "Time against energy", "What this is based on")]
    assert places == sorted(places)
    assert shown.text.index("not of NEST") < places[0]
    status, output, _ = spikemark(*arguments, "--json")
    content = json.loads(output)
    assert [m["name"] for m in content["machines"]] == ["made-up", "dear"] and content["pareto"]


def test_a_price_can_be_given(known):
    from spikemark.cli.compare import _priced

    class Assuming(Machine):
        def assume_all(self, found):
            ((path, (value, why, interval)),) = found.items()
            assert interval == (value, value)  # a given price is no guess
            return Machine(self.name, {**self.values, path: Value(value, "EUR/h", "assumed", why, interval)})

    (found,) = _priced([Assuming()], ["made-up=7"])
    assert found.get("price.node_hour").value == 7
    with pytest.raises(BadInput, match="price='made-up=8': made-up has been given one already"):
        _priced([Assuming()], ["made-up=7", "made-up=8"])


ON = "predict --machine made-up --preset mam-benchmark --ranks"
COMPARED = "compare made-up --preset mam-benchmark"


@pytest.mark.parametrize(
    ("command", "complaint"),
    [
        ("predict --machine made-up --ranks 2", "one network is needed"),
        ("predict --machine made-up --preset brain --ranks 2", "preset='brain': known are"),
        ("predict --machine made-up --preset mam-benchmark", "ranks: missing"),
        (f"{ON} 2,x", "ranks='2,x'"),
        (f"{ON} 2 --threads 17", "threads=17: a node"),
        (f"{ON} 99999", "ranks=99999: predictions were"),
        (f"{ON} 2 --option areas", "option='areas'"),
        (f"{ON} 2 --group-period 2", "only without"),
        ("predict --machine made-up --preset dpsnn --ranks 2 --rate -1", "rate=-1"),
        ("predict --ranks 2", "RUN_DIR: missing; needed without --machine"),
        ("predict run --threads 2 --schedule conventional", "threads: only with --machine"),
        ("compare made-up made-up --preset mam-benchmark", "each only once"),
        (f"{COMPARED} --threads 4", "threads=4: only with --schedule"),
        (f"{ON} {'9' * 5000}", "up to 64 whole numbers"),
        (f"{ON} 2 --threads 0", "--threads='0'; allowed"),
        (f"{ON} 2 --delay-ratio 0", "delay_ratio='0'"),
        (f"{ON} 2 --lag 0", "--lag='0'; allowed"),
        (f"{ON} 2 --ranks-per-node 0", "--ranks-per-node='0'"),
        (f"{ON} 2 --placement ''", "placement=''; allowed: round_robin, area, area_group, or a file"),
        (f"{ON} 2 --option cycle_ms=0.15", "cycle_ms=0.15: a multiple of the resolution"),
        (f"{ON} 2 --option areas=4 --option areas=4", "option='areas=4': areas is given twice"),
        ("predict --machine made-up --preset dpsnn --ranks 2 --rate 1e300", "1e+300"),
        (f"{COMPARED} --html .", "--html: . is a folder; allowed: a file"),
        (f"{COMPARED} --schedule conventional --html /proc/a.html", "/proc/a.html: No such file"),
        (f"{COMPARED} --target-rtf 0", "target_rtf=0.0: a real-time factor above 0"),
        (f"{COMPARED} --schedule conventional --ranks-per-node 17", "ranks_per_node=17: a node of made-up"),
        (f"{COMPARED} --years 0", "years=0; allowed: above 0"),
        (f"{COMPARED} --hours-per-year 9000", "hours_per_year=9000; allowed"),
        (f"{COMPARED} --price-kwh -1", "price_kwh=-1; allowed: 0 or more"),
        (f"{COMPARED} --price made-up=cheap", "price='made-up=cheap': MACHINE=EUR"),
    ],
)
def test_bad_questions_are_refused_in_one_line(refusal, known, command, complaint):
    assert complaint in refusal(*shlex.split(command))


@pytest.fixture
def predict(spikemark, known, tmp_path):
    """The command on a file with this description, or this text, on two ranks: (status, output, errors)."""

    def run(content, command=spikemark):
        path = tmp_path / "run.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return command("predict", path, "--machine", "made-up", "--ranks", "2", "--json")

    return run


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[]", "run description=[]; allowed: a mapping of fields"),
        ("{}", "missing"),
        ('{"time": {}, "network": {"populations": []}}', "populations"),
        ('{"time": {}, "network": {"populations": [{"name": "a", "size": -1}]}}', "size=-1"),
        ('RUN, "wire": "thin"}', "wire"),
        ('RUN, "delay_ratio": "long"}', "delay_ratio"),
        ('RUN, "schedule": [{}]}', "schedule"),
        ('RUN, "schedule": "quick"}', "schedule='quick'"),
        ('{"time": {}, "network": {"populations": [POPULATION], "projections": [{}]}}', "projections"),
        ('RUN, "schedule": []}', "schedule=[]; allowed: "),
        (
            'RUN, "schedule": [{"name": "a", "period": 0}]}',
            "schedule.0.period=0; allowed: greater than or equal to 1 or 'D' or 'auto'",
        ),
        ('TIME{"cycle_ms": 0.15}}', "cycle_ms=0.15: a multiple"),
        ('TIME{"cycle_ms": Infinity}}', "time.cycle_ms: inf is not allowed"),
        ('TIME{"resolution_ms": 1e-300}}', "_ms=1e-300; allowed"),
        ('RUN, "wire": {"far": "aer12"}}', "no lane 'far'"),
        ('RUN, "exchange": {"far": "p2p"}}', "no lane 'far'"),
        ('RUN, "exchange": "pigeon"}', "exchange='pigeon'; allowed: alltoall"),
        ('RUN, "placement": ""}', "placement=''; allowed: round_robin, area"),
    ],
)  # fmt: skip
def test_files_that_are_no_descriptions(predict, refusal, content, complaint):
    one = {"name": "a", "size": 100, "neuron": {"model": "ignore_and_fire"}}
    for word, text in ("RUN", "TIME{}"), ("TIME", '{"network": {"populations": [POPULATION]}, "time": '):
        content = content.replace(word, text)
    assert complaint in predict(content.replace("POPULATION", json.dumps(one)), refusal)


POPULATIONS = [{"name": n, "size": 100, "neuron": {"model": "ignore_and_fire"}} for n in "ab"]
PROJECTION = {"source": "a", "target": "b", "indegree": 10, "delay": {"mean": 1.0}}


@pytest.mark.parametrize(
    ("where", "value", "complaint"),
    [
        ("populations.0.neuron.rate_hz", "x", "network.populations.0.neuron.rate_hz='x'; allowed: a valid"),
        ("populations.0.neuron.rate_hz", None, "rate_hz=None; allowed: a valid number"),
        ("populations.0.neuron.rate_hz", 20_000, "rate=20000: rates in Hz from 0 to 10000, a spike in every"),
        ("projections.0.delay.max", "x", "network.projections.0.delay.max='x'; allowed: a valid number"),
        ("projections.0.delay.max", float("inf"), "delay.max: inf is not allowed"),
        (
            "projections.0.delay",
            {"mean": 1, "min": 3, "max": 2},
            "projections.0.delay.min=3: at most the longest, 2 ms",
        ),
        ("projections.0.delay.distribution", "flat", "delay.distribution='flat'; allowed: 'normal', "),
        ("projections.0.weight", "x", "projections.0.weight='x'; allowed: a valid number or a mapping"),
        ("projections.0.weight", {"sd": 1}, "network.projections.0.weight.mean: missing"),
        ("projections.0.indegree", 10**12, "projections.0.indegree=1000000000000; allowed: less than"),
        ("projections.0.source", "c", "network.projections.0: no population 'c'"),
        ("populations.0.external", {"rate_hz": 1e300}, "external.rate_hz=1e+300; allowed: less than"),
    ],
)
def test_values_that_no_run_has(predict, refusal, where, value, complaint):
    network = json.loads(json.dumps({"populations": POPULATIONS, "projections": [PROJECTION]}))
    assign(network, where, value)
    assert complaint in predict({"time": {}, "network": network}, refusal)


def test_every_synapse_finds_a_lane(predict, refusal):
    content = {"time": {}, "schedule": [{"name": "near", "group": "area"}]}
    content["network"] = {"populations": POPULATIONS, "projections": [PROJECTION]}
    complaint = "schedule: no lane for network.projections.0, from area 'a' to area 'b'"
    assert complaint in predict(content, refusal)
    within = PROJECTION | {"target": "a"}  # areas that have nothing to tell each other
    content["network"]["projections"] = [within]
    status, output, _ = predict(content)
    (found,) = json.loads(output)["predictions"]
    assert status == 0 and found["figures"]["waiting"]["value"] == found["figures"]["exchange"]["value"] == 0


def test_every_number_has_interval_and_kind(network):
    def numbers(at):
        if isinstance(at, dict) and "value" in at:
            assert {"interval", "kind", "unit"} <= at.keys()
            return 1
        inside = at.values() if isinstance(at, dict) else at if isinstance(at, list) else ()
        return sum(map(numbers, inside))

    content = compare_show.content(compare(network, [Machine(), dear()], target=0.2))
    tried = [one for machine in content["machines"] for one in machine["tried"]]
    assert numbers(tried) == len(tried) * len(compare_show.TRIED) > 0
    page_text = machines_page.render(compare(network, [Machine(), dear()], target=0.2))
    rows = re.findall(r"<tr>.*?</tr>", page_text, re.DOTALL)
    predicted = [row for row in rows if "measured" in row]
    assert len(predicted) > len(tried)  # tables under the pictures, too
