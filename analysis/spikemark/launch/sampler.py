"""Reads the energy meter of the node that it runs on, beside a run, until FOLDER/over is there.

    python sampler.py FOLDER [--interval S] [--root /sys] [--sensor CHIP/LABEL]...

Writes FOLDER/HOST.csv, a line per reading and channel, and FOLDER/HOST.json: which meters were
tried and why they cannot be read, the channels of the first that can, and `ahead_s`, which turns
the times into seconds since the Unix epoch. SIGTERM ends it, too. Uses nothing but Python's own
library, since it starts on every node. METERS has the meters, best first; the first that can be
read is taken.

A counter may wrap around at the end of its range, be reset, or run backwards. A fall is a wrap only
where the range is known and the energy that it would mean is possible: no more than the highest
power of what is counted (MAX_PACKAGE_W, MAX_NODE_W) gives between the two readings, and within a
factor of WRAP_FACTOR of the power just before. So a reset that is taken for a wrap costs at most
the energy of WRAP_FACTOR intervals. After any other fall, after a rise that the highest power
cannot give, and where the counter may have gone around its range between two readings, its energy
is unknown: it is lost, with the reason. A reading that fails is left out. A counter that is reset
more often than it is read may go on rising; nothing can tell.
"""

import argparse
import functools
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TextIO

#: The file that ends the samplers of a folder.
OVER = "over"
#: Of the table of readings.
READING_COLUMNS = ("channel", "time_s", "energy_j", "power_w")
#: Of a channel, in HOST.json.
ABOUT_CHANNEL = ("name", "event", "unit", "failed", "reason")
#: Shortest time between two calls of scontrol, s.
SLURM_INTERVAL_S = 1.0
#: Longest wait for scontrol, s.
SCONTROL_S = 10.0
#: What a processor package draws at most, for a moment as well; the largest of 2026 have 500 W.
MAX_PACKAGE_W = 1500.0
#: What a node draws at most; nodes with eight accelerators have 15 kW.
MAX_NODE_W = 50_000.0
#: Longest time between two updates of a counter of packages, s.
PACKAGE_UPDATE_S = 0.1
#: Longest time between two updates of another counter, s.
NODE_UPDATE_S = 1.0
#: Between the power across a wrap and the power just before.
WRAP_FACTOR = 2.0
#: Chips of hwmon whose power is that of a card, not of the board: they are read only where they are
#: named.
CARDS = ("amdgpu", "i915", "nouveau", "radeon", "xe")
#: Files of sensors of the board and their unit, best first.
HWMON = {"hwmon*/energy*_input": "J", "hwmon*/power*_input": "W", "hwmon*/power*_average": "W"}


class MeterUnread(Exception):
    """Why a meter or a file cannot be read.

    Attributes:
        status: unavailable (not there) or denied (to this user).
    """

    def __init__(self, reason: str, status: str = "unavailable"):
        super().__init__(reason)
        self.status = status


class Limits(NamedTuple):
    """What is possible for one channel of a meter."""

    max_w: float  #: the highest power, W
    update_s: float  #: the longest time between two updates of its counter, s

    @property
    def still_s(self) -> float:
        """How long a counter may stand still, s: some updates add less than its unit."""
        return 10 * self.update_s

    def joules(self, seconds: float) -> float:
        """The most energy that a counter may add between two readings, J."""
        return self.max_w * (seconds + self.update_s)


PACKAGE = Limits(MAX_PACKAGE_W, PACKAGE_UPDATE_S)
NODE = Limits(MAX_NODE_W, NODE_UPDATE_S)


def limits(source: str) -> Limits:
    """What is possible for a channel of the meter of this name.

    Example:
        >>> limits("powercap").max_w  # W
        1500.0
    """
    return PACKAGE if source == "powercap" else NODE


