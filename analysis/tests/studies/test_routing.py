"""The study of routing: small brains in place of the full ones, and counts of real runs."""

import json
import math

import numpy as np
import pytest
from fake_simulation import write
from planned import ABSENT
from studied import carried_out, exchanging, table

from spikemark.machines.inputs import Inputs
from spikemark.prediction import exchange
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.partition import levels, routed
from spikemark.prediction.traffic import Traffic
from spikemark.presets import voxels
from spikemark.quantities.words import number
from spikemark.records.gather import gather
from spikemark.running.simulation.replay import AS_DIRECT, BY_NUMBER, Replayed
from spikemark.running.simulation.smpirun import SimulationFailed
from spikemark.studies import STUDIES, carry_out, routing
from spikemark.studies.routing import loads, replays, tables, verdicts
from spikemark.studies.routing.loads import NEAR, SCATTERED, Item, Way

STUDY = STUDIES["routing"]
RANKS = (16, 36, 64)


@pytest.fixture(scope="module")
def small():
    """Brains of 400 voxels on 16 to 64 ranks, with little traffic, so that levels pay at D = 1."""
    items = [Item(ranks) for ranks in RANKS] + [Item(36, NEAR), Item(36, SCATTERED, 556)]
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"voxels": 400, "regions": 12, "connected": 0.3}.items():
            patch.setitem(voxels.FULL, name, value)
        patch.setattr(loads, "NEURONS_PER_RANK", 2000)
        patch.setattr(loads, "RANKS", RANKS)
        for module in (loads, tables, routing):
            patch.setattr(module, "ABLATED", 36)
        patch.setattr(loads, "items", lambda full=False: items)
        patch.setattr(replays, "cases", lambda full=False: [])
        yield items


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    found, _ = carried_out(STUDY, tmp_path_factory.mktemp("routing"), [exchanging(2, state=ABSENT)])
    assert routing.prepare(found.sweep) == []
    return carry_out.write(STUDY, gather(found.sweep.path))


def test_every_way_has_a_verdict(done):
    rows = table(done, "fastest").rows
    machines = verdicts.profiles()
    assert len(rows) == len(machines) * (len(RANKS) + 1) * len(verdicts.SCHEDULES) and len(machines) > 2
    for row in rows:
        assert row["best_s"].value <= row["direct_s"].value
        assert row["best_s"].low <= row["best_s"].value <= row["best_s"].high
        assert row["sure"] in ("direct", "levels", "open")
        assert (row["sure"] == "direct") == (row["way"] == "direct")
    assert {row["way"] for row in rows} > {"direct"}
    text = done.page.read_text(encoding="utf-8")
    assert 'id="routing-map"' in text and "modelled" in text
    assert json.loads(done.tables.read_text())["tables"]["thresholds"]["rows"]


def test_beyond_the_threshold_directly_is_fastest(done):
    found = loads.load(done.sweep.path)
    for machine, profile in verdicts.profiles().items():
        for placed in tables.of_traffic(found):
            net = Collectives.of(Inputs(profile), placed.item.ranks)
            border = verdicts.borders(net, placed)[1]
            for factor, directly in ((0.6, False), (1.6, True)):
                times = {w: sum(verdicts.seconds(net, placed, w, factor * border)) for w in placed.sums}
                fastest = min(times, key=times.get)
                assert (len(fastest.sizes) == 1) == directly, (machine, placed.item.key, factor)


def test_what_is_computed_stays_and_the_rest_follows(done, small, tmp_path, monkeypatch):
    path = tmp_path / loads.FILE
    kept = json.loads((done.sweep.path / loads.FILE).read_text())
    del kept[small[0].key]
    path.write_text(json.dumps(kept))
    asked = []
    result = loads.result
    monkeypatch.setattr(loads, "result", lambda item: asked.append(item) or result(item))
    assert list(loads.compute(tmp_path)) == []
    assert asked == [small[0]]
    monkeypatch.setitem(voxels.FULL, "lambda_", 0.5)
    assert loads.load(tmp_path) == {}  # another brain


