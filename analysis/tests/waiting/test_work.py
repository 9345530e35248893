"""Another placement: planted costs of events, neurons and words, and real runs whose ranks sleep
for them.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
from small_network import describe
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.models.injected import ar1
from spikemark.models.statistics import lump
from spikemark.network.description import read_description
from spikemark.prediction import replayed
from spikemark.records import record
from spikemark.waiting.answer import answer
from spikemark.waiting.changes import outcomes
from spikemark.waiting.ladder import ladder
from spikemark.waiting.replay import Setting, predict
from spikemark.waiting.trace import CycleTrace, trace
from spikemark.waiting.work import Work

pytestmark = pytest.mark.slow  # draws counts for seconds

CYCLES, RATIO = 600, 10
OVERHEAD_S, EXCHANGE_S = 1e-6, 2e-6


def network(rng, areas: int) -> dict:
    """Areas of unequal sizes and rates, each with an excitatory, an inhibitory and a driving
    population.
    """
    populations, projections = [], []
    for area in range(areas):
        size, rate = int(rng.integers(200, 2000)), rng.uniform(2, 30)
        for name, share, model in (
            ("E", 0.8, "lif_exp"),
            ("I", 0.2, "lif_exp"),
            ("T", 0.1, "ignore_and_fire"),
        ):
            neuron = {"model": model} | ({"rate_hz": rate} if name == "T" else {})
            one = {
                "name": f"{area}{name}",
                "area": f"{area}",
                "size": int(share * size),
                "neuron": neuron,
            }
            if name == "E" and rng.random() < 0.8:
                one["external"] = {"rate_hz": 8, "synapses": 100, "weight": 1}
            populations.append(one)
    for target in populations:
        for source in populations:
            inside = source["area"] == target["area"]
            if target["name"].endswith("T") or not (inside or source["name"].endswith("E")):
                continue
            delay = {"mean": 0.5, "sd": 0.2} if inside else {"mean": 2.0, "sd": 0.5, "min": 1.0}
            many = int(rng.integers(5, 60) if inside else rng.integers(0, 20))
            projections.append(
                {
                    "source": source["name"],
                    "target": target["name"],
                    "indegree": many,
                    "delay": delay,
                }
            )
    time = {"resolution_ms": 0.1, "simulate_ms": 0.1 * CYCLES}
    return {
        "format_version": 1,
        "time": time,
        "network": {"populations": populations, "projections": projections},
    }


def activity(rng, description, rates_hz) -> np.ndarray:
    """Spikes [cycle, population]: Poisson about rates that fluctuate by area, as synchronous
    networks do.
    """
    known = description.network
    course = ar1(rng.uniform(0, 0.97), (len(known.areas), CYCLES), rng)
    level = np.exp(rng.uniform(0, 0.6) * course)[known.area_of]
    return rng.poisson(1e-4 * (known.sizes * rates_hz)[:, None] * level).T.astype(float)


def planted(seed: int) -> tuple[CycleTrace, float, float]:
    """A conventional run, and the waiting and the run time (s per cycle) of the structure-aware
    one.

    Costs per event, list, neuron, spike and word are drawn, and so are what a cycle costs in any
    case, the speed of each rank, and what the layout of memory makes of it.
    """
    rng = np.random.default_rng(seed)
    ranks = int(rng.integers(2, 5))
    given = network(rng, ranks * int(rng.integers(1, 3)))
    description = read_description(given)
    fired = activity(rng, description, rng.uniform(2, 40, len(description.network.populations)))
    work = Work(description, "round_robin", ranks, 1, {}, fired, {})
    speed = np.exp(0.03 * rng.standard_normal((ranks, 1)))
    event, entry, word = (
        1e-9 * rng.uniform(0.5, 2),
        1e-9 * rng.uniform(5, 40),
        1e-9 * rng.uniform(2, 20),
    )
    spike, fixed = 1e-9 * rng.uniform(0, 40), rng.uniform(0, 1e-6, 3)
    model = {name: 1e-9 * rng.uniform(0.4, 0.8) for name in ("lif_exp", "ignore_and_fire")}
    outside = 1e-9 * rng.uniform(0.5, 1.5)
    neuron = [
        model[p.neuron.model] + outside * (p.outside_hz > 0)
        for p in description.network.populations
    ]
    noise = rng.uniform(0.02, 0.15)

    def times(placement: str) -> dict[str, np.ndarray]:
        counts = work.counts(placement)
        luck = np.exp(
            0.03 * rng.standard_normal((3, 1, 1)) + 0.02 * rng.standard_normal((3, ranks, 1))
        )
        found = [
            fixed[0] + event * counts.events + entry * counts.lists,
            fixed[1] + (neuron @ counts.neurons)[:, None] + spike * counts.fired,
            fixed[2] + word * counts.words,
        ]
        jitter = np.exp(noise * rng.standard_normal((3, ranks, CYCLES)))
        names = ("deliver", "update", "collocate")
        return {
            name: speed * one * each
            for name, one, each in zip(names, found, luck * jitter, strict=True)
        }

    before, after = (times(placement) for placement in ("round_robin", "area"))
    compute = sum(before.values())
    waited = compute.max(axis=0) - compute.mean(axis=0) + OVERHEAD_S
    known = Work(description, "round_robin", ranks, 1, before, fired, {})
    run = CycleTrace(
        compute, waited=waited, exchanged=np.full(CYCLES, EXCHANGE_S), work=known, description=given
    )
    aware = sum(after.values())
    sums = lump(aware, RATIO)
    often = rng.choice(
        [1 / RATIO, rng.uniform(1 / RATIO, 0.4)]
    )  # of what meetings cost now, per cycle
    waits = (sums.max(axis=0) - sums.mean(axis=0)).sum() / CYCLES + often * OVERHEAD_S
    return run, waits, aware.mean() + waits + often * EXCHANGE_S


def covered(seeds) -> tuple[float, float, float]:
    """How often intervals of waiting and run time hold the truth, and the median width of the
    latter.
    """
    waiting, runtime, widths = [], [], []
    for seed in seeds:
        run, waits, takes = planted(seed)
        found = predict(run, Setting.from_run(run, "structure_aware", RATIO))
        assert found.moved and found.placement == "area"
        waiting.append(found.waiting.low <= CYCLES * waits <= found.waiting.high)
        runtime.append(found.runtime.low <= CYCLES * takes <= found.runtime.high)
        widths.append((found.runtime.high - found.runtime.low) / found.runtime.value)
    return float(np.mean(waiting)), float(np.mean(runtime)), float(np.median(widths))


def test_intervals_hold_planted_costs_of_another_placement():
    waiting, runtime, width = covered(range(12))
    assert waiting >= 0.9 and runtime >= 0.9 and width < 0.5


@pytest.mark.slow
@pytest.mark.nightly
def test_intervals_hold_planted_costs_of_many_networks(capsys):
    waiting, runtime, width = covered(range(200))
    with capsys.disabled():
        print(
            f"\n200 networks: waiting held {waiting:.0%}, run time {runtime:.0%}, median width"
            f" {width:.0%}"
        )
    assert waiting >= 0.9 and runtime >= 0.9 and width < 0.4


def sized(*sizes: int, **more) -> dict:
    """A network of areas with so many neurons, one population each."""
    given = describe(areas=len(sizes), delay_ratio=RATIO, **more)
    for population, size in zip(given["network"]["populations"], sizes, strict=True):
        population["size"] = size
    return given


def run_of(folder, *sizes: int, **how) -> CycleTrace:
    return trace(record.load_run(write_run(folder, description=sized(*sizes), cycles=400, **how)))


def test_equal_areas_keep_the_work_of_ranks(tmp_path):
    run = run_of(tmp_path / "run", 100, 100)
    now = Setting.from_run(run, "structure_aware", RATIO)
    found = predict(run, now)
    assert (
        found.placement == "area"
        and found.waiting.low < predict(run, Setting.meeting_rarely(run, RATIO)).waiting.high
    )
    assert found.change.high - found.change.low < 0.5


def test_unequal_areas_make_ranks_wait(tmp_path):
    """Ranks of 150 and 50 neurons: the larger one has 1.5 times the events and neurons, and as many
    lists.
    """
    run = run_of(tmp_path / "run", 150, 50)
    aware, kept = (
        predict(run, one)
        for one in (
            Setting.from_run(run, "structure_aware", RATIO),
            Setting.meeting_rarely(run, RATIO),
        )
    )
    computing = run.compute.mean() * run.cycles
    assert aware.moved and not kept.moved
    assert kept.waiting.high < 0.1 * computing < aware.waiting.low
    assert aware.waiting.low < 0.4 * computing < aware.waiting.high
    assert aware.change.low < 1.25 < aware.change.high
    assert not any(one.prediction.moved for one in answer(run).helps)


@pytest.mark.parametrize(
    ("placement", "schedule", "asked", "expected"),
    [
        ("round_robin", "conventional", "structure_aware", "area"),
        ("area", "conventional", "structure_aware", "area"),  # it was chosen, so it stays
        ("area", "placement_only", "overlapped", "area"),
        ("area", "placement_only", "conventional", "round_robin"),
        ("area_group", "placement_only", "structure_aware", "area_group"),
        ("round_robin 1,3", "conventional", "structure_aware", "round_robin 1,3"),
    ],
)
def test_the_placement_of_a_schedule(placement, schedule, asked, expected):
    work = Work(
        read_description(sized(150, 50) | {"schedule": schedule}), placement, 2, 1, {}, None, {}
    )
    assert work.placement_of(asked) == expected


def test_fewer_areas_than_ranks_meet_in_every_cycle(tmp_path):
    """Two areas on four ranks: the ranks of an area meet in every cycle, and wait for each
    other.
    """
    run = run_of(tmp_path / "run", 100, 100, ranks=4)
    now = Setting.from_run(run, "structure_aware", RATIO)
    assert now.placement == "area_group" and now.plan.near == (0, 0, 1, 1)
    pairs = run.compute.reshape(2, 2, -1).max(axis=1)
    least = lump(pairs, RATIO).max(axis=0).sum() - run.compute.mean(axis=0).sum()
    found = predict(run, now)
    assert found.waiting.high > least
    with pytest.raises(BadInput, match="ranks=8"):
        changed = outcomes(run, ["double-ranks"], Setting.from_run(run, "structure_aware", RATIO))[
            1
        ]
        raise BadInput(changed.refused)


def test_where_nothing_tells_the_work_there_is_no_answer(tmp_path, spikemark):
    """Imported times, and other numbers of ranks: no waiting, no run time, but why, and the run to
    make.
    """
    run = run_of(tmp_path / "run", 150, 50, ranks=2)
    fewer = predict(run, Setting.from_run(run, "structure_aware", RATIO, ranks=1))
    assert fewer.waiting.value is None and "schedule=placement_only" in fewer.change.reason
    np.save(tmp_path / "times.npy", 1e3 * run.compute)
    asked = ("--schedule", "structure_aware", "--delay-ratio", RATIO)
    files = ("waiting", tmp_path / "times.npy", "--unit", "ms")
    printed = json.loads(spikemark(*files, *asked, "--json")[1])
    for name in ("waiting", "runtime", "change", "saved"):
        assert printed["replay"][name]["value"] is None
        assert "schedule=placement_only" in printed["replay"][name]["reason"]
    assert not any(
        "structure" in one["name"] or "overlapped" in one["name"] for one in printed["helps"]
    )
    status, output, _ = spikemark(*files, *asked, "--change", "halve-jitter")
    assert status == 0 and output.count("schedule=placement_only") == 2
    words = ("import", tmp_path / "times.npy", "--unit", "ms", "--out", tmp_path / "mine")
    assert spikemark(*words)[0] == 0
    with pytest.raises(BadInput, match="placement"):
        replayed.changes(tmp_path / "mine", RATIO)
    assert spikemark(*words, "--placement", "area")[0] == 0
    with pytest.raises(BadInput) as error:
        replayed.changes(tmp_path / "mine", 1000)
    assert error.value.field == "cycles"
    printed = json.loads(spikemark("waiting", tmp_path / "mine", *asked, "--json")[1])
    assert printed["replay"]["change"]["value"] > 0 and replayed.changes(tmp_path / "mine", RATIO)


def test_unknown_placements_of_imported_times_are_refused(tmp_path, refusal):
    np.save(tmp_path / "times.npy", np.ones((2, 400)))
    words = ("import", tmp_path / "times.npy", "--unit", "ms", "--out", tmp_path / "mine")
    assert "placement" in refusal(*words, "--placement", "nowhere")


def test_records_without_activity_answer_by_rates_or_not_at_all(tmp_path):
    given = sized(150, 50)
    work = run_of(tmp_path / "run", 150, 50).work
    described = work.fired.sum(axis=0) / work.fired.sum()
    assert described == pytest.approx([0.75, 0.25])
    for population in given["network"]["populations"]:
        population["neuron"] = {"model": "lif_exp"}
    run = trace(record.load_run(write_run(tmp_path / "lif", cycles=400)))
    unknown = Work(read_description(given), "round_robin", 2, 1, run.work.times, None, {})
    moved = CycleTrace(run.compute, work=unknown, description=given)
    found = predict(moved, Setting.from_run(moved, "structure_aware", RATIO))
    assert found.change.value is None and "spikes" in found.change.reason


def test_doubling_d_moves_neurons_too(tmp_path):
    run = run_of(tmp_path / "run", 150, 50)
    (doubled, both) = outcomes(run, ["double-delay-ratio", "halve-jitter+double-delay-ratio"])[1:]
    assert doubled.prediction.moved and both.prediction.moved
    assert both.prediction.waiting.value <= doubled.prediction.waiting.value


def long_run(**events) -> CycleTrace:
    """1000 cycles of 0.1 ms on three ranks, with two seconds lost in one of them."""
    compute = np.random.default_rng(1).normal(1e-4, 1e-6, (3, 1000))
    overhead, exchanged = np.full(1000, 1e-6), np.full(1000, 2e-6)
    compute[2, 700] += events.get("computing", 0)
    overhead[701] += events.get("barrier", 0)
    exchanged[702] += events.get("exchange", 0)
    return CycleTrace(
        compute, waited=compute.max(0) - compute.mean(0) + overhead, exchanged=exchanged
    )


@pytest.mark.parametrize(
    ("phase", "rank", "cycle"),
    [("computing", 2, 700), ("barrier", None, 701), ("exchange", None, 702)],
)
def test_a_rank_that_was_stopped_has_a_place(phase, rank, cycle):
    run = long_run(**{phase: 2.0})
    found = ladder(run, RATIO).longest
    assert (found.phase, found.rank, found.cycle) == (phase, rank, cycle)
    assert found.seconds == pytest.approx(2.0, rel=0.01) and found.share > 0.5
    assert any("2.0" in line and f"{cycle}" in line for line in answer(run).lines)
    assert ladder(long_run(), RATIO).longest is None


def test_a_slow_rank_is_named(tmp_path):
    """8 % slower, where most of the waiting is jitter."""
    rng = np.random.default_rng(1)
    compute = np.maximum(rng.normal(1e-3, 8e-4, (8, 4000)), 0)
    compute[5] *= 1.08
    run = CycleTrace(
        compute, waited=compute.max(axis=0) - compute.mean(axis=0), exchanged=np.full(4000, 1e-5)
    )
    assert ladder(run, RATIO).slowest.certain
    assert any(line.startswith("Rank 5 computes ") for line in answer(run).lines)


def test_one_d_on_one_screen_and_why_it_is_one(tmp_path):
    """The ladder and the advice use the largest D that delays allow; D = 1 names the delay that
    limits it.
    """
    run = run_of(tmp_path / "run", 100, 100)
    largest = run.largest()
    assert ladder(run).delay_ratio == largest
    aware = [one.name for one in answer(run).helps if one.name.startswith("structure")]
    assert all(f"D = {largest})" in name for name in aware)
    given = sized(100, 100)
    for projection in given["network"]["projections"]:
        projection["delay"].pop("min", None)
    run = trace(record.load_run(write_run(tmp_path / "one", description=given, cycles=400)))
    assert run.largest() == 1
    (line,) = (line for line in answer(run).lines if "D = 1 " in line)
    assert "delay.min" in line


@pytest.mark.parametrize("longer", [2.08, 1.76, 1.1, 6.0])
def test_a_rank_with_more_neurons_computes_longer_since_it_has_them(tmp_path, longer):
    """The words say so where the factors of neurons and times are alike."""
    run = run_of(tmp_path / "run", 176, 100, schedule="placement_only")
    compute = run.compute.copy()
    compute[0] *= longer
    found = answer(replace(run, compute=compute, waited=None, exchanged=None))
    slowest = found.ladder.slowest
    assert slowest.rank == 0 and slowest.certain
    assert slowest.neurons == pytest.approx(1.76) and slowest.events == pytest.approx(1.76, rel=0.1)
    (line,) = [line for line in found.lines if line.startswith("Rank")]
    assert ("spikemark partition" in line) == (longer in (2.08, 1.76))


def test_equal_work_explains_nothing(tmp_path):
    run = run_of(tmp_path / "run", 100, 100)
    compute = run.compute.copy()
    compute[0] *= 2
    found = answer(replace(run, compute=compute, waited=None, exchanged=None))
    assert found.ladder.slowest.neurons == pytest.approx(1)
    assert not any("spikemark partition" in line for line in found.lines)
