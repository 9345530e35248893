"""`spikemark tender run`: measures the runs of a bundle, resumably, here or in an allocation.

One repetition with the shortest model time, a probe, shows how fast the machine is. That decides
which of the model times that the tender offers is the shortest that lasts long enough. Each run is
an experiment of its own, with its repetitions as records below the folder of work, where
choices.json remembers how every run is made. So the same command goes on after an interruption.
"""

import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import spikemark
from spikemark.core import places, sha256
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch import LaunchLayout, launch, nodes_at_hand, slurm
from spikemark.launch.process import watch
from spikemark.quantities.words import counted
from spikemark.records.experiment_fields import Experiment
from spikemark.records.record import Run
from spikemark.running import sweeps

from . import environment, formats, source
from .formats import Bundle
from .schema import RunRule

#: The measured part is planned to take so many times the minimum, since repetitions differ.
DURATION_RESERVE = 1.2
TIME_LIMIT_S = 24 * 3600.0  #: of one repetition
READ_LIMIT_S = 120  #: for all nodes to describe themselves
#: Files of the folder of work: how each run is made, and a folder with a file for each node.
CHOICES, NODES = "choices.json", "nodes"

#: Takes a line that says how far the work has come.
ProgressCallback = Callable[[str], None]


class NotMeasured(RuntimeError):
    """Runs failed or are missing; the message names them."""


@dataclass(frozen=True)
class TenderRunOptions:
    """What the command line says of runs; None: as chosen before, or else the default."""

    ranks: int | None = None  #: MPI ranks of all nodes
    threads: int | None = None  #: of a rank
    ranks_per_node: int | None = None
    set: dict[str, Any] | None = None  #: fields of the description that the bidder changes

    @property
    def has_layout(self) -> bool:
        """Whether any part of the layout is given."""
        return any((self.ranks, self.threads, self.ranks_per_node))


@dataclass(frozen=True)
class RunSetup:
    """How one run is made."""

    layout: LaunchLayout
    set: dict[str, Any] = field(default_factory=dict)  #: fields that the bidder changes

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        layout = {name: value for name, value in vars(self.layout).items() if value is not None}
        return {"layout": layout, "set": self.set}

    @classmethod
    def of_content(cls, content: dict[str, Any]) -> Self:
        """The setup that `content` wrote."""
        return cls(LaunchLayout(**content["layout"]), content["set"])


def choose(
    bundle: Bundle,
    category: str,
    rule: RunRule,
    options: TenderRunOptions,
    before: RunSetup | None,
) -> RunSetup:
    """How a run is made: as the options say, else as before, else a rank for each area.

    Raises BadInput for fields that the category protects.
    """
    settings = options.set
    if settings is None:
        settings = before.set if before else {}
    if settings:
        bundle.check_set(category, settings)
    if before and not options.has_layout:
        return RunSetup(before.layout, settings)
    return RunSetup(_layout_of(bundle.description(rule), options), settings)


