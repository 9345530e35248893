"""What samplers read becomes `energy` of a record and energy.csv, by the times of the record."""

import csv
import json

import numpy as np
import pytest
from planted_power import T0, Planted
from swept import planned

from spikemark.launch.process import ProgramFailed
from spikemark.records import record
from spikemark.running import energy
from spikemark.running.measure import measure

pytestmark = pytest.mark.slow  # starts programs

PLANTED = Planted()
SPAN = (T0 + PLANTED.edges[4], T0 + PLANTED.edges[5])
ASKED = energy.EnergyRequest(True)
AHEAD_S = 1000.0  # of the epoch before the clock of the readings


def readings(folder, unit="J", hosts=("n0", "n1"), interval_s=0.1, keep=lambda t: t > -1, **told):
    """Files of samplers that read the planted power from the pause before to the pause after."""
    folder.mkdir(exist_ok=True)
    for host in hosts:
        times = np.arange(PLANTED.edges[2], PLANTED.edges[6] + 0.5, interval_s)
        times = times[keep(times)]
        values = (
            PLANTED.joule(times) - PLANTED.joule(times[:1]) if unit == "J" else PLANTED.watts(times)
        )
        with open(folder / f"{host}.csv", "w") as file:
            file.write("channel,time_s,energy_j,power_w\n")
            for t, v in zip((T0 + times - AHEAD_S).tolist(), values.tolist(), strict=True):
                file.write(f"package-0,{t!r},{f'{v!r},' if unit == 'J' else f',{v!r}'}\n")
        channel = {
            "name": "package-0",
            "event": "made up",
            "unit": unit,
            "failed": 0,
            "reason": None,
        }
        about = {
            "host": host,
            "source": "powercap",
            "tried": [],
            "channels": [channel],
            "cost": 1e-4,
            "interval_s": interval_s,
            "ahead_s": AHEAD_S,
        }
        (folder / f"{host}.json").write_text(json.dumps(about | told))
    return folder


def filled(run, read, asked=ASKED, idle=None):
    """The record of a run with what samplers read."""
    energy.fill(run, read, asked, idle)
    return record.load_run(run).record


@pytest.fixture
def run(tmp_path):
    """A run of four ranks on two nodes, without energy."""
    folder = tmp_path / "run"
    PLANTED.run(folder, ranks=4, host__nodes=2, host__node_names=["n0", "n1"])
    with open(folder / "ranks.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(folder / "ranks.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "node"] if "node" not in rows[0] else [*rows[0]])
        writer.writeheader()
        writer.writerows({**row, "node": int(row["rank"]) // 2} for row in rows)
    return folder


@pytest.mark.parametrize("unit", ["J", "W"])
def test_the_planted_energy_is_in_the_record(run, tmp_path, unit):
    found = filled(run, readings(tmp_path / "read", unit)).energy
    assert found.gross_j == pytest.approx(2 * PLANTED.gross_j, rel=2e-3)
    assert found.idle_power_w == pytest.approx(2 * PLANTED.idle_w, rel=1e-2)
    assert found.net_j == pytest.approx(2 * PLANTED.net_j, rel=2e-2)
    assert (found.source, found.status, found.nodes, found.reason) == ("powercap", "ok", 2, None)
    assert found.readings in (200, 201) and found.coverage == pytest.approx(1)
    assert [c.node for c in found.channels] == [0, 2]
    assert sum(c.gross_j for c in found.channels) == pytest.approx(found.gross_j)
    with open(run / "energy.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == energy.POWER_COLUMNS and {row["node"] for row in rows} == {"0", "2"}
    assert float(rows[0]["time_s"]) == pytest.approx(T0 + PLANTED.edges[2], abs=1e-5)


def test_a_pause_of_the_launcher_is_in_the_record(run, tmp_path):
    content = json.loads((run / "record.json").read_text())
    content["timing"]["idle_before_s"] = None
    (run / "record.json").write_text(json.dumps(content))
    idle = (T0 + PLANTED.edges[2] + 0.2, T0 + PLANTED.edges[3] - 0.2)
    found = filled(run, readings(tmp_path / "read"), idle=idle)
    assert found.timing.idle_before_s == pytest.approx(idle)
    assert found.energy.idle_power_w == pytest.approx(2 * PLANTED.idle_w, rel=1e-6)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"keep": lambda t: t < PLANTED.edges[4] + 5}, "enclose"),
        ({"interval_s": 30.0}, "readings within"),
        ({"keep": lambda t: t > PLANTED.edges[4] + 5}, "enclose"),
        ({"still": True}, "did not move"),
    ],
)
def test_readings_that_do_not_tell_leave_null_and_a_reason(run, tmp_path, change, reason):
    still = change.pop("still", False)
    read = readings(tmp_path / "read", **change)
    for file in read.glob("*.csv") if still else ():
        lines = [line.split(",") for line in file.read_text().splitlines()]
        file.write_text(
            "\n".join(",".join([a, b, c if c == "energy_j" else "5", d]) for a, b, c, d in lines)
        )
    found = filled(run, read).energy
    assert (found.gross_j, found.net_j, found.status) == (None, None, "unavailable")
    assert reason in found.reason


