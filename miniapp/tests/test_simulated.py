"""The build for SimGrid: the same spikes as in a real run, and times that are those it was given."""

import json
import re
import subprocess

import numpy as np
import program
import pytest
import simulator

pytestmark = pytest.mark.slow

CYCLES = 100


@pytest.fixture(scope="module", autouse=True)
def build():
    subprocess.run(["make", "--silent", "simulator"], cwd=program.ROOT, check=True)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """A description, and the checksum of a real run of it."""
    folder = tmp_path_factory.mktemp("real")
    description = simulator.eight_areas(folder / "run.json")
    return description, program.record_of(folder / "run", description=description, ranks=2)["checksum"]


def compute_times(path, ranks, seed=1):
    """Writes times that differ between ranks, cycles and phases, 5 to 200 us; returns them."""
    times = np.random.default_rng(seed).uniform(5e-6, 2e-4, (ranks, CYCLES, 3)).astype("f4")
    np.save(path, times)
    return times


def test_every_exchange_brings_the_spikes_of_a_real_run(real, tmp_path):
    description, checksum = real
    absent = simulator.absent(simulator.start(tmp_path, "--list").stdout)
    assert set(absent) == {"persistent", "neighbor", "ineighbor", "shared"}
    for name in program.registered()["exchanges"]:
        chosen = ("--set", f"exchange={name}")
        if name in absent:
            done = simulator.start(tmp_path, description, "--out", tmp_path / "run", *chosen)
            assert done.returncode == 2 and absent[name] in done.stderr
        elif name != "self":
            record = simulator.record_of(tmp_path, description, *chosen, ranks=8, out=name)
            assert (name, record["checksum"]) == (name, checksum)


@pytest.mark.parametrize(
    ("dimensions", "side", "merge"), [([2, 4], "sender", True), ([2, 2, 2], "receiver", False)]
)
def test_grids_bring_them(dimensions, side, merge, real, tmp_path):
    description, checksum = real
    grid = {"name": "multi_level", "parts": "direct", "dimensions": dimensions, "side": side, "merge": merge}
    chosen = "exchange=" + json.dumps(grid, separators=(",", ":"))  # smpirun divides arguments at spaces
    record = simulator.record_of(tmp_path, description, "--set", chosen, ranks=8)
    assert record["checksum"] == checksum


@pytest.mark.parametrize("ranks", [1, 4])
def test_every_schedule_brings_them_on_any_ranks(ranks, real, tmp_path):
    description, checksum = real
    for name in program.registered()["schedules"]:
        chosen = ("--set", f"schedule={name}")
        record = simulator.record_of(tmp_path, description, *chosen, ranks=ranks, out=name)
        assert (name, record["checksum"]) == (name, checksum)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware", "overlapped"])
def test_phases_take_the_times_given_and_add_up(schedule, real, tmp_path):
    description, checksum = real
    times = compute_times(tmp_path / "times.npy", 4)
    arguments = ("--set", f"schedule={schedule}", "--compute-times", tmp_path / "times.npy")
    record = simulator.record_of(tmp_path, description, *arguments, ranks=4)
    simulator.record_of(tmp_path, description, *arguments, ranks=4, out="again")
    cycles = np.load(tmp_path / "run" / "cycles.npy")
    place = [record["phases"].index(name) for name in ("deliver", "update", "collocate")]
    assert cycles[:, :, place] == pytest.approx(times, rel=1e-6, abs=5e-9)
    walls = [float(row["simulate_s"]) for row in program.rows(tmp_path / "run")]
    assert cycles.astype(float).sum(axis=(1, 2)) == pytest.approx(walls, rel=1e-4)
    assert (record["checksum"], record["kind"]) == (checksum, "simulated")
    assert np.array_equal(cycles, np.load(tmp_path / "again" / "cycles.npy"))
    if schedule == "conventional":  # ranks wait for the slowest
        waiting = cycles[:, :, record["phases"].index("synchronise")]
        computing = times.astype(float).sum(axis=2)
        beyond = waiting - (computing.max(axis=0) - computing)
        left_s, barrier_s = 2e-5, 2e-5  # by how much ranks may leave an exchange apart; of the barrier itself
        assert np.all(beyond > -left_s) and np.all(beyond < barrier_s + left_s)


