"""What a bidder measures, discloses, projects and promises."""

import dataclasses
import json
from types import SimpleNamespace

import pytest
from tender import offered

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.launch.layout import LaunchLayout
from spikemark.prediction import question
from spikemark.records import record
from spikemark_tender import answer, check, environment, formats, measure
from spikemark_tender.measure import TenderRunOptions

pytestmark = pytest.mark.slow

AREAS = {"network": {"populations": [{"name": "a"}, {"name": "b"}]}}


@pytest.fixture
def cores(monkeypatch):
    """A node of eight cores."""
    monkeypatch.setattr(measure, "nodes_at_hand", lambda: SimpleNamespace(cores=(8,)))


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (TenderRunOptions(), LaunchLayout(2, 4)),
        (TenderRunOptions(ranks=4), LaunchLayout(4, 2)),
        (TenderRunOptions(4, 1, 2), LaunchLayout(4, 1, 2)),
        (TenderRunOptions(ranks_per_node=1), LaunchLayout(2, 8, 1)),
    ],
)
def test_what_is_not_given_takes_all_cores(cores, given, wanted):
    assert measure._layout_of(AREAS, given) == wanted


@pytest.fixture
def write(honest, tmp_path):
    """Collects the honest measurements anew, in tmp_path / "answer"."""
    offer = {"machine": "x", "nodes": 1, "price": None, "currency": "EUR"}
    offer |= {"node_limit_w": None, "node_idle_w": None}

    def collect(out="answer", **given):
        return answer.write(
            honest.bundle, honest.folder / "work", tmp_path / out, "Bob", offer, **given
        )

    return collect


def test_runs_of_a_program_that_was_built_anew_are_not_mixed(copy, monkeypatch):
    monkeypatch.setattr(measure.source, "differing", lambda packed, root: [])
    with pytest.raises(BadInput, match="program_sha256"):
        measure.measure(copy.bundle, "base", None, TenderRunOptions(), copy.folder / "work", print)


def test_a_promise_replaces_the_evidence(honest, write):
    found = write(promised={("bench-small", formats.RTF): 0.75})
    by = {(p.run, p.figure): (p.value, p.basis) for p in found.committed}
    assert by["bench-small", formats.RTF] == (0.75, "measured")
    best = formats.read_answer(honest.path).run("bench-medium").figures[formats.RTF].value
    assert by["bench-medium", formats.RTF] == (best, "measured")
    assert not any(run == "target" for run, _ in by)


def test_a_profile_projects_the_target_with_its_power_and_nodes(honest):
    rule, machine = honest.bundle.tender.target_rule, machines.filled(machines.load("jureca-dc"))
    found = answer.project(honest.bundle, rule, machine, (4, 1, 2), {}, "base")
    assert {p["figure"] for p in found} >= {formats.RTF, formats.POWER}
    assert all(p["nodes"] == 2 and p["low"] < p["value"] < p["high"] for p in found)


def test_a_projection_sets_and_proposes_only_what_the_category_allows(tmp_path):
    """Its target has areas on ranks of their own; another placement would take more ranks."""
    described = question.of_preset("mam-benchmark", False, list(offered.OPTIONS))
    own_ranks = {"schedule": "structure_aware", "placement": "area"}
    target = dataclasses.replace(described, description=described.description | own_ranks)
    bundle = offered.bundle(tmp_path / "bundle", target=target)
    rule, machine = bundle.tender.target_rule, machines.filled(machines.load("jureca-dc"))
    with pytest.raises(BadInput) as refused:
        answer.project(bundle, rule, machine, (3, 42, 3), {}, "base")
    assert refused.value.field == "ranks"
    assert "area_group" not in str(refused.value)
    with pytest.raises(BadInput) as refused:
        answer.project(bundle, rule, machine, (2, 64, 2), {"delay_ratio": 5}, "base")
    assert refused.value.field == "set"
    with pytest.raises(BadInput) as refused:
        answer.project(bundle, rule, machine, (3, 42, 3), {}, "optimised")
    assert "area_group" in str(refused.value)


TWO_NODES = answer.stated("target.real_time_factor=1:0.5:2", 2, "by hand")


