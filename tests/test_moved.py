"""What another placement makes of a run: predicted from conventional runs, and then measured.

Ranks sleep for every neuron and every event, so that it matters little what else runs on the
machine.
"""

from dataclasses import dataclass

import numpy as np
import program
import pytest

from spikemark.records import record
from spikemark.waiting.replay import ReplayedWaiting, Setting, predict
from spikemark.waiting.trace import trace

pytestmark = pytest.mark.slow

RATIO, CYCLES = 3, 66
MEAN_US = 20_000  # of what a rank sleeps in a cycle for its neurons, and for its events


def network(seed: int) -> dict:
    """Two areas of unequal sizes, rates and in-degrees."""
    rng = np.random.default_rng(seed)
    populations, projections = [], []
    for name in "ab":
        neuron = {"model": "ignore_and_fire", "rate_hz": float(rng.uniform(30, 120))}
        populations.append({"name": name, "size": int(rng.integers(40, 400)), "neuron": neuron})
    for source in "ab":
        for target in "ab":
            delay = (
                {"mean": 1.0, "sd": 0.5}
                if source == target
                else {"mean": 1.0, "sd": 0.5, "min": 0.3}
            )
            many = int(rng.integers(4, 16))
            projections.append(
                {"source": source, "target": target, "indegree": many, "delay": delay}
            )
    sizes = {one["name"]: one["size"] for one in populations}
    per_cycle = {one["name"]: one["size"] * one["neuron"]["rate_hz"] * 1e-4 for one in populations}
    events = sum(
        one["indegree"] * sizes[one["target"]] * per_cycle[one["source"]] / sizes[one["source"]]
        for one in projections
    )
    inject = {"wait": "sleep", "mean_us": 4000, "sd_us": 1000, "correlation": 0.5}
    inject |= {"per_neuron_ns": round(2e3 * MEAN_US / sum(sizes.values()))}
    inject |= {"per_synapse_ns": min(round(2e3 * MEAN_US / events), 1_000_000)}
    time = {"resolution_ms": 0.1, "warmup_ms": 1, "simulate_ms": round(0.1 * CYCLES, 1)}
    return {
        "format_version": 1,
        "time": time,
        "inject": inject,
        "network": {"populations": populations, "projections": projections},
    }


@dataclass(frozen=True)
class Pair:
    """A prediction from a conventional run, and what the structure-aware run measured."""

    seed: int
    prediction: ReplayedWaiting
    waited_s: float
    change: float

    def __str__(self) -> str:
        waiting, change = self.prediction.waiting, self.prediction.change
        return (
            f"{self.seed}: waiting {waiting.value:.3f} ({waiting.low:.3f} to {waiting.high:.3f}) s,"
            f" measured {self.waited_s:.3f}; run time x {change.value:.3f} ({change.low:.3f} to"
            f" {change.high:.3f}), measured {self.change:.3f}"
        )

    @property
    def held(self) -> tuple[bool, bool]:
        """Do the intervals of the waiting and of the change of the run time hold what was
        measured?
        """
        waiting, change = self.prediction.waiting, self.prediction.change
        return (
            waiting.low <= self.waited_s <= waiting.high,
            change.low <= self.change <= change.high,
        )


def measured(folder, seed: int) -> Pair:
    folder.mkdir()
    described = network(seed)
    for name, ratio in (("conventional", 1), ("structure_aware", RATIO)):
        more = program.sets(schedule=name, delay_ratio=ratio)
        program.record_of(folder / name, *more, description=described, ranks=2)
    before, after = (record.load_run(folder / name) for name in ("conventional", "structure_aware"))
    run = trace(before)
    prediction = predict(run, Setting.from_run(run, "structure_aware", RATIO))
    change = after.record.timing.simulate_s / before.record.timing.simulate_s
    return Pair(seed, prediction, after.spent_s("waiting"), change)


def test_a_conventional_run_foretells_that_unequal_ranks_wait(tmp_path):
    """Other tests beside it may disturb it, so the waiting may lie outside its interval by a factor
    of 2.
    """
    pair = measured(tmp_path / "8", 8)
    waiting = pair.prediction.waiting
    assert pair.prediction.moved and pair.prediction.placement == "area"
    assert waiting.low / 2 <= pair.waited_s <= 2 * waiting.high, pair


@pytest.mark.nightly
@pytest.mark.alone
def test_nine_of_ten_changes_are_as_predicted(tmp_path, capsys):
    pairs = [measured(tmp_path / f"{seed}", seed) for seed in range(10)]
    with capsys.disabled():
        print("", *pairs, sep="\n")
    assert sum(pair.held[0] for pair in pairs) >= 9
    assert sum(pair.held[1] for pair in pairs) >= 9
