"""A comparison from end to end: measures what is missing, then compares the programs."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from spikemark.core.files import write_atomically, write_json
from spikemark.core.lock import locked
from spikemark.running.durations import guess_s, minutes
from spikemark.running.experiments import Experiment
from spikemark.running.quiet import Conditions, busy_s

from . import factors, runner
from .content import FILE, Content, Known
from .programs import PROGRAMS, REFERENCE, Program
from .store import FORMAT_VERSION, Store
from .table import table
from .trials import plan as make_plan


def compare(
    experiment: Experiment,
    folder: Path,
    programs: tuple[Program, ...] = PROGRAMS,
    conditions: Conditions | None = None,
    say: Callable[[str], None] = print,
    busy: Callable[[], float | None] = busy_s,
) -> Content:
    """Carries out the comparison in `folder`, going on with what is there; gives what peers.json then holds.

    Complaints name trials that failed and peers whose comparison is refused (factors.refusal). Raises
    BadInput for an experiment that is not one network on one rank, for a program that is not installed, and
    for a folder in which another command is working.
    """
    conditions = conditions or Conditions()
    plan = make_plan(experiment, programs)  # before anything is written: asks for every program
    store = Store(folder.resolve())
    with locked(store.path):
        write_json(
            store.path / "comparison.json",
            {
                "format_version": FORMAT_VERSION,
                "experiment": experiment.model_dump(mode="json"),
                "conditions": asdict(conditions),
                "programs": {program.name: program.identity for program in plan.programs},
                "trials": [vars(trial) for trial in plan.trials],
            },
        )
        missing = [trial for trial in plan.trials if store.result(trial, conditions) is None]
        line = f"{experiment.name}: {len(plan.trials)} runs, {len(missing)} to measure"
        expected = sum(guess_s(plan.description, 1, trial.threads) for trial in missing)
        say(f"{line}, about {minutes(expected)} (assumed)" if missing else line)
        failed = runner.measure(plan, store, conditions, say, busy)
        return _conclude(plan, store, conditions, failed)


def _conclude(plan, store, conditions, failed) -> Content:
    trials = table(plan, store, conditions)
    peers = [program.name for program in plan.programs if program.name != REFERENCE]
    threads = sorted(set(plan.experiment.threads))
    described = all("rate_hz" in p["neuron"] for p in plan.description["network"]["populations"])
    tolerance = factors.RATE_TOLERANCE if described else factors.EMERGING_RATE_TOLERANCE
    found = factors.factors(trials, peers, threads, tolerance)
    complaints = [f"failed: {trial.label}: {reason}" for trial, reason in failed.items()]
    for peer, count in dict.fromkeys((factor.peer, factor.threads) for factor in found):
        if reason := factors.refusal(trials, peer, count, tolerance):
            complaints.append(f"no comparison with {peer} on {count} threads: {reason}")
    content = Content(
        format_version=FORMAT_VERSION,
        experiment=plan.experiment.name,
        machine=store.path.name,
        shuffle_seed=plan.experiment.shuffle_seed,
        conditions=asdict(conditions),
        planned=len(plan.trials),
        measured=len(trials),
        disturbed=int(trials["disturbed"].sum()),
        programs=_programs(plan, store, conditions),
        medians=factors.medians(trials),
        factors=found,
        scaling=factors.scaling(trials),
        complaints=complaints,
    )
    write_atomically(store.path / "peers.parquet", trials.to_parquet(index=False))
    write_json(store.path / FILE, content.model_dump())
    return content


def _programs(plan, store, conditions) -> list[Known]:
    """What each program is and how it differs from the others, from its first result."""
    entries = []
    for program in plan.programs:
        results = (store.result(trial, conditions) for trial in plan.trials if trial.program == program.name)
        first = next((attempt.figures for attempt in results if attempt is not None), None)
        known = ("version", "model", "note", "mean_rate_hz", "synapses", "baseline_bytes")
        figures = {name: getattr(first, name, None) for name in known}
        entries.append(Known(name=program.name, title=program.title, **figures))
    return entries
