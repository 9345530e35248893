"""`spikemark tender check`: does an answer follow the rules, and does it agree with itself?

CHECKS are functions of an answer or of each repetition; their docstrings say what they expect.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from spikemark.core import sha256
from spikemark.core.errors import BadInput, shown
from spikemark.measuring.energy import readings
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.records import record
from spikemark.records.record import Run

from . import formats
from .answer import of_repetitions, program
from .formats import ANSWER, ENVIRONMENT, FIGURES, JOULES, MANIFEST, POWER, RTF, Answer, Bundle

VALID, INVALID, INCOMPLETE = "VALID", "INVALID", "INCOMPLETE"
#: How far numbers may differ, as shares: rounded ones, phases and the time of a rank, two clocks, energies.
ROUNDING, PHASE_SUM, CLOCK, ENERGY = 1e-6, 0.001, 0.01, 0.05
CLOCK_SLACK_S = 0.02
WIDEST_GAP = 0.3  # between readings of power, as a share of the measured part
NODE_W = (0.5, 50_000.0)  # W of a node where the bidder states no limits
DELAYS = ("mean_us", "sd_us", "correlation", "rank_sd_us", "per_neuron_ns", "per_synapse_ns")
COUNTS = ("neurons", "synapses", "spikes", "synaptic_events")
FILES = ("record.json", "ranks.csv", "cycles.npy")  # of a repetition


@dataclass(frozen=True)
class Report:
    """Findings as (check, text), in the order of CHECKS."""

    findings: list[tuple[str, str]]

    @property
    def verdict(self) -> str:
        """VALID, INCOMPLETE where only parts are missing, else INVALID."""
        found = {check for check, _ in self.findings}
        return VALID if not found else INCOMPLETE if found == {"complete"} else INVALID

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {"verdict": self.verdict, "findings": [{"check": c, "text": t} for c, t in self.findings]}


class Repeated(NamedTuple):
    """A repetition that could be read, and the rule and the statements that are for it."""

    seen: "Seen"
    place: str
    run: Run
    rule: Any
    answered: Any
    stated: Any

    @property
    def readings(self) -> Path | None:
        """The file with the readings of power; None where it is not there."""
        path = self.stated.readings and self.seen.folder / self.stated.readings
        return path if path and path.is_file() else None

    @property
    def joules(self) -> float | None:
        """The stated energy; None where no readings at known times show it."""
        per_event, known = getattr(self.stated, JOULES), self.readings and None not in span(self.run)
        return per_event * self.run.record.totals.synaptic_events if per_event and known else None


class Seen:
    """An answer as far as it can be read; `answer` is None where answer.json cannot be.

    `missing`: files that are not there; `unread`: findings on others; `differs`: on what is not as the
    manifest says.
    """

    def __init__(self, folder: Path, bundle: Bundle):
        self.folder, self.bundle, self.tender = folder, bundle, bundle.tender
        self.missing: list[str] = []
        self.unread: list[str] = []
        self.differs = self.read(MANIFEST, formats.compare_manifest, folder) or {}
        self.answer = self.read(ANSWER, formats.read_answer, folder)
        about = self.read(ENVIRONMENT, formats.read, formats.Environment, folder / ENVIRONMENT, "answer")
        self.nodes = about.nodes if about else []
        self.repetitions: list[Repeated] = []
        for answered in self.answer.runs if self.answer else ():
            for stated in answered.repetitions if (rule := self.tender.run(answered.name)) else ():
                if run := self.read(stated.folder, _load, folder / stated.folder, files=FILES):
                    self.repetitions.append(Repeated(self, stated.folder, run, rule, answered, stated))

    def read(self, place: str, work: Callable, *words: Any, files: Iterable[str] = ("",)) -> Any:
        """What `work` makes of a file, or of files of a folder; None where it cannot."""
        if missing := [path for name in files if not (self.folder / (path := Path(place, name))).is_file()]:
            self.missing.append(missing[0].as_posix())
            return None
        try:
            return work(*words)
        except (BadInput, OSError) as error:
            self.unread.append(f"{place}: {error}")
            return None


def _load(folder: Path) -> Run:
    run = record.load(folder)
    if run.record.kind != "measured" or run.cycles is None:
        raise BadInput(f"kind={run.record.kind}; expected a measured run with cycles")
    run.ranks  # noqa: B018 - reads and checks it
    return run


def span(run: Run) -> tuple[float, float]:
    """When a run was measured, in s since the Unix epoch; None where that is not recorded."""
    return run.record.timing.simulate_started_s, run.record.timing.simulate_ended_s


def same(name: str, found: Any, wanted: Any) -> Iterator[str]:
    """A text unless both are equal."""
    if found != wanted:
        one, other = shown(found), shown(wanted)
        yield f"{name}={one}; expected {'another value' if one == other else other}"


def close(name: str, found: float, wanted: float, share: float, slack: float = 0.0) -> Iterator[str]:
    """A text unless both are equal within a share of the second, or within `slack`."""
    if not abs(found - wanted) <= max(share * abs(wanted), slack):
        yield f"{name}={found:.6g}; expected {wanted:.6g}"


def manifest(seen: Seen) -> Iterator[str]:
    """Files are those of the manifest, none twice, and the answer is to this bundle."""
    yield from (f"{name}: {what}" for name, what in sorted(seen.differs.items()) if what != "missing")
    times = Counter(sha256.of(path) for path in seen.folder.glob("runs/*/*/cycles.npy") if path.is_file())
    if max(times.values(), default=1) > 1:
        yield "runs: the times of one repetition are there twice"
    if seen.answer:
        yield from same("bundle_sha256", seen.answer.bundle_sha256, seen.bundle.sha256)


def complete(seen: Seen) -> Iterator[str]:
    """Every run, repetition and file is there, and long enough."""
    listed = [name for name, what in seen.differs.items() if what == "missing"]
    yield from (f"{name}: missing" for name in dict.fromkeys([*seen.missing, *listed]))
    for rule in seen.tender.runs if seen.answer else ():
        if (run := seen.answer.run(rule.name)) is None and rule.measured:
            yield f"runs: {rule.name} is not measured"
        elif seen.answer.evidence(rule.name, RTF)[0] is None:
            yield f"{rule.name}: {RTF} is neither measured nor projected"
        folders = [one.folder for one in run.repetitions] if run else []
        if run and (whole := len({*folders})) < max(rule.repetitions, len(folders)):
            yield f"{rule.name}: {whole} of {rule.repetitions} repetitions, each named once"
    for one in seen.repetitions:
        spent, least = one.run.record.timing.simulate_s, one.rule.minimum_seconds
        if spent < least and one.answered.model_ms < max(one.rule.model_ms):
            yield f"{one.place}: simulate_s={spent:.4g}; expected at least {least:g}"
        if getattr(one.stated, JOULES) is None and seen.tender.power.required:
            yield f"{one.place}: {JOULES} is not measured"
        if getattr(one.stated, JOULES) is not None and one.readings is None:
            yield f"{one.place}: readings of power are missing"


def form(seen: Seen) -> Iterator[str]:
    """Every file can be read, and every run is one of the tender, and there once."""
    yield from seen.unread
    names = Counter(run.name for run in seen.answer.runs) if seen.answer else {}
    yield from (f"runs: {n} is no run of the tender" for n in names if not seen.tender.run(n))
    yield from (f"runs: {n} appears twice" for n, count in names.items() if count > 1)


def description(one: Repeated) -> Iterator[str]:
    """What was run is what the tender describes."""
    of, allowed = one.run.record, one.rule.model_ms
    if one.answered.model_ms not in allowed:
        yield f"model_ms={one.answered.model_ms:g}; expected one of {allowed}"
    wanted = {"time.simulate_ms": one.answered.model_ms, **one.answered.set}
    found = _told(of.description, of.ranks)
    found["lanes"] = [(x.name, x.period, x.lag, x.exchange) for x in of.lanes]
    for name, value in _told(one.seen.bundle.description(one.rule, wanted), of.ranks).items():
        yield from same(f"description.{name}", found[name], value)


def _told(given: dict[str, Any], ranks: int) -> dict[str, Any]:
    """What a description says of a run on so many ranks, by fields."""
    known = read(given)
    inject, records = given.get("inject") or {}, given.get("record") or {}
    schedule, placement = lanes.chosen(known, None, None)
    of_run = lanes.read(known, ranks, schedule, placement)
    return {
        **{f"network.{name}": value for name, value in known.network.model_dump().items()},
        "time": known.time.model_dump(), "seed": given.get("seed", 1), "placement": placement,
        "inject": {name: inject[name] for name in DELAYS if inject.get(name)}, "wire": known.wire,
        **{f"record.{name}": records.get(name, True) for name in ("cycles", "barrier")},
        "lanes": [(x.name, x.period, x.lag, "self" if x.alone else x.exchange) for x in of_run],
    }  # fmt: skip


def only_allowed(one: Repeated) -> tuple[()]:
    """Only what the category allows was set."""
    one.seen.bundle.check_set(one.seen.answer.category, one.answered.set)
    return ()


def one_program(one: Repeated) -> Iterator[str]:
    """One program was measured, with the version and flags of the tender."""
    answer, tender, provenance = one.seen.answer, one.seen.tender, one.run.record.provenance
    for name, value in program(one.run).items():
        yield from same(f"provenance.{name}", value, getattr(answer.program, name))
    yield from same("provenance.version", provenance.version, tender.spikemark_version)
    allowed = tender.categories[answer.category].flags if answer.category in tender.categories else ["*"]
    for flag in provenance.flags.split():
        if not any(fnmatchcase(flag, pattern) for pattern in allowed):
            yield f"provenance.flags: {flag} is not allowed in {answer.category}"


def spikes(one: Repeated) -> Iterator[str]:
    """Checksums and counts are those of the network."""
    of, expected = one.run.record, one.rule.expected
    counts = [c for c in expected.times if c.model_ms == one.answered.model_ms]
    for name, value in {k: v for x in (*counts[:1], expected) for k, v in x if k in COUNTS}.items():
        if value is not None:
            share = 0.0 if name == "neurons" else expected.tolerance
            yield from close(f"totals.{name}", getattr(of.totals, name), value, share)
    first = next(other.run.record for other in one.seen.repetitions if other.answered is one.answered)
    for name in ("checksum", "spike_checksum"):
        yield from same(name, getattr(of, name), getattr(first, name))


def sums(run: Run) -> Iterator[str]:
    """Ranks, lanes and totals add up."""
    totals, table = run.record.totals, pd.read_csv(run.path / "ranks.csv", dtype=str)
    for name in (*COUNTS, "messages", "bytes_sent"):
        yield from same(f"totals.{name}", getattr(totals, name), sum(map(int, table[name])))
    total = sum(int(text, 16) for text in table["checksum"]) % 2**64
    yield from same("checksum", run.record.checksum, f"{total:016x}")
    for name in ("synapses", "messages", "bytes_sent"):
        summed = sum(getattr(lane, name) for lane in run.record.lanes)
        yield from same(f"lanes.{name}", summed, getattr(totals, name))


def times(run: Run) -> Iterator[str]:
    """Phases add up to the time of each rank, the slowest one to the wall clock; so does another clock."""
    timing, time = run.record.timing, read(run.record.description).time
    spent = run.cycles.sum(axis=(1, 2), dtype=float)  # [rank]
    ranks = run.ranks["simulate_s"].to_numpy(dtype=float)
    for rank in np.flatnonzero(np.abs(spent - ranks) > PHASE_SUM * timing.simulate_s)[:1]:
        yield f"phases of rank {rank} add up to {spent[rank]:.6g} s; expected {ranks[rank]:.6g}"
    for name, wanted in {
        "simulate_s": ranks.max(), "model_s": 1e-3 * time.simulate_ms,
        "cycles": time.simulate_ms / time.cycle_ms, RTF: timing.simulate_s / timing.model_s,
    }.items():  # fmt: skip
        yield from close(f"timing.{name}", getattr(timing, name), wanted, ROUNDING)
    if None in (ends := span(run)):
        yield "timing.simulate_started_s is null"
    else:
        slack = CLOCK_SLACK_S + abs(timing.clock_step_s or 0.0)
        yield from close("system clock", ends[1] - ends[0], timing.simulate_s, CLOCK, slack)


def statistic(seen: Seen) -> Iterator[str]:
    """The stated figures are those of all records; projections have an interval, and offered nodes."""
    for one in seen.repetitions:
        factor = one.run.record.timing.real_time_factor
        yield from close(f"{one.place}: {RTF}", one.stated.real_time_factor, factor, ROUNDING)
    for run, name in itertools.product(seen.answer.runs, FIGURES):
        wanted = of_repetitions([getattr(one, name) for one in run.repetitions])
        own = run.figures[name].model_dump() if run.figures.get(name) else None
        yield from same(f"{run.name}: {name}", own, wanted)
    for made in seen.answer.projected:
        if not made.low <= made.value <= made.high > made.low or made.nodes > seen.answer.offer.nodes:
            ends = f"{made.low:g} to {made.high:g} on {made.nodes} nodes"
            yield f"projected {made.run}.{made.figure}: {made.value:g} ({ends}) cannot be meant"


def energy(one: Repeated) -> Iterator[str]:
    """Stated energy is what the readings add up to."""
    if one.joules:
        yield from close("energy (J)", one.joules, integral(one.readings, span(one.run)), ENERGY)


def integral(path: Path, ends: tuple[float, float]) -> float:
    """J between two times over all channels of a file of readings.

    Raises BadInput where the readings are no such table, do not cover the time, or have wide gaps.
    """
    traces = readings(path)
    for (_, channel), trace in traces.items():
        if not trace.covers(*ends):
            raise BadInput(f"{channel}: time_s: expected readings that cover the measured part")
        inside = (trace.time_s[1:] > ends[0]) & (trace.time_s[:-1] < ends[1])
        if np.diff(trace.time_s)[inside].max() > WIDEST_GAP * (ends[1] - ends[0]):
            raise BadInput(f"{channel}: time_s: expected no gap above {WIDEST_GAP:.0%} of the measured part")
    return sum(trace.energy_j(*ends) for trace in traces.values())


def power(seen: Seen) -> Iterator[str]:
    """Measured and projected power lie within what the nodes of the run take."""
    offer, metered = seen.answer.offer, [one for one in seen.repetitions if one.joules]
    found = [(one.place, one.joules / np.ptp(span(one.run)), one.run.record.host.nodes) for one in metered]
    found += [(ANSWER, made.value, made.nodes) for made in seen.answer.projected if made.figure == POWER]
    for place, watts, number in found:
        low = number * (NODE_W[0] if offer.node_idle_w is None else offer.node_idle_w)
        high = number * (offer.node_limit_w or NODE_W[1])
        if not 0.95 * low <= watts <= 1.05 * high:
            yield f"{place}: {watts:.4g} W on {number} nodes; expected {low:.4g} to {high:.4g}"


def nodes(one: Repeated) -> Iterator[str]:
    """Layout, nodes and their description agree."""
    host = one.run.record.host
    found = {"ranks": one.run.record.ranks, "threads": one.run.record.threads, "nodes": host.nodes}
    yield from same("layout", found, one.answered.layout.model_dump())
    yield from same("host.nodes", host.nodes, one.rule.nodes or host.nodes)
    if "node" in one.run.ranks:
        yield from same("nodes in ranks.csv", one.run.ranks["node"].nunique(), host.nodes)
    described = {str(node.get("host")).split(".")[0]: node.get("processor") for node in one.seen.nodes}
    for node in host.per_node or []:
        if (name := node.name.split(".")[0]) not in described:
            yield f"{node.name} is not described in {ENVIRONMENT}"
        elif isinstance(processor := described[name], str) and node.cpu:
            yield from same(f"{node.name}: cpu", node.cpu.strip(), processor.strip())


#: By name, in order: functions of an answer, or of a repetition. The first three need no answer.json.
CHECKS: dict[str, tuple[type, Callable[[Any], Iterable[str]]]] = {
    "manifest": (Seen, manifest), "complete": (Seen, complete), "form": (Seen, form),
    "description": (Repeated, description), "set": (Repeated, only_allowed),
    "program": (Repeated, one_program), "spikes": (Repeated, spikes),
    "sums": (Repeated, lambda one: sums(one.run)), "times": (Repeated, lambda one: times(one.run)),
    "statistic": (Seen, statistic), "energy": (Repeated, energy), "power": (Seen, power),
    "nodes": (Repeated, nodes),
}  # fmt: skip


def check(folder: Path, bundle: Bundle) -> tuple[Report, Answer | None]:
    """All checks of an answer; None where answer.json cannot be read. Raises BadInput for no folder."""
    if not folder.is_dir():
        raise BadInput.of("answer", str(folder), "a folder")
    seen, found = Seen(folder, bundle), []
    for name in list(CHECKS)[: None if seen.answer else 3]:
        kind, function = CHECKS[name]
        for one in [seen] if kind is Seen else seen.repetitions:
            place = f"{one.place}: " if kind is Repeated else ""
            try:
                found += [(name, place + text) for text in function(one)]
            except (BadInput, OSError) as error:
                found.append((name, f"{place}{error}"))
    return Report([*dict.fromkeys(found)]), seen.answer
