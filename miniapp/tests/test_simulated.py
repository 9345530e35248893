"""The build for SimGrid: the same spikes as in a real run, and times that are those it was
given.
"""

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import program
import pytest
from small_network import describe

pytestmark = pytest.mark.slow

SIMULATED = program.ROOT / "build-smpi" / "miniapp"
PLATFORM = Path(__file__).parent / "star.xml"
CYCLES, HOSTS = 100, 8  # of the platform; more ranks go round
FLAGS = (
    "smpi/privatization:no",
    "smpi/simulate-computation:no",
    "smpi/cpu-threshold:0",
    "smpi/host-speed:1Gf",
    "smpi/wtime:0",
    "smpi/test:0",
    "smpi/iprobe:1e-7",
    "smpi/grow-injected-times:no",
)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A description that every schedule takes on 1 to 8 ranks, and the checksum of a real run of
    it.
    """
    subprocess.run(["make", "--silent", "simulator"], cwd=program.ROOT, check=True)
    content, folder = describe(areas=8, neurons=60, rate_hz=50), tmp_path_factory.mktemp("real")
    content["time"] |= {"warmup_ms": 1, "simulate_ms": 0.1 * CYCLES}
    content |= {"schedule": "structure_aware", "record": {}}
    del content["placement"], content["exchange"]
    checksum = program.record_of(folder / "run", description=content, ranks=2)["checksum"]
    return folder / "run.json", checksum


@pytest.fixture
def start(real, tmp_path):
    """Runs the program to its end on a simulated cluster."""

    def run(*arguments, ranks=1, flags=FLAGS):
        hosts = tmp_path / "hosts"
        hosts.write_text("".join(f"node-{i}\n" for i in range(HOSTS)))
        launch = ["smpirun", "-np", ranks, "-platform", PLATFORM, "-hostfile", hosts]
        launch += [*(f"--cfg={flag}" for flag in flags), "--log=root.thresh:error"]
        return program.start(*arguments, program=SIMULATED, launch=launch, OMP_NUM_THREADS=None)

    return run


@pytest.fixture
def simulated(real, start, tmp_path):
    """The record of a run that must succeed, with the spikes of the real one."""

    def run(*arguments, out="run", **how):
        done = start(real[0], "--out", tmp_path / out, *arguments, **how)
        assert done.returncode == 0, done.stdout + done.stderr
        record = json.loads((tmp_path / out / "record.json").read_text())
        assert record["checksum"] == real[1], arguments
        return record

    return run


def compute_times(path, ranks):
    """Writes times that differ between ranks, cycles and phases, 5 to 200 us; returns them."""
    times = np.random.default_rng(1).uniform(5e-6, 2e-4, (ranks, CYCLES, 3)).astype("f4")
    times.tofile(path)
    return times


def test_every_exchange_grid_and_schedule_brings_the_spikes_of_a_real_run(
    start, simulated, real, tmp_path
):
    known = json.loads(start("--list").stdout)
    absent = {one["name"]: one["absent"] for one in known["exchanges"] if one["absent"]}
    assert set(absent) == {"persistent", "neighbor", "ineighbor", "shared"}
    for name, why in absent.items():
        done = start(real[0], "--out", tmp_path / "run", "--set", f"exchange={name}")
        assert done.returncode == 2 and why in done.stderr
    grids = [
        {
            "name": "multi_level",
            "parts": "direct",
            "dimensions": [2, 4],
            "side": "sender",
            "merge": True,
        },
        {"name": "multi_level", "parts": "direct", "dimensions": [2, 2, 2], "side": "receiver"},
    ]
    names = [one["name"] for one in known["exchanges"]]
    for exchange in [name for name in names if name not in (*absent, "self")] + grids:
        words = (
            exchange if isinstance(exchange, str) else json.dumps(exchange, separators=(",", ":"))
        )
        simulated("--set", f"exchange={words}", ranks=8)  # smpirun divides arguments at spaces
    for schedule in known["schedules"]:
        for ranks in (1, 4):
            simulated("--set", f"schedule={schedule['name']}", ranks=ranks)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware", "overlapped"])
def test_phases_take_the_times_given_and_add_up(schedule, simulated, tmp_path):
    times = compute_times(tmp_path / "times", 4)
    arguments = ("--set", f"schedule={schedule}", "--compute-times", tmp_path / "times")
    record = simulated(*arguments, ranks=4)
    simulated(*arguments, ranks=4, out="again")
    cycles = np.load(tmp_path / "run" / "cycles.npy")
    place = [record["phases"].index(name) for name in ("deliver", "update", "collocate")]
    assert cycles[:, :, place] == pytest.approx(times, rel=1e-6, abs=5e-9)
    walls = [float(row["simulate_s"]) for row in program.rows(tmp_path / "run")]
    assert cycles.astype(float).sum(axis=(1, 2)) == pytest.approx(walls, rel=1e-4)
    assert record["kind"] == "simulated"
    assert np.array_equal(cycles, np.load(tmp_path / "again" / "cycles.npy"))
    if schedule == "conventional":  # ranks wait for the slowest
        waiting = cycles[:, :, record["phases"].index("synchronise")]
        computing = times.astype(float).sum(axis=2)
        beyond = waiting - (computing.max(axis=0) - computing)
        left_s, barrier_s = (
            2e-5,
            2e-5,
        )  # by how much ranks may leave an exchange apart; of the barrier itself
        assert np.all(beyond > -left_s) and np.all(beyond < barrier_s + left_s)


def test_what_overlaps_goes_on_while_ranks_compute(simulated, tmp_path):
    compute_times(tmp_path / "times", 4)
    arguments = ("--compute-times", tmp_path / "times", "--set", "record.barrier=false")
    waits = {}
    for schedule in ("structure_aware", "overlapped"):
        phases = simulated(*arguments, "--set", f"schedule={schedule}", ranks=4)["timing"]["phases"]
        waits[schedule] = phases["exchange"]["mean_s"] + phases["overlap_wait"]["mean_s"]
    assert waits["overlapped"] < 0.7 * waits["structure_aware"]


def test_injected_waits_take_simulated_time_only_and_what_ranks_share_is_unknown(simulated):
    asked = program.sets(inject__mean_us=2e6, record__idle_pause_s=1000, inject__wait="spin")
    record = simulated(*asked, "--set", "record.energy=true", ranks=2)
    assert record["timing"]["phases"]["inject"]["mean_s"] == pytest.approx(2 * CYCLES, rel=1e-6)
    host = record["host"]
    unknown = (
        record["memory"]["peak_bytes"],
        host["foreign_load"],
        host["per_node"],
        record["energy"],
    )
    assert unknown == (None,) * 4 and host["node_names"] == ["node-0", "node-1"]
    assert {(m["value"], m["status"]) for m in record["meters"]} == {(None, "unavailable")}


ONES = np.ones((2, CYCLES, 3), "f4")
BAD = {
    "ranks": ONES[:1],
    "cycles": ONES[:, 1:],
    "doubles": ONES.astype(float),
    "negative": -ONES,
    "nan": ONES * np.float32("nan"),
    "missing": None,
}


@pytest.mark.parametrize("case", BAD)
def test_bad_compute_times_are_refused_in_one_line(case, start, real, tmp_path):
    path = tmp_path / "times"
    if BAD[case] is not None:
        BAD[case].tofile(path)
    done = start(real[0], "--out", tmp_path / "run", "--compute-times", path, ranks=2)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("miniapp: ")]
    assert "--compute-times: " in line
    assert {f.name for f in tmp_path.iterdir()} <= {"times", "hosts"}


def writable(*objects):
    """Variables that a program could change, from the symbols of objects or archives."""
    table = subprocess.run(
        ["nm", "--format=sysv", *objects], capture_output=True, text=True, check=True
    )
    rows = [[field.strip() for field in line.split("|")] for line in table.stdout.splitlines()]
    variable = re.compile(
        r"\.t?(data(?!\.rel\.ro)|bss)|\*COM\*"
    )  # the loader alone writes .data.rel.ro
    return [row[0] for row in rows if len(row) == 7 and variable.match(row[6])]


def test_our_sources_have_no_variables_that_ranks_could_share(real, tmp_path):
    for build in ("build", "build-smpi"):
        assert writable(program.ROOT / build / "obj" / "libspikemark_core.a") == []
    source = tmp_path / "source.c"
    source.write_text(
        "int a; static int b = 1; int next(void) { static int c; return ++c + b++ + a; }\n"
    )
    subprocess.run(["cc", "-c", source, "-o", tmp_path / "source.o"], check=True)
    assert sorted(name.split(".")[0] for name in writable(tmp_path / "source.o")) == ["a", "b", "c"]
