"""Energy of a run, from the samplers beside it to its record: energy.csv and `energy` of record.json.

The samplers (launch/sampler.py) know the times of their readings, the record knows when its measured part
began and ended. miniapp/FORMAT.md states both files. Imports nothing heavy: a process is started for every
run. `measuring.energy` reads the same files with intervals.
"""

import contextlib
import csv
import json
import os
import subprocess
import sys
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch import Launch, Layout, Nodes, launch, sampler
from spikemark.launch.process import end, started
from spikemark.records import run_files

COLUMNS = ("node", "source", "channel", "time_s", "energy_j", "power_w")
IDLE_S = 5.0  # pause before a run whose energy is read, if record.idle_pause_s does not say otherwise
FEWEST = 2  # readings within the measured part
GAP = 3.0  # usual intervals that two readings may be apart
NO_SAMPLER = "no sampler of energy could be started on the nodes"
READY_S, POLL_S = 30.0, 0.02  # longest wait until every sampler has read once, and from look to look
ENDING_S = 20.0  # longest wait until samplers have seen that it is over
SAID = "said.log"  # what the samplers and their launcher printed: why there are no files
ABOUT = ("name", "event", "unit", "failed")  # of a channel, as the sampler says it and the record keeps it

Span = tuple[float, float]


@dataclass(frozen=True)
class Wanted:
    """What a run description says about energy."""

    energy: bool
    interval_s: float = 0.1
    sensors: tuple[str, ...] = ()
    idle_s: float | None = None


def wanted(description: Path) -> Wanted:
    """The part of a run description that concerns energy; nothing of what the mini-app will refuse."""
    record = read_json(description).get("record")
    record = record if isinstance(record, dict) else {}
    interval, sensors, idle = map(record.get, ("energy_interval_s", "energy_sensors", "idle_pause_s"))
    return Wanted(
        record.get("energy") is True,
        float(interval) if isinstance(interval, int | float) else 0.1,
        tuple(map(str, sensors)) if isinstance(sensors, list) else (),
        float(idle) if isinstance(idle, int | float) else None,
    )


@contextlib.contextmanager
def metered(
    record: Path, readings: Path, asked: Wanted, nodes: tuple[str, ...], launcher: str
) -> Iterator[None]:
    """Has the meters of the nodes read into `readings`, if asked, while the block leaves a record.

    Pauses before, and adds the energy to the record afterwards.
    """
    meters = sampling(readings, nodes, launcher, asked.interval_s, asked.sensors)
    with meters if asked.energy else contextlib.nullcontext():
        idle = pause(readings, asked)
        yield
    if asked.energy or idle:
        fill(record, readings, asked, idle)


@contextlib.contextmanager
def sampling(
    folder: Path, nodes: tuple[str, ...], launcher: str, interval_s: float = 0.1,
    sensors: tuple[str, ...] = (),
) -> Iterator[None]:  # fmt: skip
    """Has the meters of the nodes read into `folder`, which all of them see, while the block runs.

    `nodes`: by name; none: this host. The block starts when every node has read once or has said that it
    cannot, READY_S at the latest. SPIKEMARK_SYSFS names a folder to read instead of /sys. Nothing is raised
    if a sampler fails: its files are missing then, and SAID tells why.
    """
    folder.mkdir(parents=True)
    program = [sys.executable, str(Path(sampler.__file__).resolve()), str(folder.resolve())]
    program += ["--interval", str(interval_s), "--root", os.environ.get("SPIKEMARK_SYSFS", "/sys")]
    start = Launch([*program, *(f"--sensor={name}" for name in sensors)])
    if [node.split(".")[0] for node in nodes] not in ([], [places.host().split(".")[0]]):
        one_each = Layout(len(nodes), ranks_per_node=1, binding="none")
        start = launch(launcher, start.command, one_each, Nodes((1,) * len(nodes), "the run", nodes))
    with open(folder / SAID, "w") as said:
        words = {"removed": start.removed, "stdout": said, "stderr": said}
        with started(start.command, start.environment, **words) as processes:
            latest = time.monotonic() + READY_S
            while len(list(folder.glob("*.json"))) < max(1, len(nodes)) and time.monotonic() < latest:
                if processes.poll() is not None:
                    break
                time.sleep(POLL_S)
            yield
            (folder / sampler.OVER).touch()  # srun and mpirun may kill what they started when they are ended
            with contextlib.suppress(subprocess.TimeoutExpired):
                processes.wait(timeout=ENDING_S)
            end(processes)


