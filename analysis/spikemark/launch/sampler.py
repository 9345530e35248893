"""Reads the energy meter of the node that it runs on, beside a run, until FOLDER/over is there.

    python sampler.py FOLDER [--interval S] [--root /sys] [--sensor CHIP/LABEL]...

Writes FOLDER/HOST.csv, a line per reading and channel, and FOLDER/HOST.json: which meters were tried and why
they cannot be read, the channels of the first that can, and `ahead_s`, which turns the times into seconds
since the Unix epoch. SIGTERM ends it, too. Uses nothing but Python's own library, since it starts on every
node. METERS has the meters, best first; the first that can be read is taken.

A counter of packages that falls has wrapped around at `max_energy_range_uj`; the others have no known range,
so one that falls is lost. A reading that fails is left out; after MOST_FAILED in a row a counter of packages
may have wrapped around unseen, and is lost.
"""

import argparse
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
from typing import NamedTuple

OVER = "over"  # the file that ends the samplers of a folder
COLUMNS = ("channel", "time_s", "energy_j", "power_w")
SLURM_INTERVAL_S = 1.0  # shortest time between two calls of scontrol
MOST_FAILED = 3
SCONTROL_S = 10.0  # longest wait for it
#: Files of sensors of the board and their unit, best first.
HWMON = {"hwmon*/energy*_input": "J", "hwmon*/power*_input": "W", "hwmon*/power*_average": "W"}


class Unread(Exception):
    """Why a meter or a file cannot be read; `status`: unavailable (not there) or denied (to this user)."""

    def __init__(self, reason: str, status: str = "unavailable"):
        super().__init__(reason)
        self.status = status


@dataclass
class Channel:
    """One counter (J) or sensor (W), after its first reading. Raises Unread if that fails.

    `raw` reads it in units of `scale` J or W; `range` is where a counter wraps around. `failed` readings so
    far, the `reason` of the last, and whether the counter is `lost` for good.
    """

    name: str
    event: str
    unit: str
    raw: Callable[[], int]
    scale: float = 1e-6
    range: int | None = None
    failed: int = 0
    in_a_row: int = 0
    reason: str | None = None
    lost: bool = False
    counted: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        self.last = self._reading()

    def _reading(self) -> int:
        now = self.raw()
        if self.range is not None and now > self.range:
            raise Unread(f"{self.event}: {now} is above its max_energy_range_uj of {self.range}")
        self.lost |= self.range is None and self.unit == "J" and now < self.last
        if self.lost:
            raise Unread(f"{self.event}: fell below {self.last}, or was not read for too long")
        return now

    def read(self) -> float | None:
        """Energy in J since the start, or power in W; None for a reading that failed."""
        try:
            now = self._reading()
        except Unread as why:
            self.failed, self.in_a_row, self.reason = self.failed + 1, self.in_a_row + 1, str(why)
            self.lost |= self.range is not None and self.in_a_row > MOST_FAILED
            return None
        self.in_a_row = 0
        if self.unit == "W":
            return self.scale * now
        self.counted += now - self.last + (self.range if now < self.last else 0)
        self.last = now
        return self.scale * self.counted


def text(path: Path) -> str:
    """The first line of a file. Raises Unread."""
    try:
        return path.read_text(errors="replace").partition("\n")[0].strip()
    except OSError as error:
        status = "denied" if isinstance(error, PermissionError) else "unavailable"
        raise Unread(f"{path}: {error.strerror}", status) from None


def number(path: Path, unit: str = "") -> int:
    """The whole number >= 0 that a file begins with; `unit`: what follows it. Raises Unread."""
    said = text(path)
    found = re.fullmatch(rf"([0-9]{{1,19}}) {unit}( .*)?" if unit else r"([0-9]{1,19})", said)
    if not found:
        raise Unread(f"{path}: {said[:40]!r}; expected a whole number")
    return int(found[1])


def powercap(root: Path, sensors: list[str]) -> list[Channel]:
    """Energy of the processor packages (RAPL): no zone within one, no platform, no copy offered by MMIO."""
    folder, found = root / "class/powercap", {}
    for zone in sorted(folder.glob("*:*"), key=lambda zone: ("mmio" in zone.name, zone.name)):
        name = text(zone / "name")  # a zone without a name may be a package: nothing is left out silently
        if name.startswith("package") and name not in found:
            file, wraps = zone / "energy_uj", number(zone / "max_energy_range_uj")
            found[name] = Channel(name, str(file), "J", lambda file=file: number(file), range=wraps)
    if not found:
        raise Unread(f"{folder}: no zone is a package")
    return list(found.values())


def pm_counters(root: Path, sensors: list[str]) -> list[Channel]:
    """The energy of the node on Cray systems, in whole J."""
    file = root / "cray/pm_counters/energy"
    return [Channel("node", str(file), "J", lambda: number(file, "J"), scale=1.0)]


