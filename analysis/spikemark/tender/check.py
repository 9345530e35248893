"""`spikemark tender check`: does an answer follow the rules, and does it agree with itself?"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.measuring.energy import readings
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.records import record
from spikemark.records.record import Run

from . import formats
from .answer import described, of_repetitions, program
from .formats import (
    ANSWER,
    ENVIRONMENT,
    FIGURES,
    JOULES,
    MANIFEST,
    POWER,
    RTF,
    Answer,
    Answered,
    Bundle,
    Rule,
)

VALID, INVALID, INCOMPLETE = "VALID", "INVALID", "INCOMPLETE"
#: What is checked, in order. Only a finding of `complete` leaves an answer INCOMPLETE instead of INVALID.
CHECKS = {
    "manifest": "files are those of the manifest, and the answer is to this bundle",
    "complete": "every run, repetition and file is there, and long enough",
    "form": "every file has its form",
    "description": "what was run is what the tender describes",
    "set": "only what the category allows was set",
    "program": "one program was measured, with the version and flags of the tender",
    "spikes": "checksums and counts are those of the network",
    "sums": "phases, ranks and totals add up",
    "times": "phases, wall clock and system clock agree",
    "statistic": "the stated figures are those of the records",
    "energy": "stated energy is what the readings add up to",
    "power": "power lies within what the nodes take",
    "nodes": "layout, nodes and their description agree",
    "promise": "projections and promises agree with their evidence",
}
ROUNDING, CLOCK_SLACK_S = 1e-6, 0.02
WIDEST_GAP = 0.3  # between readings of power, as a share of the measured part
NODE_W = (0.5, 50_000.0)  # W of a node where the bidder states no limits
DELAYS = ("mean_us", "sd_us", "correlation", "rank_sd_us", "per_neuron_ns", "per_synapse_ns")
COUNTS = ("neurons", "synapses", "spikes", "synaptic_events")
FILES = ("record.json", "ranks.csv", "cycles.npy")  # of a repetition


@dataclass(frozen=True)
class Report:
    """Findings as (check, place, text), of all places together; `place`: the one that is checked now."""

    findings: list[tuple[str, str, str]] = field(default_factory=list)
    place: str = ""

    def at(self, place: str) -> "Report":
        """The same findings, for another place."""
        return Report(self.findings, place)

    def say(self, check: str, text: str) -> None:
        """Adds a finding."""
        self.findings.append((check, self.place, text))

    def expect(self, check: str, name: str, found: Any, wanted: Any) -> None:
        """Adds a finding unless both are equal."""
        if found != wanted:
            self.say(check, f"{name}={_short(found)}; expected {_short(wanted)}")

    def close(
        self, check: str, name: str, found: float, wanted: float, share: float, slack: float = 0.0
    ) -> None:
        """Adds a finding unless both are equal within a share of the second, or within `slack`."""
        if not abs(found - wanted) <= max(share * abs(wanted), slack):
            self.say(check, f"{name}={found:.6g}; expected {wanted:.6g}")

    @contextlib.contextmanager
    def reported(self, check: str) -> Iterator[None]:
        """Makes a finding of what the block cannot read."""
        try:
            yield
        except (BadInput, OSError) as error:
            self.say(check, str(error) if isinstance(error, BadInput) else _short(error))

    @property
    def verdict(self) -> str:
        """VALID, INCOMPLETE or INVALID."""
        found = {check for check, _, _ in self.findings}
        return VALID if not found else INCOMPLETE if found == {"complete"} else INVALID

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        ordered = sorted(self.findings, key=lambda one: list(CHECKS).index(one[0]))
        lines = [dict(zip(("check", "place", "text"), one, strict=True)) for one in ordered]
        return {"verdict": self.verdict, "findings": lines}


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def check(folder: Path, bundle: Bundle) -> tuple[Report, Answer | None]:
    """All checks of an answer; None where answer.json cannot be read. Raises BadInput for no folder."""
    if not folder.is_dir():
        raise BadInput.of("answer", str(folder), "a folder")
    report, answer, disclosed = Report(place=ANSWER), None, []
    there = {name: (folder / name).is_file() for name in (MANIFEST, ANSWER, ENVIRONMENT)}
    for name in (name for name, found in there.items() if not found):
        report.at(name).say("complete", "missing")
    if there[MANIFEST]:
        with report.at(MANIFEST).reported("manifest"):
            for name, what in formats.compare_manifest(folder):
                report.at(name).say("complete" if what == "missing" else "manifest", what)
    known: dict[str, Path] = {}
    for path in sorted(folder.glob("runs/*/*/cycles.npy")):
        if path.is_file() and known.setdefault(formats.sha256(path), path) != path:
            report.at(str(path.relative_to(folder))).say("manifest", "the same times as another repetition")
    with report.reported("form"):
        answer = formats.read_answer(folder) if there[ANSWER] else None
    if answer is None:
        return report, None
    report.expect("manifest", "bundle_sha256", answer.bundle_sha256, bundle.sha256)
    _check_runs(answer, bundle, folder, report)
    if there[ENVIRONMENT]:
        with report.at(ENVIRONMENT).reported("form"):
            disclosed = _nodes(folder)
    for answered in answer.runs:
        rule, found = bundle.tender.rule(answered.name), []
        if rule is None:
            report.say("form", f"runs: {answered.name} is no run of the tender")
            continue
        for repetition in answered.repetitions:
            at = report.at(repetition.folder)
            if (run := _loaded(folder, repetition.folder, report)) is not None:
                found.append((repetition, run))
                check_run(run, bundle, rule, answer, answered, at)
                _check_nodes(run, rule, answered, disclosed, at)
                _check_energy(folder, run, repetition, bundle, answer, at)
        _check_statistic(answered, found, report)
    _check_promises(answer, bundle, report)
    return report, answer


def _check_runs(answer: Answer, bundle: Bundle, folder: Path, report: Report) -> None:
    """Every run once, with all repetitions, projected where it is not measured."""
    names = [run.name for run in answer.runs]
    for rule in bundle.tender.runs:
        if names.count(rule.name) > 1:
            report.say("form", f"runs: {rule.name} appears twice")
        if rule.name not in names and rule.measured:
            report.say("complete", f"runs: {rule.name} is not measured")
        elif answer.evidence(rule.name, RTF)[0] is None:
            report.say("complete", f"{rule.name}: {RTF} is neither measured nor projected")
    for run in answer.runs:
        folders, number = [r.folder for r in run.repetitions], len(run.repetitions)
        wanted = [f"runs/{run.name}/{n}" for n in range(1, number + 1)]
        report.expect("complete", f"{run.name}.folders", folders, wanted)
        if (rule := bundle.tender.rule(run.name)) and number < rule.repetitions:
            report.say("complete", f"{run.name}: {number} of {rule.repetitions} repetitions")
    stated = {one.folder for run in answer.runs for one in run.repetitions}
    for path in sorted(folder.glob("runs/*/*/record.json")):
        if (name := path.parent.relative_to(folder).as_posix()) not in stated:
            report.at(name).say("statistic", "a repetition that answer.json does not name")
    if answer.category not in bundle.tender.categories:
        report.say("form", f"category={answer.category}")


def _loaded(folder: Path, name: str, report: Report) -> Run | None:
    """A repetition; None, with a finding, where it lacks a file or its form."""
    path = folder / name
    if missing := [file for file in FILES if not (path / file).is_file()]:
        return report.at(f"{name}/{missing[0]}").say("complete", "missing")
    with report.at(name).reported("form"):
        run = record.load(path)
        if run.record.kind not in (None, "measured") or run.cycles is None:
            raise BadInput(f"{name}: kind={run.record.kind}; expected a measured run with cycles")
        run.ranks  # noqa: B018 - reads and checks it
        return run
    return None


def check_run(
    run: Run, bundle: Bundle, rule: Rule, answer: Answer, answered: Answered, report: Report
) -> None:
    """Description, program, spikes, sums and times of one repetition."""
    with report.reported("set"):
        bundle.check_set(answer.category, answered.set)
    with report.reported("description"):
        fields = {"time.simulate_ms": answered.model_ms, **answered.set}
        check_description(run, described(bundle, rule, fields), report)
    if answered.model_ms not in rule.model_ms:
        report.say("description", f"model_ms={answered.model_ms:g}; expected one of {rule.model_ms}")
    spent = run.record.timing.simulate_s
    if spent < rule.minimum_seconds and answered.model_ms < max(rule.model_ms):
        report.say("complete", f"simulate_s={spent:.4g}; expected at least {rule.minimum_seconds:g}")
    stated, provenance = answer.program.model_dump(exclude={"sha256"}), run.record.provenance
    for name, value in program(run).items():
        report.expect("program", f"provenance.{name}", value, stated[name])
    version = bundle.tender.spikemark_version
    report.expect("program", "provenance.version", provenance.version, version)
    category = bundle.tender.categories.get(answer.category)
    for flag in provenance.flags.split() if category else []:
        if not any(fnmatchcase(flag, pattern) for pattern in category.flags):
            report.say("program", f"provenance.flags: {flag} is not allowed in {answer.category}")
    expected = rule.expected
    counts = next((one for one in expected.times if one.model_ms == answered.model_ms), None)
    for name in COUNTS:
        value = getattr(expected if hasattr(expected, name) else counts, name, None)
        if value is not None:
            share = 0.0 if name == "neurons" else expected.tolerance
            report.close("spikes", f"totals.{name}", getattr(run.record.totals, name), value, share)
    check_sums(run, report)
    check_times(run, bundle.tender.tolerances, report)


def check_description(run: Run, wanted: dict[str, Any], report: Report) -> None:
    """What a record describes against a description. Raises BadInput for an impossible one."""
    given = run.record.description
    one, other = read(wanted), read(given)
    for name in ("network", "time"):
        first, second = (getattr(d, name).model_dump() for d in (one, other))
        if fields := [key for key in first if first[key] != second[key]]:
            report.say("description", f"description.{name}: {', '.join(fields)} not as in the tender")
    schedule, placement = lanes.chosen(one, None, None)
    wanted_lanes = lanes.read(one, run.record.ranks, schedule, placement)

    def told(of: dict[str, Any], known: Any) -> dict[str, Any]:
        inject = of.get("inject") or {}
        return {
            "seed": of.get("seed", 1), "inject": {k: inject[k] for k in DELAYS if inject.get(k)},
            "record.cycles": of["record"].get("cycles", True),
            "record.barrier": of["record"].get("barrier", True),
            "placement": lanes.chosen(known, None, None)[1],
            "wire": known.wire if isinstance(known.wire, str) else dict(known.wire),
        }  # fmt: skip

    right = told(wanted, one)
    for name, value in told(given, other).items():
        report.expect("description", f"description.{name}", value, right[name])
    expected = [(x.name, x.period, x.lag, "self" if x.alone else x.exchange) for x in wanted_lanes]
    found = [(x.name, x.period, x.lag, x.exchange) for x in run.record.lanes]
    report.expect("description", "lanes", found, expected)


def check_sums(run: Run, report: Report) -> None:
    """Totals and checksum over ranks and lanes."""
    totals, of_lanes = run.record.totals, run.record.lanes
    table = pd.read_csv(run.path / "ranks.csv", dtype=str)
    for name in (*COUNTS, "messages", "bytes_sent"):
        report.expect("sums", f"totals.{name}", getattr(totals, name), sum(map(int, table[name])))
    total = sum(int(text, 16) for text in table["checksum"]) % 2**64
    report.expect("sums", "checksum", run.record.checksum, f"{total:016x}")
    for name in ("synapses", "messages", "bytes_sent"):
        summed = sum(getattr(lane, name) for lane in of_lanes)
        report.expect("sums", f"lanes.{name}", summed, getattr(totals, name))


def check_times(run: Run, tolerances: formats.Tolerances, report: Report) -> None:
    """Phases add up to the time of each rank, the slowest of which is the wall clock of the run."""
    timing, time = run.record.timing, read(run.record.description).time
    spent = run.cycles.sum(axis=(1, 2), dtype=float)
    ranks = run.ranks["simulate_s"].to_numpy(dtype=float)
    slack = tolerances.phase_sum * timing.simulate_s
    for rank in np.flatnonzero(np.abs(spent - ranks) > slack)[:1]:
        found = f"phases of rank {rank} add up to {spent[rank]:.6g} s; expected {ranks[rank]:.6g}"
        report.say("times", found)
    for number, name in enumerate(run.record.phases):
        of_ranks = run.cycles[:, :, number].sum(axis=1, dtype=float)
        for what, value in (("mean_s", of_ranks.mean()), ("max_s", of_ranks.max())):
            stated = getattr(timing.phases[name], what)
            if stated is not None:
                report.close("times", f"timing.phases.{name}.{what}", stated, value, ROUNDING, slack)
    for name, wanted in {
        "simulate_s": ranks.max(), "model_s": 1e-3 * time.simulate_ms,
        "cycles": time.simulate_ms / time.cycle_ms, RTF: timing.simulate_s / timing.model_s,
    }.items():  # fmt: skip
        report.close("times", f"timing.{name}", getattr(timing, name), wanted, ROUNDING)
    if (span := _span(run)) is None:
        report.say("times", "timing.simulate_started_s is null")
    else:
        slack = CLOCK_SLACK_S + abs(timing.clock_step_s or 0.0)
        report.close("times", "system clock", span[1] - span[0], timing.simulate_s, tolerances.clock, slack)


def _span(run: Run) -> tuple[float, float] | None:
    found = run.record.timing.simulate_started_s, run.record.timing.simulate_ended_s
    return None if None in found else found


def _check_statistic(answered: Answered, found: list[tuple[formats.Repetition, Run]], report: Report) -> None:
    """Stated figures against the records, and against the statistic of the tender."""
    for repetition, run in found:
        at, factor = report.at(repetition.folder), run.record.timing.real_time_factor
        at.close("statistic", RTF, repetition.real_time_factor, factor, ROUNDING)
        for name in ("checksum", "spike_checksum"):
            at.expect("spikes", name, *(getattr(r.record, name) for r in (run, found[0][1])))
    for name in FIGURES:
        wanted = of_repetitions([getattr(one, name) for one in answered.repetitions])
        stated = answered.figures.get(name)
        report.at(answered.name).expect("statistic", name, stated and stated.model_dump(), wanted)


def _nodes(folder: Path) -> list[dict[str, Any]]:
    """The described nodes. Raises BadInput for another form."""
    content = read_json(folder / ENVIRONMENT)
    nodes = content.get("nodes") if isinstance(content, dict) else None
    fields = [list(n.values()) if isinstance(n, dict) else [n] for n in nodes or []]
    if not isinstance(nodes, list) or not all(
        isinstance(f, dict) and "value" in f for n in fields for f in n
    ):
        raise BadInput("nodes: expected a list of nodes, every field with its value")
    return nodes


def _check_nodes(
    run: Run, rule: Rule, answered: Answered, disclosed: list[dict[str, Any]], report: Report
) -> None:
    """Layout and nodes of a run against answer.json, the tender and environment.json."""
    host = run.record.host
    found = {"ranks": run.record.ranks, "threads": run.record.threads, "nodes": host.nodes}
    report.expect("nodes", "layout", found, answered.layout.model_dump())
    report.expect("nodes", "host.nodes", host.nodes, rule.nodes or host.nodes)
    if "node" in run.ranks:
        report.expect("nodes", "nodes in ranks.csv", run.ranks["node"].nunique(), host.nodes)
    by_name = {str(n.get("host", {}).get("value")).split(".")[0]: n for n in disclosed}
    for node in host.per_node or []:
        about = by_name.get(node.name.split(".")[0])
        if about is None:
            report.at(ENVIRONMENT).say("nodes", f"{node.name} is not described")
        elif isinstance(processor := about.get("processor", {}).get("value"), str) and node.cpu:
            report.expect("nodes", f"{node.name}: cpu", node.cpu.strip(), processor.strip())
    for node in disclosed:
        for name in (name for name, f in node.items() if f["value"] is None and not f.get("reason")):
            report.at(ENVIRONMENT).say("nodes", f"{name} is null without a reason")


def _check_energy(
    folder: Path, run: Run, repetition: formats.Repetition, bundle: Bundle, answer: Answer, report: Report
) -> None:
    """Stated energy against the integral of the readings, and mean power against the limits of the nodes."""
    stated, span = repetition.joules_per_synaptic_event, _span(run)
    if stated is None:
        if bundle.tender.power.required:
            report.say("complete", f"{JOULES} is not measured")
        return
    report = report.at(repetition.readings or repetition.folder)
    if repetition.readings is None or not (folder / repetition.readings).is_file():
        report.say("complete", "readings of power are missing")
    elif span is not None:
        joules = stated * run.record.totals.synaptic_events
        with report.reported("energy"):
            wanted = integral(folder / repetition.readings, span)
            report.close("energy", "energy (J)", joules, wanted, bundle.tender.tolerances.energy)
        _check_power(joules / (span[1] - span[0]), run.record.host.nodes, answer, report)


def integral(path: Path, span: tuple[float, float]) -> float:
    """J between two times over all channels of a file of readings.

    Raises BadInput where the readings are no such table, do not cover the time, or have wide gaps.
    """
    traces = readings(path)
    for (_, channel), trace in traces.items():
        if not trace.covers(*span):
            raise BadInput(f"{channel}: time_s: expected readings that cover the measured part")
        inside = (trace.time_s[1:] > span[0]) & (trace.time_s[:-1] < span[1])
        if np.diff(trace.time_s)[inside].max() > WIDEST_GAP * (span[1] - span[0]):
            raise BadInput(f"{channel}: time_s: expected no gap above {WIDEST_GAP:.0%} of the measured part")
    return sum(trace.energy_j(*span) for trace in traces.values())


def _check_power(watts: float, nodes: int, answer: Answer, report: Report) -> None:
    """Power of so many nodes against what the bidder states of one."""
    offer = answer.offer
    low = nodes * (NODE_W[0] if offer.node_idle_w is None else offer.node_idle_w)
    high = nodes * (offer.node_limit_w or NODE_W[1])
    if not 0.95 * low <= watts <= 1.05 * high:
        report.say("power", f"{watts:.4g} W on {nodes} nodes; expected {low:.4g} to {high:.4g}")


def _check_promises(answer: Answer, bundle: Bundle, report: Report) -> None:
    """Projections and promises. Projected power is that of the nodes of the projected run."""
    for name in ("projected", "committed"):
        entries = [(p.run, p.figure) for p in getattr(answer, name)]
        if len(set(entries)) < len(entries):
            report.say("promise", f"{name}: a figure appears twice")
    for made in answer.projected:
        name = f"projected {made.run}.{made.figure}"
        ends = f"{made.value:g} ({made.low:g} to {made.high:g})"
        if bundle.tender.rule(made.run) is None or not made.low <= made.value <= made.high > made.low:
            report.say("promise", f"{name}: {ends} is no projection of a run")
        if made.nodes > answer.offer.nodes:
            most = f"expected at most the {answer.offer.nodes} offered"
            report.say("promise", f"{name}: nodes={made.nodes}; {most}")
        if made.figure == POWER:
            _check_power(made.value, made.nodes, answer, report)
    for promise in answer.committed:
        best, basis = answer.evidence(promise.run, promise.figure)
        better = max(0.0, 1 - promise.value / best.value) if best else -1.0
        if basis != promise.basis or abs(better - promise.better_than_evidence) > ROUNDING:
            name = f"committed {promise.run}.{promise.figure}"
            report.say("promise", f"{name}: basis or better_than_evidence is wrong")
