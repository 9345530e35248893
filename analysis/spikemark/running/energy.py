"""Energy of a run, from the samplers beside it to energy.csv and `energy` of its record.json.

The samplers (launch/sampler.py) know the times of their readings, the record knows when its
measured part began and ended. miniapp/FORMAT.md states both files. Imports nothing heavy: a process
is started for every run. `measuring.energy` reads the same files with intervals.
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
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.launch import Launch, LaunchLayout, Nodes, launch, sampler
from spikemark.launch.process import end, running_program
from spikemark.records import run_files

POWER_COLUMNS = ("node", "source", "channel", "time_s", "energy_j", "power_w")
#: Pause before a run whose energy is read, if record.idle_pause_s does not say otherwise, s.
IDLE_S = 5.0
#: Readings that it takes within the measured part.
MIN_READINGS = 2
#: Usual intervals that two readings may be apart.
MAX_GAP_INTERVALS = 3.0
#: Intervals for which a counter may stand still.
MAX_STILL_INTERVALS = 3.0
NO_SAMPLER = "no sampler of energy could be started on the nodes"
#: Longest wait until every sampler has read once, s.
READY_S = 30.0
#: From look to look while waiting, s.
POLL_S = 0.02
#: Longest wait until samplers have seen that it is over, s.
ENDING_S = 20.0
#: The file with what the samplers and their launcher printed: why there are no other files.
SAID = "said.log"
#: Of a channel, as the sampler says it and the record has it.
CHANNEL_FACTS = ("name", "event", "unit", "failed")

#: Begin and end, in seconds since the Unix epoch.
Span = tuple[float, float]


@dataclass(frozen=True)
class EnergyRequest:
    """What a run description says about energy."""

    energy: bool  #: whether it is to be read
    interval_s: float = 0.1  #: time between two readings
    sensors: tuple[str, ...] = ()  #: of hwmon; none for the best meter
    idle_s: float | None = None  #: pause before the run; None for IDLE_S if a meter can be read


def energy_request(description: Path) -> EnergyRequest:
    """The part of a run description that concerns energy.

    Nothing of what the mini-app will refuse.

    Example:
        >>> energy_request(Path("tests/golden/analysis/networks/equal-4.json"))
        EnergyRequest(energy=False, interval_s=0.1, sensors=(), idle_s=None)
    """
    record = read_json(description).get("record")
    if not isinstance(record, dict):
        record = {}
    sensors = record.get("energy_sensors")
    names = [str(sensor) for sensor in sensors] if isinstance(sensors, list) else []
    interval_s = _number(record.get("energy_interval_s"))
    return EnergyRequest(
        energy=record.get("energy") is True,
        interval_s=0.1 if interval_s is None else interval_s,
        sensors=tuple(names),
        idle_s=_number(record.get("idle_pause_s")),
    )


def _number(value: object) -> float | None:
    """A number of a description; None for anything else."""
    return float(value) if isinstance(value, int | float) else None


@contextlib.contextmanager
def metered(
    record: Path,
    readings: Path,
    request: EnergyRequest,
    nodes: tuple[str, ...],
    launcher: str,
) -> Iterator[None]:
    """Has the meters of the nodes read into `readings`, if asked, while the block leaves a record.

    Pauses before, and adds the energy to the record afterwards.

    Example:
        >>> request = EnergyRequest(energy=False, idle_s=0.0)
        >>> with metered(Path("record"), Path("readings"), request, nodes=(), launcher="mpirun"):
        ...     print("the program runs")
        the program runs
    """
    meters: AbstractContextManager[None] = contextlib.nullcontext()
    if request.energy:
        meters = sampling(readings, nodes, launcher, request.interval_s, request.sensors)
    with meters:
        idle = pause(readings, request)
        yield
    if request.energy or idle:
        fill(record, readings, request, idle)


@contextlib.contextmanager
def sampling(
    folder: Path,
    nodes: tuple[str, ...],
    launcher: str,
    interval_s: float = 0.1,
    sensors: tuple[str, ...] = (),
) -> Iterator[None]:
    """Has the meters of the nodes read into `folder`, which all of them see, while the block runs.

    The block starts when every node has read once or has said that it cannot, READY_S at the
    latest. SPIKEMARK_SYSFS names a folder to read instead of /sys. Nothing is raised if a sampler
    fails: its files are missing then, and SAID tells why.

    Args:
        folder: is made.
        nodes: by name; none: this host.
        launcher: starts the samplers on other nodes.
        interval_s: time between two readings.
        sensors: of hwmon; none for the best meter.
    """
    folder.mkdir(parents=True)
    start = _sampler(folder, nodes, launcher, interval_s, sensors)
    with (
        open(folder / SAID, "w", encoding="utf-8") as log,
        running_program(
            start.command, start.environment, removed=start.removed, stdout=log, stderr=log
        ) as processes,
    ):
        latest = time.monotonic() + READY_S
        while not _all_ready(folder, nodes) and time.monotonic() < latest:
            if processes.poll() is not None:
                break
            time.sleep(POLL_S)
        yield
        # srun and mpirun may kill what they started when they are ended.
        (folder / sampler.OVER).touch()
        with contextlib.suppress(subprocess.TimeoutExpired):
            processes.wait(timeout=ENDING_S)
        end(processes)


def _sampler(
    folder: Path,
    nodes: tuple[str, ...],
    launcher: str,
    interval_s: float,
    sensors: tuple[str, ...],
) -> Launch:
    """How samplers are started: one on each node."""
    command = [sys.executable, str(Path(sampler.__file__).resolve()), str(folder.resolve())]
    command += ["--interval", str(interval_s)]
    command += ["--root", os.environ.get("SPIKEMARK_SYSFS", "/sys")]
    command += [f"--sensor={name}" for name in sensors]
    short_names = [node.split(".")[0] for node in nodes]
    if short_names in ([], [places.host().split(".")[0]]):
        return Launch(command)
    one_each = LaunchLayout(
        len(nodes),
        ranks_per_node=1,
        binding="none",
    )
    return launch(launcher, command, one_each, Nodes((1,) * len(nodes), "the run", nodes))


def _all_ready(folder: Path, nodes: tuple[str, ...]) -> bool:
    """Whether each sampler has written its file."""
    return len(list(folder.glob("*.json"))) >= max(1, len(nodes))


def pause(readings: Path, request: EnergyRequest) -> Span | None:
    """Sleeps while nothing runs, if a meter is read or a pause is asked for, and returns when.

    Example:
        >>> pause(Path("readings"), EnergyRequest(energy=False)) is None  # there is no meter
        True
        >>> began_s, ended_s = pause(Path("readings"), EnergyRequest(energy=False, idle_s=0.01))
        >>> ended_s - began_s >= 0.01
        True
    """
    seconds = request.idle_s
    if seconds is None:
        abouts = [json.loads(path.read_text()) for path in readings.glob("*.json")]
        is_read = any(about["source"] for about in abouts)
        seconds = IDLE_S if is_read else 0.0
    if not seconds:
        return None
    began = time.time()
    time.sleep(seconds)
    return began, time.time()


@dataclass(frozen=True)
class ChannelReadings:
    """Readings of one channel."""

    node: int  #: the lowest rank of the node
    about: dict[str, Any]  #: what the sampler says of the channel
    time_s: list[float]  #: since the Unix epoch
    value: list[float]  #: J, cumulative, or W

    @property
    def counts(self) -> bool:
        """True for a counter of energy."""
        return bool(self.about["unit"] == "J")

    def value_at(self, time_s: float) -> float:
        """The value at a time between the first and the last reading, linear between two."""
        after = max(1, bisect_left(self.time_s, time_s))
        before = after - 1
        share = (time_s - self.time_s[before]) / (self.time_s[after] - self.time_s[before])
        return self.value[before] + (self.value[after] - self.value[before]) * share

    def joules(self, span: Span) -> float | None:
        """Energy within a span, power linear between readings.

        None unless readings enclose the span.
        """
        if len(self.time_s) < 2 or self.time_s[0] > span[0] or self.time_s[-1] < span[1]:
            return None
        first, last = self.value_at(span[0]), self.value_at(span[1])
        if self.counts:
            return last - first
        inside = slice(bisect_right(self.time_s, span[0]), bisect_left(self.time_s, span[1]))
        times = [span[0], *self.time_s[inside], span[1]]
        watts = [first, *self.value[inside], last]
        energy = 0.0
        for (t0, t1), (p0, p1) in zip(pairwise(times), pairwise(watts), strict=True):
            energy += (t1 - t0) * (p0 + p1) / 2
        return energy

    def impossible(self, limits: sampler.Limits, span: Span) -> str | None:
        """Why a counter cannot have counted this; None where it can, and for a sensor of power.

        It rises by no more than the highest power gives, never falls, and never stands still for
        long within `span`.
        """
        if not self.counts:
            return None
        moved_s = span[0]
        for (t0, t1), (v0, v1) in zip(pairwise(self.time_s), pairwise(self.value), strict=True):
            if not 0 <= v1 - v0 <= limits.joules(t1 - t0):
                change = f"the counter went from {v0:.6g} J to {v1:.6g} J in {t1 - t0:.3g} s"
                return f"{change}; expected no fall, and at most {limits.max_w:g} W"
            if v1 > v0:
                moved_s = max(moved_s, t0)
            still_s = min(t1, span[1]) - moved_s
            if v1 == v0 and still_s > max(limits.still_s, MAX_STILL_INTERVALS * (t1 - t0)):
                return f"the counter did not move for {still_s:.3g} s of the measured part"
        return None

    def inside(self, span: Span) -> int:
        """How many readings lie within a span."""
        return sum(span[0] <= time_s <= span[1] for time_s in self.time_s)

    def coverage(self, span: Span, max_gap_s: float) -> float:
        """Share of a span between readings that are at most `max_gap_s` apart."""
        covered_s = 0.0
        for begin, stop in pairwise(self.time_s):
            if stop - begin <= max_gap_s:
                covered_s += max(0.0, min(stop, span[1]) - max(begin, span[0]))
        return min(1.0, covered_s / (span[1] - span[0]))


def fill(
    folder: Path,
    readings: Path,
    request: EnergyRequest,
    idle: Span | None,
) -> None:
    """Adds the energy to the record in `folder`.

    Args:
        folder: of the record.
        readings: the folder into which the samplers wrote.
        request: what the description says.
        idle: when the run paused; None if it did not.

    Example:
        >>> import shutil
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = shutil.copy("tests/golden/analysis/records/aware-4/record.json", folder)
        ...     fill(Path(folder), Path("readings"), EnergyRequest(energy=False), idle=(10.0, 15.0))
        ...     record = json.loads(Path(folder, "record.json").read_text())
        >>> record["timing"]["idle_before_s"]
        [10.0, 15.0]
    """
    record = json.loads((folder / run_files.RECORD).read_text())
    timing = record["timing"]
    if idle and timing.get("idle_before_s") is None:
        timing["idle_before_s"] = list(idle)
    if request.energy:
        _fill_energy(folder, readings, record)
    write_json(folder / run_files.RECORD, record)


def _fill_energy(folder: Path, readings: Path, record: dict[str, Any]) -> None:
    """Sets `energy`, `energy_reason` and `meters` of a record; writes energy.csv."""
    # By host, what its sampler says.
    abouts: dict[str, dict[str, Any]] = {}
    for path in sorted(readings.glob("*.json")):
        abouts[path.stem] = json.loads(path.read_text())
    nodes = _nodes(folder, record)
    meters = []
    for about in abouts.values():
        meters += [_meter(tried) for tried in about["tried"]]
    record["energy"] = None
    record["energy_reason"] = _unknown(abouts, len(nodes))
    if record["energy_reason"] is None:
        source = next(iter(abouts.values()))["source"]
        channels = []
        for host, about in abouts.items():
            channels += _channels(readings, host, about, nodes)
        content = _content(channels, abouts, record["timing"], sampler.limits(source))
        record["energy"] = {"source": source, **content}
        gross_j = content["gross_j"]
        reason = "see energy.reason" if gross_j is None else None
        meter = _meter({"source": source, "status": content["status"], "reason": reason})
        if gross_j is not None:
            meter |= {"value": gross_j, "event": "sum of energy.channels"}
        meters.append(meter)
        _write(folder / run_files.ENERGY, channels, source)
    others = [meter for meter in record["meters"] if meter["name"] != "energy"]
    record["meters"] = others + meters


def _meter(tried: dict[str, Any]) -> dict[str, Any]:
    """An item of `meters` of a record, without a value."""
    return {"name": "energy", "unit": "J", "value": None, "event": None, **tried}


def _nodes(folder: Path, record: dict[str, Any]) -> dict[str, int]:
    """The lowest rank of each node, by the short name of the node."""
    lowest: dict[int, int] = {}
    with open(folder / run_files.RANKS, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            rank = int(row["rank"])
            node = int(row["node"] or 0)
            lowest[node] = min(rank, lowest.get(node, rank))
    names = record["host"].get("node_names") or [record["host"]["name"]]
    return {name.split(".")[0]: lowest.get(number, 0) for number, name in enumerate(names)}


def _unknown(abouts: dict[str, dict[str, Any]], nodes: int) -> str | None:
    """Why the energy of so many nodes is not known; None if all of them read the same meter."""
    if len(abouts) < nodes:
        return NO_SAMPLER
    for host, about in abouts.items():
        if about["source"] is None:
            reasons = [f"{t['source']} {t['status']}: {t['reason']}" for t in about["tried"]]
            return f"node {host}: {'; '.join(reasons)}"
    sources = sorted({about["source"] for about in abouts.values()})
    if len(sources) > 1:
        return f"nodes have different meters: {', '.join(sources)}"
    return None


def _channels(
    readings: Path,
    host: str,
    about: dict[str, Any],
    nodes: dict[str, int],
) -> list[ChannelReadings]:
    """The channels of a node, with the times of the record."""
    node = nodes.get(host.split(".")[0], 0)
    channels = {}
    for channel in about["channels"]:
        channels[channel["name"]] = ChannelReadings(node, channel, [], [])
    with open(readings / f"{host}.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            value = row["energy_j"] or row["power_w"]
            if value:  # none in a line that the end cut short
                channel = channels[row["channel"]]
                channel.time_s.append(float(row["time_s"]) + about["ahead_s"])
                channel.value.append(float(value))
    return list(channels.values())


def _content(
    channels: list[ChannelReadings],
    abouts: dict[str, dict[str, Any]],
    timing: dict[str, Any],
    limits: sampler.Limits,
) -> dict[str, Any]:
    """`energy` of record.json, but for its source."""
    span = (timing["simulate_started_s"], timing["simulate_ended_s"])
    duration_s = span[1] - span[0]
    joules = [channel.joules(span) for channel in channels]
    readings = min((channel.inside(span) for channel in channels), default=0)
    reason = _why_no_energy(channels, joules, readings, limits, span)
    gross_j = _sum(joules) if reason is None else None
    idle_w = None
    idle = timing.get("idle_before_s")
    if idle:
        idle_j = _sum([channel.joules((idle[0], idle[1])) for channel in channels])
        if idle_j is not None:
            idle_w = idle_j / (idle[1] - idle[0])
    net_j = None
    if gross_j is not None and idle_w is not None:
        net_j = gross_j - idle_w * duration_s
    if gross_j is not None and idle_w is None:
        reason = "record.idle_pause_s is 0: no idle power was measured"
    max_gap_s = MAX_GAP_INTERVALS * max(about["interval_s"] for about in abouts.values())
    channel_contents = []
    for channel, energy in zip(channels, joules, strict=True):
        facts = {name: channel.about[name] for name in CHANNEL_FACTS}
        channel_contents.append({"node": channel.node, **facts, "gross_j": energy})
    return {
        "status": "unavailable" if gross_j is None else "ok",
        "gross_j": gross_j,
        "idle_power_w": idle_w,
        "net_j": net_j,
        "duration_s": duration_s,
        "readings": readings,
        "coverage": min(channel.coverage(span, max_gap_s) for channel in channels),
        "nodes": len(abouts),
        "sampling_cost": max(about["cost"] for about in abouts.values()),
        "reason": reason,
        "channels": channel_contents,
    }


def _sum(values: list[float | None]) -> float | None:
    """The sum of values; None if one is unknown."""
    total = 0.0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def _why_no_energy(
    channels: list[ChannelReadings],
    joules: list[float | None],
    readings: int,
    limits: sampler.Limits,
    span: Span,
) -> str | None:
    """Why the energy of the measured part is unknown; None if it is known.

    Args:
        channels: of all nodes.
        joules: the energy of each channel within `span`.
        readings: the fewest of a channel within `span`.
        limits: what is possible for a channel.
        span: the measured part.
    """
    still = []
    impossible = []
    for channel, energy in zip(channels, joules, strict=True):
        name = channel.about["name"]
        if channel.counts and energy == 0:
            still.append(f"{name}: the counter did not move")
        reason = channel.impossible(limits, span)
        if reason is not None:
            impossible.append(f"{name}: {reason}")
    enough = readings >= MIN_READINGS
    if None not in joules and not still and not impossible and enough:
        return None
    # The first that applies; what a meter says itself comes first.
    for channel in channels:
        if channel.about["reason"]:
            return f"{channel.about['name']}: {channel.about['reason']}"
    if not enough:
        return f"{readings} readings within the measured part; expected {MIN_READINGS} or more"
    if still:
        return still[0]
    if impossible:
        return impossible[0]
    return "the readings do not enclose the measured part"


def _write(path: Path, channels: list[ChannelReadings], source: str) -> None:
    """Writes energy.csv."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(POWER_COLUMNS)
        for channel in channels:
            name = channel.about["name"]
            for time_s, value in zip(channel.time_s, channel.value, strict=True):
                cells = (f"{value:.9g}", "") if channel.counts else ("", f"{value:.9g}")
                writer.writerow([channel.node, source, name, f"{time_s:.6f}", *cells])
