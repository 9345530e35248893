"""The build for SimGrid: the same spikes as in a real run, and times that are those it was given."""

import csv
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


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    return simulator.start(tmp_path_factory.mktemp("list"), "--list").stdout


def exchanges():
    return [name for name in program.registered()["exchange"] if name != "self"]


def compute_times(path, ranks, seed=1):
    """Writes times that differ between ranks, cycles and phases, 5 to 200 us; returns them."""
    times = np.random.default_rng(seed).uniform(5e-6, 2e-4, (ranks, CYCLES, 3)).astype("f4")
    np.save(path, times)
    return times


@pytest.mark.parametrize("exchange", exchanges())
def test_every_exchange_brings_the_spikes_of_a_real_run(exchange, real, listed, tmp_path):
    description, checksum = real
    if exchange in simulator.absent(listed):
        done = simulator.start(
            tmp_path, description, "--out", tmp_path / "run", "--set", f"exchange={exchange}"
        )
        assert done.returncode == 2
        assert simulator.absent(listed)[exchange] in done.stderr
        return
    for ranks in (2, 8):
        record = simulator.record_of(
            tmp_path, description, "--set", f"exchange={exchange}", ranks=ranks, out=str(ranks)
        )
        assert (ranks, record["checksum"]) == (ranks, checksum)


@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("side", ["sender", "receiver"])
@pytest.mark.parametrize("dimensions", [[8], [2, 4], [2, 2, 2], [2, 1, 2, 2]])
def test_every_grid_brings_them(dimensions, side, merge, real, tmp_path):
    description, checksum = real
    grid = {"name": "multi_level", "parts": "direct", "dimensions": dimensions, "side": side, "merge": merge}
    chosen = "exchange=" + json.dumps(grid, separators=(",", ":"))  # smpirun divides arguments at spaces
    record = simulator.record_of(tmp_path, description, "--set", chosen, ranks=8)
    assert record["checksum"] == checksum
    assert all(level["words"] > 0 for level in record["lanes"][-1]["levels"] if level["connections"])


def test_the_list_says_what_simgrid_lacks(listed):
    assert set(simulator.absent(listed)) == {"persistent", "neighbor", "ineighbor", "shared"}


@pytest.mark.parametrize("ranks", [1, 4, 8])
def test_every_schedule_brings_them_on_any_ranks(ranks, real, tmp_path):
    description, checksum = real
    for schedule in program.registered()["schedule"]:
        record = simulator.record_of(
            tmp_path, description, "--set", f"schedule={schedule}", ranks=ranks, out=schedule
        )
        assert (schedule, record["checksum"]) == (schedule, checksum)


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
    with open(tmp_path / "run" / "ranks.csv") as file:
        walls = [float(row["simulate_s"]) for row in csv.DictReader(file)]
    assert cycles.astype(float).sum(axis=(1, 2)) == pytest.approx(walls, rel=1e-4)
    assert record["checksum"] == checksum
    assert record["kind"] == "simulated"
    assert np.array_equal(cycles, np.load(tmp_path / "again" / "cycles.npy"))


def test_ranks_wait_for_the_slowest(real, tmp_path):
    times = compute_times(tmp_path / "times.npy", 4)
    arguments = ("--set", "schedule=conventional", "--compute-times", tmp_path / "times.npy")
    record = simulator.record_of(tmp_path, real[0], *arguments, ranks=4)
    cycles = np.load(tmp_path / "run" / "cycles.npy")
    waiting = cycles[:, :, record["phases"].index("synchronise")]
    computing = times.astype(float).sum(axis=2)
    expected = computing.max(axis=0) - computing
    barrier_s = 2e-5
    left_s = 2e-5  # by how much ranks may have left the exchange before at different times
    assert np.all(waiting > expected - left_s)
    assert np.all(waiting < expected + barrier_s + left_s)


def test_what_overlaps_goes_on_while_ranks_compute(real, tmp_path):
    compute_times(tmp_path / "times.npy", 4)
    arguments = ("--compute-times", tmp_path / "times.npy", "--set", "record.barrier=false")
    waits = {}
    for schedule in ("structure_aware", "overlapped"):
        record = simulator.record_of(
            tmp_path, real[0], *arguments, "--set", f"schedule={schedule}", ranks=4, out=schedule
        )
        phases = record["timing"]["phases"]
        waits[schedule] = phases["exchange"]["mean_s"] + phases["overlap_wait"]["mean_s"]
    assert waits["overlapped"] < 0.7 * waits["structure_aware"]


def test_injected_waits_and_pauses_take_simulated_time_only(real, tmp_path):
    asked = program.sets(inject__mean_us=2e6, record__idle_pause_s=1000)
    for wait in ("sleep", "spin"):
        record = simulator.record_of(
            tmp_path, real[0], *asked, "--set", f"inject.wait={wait}", ranks=2, out=wait
        )
        assert record["timing"]["phases"]["inject"]["mean_s"] == pytest.approx(2 * CYCLES, rel=1e-6)


PLACES = 12 + 16  # bytes that an outbox and an inbox have for each rank, partner or not


@pytest.mark.parametrize("exchange", ["direct", "p2p", "sparse"])
def test_buffers_follow_the_partners_of_a_rank(exchange, tmp_path):
    each = {}
    for ranks in (16, 64):
        description = simulator.ring_of_areas(tmp_path / f"{ranks}.json", ranks)
        record = simulator.record_of(
            tmp_path, description, "--set", f"exchange={exchange}", ranks=ranks, out=str(ranks)
        )
        each[ranks] = record["memory"]["parts"]["buffers"] / ranks
    assert each[64] - each[16] == pytest.approx(PLACES * (64 - 16), rel=0.1)


