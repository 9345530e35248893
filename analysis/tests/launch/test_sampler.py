"""Meters of a node on trees that stand for /sys: what is found, what is refused, what the readings
are.
"""

import json
import os
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from spikemark.launch import sampler
from spikemark.launch.sampler import _opened
from spikemark.running import energy

RANGE = 65_712_999_613
ZONE = "class/powercap/intel-rapl"
COUNTERS = {
    "powercap": f"{ZONE}:0/energy_uj",
    "pm_counters": "cray/pm_counters/energy",
    "hwmon": "class/hwmon/hwmon0/energy1_input",
}


class Tree:
    """Files that stand for /sys."""

    def __init__(self, root: Path):
        self.root = root

    def write(self, path: str, text: object) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
        return file

    def zone(self, number: str, name: str, energy: object, most: object = RANGE) -> None:
        for file, text in (("name", name), ("energy_uj", energy), ("max_energy_range_uj", most)):
            self.write(f"{ZONE}{number}/{file}", text)

    def two_packages(self) -> None:
        self.write("class/powercap/intel-rapl/enabled", 1)
        self.zone("-mmio:0", "package-0", 777)
        self.zone(":0", "package-0", 1_000_000)
        self.zone(":0:0", "core", 400_000)
        self.zone(":0:1", "dram", 300_000)
        self.zone(":1", "package-1", 5_000_000, 262_143_328_850)
        self.zone(":2", "psys", 9_000_000)

    def meter(self, name: str, value: object = 1_000_000) -> None:
        """One counter of a meter, as COUNTERS name it."""
        if name == "powercap":
            self.zone(":0", "package-0", value)
        else:
            self.write(COUNTERS[name], f"{value} J 12 us" if name == "pm_counters" else value)

    def opened(self, *sensors: str) -> sampler.OpenedMeter:
        return _opened(self.root, list(sensors))

    def why(self, source: str, *sensors: str) -> dict[str, str]:
        found = self.opened(*sensors)
        return next(tried for tried in found.tried if tried["source"] == source)


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")  # no scontrol
    return Tree(tmp_path / "sys")


def test_without_a_meter_each_one_says_so(tree):
    found = tree.opened()
    assert found.source is None and not found.channels
    assert [t["source"] for t in found.tried] == list(sampler.METERS)
    assert {t["status"] for t in found.tried} == {"unavailable"} and all(
        t["reason"] for t in found.tried
    )


def test_packages_count_once_and_nothing_within_them(tree):
    tree.zone("-mmio:0", "package-0", 777)  # which only MMIO offers
    assert [c.name for c in tree.opened().channels] == ["package-0"]
    tree.two_packages()
    found = tree.opened()
    assert (found.source, [c.name for c in found.channels]) == (
        "powercap",
        ["package-0", "package-1"],
    )
    assert found.channels[0].event == str(tree.root / f"{ZONE}:0/energy_uj")
    tree.write(f"{ZONE}:0/energy_uj", 3_500_000)
    tree.write(f"{ZONE}:1/energy_uj", 5_000_001)
    tree.write(f"{ZONE}-mmio:0/energy_uj", 99_999_999)
    assert [c.read() for c in found.channels] == pytest.approx([2.5, 1e-6])


def clocked(channel: sampler.MeterChannel) -> list[float]:
    """Gives a channel a clock that stands until the last item of this list changes, s."""
    now = [0.0]
    channel.clock = lambda: now[-1]
    channel.last_s = 0.0
    return now


def test_a_wrap_around_is_undone(tree):
    tree.zone(":0", "package-0", 65_000_000_000)
    (channel,) = tree.opened().channels
    now = clocked(channel)
    read = ((10, 65_600_000_000, 600), (16, 287_000_387, 1000), (17, 288_000_387, 1001))
    for seconds, value, joules in read:
        now.append(seconds)
        tree.write(f"{ZONE}:0/energy_uj", value)
        assert channel.read() == pytest.approx(joules, rel=1e-12)
    assert not channel.lost and channel.failed == 0


