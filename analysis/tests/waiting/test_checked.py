"""Nightly: how far predictions are off runs they have not seen, how often intervals hold the
truth.
"""

import json

import numpy as np
import pytest

from spikemark.models.injected import Truth
from spikemark.models.recursion import LaneMeetings, evaluate
from spikemark.network.presets import mam_benchmark
from spikemark.records import record
from spikemark.waiting import theory
from spikemark.waiting.ladder import ladder
from spikemark.waiting.replay import Setting, predict
from spikemark.waiting.trace import CycleTrace, trace

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

CYCLES, GOAL, MISSES = 20_000, 0.10, 1
SCHEDULES = [
    ("structure_aware", 2, 0),
    ("structure_aware", 5, 0),
    ("structure_aware", 10, 0),
    ("overlapped", 4, 1),
    ("overlapped", 10, 1),
]
PROCESSES = {
    "independent": (Truth(1e-3, 1e-4), 1000),
    "AR(1) 0.5": (Truth(1e-3, 1e-4, 0.5), 2000),
    "AR(1) 0.9": (Truth(1e-3, 1e-4, 0.9), 4000),
    "AR(1) 0.99": (Truth(1e-3, 1e-4, 0.99), 12_000),
    "2 % twice as long": (Truth(1e-3, 1e-4, 0.0, 0.0, 0.02, 2.0), 2000),
}
TRIALS, LEAST = 100, 0.85  # 0.95 is nominal; 100 trials tell a share within 0.05


