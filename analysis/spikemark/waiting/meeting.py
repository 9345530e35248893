"""When ranks that compute for given times meet as planned: how long they wait.

The same as `models.recursion.evaluate` for the lanes of a plan, but for long traces: it takes sums over the
plan's steps and gives the mean over ranks.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.network.meetings import Plan

BLOCK = 256  # windows at a time, so that they stay in a cache
ROUNDING = 8 * np.finfo(float).eps  # of sums over a run
SETTLED = 8  # the mean lead at the end is taken from the last eighth of the windows


@dataclass(frozen=True)
class Waits:
    """Mean over ranks of the time waited, in the unit of the compute times; leading axes as these had."""

    series: np.ndarray  # [..., window]
    drain: np.ndarray  # [...], waited beyond that at the end of a run, when the last must catch up
    drain_error: np.ndarray  # [...], spread of the lead over time

    def per_window(self, windows: int) -> np.ndarray:
        """Mean without the drain over a run of so many windows, [...]; those not run are as the last."""
        ran = self.series.shape[-1]
        later = self.series[..., ran // 2 :].mean(axis=-1)
        return later + (self.series.mean(axis=-1) - later) * min(ran / windows, 1.0)


def waits(compute: np.ndarray, plan: Plan, exchange: float = 0.0) -> Waits:
    """Run `compute` [..., rank, step], sums over `plan.step` cycles, through the plan; windows must be whole.

    With a lag, what starts when the last rank has finished a window takes `exchange` to arrive.
    """
    if plan.lag:
        return _lagged(compute, plan, exchange)
    nothing = np.zeros(compute.shape[:-2])
    return Waits(_together(compute, plan), nothing, nothing)


def cut(compute: np.ndarray, steps: int) -> np.ndarray:
    """Runs of so many steps of `compute` [..., rank, step], one after the other: [..., run, rank, step]."""
    runs = compute.shape[-1] // steps
    if runs == 1:
        return compute[..., None, :, :steps]
    kept = compute[..., : runs * steps]
    return np.moveaxis(kept.reshape(*compute.shape[:-1], runs, steps), -2, -3)


def _together(compute: np.ndarray, plan: Plan) -> np.ndarray:
    mean = compute.mean(axis=-2, dtype=np.float64)
    if plan.lockstep:
        return np.maximum(compute.max(axis=-2) - mean, 0.0)
    *runs, ranks, steps = compute.shape
    groups = compute.reshape(*runs, ranks // plan.group, plan.group, steps).max(axis=-2)
    per = plan.window // plan.step
    windows = groups.reshape(*runs, ranks // plan.group, steps // per, per).sum(axis=-1)
    return np.maximum(windows.max(axis=-2) - mean.reshape(*runs, steps // per, per).sum(axis=-1), 0.0)


def _lagged(compute: np.ndarray, plan: Plan, exchange: float) -> Waits:
    """A rank is done with a window when it has computed, and what was due by then has arrived."""
    *runs, ranks, windows = compute.shape
    flat = compute.reshape(-1, ranks, windows)
    spent, mean, last = np.empty((3, windows, len(flat)))
    arrivals = np.empty((windows, len(flat), 1))
    done, lag = np.zeros(flat.shape[:2]), plan.lag
    for first in range(0, windows, BLOCK):
        some = slice(first, first + BLOCK)
        steps = np.ascontiguousarray(flat[:, :, some].transpose(2, 0, 1), dtype=np.float64)
        spent[some] = steps.mean(axis=-1)
        for k, at in enumerate(steps, first):  # from here on not what was computed but when it was done
            np.add(at, done, out=at)
            np.maximum.reduce(at, axis=-1, keepdims=True, out=arrivals[k])
            if k >= lag:
                np.maximum(at, arrivals[k - lag] + exchange, out=at)
            done = at
        mean[some], last[some] = steps.mean(axis=-1), steps.max(axis=-1)
    series = np.diff(mean, axis=0, prepend=0.0) - spent
    series[series < ROUNDING * mean[-1]] = 0.0
    late = slice(windows // 2, None)
    lead = last[late] + exchange - mean[late]
    drain = lead[-max(1, windows // SETTLED) :].mean(axis=0)
    return Waits(series.T.reshape(*runs, windows), drain.reshape(runs), lead.std(axis=0).reshape(runs))