@dataclass
class MeterChannel:
    """One counter (J) or sensor (W), after its first reading. Raises MeterUnread if that fails."""

    name: str
    event: str  #: the file or command that is read
    unit: str  #: J for a counter, W for a sensor
    raw: Callable[[], int]  #: reads it, in units of `scale`
    scale: float = 1e-6  #: J or W
    range: int | None = None  #: after which a counter wraps around; None where it is unknown
    limits: Limits = NODE  #: what is possible
    clock: Callable[[], float] = time.monotonic  #: s
    failed: int = 0  #: readings so far that failed
    reason: str | None = None  #: of the last reading that failed
    lost: bool = False  #: whether the counter is of no more use
    counted: int = 0  #: units since the first reading
    last: int = 0  #: the last reading
    last_s: float = 0.0  #: when it began
    last_w: float | None = None  #: power of a counter between the last two readings

    def __post_init__(self) -> None:
        self.last_s = self.clock()
        self.last = self._checked(self.raw())

    def read(self) -> float | None:
        """Energy in J since the start, or power in W; None for a reading that failed."""
        if self.lost:
            self.failed += 1
            return None
        began_s = self.clock()
        try:
            now = self._checked(self.raw())
        except MeterUnread as error:
            self._failed(error)
            return None
        if self.unit == "W":
            return self.scale * now
        try:
            added = self._added(now, self.clock() - self.last_s)
        except MeterUnread as error:
            self._failed(error)
            self.lost = True
            return None
        if began_s > self.last_s:
            self.last_w = self.scale * added / (began_s - self.last_s)
        self.counted += added
        self.last = now
        self.last_s = began_s
        return self.scale * self.counted

    def _failed(self, error: MeterUnread) -> None:
        self.failed += 1
        self.reason = str(error)

    def _checked(self, now: int) -> int:
        """A reading that is possible by itself. Raises MeterUnread."""
        if self.range is not None and now > self.range:
            raise MeterUnread(
                f"{self.event}: {now} is above its max_energy_range_uj of {self.range}"
            )
        value = self.scale * now
        if self.unit == "W" and value > self.limits.max_w:
            raise MeterUnread(f"{self.event}: {value:g} W; expected up to {self.limits.max_w:g} W")
        return now

    def _added(self, now: int, seconds: float) -> int:
        """What a counter has counted since its last reading, `seconds` ago or less.

        Raises MeterUnread where that cannot be told, see the head of this file.
        """
        possible = self.limits.joules(seconds) / self.scale
        highest = f"{self.limits.max_w:g} W give {self.scale * possible:.4g} J in {seconds:.3g} s"
        if self.range is not None and possible >= self.range:
            around = f"it may have wrapped around its {self.scale * self.range:.4g} J unseen"
            raise MeterUnread(f"{self.event}: {around}: {highest}")
        rise = now - self.last
        if rise > possible:
            raise MeterUnread(f"{self.event}: jumped from {self.last} to {now}: {highest}")
        if rise >= 0:
            return rise
        fell = f"{self.event}: fell from {self.last} to {now}"
        if self.range is None:
            raise MeterUnread(f"{fell}: it was reset or ran backwards, or its range is unknown")
        wrapped = rise + self.range
        if wrapped > possible:
            meaning = f"a wrap would mean {self.scale * wrapped:.4g} J, and {highest}"
            raise MeterUnread(f"{fell}: it was reset or ran backwards: {meaning}")
        wrapped_w = self.scale * wrapped / seconds
        before_w = self.last_w or 0.0
        if not before_w / WRAP_FACTOR <= wrapped_w <= before_w * WRAP_FACTOR:
            meaning = f"a wrap would mean {wrapped_w:.4g} W after {before_w:.4g} W"
            raise MeterUnread(f"{fell}: it may have been reset: {meaning}")
        return wrapped