@pytest.mark.parametrize(
    ("seconds", "first", "second", "reason"),
    [
        (
            0.4,
            20_000_000,
            10,
            "reset or ran backwards",
        ),  # a reset of a counter that had counted 20 J
        (0.1, 20_000_000, 19_999_999, "reset or ran backwards"),
        (0.1, RANGE - 1, 500_000_000, "reset or ran backwards"),  # 500 J in 0.1 s
        (0.1, RANGE - 1, 5_000_000, "after 0 W"),  # what it drew before is not known
        (0.1, 0, 1_000_000_000, "jumped"),
        (60, 0, 1_000_000, "unseen"),
    ],
)
def test_what_no_package_can_count_makes_its_energy_unknown(tree, seconds, first, second, reason):
    tree.zone(":0", "package-0", first)
    (channel,) = tree.opened().channels
    clocked(channel).append(seconds)
    tree.write(f"{ZONE}:0/energy_uj", second)
    assert channel.read() is None and channel.lost and reason in channel.reason
    tree.write(f"{ZONE}:0/energy_uj", second + 1)
    assert channel.read() is None and reason in channel.reason


def test_a_power_that_no_node_draws_is_a_failed_reading(tree):
    tree.write("class/hwmon/hwmon0/power1_input", 42_000_000)
    (channel,) = tree.opened().channels
    tree.write("class/hwmon/hwmon0/power1_input", 2**64 - 1)
    assert channel.read() is None and not channel.lost
    tree.write("class/hwmon/hwmon0/power1_input", 0xFFFF_FFFF_FFFF)
    assert channel.read() is None and "50000 W" in channel.reason
    tree.write("class/hwmon/hwmon0/power1_input", 43_000_000)
    assert channel.read() == 43


class Planted:
    """A counter of a package with known power: it wraps around, is reset, and some readings fail.

    Resets that leave it rising from reading to reading are left out: nothing can tell them.
    """

    def __init__(self, random: np.random.Generator, resets: int):
        self.levels_w = random.uniform(1, 600, 8)
        self.edges_s = np.append(0, np.sort(random.uniform(0, 200, 7)))
        self.range_uj = int(random.choice([16, 65, 262, 1000]) * random.uniform(0.9, 1.1) * 1e9)
        self.start_j = random.uniform(0, self.range_uj / 1e6)
        self.resets_s = np.sort(random.uniform(0, 200, resets))
        self.failing = random.uniform() < 0.3
        self.random = random
        self.now_s = 0.0

    def joules(self, second: float) -> float:
        """Energy from the start to a time."""
        spans = np.clip(second - self.edges_s, 0, np.diff(np.append(self.edges_s, np.inf)))
        return float(spans @ self.levels_w)

    def raw(self) -> int:
        """What the counter shows now."""
        if self.now_s and self.failing and self.random.uniform() < 0.2:
            raise sampler.MeterUnread("made up")
        past = self.resets_s[self.resets_s <= self.now_s]
        counted_j = self.joules(self.now_s) - self.joules(past[-1]) if len(past) else None
        if counted_j is None:
            counted_j = self.start_j + self.joules(self.now_s)
        return int(counted_j * 1e6) % self.range_uj


def readings(
    planted: Planted, interval_s: float
) -> tuple[sampler.MeterChannel, list[tuple[float, float]]]:
    """A channel that has read the counter for 200 s, and (time, joules) of each good reading."""
    options = {"range": planted.range_uj, "limits": sampler.PACKAGE, "clock": lambda: planted.now_s}
    channel = sampler.MeterChannel("package-0", "made up", "J", planted.raw, **options)
    found = []
    while planted.now_s < 200:
        planted.now_s += interval_s * planted.random.uniform(0.9, 1.1)
        joules = channel.read()
        if joules is not None:
            found.append((planted.now_s, joules))
    return channel, found


@pytest.mark.parametrize("seed", range(100))
def test_the_planted_energy_is_counted_or_the_counter_is_lost(seed):
    random = np.random.default_rng(seed)
    planted = Planted(random, resets=seed % 3)
    interval_s = float(random.choice([0.1, 1, 5, 30]))
    _, found = readings(planted, interval_s)
    bound_j = 0.0
    for (begin_s, _), (end_s, joules) in pairwise(found):
        resets = int(np.sum((planted.resets_s > begin_s) & (planted.resets_s <= end_s)))
        if resets:  # taken for a wrap
            bound_j += sampler.WRAP_FACTOR * planted.levels_w.max() * (end_s - begin_s) + 0.1
        assert joules == pytest.approx(planted.joules(end_s), abs=bound_j + 1e-5)


