"""Measures what a comparison lacks: one trial after the other, on a quiet machine if possible."""

import contextlib
import datetime
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.process import watch
from spikemark.running import quiet
from spikemark.running.carry_out import RunFailed
from spikemark.running.durations import Pace
from spikemark.running.measure import log_text, why

from .store import Attempt, Store
from .trials import Plan, Trial

REFUSED = 2


def measure(
    plan: Plan,
    store: Store,
    conditions: quiet.Conditions,
    say: Callable[[str], None],
    busy: Callable[[], float | None] = quiet.busy_s,
) -> dict[Trial, str]:
    """Carries out the trials that have no result yet; returns the reasons of those that failed.

    A failed trial does not stop the others, but a program that refuses the network (exit status 2) is not
    started again. `say` receives a line per run. KeyboardInterrupt passes through; the same call later
    continues.
    """
    named = {program.name: program for program in plan.programs}
    description = store.path / "description.json"
    write_json(description, plan.description)
    failed: dict[Trial, str] = {}
    refused: dict[str, str] = {}
    missing = [trial for trial in plan.trials if store.result(trial, conditions) is None]
    pace = Pace(len(missing))
    for number, trial in enumerate(plan.trials, 1):
        position = f"[{number}/{len(plan.trials)}] {trial.label}"
        store.failure(trial).unlink(missing_ok=True)
        while trial.program not in refused and store.result(trial, conditions) is None:
            wait = quiet.wait(conditions, busy)
            if not wait.quiet and wait.foreign_load is not None:
                load = _cores(wait.foreign_load)
                say(f"{position}: not quiet after {wait.waited_s:.0f} s, {load}; going on")
            try:
                attempt = _attempt(plan, trial, named[trial.program], store, description, wait, busy)
            except _Refused as reason:
                refused[trial.program] = str(reason)
            except RunFailed as reason:
                failed[trial] = str(reason)
                say(f"{position}: FAILED: {reason}")
                break
            else:
                left = pace.left(sum(store.result(trial, conditions) is not None for trial in missing))
                say(f"{position}: {_told(attempt, conditions)}{left and f'; {left}'}")
        if trial.program in refused:
            failed[trial] = refused[trial.program]
            say(f"{position}: FAILED: {refused[trial.program]}")
    return failed


class _Refused(RunFailed):
    """The program says that it cannot simulate the network."""


def _attempt(plan, trial, program, store, description, wait, busy) -> Attempt:
    with _workspace(store.path / "unchecked" / trial.id) as workspace:
        start = program.start(description.resolve(), workspace, trial.threads)
        started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
        load, began = quiet.Watch(busy), time.monotonic()
        finished = watch(start, plan.experiment.time_limit_s)
        wall_s, foreign_load = time.monotonic() - began, load.foreign_load()
        try:
            if finished.status != 0:
                raise (_Refused if finished.status == REFUSED else RunFailed)(why(finished))
            raw, figures = program.read(finished.output, workspace)
            if (figures.threads, figures.ranks) != (trial.threads, 1):
                raise RunFailed(
                    f"asked for {trial.threads} threads on 1 rank, got {figures.threads} on {figures.ranks}"
                )
        except RunFailed as reason:
            log = f"{reason}\n\nrun: {trial.label}\n{log_text(start, finished)}"
            write_atomically(store.failure(trial), log)
            raise
    content = {
        "started": started,
        "host": socket.gethostname(),
        "command": start.command,
        "environment": start.environment,
        "wall_s": wall_s,
        "waited_s": wait.waited_s,
        "quiet_before": wait.quiet,
        "foreign_load": foreign_load,
        "figures": figures.model_dump(),
        "raw": raw,
    }
    return store.keep(trial, content)


@contextlib.contextmanager
def _workspace(path: Path) -> Iterator[Path]:
    discard(path)
    path.mkdir(parents=True)
    try:
        yield path.resolve()
    finally:
        discard(path)


def _told(attempt: Attempt, conditions: quiet.Conditions) -> str:
    figures = attempt.figures
    text = f"{figures.simulate_s:.3g} s for {figures.model_s:g} s"
    if attempt.foreign_load is None:
        return f"{text}, load by others unknown"
    return f"{text}, {_cores(attempt.foreign_load)}" + (
        ": disturbed" if attempt.disturbed(conditions) else ""
    )


def _cores(load: float) -> str:
    return f"others keep {load:.2f} cores busy"
