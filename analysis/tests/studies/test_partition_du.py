"""The study of partitions: a small brain in place of the full one, and the check values of the full one."""

import json

import pytest
from planned import write_experiment
from studied import carried_out, exchanging, table

from spikemark.prediction.partition import graph, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.levels import most_equal
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import voxels
from spikemark.presets.options import choose
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, carry_out, partition_du
from spikemark.studies.partition_du import placements, tables
from spikemark.studies.partition_du.placements import Item

STUDY = STUDIES["partition-du"]


@pytest.fixture
def small(monkeypatch):
    """A brain of 400 voxels on 20 and 40 ranks, and few placements of it."""
    for name, value in {"voxels": 400, "regions": 12, "connected": 0.15}.items():
        monkeypatch.setitem(voxels.FULL, name, value)
    monkeypatch.setattr(placements, "NEURONS_PER_RANK", 1_000_000)
    for module in (placements, tables, partition_du):
        monkeypatch.setattr(module, "RANKS", (20, 40))
    items = [Item("brain", 20, "random", seed) for seed in (1, 2, 3)]
    items += [Item("brain", 20, m) for m in ("sequential", "greedy_swap", "round_robin", "space_filling")]
    items += [Item("brain", 20, "genetic", 1, 0.5), Item("brain", 40, "random")]
    items += [Item("sheet", 20, m) for m in placements.SENSITIVE]
    items += [Item("brain", 20, "metis")]
    monkeypatch.setattr(placements, "items", lambda full=False: items)
    monkeypatch.setitem(__import__("sys").modules, "pymetis", None)
    return items


@pytest.fixture
def done(small, tmp_path, capsys):
    found, _ = carried_out(STUDY, tmp_path, [exchanging(2)])
    assert placements.compute(found.sweep) == []  # an optional library that is absent is no failure
    said = capsys.readouterr().out
    assert (
        "left out: brain, 20 ranks, metis, seed 1: method='metis': needs the Python package pymetis" in said
    )
    return carry_out.write(STUDY, gather(found.sweep.path))


def test_tables_say_what_was_computed(done):
    rows = {(r["ranks"], r["method"]): r for r in table(done, "peaks").rows}
    assert set(rows) == {(20, m) for m in ("random", "sequential", "greedy_swap", "round_robin", "genetic",
                                           "space_filling")} | {(40, "random")}  # fmt: skip
    random = rows[20, "random"]
    assert random["seeds"] == 3 and random["peak"].low < random["peak"].value < random["peak"].high
    assert rows[20, "greedy_swap"]["change"].value < 0 < rows[20, "round_robin"]["change"].value
    assert rows[20, "sequential"]["mean"].value < random["mean"].value  # neighbours share ranks
    assert rows[20, "genetic"]["size"].value <= random["size"].high
    assert all(r["connections"].value <= 19 for (ranks, _), r in rows.items() if ranks == 20)
    ways = {(r["ranks"], r["method"], r["way"]) for r in table(done, "levels").rows}
    assert (20, "random", "receiver, merged, grouped") in ways
    assert (20, "round_robin", "sender, grouped") not in ways  # dealt neurons have no groups
    for row in table(done, "levels").rows:
        parts = (1 + row["left_out"] / 100) * (1 + row["evened"] / 100)
        assert parts == pytest.approx(1 + row["change"] / 100)
        assert row["connections"] <= sum(most_equal(row["ranks"], 2)) - 2
    assert [r["variant"] for r in table(done, "sensitivity").rows] == ["brain", "sheet"]


def test_published_numbers_have_a_status(done):
    rows = table(done, "published").rows
    assert {row["status"] for row in rows} == {"geometry", "calibrated", "tested", "not comparable"}
    by_name = {row["quantity"]: row for row in rows}
    after = by_name["mean connections of a GPU with two levels; 2000 GPUs"]
    assert (after["published"], after["here"], after["status"]) == (88, 7, "geometry")
    assert all(not row["here"] for row in rows if row["status"] == "not comparable")
    text = done.page.read_text(encoding="utf-8")
    assert "for which the brain was tuned" in text and text.count("<svg") >= 4
    assert json.loads(done.tables.read_text())["tables"]["published"]["missing"]