def hwmon(root: Path, sensors: list[str]) -> list[Channel]:
    """Sensors of the board: those named, or the only one of the best kind, since several may overlap."""
    found: dict[str, tuple[Path, str]] = {}
    best: list[str] = []
    for pattern, unit in HWMON.items():
        for file in sorted((root / "class/hwmon").glob(pattern)):
            chip, own = file.parent, file.name.rpartition("_")[0]
            name = f"{_word(chip / 'name', chip.name)}/{_word(chip / f'{own}_label', own)}"
            found.setdefault(name, (file, unit))  # energy and power of one sensor are not two
        best = best or list(found)
    chosen = list(dict.fromkeys(sensors)) or best
    if not found or len(best) > 1 > len(sensors) or not {*chosen} <= {*found}:
        there = f"record.energy_sensors says which of {', '.join(found)} to add up" if found else "no sensor"
        raise Unread(f"{root / 'class/hwmon'}: {there}")
    channels = [(name, *found[name]) for name in chosen]
    return [Channel(name, str(file), unit, lambda file=file: number(file)) for name, file, unit in channels]


def _word(file: Path, otherwise: str) -> str:
    """The first line of a file as a cell of a table; `otherwise` if it has none."""
    try:
        return re.sub(r'[,"]', " ", text(file)) or otherwise
    except Unread:
        return otherwise


def slurm(root: Path, sensors: list[str]) -> list[Channel]:
    """`CurrentWatts` of the node by scontrol, which Slurm refreshes as AcctGatherNodeFreq says."""
    node = os.environ.get("SLURMD_NODENAME") or os.uname().nodename.split(".")[0]
    command = ["scontrol", "--oneliner", "show", "node", node]

    def watts() -> int:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SCONTROL_S)
        except (OSError, subprocess.TimeoutExpired):
            raise Unread("scontrol: not there, or no answer") from None
        found = re.search(r"\bCurrentWatts=(\d{1,9})\b", done.stdout)
        if not found or int(found[1]) == 0:
            raise Unread(f"scontrol show node {node}: no CurrentWatts; Slurm has no AcctGatherEnergyType")
        return int(found[1])

    return [Channel("CurrentWatts", " ".join(command), "W", watts, scale=1.0)]


#: Meters by name, best first.
METERS = {"powercap": powercap, "pm_counters": pm_counters, "hwmon": hwmon, "slurm": slurm}


class Opened(NamedTuple):
    """The first meter that can be read: `source` and `channels`; and what was `tried` before."""

    source: str | None
    channels: list[Channel]
    tried: list[dict[str, str]]


def opened(root: Path, sensors: list[str]) -> Opened:
    """Looks for a meter; with `sensors`, only sensors of the board are looked for."""
    tried: list[dict[str, str]] = []
    for name in ("hwmon",) if sensors else METERS:
        try:
            return Opened(name, METERS[name](root, sensors), tried)
        except Unread as why:
            tried.append({"source": name, "status": why.status, "reason": str(why)})
    return Opened(None, [], tried)


def sample(folder: Path, interval_s: float, root: Path, sensors: list[str], over: threading.Event) -> None:
    """Reads until `over` is set or the file OVER is there; the last reading follows it."""
    found, host = opened(root, sensors), os.uname().nodename
    began, used = time.monotonic(), time.process_time()
    if found.source == "slurm":
        interval_s = max(interval_s, SLURM_INTERVAL_S)

    def about() -> None:
        fields = ("name", "event", "unit", "failed", "reason")
        lasted = time.monotonic() - began
        content = {
            "host": host, "source": found.source, "tried": found.tried,
            "channels": [{name: getattr(one, name) for name in fields} for one in found.channels],
            "interval_s": interval_s, "ahead_s": time.time() - time.monotonic(),
            "cost": (time.process_time() - used) / lasted if lasted > interval_s else 0.0,
        }  # fmt: skip
        new = folder / f"{host}.new"  # readers look for *.json
        new.write_text(json.dumps(content))
        os.replace(new, folder / f"{host}.json")

    with open(folder / f"{host}.csv", "w", encoding="utf-8") as file:
        file.write(",".join(COLUMNS) + "\n")
        number_of, last = 0, False
        while found.channels:
            for channel in found.channels:
                before = time.monotonic()
                if (value := channel.read()) is not None:
                    cells = f",{value!r}" if channel.unit == "W" else f"{value!r},"
                    file.write(f"{channel.name},{(before + time.monotonic()) / 2:.7f},{cells}\n")
            file.flush()  # what was read survives the end of the job
            if number_of == 0:
                about()
            if last:
                break
            number_of += 1
            last = over.wait(max(0.0, began + number_of * interval_s - time.monotonic()))
            last = last or (folder / OVER).exists()
    about()


def main() -> None:
    """The command line; see the head of this file."""
    parser = argparse.ArgumentParser(description="Reads the energy meter of this node until SIGTERM.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--interval", type=float, default=0.1, help="seconds between two readings")
    parser.add_argument("--root", type=Path, default=Path("/sys"))
    parser.add_argument("--sensor", action="append", default=[], help="of hwmon, CHIP/LABEL; may be repeated")
    given, over = parser.parse_args(), threading.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        signal.signal(sign, lambda *_: over.set())
    sample(given.folder, given.interval, given.root, given.sensor, over)


if __name__ == "__main__":
    main()
