"""`spikemark tender check`: does an answer follow the rules, and does it agree with itself?

An answer is read as far as it can be (Submission), with each repetition that has a record
(AnsweredRepetition). CHECKS are functions of the whole answer or of one repetition; each yields a
text for everything that is wrong, and its docstring says what it expects. An answer is VALID where
nothing is found, INCOMPLETE where only parts are missing, else INVALID.

Checking reads every file once for its hash, and the cycle times of every repetition.
"""

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

import spikemark
from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.core.fields import same
from spikemark.launch.sampler import MAX_NODE_W
from spikemark.machines import Profile, filled, load
from spikemark.measuring.energy import power_traces
from spikemark.network import lanes
from spikemark.network.description import read_description
from spikemark.prediction import draws
from spikemark.quantities.words import counted, percent
from spikemark.records.record import Run

from . import formats, nest, schema
from .answer import of_repetitions, predicted, program, project
from .formats import ANSWER, ENVIRONMENT, FIGURES, JOULES, MANIFEST, POWER, RTF, Bundle
from .schema import (
    MeasuredRun,
    NestRun,
    ProjectedFigure,
    Repetition,
    RunRule,
    TenderAnswer,
    UsedLayout,
)

VALID, INVALID, INCOMPLETE = "VALID", "INVALID", "INCOMPLETE"

# How far numbers may differ, as shares.
ROUNDING = 1e-6  #: numbers that were written in decimals
PHASE_SUM = 0.001  #: the sum of the phases of a rank, and its time
CLOCK = 0.01  #: a duration by two clocks
ENERGY = 0.05  #: energy that is stated, and the sum of the readings
POWER_MARGIN = 0.05  #: power beyond the limits of the nodes
PREDICTED = 0.1  #: a measured figure beyond the interval that a profile predicts
PROJECTED_AGAIN = 0.02  #: a projection, computed anew

CLOCK_SLACK_S = 0.02  #: durations by two clocks may also differ by so much
MAX_GAP = 0.3  #: between readings of power, as a share of the measured part
NODE_W = (0.5, MAX_NODE_W)  #: W of a node where the bidder states no limits
#: Fields of `inject` in a run description that change how long a run takes.
DELAYS = ("mean_us", "sd_us", "correlation", "rank_sd_us", "per_neuron_ns", "per_synapse_ns")
COUNTS = ("neurons", "synapses", "spikes", "synaptic_events")
MAX_SPREAD = 0.1  #: of the times of repetitions, from where a remark is made
FAR = 10.0  #: factor between two figures of one run, from where a remark is made
#: Vendors of processors by words of their names, as profiles and /proc/cpuinfo write them. Those
#: with cores of Arm are one: a node names the cores, a profile often the processor.
VENDORS = {
    "amd": "AMD",
    "epyc": "AMD",
    "ryzen": "AMD",
    "opteron": "AMD",
    "intel": "Intel",
    "xeon": "Intel",
    "westmere": "Intel",
    "nvidia": "Arm",
    "grace": "Arm",
    "ampere": "Arm",
    "altra": "Arm",
    "cortex": "Arm",
    "neoverse": "Arm",
}
RECORD_FILES = ("record.json", "ranks.csv", "cycles.npy")  #: that a repetition must have

#: Start and end of a run, in s since the Unix epoch.
Span = tuple[float, float]
Content = TypeVar("Content")


class AnswerFinding(NamedTuple):
    """Something that is wrong with an answer."""

    check: str  #: name of the check, see CHECKS
    text: str  #: what is wrong, and where


@dataclass(frozen=True)
class Report:
    """What all checks found, in the order of CHECKS."""

    findings: list[AnswerFinding]
    remarks: tuple[str, ...] = ()  #: what makes an answer doubtful, but not invalid

    @property
    def verdict(self) -> str:
        """VALID, INCOMPLETE where only parts are missing, else INVALID."""
        if not self.findings:
            return VALID
        only_missing = all(finding.check == "complete" for finding in self.findings)
        return INCOMPLETE if only_missing else INVALID

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        findings = [finding._asdict() for finding in self.findings]
        return {"verdict": self.verdict, "findings": findings, "remarks": list(self.remarks)}