def pause(readings: Path, asked: Wanted) -> Span | None:
    """Sleeps while nothing runs, if a meter is read or a pause is asked for, and returns when."""
    seconds = asked.idle_s
    if seconds is None:
        read = any(json.loads(path.read_text())["source"] for path in readings.glob("*.json"))
        seconds = IDLE_S if read else 0.0
    if not seconds:
        return None
    began = time.time()
    time.sleep(seconds)
    return began, time.time()


@dataclass(frozen=True)
class Channel:
    """Readings of one channel: `time_s` since the epoch, `value` in J, cumulative, or W."""

    node: int
    about: dict[str, Any]
    time_s: list[float]
    value: list[float]

    @property
    def counts(self) -> bool:
        """True for a counter of energy."""
        return self.about["unit"] == "J"

    def at(self, t: float) -> float:
        """The value at a time between the first and the last reading, linear between two."""
        i = max(1, bisect_left(self.time_s, t))
        (t0, t1), (v0, v1) = self.time_s[i - 1 : i + 1], self.value[i - 1 : i + 1]
        return v0 + (v1 - v0) * (t - t0) / (t1 - t0)

    def joules(self, span: Span) -> float | None:
        """Energy within a span, power linear between readings; None unless readings enclose the span."""
        if len(self.time_s) < 2 or self.time_s[0] > span[0] or self.time_s[-1] < span[1]:
            return None
        ends = [self.at(t) for t in span]
        if self.counts:
            return ends[1] - ends[0]
        inside = slice(bisect_right(self.time_s, span[0]), bisect_left(self.time_s, span[1]))
        times = [span[0], *self.time_s[inside], span[1]]
        watts = [ends[0], *self.value[inside], ends[1]]
        steps = zip(pairwise(times), pairwise(watts), strict=True)
        return sum((t1 - t0) * (p0 + p1) / 2 for (t0, t1), (p0, p1) in steps)

    def inside(self, span: Span) -> int:
        """How many readings lie within a span."""
        return sum(span[0] <= t <= span[1] for t in self.time_s)

    def coverage(self, span: Span, gap_s: float) -> float:
        """Share of a span between readings that are at most `gap_s` apart."""
        near = ((a, b) for a, b in pairwise(self.time_s) if b - a <= gap_s)
        held = sum(max(0.0, min(b, span[1]) - max(a, span[0])) for a, b in near)
        return min(1.0, held / (span[1] - span[0]))


def fill(folder: Path, readings: Path, asked: Wanted, idle: Span | None) -> None:
    """Adds to the record in `folder` what the samplers wrote into `readings`, and when the run paused."""
    record = json.loads((folder / run_files.RECORD).read_text())
    timing = record["timing"]
    if idle and timing.get("idle_before_s") is None:
        timing["idle_before_s"] = list(idle)
    if asked.energy:
        told = {path.stem: json.loads(path.read_text()) for path in sorted(readings.glob("*.json"))}
        nodes = _nodes(folder, record)
        tried = [one for about in told.values() for one in about["tried"]]
        record["energy"], record["energy_reason"] = None, _unknown(told, len(nodes))
        value = None
        if record["energy_reason"] is None:
            source = next(iter(told.values()))["source"]
            channels = [
                one for host, about in told.items() for one in _channels(readings, host, about, nodes)
            ]
            record["energy"] = energy = {"source": source} | _content(channels, told, timing)
            value, reason = energy["gross_j"], "see energy.reason"
            tried.append(
                {"source": source, "status": energy["status"], "reason": reason if value is None else None}
            )
            _write(folder / run_files.ENERGY, channels, source)
        known = {"name": "energy", "unit": "J", "value": None, "event": None}
        meters = [known | one for one in tried]
        if value is not None:
            meters[-1] |= {"value": value, "event": "sum of energy.channels"}
        record["meters"] = [m for m in record["meters"] if m["name"] != "energy"] + meters
    write_json(folder / run_files.RECORD, record)


