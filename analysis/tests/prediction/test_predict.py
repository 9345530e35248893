"""Predictions for a made-up machine: parts that add up, units, energy by hand, kinds, ranges."""

import json
from itertools import pairwise

import pytest
from advised import benchmark
from small_machine import Machine, Value

from spikemark.core.errors import BadInput
from spikemark.prediction import building, memory, show, validated
from spikemark.prediction.assumptions import HIDDEN
from spikemark.prediction.predict import FIGURES, PARTS, predict
from spikemark.presets import dpsnn, mam_benchmark

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=6000, indegree=400)
SCHEDULES = ("conventional", "placement_only", "structure_aware", "overlapped", "hierarchical")


def value(prediction, name):
    return prediction.figures[name].value


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("ranks", [1, 2, 8])
def test_parts_add_up_and_lie_in_their_intervals(schedule, ranks):
    found = predict(NETWORK, Machine(), ranks, 4, schedule)
    assert value(found, "real_time_factor") == pytest.approx(sum(value(found, part) for part in PARTS))
    for name in FIGURES:
        figure = found.figures[name]
        assert figure.low <= figure.value <= figure.high
    assert found.slowest == max(PARTS, key=lambda part: value(found, part))
    if ranks == 1:
        assert value(found, "waiting") == value(found, "exchange") == 0


def test_energy_by_hand():
    found = predict(NETWORK, Machine(), 8, 16)
    factor, events = value(found, "real_time_factor"), 8 * 6000 * 400 * 2.5
    assert (found.nodes, found.node.busy) == (8, 16)
    assert value(found, "power_w") == pytest.approx(8 * (100 + 16 * 10 + 5))
    assert value(found, "energy_j") == pytest.approx(value(found, "power_w") * factor)
    assert value(found, "energy_per_event_uj") == pytest.approx(1e6 * value(found, "energy_j") / events)
    assert value(found, "cost_eur") == pytest.approx(8 * 2 * factor)
    alone = predict(NETWORK, Machine(), 4, 4)
    assert (alone.nodes, value(alone, "power_w")) == (1, 100 + 16 * 10)  # one node has no use for its card


def test_a_cycle_of_ten_steps_takes_ten_updates():
    slow = mam_benchmark.describe(areas=2, neurons_per_area=6000, indegree=0, cycle_ms=1.0, delay_max=20.0)
    quick = mam_benchmark.describe(areas=2, neurons_per_area=6000, indegree=0)
    one, ten = (value(predict(d, Machine(), 1, 1), "update") for d in (quick, slow))
    assert ten == pytest.approx(one, rel=1e-6)  # per simulated second
    assert one == pytest.approx(12_000 * 1e-9 * 10_000, rel=1e-3)


def test_a_faster_machine_is_faster_in_what_it_is_faster():
    plain = predict(NETWORK, Machine(), 8, 16)
    quick = predict(NETWORK, Machine().with_(kernels__full_node__t_first=10), 8, 16)
    assert value(quick, "deliver") < value(plain, "deliver")
    still = [Machine().with_(jitter__cv=0, kernels__full_node__t_first=ns) for ns in (10, 20)]
    assert value(predict(NETWORK, still[0], 8, 16), "exchange") == pytest.approx(
        value(predict(NETWORK, still[1], 8, 16), "exchange"), rel=1e-3
    )
    wide = predict(NETWORK, Machine().with_(interconnect__latency=0.1), 8, 16)
    assert value(wide, "exchange") < value(plain, "exchange")
    assert value(wide, "deliver") == value(plain, "deliver")
    calm = predict(NETWORK, Machine().with_(jitter__cv=0.01), 8, 16)
    assert value(calm, "waiting") < value(plain, "waiting")


def test_structure_awareness_helps_and_overlap_helps_more():
    conventional, aware, overlapped = (
        predict(NETWORK, Machine(), 8, 16, s) for s in ("conventional", "structure_aware", "overlapped")
    )
    assert value(aware, "waiting") < value(conventional, "waiting")
    assert value(aware, "exchange") < value(conventional, "exchange")
    assert value(overlapped, "waiting") < value(aware, "waiting")
    assert value(overlapped, "exchange") == 0 and HIDDEN in overlapped.assumptions


def test_what_the_profile_lacks_is_unknown_with_the_reason():
    found = predict(NETWORK, Machine().with_(power__core=None, price__node_hour=None), 8, 16)
    assert not found.figures["energy_j"] and not found.figures["cost_eur"]
    assert "power.core is unknown, needed for energy" in found.reasons["energy_j"]
    assert [line.split(",")[0] for line in show.lines([found]) if "needed" in line] == [
        "power.core is unknown", "price.node_hour is unknown"
    ]  # fmt: skip
    assert value(found, "real_time_factor") > 0
    with pytest.raises(BadInput, match=r"jitter.cv is unknown, needed for waiting"):
        predict(NETWORK, Machine().with_(jitter__cv=None), 8, 16)
    assert predict(NETWORK, Machine().with_(jitter__cv=None), 1, 16)  # one rank waits for nobody