def test_what_is_computed_stays_and_the_rest_follows(done, small, monkeypatch):
    path = done.sweep.path / placements.FILE
    before = json.loads(path.read_text())
    del before[small[0].key]
    path.write_text(json.dumps(before))
    asked = []
    result = placements.result
    monkeypatch.setattr(placements, "result", lambda item, *rest: asked.append(item) or result(item, *rest))
    placements.compute(done.sweep)
    assert asked == [small[0], small[-1]]  # the library is still absent
    monkeypatch.setitem(voxels.FULL, "lambda_", 0.5)
    assert placements.load(done.sweep.path) == {}  # another brain


def test_counts_of_runs_stand_beside_expectations(tmp_path):
    found, _ = carried_out(STUDY, tmp_path, [exchanging(2), exchanging(1, label="alone")])
    rows = table(found, "counted").rows
    assert len(rows) == 2 and all(row["expected_words"] >= 0 for row in rows)


def test_merged_words_and_files_are_told_apart(tmp_path):
    """A merged word stands for several; a table of another grid leaves the words, not the connections."""
    file = tmp_path / "table.json"
    file.write_text('{"kind": "forwarding_table", "format_version": 1, "dimensions": [1, 4]}')
    levels = [{"connections": 1, "messages": 9, "words": 9, "bytes_sent": 90}] * 2
    runs = []
    for number, own in enumerate(({"merge": True}, {"table": str(file)}), 1):
        composed = {"dimensions": [2, 2], "parts": ["p2p", "p2p"], "side": "receiver", **own}
        given = {"name": "multi_level", "dimensions": [2, 2], "parts": "p2p", "side": "receiver", **own}
        run = exchanging(4, exchange="p2p", label=f"run {number}", seed=number)
        runs.append(run | {"description": run["description"] | {"exchange": given}, "lane": {
            "exchange": "multi_level", "composed": composed, "levels": levels}})  # fmt: skip
    results = write_experiment(tmp_path / "runs", [{k: v for k, v in r.items() if k != "lane"} for r in runs])
    planned = json.loads((results / "plan.json").read_text())["runs"]
    for run, line in zip(runs, planned, strict=True):
        path = results / "runs" / line["id"] / "record.json"
        record = json.loads(path.read_text())
        path.write_text(json.dumps(record | {"lanes": [record["lanes"][0] | run["lane"]]}))
    merged, lost = table(carry_out.write(STUDY, gather(results)), "counted").rows
    assert "several ranks need" in merged["expected_words"].reason and merged["expected_connections"] == 2
    assert lost["expected_words"] > 0 and "dimensions=[1, 4]; allowed" in lost["expected_connections"].reason


@pytest.mark.slow
def test_check_values_of_the_full_brain():
    """1552 partners with voxels in sequence (tuned), 1956 at random, 97 ranks a spike with round robin."""
    brain = graph.of_voxels(choose(voxels.Options, {}, True, voxels.FULL))
    assert brain.neurons == 10**10 and brain.atoms == 22_603

    def of(name):
        return traffic.expected(brain, divide(brain, 2000, METHODS[name]).placement)

    assert of("sequential").partners().mean() == pytest.approx(1552, rel=0.01)
    random = of("random")
    assert random.partners().mean() == pytest.approx(1958, rel=0.005)
    assert random.sent.mean() / (0.8 * 5e6) == pytest.approx(28, rel=0.04)  # ranks of a projecting neuron
    assert of("round_robin").sent.mean() / 5e6 == pytest.approx(97, rel=0.01)
    assert random.sent.max() / of("largest_first").sent.mean() == pytest.approx(1.45, rel=0.06)