@pytest.mark.parametrize(
    ("field", "given"),
    [
        ("promise", {"promised": {("target", formats.RTF): 1.0}}),  # which has no evidence
        ("nodes", {"projected": [TWO_NODES]}),  # one is offered
        ("out", {"out": "."}),  # a folder with other files
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(write, tmp_path, field, given):
    (tmp_path / "x").write_text("mine")
    with pytest.raises(BadInput) as error:
        write(**given)
    assert error.value.field == field and [path.name for path in tmp_path.iterdir()] == ["x"]


REFUSED_OFFERS = [
    ("--price", "-5", "above 0"),
    ("--price", "0", "above 0"),
    ("--price", "nan", ""),
    ("--node-power", "-1", "above 0"),
    ("--node-idle", "-1", "at least 0"),
    ("--currency", "dollars", "three letters"),
    ("--currency", "", "three letters"),
    ("--currency", "E1R", "three letters"),
]


@pytest.mark.parametrize(("option", "value", "words"), REFUSED_OFFERS)
def test_what_an_offer_cannot_mean_is_refused_by_its_option(
    refusal, honest, tmp_path, option, value, words
):
    out = tmp_path / "answer"
    given = ("--bidder", "Bob", "--system", "x", "--nodes", 1, option, value)
    places = ("--work", honest.folder / "work", "--out", out)
    line = refusal("tender", "answer", honest.folder / "bundle", *places, *given)
    assert option in line and words in line and formats.ANSWER not in line
    assert not out.exists()


def test_more_ranks_than_cores_are_refused_by_the_option_that_asks_for_them(
    refusal, honest, tmp_path
):
    """Not by ranks per node, which nobody gave."""
    out = tmp_path / "answer"
    given = ("--bidder", "Bob", "--system", "x", "--nodes", 4, "--machine", "jureca-dc")
    places = ("--work", honest.folder / "work", "--out", out)
    bundle = honest.folder / "bundle"
    assert refusal("tender", "answer", bundle, *places, *given, "--ranks", 999).startswith(
        "--ranks=999"
    )
    assert not out.exists()


def test_what_is_promised_stands_beside_what_was_projected(spikemark, honest, tmp_path):
    """A promise of its own is called one; evidence that is promised as it is, is not."""
    given = ("--bidder", "Bob", "--system", "x", "--nodes", 8, "--method", "by hand")
    projected = ("--projected", f"target.{formats.RTF}=0.044:0.04:0.05")
    own = ("--promise", f"target.{formats.RTF}=0.0001")
    for promise, words in (
        (own, ["0.0001, promised", "0.044, projected"]),
        ((), ["0.044, projected"]),
    ):
        places = ("--work", honest.folder / "work", "--out", tmp_path / f"answer-{len(promise)}")
        bundle = honest.folder / "bundle"
        status, output, _ = spikemark(
            "tender", "answer", bundle, *places, *given, *projected, *promise
        )
        [line] = [line for line in output.splitlines() if line.startswith("target: real-time")]
        assert status == 0 and all(text in line for text in words)
        assert ("promised" in line) == bool(promise)


def test_a_currency_is_written_in_upper_case(honest, tmp_path):
    offer = offered.OFFER | {"currency": "chf"}
    work = honest.folder / "work"
    made = answer.write(honest.bundle, work, tmp_path / "answer", "Bob", offer)
    assert made.offer.currency == "CHF"


def test_projections_need_a_figure_and_an_interval():
    for text in (
        "x",
        "target.real_time_factor=1",
        "target.real_time_factor=1:2:3",
        "target.x=1:0:2",
    ):
        with pytest.raises(BadInput) as error:
            answer.stated(text, 1, "by hand")
        assert error.value.field == "projected"


def test_readings_of_an_external_meter_go_into_the_answer(honest, write, tmp_path):
    """A meter that reads 300 W, twice what the nodes say, in all repetitions."""
    records = (honest.folder / "work").glob("*/*/record.json")
    spans = [json.loads(path.read_text())["timing"] for path in records]
    start = min(t["simulate_started_s"] for t in spans) - 5
    end = max(t["simulate_ended_s"] for t in spans) + 5
    rows = [f"{start + 0.02 * n:.3f},300" for n in range(round((end - start) / 0.02) + 1)]
    (tmp_path / "meter.csv").write_text("\n".join(["time_s,wall_w", *rows]) + "\n")
    found = write(meter=answer.ExternalMeter(tmp_path / "meter.csv", at_wall_percent=1.0))
    own = formats.read_answer(honest.path)
    for run, other in zip(found.runs, own.runs, strict=True):
        for one, two in zip(run.repetitions, other.repetitions, strict=True):
            assert one.joules_per_synaptic_event == pytest.approx(
                2 * two.joules_per_synaptic_event, rel=0.02
            )
            assert one.readings.startswith("power/")
            timing = record.load_run(tmp_path / "answer" / one.folder).record.timing
            span = timing.simulate_started_s, timing.simulate_ended_s
            read = check._integral(tmp_path / "answer" / one.readings, span)
            assert read == pytest.approx(300 * (span[1] - span[0]), rel=1e-3)


TIMES = [800.0, 400.0, 200.0, 100.0]


@pytest.mark.parametrize(
    ("factor", "minimum_s", "slower", "wanted"),
    [
        (1.0, 0.05, 1.0, 100.0),
        (1.0, 0.09, 1.0, 200.0),  # 0.1 s is not long enough with the reserve
        (1.0, 0.5, 1.0, 800.0),
        (0.01, 1.0, 1.0, 800.0),  # too short, but there is no longer time
        (1.0, 0.05, 0.4, 200.0),  # the repetitions were faster than the probe
    ],
)
def test_the_shortest_model_time_that_is_long_enough_is_taken(
    monkeypatch, factor, minimum_s, slower, wanted
):
    def sweep(asked, work):
        ms, probe = asked
        share = 1.0 if probe else slower
        timing = SimpleNamespace(
            real_time_factor=factor * share, simulate_s=1e-3 * ms * factor * share
        )
        return [SimpleNamespace(record=SimpleNamespace(timing=timing))]

    monkeypatch.setattr(measure, "experiment_of", lambda b, r, c, ms, probe=False: (ms, probe))
    monkeypatch.setattr(measure, "sweep", sweep)
    rule = SimpleNamespace(name="x", model_ms=TIMES, minimum_seconds=minimum_s)
    assert measure._take(None, rule, None, None, lambda line: None)[0] == wanted


def test_nodes_are_described_without_secrets(tmp_path):
    for file, text in {
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "proc/cpuinfo": "model name : A\nmodel name : A\nmicrocode : 0x1\nflags : hypervisor\n",
    }.items():
        write_atomically(tmp_path / file, text)
    variables = {"OMP_NUM_THREADS": "2", "OMPI_MCA_token": "x", "HOME": "/root"}
    found = environment._read_node(tmp_path, variables)
    assert found["variables"] == {"OMP_NUM_THREADS": "2"} and found["memory"] is None
    assert (found["governor"], found["processor"]) == ("performance", "A")
    assert found["hypervisor"] == "hypervisor"