@dataclass(frozen=True)
class AnsweredRepetition:
    """A repetition whose record could be read, and what the tender and the answer say of it."""

    submission: "Submission"
    answer: TenderAnswer
    run: Run
    rule: RunRule  #: what the tender asks for
    answered: MeasuredRun  #: what the answer says of all repetitions of the run
    stated: Repetition  #: what it says of this one

    @property
    def place(self) -> str:
        """Folder of the record, as the answer names it."""
        return self.stated.folder

    @property
    def readings(self) -> Path | None:
        """The file with the readings of power; None where it is not there."""
        if not self.stated.readings:
            return None
        path = self.submission.folder / self.stated.readings
        return path if path.is_file() else None

    @property
    def metered(self) -> "MeteredEnergy | None":
        """The stated energy; None where no readings at known times show it."""
        per_event = self.stated.joules_per_synaptic_event
        path = self.readings
        measured_part = _span(self.run)
        if not per_event or path is None or measured_part is None:
            return None
        events = self.run.record.totals.synaptic_events
        return MeteredEnergy(per_event * events, path, measured_part)


class MeteredEnergy(NamedTuple):
    """Energy of a repetition that is stated, and the readings that must show it."""

    joules: float
    readings: Path
    measured_part: Span

    @property
    def watts(self) -> float:
        """Mean power of all nodes."""
        start, end = self.measured_part
        return self.joules / abs(end - start) if end != start else math.inf


class Submission:
    """An answer as far as it can be read.

    Attributes:
        answer: content of answer.json; None where it cannot be read.
        nodes: what the nodes say of themselves.
        repetitions: those of runs of the tender, with a record that can be read.
        differences: how files differ from the manifest, by path.
        missing: files that are not there.
        unreadable: findings on files that cannot be read.
    """

    def __init__(self, folder: Path, bundle: Bundle):
        self.folder = folder
        self.bundle = bundle
        self.tender = bundle.tender
        self.missing: list[str] = []
        self.unreadable: list[str] = []
        self.differences = self._read(MANIFEST, lambda: formats.compare_manifest(folder)) or {}
        self.answer = self._read(ANSWER, lambda: formats.read_answer(folder))
        self.nodes = self._nodes()
        self.repetitions = list(self._repetitions())

    @property
    def known_answer(self) -> TenderAnswer:
        """answer.json, for checks that are only made where it can be read."""
        assert self.answer is not None
        return self.answer

    @property
    def answered_runs(self) -> Sequence[MeasuredRun]:
        """Runs of answer.json; none where it cannot be read."""
        return self.answer.runs if self.answer else ()

    def of_run(self, run: MeasuredRun) -> list[AnsweredRepetition]:
        """The repetitions of a run that could be read."""
        return [repetition for repetition in self.repetitions if repetition.answered is run]

    def _nodes(self) -> list[dict[str, Any]]:
        path = self.folder / ENVIRONMENT
        content = self._read(ENVIRONMENT, lambda: formats.read(schema.Environment, path, "answer"))
        return content.nodes if content else []

    def _repetitions(self) -> Iterator[AnsweredRepetition]:
        if self.answer is None:
            return
        for answered in self.answer.runs:
            rule = self.tender.run(answered.name)
            if rule is None:
                continue
            for stated in answered.repetitions:
                run = self._read_run(stated.folder)
                if run is not None:
                    yield AnsweredRepetition(self, self.answer, run, rule, answered, stated)

    def _read_run(self, place: str) -> Run | None:
        """The record in a folder of the answer; None where it cannot be read."""
        for name in RECORD_FILES:
            if not (self.folder / place / name).is_file():
                self.missing.append(f"{place}/{name}")
                return None
        return self._read_present(place, lambda: _load(self.folder / place))

    def _read(self, name: str, reader: Callable[[], Content]) -> Content | None:
        """What a reader makes of a file; None where it is missing or cannot be read."""
        if not (self.folder / name).is_file():
            self.missing.append(name)
            return None
        return self._read_present(name, reader)

    def _read_present(self, place: str, reader: Callable[[], Content]) -> Content | None:
        try:
            return reader()
        except (BadInput, OSError) as error:
            self.unreadable.append(f"{place}: {error}")
            return None


def _load(folder: Path) -> Run:
    run = spikemark.load_run(folder)
    if run.record.kind != "measured" or run.cycles is None:
        expected = "a measured run with cycles"
        raise BadInput(f"kind={run.record.kind}; expected {expected}", field="kind", code="value")
    run.ranks  # noqa: B018 - reads and checks it
    return run


def _span(run: Run) -> Span | None:
    """When a run was measured, in s since the Unix epoch; None where that is not recorded."""
    timing = run.record.timing
    if timing.simulate_started_s is None or timing.simulate_ended_s is None:
        return None
    return timing.simulate_started_s, timing.simulate_ended_s