def lane(d, lag):
    return LaneMeetings(d // (lag + 1), lag)


@pytest.mark.parametrize("ranks", [8, 64])
def test_replay_of_a_conventional_run_predicts_other_schedules_of_another_run(ranks, capsys):
    rows = []
    for correlation in (0.0, 0.9, 0.99):
        truth = Truth(1e-3, 1e-4, correlation, 1e-5)
        level = 1e-5 * np.random.default_rng(9).standard_normal((ranks, 1))
        seen, other = (
            Truth(1e-3, 1e-4, truth.correlation).draw(np.random.default_rng(seed), ranks, CYCLES)
            + level
            for seed in (1, 2)
        )
        run = CycleTrace(seen.astype(np.float32), kind="modelled")
        for schedule, d, lag in SCHEDULES:
            now = Setting.from_run(run, schedule, d, **({"lag": lag} if lag else {}))
            actual = evaluate(other, [lane(d, lag)]).waiting_s.mean(axis=0).sum()
            iid = theory.iid(run, now.plan)
            replay = predict(run, now).waiting.value / actual - 1
            rows.append(
                (correlation, schedule, d, iid.value / actual - 1 if iid else np.nan, replay)
            )
    with capsys.disabled():
        print(f"\n{ranks} ranks: correlation, schedule, D, error of iid, error of replay")
        for correlation, schedule, d, iid, replay in rows:
            print(
                f"  {correlation:4g}  {schedule:16} {d:3}  {100 * iid:+7.1f} % "
                f" {100 * replay:+6.1f} %"
            )
    assert sum(abs(row[-1]) > GOAL for row in rows) <= MISSES
    assert sum(abs(row[-2]) > GOAL for row in rows) > 4  # else this tells nothing apart


@pytest.mark.parametrize("name", PROCESSES)
def test_intervals_hold_planted_truth(name, capsys):
    process, cycles = PROCESSES[name]
    many = process.draw(np.random.default_rng(1), 8, 50 * cycles)
    runs = many.reshape(8, 50, cycles).swapaxes(0, 1)
    per = {d: float(evaluate(runs, [LaneMeetings(d)]).waiting_s.mean()) for d in (1, 10)}
    late = float(evaluate(runs, [LaneMeetings(5, 1)]).waiting_s.mean())
    held = {"D = 1": [], "D = 10": [], "D = 10, lag 1": [], "jitter": []}
    for seed in range(TRIALS):
        run = CycleTrace(process.draw(np.random.default_rng([2, seed]), 8, cycles), kind="modelled")
        for d in (1, 10):
            found = predict(run, Setting.from_run(run, "structure_aware", d)).waiting
            held[f"D = {d}"].append(found.low <= per[d] * cycles <= found.high)
        found = predict(run, Setting.from_run(run, "overlapped", 10, lag=1)).waiting
        held["D = 10, lag 1"].append(found.low <= late * cycles <= found.high)
        jitter = ladder(run, 10).parts["jitter"]
        held["jitter"].append(jitter.low <= per[1] - per[10] <= jitter.high)
    shares = {what: float(np.mean(found)) for what, found in held.items()}
    with capsys.disabled():
        print(
            f"\n{name}, {cycles} cycles: "
            + ", ".join(f"{what} {s:.0%}" for what, s in shares.items())
        )
    assert min(shares.values()) >= LEAST


NETWORKS = {"equal areas": {}, "areas of unequal sizes": {"size_cv": 0.2}}
NEURONS = {
    "run": 40,
    "full": 15_000,
}  # per area: of the network that runs, and of that whose times it takes
CYCLES_OF = {8: 2000, 64: 300}  # by ranks; messages make many ranks dear, which need fewer cycles
SMALL, SIMULATED = (
    0.01,
    0.12,
)  # of the run time, where hardly anybody waits; of the waiting (measured: 0.114)


@pytest.mark.parametrize("ranks", CYCLES_OF)
@pytest.mark.parametrize("network", NETWORKS)
def test_replay_predicts_simulated_runs_of_other_schedules(
    tmp_path, spikemark, capsys, network, ranks
):
    """SimGrid, with other jitter than in the fitted run: barriers and exchanges are those of a
    cluster.

    The fitted run has the areas on the same ranks (placement_only), since only the schedule is
    predicted.
    """
    cycles, rows, files = CYCLES_OF[ranks], [], []
    for name, neurons in NEURONS.items():
        found = mam_benchmark.describe(
            areas=64, neurons_per_area=neurons, indegree=20, **NETWORKS[network]
        )
        found["time"] |= {"warmup_ms": 1, "simulate_ms": round(0.1 * cycles, 9)}
        files.append(tmp_path / f"{name}.json")
        files[-1].write_text(json.dumps(found | {"record": {"cycles": True}}))

    def simulated(out, seed, correlation, **fields):
        words = [x for name, value in fields.items() for x in ("--set", f"{name}={value}")]
        status, _, errors = spikemark(
            "simulate",
            files[0],
            "--machine",
            "jureca-dc",
            "--ranks",
            ranks,
            "--out",
            tmp_path / out,
            "--threads",
            1,
            "--cv",
            0.1,
            "--compute-of",
            files[1],
            "--correlation",
            correlation,
            "--seed",
            seed,
            *words,
        )
        assert status == 0, errors
        return record.load_run(tmp_path / out)

    for correlation in (0.0, 0.9):
        run = trace(simulated(f"seen-{correlation}", 1, correlation, schedule="placement_only"))
        for schedule, d, lag in [*SCHEDULES[:3], SCHEDULES[-1]]:
            fields = {"schedule": schedule, "delay_ratio": d} | ({"lag": lag} if lag else {})
            other = simulated(f"{schedule}-{d}-{correlation}", 2, correlation, **fields)
            actual, whole = other.spent_s("waiting"), other.record.timing.simulate_s
            now = Setting.from_run(run, schedule, d, **({"lag": lag} if lag else {}))
            iid, found = theory.iid(run, now.plan), predict(run, now).waiting.value
            errors = [np.nan if one is None else one / actual - 1 for one in (iid.value, found)]
            rows.append(
                (correlation, schedule, d, actual / whole, *errors, (found - actual) / whole)
            )
    with capsys.disabled():
        print(
            f"\n{network}, {ranks} simulated ranks: correlation, schedule, D, share of the run time"
            " waited,"
        )
        print("  error of iid, error of replay, and the latter as a share of the run time")
        for correlation, schedule, d, *shares in rows:
            print(
                f"  {correlation:4g}  {schedule:16} {d:3}", *(f"{100 * x:+7.1f} %" for x in shares)
            )
    for _, schedule, _, _, _, replay, of_run in rows:
        if (
            schedule != "overlapped" or ranks == 8
        ):  # with 64, an exchange takes longer than a window computes
            assert abs(replay) <= SIMULATED or abs(of_run) <= SMALL