def _nodes(folder: Path, record: dict[str, Any]) -> dict[str, int]:
    """The lowest rank of each node, by the short name of the node."""
    with open(folder / run_files.RANKS, newline="") as file:
        rows = sorted((int(row["rank"]), int(row["node"] or 0)) for row in csv.DictReader(file))
    lowest = {node: rank for rank, node in reversed(rows)}
    names = record["host"].get("node_names") or [record["host"]["name"]]
    return {name.split(".")[0]: lowest.get(number, 0) for number, name in enumerate(names)}


def _unknown(told: dict[str, dict], nodes: int) -> str | None:
    """Why the energy of so many nodes is not known; None if all of them read the same meter."""
    if len(told) < nodes:
        return NO_SAMPLER
    for host, about in told.items():
        if about["source"] is None:
            tried = "; ".join(f"{t['source']} {t['status']}: {t['reason']}" for t in about["tried"])
            return f"node {host}: {tried}"
    sources = sorted({about["source"] for about in told.values()})
    return f"nodes have different meters: {', '.join(sources)}" if len(sources) > 1 else None


def _channels(readings: Path, host: str, about: dict[str, Any], nodes: dict[str, int]) -> list[Channel]:
    """The channels of a node, with the times of the record."""
    rows: dict[str, list[tuple[float, float]]] = {one["name"]: [] for one in about["channels"]}
    with open(readings / f"{host}.csv", newline="") as file:
        for row in csv.DictReader(file):
            if value := row["energy_j"] or row["power_w"]:  # none in a line that the end cut short
                rows[row["channel"]].append((float(row["time_s"]) + about["ahead_s"], float(value)))
    node = nodes.get(host.split(".")[0], 0)
    each = ((one, rows[one["name"]]) for one in about["channels"])
    return [Channel(node, one, [t for t, _ in own], [v for _, v in own]) for one, own in each]


def _content(channels: list[Channel], told: dict[str, dict], timing: dict[str, Any]) -> dict[str, Any]:
    """`energy` of record.json, but for its source."""
    span, idle = (timing["simulate_started_s"], timing["simulate_ended_s"]), timing.get("idle_before_s")
    duration, each = span[1] - span[0], [c.joules(span) for c in channels]
    still = [c.about["name"] for c, joules in zip(channels, each, strict=True) if c.counts and joules == 0]
    readings = min((c.inside(span) for c in channels), default=0)
    gross = sum(each) if None not in each and not still and readings >= FEWEST else None
    idles = [c.joules(tuple(idle)) for c in channels] if idle else [None]
    idle_w = None if None in idles else sum(idles) / (idle[1] - idle[0])
    reason = None
    if gross is None:
        failed = [f"{c.about['name']}: {c.about['reason']}" for c in channels if c.about["reason"]]
        few = f"{readings} readings within the measured part; expected {FEWEST} or more"
        stood = [f"{name}: the counter did not move" for name in still]
        outside = "the readings do not enclose the measured part"
        reason = [*failed, *([few] if readings < FEWEST else []), *stood, outside][0]
    elif idle_w is None:
        reason = "record.idle_pause_s is 0: no idle power was measured"
    gap = GAP * max(about["interval_s"] for about in told.values())
    return {
        "status": "unavailable" if gross is None else "ok", "gross_j": gross,
        "idle_power_w": idle_w, "net_j": None if None in (gross, idle_w) else gross - idle_w * duration,
        "duration_s": duration, "readings": readings,
        "coverage": min(c.coverage(span, gap) for c in channels), "nodes": len(told),
        "sampling_cost": max(about["cost"] for about in told.values()), "reason": reason,
        "channels": [
            {"node": c.node, **{name: c.about[name] for name in ABOUT}, "gross_j": joules}
            for c, joules in zip(channels, each, strict=True)
        ],
    }  # fmt: skip


def _write(path: Path, channels: list[Channel], source: str) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for c in channels:
            for t, v in zip(c.time_s, c.value, strict=True):
                cells = (f"{v:.9g}", "") if c.counts else ("", f"{v:.9g}")
                writer.writerow([c.node, source, c.about["name"], f"{t:.6f}", *cells])