def _close(
    name: str,
    value: float,
    expected: float,
    share: float,
    slack: float = 0.0,
) -> Iterator[str]:
    """A text unless both are equal within a share of the expected value, or within `slack`."""
    if not abs(value - expected) <= max(share * abs(expected), slack):
        yield f"{name}={value:.6g}; expected {expected:.6g}"


# Checks: each yields a text for everything that is not as its docstring says.


def _manifest(submission: Submission) -> Iterator[str]:
    """Files are those of the manifest, none twice, and the answer is to this bundle."""
    for name, difference in sorted(submission.differences.items()):
        if difference != "missing":
            yield f"{name}: {difference}"
    hashes = Counter(map(sha256.file_digest, formats.cycle_times(submission.folder)))
    if any(count > 1 for count in hashes.values()):
        yield "runs: the times of one repetition are there twice"
    if submission.answer:
        stated = submission.answer.bundle_sha256
        yield from same("bundle_sha256", stated, submission.bundle.sha256)
        yield from same("quick", submission.answer.quick, submission.tender.quick)


def _complete(submission: Submission) -> Iterator[str]:
    """Every run, repetition and file is there, and long enough."""
    lost = [name for name, how in submission.differences.items() if how == "missing"]
    for name in dict.fromkeys([*submission.missing, *lost]):
        yield f"{name}: missing"
    if submission.answer:
        for rule in submission.tender.runs:
            yield from _complete_run(submission.answer, rule)
        if submission.tender.nest is not None and not submission.answer.nest:
            yield "nest: runs of NEST are not measured"
    for repetition in submission.repetitions:
        for text in _complete_repetition(repetition):
            yield f"{repetition.place}: {text}"


def _complete_run(answer: TenderAnswer, rule: RunRule) -> Iterator[str]:
    run = answer.run(rule.name)
    if run is None and rule.measured:
        yield f"runs: {rule.name} is not measured"
    elif answer.evidence(rule.name, RTF).figure is None:
        yield f"{rule.name}: {RTF} is neither measured nor projected"
    if run is None:
        return
    folders = [repetition.folder for repetition in run.repetitions]
    distinct = len(set(folders))
    if distinct < max(rule.repetitions, len(folders)):
        yield f"{rule.name}: {distinct} of {rule.repetitions} repetitions, each named once"


def _complete_repetition(repetition: AnsweredRepetition) -> Iterator[str]:
    rule = repetition.rule
    simulate_s = repetition.run.record.timing.simulate_s
    could_be_longer = repetition.answered.model_ms < max(rule.model_ms)
    if simulate_s < rule.minimum_seconds and could_be_longer:
        yield f"simulate_s={simulate_s:.4g}; expected at least {rule.minimum_seconds:g}"
    states_energy = repetition.stated.joules_per_synaptic_event is not None
    if not states_energy and repetition.submission.tender.power.required:
        yield f"{JOULES} is not measured"
    if states_energy and repetition.readings is None:
        yield "readings of power are missing"


def _form(submission: Submission) -> Iterator[str]:
    """Every file can be read, and every run is one of the tender, and there once."""
    yield from submission.unreadable
    counts = Counter(run.name for run in submission.answered_runs)
    for name in counts:
        if submission.tender.run(name) is None:
            yield f"runs: {name} is no run of the tender"
    for name, count in counts.items():
        if count > 1:
            yield f"runs: {name} appears twice"


def _description(repetition: AnsweredRepetition) -> Iterator[str]:
    """What was run is what the tender describes."""
    described = repetition.run.record
    answered = repetition.answered
    allowed = repetition.rule.model_ms
    if answered.model_ms not in allowed:
        yield f"model_ms={answered.model_ms:g}; expected one of {allowed}"
    settings = {"time.simulate_ms": answered.model_ms, **answered.set}
    asked = repetition.submission.bundle.description(repetition.rule, settings)
    expected = _compared_fields(asked, described.ranks)
    values = _compared_fields(described.description, described.ranks)
    values["lanes"] = [
        (lane.name, lane.period, lane.lag, lane.exchange) for lane in described.lanes
    ]
    for field, value in expected.items():
        yield from same(f"description.{field}", values[field], value)


