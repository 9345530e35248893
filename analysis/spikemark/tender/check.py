"""`spikemark tender check`: does an answer follow the rules, and does it agree with itself?"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.measuring.energy import readings
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.records import record
from spikemark.records.record import Run

from . import formats
from .answer import of_repetitions, program
from .formats import ANSWER, ENVIRONMENT, FIGURES, MANIFEST, RTF, Answer, Answered, Bundle, Rule

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
            one, other = _short(found), _short(wanted)
            self.say(check, f"{name}={one}; expected {'another value' if one == other else other}")

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
    report, answer, nodes = Report(place=ANSWER), None, []
    there = {name: (folder / name).is_file() for name in (MANIFEST, ANSWER, ENVIRONMENT)}
    for name in (name for name, found in there.items() if not found):
        report.at(name).say("complete", "missing")
    if there[MANIFEST]:
        with report.at(MANIFEST).reported("manifest"):
            for name, what in formats.compare_manifest(folder):
                report.at(name).say("complete" if what == "missing" else "manifest", what)
    known: dict[str, Path] = {}
    for path in sorted(folder.glob("runs/*/*/cycles.npy")):
        if path.is_file() and known.setdefault(sha256.of(path), path) != path:
            report.at(str(path.relative_to(folder))).say("manifest", "the same times as another repetition")
    with report.reported("form"):
        answer = formats.read_answer(folder) if there[ANSWER] else None
    if answer is None:
        return report, None
    report.expect("manifest", "bundle_sha256", answer.bundle_sha256, bundle.sha256)
    _check_runs(answer, bundle, folder, report)
    if there[ENVIRONMENT]:
        with report.at(ENVIRONMENT).reported("form"):
            nodes = formats.read(formats.Environment, folder / ENVIRONMENT, "answer").nodes
    for answered in answer.runs:
        if (rule := bundle.tender.run(answered.name)) is None:
            report.say("form", f"runs: {answered.name} is no run of the tender")
            continue
        loaded = [(one, _loaded(folder, one.folder, report)) for one in answered.repetitions]
        found = [(repetition, run) for repetition, run in loaded if run is not None]
        for repetition, run in found:
            at = report.at(repetition.folder)
            _check_run(run, bundle, rule, answer, answered, at)
            _check_nodes(run, rule, answered, nodes, at)
            _check_energy(folder, run, repetition, bundle, answer, at)
            at.close(
                "statistic", RTF, repetition.real_time_factor, run.record.timing.real_time_factor, ROUNDING
            )
            for name in ("checksum", "spike_checksum"):
                at.expect("spikes", name, *(getattr(r.record, name) for r in (run, found[0][1])))
        for name in FIGURES:
            wanted = of_repetitions([getattr(one, name) for one in answered.repetitions])
            stated = answered.figures.get(name)
            report.at(answered.name).expect("statistic", name, stated and stated.model_dump(), wanted)
    _check_promises(answer, bundle, report)
    return report, answer


def _check_runs(answer: Answer, bundle: Bundle, folder: Path, report: Report) -> None:
    """Every run once, with all repetitions, projected where it is not measured."""
    names, stated = [run.name for run in answer.runs], set()
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
        if (rule := bundle.tender.run(run.name)) and number < rule.repetitions:
            report.say("complete", f"{run.name}: {number} of {rule.repetitions} repetitions")
        stated |= {*folders}
    for path in sorted(folder.glob("runs/*/*/record.json")):
        if (name := path.parent.relative_to(folder).as_posix()) not in stated:
            report.at(name).say("statistic", "a repetition that answer.json does not name")
    if answer.category not in bundle.tender.categories:
        report.say("form", f"category={answer.category}")


def _loaded(folder: Path, name: str, report: Report) -> Run | None:
    """A repetition; None, with a finding, where it lacks a file or its form."""
    if missing := [file for file in FILES if not (folder / name / file).is_file()]:
        return report.at(f"{name}/{missing[0]}").say("complete", "missing")
    with report.at(name).reported("form"):
        run = record.load(folder / name)
        if run.record.kind not in (None, "measured") or run.cycles is None:
            raise BadInput(f"{name}: kind={run.record.kind}; expected a measured run with cycles")
        run.ranks  # noqa: B018 - reads and checks it
        return run
    return None


def _check_run(
    run: Run, bundle: Bundle, rule: Rule, answer: Answer, answered: Answered, report: Report
) -> None:
    """Description, program, spikes, sums and times of one repetition."""
    spent, provenance, tender = run.record.timing.simulate_s, run.record.provenance, bundle.tender
    with report.reported("set"):
        bundle.check_set(answer.category, answered.set)
    with report.reported("description"):
        fields = {"time.simulate_ms": answered.model_ms, **answered.set}
        check_description(run, bundle.description(rule, fields), report)
    if answered.model_ms not in rule.model_ms:
        report.say("description", f"model_ms={answered.model_ms:g}; expected one of {rule.model_ms}")
    if spent < rule.minimum_seconds and answered.model_ms < max(rule.model_ms):
        report.say("complete", f"simulate_s={spent:.4g}; expected at least {rule.minimum_seconds:g}")
    for name, value in program(run).items():
        report.expect("program", f"provenance.{name}", value, getattr(answer.program, name))
    report.expect("program", "provenance.version", provenance.version, tender.spikemark_version)
    if category := tender.categories.get(answer.category):
        for flag in provenance.flags.split():
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
    check_times(run, tender.tolerances, report)


def check_description(run: Run, wanted: dict[str, Any], report: Report) -> None:
    """What a record describes against a description. Raises BadInput for an impossible one."""
    found, right = (_told(one, run.record.ranks) for one in (run.record.description, wanted))
    found["lanes"] = [(x.name, x.period, x.lag, x.exchange) for x in run.record.lanes]
    for name, value in found.items():
        report.expect("description", f"description.{name}", value, right[name])


def _told(given: dict[str, Any], ranks: int) -> dict[str, Any]:
    """What a description says of a run on so many ranks, by fields."""
    known = read(given)
    inject, records = given.get("inject") or {}, given.get("record") or {}
    schedule, placement = lanes.chosen(known, None, None)
    of_run = lanes.read(known, ranks, schedule, placement)
    parts = {part: getattr(known, part).model_dump() for part in ("network", "time")}
    return {
        **{f"{part}.{name}": value for part, fields in parts.items() for name, value in fields.items()},
        "seed": given.get("seed", 1), "inject": {name: inject[name] for name in DELAYS if inject.get(name)},
        **{f"record.{name}": records.get(name, True) for name in ("cycles", "barrier")},
        "placement": placement, "wire": known.wire,
        "lanes": [(x.name, x.period, x.lag, "self" if x.alone else x.exchange) for x in of_run],
    }  # fmt: skip


def check_sums(run: Run, report: Report) -> None:
    """Totals and checksum over ranks and lanes."""
    totals, table = run.record.totals, pd.read_csv(run.path / "ranks.csv", dtype=str)
    for name in (*COUNTS, "messages", "bytes_sent"):
        report.expect("sums", f"totals.{name}", getattr(totals, name), sum(map(int, table[name])))
    total = sum(int(text, 16) for text in table["checksum"]) % 2**64
    report.expect("sums", "checksum", run.record.checksum, f"{total:016x}")
    for name in ("synapses", "messages", "bytes_sent"):
        summed = sum(getattr(lane, name) for lane in run.record.lanes)
        report.expect("sums", f"lanes.{name}", summed, getattr(totals, name))


def check_times(run: Run, tolerances: formats.Tolerances, report: Report) -> None:
    """Phases add up to the time of each rank, the slowest of which is the wall clock of the run."""
    timing, time = run.record.timing, read(run.record.description).time
    of_ranks = run.cycles.sum(axis=1, dtype=float)  # [rank, phase]
    spent, ranks = of_ranks.sum(axis=1), run.ranks["simulate_s"].to_numpy(dtype=float)
    slack = tolerances.phase_sum * timing.simulate_s
    for rank in np.flatnonzero(np.abs(spent - ranks) > slack)[:1]:
        found = f"phases of rank {rank} add up to {spent[rank]:.6g} s; expected {ranks[rank]:.6g}"
        report.say("times", found)
    for name, own in zip(run.record.phases, of_ranks.T, strict=True):
        for what, value in (("mean_s", own.mean()), ("max_s", own.max())):
            if (stated := getattr(timing.phases[name], what)) is not None:
                report.close("times", f"timing.phases.{name}.{what}", stated, value, ROUNDING, slack)
    for name, wanted in {
        "simulate_s": ranks.max(), "model_s": 1e-3 * time.simulate_ms,
        "cycles": time.simulate_ms / time.cycle_ms, RTF: timing.simulate_s / timing.model_s,
    }.items():  # fmt: skip
        report.close("times", f"timing.{name}", getattr(timing, name), wanted, ROUNDING)
    if (span := _span(run)) is None:
        return report.say("times", "timing.simulate_started_s is null")
    slack = CLOCK_SLACK_S + abs(timing.clock_step_s or 0.0)
    return report.close(
        "times", "system clock", span[1] - span[0], timing.simulate_s, tolerances.clock, slack
    )


def _span(run: Run) -> tuple[float, float] | None:
    found = run.record.timing.simulate_started_s, run.record.timing.simulate_ended_s
    return None if None in found else found


def _check_nodes(run: Run, rule: Rule, answered: Answered, disclosed: list[dict], report: Report) -> None:
    """Layout and nodes of a run against answer.json, the tender and environment.json."""
    host, about = run.record.host, report.at(ENVIRONMENT)
    found = {"ranks": run.record.ranks, "threads": run.record.threads, "nodes": host.nodes}
    report.expect("nodes", "layout", found, answered.layout.model_dump())
    report.expect("nodes", "host.nodes", host.nodes, rule.nodes or host.nodes)
    if "node" in run.ranks:
        report.expect("nodes", "nodes in ranks.csv", run.ranks["node"].nunique(), host.nodes)
    values = [{name: one.value for name, one in node.items()} for node in disclosed]
    by_name = {str(node.get("host")).split(".")[0]: node for node in values}
    for node in host.per_node or []:
        if (described := by_name.get(node.name.split(".")[0])) is None:
            about.say("nodes", f"{node.name} is not described")
        elif isinstance(processor := described.get("processor"), str) and node.cpu:
            report.expect("nodes", f"{node.name}: cpu", node.cpu.strip(), processor.strip())
    for name in {name for node in disclosed for name, f in node.items() if f.value is None and not f.reason}:
        about.say("nodes", f"{name} is null without a reason")


def _check_energy(
    folder: Path, run: Run, repetition: formats.Repetition, bundle: Bundle, answer: Answer, report: Report
) -> None:
    """Stated energy against the integral of the readings, and mean power against the limits of the nodes."""
    stated, span = repetition.joules_per_synaptic_event, _span(run)
    if stated is None:
        if bundle.tender.power.required:
            report.say("complete", f"{formats.JOULES} is not measured")
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
        name, most = f"projected {made.run}.{made.figure}", answer.offer.nodes
        if bundle.tender.run(made.run) is None or not made.low <= made.value <= made.high > made.low:
            ends = f"{made.value:g} ({made.low:g} to {made.high:g})"
            report.say("promise", f"{name}: {ends} is no projection of a run")
        if made.nodes > most:
            report.say("promise", f"{name}: nodes={made.nodes}; expected at most the {most} offered")
        if made.figure == formats.POWER:
            _check_power(made.value, made.nodes, answer, report)
    for promise in answer.committed:
        best, basis = answer.evidence(promise.run, promise.figure)
        better = max(0.0, 1 - promise.value / best.value) if best else -1.0
        if basis != promise.basis or abs(better - promise.better_than_evidence) > ROUNDING:
            name = f"committed {promise.run}.{promise.figure}"
            report.say("promise", f"{name}: basis or better_than_evidence is wrong")
