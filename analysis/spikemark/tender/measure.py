"""Measures what a bundle asks for: one sweep for each run, resumable, here or as jobs of Slurm.

Before a run is measured, one repetition with the shortest model time shows how fast the machine is. That
decides which model time is the shortest allowed one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.layout import Layout
from spikemark.core.reading import read_json
from spikemark.records.experiment_fields import Experiment
from spikemark.records.gather import Measured, gather
from spikemark.records.results import Results
from spikemark.running import possible, sweeps
from spikemark.running.experiments import expand
from spikemark.running.sweeps import Outcome
from spikemark.running.ways import Way

from .bundle import Bundle
from .fields import Rule

#: The measured part is planned to take so many times the minimum, since repetitions differ.
RESERVE = 1.2
PROBE = "probe"
TIME_LIMIT_S = 24 * 3600.0


@dataclass(frozen=True)
class Chosen:
    """How a bidder runs one run of the bundle; `set`: fields of the description that he changes."""

    layout: Layout
    set: dict[str, Any] = field(default_factory=dict)

    def content(self) -> dict[str, Any]:
        """The content for JSON; fields that are left to the launcher are left out."""
        about = {name: value for name, value in vars(self.layout).items() if value is not None}
        return {"layout": about, "set": self.set}

    @classmethod
    def of(cls, content: dict[str, Any]) -> "Chosen":
        """What `content` wrote."""
        return cls(Layout(**content["layout"]), content["set"])


@dataclass(frozen=True)
class Taken:
    """A run that is complete: all its repetitions, as they followed each other, with one model time."""

    rule: Rule
    chosen: Chosen
    model_ms: float
    runs: list[Measured]


def experiment(
    bundle: Bundle, rule: Rule, chosen: Chosen, model_ms: float, probe: bool = False
) -> Experiment:
    """The sweep of one run: its repetitions, or one of them without energy as a probe."""
    description = read_json(bundle.description(rule))
    changed = {"time.simulate_ms": model_ms, **chosen.set}
    if probe:
        changed |= {"record.energy": False, "record.idle_pause_s": 0.0}
    layout = chosen.layout
    return Experiment(
        name=f"{rule.name}-{PROBE}" if probe else rule.name,
        title=f"{rule.name} of the tender {bundle.tender.name}",
        description=bundle.description(rule),
        set=changed,
        grid=[{}],
        ranks=[layout.ranks],
        threads=[layout.threads],
        ranks_per_node=[layout.ranks_per_node] if layout.ranks_per_node else [],
        distribution=[layout.distribution] if layout.distribution else [],
        binding=[layout.binding] if layout.binding else [],
        seeds=[description["seed"]],
        repetitions=1 if probe else rule.repetitions,
        shuffle_seed=1,
        time_limit_s=TIME_LIMIT_S,
    )


def take(
    bundle: Bundle, rule: Rule, chosen: Chosen, work: Path, way: Way, say: Callable[[str], None]
) -> Taken:
    """All repetitions of a run. What was measured before is not measured again.

    Raises BadInput for what the rules or the mini-app refuse, and NotMeasured if a run failed.
    """
    [probe] = _sweep(bundle, rule, chosen, rule.model_ms[-1], work, way, probe=True)
    times = rule.model_ms[::-1]
    enough = RESERVE * rule.minimum_seconds
    at = next(
        (n for n, ms in enumerate(times) if 1e-3 * ms * probe.real_time_factor >= enough), len(times) - 1
    )
    while True:
        say(f"{rule.name}: model time {times[at]:g} ms of {', '.join(f'{ms:g}' for ms in rule.model_ms)}")
        runs = _sweep(bundle, rule, chosen, times[at], work, way)
        shortest = min(m.run.record.timing.simulate_s for m in runs)
        if shortest >= rule.minimum_seconds or at == len(times) - 1:
            return Taken(rule, chosen, times[at], runs)
        least = f"at least {rule.minimum_seconds:g} s are asked for"
        say(f"{rule.name}: a repetition took {shortest:.3g} s; {least}; the model time is doubled")
        at += 1


class NotMeasured(RuntimeError):
    """Runs failed or are missing; the message says which, and why."""


def _sweep(
    bundle: Bundle, rule: Rule, chosen: Chosen, ms: float, work: Path, way: Way, probe: bool = False
) -> list[Measured]:
    """The complete runs of one sweep, in the order in which they were made."""
    wanted = experiment(bundle, rule, chosen, ms, probe)
    runs = possible.sift(wanted, expand(wanted)).runs
    results = sweeps.folder(wanted, None, work)
    if all(results.measured(run.id) for run in runs) and _planned(results, {run.id for run in runs}):
        found = gather(results.path)
    else:
        outcome = sweeps.sweep(wanted, runs, results, _conclude, way)
        found = outcome.sweep
        why = [*(f"{label}: {reason}" for label, reason in outcome.failed.items()), *outcome.complaints]
        if why:
            raise NotMeasured(f"{rule.name}: {why[0]}")
    if found.left_out or len(found.runs) < len(runs):
        raise NotMeasured(f"{rule.name}: {(found.left_out or [found.progress])[0]}")
    return sorted(found.runs, key=lambda m: m.run.record.timing.simulate_started_s or 0.0)


def _planned(results: Results, ids: set[str]) -> bool:
    """True if the plan of a folder is that of these runs."""
    try:
        return {run.id for run in results.read_plan().runs} == ids
    except BadInput:
        return False


def _conclude(outcome: Outcome) -> None:
    """Reads the records; an answer has no report."""
    outcome.sweep = gather(outcome.results.path)
    outcome.headline = outcome.sweep.progress
