"""When ranks that compute for given times meet as planned: how long they wait.

The same as `models.recursion.evaluate` for the lanes of a plan, but for long traces: it takes sums over the
plan's steps and gives the mean over ranks.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.waiting.plan import Plan

SETTLED = 8  # the mean lead at the end is taken from the last eighth of the windows


@dataclass(frozen=True)
class Waits:
    """Mean over ranks of the time waited, in the unit of the compute times; leading axes as these had."""

    series: np.ndarray  # [..., window]
    drain: np.ndarray  # [...], waited beyond that at the end of a run, when the last must catch up
    drain_error: np.ndarray  # [...], spread of the lead over time


def waits(compute: np.ndarray, plan: Plan, exchange: float = 0.0) -> Waits:
    """Run `compute` [..., step, rank], sums over `plan.step` cycles, through the plan; windows must be whole.

    With a lag, what starts when the last rank has finished a window takes `exchange` to arrive.
    """
    if plan.lag:
        return _lagged(compute, plan, exchange)
    nothing = np.zeros(compute.shape[:-2])
    return Waits(_together(compute, plan), nothing, nothing)


def _together(compute: np.ndarray, plan: Plan) -> np.ndarray:
    mean = compute.mean(axis=-1, dtype=np.float64)
    if plan.lockstep:
        return np.maximum(compute.max(axis=-1) - mean, 0.0)
    *runs, steps, ranks = compute.shape
    groups = compute.reshape(*runs, steps, ranks // plan.group, plan.group).max(axis=-1)
    per = plan.window // plan.step
    windows = groups.reshape(*runs, steps // per, per, ranks // plan.group).sum(axis=-2)
    return windows.max(axis=-1) - mean.reshape(*runs, steps // per, per).sum(axis=-1)


def _lagged(compute: np.ndarray, plan: Plan, exchange: float) -> Waits:
    """F[m,k] = max(F[m,k-1] + C[m,k], max_j (F[j,k-1-L] + C[j,k-L]) + exchange): done, and arrived."""
    steps = np.moveaxis(compute, -2, 0)  # [step, ..., rank]
    done = np.empty(steps.shape)
    arrived: list[np.ndarray] = []
    at = np.zeros(steps.shape[1:])
    for k, spent in enumerate(steps):
        np.add(at, spent, out=at)
        arrived.append(at.max(axis=-1, keepdims=True) + exchange)
        if len(arrived) > plan.lag:
            np.maximum(at, arrived.pop(0), out=at)
        done[k] = at
    mean = done.mean(axis=-1)
    series = np.diff(mean, axis=0, prepend=0.0) - steps.mean(axis=-1, dtype=np.float64)
    late = done[-max(1, len(done) // SETTLED) :]
    lead = late.max(axis=-1) + exchange - late.mean(axis=-1)
    half = done[len(done) // 2 :]
    spread = (half.max(axis=-1) - half.mean(axis=-1)).std(axis=0)
    return Waits(np.moveaxis(np.maximum(series, 0.0), 0, -1), lead.mean(axis=0), spread)