def test_kinds_follow_what_a_figure_depends_on():
    guessed = {"jitter__cv": Value(0.1, "1", "assumed"), "power__idle": Value(100, "W", "literature")}
    found = predict(NETWORK, Machine().with_(**guessed), 8, 16)
    kinds = {name: figure.kind for name, figure in found.figures.items()}
    assert kinds["deliver"] == "measured" and kinds["memory_gb"] == "counted"
    assert kinds["waiting"] == kinds["real_time_factor"] == kinds["energy_j"] == "assumed"
    assert kinds["power_w"] == "literature"
    assert any(line.startswith("jitter.cv = 0.1: made up") for line in found.assumptions)


def test_memory_that_does_not_suffice_is_seen():
    assert predict(NETWORK, Machine(), 8, 16).fits is True
    assert predict(NETWORK, Machine().with_(node__memory=1e-3), 8, 16).fits is False
    assert predict(NETWORK, Machine().with_(node__memory=None), 8, 16).fits is None
    per_synapse = value(predict(NETWORK, Machine(), 1, 1), "bytes_per_synapse")
    assert 4 < per_synapse < 6


@pytest.mark.parametrize("ranks", [1, 8])
def test_a_network_must_fit_while_it_is_built(ranks):
    """A node that has room for what stays, and no more, is too small."""
    found = predict(NETWORK, Machine(), ranks, 2)
    stays, needed = (of(found.loads).sum() for of in (memory.bytes_of_ranks, building.bytes_at_most))
    assert needed > 1.01 * stays
    assert value(found, "memory_gb") == pytest.approx(1e-9 * needed / found.node.nodes, rel=0.01)
    room = 1e-9 * (stays + needed) / 2 / found.node.nodes
    assert predict(NETWORK, Machine().with_(node__memory=room), ranks, 2).fits is False
    assert any("while it builds the network" in line for line in found.assumptions)


def test_outside_the_validated_range(monkeypatch):
    monkeypatch.setattr(validated, "RANKS", 4)
    found = predict(NETWORK, Machine(), 8, 2)
    assert found.outside == ["ranks=8: validated up to 4"]
    assert found.figures["real_time_factor"].kind == "extrapolated"
    assert found.figures["memory_gb"].kind == "counted"
    monkeypatch.setattr(validated, "FAR", 1)
    with pytest.raises(
        BadInput, match="ranks=8: predictions were validated up to 4, and are refused above 4"
    ):
        predict(NETWORK, Machine(), 8, 2)


def test_a_fitted_factor_is_applied_and_said():
    plain = predict(NETWORK, Machine(), 8, 16)
    fitted = predict(NETWORK, Machine(), 8, 16, factors={"kernels.": 3.0})
    for part in ("deliver", "collocate"):
        assert value(fitted, part) == pytest.approx(3 * value(plain, part))
    assert "kernels.: times 3, as fitted" in fitted.assumptions


def test_input_from_outside_costs_time_and_counts_as_events():
    network = dpsnn.describe()
    with_input = predict(network, Machine(), 4, 1, hz=3.2)
    without = json.loads(json.dumps(network))
    for population in without["network"]["populations"]:
        del population["external"]
    assert value(with_input, "update") > value(predict(without, Machine(), 4, 1, hz=3.2), "update")


def test_json_says_value_interval_unit_and_kind():
    content = json.loads(json.dumps(show.content([predict(NETWORK, Machine(), 8, 16)])))
    factor = content[0]["figures"]["real_time_factor"]
    assert set(factor) == {"value", "interval", "unit", "kind", "depends"}
    assert factor["interval"][0] < factor["value"] < factor["interval"][1]
    assert list(content[0]["figures"]) == list(FIGURES)


def test_more_nodes_never_slow_the_computing_down():
    times = [value(predict(NETWORK, Machine(), ranks, 16), "deliver") for ranks in (1, 2, 4, 8)]
    assert all(b < a for a, b in pairwise(times))


@pytest.mark.parametrize("command", ["advise", "compare", "predict"])
@pytest.mark.parametrize(
    ("field", "name"),
    [
        ("schedule", "structure-aware"),
        ("placement", "areas"),
        ("exchange", "p3p"),
        ("exchange", {"far": "p3p"}),
    ],
)
def test_unknown_names_of_a_description_are_refused_alike(command, field, name, known, refusal, tmp_path):
    """In one line that names the file, whether or not the command would use the field."""
    path = tmp_path / "run.json"
    path.write_text(json.dumps(benchmark(areas=4) | {field: name}))
    words = {
        "advise": (path, "--machine", "made-up"), "compare": ("made-up", "--run", path),
        "predict": (path, "--machine", "made-up", "--ranks", 2),
    }[command]  # fmt: skip
    said = refusal(command, *words)
    allowed = {"schedule": "structure_aware", "placement": "area_group", "exchange": "p2p"}[field]
    assert f"run.json: {field}=" in said and allowed in said
