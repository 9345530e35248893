"""`spikemark tender run`: measures the runs of a bundle, resumably, here or in an allocation.

One repetition with the shortest model time shows how fast the machine is. That decides which model time is
the shortest that lasts long enough.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from spikemark import launch
from spikemark.core import places, sha256
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch import slurm
from spikemark.launch.layout import Layout
from spikemark.launch.process import watch
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment
from spikemark.records.frames import load_folder
from spikemark.records.record import Run
from spikemark.running import possible, sweeps
from spikemark.running.experiments import expand

from . import environment, formats, source
from .formats import Bundle, Rule

RESERVE = 1.2  # the measured part is planned to take so many times the minimum, since repetitions differ
TIME_LIMIT_S, READ_LIMIT_S = 24 * 3600.0, 120
CHOICES, NODES = "choices.json", "nodes"


class NotMeasured(RuntimeError):
    """Runs failed or are missing; the message names them."""


class Given(NamedTuple):
    """Options of the command line; None: as chosen before, or else the default."""

    ranks: int | None = None
    threads: int | None = None
    ranks_per_node: int | None = None
    set: dict[str, Any] | None = None


class Chosen(NamedTuple):
    """How one run is made; `set`: fields of the description that the bidder changes."""

    layout: Layout
    set: dict[str, Any]

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {"layout": {k: v for k, v in vars(self.layout).items() if v is not None}, "set": self.set}


def choose(bundle: Bundle, category: str, rule: Rule, given: Given, before: Chosen | None) -> Chosen:
    """How a run is made: as given, else as before. Raises BadInput for fields that the category protects."""
    changed = given.set if given.set is not None else before.set if before else {}
    if changed:
        bundle.check_set(category, changed)
    kept = before and not (given.ranks or given.threads or given.ranks_per_node)
    return Chosen(before.layout if kept else layout_of(bundle.description(rule), given), changed)


def layout_of(description: dict[str, Any], given: Given) -> Layout:
    """The layout of a run: what is given, else a rank for each area, and threads on all cores."""
    cores = max(launch.nodes_at_hand().cores)
    areas = {p.get("area", p["name"]) for p in description["network"]["populations"]}
    ranks, each = given.ranks or min(len(areas), cores), given.ranks_per_node
    return Layout(ranks, given.threads or max(1, cores // min(ranks, each or cores)), each)


def measure(
    bundle: Bundle, category: str, names: list[str] | None, given: Given, work: Path,
    say: Callable[[str], None],
) -> list[str]:  # fmt: skip
    """Measures runs and returns the names of those that must be measured and are still missing.

    Choices and results are kept in `work`. Raises BadInput for what the rules do not allow, for other sources
    than the bundle's, and for a program that was built anew since; NotMeasured where runs failed.
    """
    if changed := source.differing(bundle.path / formats.SOURCE, places.checkout()):
        differ = f"{counted(len(changed), 'file')} differ from {formats.SOURCE}, first {changed[0]}"
        raise BadInput(f"source: {differ}; expected the spikemark of the unpacked archive")
    program, runs, chosen = sha256.of(places.program("miniapp")), {}, {}
    content = {"bundle_sha256": bundle.sha256, "category": category, "program_sha256": program}
    if (work / CHOICES).is_file():
        kept = read_choices(work)
        for field, value in content.items():
            if kept[field] != value:
                raise BadInput(f"{work}: {field} differs from that of earlier runs; expected another --work")
        runs |= kept["runs"]
    content |= {"runs": runs}
    for rule in bundle.rules(names):
        old = runs.get(rule.name)
        before = old and Chosen(Layout(**old["layout"]), old["set"])
        chosen[rule.name] = how = choose(bundle, category, rule, given, before)
        if before != how:
            runs[rule.name] = how.content()
        experiment(bundle, rule, how, rule.model_ms[-1])
    write_json(work / CHOICES, content)
    for rule in bundle.rules(names):
        model_ms, measured = take(bundle, rule, chosen[rule.name], work, say)
        paths = [os.path.relpath(run.path, work) for run in measured]
        runs[rule.name] |= {"model_ms": model_ms, "records": paths}
        write_json(work / CHOICES, content)
        _read_nodes(work, measured)
    return [rule.name for rule in bundle.rules(None) if "records" not in runs.get(rule.name, {})]


def read_choices(work: Path) -> dict[str, Any]:
    """What `measure` keeps. Raises BadInput where it is not there."""
    return read_json(work / CHOICES, "expected a folder that `spikemark tender run` wrote")


def experiment(
    bundle: Bundle, rule: Rule, chosen: Chosen, model_ms: float, probe: bool = False
) -> Experiment:
    """The sweep of one run: its repetitions, or one of them without energy as a probe."""
    layout, unread = chosen.layout, {"record.energy": False, "record.idle_pause_s": 0.0} if probe else {}
    return Experiment(
        name=f"{rule.name}-probe" if probe else rule.name,
        title=f"{rule.name} of the tender {bundle.tender.name}", description=bundle.file(rule),
        set={"time.simulate_ms": model_ms, **chosen.set, **unread}, grid=[{}],
        ranks=[layout.ranks], threads=[layout.threads],
        ranks_per_node=[layout.ranks_per_node] if layout.ranks_per_node else [],
        seeds=[bundle.description(rule)["seed"]], repetitions=1 if probe else rule.repetitions,
        shuffle_seed=1, time_limit_s=TIME_LIMIT_S,
    )  # fmt: skip


def take(
    bundle: Bundle, rule: Rule, chosen: Chosen, work: Path, say: Callable[[str], None]
) -> tuple[float, list[Run]]:
    """Model time in ms and all repetitions of a run, in the order in which they were made.

    What was measured before is not measured again. Raises BadInput for what the mini-app refuses, and
    NotMeasured where a run failed.
    """
    longest, shortest = rule.model_ms[0], rule.model_ms[-1]
    [probe] = sweep(experiment(bundle, rule, chosen, shortest, probe=True), work)
    enough_ms = 1e3 * RESERVE * rule.minimum_seconds / probe.record.timing.real_time_factor
    for ms in [ms for ms in rule.model_ms[::-1] if ms >= enough_ms] or [longest]:
        say(f"{rule.name}: model time {ms:g} ms")
        runs = sweep(experiment(bundle, rule, chosen, ms), work)
        took = min(run.record.timing.simulate_s for run in runs)
        if took >= rule.minimum_seconds or ms == longest:
            break
        say(f"{rule.name}: a repetition took {took:.3g} s, less than {rule.minimum_seconds:g} s")
    return ms, runs


def sweep(wanted: Experiment, work: Path) -> list[Run]:
    """The complete runs of one sweep, in the order in which they were made. Raises NotMeasured."""
    runs, results = possible.sift(wanted, expand(wanted)).runs, sweeps.folder(wanted, None, work)
    outcome = sweeps.sweep(wanted, runs, results, lambda outcome: None)
    if failed := [f"{label}: {reason}" for label, reason in outcome.failed.items()] + outcome.complaints:
        raise NotMeasured(failed[0])
    found = load_folder(results.path)
    if missing := [run for run in runs if run.id not in found.records]:
        raise NotMeasured(f"{wanted.name}: {(found.left_out or [missing[0].label])[0]}")
    made = [found.records[run.id] for run in runs]
    return sorted(made, key=lambda run: run.record.timing.simulate_started_s or 0.0)


def node_names(runs: list[Run]) -> list[str]:
    """The names of all nodes of some runs."""
    hosts = [run.record.host for run in runs]
    return list(dict.fromkeys(name for host in hosts for name in host.node_names or [host.name]))


def _read_nodes(work: Path, runs: list[Run]) -> None:
    """Has every node of the runs write its environment, as far as this process can reach it."""
    names, folder = node_names(runs), work / NODES
    if all(environment.file_of(folder, name).is_file() for name in names):
        return
    if len(names) == 1 and not slurm.inside():
        environment.write_node(folder)
        return
    reader = [sys.executable, "-m", "spikemark", "tender", "environment", "--out", str(folder)]
    with contextlib.suppress(BadInput):
        nodes = launch.nodes_at_hand().only(names)
        watch(launch.launch(None, reader, Layout(len(names), ranks_per_node=1), nodes), READ_LIMIT_S)