def test_the_fastest_way_is_the_fastest_of_all_numbers_of_levels(done):
    fastest = {
        (r["method"], r["ranks"], r["schedule"]): r
        for r in table(done, "fastest").rows
        if r["machine"] == replays.MACHINE
    }
    rows = table(done, "by-levels").rows
    assert len(rows) == len(fastest) > 0
    for row in rows:
        own = fastest[row["method"], row["ranks"], row["schedule"]]
        times = [row[f"s{k}"] for k in range(1, loads.MOST_LEVELS + 1)]
        assert times[0] == pytest.approx(own["direct_s"].value)
        assert min(times) == pytest.approx(own["best_s"].value)


def test_the_map_says_from_which_d_on_levels_do_not_pay(done):
    text = done.page.read_text(encoding="utf-8")
    own = [r for r in table(done, "thresholds").rows if r["machine"] == replays.MACHINE]
    for row in (r for r in own if r["method"] == SCATTERED and r["mb1"]):
        assert f"MB, D = {number(row['d1'].value)} on." in text


def test_merging_and_sides(done):
    rows = table(done, "ablation").rows
    assert {(r["side"], r["merged"]) for r in rows} == {(s, m) for s in levels.SIDES for m in (False, True)}
    assert {(r["method"], r["indegree"]) for r in rows} == {(SCATTERED, 100), (SCATTERED, 556), (NEAR, 100)}
    for row in rows:
        assert (row["less"] < 0) if row["merged"] else (abs(row["less"]) < 20)
    most = {(r["indegree"], r["side"]): -r["less"] for r in rows if r["merged"] and r["method"] == SCATTERED}
    assert most[556, "receiver"] > most[100, "receiver"]  # more synapses, more to merge


def test_groups_are_best_near_the_root(done):
    for row in table(done, "groups").rows:
        assert row["best"] == pytest.approx(math.sqrt(row["ranks"]))
        if row["ranks"] == 36 and row["group"] in (2, 18):
            assert row["over0"] > 1


def test_with_a_lag_only_the_first_hop_is_hidden(done):
    found = loads.load(done.sweep.path)
    placed = found[Item(36)]
    net = Collectives.of(Inputs(next(iter(verdicts.profiles().values()))), 36)
    late, direct = verdicts.Schedule(10, 1), Way((36,))
    window = 1e-3 * placed.cycle_ms * late.window
    assert verdicts.cost(net, placed, direct, late) == 0
    way = Way(levels.most_equal(36, 2))
    _, second = verdicts.seconds(net, placed, way, late.window)
    assert verdicts.cost(net, placed, way, late) == pytest.approx(second / window)


def test_with_a_lag_directly_is_cheapest_beyond_its_own_threshold(done):
    found = loads.load(done.sweep.path)
    rows = {(r["machine"], r["method"], r["ranks"]): r for r in table(done, "thresholds").rows}
    known = 0
    for machine, profile in verdicts.profiles().items():
        for placed in tables.of_traffic(found):
            net = Collectives.of(Inputs(profile), placed.item.ranks)
            row = rows[machine, placed.item.method, placed.item.ranks]
            if not row["lag"]:
                assert row["lag"].mark == "never"
                continue
            known += 1
            assert row["lag"].low <= row["lag"].value <= row["lag"].high
            for factor, directly in ((0.6, False), (1.7, True)):
                late = verdicts.Schedule(factor * row["lag"].value, 1)
                assert (len(verdicts.fastest(net, placed, late).sizes) == 1) == directly, (machine, factor)
    assert known


@pytest.mark.parametrize("sizes", [(16,), (4, 4), (2, 2, 4)])
def test_sums_take_the_time_of_the_exchange_that_is_predicted(sizes):
    """One model: what `predict` says of multi_level, where ranks are alike."""
    words = np.full((16, 16), 25.0) * (1 - np.eye(16))
    net = Collectives.of(Inputs(next(iter(verdicts.profiles().values()))), 16)
    found = [routed.Sums.of(level) for level in levels.loads(None, words, sizes)]
    p2p = exchange.EXCHANGES["p2p"]
    traffic = Traffic(4 * words, np.sign(words), np.arange(16))
    if len(sizes) == 1:
        assert routed.of_sums(net, found, 1.0, p2p)[0] == pytest.approx(p2p(net, traffic))
        return
    composed = routed.Composed(("p2p",) * len(sizes), None, sizes)
    expected = routed.seconds(net, composed, traffic, exchange.EXCHANGES)
    assert sum(routed.of_sums(net, found, 1.0, p2p)) == pytest.approx(expected, rel=0.01)


