"""The study of unequal nodes: small machines in place of large ones, and planted runs with slow ranks."""

import json
import pkgutil
from dataclasses import replace

import numpy as np
import pytest
from planned import ABSENT, write_experiment
from studied import carried_out, exchanging, table

from spikemark.machines.inputs import Inputs
from spikemark.models.published import simula
from spikemark.prediction import phases
from spikemark.records.gather import gather
from spikemark.studies import STUDIES, bath, carry_out
from spikemark.studies.bath import by_schedule, injected, kept, mixes, probe, settings, simulated
from spikemark.studies.bath.mixes import ARM, DPSNN, X86, Mix
from spikemark.studies.bath.settings import SLOW, SLOWER, USUAL, Setting, Variant, Way

STUDY = STUDIES["bath"]
WAYS = (Way("conventional"), Way("structure_aware", 10), Way("overlapped", 10, 1), Way("overlapped", 10, 4))
EQUAL = {"equal": Variant({USUAL: 8})}
OLDER = {"all older": Variant({"older": 4})}
ONE = EQUAL | {f"{f:g}": Variant({USUAL: 7, SLOW: 1}, f) for f in SLOWER}
FEW = EQUAL | {"2 of 8 slow": Variant({USUAL: 6, SLOW: 2})}
AGES = OLDER | {"half of them newer": Variant({"older": 2, "newer": 2}), "all newer": Variant({"newer": 4})}
SMALL = (
    Setting("one slow node", "slow_node", "One", "slow-nodes", 8, WAYS, ONE),
    Setting("slow nodes", "slow_nodes", "Some", "slow-nodes", 8, WAYS[:2], FEW),
    Setting("two generations", "generations", "Two", "two-generations", 4, WAYS[:2], AGES),
)