JUMP_J = 65_712.999613  # the range of a counter of a package


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda t, j: j + JUMP_J * (t > 10),
            "1500 W",
        ),  # a reset that an older sampler took for a wrap
        (lambda t, j: j - 300 * (t > 10), "no fall"),
        (lambda t, j: np.minimum(j, np.interp(12, t, j)), "did not move for"),
    ],
)
def test_a_counter_that_no_package_can_have_leaves_null_and_a_reason(run, tmp_path, change, reason):
    read = readings(tmp_path / "read", hosts=("n0",))
    (file,) = read.glob("*.csv")
    head, *lines = file.read_text().splitlines()
    cells = np.array([[float(cell) for cell in line.split(",")[1:3]] for line in lines])
    times, joules = cells.T
    rows = zip(times, change(times - (SPAN[0] - AHEAD_S), joules), strict=True)
    file.write_text("\n".join([head, *(f"package-0,{float(t)!r},{float(j)!r}," for t, j in rows)]))
    readings(tmp_path / "read", hosts=("n1",))
    found = filled(run, read).energy
    assert (found.gross_j, found.net_j, found.status) == (None, None, "unavailable")
    assert reason in found.reason


DENIED = {
    "source": None,
    "tried": [{"source": "powercap", "status": "denied", "reason": "energy_uj"}],
}


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"n0": {}}, energy.NO_SAMPLER),
        ({}, energy.NO_SAMPLER),
        ({"n0": DENIED, "n1": DENIED}, "node n0: powercap denied: energy_uj"),
        ({"n0": {}, "n1": {"source": "hwmon"}}, "nodes have different meters: hwmon, powercap"),
    ],
)
def test_no_meter_of_all_nodes_leaves_the_reason(run, tmp_path, told, reason):
    (tmp_path / "read").mkdir()
    for host, about in told.items():
        readings(tmp_path / "read", hosts=[host], **about)
    found = filled(run, tmp_path / "read")
    assert found.energy is None and found.energy_reason == reason
    assert not (run / "energy.csv").exists()
    assert all(m.value is None and m.reason for m in found.meters if m.name == "energy")


def test_gaps_cost_coverage(run, tmp_path):
    at = PLANTED.edges[4]
    found = filled(
        run, readings(tmp_path / "read", keep=lambda t: (t < at + 4) | (t > at + 9))
    ).energy
    assert found.coverage == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize("asked", [True, False])
def test_only_a_run_that_asks_is_sampled(tmp_path, monkeypatch, asked):
    """Through `measure`, with a program that ends without a record: nothing is left behind."""
    power = tmp_path / "sys/class/hwmon/hwmon0/power1_input"
    power.parent.mkdir(parents=True)
    power.write_text("5000000\n")
    monkeypatch.setenv("SPIKEMARK_SYSFS", str(tmp_path / "sys"))
    program = tmp_path / "miniapp"
    program.write_text(f"#!/bin/sh\nls {tmp_path}/results/unchecked/*/ > {tmp_path}/seen\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program))
    changes = {"set": {"record.energy": asked, "record.idle_pause_s": 0.01}}
    results, (spec,) = planned(tmp_path / "results", ranks=1, **changes)
    with pytest.raises(ProgramFailed):
        measure(results, spec.id)
    assert ("energy" in (tmp_path / "seen").read_text().split()) == asked
    assert list((results.path / "unchecked").iterdir()) == []