def test_a_counter_without_a_range_or_above_it_is_refused(tree):
    tree.zone(":0", "package-0", 11, 10)
    assert "11 is above" in tree.why("powercap")["reason"]
    (tree.root / f"{ZONE}:0/max_energy_range_uj").unlink()
    assert "max_energy_range_uj" in tree.why("powercap")["reason"]
    tree.zone(":0", "package-0", 5)
    (channel,) = tree.opened().channels
    tree.write(f"{ZONE}:0/energy_uj", RANGE + 1)
    assert channel.read() is None
    tree.write(f"{ZONE}:0/energy_uj", 6)
    assert channel.read() == pytest.approx(1e-6)


@pytest.mark.parametrize("name", COUNTERS)
@pytest.mark.parametrize("text", ["", "-5", "12x", "1 2", "nan", "+4", "\x80", "1e6", "9" * 20])
def test_garbage_is_refused_and_one_bad_reading_is_bridged(tree, name, text):
    tree.meter(name, text)
    assert tree.why(name)["status"] == "unavailable"
    tree.meter(name, 1_000_000)
    (channel,) = tree.opened().channels
    tree.write(COUNTERS[name], text)
    assert channel.read() is None and (channel.failed, channel.lost) == (1, False)
    tree.meter(name, 1_002_000)
    assert channel.read() == pytest.approx(2000 if name == "pm_counters" else 0.002)


def test_a_denied_package_is_denied_and_not_left_out(tree, monkeypatch):
    tree.two_packages()
    read = Path.read_text

    def denied(path, *arguments, **options):
        if (
            path == tree.root / f"{ZONE}:1/energy_uj"
        ):  # root reads everything, whatever the permissions
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", denied)
    why = tree.why("powercap")
    assert why["status"] == "denied" and f"{ZONE}:1/energy_uj" in why["reason"]
    assert tree.opened().source is None


@pytest.mark.parametrize("failures", [1, 3, 60])
def test_a_zone_that_is_there_again_goes_on_unless_it_may_have_wrapped_around(tree, failures):
    tree.two_packages()
    first, second = tree.opened().channels
    first.clock = second.clock = lambda: now_s
    now_s = first.last_s = second.last_s = 0.0
    (tree.root / f"{ZONE}:1/energy_uj").unlink()
    for _ in range(failures):
        now_s += 10.0
        assert second.read() is None and first.read() == 0
    assert "No such file" in second.reason and second.failed == failures
    tree.write(f"{ZONE}:1/energy_uj", 8_000_000)
    lost = failures * 10 * sampler.MAX_PACKAGE_W > 262_143
    assert second.read() == (None if lost else 3) and second.lost == lost and not first.lost


def test_a_package_whose_name_cannot_be_read_is_not_left_out(tree):
    tree.two_packages()
    (tree.root / f"{ZONE}:1/name").unlink()
    assert tree.opened().source is None and f"{ZONE}:1/name" in tree.why("powercap")["reason"]


@pytest.mark.parametrize("name", ["pm_counters", "hwmon"])
def test_a_counter_of_unknown_range_that_falls_is_lost(tree, name):
    tree.meter(name, 1_000_000)
    (channel,) = tree.opened().channels
    tree.meter(name, 3)
    assert channel.read() is None and channel.lost and "1000000" in channel.reason


SENSORS = {"hwmon0/power1_input": 30_000_000, "hwmon0/power2_input": 20_000_000}
LABELLED = {**SENSORS, "hwmon0/power1_label": "in"}
TWICE = {**LABELLED, "hwmon0/energy1_input": 5, "hwmon0/energy1_label": "in"}


