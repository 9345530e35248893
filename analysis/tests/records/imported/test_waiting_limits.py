"""The limits of waiting that was not timed hold the truth, and stand beside it wherever it is shown."""

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from synthetic import compute_times, write_run

from spikemark.presets import PRESETS
from spikemark.records import imported, record
from spikemark.records.imported import derived
from spikemark.waiting import PREDICTORS
from spikemark.waiting.budget import budget
from spikemark.waiting.source import source

STORED = sorted((Path(__file__).parents[2] / "data" / "own-runs").glob("*.npz"))
FROM = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": None}
ROOT = Path(__file__).parents[4]


def holds(compute, communicate, wait, spikes=None):
    """Derived waiting, whose limits hold the mean of `wait`."""
    found = derived.waiting(compute, communicate, spikes)
    low, high = found.limits
    assert low <= wait.mean() <= high
    assert low <= found.waiting.mean() <= high * (1 + 1e-9)
    return found


def program(seed, ranks=4, cycles=1000, barrier=0.3, late_s=1e-4, lost=0.0, data=None):
    """Computing, communication and waiting [rank, cycle] in s of ranks with a barrier before each exchange.

    The barrier takes a share of what the exchange takes. In a share `lost` of the calls, a rank loses its
    core for 20 ms. `data` [cycle] is what the exchange takes longer.
    """
    draw = np.random.default_rng(seed)
    compute = compute_times(ranks, cycles, mean_s=1e-3, cv=0.05, ar1=0.5, rank_sd=0.05, seed=seed)
    begun, wait, exchange = np.zeros(ranks), np.empty_like(compute), np.empty_like(compute)

    def late(share):
        return share * draw.exponential(late_s, ranks) + 0.02 * (draw.random(ranks) < lost)

    for cycle in range(cycles):
        come = begun + compute[:, cycle]
        go = come.max() + barrier * 2e-5 + late(barrier)
        begun = go.max() + 2e-5 + late(1.0) + (0.0 if data is None else data[cycle])
        wait[:, cycle], exchange[:, cycle] = go - come, begun - go
    return compute, wait + exchange, wait


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_own_records_lie_within_the_limits_and_near_the_middle(path):
    """On 2 ranks, waiting is two to seven times as long as until the last rank comes."""
    held = np.load(path)
    found = holds(held["compute"], held["wait"] + held["exchange"], held["wait"])
    assert found.waiting.mean() == pytest.approx(held["wait"].mean(), rel=0.5)


def test_there_are_own_records():
    assert len(STORED) == 4


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("barrier", [0.0, 0.1, 0.3, 1.0])
@pytest.mark.parametrize("lost", [0.0, 0.01])
@pytest.mark.parametrize("late_s", [1e-7, 1e-4])
def test_made_up_programs_lie_within_the_limits(seed, barrier, lost, late_s):
    holds(*program(seed, barrier=barrier, lost=lost, late_s=late_s))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("logged", [0.3, 0.9])
def test_limits_hold_where_a_part_of_the_cycle_is_in_no_column(seed, logged):
    compute, communicate, wait = program(seed)
    holds(compute * np.linspace(logged, 1, len(compute))[:, None], communicate, wait)


def test_what_more_spikes_take_is_data_and_no_waiting():
    draw = np.random.default_rng(3)
    spikes = draw.poisson(draw.uniform(5, 60, 1000), (4, 1000))
    data = 4e-6 * spikes.sum(axis=0)
    held = program(5, data=data)
    found = holds(*held, spikes)
    communicated = held[1].mean()
    assert 0.1 * data.mean() < communicated - found.limits[1] < data.mean()
    unmoved = program(5)
    assert holds(*unmoved, spikes).limits[1] > 0.98 * unmoved[1].mean()
    for constant in (0 * spikes, spikes[:, :1] + 0 * spikes):
        assert holds(*unmoved, constant).limits[1] == pytest.approx(unmoved[1].mean())


def test_without_communication_nothing_limits_it(tmp_path):
    compute, *_ = program(1)
    made = imported.save(tmp_path / "a", imported.Found({"compute": compute}), FROM)
    assert made.doubt_s is None and "its limits are not known" in made.cautions[0]
    assert budget(made).waiting.interval is None and source(made).waited.interval is None


@pytest.fixture(scope="module")
def hidden(tmp_path_factory):
    """A made-up program without its waiting, and what it waited in s per cycle."""
    compute, communicate, wait = program(7, lost=0.005)
    columns = {"compute": compute, "communicate": communicate}
    made = imported.save(tmp_path_factory.mktemp("hidden") / "a", imported.Found(columns), FROM)
    return made, float(wait.mean())