def test_a_simulation_that_fails_is_said_and_tried_again(small, tmp_path, monkeypatch):
    case = replays.Case(16, 2)
    monkeypatch.setattr(replays, "cases", lambda full=False: [case])
    failing = iter([SimulationFailed("deadlock"), None])

    def full(case):
        if reason := next(failing):
            raise reason
        sums = {"messages": 6, "bytes": 1e3, "largest": 1e2, "processor_s": 1.0, "simulator_bytes": 3e7}
        times = {"modelled_s": 1e-5, "least_s": 5e-6, "p2p_s": 1e-5, "last_s": 2e-5, "mean_s": 1e-5}
        return sums | {name: [seconds] for name, seconds in times.items()}

    monkeypatch.setattr(replays, "_full", full)
    assert list(replays.compute(tmp_path)) == [f"{case.key}: deadlock"]
    assert replays.load(tmp_path) == {}
    assert list(replays.compute(tmp_path)) == []
    (row,) = replays.table(replays.load(tmp_path)).rows
    assert (row["ratio"], row["ratio_least"]) == (0.5, 0.25) and not row["run"]


SMALL = [replays.Case(16, k, 1, True, numbered) for numbered in (False, True) for k in (1, 2)]


@pytest.fixture
def replayed(small, tmp_path, monkeypatch):
    """Small brains in either order as they are kept, without SimGrid."""
    orders = []

    def simulate(described, profile, ranks, out, cv):
        lane = {"exchange": described["exchange"], "composed": None, "levels": None}
        if isinstance(described["exchange"], dict):
            composed = {name: described["exchange"][name] for name in ("inner", "outer", "group")}
            counts = {"connections": 3, "messages": 960, "words": 20_000, "bytes_sent": 90_000}
            lane = {"exchange": "two_level", "composed": composed, "levels": [counts, counts]}
        write(out, described, ranks, profile.name, warmup=0)
        record = json.loads((out / "record.json").read_text())
        record["lanes"] = [{**record["lanes"][0], "connections": 15, **lane}]
        (out / "record.json").write_text(json.dumps(record))

    def replay(messages, network, order):
        orders.append(order)
        ends = 1e-6 * np.arange(1, 1 + len(messages))
        return Replayed(ends, ends, 30_000_000)

    monkeypatch.setattr(replays, "cases", lambda full=False: SMALL)
    monkeypatch.setattr(replays, "simulate", simulate)
    monkeypatch.setattr(replays, "replay", replay)
    assert list(replays.compute(tmp_path)) == []
    assert orders == [AS_DIRECT, AS_DIRECT, BY_NUMBER, BY_NUMBER]  # as they are run
    return tmp_path


def test_counts_of_small_brains_are_kept_with_what_is_missing(replayed):
    """An exchange without levels counts no words between ranks; the reason is read again."""
    found = replays.load(replayed)
    assert list(found) == SMALL
    rows = replays.counts(found).rows
    assert [row["level"] for row in rows] == 2 * ["1", "1", "2"]
    composed = "two_level of {}, groups of 4, bridges of the sender"
    assert list(dict.fromkeys(row["exchange"] for row in rows)) == [
        "direct", composed.format("direct"), "p2p", composed.format("p2p"),
    ]  # fmt: skip
    assert "that ranks keep for themselves" in rows[0]["words"].reason and rows[0]["words"].mark == "–"
    assert rows[1]["words"] == 2e4 and rows[1]["expected_words"] > 0
    assert all(row["run"] > 0 for row in replays.table(found).rows)


def test_replays_of_another_brain_or_machine_are_not_shown(replayed, monkeypatch):
    monkeypatch.setitem(replays.SMALL, "rate", 50.0)
    assert replays.load(replayed) == {}
    asked = []
    monkeypatch.setattr(replays, "_small", lambda case, folder: asked.append(case) or {})
    list(replays.compute(replayed))
    assert asked == SMALL
