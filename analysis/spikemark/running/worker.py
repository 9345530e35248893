"""Works through the missing runs of a plan, one after another, on this machine or in this allocation.

`spikemark sweep` starts a worker here; on a cluster, the worker is what the batch job runs.
"""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spikemark.core import reasons
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from . import durations
from .carry_out import RunFailed

#: Kept of an allocation for ending, s: a run is begun only if it should be over this long before the limit.
MARGIN_S = 20.0
#: A run may take this many times as long as expected before the next one is in danger.
SLACK = 1.25

#: The limit is told in whole seconds, and Slurm may be early.
SLOW_S = 2.0

DONE, TIME = "done", "time"


@dataclass(frozen=True)
class Worked:
    """What a worker did: the ids of the runs that it carried out, failed ones included, and why it ended.

    `why` is `done`, or `time` if the runs that are left would not end before the limit.
    """

    runs: list[str]
    why: str


def work(
    results: Results,
    carry_out: Callable[[Results, Planned], Path],
    ends_s: float | None = None,
    only: list[str] | None = None,
    whole: bool = False,
    before: Callable[[], None] = lambda: None,
    say: Callable[[str], None] = print,
) -> Worked:
    """Carries out the runs of the plan that have neither a record nor a reason why they failed, in its order.

    `carry_out` makes the record of one run. `ends_s`: when the allocation ends, by the monotonic clock, which
    nobody sets. A run that would not be over by then is not begun, except for the first one, which may as
    well use the time. `only`: ids of the runs that this worker is for. `whole`: the allocation is as long as
    a job can be, so that a run that had all of it has failed. `before` is called before each run.

    Raises BadInput as `Results.read_plan`, and for an unknown id.
    """
    done: list[str] = []
    plan = results.read_plan()
    if unknown := sorted(set(only or ()) - {run.id for run in plan.runs}):
        raise BadInput(f"run {unknown[0]!r} is not in {results.plan}")
    expected = durations.Durations(plan.runs, results)
    for run in plan.runs:
        if (only is not None and run.id not in only) or _over(results, run):
            continue
        if done and ends_s is not None and time.monotonic() + SLACK * expected.of(run) + MARGIN_S > ends_s:
            return Worked(done, TIME)
        done.append(run.id)
        before()
        try:
            say(_carried_out(results, run, carry_out))
        except KeyboardInterrupt:
            if not _at_limit(ends_s):
                raise
        if _at_limit(ends_s) and not results.measured(run.id):
            _cut_off(results, run, failed=whole and len(done) == 1)
            return Worked(done, TIME)
        expected.learn(run)
    return Worked(done, DONE)


def _at_limit(ends_s: float | None) -> bool:
    return ends_s is not None and time.monotonic() > ends_s - SLOW_S


def _cut_off(results: Results, run: Planned, failed: bool) -> None:
    """Takes note of a run that the end of the allocation has ended."""
    results.failure(run.id).unlink(missing_ok=True)
    if failed:
        why = "not finished within the time of a whole job; give --time, or raise time_limit in slurm.yaml"
        write_atomically(results.failure(run.id), f"{why}\n\nrun: {run.label}\nid: {run.id}\n")


def _over(results: Results, run: Planned) -> bool:
    """Says whether a run is done or failed; another worker may have carried it out meanwhile."""
    return results.measured(run.id) or results.failure(run.id).is_file()


def _carried_out(results: Results, run: Planned, carry_out: Callable[[Results, Planned], Path]) -> str:
    """Carries out one run and returns a line about its end. Raises KeyboardInterrupt if its job is over."""
    try:
        carry_out(results, run)
        return f"{run.id} {run.label}: done"
    except RunFailed as reason:
        if reasons.JOB_OVER.search(str(reason)):  # no fault of the run, and a signal follows
            results.failure(run.id).unlink(missing_ok=True)
            raise KeyboardInterrupt from None
        return f"{run.id} {run.label}: failed: {reason}"
    except (BadInput, OSError) as refused:  # before the run
        write_atomically(results.failure(run.id), f"{refused}\n\nrun: {run.label}\nid: {run.id}\n")
        return f"{run.id} {run.label}: failed: {refused}"


def environment() -> dict[str, str]:
    """What lets a worker that is started elsewhere find this very package, installed or not."""
    here = str(Path(__file__).resolve().parents[2])
    return {"PYTHONPATH": os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])}