def test_what_overlaps_goes_on_while_ranks_compute(real, tmp_path):
    compute_times(tmp_path / "times.npy", 4)
    arguments = ("--compute-times", tmp_path / "times.npy", "--set", "record.barrier=false")
    waits = {}
    for schedule in ("structure_aware", "overlapped"):
        chosen = ("--set", f"schedule={schedule}")
        record = simulator.record_of(tmp_path, real[0], *arguments, *chosen, ranks=4, out=schedule)
        phases = record["timing"]["phases"]
        waits[schedule] = phases["exchange"]["mean_s"] + phases["overlap_wait"]["mean_s"]
    assert waits["overlapped"] < 0.7 * waits["structure_aware"]


def test_injected_waits_and_pauses_take_simulated_time_only(real, tmp_path):
    asked = program.sets(inject__mean_us=2e6, record__idle_pause_s=1000, inject__wait="spin")
    record = simulator.record_of(tmp_path, real[0], *asked, ranks=2)
    assert record["timing"]["phases"]["inject"]["mean_s"] == pytest.approx(2 * CYCLES, rel=1e-6)


def test_what_ranks_share_is_unknown_not_zero(real, tmp_path):
    record = simulator.record_of(tmp_path, real[0], "--set", "record.energy=true", ranks=2)
    host = record["host"]
    unknown = (record["memory"]["peak_bytes"], host["foreign_load"], host["per_node"], record["energy"])
    assert unknown == (None,) * 4
    assert host["node_names"] == ["node-0", "node-1"]
    assert {(m["value"], m["status"]) for m in record["meters"]} == {(None, "unavailable")}


def cut(path):
    path.write_bytes(path.read_bytes()[:-4])


BAD = {
    "ranks": lambda p: compute_times(p, 3),
    "cycles": lambda p: np.save(p, np.ones((2, 99, 3), "f4")),
    "phases": lambda p: np.save(p, np.ones((2, 100, 7), "f4")),
    "flat": lambda p: np.save(p, np.ones(600, "f4")),
    "doubles": lambda p: np.save(p, np.ones((2, 100, 3))),
    "Fortran": lambda p: np.save(p, np.asfortranarray(np.ones((2, 100, 3), "f4"))),
    "negative": lambda p: np.save(p, np.full((2, 100, 3), -1, "f4")),
    "nan": lambda p: np.save(p, np.full((2, 100, 3), np.nan, "f4")),
    "truncated": lambda p: [compute_times(p, 2), cut(p)],
    "text": lambda p: p.write_text("0.1 0.2 0.3"),
    "missing": lambda p: None,
}


@pytest.mark.parametrize("case", BAD)
def test_bad_compute_times_are_refused_in_one_line(case, real, tmp_path):
    path = tmp_path / "times.npy"
    BAD[case](path)
    done = simulator.start(tmp_path, real[0], "--out", tmp_path / "run", "--compute-times", path, ranks=2)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("miniapp: ")]
    assert "--compute-times: " in line
    assert {f.name for f in tmp_path.iterdir()} <= {"times.npy", "hosts"}


@pytest.mark.parametrize("flag", ["smpi/simulate-computation:yes", "smpi/host-speed:2Gf"])
def test_settings_that_would_change_the_times_are_refused(flag, real, tmp_path):
    compute_times(tmp_path / "times.npy", 1)
    arguments = (real[0], "--out", tmp_path / "run", "--compute-times", tmp_path / "times.npy")
    done = simulator.start(tmp_path, *arguments, flags=(*simulator.FLAGS, flag))
    assert done.returncode == 2 and f"--cfg={flag.split(':')[0]}" in done.stderr
    assert not (tmp_path / "run").exists()


def writable(*objects):
    """Variables that a program could change, from the symbols of objects or archives."""
    table = subprocess.run(["nm", "--format=sysv", *objects], capture_output=True, text=True, check=True)
    rows = [[field.strip() for field in line.split("|")] for line in table.stdout.splitlines()]
    constant = ".data.rel.ro"  # written once, by the loader
    return [
        row[0]
        for row in rows
        if len(row) == 7 and re.match(r"\.t?(data|bss)|\*COM\*", row[6]) and not row[6].startswith(constant)
    ]


def test_our_sources_have_no_variables_that_ranks_could_share(tmp_path):
    for build in ("build", "build-smpi"):
        assert writable(program.ROOT / build / "obj" / "libspikemark_core.a") == []
    source = tmp_path / "source.c"
    source.write_text("int a; static int b = 1; int next(void) { static int c; return ++c + b++ + a; }\n")
    subprocess.run(["cc", "-c", source, "-o", tmp_path / "source.o"], check=True)
    assert sorted(name.split(".")[0] for name in writable(tmp_path / "source.o")) == ["a", "b", "c"]
