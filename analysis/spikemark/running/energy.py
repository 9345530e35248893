"""Energy of a run, from the samplers beside it to its record: energy.csv and `energy` of record.json.

The samplers (launch/sampler.py) know the times of their readings, the record knows when its measured part
began and ended. miniapp/FORMAT.md states both files. Imports nothing heavy: a process is started for every
run. `measuring.energy` reads the same files with intervals.
"""

import csv
import json
import time
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.records import run_files

COLUMNS = ("node", "source", "channel", "time_s", "energy_j", "power_w")
IDLE_S = 5.0  # pause before a run whose energy is read, if record.idle_pause_s does not say otherwise
FEWEST = 2  # readings within the measured part
GAP = 3.0  # usual intervals that two readings may be apart
NO_SAMPLER = "no sampler of energy could be started on the nodes"
FIELDS = ("energy_interval_s", "energy_sensors", "idle_pause_s")

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
    interval, sensors, idle = (record.get(name) for name in FIELDS)
    return Wanted(
        record.get("energy") is True,
        float(interval) if isinstance(interval, int | float) else 0.1,
        tuple(map(str, sensors)) if isinstance(sensors, list) else (),
        float(idle) if isinstance(idle, int | float) else None,
    )


def readable(readings: Path) -> bool:
    """Says whether a meter is read on any node."""
    return any(json.loads(path.read_text())["source"] for path in readings.glob("*.json"))


def pause(readings: Path, asked: Wanted) -> Span | None:
    """Sleeps while nothing runs, if a meter is read or a pause is asked for, and returns when."""
    seconds = (IDLE_S if readable(readings) else 0.0) if asked.idle_s is None else asked.idle_s
    if not seconds:
        return None
    began = time.time()
    time.sleep(seconds)
    return began, time.time()


@dataclass(frozen=True)
class Channel:
    """Readings of one channel: `time_s` since the epoch, `value` in J, cumulative, or W."""

    node: int
    name: str
    event: str
    unit: str
    failed: int
    reason: str | None
    time_s: list[float]
    value: list[float]

    def joules(self, span: Span) -> float | None:
        """Energy within a span, power linear between readings; None unless readings enclose the span."""
        if len(self.time_s) < 2 or self.time_s[0] > span[0] or self.time_s[-1] < span[1]:
            return None
        total = 0.0
        for i in range(max(1, bisect_left(self.time_s, span[0])), len(self.time_s)):
            t0, t1, v0, v1 = *self.time_s[i - 1 : i + 1], *self.value[i - 1 : i + 1]
            if t0 >= span[1]:
                break
            low, high, slope = max(t0, span[0]), min(t1, span[1]), (v1 - v0) / (t1 - t0)
            total += (high - low) * (slope if self.unit == "J" else v0 + slope * ((low + high) / 2 - t0))
        return total

    def inside(self, span: Span) -> int:
        """How many readings lie within a span."""
        return sum(span[0] <= t <= span[1] for t in self.time_s)

    def coverage(self, span: Span, gap_s: float) -> float:
        """Share of a span between readings that are at most `gap_s` apart."""
        pairs = zip(self.time_s, self.time_s[1:], strict=False)
        held = sum(max(0.0, min(b, span[1]) - max(a, span[0])) for a, b in pairs if b - a <= gap_s)
        return min(1.0, held / (span[1] - span[0]))


def fill(folder: Path, readings: Path, asked: Wanted, idle: Span | None) -> None:
    """Adds to the record in `folder` what the samplers wrote into `readings`, and when the run paused."""
    record = json.loads((folder / run_files.RECORD).read_text())
    timing = record["timing"]
    if idle and timing.get("idle_before_s") is None:
        timing["idle_before_s"] = list(idle)
    if asked.energy:
        nodes = _nodes(folder, record)
        told = {path.stem: json.loads(path.read_text()) for path in sorted(readings.glob("*.json"))}
        channels, why = _channels(readings, told, nodes)
        record["meters"] = [m for m in record["meters"] if m["name"] != "energy"]
        record["meters"] += [_meter(one) for about in told.values() for one in about["tried"]]
        record["energy"], record["energy_reason"] = None, why
        if why is None:
            span = timing["simulate_started_s"], timing["simulate_ended_s"]
            source = next(iter(told.values()))["source"]
            record["energy"] = energy = _content(channels, told, span, timing.get("idle_before_s"), source)
            status, value = energy["status"], energy["gross_j"]
            reason = None if value is not None else "see energy.reason"
            record["meters"].append(_meter({"source": source, "status": status, "reason": reason}, value))
            _write(folder / run_files.ENERGY, channels, source)
    write_json(folder / run_files.RECORD, record)