def test_what_ranks_share_is_unknown_not_zero(real, tmp_path):
    record = simulator.record_of(tmp_path, real[0], "--set", "record.energy=true", ranks=2)
    assert record["kind"] == "simulated"
    assert record["memory"]["peak_bytes"] is None
    assert record["host"]["foreign_load"] is None
    assert record["host"]["nodes"] == 2
    assert record["host"]["node_names"] == ["node-0", "node-1"]
    assert record["host"]["per_node"] is None
    assert record["timing"]["simulate_started_s"] is None
    assert record["energy"] is None
    assert "simulated" in record["energy_reason"]
    assert record["meters"]
    assert {(m["value"], m["status"]) for m in record["meters"]} == {(None, "unavailable")}
    assert all("simulated" in m["reason"] for m in record["meters"])
    assert not [w for w in record["warnings"] if "oversubscribed" in w or "virtual" in w]


def test_compute_times_are_refused_in_the_other_build(real, tmp_path):
    compute_times(tmp_path / "times.npy", 1)
    done = program.start(real[0], "--out", tmp_path / "run", "--compute-times", tmp_path / "times.npy")
    assert done.returncode == 2
    assert done.stderr == "miniapp: --compute-times: only in the build for SimGrid (make simulator)\n"
    assert not (tmp_path / "run").exists()


def cut(path):
    path.write_bytes(path.read_bytes()[:-4])


BAD = {
    "ranks": (lambda p: compute_times(p, 3), "shape [3, 100, 3]; allowed: [2, 100, 3]"),
    "cycles": (lambda p: np.save(p, np.ones((2, 99, 3), "f4")), "shape [2, 99, 3]"),
    "phases": (lambda p: np.save(p, np.ones((2, 100, 7), "f4")), "shape [2, 100, 7]"),
    "flat": (lambda p: np.save(p, np.ones(600, "f4")), "shape [ranks, cycles, phases]"),
    "four axes": (lambda p: np.save(p, np.ones((2, 100, 3, 1), "f4")), "shape [ranks, cycles, phases]"),
    "doubles": (lambda p: np.save(p, np.ones((2, 100, 3))), "float32"),
    "Fortran": (lambda p: np.save(p, np.asfortranarray(np.ones((2, 100, 3), "f4"))), "C order"),
    "negative": (lambda p: np.save(p, np.full((2, 100, 3), -1, "f4")), "cycle 0, deliver: -1"),
    "nan": (lambda p: np.save(p, np.full((2, 100, 3), np.nan, "f4")), "deliver: nan"),
    "truncated": (lambda p: [compute_times(p, 2), cut(p)], "bytes; allowed:"),
    "text": (lambda p: p.write_text("0.1 0.2 0.3"), "a .npy file"),
    "missing": (lambda p: None, "No such file"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_compute_times_are_refused_in_one_line(case, real, tmp_path):
    make, message = BAD[case]
    path = tmp_path / "times.npy"
    make(path)
    done = simulator.start(tmp_path, real[0], "--out", tmp_path / "run", "--compute-times", path, ranks=2)
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("miniapp: ")]
    assert "--compute-times: " in line and message in line
    assert {f.name for f in tmp_path.iterdir()} <= {"times.npy", "hosts"}


@pytest.mark.parametrize(
    "flag", ["smpi/simulate-computation:yes", "smpi/cpu-threshold:1e-6", "smpi/host-speed:2Gf"]
)
def test_settings_that_would_change_the_times_are_refused(flag, real, tmp_path):
    compute_times(tmp_path / "times.npy", 1)
    arguments = (real[0], "--out", tmp_path / "run", "--compute-times", tmp_path / "times.npy")
    done = simulator.start(tmp_path, *arguments, flags=(*simulator.FLAGS, flag))
    assert done.returncode == 2
    assert f"--cfg={flag.split(':')[0]}" in done.stderr
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


@pytest.mark.parametrize("build", ["build", "build-smpi"])
def test_our_sources_have_no_variables_that_ranks_could_share(build):
    assert writable(program.ROOT / build / "obj" / "libspikemark_core.a") == []


def test_such_a_variable_would_be_found(tmp_path):
    source = tmp_path / "source.c"
    source.write_text("int a; static int b = 1; int next(void) { static int c; return ++c + b++ + a; }\n")
    subprocess.run(["cc", "-c", source, "-o", tmp_path / "source.o"], check=True)
    assert sorted(name.split(".")[0] for name in writable(tmp_path / "source.o")) == ["a", "b", "c"]


def test_the_record_is_read_and_an_older_one_was_measured(real, tmp_path):
    from spikemark.records import record

    simulator.record_of(tmp_path, real[0], ranks=2)
    assert record.load(tmp_path / "run").record.kind == "simulated"
    file = tmp_path / "run" / "record.json"
    older = json.loads(file.read_text())
    del older["kind"]
    file.write_text(json.dumps(older))
    assert record.load(tmp_path / "run").record.kind == "measured"


def test_the_kernel_tells_nothing_of_simulated_time(tmp_path):
    wanted = program.sets(record__kernel="true")
    assert simulator.record_of(tmp_path, program.EXAMPLE, *wanted, ranks=2)["kernel"] is None
    assert not list((tmp_path / "run").glob("kernel.*"))