def _compared_fields(content: dict[str, Any], ranks: int) -> dict[str, Any]:
    """What a run description says of a run on so many ranks, by field, with all defaults."""
    described = read_description(content)
    schedule, placement = lanes.schedule_and_placement(described, None, None)
    fields = {f"network.{name}": value for name, value in described.network.model_dump().items()}
    fields["time"] = described.time.model_dump()
    fields["seed"] = content.get("seed", 1)
    fields["placement"] = placement
    injected = content.get("inject") or {}
    fields["inject"] = {name: injected[name] for name in DELAYS if injected.get(name)}
    fields["wire"] = described.wire
    recorded = content.get("record") or {}
    for name in ("cycles", "barrier"):
        fields[f"record.{name}"] = recorded.get(name, True)
    fields["lanes"] = [
        (lane.name, lane.period, lane.lag, "self" if lane.alone else lane.exchange)
        for lane in lanes.plan_lanes(described, ranks, schedule, placement)
    ]
    return fields


def _only_allowed(repetition: AnsweredRepetition) -> Iterator[str]:
    """Only what the category allows was set."""
    category = repetition.answer.category
    try:
        repetition.submission.bundle.check_set(category, repetition.answered.set)
    except BadInput as error:
        yield str(error)


def _one_program(repetition: AnsweredRepetition) -> Iterator[str]:
    """One program was measured, with the version and flags of the tender."""
    answer = repetition.answer
    tender = repetition.submission.tender
    provenance = repetition.run.record.provenance
    for name, value in program(repetition.run).items():
        yield from same(f"provenance.{name}", value, getattr(answer.program, name))
    yield from same("provenance.version", provenance.version, tender.spikemark_version)
    category = tender.categories.get(answer.category)
    allowed = category.flags if category else ["*"]
    for flag in provenance.flags.split():
        if not any(fnmatchcase(flag, pattern) for pattern in allowed):
            yield f"provenance.flags: {flag} is not allowed in {answer.category}"


def _spikes(repetition: AnsweredRepetition) -> Iterator[str]:
    """Checksums and counts are those of the network, and the same in all repetitions."""
    run_record = repetition.run.record
    tolerance = repetition.rule.expected.tolerance
    for name, count in _expected_counts(repetition).items():
        share = 0.0 if name == "neurons" else tolerance
        yield from _close(f"totals.{name}", getattr(run_record.totals, name), count, share)
    first = repetition.submission.of_run(repetition.answered)[0].run.record
    for name in ("checksum", "spike_checksum"):
        yield from same(name, getattr(run_record, name), getattr(first, name))


def _expected_counts(repetition: AnsweredRepetition) -> dict[str, int]:
    """Counts that the rule gives for the model time of a repetition, in the order of the rule."""
    expected = repetition.rule.expected
    counts: dict[str, int | None] = {}
    for of_time in expected.times:
        if of_time.model_ms == repetition.answered.model_ms:
            counts = {"spikes": of_time.spikes, "synaptic_events": of_time.synaptic_events}
            break
    counts |= {"neurons": expected.neurons, "synapses": expected.synapses}
    return {name: count for name, count in counts.items() if count is not None}


def sums(run: Run) -> Iterator[str]:
    """Ranks, lanes and totals add up.

    Example:
        >>> import spikemark
        >>> list(sums(spikemark.load_run("tests/golden/analysis/records/aware-4")))
        []
    """
    totals = run.record.totals
    path = run.path / "ranks.csv"
    ranks = pd.read_csv(path, dtype=str)
    summed = (*COUNTS, "messages", "bytes_sent")
    for name in (*summed, "checksum"):
        if name not in ranks:
            raise BadInput(field=name, file=path, reason="no such column", code="missing")
    for name in summed:
        yield from same(f"totals.{name}", getattr(totals, name), sum(map(int, ranks[name])))
    checksum = sum(int(text, 16) for text in ranks["checksum"]) % 2**64
    yield from same("checksum", run.record.checksum, f"{checksum:016x}")
    for name in ("synapses", "messages", "bytes_sent"):
        of_lanes = sum(getattr(lane, name) for lane in run.record.lanes)
        yield from same(f"lanes.{name}", of_lanes, getattr(totals, name))