def _first_line(path: Path) -> str:
    """The first line of a file. Raises MeterUnread."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        status = "denied" if isinstance(error, PermissionError) else "unavailable"
        raise MeterUnread(f"{path}: {error.strerror}", status) from None
    return text.partition("\n")[0].strip()


def _number(path: Path, unit: str = "") -> int:
    """The whole number >= 0 that a file begins with. Raises MeterUnread.

    `unit`: what follows it; other words may stand behind. Without a unit, nothing does.
    """
    line = _first_line(path)
    pattern = rf"([0-9]{{1,19}}) {unit}( .*)?" if unit else r"([0-9]{1,19})"
    match = re.fullmatch(pattern, line)
    if match is None:
        raise MeterUnread(f"{path}: {line[:40]!r}; expected a whole number")
    return int(match[1])


def _powercap(root: Path, sensors: list[str]) -> list[MeterChannel]:
    """Energy of the processor packages (RAPL).

    No zone within a package, no platform, and no copy of a package that is offered by MMIO.
    """
    folder = root / "class/powercap"
    channels: dict[str, MeterChannel] = {}
    for zone in sorted(folder.glob("*:*"), key=_copies_last):
        # A zone without a name may be a package: nothing is left out silently.
        name = _first_line(zone / "name")
        if name.startswith("package") and name not in channels:
            file = zone / "energy_uj"
            channels[name] = MeterChannel(
                name,
                event=str(file),
                unit="J",
                raw=functools.partial(_number, file),
                range=_number(zone / "max_energy_range_uj"),
                limits=PACKAGE,
            )
    if not channels:
        raise MeterUnread(f"{folder}: no zone is a package")
    return list(channels.values())


def _copies_last(zone: Path) -> tuple[bool, str]:
    """The order of zones: those of MMIO after those that they repeat."""
    return "mmio" in zone.name, zone.name


def _pm_counters(root: Path, sensors: list[str]) -> list[MeterChannel]:
    """The energy of the node on Cray systems, in whole J."""
    file = root / "cray/pm_counters/energy"
    return [MeterChannel("node", str(file), "J", functools.partial(_number, file, "J"), scale=1.0)]


class BoardSensor(NamedTuple):
    """A sensor of hwmon."""

    file: Path
    unit: str  #: J or W


def _hwmon(root: Path, sensors: list[str]) -> list[MeterChannel]:
    """Sensors of the board: those named, or the only one of the best kind.

    There must be only one where none is named, since several may overlap.
    """
    folder = root / "class/hwmon"
    present: dict[str, BoardSensor] = {}
    best: list[str] = []
    for pattern, unit in HWMON.items():
        for file in sorted(folder.glob(pattern)):
            # Energy and power of one sensor are not two.
            present.setdefault(_sensor_name(file), BoardSensor(file, unit))
        if not best:
            best = [name for name in present if name.partition("/")[0] not in CARDS]
    chosen = list(dict.fromkeys(sensors)) or best
    ambiguous = not sensors and len(best) > 1
    absent = [name for name in chosen if name not in present]
    if not chosen or ambiguous or absent:
        reason = "no sensor"
        if present:
            reason = f"record.energy_sensors says which of {', '.join(present)} to add up"
        raise MeterUnread(f"{folder}: {reason}")
    channels = []
    for name in chosen:
        file, unit = present[name]
        channels.append(MeterChannel(name, str(file), unit, functools.partial(_number, file)))
    return channels


def _sensor_name(file: Path) -> str:
    """CHIP/LABEL of a sensor of hwmon, from its file such as hwmon0/power1_input."""
    chip = file.parent
    sensor = file.name.rpartition("_")[0]
    return f"{_word(chip / 'name', chip.name)}/{_word(chip / f'{sensor}_label', sensor)}"


def _word(file: Path, otherwise: str) -> str:
    """The first line of a file as a cell of a table; `otherwise` if it has none."""
    try:
        line = _first_line(file)
    except MeterUnread:
        return otherwise
    return re.sub(r'[,"]', " ", line) or otherwise


def _slurm(root: Path, sensors: list[str]) -> list[MeterChannel]:
    """`CurrentWatts` of the node by scontrol, which Slurm refreshes as AcctGatherNodeFreq says."""
    node = os.environ.get("SLURMD_NODENAME") or os.uname().nodename.split(".")[0]
    command = ["scontrol", "--oneliner", "show", "node", node]

    def watts() -> int:
        try:
            finished = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=SCONTROL_S,
            )
        except (OSError, subprocess.TimeoutExpired):
            raise MeterUnread("scontrol: not there, or no answer") from None
        match = re.search(r"\bCurrentWatts=(\d{1,9})\b", finished.stdout)
        if match is None or int(match[1]) == 0:
            reason = "no CurrentWatts; Slurm has no AcctGatherEnergyType"
            raise MeterUnread(f"scontrol show node {node}: {reason}")
        return int(match[1])

    return [MeterChannel("CurrentWatts", " ".join(command), "W", watts, scale=1.0)]


#: Meters by name, best first.
METERS = {"powercap": _powercap, "pm_counters": _pm_counters, "hwmon": _hwmon, "slurm": _slurm}


class OpenedMeter(NamedTuple):
    """The first meter that can be read."""

    source: str | None  #: its name; None where no meter can be read
    channels: list[MeterChannel]
    tried: list[dict[str, str]]  #: meters that cannot be read, and why


def _opened(root: Path, sensors: list[str]) -> OpenedMeter:
    """Looks for a meter; with `sensors`, only sensors of the board are looked for."""
    names = ["hwmon"] if sensors else list(METERS)
    tried: list[dict[str, str]] = []
    for name in names:
        try:
            return OpenedMeter(name, METERS[name](root, sensors), tried)
        except MeterUnread as error:
            tried.append({"source": name, "status": error.status, "reason": str(error)})
    return OpenedMeter(None, [], tried)


def _sample(
    folder: Path,
    interval_s: float,
    root: Path,
    sensors: list[str],
    over: threading.Event,
) -> None:
    """Reads until `over` is set or the file OVER is there; the last reading follows it.

    Args:
        folder: gets HOST.csv and HOST.json.
        interval_s: time between two readings, s.
        root: stands for /sys.
        sensors: of hwmon; empty for the best meter.
        over: ends the readings.
    """
    meter = _opened(root, sensors)
    if meter.source == "slurm":
        interval_s = max(interval_s, SLURM_INTERVAL_S)
    began = time.monotonic()
    used = time.process_time()
    with open(folder / f"{os.uname().nodename}.csv", "w", encoding="utf-8") as file:
        file.write(",".join(READING_COLUMNS) + "\n")
        rounds = 0
        is_last = False
        while meter.channels:
            for channel in meter.channels:
                _write_reading(file, channel)
            file.flush()  # what was read survives the end of the job
            if rounds == 0:
                _write_about(folder, meter, interval_s, began, used)
            if is_last:
                break
            rounds += 1
            pause = began + rounds * interval_s - time.monotonic()
            is_last = over.wait(max(0.0, pause)) or (folder / OVER).exists()
    _write_about(folder, meter, interval_s, began, used)


def _write_reading(file: TextIO, channel: MeterChannel) -> None:
    """A line of the table, in the middle of the time that the reading took; none if it failed."""
    before = time.monotonic()
    value = channel.read()
    if value is None:
        return
    middle = (before + time.monotonic()) / 2
    cells = f",{value!r}" if channel.unit == "W" else f"{value!r},"
    file.write(f"{channel.name},{middle:.7f},{cells}\n")


def _write_about(
    folder: Path,
    meter: OpenedMeter,
    interval_s: float,
    began: float,
    used: float,
) -> None:
    """Writes HOST.json. `began`, `used`: clocks of time and of processor time at the start, s."""
    host = os.uname().nodename
    channels = []
    for channel in meter.channels:
        channels.append({name: getattr(channel, name) for name in ABOUT_CHANNEL})
    lasted = time.monotonic() - began
    cost = (time.process_time() - used) / lasted if lasted > interval_s else 0.0
    content = {
        "host": host,
        "source": meter.source,
        "tried": meter.tried,
        "channels": channels,
        "interval_s": interval_s,
        "ahead_s": time.time() - time.monotonic(),
        "cost": cost,
    }
    new = folder / f"{host}.new"  # readers look for *.json
    new.write_text(json.dumps(content))
    os.replace(new, folder / f"{host}.json")


def main() -> None:
    """The command line; see the head of this file."""
    parser = argparse.ArgumentParser(
        description="Reads the energy meter of this node until SIGTERM."
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--interval",
        type=float,
        default=0.1,
        help="seconds between two readings",
    )
    parser.add_argument("--root", type=Path, default=Path("/sys"))
    parser.add_argument(
        "--sensor", action="append", default=[], help="of hwmon, CHIP/LABEL; may be repeated"
    )
    arguments = parser.parse_args()
    over = threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: over.set())
    _sample(arguments.folder, arguments.interval, arguments.root, arguments.sensor, over)


if __name__ == "__main__":
    main()