def test_the_limits_reach_budgets_and_predictions(hidden):
    made, truth = hidden
    found, fitted = budget(made), source(made)
    for one, per in ((found.waiting, made.measured_cycles), (fitted.waited, 1)):
        assert one.low <= truth * per <= one.high
    whole = made.column("communicate").mean() * made.measured_cycles
    assert found.transport.low <= whole - truth * made.measured_cycles <= found.transport.high
    assert found.parts["barrier"].high - found.parts["barrier"].low >= found.waiting.high - found.waiting.low
    assert found.slowest.share.low < 0.9 * found.slowest.share.value
    for kind in PREDICTORS.values():
        model = kind.fit(fitted)
        base, other = model.predict("conventional"), model.predict("structure_aware", 10)
        assert base.waiting.low <= truth * base.cycles <= base.waiting.high
        for one in (base, other):
            assert one.waiting.high - one.waiting.low > one.as_derived.high - one.as_derived.low
            assert one.runtime.high - one.runtime.low < one.waiting.high - one.waiting.low


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware", "overlapped"])
def test_predictions_hold_those_of_the_timed_run(tmp_path, schedule):
    """Fitted on the same times with their waiting, and without it."""
    compute, communicate, wait = program(9, cycles=2000, lost=0.002)
    columns = {"compute": compute, "communicate": communicate}
    blind = imported.save(tmp_path / "a", imported.Found(columns), FROM)
    timed = imported.save(tmp_path / "b", imported.Found(columns | {"wait": wait}), FROM)
    for kind in PREDICTORS.values():
        ours, theirs = (kind.fit(source(one)).predict(schedule, 10) for one in (blind, timed))
        assert ours.waiting.low <= theirs.waiting_s <= ours.waiting.high
        assert ours.runtime.low * (1 - 1e-9) <= theirs.runtime_s <= ours.runtime.high * (1 + 1e-9)


LIMITS = r"[\d.]+ \([\d.]+–[\d.]+\)"


def test_every_command_shows_the_limits(spikemark, hidden, undrawn):
    made, truth = hidden
    asked = {
        "budget": (),
        "fit": (),
        "predict": ("--schedule", "structure_aware", "--delay-ratio", "5"),
        "whatif": (),
        "advise": (),
    }
    for command, options in asked.items():
        status, output, _ = spikemark(command, made.path, *options)
        assert status == 0 and re.search(LIMITS, output), command
    for command, words in (("budget", "waiting "), ("fit", r"waiting of the run \(µs per cycle\) ")):
        assert re.search(words + r"[^\d]*" + LIMITS, spikemark(command, made.path)[1]), command
    _, printed, _ = spikemark("budget", made.path, "--json")
    low, high = json.loads(printed)["waiting_limits_s"]
    assert low <= truth * made.measured_cycles <= high
    _, printed, _ = spikemark("advise", made.path, "--json")
    low, high = json.loads(printed)["waiting_per_cycle_s"]["interval"]
    assert low <= truth <= high
    page = made.path.parent / "page.html"
    assert spikemark("advise", made.path, "--html", page)[0] == 0
    assert "not timed: derived, with its limits" in page.read_text()


@pytest.mark.parametrize(("lost", "said"), [(0.0, False), (0.01, True)])
def test_lost_time_slices_are_said_not_to_go_away_with_fewer_meetings(tmp_path, spikemark, lost, said):
    compute, communicate, wait = program(3, ranks=2, lost=lost, late_s=1e-6)
    for columns in ({}, {"wait": wait}):
        content = {"compute": compute, "communicate": communicate} | columns
        made = imported.save(tmp_path / "a", imported.Found(content), FROM)
        assert any("on average as in the median" in line for line in source(made).warnings) == said
    _, _, errors = spikemark("predict", made.path, "--schedule", "structure_aware", "--delay-ratio", "5")
    assert ("Meeting less often saves less of that" in errors) == said


def test_a_timed_run_has_no_limits(spikemark, tmp_path):
    run = record.load(write_run(tmp_path / "run", ranks=4, cycles=400, mean_s=1e-3))
    assert budget(run).waiting.interval is None and source(run).waited.interval is None
    _, printed, _ = spikemark("budget", run.path, "--json")
    assert json.loads(printed)["waiting_limits_s"] is None


@pytest.mark.slow
@pytest.mark.parametrize("neurons", [200, 5000])
def test_a_run_on_two_ranks_lies_within_the_limits(tmp_path, neurons):
    network = PRESETS["mam-benchmark"].describe(areas=2, neurons_per_area=neurons, indegree=100)
    network["time"]["simulate_ms"] = 200
    (tmp_path / "run.json").write_text(json.dumps(network))
    program = os.environ.get("SPIKEMARK_MINIAPP", ROOT / "build" / "miniapp")
    command = ["mpirun", "--oversubscribe", "-n", "2", program, "run.json", "--out", "out"]
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    subprocess.run(command, cwd=tmp_path, env=os.environ | root, check=True, timeout=300, capture_output=True)
    run = record.load(tmp_path / "out")
    holds(run.compute(), run.waiting() + run.phase("exchange"), run.waiting())