def times(run: Run) -> Iterator[str]:
    """Phases add up to the time of each rank, the slowest rank to the wall clock.

    Another clock says the same.

    Example:
        >>> import spikemark
        >>> list(times(spikemark.load_run("tests/golden/analysis/records/aware-4")))
        []
    """
    timing = run.record.timing
    time = read_description(run.record.description).time
    assert run.cycles is not None  # see _load
    phases_s = run.cycles.sum(axis=(1, 2), dtype=float)  # (ranks,)
    ranks_s = run.ranks["simulate_s"].to_numpy(dtype=float)  # (ranks,)
    differing = np.flatnonzero(np.abs(phases_s - ranks_s) > PHASE_SUM * timing.simulate_s)
    for rank in differing[:1]:
        yield (
            f"phases of rank {rank} add up to {phases_s[rank]:.6g} s; expected {ranks_s[rank]:.6g}"
        )
    expected = {
        "simulate_s": ranks_s.max(),
        "model_s": 1e-3 * time.simulate_ms,
        "cycles": time.simulate_ms / time.cycle_ms,
        RTF: timing.simulate_s / timing.model_s,
    }
    for name, value in expected.items():
        yield from _close(f"timing.{name}", getattr(timing, name), value, ROUNDING)
    measured_part = _span(run)
    if measured_part is None:
        yield "timing.simulate_started_s is null"
        return
    start, end = measured_part
    slack_s = CLOCK_SLACK_S + abs(timing.clock_step_s or 0.0)
    yield from _close("system clock", end - start, timing.simulate_s, CLOCK, slack_s)


def _statistic(submission: Submission) -> Iterator[str]:
    """Figures are those of all records; projections have an interval, and offered nodes."""
    for repetition in submission.repetitions:
        factor = repetition.run.record.timing.real_time_factor
        stated = repetition.stated.real_time_factor
        yield from _close(f"{repetition.place}: {RTF}", stated, factor, ROUNDING)
    for run, name in itertools.product(submission.answered_runs, FIGURES):
        expected = of_repetitions([getattr(repetition, name) for repetition in run.repetitions])
        figure = run.figures.get(name)
        stated_range = figure.model_dump() if figure else None
        yield from same(f"{run.name}: {name}", stated_range, expected)
    answer = submission.known_answer
    for projection in answer.projected:
        low, value, high = projection.low, projection.value, projection.high
        is_stated = projection.figure == POWER and projection.layout is not None  # see _profile
        lacks_interval = low == high and not is_stated
        if not low <= value <= high or lacks_interval or projection.nodes > answer.offer.nodes:
            interval = f"{low:g} to {high:g} on {projection.nodes} nodes"
            figure_of_run = f"{projection.run}.{projection.figure}"
            yield f"projected {figure_of_run}: {value:g} ({interval}) cannot be meant"


def _profile(submission: Submission) -> Iterator[str]:
    """The profile in the answer predicts the measured runs, and its projections are as it says."""
    answer = submission.known_answer
    by_profile = [projection for projection in answer.projected if projection.layout]
    if answer.profile is None:
        if by_profile:
            yield "profile: null; expected the file by which the target was projected"
        return
    if not submission.tender.quick:
        yield from _refuted(submission)
    machine = filled(load(submission.folder / answer.profile))
    rule = submission.tender.target_rule
    for projection in by_profile:
        assert projection.layout is not None
        again = project(
            submission.bundle,
            rule,
            machine,
            _placed(projection.layout),
            projection.set,
            answer.category,
        )
        ends = {figures["figure"]: figures for figures in again}.get(projection.figure, {})
        for name in ("value", "low", "high"):
            value = getattr(projection, name)
            label = f"projected {projection.run}.{projection.figure}: {name}"
            yield from _close(label, value, ends.get(name, math.nan), PROJECTED_AGAIN)


def _refuted(submission: Submission) -> Iterator[str]:
    """Measured runs that are not what the profile of the projection predicts.

    In a trial they are remarks: the profile may be that of any machine.
    """
    answer = submission.known_answer
    if answer.profile is None:
        return
    machine = filled(load(submission.folder / answer.profile))
    for run in answer.runs:
        rule = submission.tender.run(run.name)
        figure = run.figures.get(RTF)
        if rule is not None and figure is not None:
            yield from _as_predicted(submission, rule, run, figure.value, machine)
    for nest_run in answer.nest:
        yield from _nest_as_predicted(submission, nest_run, machine)


def _nest_as_predicted(submission: Submission, run: NestRun, machine: Profile) -> Iterator[str]:
    """A text where runs of NEST are not what the profile in the answer predicts."""
    rule = submission.tender.nest
    if rule is None:
        return
    try:
        low, high = nest.predicted(submission.bundle, rule, run, machine)
    except BadInput:
        return  # see _not_predicted
    measured = run.real_time_factor.value
    if not (1 - PREDICTED) * low <= measured <= (1 + PREDICTED) * high:
        interval = f"{low:.3g} to {high:.3g}"
        yield (
            f"nest on {run.layout.nodes} nodes: {RTF}={measured:.3g}; by the profile of the"
            f" projection {interval}"
        )