def _layout_of(description: dict[str, Any], options: TenderRunOptions) -> LaunchLayout:
    """The layout of a run: as given, else a rank for each area, and threads on all cores."""
    cores = max(nodes_at_hand().cores)
    populations = description["network"]["populations"]
    areas = {population.get("area", population["name"]) for population in populations}
    ranks = options.ranks or min(len(areas), cores)
    ranks_of_a_node = min(ranks, options.ranks_per_node or cores)
    threads = options.threads or max(1, cores // ranks_of_a_node)
    return LaunchLayout(ranks, threads, options.ranks_per_node)


def measure(
    bundle: Bundle,
    category: str,
    names: list[str] | None,
    options: TenderRunOptions,
    work: Path,
    say: ProgressCallback,
) -> list[str]:
    """Measures runs; returns the names of those that must be measured and are still missing.

    Args:
        bundle: what the buyer published.
        category: one of the tender.
        names: the runs; None for all that must be measured.
        options: layout and settings of these runs.
        work: folder in which choices and results are kept.
        say: takes lines that say how far the work has come.

    Raises BadInput for what the rules do not allow, for other sources than the bundle's, and for a
    program that was built anew since; NotMeasured where runs failed.
    """
    _refuse_other_sources(bundle)
    choices: dict[str, Any] = {
        "bundle_sha256": bundle.sha256,
        "category": category,
        "program_sha256": sha256.file_digest(places.program("miniapp")),
    }
    runs = _runs_before(work, choices)
    choices["runs"] = runs
    rules = bundle.rules(names)
    setups = {}
    for rule in rules:
        stored = runs.get(rule.name)
        before = RunSetup.of_content(stored) if stored else None
        setup = choose(bundle, category, rule, options, before)
        if setup != before:
            runs[rule.name] = setup.content()
        experiment_of(bundle, rule, setup, rule.model_ms[-1])  # refuses what cannot be run
        setups[rule.name] = setup
    write_json(work / CHOICES, choices)
    for rule in rules:
        model_ms, records = _take(bundle, rule, setups[rule.name], work, say)
        paths = [os.path.relpath(record.path, work) for record in records]
        runs[rule.name] |= {"model_ms": model_ms, "records": paths}
        write_json(work / CHOICES, choices)
        _read_nodes(work, records)
    return [rule.name for rule in bundle.rules(None) if "records" not in runs.get(rule.name, {})]


def _refuse_other_sources(bundle: Bundle) -> None:
    sources = bundle.path / formats.SOURCE
    if not sources.is_file():
        expected = "the bundle as it was published"
        raise BadInput(file=sources, reason=formats.MISSING, expected=expected, code="file")
    changed = source.differing(sources, places.checkout())
    if changed:
        files = counted(len(changed), "file")
        raise BadInput(
            field="source",
            reason=f"{files} differ from {formats.SOURCE}, first {changed[0]}",
            expected="the spikemark of the unpacked archive",
        )


def _runs_before(work: Path, choices: dict[str, Any]) -> dict[str, Any]:
    """How runs were made before, by name.

    Raises BadInput where they were of another bundle, category or program than `choices` names.
    """
    if not (work / CHOICES).is_file():
        return {}
    before = read_choices(work)
    for name, value in choices.items():
        if before[name] != value:
            raise BadInput(
                f"{name} differs from that of earlier runs; expected another --work",
                field=name,
                file=work,
            )
    return dict(before["runs"])


def read_choices(work: Path) -> dict[str, Any]:
    """What `measure` keeps in a folder of work. Raises BadInput where it is not there.

    Example:
        >>> read_choices(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/choices.json: not found; expected a folder ...
    """
    advice = "expected a folder that `spikemark tender run` wrote"
    content: dict[str, Any] = read_json(work / CHOICES, advice)
    return content


def experiment_of(
    bundle: Bundle,
    rule: RunRule,
    setup: RunSetup,
    model_ms: float,
    probe: bool = False,
) -> Experiment:
    """The sweep of one run: its repetitions, or, as a probe, one of them without energy."""
    settings = {"time.simulate_ms": model_ms, **setup.set}
    if probe:
        settings |= {"record.energy": False, "record.idle_pause_s": 0.0}
    layout = setup.layout
    return Experiment(
        name=f"{rule.name}-probe" if probe else rule.name,
        title=f"{rule.name} of the tender {bundle.tender.name}",
        description=bundle.file(rule),
        set=settings,
        grid=[{}],
        ranks=[layout.ranks],
        threads=[layout.threads],
        ranks_per_node=[layout.ranks_per_node] if layout.ranks_per_node else [],
        seeds=[bundle.description(rule)["seed"]],
        repetitions=1 if probe else rule.repetitions,
        shuffle_seed=1,
        time_limit_s=TIME_LIMIT_S,
    )


def _take(
    bundle: Bundle,
    rule: RunRule,
    setup: RunSetup,
    work: Path,
    say: ProgressCallback,
) -> tuple[float, list[Run]]:
    """Measures all repetitions of a run, with the shortest model time that lasts long enough.

    What was measured before is not measured again. Returns the model time in ms, and the runs in
    the order in which they were made.

    Raises BadInput for what the mini-app refuses, and NotMeasured where a run failed.
    """
    shortest_ms = rule.model_ms[-1]
    longest_ms = rule.model_ms[0]
    [probe] = sweep(experiment_of(bundle, rule, setup, shortest_ms, probe=True), work)
    wall_clock_s = DURATION_RESERVE * rule.minimum_seconds
    enough_ms = 1e3 * wall_clock_s / probe.record.timing.real_time_factor
    model_times = [ms for ms in reversed(rule.model_ms) if ms >= enough_ms] or [longest_ms]
    for model_ms in model_times:
        say(f"{rule.name}: model time {model_ms:g} ms")
        runs = sweep(experiment_of(bundle, rule, setup, model_ms), work)
        fastest_s = min(run.record.timing.simulate_s for run in runs)
        if fastest_s >= rule.minimum_seconds or model_ms == longest_ms:
            break
        too_short = f"a repetition took {fastest_s:.3g} s, less than {rule.minimum_seconds:g} s"
        say(f"{rule.name}: {too_short}")
    return model_ms, runs


def sweep(experiment: Experiment, work: Path) -> list[Run]:
    """All runs of an experiment, in the order in which they were made; progress on standard error.

    Raises NotMeasured where a run failed or is missing.
    """
    results = sweeps.folder(experiment, None, work)
    planned = sweeps.planned(experiment, results).runs
    outcome = sweeps.sweep(
        experiment,
        planned,
        results,
        lambda outcome: None,
        sys.stderr,
        length_is_given=True,
    )
    failures = [f"{label}: {reason}" for label, reason in outcome.failed.items()]
    failures += outcome.complaints
    if failures:
        raise NotMeasured(failures[0])
    frames = spikemark.load(results.path)
    missing = [run.label for run in planned if run.id not in frames.records]
    if missing:
        reasons = [*frames.left_out, *missing]
        raise NotMeasured(f"{experiment.name}: {reasons[0]}")
    records = [frames.records[run.id] for run in planned]
    return sorted(records, key=lambda run: run.record.timing.simulate_started_s or 0.0)


def node_names(runs: list[Run]) -> list[str]:
    """The names of all nodes of some runs, each once.

    Example:
        >>> import spikemark
        >>> run = spikemark.load_run("tests/golden/analysis/records/aware-4")
        >>> len(node_names([run, run]))
        1
    """
    names: dict[str, None] = {}
    for run in runs:
        host = run.record.host
        names |= dict.fromkeys(host.node_names or [host.name])
    return list(names)


def _read_nodes(work: Path, runs: list[Run]) -> None:
    """Has every node of the runs write its environment, as far as this process can reach it."""
    names = node_names(runs)
    folder = work / NODES
    if all(environment.file_of(folder, name).is_file() for name in names):
        return
    if len(names) == 1 and not slurm.inside():
        environment.write_node(folder)
        return
    reader = [sys.executable, "-m", "spikemark", "tender", "environment", "--out", str(folder)]
    one_rank_a_node = LaunchLayout(len(names), ranks_per_node=1)
    with contextlib.suppress(BadInput):
        nodes = nodes_at_hand().only(names)
        watch(launch(None, reader, one_rank_a_node, nodes), READ_LIMIT_S)
