"""The study of unequal nodes: a small machine in place of the large one, and planted runs with slow ranks."""

import json

import pytest
from planned import ABSENT
from studied import carried_out, exchanging, table

from spikemark.machines.inputs import Inputs
from spikemark.prediction import phases
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, bath, carry_out
from spikemark.studies.bath import slow_node
from spikemark.studies.bath.slow_node import Way

STUDY = STUDIES["bath"]
WAYS = (Way("conventional"), Way("structure_aware", 10), Way("overlapped", 10, 1), Way("overlapped", 10, 4))


@pytest.fixture(scope="module")
def small():
    """Eight nodes, few cycles and few schedules."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"RANKS": 8, "RANK": 7, "CYCLES": 2000, "WAYS": WAYS}.items():
            patch.setattr(slow_node, name, value)
        patch.setattr("spikemark.studies.bath.slow_tables.WAYS", WAYS)
        patch.setattr("spikemark.prediction.waiting.CYCLES", 200)
        slow_node.equal_nodes.cache_clear()
        yield
    slow_node.equal_nodes.cache_clear()


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    found, _ = carried_out(STUDY, tmp_path_factory.mktemp("bath"), [exchanging(2, state=ABSENT)])
    assert bath.prepare(found.sweep) == []
    return carry_out.write(STUDY, gather(found.sweep.path))


def test_rarer_meetings_hide_a_slow_node_less(done):
    rows = {r["schedule"]: r for r in table(done, "slow_node").rows}
    assert list(rows) == [way.words for way in WAYS]
    for row in rows.values():
        found = [row[f"cost{factor:g}"] for factor in slow_node.SLOWER]
        assert all(0 <= q.low <= q.value <= q.high for q in found)
        assert [q.value for q in found] == sorted(q.value for q in found)
        for factor, cost in zip(slow_node.SLOWER, found, strict=True):
            assert cost.value <= 100 * (factor - 1)  # no more than all ranks lose that are as slow
    order = [rows[way.words]["cost1.2"].value for way in WAYS[:3]]
    assert order == sorted(order)


def test_whatif_stands_beside_predict(done):
    rows = table(done, "whatif").rows
    assert len(rows) == len(WAYS) * len(slow_node.SLOWER)
    for row in rows:
        if row["schedule"].endswith("lag 4"):
            assert not row["whatif_us"] and "lag 1" in row["whatif_us"].reason
        else:
            assert row["whatif_cost"].low <= row["whatif_cost"].value <= row["whatif_cost"].high
            assert row["off_cost"] > 0  # it slows the barriers of threads, too, which the model does not


def test_whatif_of_equal_nodes_is_predict_where_all_of_a_cycle_is_slowed(small, monkeypatch):
    plain = slow_node.compute_s

    def whole(loads, inputs, node, factor=1.0):
        found = plain(loads, inputs, node)
        found[slow_node.RANK] *= factor
        return found

    monkeypatch.setattr(slow_node, "compute_s", whole)
    kept = slow_node.result(WAYS[0])
    for factor in slow_node.SLOWER[1:]:
        said, known = (slow_node.quantity(kept[name], "cost", factor) for name in ("whatif", "model"))
        assert abs(slow_node.error(said, known)) < 2


def test_the_slow_node_moves_with_the_others(small):
    """What nobody knows of the profile is the same for all nodes: a slow one stays as many times slower."""
    loads, node = slow_node.loads_of(WAYS[0])
    profile = slow_node._profile()
    for path in ("kernels.full_node.t_next", "kernels.full_node.update.ignore_and_fire"):
        for side in ("low", "high"):
            equal, slow = (
                slow_node.compute_s(loads, Inputs(profile, moved={path: side}), node, factor)
                for factor in (1.0, 1.5)
            )
            assert (slow[:-1] == equal[:-1]).all()
            kernels = equal[-1] - phases._barriers(Inputs(profile), node)
            assert slow[-1] - equal[-1] == pytest.approx(0.5 * kernels)


def test_what_was_computed_stays_and_another_machine_is_computed_anew(done, monkeypatch):
    path = done.sweep.path / slow_node.FILE
    before = json.loads(path.read_text())
    del before["ways"][WAYS[1].words]
    path.write_text(json.dumps(before))
    asked, result = [], slow_node.result
    monkeypatch.setattr(slow_node, "result", lambda way: asked.append(way) or result(way))
    bath.prepare(done.sweep)
    assert asked == [WAYS[1]]
    monkeypatch.setattr(slow_node, "SLOWER", (1.1,))
    assert slow_node.load(done.sweep.path) == {}


def slowed(factor: float, schedule: str, seed: int) -> dict:
    """A run of two ranks on nodes of which one takes so many times as long."""
    nodes = {"nodes": ["even", "slow"], "slower": {"slow": factor}}
    named = {"schedule": schedule, "delay_ratio": 10 if schedule == "structure_aware" else 1, "seed": seed}
    planted = exchanging(2, label=f"{schedule} {factor} {seed}", cycles=2000, cv=0.05, **nodes, **named)
    waits = {"per_neuron_ns": [100_000, 100_000 * factor]}
    return planted | {"description": {**planted["description"], "inject": waits}}


def test_whatif_of_equal_ranks_stands_beside_slowed_ones(tmp_path):
    runs = [
        slowed(f, schedule, seed)
        for f in (1, 1.2, 2)
        for schedule in ("conventional", "structure_aware")
        for seed in (1, 2)
    ]
    done, _ = carried_out(STUDY, tmp_path, [*runs, exchanging(1)])
    rows = table(done, "injected").rows
    assert [(r["schedule"].split(",")[0], r["slower"]) for r in rows] == [
        (schedule, factor) for schedule in ("conventional", "structure-aware") for factor in (1.2, 2)
    ]
    for row in rows:
        assert row["said_ratio"].value == pytest.approx(row["ratio"].value, rel=0.02)
        assert row["said_us"].value == pytest.approx(row["waiting_us"].value, rel=0.05)
        assert abs(row["off"]) < 2


def test_without_equal_ranks_whatif_says_nothing(tmp_path):
    done, _ = carried_out(STUDY, tmp_path, [slowed(1.2, "conventional", 1)])
    (row,) = table(done, "injected").rows
    assert not row["said_us"] and "equal ranks" in row["said_us"].reason and not row["off"]