def _not_predicted(submission: Submission) -> Iterator[str]:
    """Runs of NEST that are held against no prediction of the profile, with the reason."""
    rule, answer = submission.tender.nest, submission.known_answer
    if rule is None or answer.profile is None:
        return
    machine = filled(load(submission.folder / answer.profile))
    for run in answer.nest:
        try:
            nest.predicted(submission.bundle, rule, run, machine)
        except BadInput as error:
            where = f"nest on {run.layout.nodes} nodes"
            yield f"{where}: not held against the profile of the projection: {error}"


def _as_predicted(
    submission: Submission,
    rule: RunRule,
    run: MeasuredRun,
    measured: float,
    machine: Profile,
) -> Iterator[str]:
    """A text where a measured run is not what the profile in the answer predicts."""
    placed = _placed(run.layout)
    option, _ = predicted(submission.bundle, rule, machine, placed, dict(run.set))
    _, low, high = draws.interval(option.rtf)
    if not (1 - PREDICTED) * low <= measured <= (1 + PREDICTED) * high:
        interval = f"{low:.3g} to {high:.3g}"
        yield f"{run.name}: {RTF}={measured:.3g}; by the profile of the projection {interval}"


def _placed(layout: UsedLayout) -> tuple[int, int, int | None]:
    """Ranks, threads and ranks per node, as many on each node."""
    return layout.ranks, layout.threads, -(-layout.ranks // layout.nodes)


def _nest_runs(submission: Submission) -> Iterator[str]:
    """Runs of NEST are of the network and version of the rules, and agree with each other."""
    rule, answer = submission.tender.nest, submission.known_answer
    folder = submission.folder / nest.FOLDER
    if rule is None:
        if answer.nest or folder.exists():
            yield "nest: the rules ask for no runs of NEST"
        return
    if all((folder / name).is_file() for name in nest.FILES):
        nodes = answer.offer.nodes
        yield from nest.findings(folder, submission.bundle, rule, answer.nest, nodes)
    elif answer.nest:
        yield "nest: figures without the runs"


def _energy(repetition: AnsweredRepetition) -> Iterator[str]:
    """Stated energy is what the readings add up to."""
    metered = repetition.metered
    if metered:
        joules = _integral(metered.readings, metered.measured_part)
        yield from _close("energy (J)", metered.joules, joules, ENERGY)


def _integral(path: Path, measured_part: Span) -> float:
    """J between two times over all channels of a file of readings.

    Raises BadInput where the readings are no such table, do not cover the time, or have wide gaps.
    """
    start, end = measured_part
    traces = power_traces(path)
    for (_, channel), trace in traces.items():
        if not trace.covers(start, end):
            expected = "readings that cover the measured part"
            raise BadInput(f"{channel}: time_s: expected {expected}", field="time_s")
        inside = (trace.time_s[1:] > start) & (trace.time_s[:-1] < end)
        longest_gap_s = np.diff(trace.time_s)[inside].max()
        if longest_gap_s > MAX_GAP * (end - start):
            expected = f"no gap above {percent(MAX_GAP)} of the measured part"
            raise BadInput(f"{channel}: time_s: expected {expected}", field="time_s")
    return sum(trace.energy_j(start, end) for trace in traces.values())


def _power(submission: Submission) -> Iterator[str]:
    """Measured and projected power lie within what the nodes of the run take."""
    offer = submission.known_answer.offer
    low_w = NODE_W[0] if offer.node_idle_w is None else offer.node_idle_w
    high_w = offer.node_limit_w or NODE_W[1]
    for place, watts, nodes in _stated_powers(submission):
        low, high = nodes * low_w, nodes * high_w
        if not (1 - POWER_MARGIN) * low <= watts <= (1 + POWER_MARGIN) * high:
            yield f"{place}: {watts:.4g} W on {nodes} nodes; expected {low:.4g} to {high:.4g}"


def _stated_powers(submission: Submission) -> Iterator[tuple[str, float, int]]:
    """Where a power is stated, W of all nodes of the run, and their number."""
    for repetition in submission.repetitions:
        metered = repetition.metered
        if metered:
            yield repetition.place, metered.watts, repetition.run.record.host.nodes
    for projection in submission.known_answer.projected:
        if projection.figure == POWER:
            yield ANSWER, projection.value, projection.nodes


def nodes(repetition: AnsweredRepetition) -> Iterator[str]:
    """Layout, nodes and their description agree."""
    run_record = repetition.run.record
    host = run_record.host
    layout = {"ranks": run_record.ranks, "threads": run_record.threads, "nodes": host.nodes}
    yield from same("layout", layout, repetition.answered.layout.model_dump())
    yield from same("host.nodes", host.nodes, repetition.rule.nodes or host.nodes)
    ranks = repetition.run.ranks
    if "node" in ranks:
        yield from same("nodes in ranks.csv", ranks["node"].nunique(), host.nodes)
    processors = {
        str(node.get("host")).split(".")[0]: node.get("processor")
        for node in repetition.submission.nodes
    }
    for node in host.per_node or []:
        name = node.name.split(".")[0]
        if name not in processors:
            yield f"{node.name} is not described in {ENVIRONMENT}"
            continue
        processor = processors[name]
        if isinstance(processor, str) and node.cpu:
            yield from same(f"{node.name}: cpu", node.cpu.strip(), processor.strip())


def _sums_of_repetition(repetition: AnsweredRepetition) -> Iterator[str]:
    """`sums` of the run of a repetition."""
    return sums(repetition.run)


def _times_of_repetition(repetition: AnsweredRepetition) -> Iterator[str]:
    """`times` of the run of a repetition."""
    return times(repetition.run)


@dataclass(frozen=True)
class AnswerCheck:
    """A check of the whole answer."""

    function: Callable[[Submission], Iterable[str]]
    needs_answer: bool = True  #: whether it reads answer.json


@dataclass(frozen=True)
class RepetitionCheck:
    """A check of each repetition, all of which are known from answer.json."""

    function: Callable[[AnsweredRepetition], Iterable[str]]


#: By name, in order.
CHECKS: dict[str, AnswerCheck | RepetitionCheck] = {
    "manifest": AnswerCheck(_manifest, needs_answer=False),
    "complete": AnswerCheck(_complete, needs_answer=False),
    "form": AnswerCheck(_form, needs_answer=False),
    "description": RepetitionCheck(_description),
    "set": RepetitionCheck(_only_allowed),
    "program": RepetitionCheck(_one_program),
    "spikes": RepetitionCheck(_spikes),
    "sums": RepetitionCheck(_sums_of_repetition),
    "times": RepetitionCheck(_times_of_repetition),
    "statistic": AnswerCheck(_statistic),
    "profile": AnswerCheck(_profile),
    "nest": AnswerCheck(_nest_runs),
    "energy": RepetitionCheck(_energy),
    "power": AnswerCheck(_power),
    "nodes": RepetitionCheck(nodes),
}


# Remarks: each yields a text for what makes an answer doubtful, but not invalid.


def _far(submission: Submission) -> Iterator[str]:
    """Promises and projections of their own that are far from what else the answer says."""
    answer = submission.known_answer
    by_profile = {
        (projection.run, projection.figure): projection.value
        for projection in answer.projected
        if projection.layout
    }
    for promise in answer.committed:
        evidence = answer.evidence(promise.run, promise.figure)
        whose: str = evidence.basis
        known = None if evidence.figure is None else evidence.figure.value
        if (promise.run, promise.figure) in by_profile:
            whose = "projected by the profile"
            known = by_profile[promise.run, promise.figure]
        if known is not None and not known / FAR < promise.value < FAR * known:
            name = f"{promise.run}.{promise.figure}"
            yield f"{name}={promise.value:.3g} is promised; {known:.3g} is {whose}"
    for projection in answer.projected:
        if projection.layout is not None:
            continue
        name = f"{projection.run}.{projection.figure}"
        known = by_profile.get((projection.run, projection.figure))
        if known is None:
            yield from _faster_than_measured(submission, projection)
        elif not known / FAR < projection.value < FAR * known:
            yield (
                f"{name}={projection.value:.3g} is projected by {projection.method!r};"
                f" {known:.3g} by the profile"
            )


def _faster_than_measured(submission: Submission, projection: ProjectedFigure) -> Iterator[str]:
    """A text where each node would do far more in a second than the nodes of measured runs did."""
    rule = submission.tender.run(projection.run)
    if rule is None or projection.figure != RTF:
        return
    speeds = []  # synaptic events per second of a node
    for run in submission.answered_runs:
        measured, figure = submission.tender.run(run.name), run.figures.get(RTF)
        if measured is not None and figure is not None:
            events_per_s = measured.expected.events_per_s / figure.value
            speeds.append(events_per_s / run.layout.nodes)
    projected = rule.expected.events_per_s / projection.value / projection.nodes
    if speeds and projected > FAR * max(speeds):
        yield (
            f"{projection.run}.{projection.figure}={projection.value:.3g} is projected by"
            f" {projection.method!r}: {projected:.3g} synaptic events per second of a node; the"
            f" fastest measured run had {max(speeds):.3g}"
        )


def _other_vendor(submission: Submission) -> Iterator[str]:
    """The processor of the profile, where the nodes have one of another vendor."""
    profile = submission.known_answer.profile
    if profile is None:
        return
    named = load(submission.folder / profile).processor
    processors = Counter(str(node.get("processor")) for node in submission.nodes)
    for processor in processors:
        vendors = (_vendor(named or ""), _vendor(processor))
        if None not in vendors and vendors[0] != vendors[1]:
            count = counted(processors[processor], "node")
            yield f"{profile}: processor={named}; {ENVIRONMENT} has {processor!r} on {count}"


def _vendor(processor: str) -> str | None:
    """The vendor of a processor, by its name; None where it is unknown."""
    words = re.findall("[a-z]+", processor.lower())
    return next((VENDORS[word] for word in words if word in VENDORS), None)


def _idle_nest(submission: Submission) -> Iterator[str]:
    """Runs of NEST whose processors were hardly busy, as with times in another unit."""
    if submission.known_answer.nest:
        yield from nest.doubts(submission.folder / nest.FOLDER)


def _disturbed(submission: Submission) -> Iterator[str]:
    """Runs that other programs disturbed, and repetitions that differ much."""
    for answered in submission.answered_runs:
        repetitions = submission.of_run(answered)
        for text in doubts([repetition.run for repetition in repetitions]):
            yield f"{answered.name}: {text}"


def doubts(runs: Sequence[Run]) -> list[str]:
    """What makes the times of repetitions of one run doubtful, though not invalid.

    That other programs, a quota or the hypervisor took processors away, or that the longest took
    more than MAX_SPREAD longer than the shortest.

    Example:
        >>> import spikemark
        >>> run = spikemark.load_run("tests/golden/analysis/records/aware-4")
        >>> doubts([run])[0].split(":")[0]  # of one repetition
        'repetition 1'
    """
    texts = []
    for number_of_run, run in enumerate(runs, 1):
        disturbance = run.disturbed(shared=False)
        if disturbance:
            texts.append(f"repetition {number_of_run}: {disturbance}")
    factors = [run.record.timing.real_time_factor for run in runs]
    if factors and max(factors) > (1 + MAX_SPREAD) * min(factors):
        texts.append(
            f"{RTF} of the repetitions is from {min(factors):.4g} to {max(factors):.4g}: the"
            f" longest took {percent(max(factors) / min(factors) - 1)} longer than the shortest"
        )
    return texts


#: By name, in order; those that are rare come first.
REMARKS: dict[str, Callable[[Submission], Iterable[str]]] = {
    "far": _far,
    "vendor": _other_vendor,
    "idle": _idle_nest,
    "disturbed": _disturbed,
    "not predicted": _not_predicted,
}


def check(folder: Path, bundle: Bundle) -> tuple[Report, TenderAnswer | None]:
    """All checks of an answer; also the answer, None where answer.json cannot be read.

    Raises BadInput for what is no folder.
    """
    if not folder.is_dir():
        raise BadInput(field="answer", value=str(folder), expected="a folder")
    submission = Submission(folder, bundle)
    findings: dict[AnswerFinding, None] = {}  # each once
    for name, checked in CHECKS.items():
        if isinstance(checked, RepetitionCheck):
            for repetition in submission.repetitions:
                for text in _texts(checked.function, repetition):
                    findings[AnswerFinding(name, f"{repetition.place}: {text}")] = None
        elif submission.answer or not checked.needs_answer:
            for text in _texts(checked.function, submission):
                findings[AnswerFinding(name, text)] = None
    remarks: list[str] = []
    if submission.answer:
        for remarked in REMARKS.values():
            remarks += _texts(remarked, submission)
    if submission.answer and submission.tender.quick:
        remarks += _texts(_refuted, submission)
    return Report(list(findings), tuple(remarks)), submission.answer


def _texts(function: Callable[[Any], Iterable[str]], subject: object) -> list[str]:
    """What a check finds; or only what it could not read."""
    try:
        return list(function(subject))
    except (BadInput, OSError) as error:
        return [str(error)]