def _meter(tried: dict[str, str | None], value: float | None = None) -> dict[str, Any]:
    event = None if value is None else "sum of energy.channels"
    return {"name": "energy", "unit": "J", "value": value, "event": event, **tried}


def _nodes(folder: Path, record: dict[str, Any]) -> dict[str, int]:
    """The lowest rank of each node, by the short name of the node."""
    with open(folder / run_files.RANKS, newline="") as file:
        rows = [(int(row["rank"]), int(row["node"] or 0)) for row in csv.DictReader(file)]
    lowest = {node: min(rank for rank, on in rows if on == node) for _, node in rows}
    names = record["host"].get("node_names") or [record["host"]["name"]]
    return {name.split(".")[0]: lowest.get(number, 0) for number, name in enumerate(names)}


def _channels(
    readings: Path, told: dict[str, dict], nodes: dict[str, int]
) -> tuple[list[Channel], str | None]:
    """Every channel of every node of the run, or why the energy of all of them is not known."""
    if len(told) < len(nodes):
        return [], NO_SAMPLER
    sources = {about["source"] for about in told.values()}
    for host, about in told.items():
        if about["source"] is None:
            tried = "; ".join(f"{t['source']} {t['status']}: {t['reason']}" for t in about["tried"])
            return [], f"node {host}: {tried}"
    if len(sources) > 1:
        return [], f"nodes have different meters: {', '.join(sorted(sources))}"
    found = []
    for host, about in told.items():
        rows: dict[str, list[tuple[float, float]]] = {}
        with open(readings / f"{host}.csv", newline="") as file:
            for row in csv.DictReader(file):
                value = row["energy_j"] or row["power_w"]
                if value:  # a line that the end of the sampler cut short has none
                    at = float(row["time_s"]) + about["ahead_s"]
                    rows.setdefault(row["channel"], []).append((at, float(value)))
        node = nodes.get(host.split(".")[0], 0)
        for one in about["channels"]:
            times, values = [list(x) for x in zip(*rows.get(one["name"], []), strict=True)] or ([], [])
            kept = (one[name] for name in ("name", "event", "unit", "failed", "reason"))
            found.append(Channel(node, *kept, times, values))
    return found, None


def _content(
    channels: list[Channel], told: dict[str, dict], span: Span, idle: Span | None, source: str
) -> dict[str, Any]:
    """`energy` of record.json."""
    each = [c.joules(span) for c in channels]
    still = [c.name for c, j in zip(channels, each, strict=True) if c.unit == "J" and j == 0]
    readings = min((c.inside(span) for c in channels), default=0)
    gross = sum(each) if None not in each and not still and readings >= FEWEST else None
    idles = [c.joules(tuple(idle)) for c in channels] if idle else [None]
    idle_w = sum(idles) / (idle[1] - idle[0]) if idle and None not in idles else None
    duration = span[1] - span[0]
    reason = None
    if gross is None:
        failed = (f"{c.name}: {c.reason}" for c in channels if c.reason)
        few = f"{readings} readings within the measured part; expected {FEWEST} or more"
        stood = f"{still[0]}: the counter did not move" if still else None
        outside = stood or "the readings do not enclose the measured part"
        reason = next(failed, few if readings < FEWEST else outside)
    elif idle_w is None:
        reason = "record.idle_pause_s is 0: no idle power was measured"
    gap = GAP * max(about["interval_s"] for about in told.values())
    return {
        "source": source, "status": "unavailable" if gross is None else "ok", "gross_j": gross,
        "idle_power_w": idle_w, "net_j": None if None in (gross, idle_w) else gross - idle_w * duration,
        "duration_s": duration, "readings": readings,
        "coverage": min(c.coverage(span, gap) for c in channels), "nodes": len(told),
        "sampling_cost": max(about["cost"] for about in told.values()), "reason": reason,
        "channels": [
            {**{name: getattr(c, name) for name in ("node", "name", "event", "unit", "failed")}, "gross_j": j}
            for c, j in zip(channels, each, strict=True)
        ],
    }  # fmt: skip


def _write(path: Path, channels: list[Channel], source: str) -> None:
    with open(path, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for c in channels:
            for t, v in zip(c.time_s, c.value, strict=True):
                cells = (f"{v:.9g}", "") if c.unit == "J" else ("", f"{v:.9g}")
                writer.writerow([c.node, source, c.name, f"{t:.6f}", *cells])