@pytest.fixture(scope="module")
def small():
    """Few nodes, few cycles, few schedules and few mixes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "SETTINGS", SMALL)
        patch.setattr(by_schedule, "CYCLES", 2000)
        patch.setattr("spikemark.prediction.waiting.CYCLES", 200)
        probe.numbers.cache_clear()  # other tests may have asked for those of many cycles
        patch.setattr(simulated, "WAYS", ())
        patch.setattr(mixes, "PUBLISHED", ((1, 0),))
        patch.setattr(mixes, "GRID", ((8, 0), (0, 4), (8, 4)))
        yield
    probe.numbers.cache_clear()


@pytest.fixture(scope="module")
def done(small, tmp_path_factory):
    found, _ = carried_out(STUDY, tmp_path_factory.mktemp("bath"), [exchanging(2, state=ABSENT)])
    assert bath.prepare(found.sweep) == []
    return carry_out.write(STUDY, gather(found.sweep.path))


def test_rarer_meetings_hide_a_slow_node_less(done):
    rows = {r["schedule"]: r for r in table(done, "slow_node").rows}
    assert list(rows) == [way.words for way in WAYS]
    for row in rows.values():
        found = [row[f"{factor:g}"] for factor in SLOWER]
        assert all(0 <= q.low <= q.value <= q.high for q in found)
        assert [q.value for q in found] == sorted(q.value for q in found)
        for factor, cost in zip(SLOWER, found, strict=True):
            assert cost.value <= 100 * (factor - 1)  # no more than all ranks lose that are as slow
    order = [rows[way.words]["1.2"].value for way in WAYS[:3]]
    assert order == sorted(order)
    few = table(done, "slow_nodes").rows
    assert all(0 <= row["2 of 8 slow"].low < row["2 of 8 slow"].value for row in few)


def test_newer_nodes_wait_for_older_ones(done):
    for row in table(done, "generations").rows:
        half, newer = row["half of them newer"], row["all newer"]
        assert newer.value < -10 < half.value and half.low <= half.value <= half.high


def test_whatif_stands_beside_predict(done):
    rows = table(done, "whatif_slow_node").rows
    assert len(rows) == len(WAYS) * len(SLOWER)
    for row in rows:
        if row["schedule"].endswith("lag 4"):
            assert not row["whatif_waiting"] and "lag 1" in row["whatif_waiting"].reason
        else:
            assert row["whatif_cost"].low <= row["whatif_cost"].value <= row["whatif_cost"].high
            assert row["off_cost"] > 0  # it slows the barriers of threads, too, which the model does not


def test_whatif_of_equal_nodes_is_predict_where_all_of_a_cycle_is_slowed(small, monkeypatch):
    monkeypatch.setattr(phases, "_barriers", lambda inputs, node: 0.0)
    by_schedule.equal_nodes.cache_clear()
    found = by_schedule.result(SMALL[0], WAYS[0])
    by_schedule.equal_nodes.cache_clear()
    for factor in SLOWER[1:]:
        said, known = (kept.quantity(found[name], f"cost {factor:g}") for name in ("whatif", "predict"))
        assert abs(kept.error(said, known)) < 2


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize("path", ["kernels.full_node.t_next", "kernels.full_node.update.ignore_and_fire"])
def test_a_slow_node_stays_as_many_times_slower_where_both_move(small, monkeypatch, path, side):
    monkeypatch.setattr(phases, "_barriers", lambda inputs, node: 0.0)
    setting = SMALL[0]
    moved = {f"parts.{part}.{path}": side for part in (USUAL, SLOW)}
    machine, layout, loads = setting.machine_of("1.5"), setting.layout("1.5"), setting.loads(WAYS[0])
    seconds = sum(phases.of_ranks(loads, Inputs(machine, moved=moved), layout))
    assert seconds[-1] == pytest.approx(1.5 * seconds[0], rel=1e-3)
    assert seconds[0] != pytest.approx(sum(phases.of_ranks(loads, Inputs(machine), layout))[0], rel=1e-3)


def test_what_was_computed_stays_and_another_machine_is_computed_anew(done, monkeypatch):
    path = done.sweep.path / by_schedule.FILE
    before = json.loads(path.read_text())
    gone = f"{SMALL[0].key}, {WAYS[1].words}"
    del before[gone]
    path.write_text(json.dumps(before))
    asked, result = [], by_schedule.result
    monkeypatch.setattr(by_schedule, "result", lambda s, way: asked.append((s.key, way)) or result(s, way))
    bath.prepare(done.sweep)
    assert asked == [(SMALL[0].key, WAYS[1])]
    monkeypatch.setattr(by_schedule, "CYCLES", 1000)
    assert not any(by_schedule.load(done.sweep.path).values())


def test_results_of_another_model_are_computed_anew(done, monkeypatch):
    monkeypatch.setattr(probe, "numbers", lambda: ["another"])
    assert not any(by_schedule.load(done.sweep.path).values()) and not mixes.load(done.sweep.path)


def test_the_probe_sees_what_the_models_say(monkeypatch):
    assert probe.numbers() == probe.numbers.__wrapped__()
    for name in ("waiting.lockstep", "phases._barriers", "networks.Networks.exchange_s"):
        with monkeypatch.context() as patch:
            of, _, last = f"spikemark.prediction.{name}".rpartition(".")
            own = pkgutil.resolve_name(f"spikemark.prediction.{name}")
            patch.setattr(f"{of}.{last}", lambda *given, own=own: 1.01 * own(*given))
            assert probe.numbers() != probe.numbers.__wrapped__(), name


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


def stalled(cycles: np.ndarray, phase: int, seconds: float) -> np.ndarray:
    """Meetings that last far longer in a third of the cycles, as where other programs take the cores."""
    found = np.array(cycles)
    found[:, ::3, phase] += seconds
    return found


def test_meetings_that_other_programs_delay_change_no_ratio(tmp_path):
    """The measured ratio is that of the usual cycle; a mean would be off by several times."""
    runs = [slowed(f, "conventional", seed) for f in (1, 2) for seed in (1, 2)]
    sweep = gather(write_experiment(tmp_path, runs))
    busy = []
    for number, m in enumerate(sweep.runs):
        cycles = stalled(m.run.cycles, m.run.record.phases.index("exchange"), 1.5e-3 * (1 + number))
        busy.append(replace(m, run=replace(m.run, cycles=cycles)))
    (known,), (found,) = (injected.table(one).rows for one in (sweep, replace(sweep, runs=busy)))
    assert found["ratio"].value == pytest.approx(known["ratio"].value, rel=0.02)
    assert found["waiting_us"].value == pytest.approx(known["waiting_us"].value, rel=0.05)


def test_without_equal_ranks_whatif_says_nothing(tmp_path):
    done, _ = carried_out(STUDY, tmp_path, [slowed(1.2, "conventional", 1)])
    (row,) = table(done, "injected").rows
    assert not row["said_us"] and "equal ranks" in row["said_us"].reason and not row["off"]


def test_published_rows_are_as_published_and_mixes_have_none(done):
    rows = {row["nodes"]: row for row in table(done, "published").rows}
    points = {f"{p.label} x86": p for p in simula.points(simula.X86)}
    row, p = rows["1 x86"], points["1 x86"]
    assert (row["published_s"], row["published_j"], row["status"]) == (p.time_s, p.energy_j, "fitted")
    assert (
        "cluster" in row["measured_where"]
        and "564" in row["measured_where"]
        and "supply" in rows["4 ARM"]["measured_where"]
    )
    assert row["time_s"].value == pytest.approx(p.time_s, rel=0.25)
    mix = rows["8 x86 + 4 ARM"]
    assert not mix["published_uj"] and mix["net_uj"].value > 0 and mix["status"] == "not published"
    assert mix["net_uj"].value < mix["gross_uj"].value


def test_power_is_the_published_one_of_as_many_cores(small):
    for part, mix in (X86, Mix(8, 0)), (ARM, Mix(0, 4)):
        cores = mix.x86 or mix.arm
        profile = mixes.machine_of(DPSNN, mix).parts[part].profile
        watts = cores * profile.get("power.core").value + profile.get("power.card").value
        assert watts == pytest.approx(mixes.published_w()[part][cores])
    assert mixes.machine_of(DPSNN, Mix(8, 4)).parts[X86].profile.get("power.card").value == 6.781


def test_balanced_shares_are_faster_and_a_verdict_says_what_is_tied(done):
    for program in "dpsnn", "mini_app":
        (row,) = [r for r in table(done, f"mixes_{program}").rows if r["gain"]]
        assert row["nodes"] == "8 x86 + 4 ARM" and row["gain"].value > 1
        assert row["gain"].value == pytest.approx(row["equal_time"].value / row["balanced_time"].value)
    for row in table(done, "verdicts").rows:
        assert row["over"].value >= 1 and row["best"] not in row["tied"].split("; ")
        tied = row["over"].low <= 1
        assert tied == (row["bath"] in row["tied"].split("; ")) or row["bath"] == row["best"]
    text = done.page.read_text(encoding="utf-8")
    assert 'id="bath-mixes"' in text and "cannot be told apart" in text


@pytest.mark.slow
def test_a_slow_node_costs_on_simgrid_what_the_model_says(monkeypatch, tmp_path):
    monkeypatch.setattr(simulated, "RANKS", 8)
    monkeypatch.setattr(simulated, "FACTORS", (1.0, 1.5))
    monkeypatch.setattr(simulated, "WAYS", (Way("structure_aware", 10),))
    assert list(simulated.compute(tmp_path)) == []
    (row,) = simulated.table(simulated.load(tmp_path)).rows
    assert row["simulated_cost"] > 30 and abs(row["off"]) < 3
    assert row["predicted_waiting"] == pytest.approx(row["simulated_waiting"], rel=0.1)
    assert list(simulated.compute(tmp_path)) == [] and len(list((tmp_path / simulated.RUNS).iterdir())) == 2
