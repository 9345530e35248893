"""The search for the most probable costs ends at them, or says that it does not."""

from dataclasses import replace

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.prediction import anchors, inference
from spikemark.prediction.inference import MeasuredTimes, Prior, posterior
from spikemark.prediction.points import PublishedRun, published


def random_times(seed: int, spread: float) -> tuple[MeasuredTimes, Prior]:
    """Runs whose times differ from those of the model by `spread` (log SD), and a prior."""
    random = np.random.default_rng(seed)
    runs, costs, effects, parts = random.integers([1, 2, 1, 1], [30, 12, 25, 4])
    of_part = np.zeros((parts, costs), dtype=bool)
    of_part[random.integers(0, parts, costs), np.arange(costs)] = True
    counts = np.exp(random.normal(0, 4, (runs, costs)))
    times = MeasuredTimes(
        log_seconds=np.log(counts.sum(axis=1)) + random.normal(0, spread, runs),
        weights=1 / (0.08**2 + 0.1 * random.random(runs)),
        counts=counts,
        of_part=of_part,
        acting=1.0 * (random.random((parts, runs, effects)) < 0.3),
        expected=random.normal(0, 0.2, (parts, runs)),
        in_seconds=np.ones((parts, runs), dtype=bool),
    )
    return times, Prior(np.zeros(effects + costs), np.ones(effects + costs))


@pytest.mark.parametrize("spread", [0.1, 1.0])
@pytest.mark.parametrize("seed", range(20))
def test_at_the_mode_measurements_and_prior_balance(seed, spread):
    times, prior = random_times(seed, spread)
    unknowns = len(prior.mean)
    found = posterior(times, prior, np.zeros(unknowns), unknowns)
    log_seconds, derivatives = times.linearised(found.mode)
    pull = derivatives.T @ (times.weights * (times.log_seconds - log_seconds))
    pull -= (found.mode - prior.mean) / prior.sd**2
    assert abs(found.covariance @ pull).max() < 0.01


@pytest.mark.parametrize("factor", [1e-3, 0.1, 10, 1e3])
def test_runs_that_disagree_with_all_others_are_taken_in_too(factor):
    own = disagreeing_runs(factor)
    times = anchors.predict(own[:1], own=own)
    assert np.isfinite(times.total).all()


def test_a_search_that_does_not_end_is_refused(monkeypatch):
    monkeypatch.setattr(inference, "MAX_STEPS", 3)
    own = disagreeing_runs(factor=0.2)  # not asked before: answers are kept
    with pytest.raises(BadInput) as refused:
        anchors.predict(own[:1], own=own)
    assert refused.value.field == "anchor"


def disagreeing_runs(factor: float) -> list[PublishedRun]:
    """A published run `factor` times as long, and three times longer still."""
    run = next(run for run in published() if run.series == "SIM-T2-ETH")
    return [replace(run, seconds=run.seconds * more) for more in (factor, 3 * factor)]
