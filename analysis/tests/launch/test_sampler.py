"""Meters of a node on trees that stand for /sys: what is found, what is refused, what the readings are."""

import json
import os
import time
from pathlib import Path

import pytest

from spikemark.launch import sampler
from spikemark.launch.sampler import opened
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

    def opened(self, *sensors: str) -> sampler.Opened:
        return opened(self.root, list(sensors))

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
    assert {t["status"] for t in found.tried} == {"unavailable"} and all(t["reason"] for t in found.tried)


def test_packages_count_once_and_nothing_within_them(tree):
    tree.zone("-mmio:0", "package-0", 777)  # which only MMIO offers
    assert [c.name for c in tree.opened().channels] == ["package-0"]
    tree.two_packages()
    found = tree.opened()
    assert (found.source, [c.name for c in found.channels]) == ("powercap", ["package-0", "package-1"])
    assert found.channels[0].event == str(tree.root / f"{ZONE}:0/energy_uj")
    tree.write(f"{ZONE}:0/energy_uj", 3_500_000)
    tree.write(f"{ZONE}:1/energy_uj", 5_000_001)
    tree.write(f"{ZONE}-mmio:0/energy_uj", 99_999_999)
    assert [c.read() for c in found.channels] == pytest.approx([2.5, 1e-6])


def test_a_wrap_around_is_undone(tree):
    tree.zone(":0", "package-0", 65_000_000_000)
    (channel,) = tree.opened().channels
    for value, joules in ((287_000_387, 1000), (288_000_387, 1001), (287_000_387, 1001 + 65_711.999_613)):
        tree.write(f"{ZONE}:0/energy_uj", value)
        assert channel.read() == pytest.approx(joules, rel=1e-12)


def test_a_counter_without_a_range_or_above_it_is_refused(tree):
    tree.zone(":0", "package-0", 11, 10)
    assert "11 is above" in tree.why("powercap")["reason"]
    (tree.root / f"{ZONE}:0/max_energy_range_uj").unlink()
    assert "max_energy_range_uj" in tree.why("powercap")["reason"]
    tree.zone(":0", "package-0", 5, 10)
    (channel,) = tree.opened().channels
    tree.write(f"{ZONE}:0/energy_uj", 11)
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
    tree.meter(name, 3_000_000)
    assert channel.read() == pytest.approx(2_000_000 if name == "pm_counters" else 2)


def test_a_denied_package_is_denied_and_not_left_out(tree, monkeypatch):
    tree.two_packages()
    read = Path.read_text

    def denied(path, *arguments, **options):
        if path == tree.root / f"{ZONE}:1/energy_uj":  # root reads everything, whatever the permissions
            raise PermissionError(13, "Permission denied", str(path))
        return read(path, *arguments, **options)

    monkeypatch.setattr(Path, "read_text", denied)
    why = tree.why("powercap")
    assert why["status"] == "denied" and f"{ZONE}:1/energy_uj" in why["reason"]
    assert tree.opened().source is None


@pytest.mark.parametrize("failures", [1, sampler.MOST_FAILED, sampler.MOST_FAILED + 1])
def test_a_zone_that_is_there_again_goes_on_unless_it_may_have_wrapped_around(tree, failures):
    tree.two_packages()
    first, second = tree.opened().channels
    (tree.root / f"{ZONE}:1/energy_uj").unlink()
    for _ in range(failures):
        assert second.read() is None and first.read() == 0
    assert "No such file" in second.reason and second.failed == failures
    tree.write(f"{ZONE}:1/energy_uj", 8_000_000)
    lost = failures > sampler.MOST_FAILED
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
        "scontrol", 'test "$*" = "--oneliner show node n7" && echo "NodeName=n7 CurrentWatts=412 AveWatts=1"'
    )
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/usr/bin:/bin")
    found = tree.opened()
    assert found.source == "slurm" and found.channels[0].read() == 412
    assert len(found.tried) == 3
    plant("scontrol", 'echo "NodeName=n7 CurrentWatts=n/s"')
    with pytest.raises(sampler.Unread, match="CurrentWatts"):
        sampler.slurm(tree.root, [])


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
    assert (told["source"], told["interval_s"], told["channels"][0]["failed"]) == ("powercap", 0.01, 0)
    assert rows[0] == ",".join(sampler.COLUMNS) and len(rows) > 5
    times, joules = zip(*[map(float, row.split(",")[1:3]) for row in rows[1:]], strict=True)
    assert sorted(times) == list(times) and sorted(joules) == list(joules) and joules[-1] == 20
    assert abs(times[-1] + told["ahead_s"] - time.time()) < 60