@pytest.mark.parametrize(
    ("files", "sensors", "chosen"),
    [
        ({"hwmon0/power1_input": 7_000_000}, [], {"hwmon0/power1": 7}),
        ({"hwmon0/power1_average": 7_000_000, "hwmon0/name": "a,b"}, [], {"a b/power1": 7}),
        (LABELLED, ["hwmon0/in", "hwmon0/power2"], {"hwmon0/in": 30, "hwmon0/power2": 20}),
        (TWICE, ["hwmon0/in"], {"hwmon0/in": 0}),
        (TWICE, [], {"hwmon0/in": 0}),
    ],
)
def test_sensors_of_the_board_that_do_not_overlap(tree, files, sensors, chosen):
    for file, text in files.items():
        tree.write(f"class/hwmon/{file}", text)
    found = tree.opened(*sensors)
    assert found.source == "hwmon"
    assert {c.name: c.read() for c in found.channels} == pytest.approx(chosen)


def test_sensors_that_may_overlap_are_refused_with_their_names(tree):
    for file, text in SENSORS.items():
        tree.write(f"class/hwmon/{file}", text)
    assert "hwmon0/power1, hwmon0/power2" in tree.why("hwmon")["reason"]
    assert "hwmon0/power1, hwmon0/power2" in tree.why("hwmon", "hwmon0/other")["reason"]


def test_slurm_tells_the_power_of_a_node(tree, plant, monkeypatch):
    monkeypatch.setenv("SLURMD_NODENAME", "n7")
    plant(
        "scontrol",
        'test "$*" = "--oneliner show node n7" && echo "NodeName=n7 CurrentWatts=412 AveWatts=1"',
    )
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/bin:/bin")
    found = tree.opened()
    assert found.source == "slurm" and found.channels[0].read() == 412
    assert len(found.tried) == 3
    plant("scontrol", 'echo "NodeName=n7 CurrentWatts=n/s"')
    with pytest.raises(sampler.MeterUnread, match="CurrentWatts"):
        sampler._slurm(tree.root, [])


def test_a_process_reads_until_it_is_ended(tree, tmp_path, monkeypatch):
    """Through the launcher: what was read is in two files, times included."""
    monkeypatch.undo()
    monkeypatch.setenv("SPIKEMARK_SYSFS", str(tree.root))
    tree.zone(":0", "package-0", 0)
    with energy.sampling(tmp_path / "read", (), "mpirun", interval_s=0.01):
        for step in range(1, 21):
            time.sleep(0.01)
            new = tree.write("new", 1_000_000 * step)
            os.replace(new, tree.root / f"{ZONE}:0/energy_uj")
    (told,) = (json.loads(path.read_text()) for path in (tmp_path / "read").glob("*.json"))
    (rows,) = (path.read_text().splitlines() for path in (tmp_path / "read").glob("*.csv"))
    assert (told["source"], told["interval_s"], told["channels"][0]["failed"]) == (
        "powercap",
        0.01,
        0,
    )
    assert rows[0] == ",".join(sampler.READING_COLUMNS) and len(rows) > 5
    times, joules = zip(*[map(float, row.split(",")[1:3]) for row in rows[1:]], strict=True)
    assert sorted(times) == list(times) and sorted(joules) == list(joules) and joules[-1] == 20
    assert abs(times[-1] + told["ahead_s"] - time.time()) < 60


def test_a_counter_that_is_reset_again_and_again_has_no_energy(tree, tmp_path, monkeypatch):
    """Through the launcher: 50 W, reset every 0.1 s, which is no wrap each time."""
    monkeypatch.undo()
    monkeypatch.setenv("SPIKEMARK_SYSFS", str(tree.root))
    tree.zone(":0", "package-0", 0)
    began = time.monotonic()
    with energy.sampling(tmp_path / "read", (), "mpirun", interval_s=0.02):
        while (now := time.monotonic() - began) < 0.6:
            new = tree.write("new", int(50e6 * (now % 0.1)))
            os.replace(new, tree.root / f"{ZONE}:0/energy_uj")
            time.sleep(0.01)
    (told,) = (json.loads(path.read_text()) for path in (tmp_path / "read").glob("*.json"))
    (rows,) = (path.read_text().splitlines() for path in (tmp_path / "read").glob("*.csv"))
    assert "reset" in told["channels"][0]["reason"] and told["channels"][0]["failed"] > 1
    assert float(rows[-1].split(",")[2]) < 6
