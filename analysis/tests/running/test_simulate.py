"""`spikemark simulate` from end to end: the real mini-app on a simulated machine."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import machine_file
import numpy as np
import pytest
import synthetic

from spikemark import machines
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.models import recursion
from spikemark.presets import PRESETS, dpsnn
from spikemark.records import record
from spikemark.running import measure, simulation
from spikemark.running.simulation import smpirun, sources
from spikemark.running.simulation.sources import Place

RANKS = 4
LARGE_S = 1e-3  # of the clock's steps and the overhead of a message nothing is seen then
SCHEDULES = {
    "conventional": {"schedule": "conventional"},
    "structure-aware": {"schedule": "structure_aware", "delay_ratio": 10},
    "overlapped": {
        "schedule": "overlapped",
        "delay_ratio": 10,
        "exchange": {"near": "alltoallv", "far": "ialltoallv"},
    },
}


def describe(schedule: str = "structure-aware", cycles: int = 200) -> dict:
    options = {"areas": RANKS, "neurons_per_area": 100, "indegree": 20, "delay_ratio": 10}
    found = PRESETS["mam-benchmark"].describe(**options, seed=1)
    found["time"] |= {"warmup_ms": 1, "simulate_ms": round(0.1 * cycles, 9)}
    return found | SCHEDULES[schedule]


@pytest.fixture(scope="module")
def machine(tmp_path_factory) -> machines.Profile:
    return machines.load(machine_file.write(tmp_path_factory.mktemp("machine") / "made-up.yaml"))


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """The run of a description on two ranks of this machine."""
    folder, kept = tmp_path_factory.mktemp("real"), {}

    def run(schedule: str) -> record.Run:
        if schedule not in kept:
            path = folder / f"{schedule}.json"
            path.write_text(json.dumps(describe(schedule)))
            program = [str(places.program("miniapp")), str(path), "--out", str(folder / schedule)]
            status, _, errors = measure.watch(launch.launch("mpirun", program, launch.Layout(2)), 60)
            assert status == 0, errors
            kept[schedule] = record.load(folder / schedule)
        return kept[schedule]

    return run


def simulate(out: Path, machine, schedule: str, ranks: int = RANKS, compute="model", **options) -> record.Run:
    return record.load(simulation.simulate(describe(schedule), machine, ranks, out, compute, **options))


@pytest.mark.parametrize("compute", ["model", "execute"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_spikes_are_those_of_the_real_run(tmp_path, machine, real, schedule, compute):
    found = simulate(tmp_path / "out", machine, schedule, compute=compute)
    assert found.record.checksum == real(schedule).record.checksum
    assert found.record.kind == "simulated" and found.record.ranks == RANKS
    assert np.all(found.compute() > 0)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ranks_wait_as_the_recursion_says(tmp_path, machine, schedule):
    """With cycles so long that messages cost next to nothing."""
    times = np.zeros((RANKS, 200, 3), dtype=np.float32)
    times[:, :, 1] = np.random.default_rng(1).normal(LARGE_S, LARGE_S / 10, (RANKS, 200))
    replayed = _run_with(tmp_path / "before", times)
    found = simulate(tmp_path / "out", machine, schedule, compute=replayed)
    assert found.compute() == pytest.approx(times.sum(axis=2), abs=2e-6)  # polling in between
    waiting = sum(
        found.phase(name).astype(float)
        for name in ("synchronise", "overlap_wait")
        if name in found.record.phases
    )
    expected = recursion.evaluate(times.sum(axis=2), recursion.lanes_of(found)).waiting_per_cycle_s
    assert expected > 0.01 * LARGE_S
    assert waiting.mean() == pytest.approx(expected, rel=0.1, abs=0.01 * LARGE_S)


def _run_with(folder: Path, times: np.ndarray) -> Path:
    """The folder of a run with these compute times."""
    ranks, cycles = times.shape[:2]
    run = synthetic.write_run(
        folder, ranks=ranks, cycles=cycles, description=describe(), schedule="conventional"
    )
    array = np.load(run / "cycles.npy")
    array[:, :, :3] = times
    np.save(run / "cycles.npy", array)
    return run


def test_a_real_run_is_replayed_cycle_by_cycle(tmp_path, machine, real):
    measured = real("structure-aware")
    found = simulate(tmp_path / "out", machine, "structure-aware", 2, measured.path, ranks_per_node=2)
    assert found.record.checksum == measured.record.checksum
    assert found.compute() == pytest.approx(measured.compute(), rel=1e-3, abs=1e-7)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert about["run"] == str(measured.path) and about["threads"] == 1
    assert about["cost_per_rank_and_cycle_s"] == pytest.approx(about["cost_s"] / (2 * (200 + 10)))  # warm-up
    assert about["cost_s"] > 0 and "SimGrid" in about["simgrid"] and "<cluster" in about["platform"]


def test_a_replayed_run_is_set_beside_its_simulation(tmp_path, machine, real, spikemark):
    measured = real("structure-aware")
    (tmp_path / "run.json").write_text(json.dumps(describe("structure-aware")))
    machine_file.write(tmp_path / "made-up.yaml")
    status, output, errors = spikemark(
        "simulate", tmp_path / "run.json", "--machine", tmp_path / "made-up.yaml", "--ranks", 2,
        "--ranks-per-node", 2, "--compute", measured.path, "--out", tmp_path / "out",
    )  # fmt: skip
    assert status == 0, errors
    ratios = simulation.ratios(measured, record.load(tmp_path / "out"))
    assert ratios.keys() == {"waiting", "exchange"} and all(ratio > 0 for ratio in ratios.values())
    words = ", ".join(f"{name} {ratio:.3g}" for name, ratio in ratios.items())
    assert f"the replayed run over this one, medians over windows: {words}\n" in output


def test_ratios_are_those_of_typical_windows(tmp_path):
    """Interruptions do not count, and cycles without an exchange count to their window."""
    runs = [synthetic.write_run(tmp_path / name, schedule="structure_aware") for name in ("one", "other")]
    cycles = np.load(runs[0] / "cycles.npy")
    longer = cycles.copy()
    longer[:, :, -1] *= 3  # the exchange
    longer[0, 5, -1] += 1
    np.save(runs[0] / "cycles.npy", longer)
    one, other = (record.load(run) for run in runs)
    assert simulation.ratios(one, other)["exchange"] == pytest.approx(3, rel=1e-3)


def test_modelled_times_have_the_mean_and_scatter_asked_for(tmp_path, machine):
    full = describe() | {"schedule": "conventional"}
    for population in full["network"]["populations"]:
        population["size"] *= 1000
    found = simulate(tmp_path / "out", machine, "structure-aware", compute_of=full, cv=0.2, seed=7, threads=2)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    low, high = np.sum([about["mean_s"][name] for name in ("deliver", "update", "collocate")], axis=0)
    compute = found.compute()
    assert low == pytest.approx(high, rel=0.05) and low > 1e-5
    assert compute.mean() == pytest.approx((low + high) / 2, rel=0.05)
    assert compute.std(axis=1) / compute.mean(axis=1) == pytest.approx(np.full(RANKS, 0.2), rel=0.2)
    assert about["jitter"]["cv"] == 0.2 and about["seed"] == 7 and about["threads"] == 2


def test_a_lane_with_a_lag_gets_an_exchange_that_is_quick_to_simulate(spikemark, files):
    """Where the description names none; said on the console and beside the record."""
    wanted = ["--set", "schedule=overlapped", "--set", 'exchange={"near": "alltoall"}']
    status, _, errors = spikemark(*command(files, *wanted))
    assert status == 0, errors
    lanes = {lane.name: lane.exchange for lane in record.load(files["out"]).record.lanes}
    assert lanes["far"] == "direct"
    line = json.loads((files["out"] / "simulation.json").read_text())["assumptions"][0]
    assert line.startswith("exchange = 'direct' for lane far") and f"assumed: {line}" in errors
    asked = [*wanted[:2], "--set", "exchange=ialltoallv"]
    assert "exchange" not in spikemark(*command(files, *asked))[2]
    lanes = {lane.name: lane.exchange for lane in record.load(files["out"]).record.lanes}
    assert lanes["far"] == "ialltoallv"


def test_a_simulated_run_repeats(tmp_path, machine):
    first, second = (simulate(tmp_path / name, machine, "overlapped") for name in ("one", "two"))
    assert np.array_equal(first.cycles, second.cycles)


@pytest.fixture
def files(tmp_path):
    run, profile = tmp_path / "run.json", tmp_path / "made-up.yaml"
    run.write_text(json.dumps(describe()))
    machine_file.write(profile)
    return {"run": run, "machine": profile, "out": tmp_path / "out"}


def command(files, *more) -> list[str]:
    given = {"--machine": files["machine"], "--ranks": 4, "--out": files["out"]}
    return [str(word) for word in ("simulate", files["run"], *sum(given.items(), ()), *more)]


def test_the_command_says_what_was_simulated_and_readers_take_the_run(spikemark, files):
    status, output, errors = spikemark(
        *command(files, "--set", "time.simulate_ms=30", "--set", "schedule=conventional")
    )
    assert status == 0, errors
    assert "simulated: real-time factor" in output and "longest path of 2 links" in output
    found = record.load(files["out"])
    assert found.record.timing.cycles == 300 and found.record.kind == "simulated"
    for reader in ("fit", "budget"):
        status, output, errors = spikemark(reader, files["out"])
        assert status == 0, errors
        assert "simulated" in output + errors


def test_without_a_folder_the_run_is_named_by_what_was_asked(spikemark, files, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    words = command(files)
    at = words.index("--out")
    status, output, errors = spikemark(*words[:at], *words[at + 2 :])
    assert status == 0, errors
    assert output.splitlines()[-1] == "out/run-made-up-4"
    assert record.load(tmp_path / "out" / "run-made-up-4").record.ranks == 4


def test_what_was_assumed_is_printed_and_stored(spikemark, files):
    machine_file.write(files["machine"], jitter__node_spread=None, interconnect__gap=None)
    status, _, errors = spikemark(*command(files))
    assert status == 0
    about = json.loads((files["out"] / "simulation.json").read_text())
    for path in ("jitter.node_spread", "interconnect.gap"):
        assert any(line.startswith(f"{path} = ") for line in about["assumptions"])
        assert f"assumed: {path} = " in errors


TOO_LONG = "lane far has windows of 20 cycles; its shortest delay allows 10"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("--ranks-per-node 17", "ranks_per_node=17: a node of made-up has 16 cores"),
        (
            "--ranks-per-node 2 --threads 9",
            "ranks_per_node=2: with 9 threads each, a node of made-up (16 cores) takes 1 to 1",
        ),
        ("--compute guess", "compute=guess: allowed are model, execute, or the folder of a run"),
        ("--compute execute --cv 0.1", "compute=execute: cv is allowed with 'model' only"),
        ("--compute execute --threads 2", "threads=2: allowed is 1 where compute times are executed"),
        ("--set delay_ratio=20", TOO_LONG),
        ("--compute execute --set delay_ratio=20", TOO_LONG),
        ("--compute execute --host epyc-vm --set delay_ratio=20", TOO_LONG),
        ("--set time.simulate_ms=0", "time.simulate_ms=0; allowed: greater than or equal to"),
        ("--set nothing", "--set nothing: allowed is FIELD=VALUE"),
        ("--set time.simulate_ms=1e8", "cycles: allowed are 200000000 compute times in all"),
        ("--set wire=thin", "wire='thin'; allowed: 'compact' or 'aer12'"),
        ("--set network=[]", "network=[]; allowed: a mapping of fields"),
        ("--ranks 1000000000", "ranks=1000000000: allowed is up to 4096"),
        (f"--seed {2**64}", f"seed={2**64}: allowed is up to {2**63 - 1}"),
        ("--cv inf", "--cv='inf'; allowed: less than or equal to 10"),
        ("--host grace", "host=grace: allowed with compute 'execute' only"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_left(refusal, files, more, complaint):
    before = set(files["out"].parent.iterdir())
    assert complaint in refusal(*command(files, *more.split()))
    assert set(files["out"].parent.iterdir()) == before


@pytest.mark.parametrize("content", ["{}", '{"time": {}}', '{"time": {"simulate_ms": 1}}'])
def test_a_network_to_take_times_of_that_is_none(refusal, files, tmp_path, content):
    full = tmp_path / "full.json"
    full.write_text(content)
    assert refusal(*command(files, "--compute-of", full)).startswith("compute_of: ")
    assert not files["out"].exists()


@pytest.mark.parametrize("name", ["letter.txt", "record.json"])
def test_what_is_no_simulated_run_is_not_overwritten(refusal, files, name):
    """A measured run, with a file of notes beside it or alone."""
    synthetic.write_run(files["out"])
    (files["out"] / name).open("a").write("\n")
    before = {path.name: path.read_bytes() for path in files["out"].iterdir()}
    complaint = {"record.json": "a measured run", "letter.txt": "'letter.txt', which belongs to no run"}
    assert f"contains {complaint[name]}" in refusal(*command(files))
    assert {path.name: path.read_bytes() for path in files["out"].iterdir()} == before


def test_without_simgrid_the_package_is_named(refusal, files, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refusal(*command(files)) == (
        "smpirun: command not found: install the package libsimgrid-dev (setup/apt.txt)"
    )
    assert not files["out"].exists()


def test_a_program_that_leaves_no_record_has_failed(spikemark, files, monkeypatch):
    """SimGrid's exit status is 0 after a deadlock."""
    monkeypatch.setenv("SPIKEMARK_MINIAPP_SMPI", shutil.which("true"))
    before = set(files["out"].parent.iterdir())
    status, _, errors = spikemark(*command(files))
    assert status == 1 and errors.splitlines()[-1].startswith("simulation failed: ")
    assert set(files["out"].parent.iterdir()) == before


def test_an_interrupt_leaves_nothing_behind(files):
    before = set(files["out"].parent.iterdir())
    arguments = command(files, "--set", "time.simulate_ms=100000")
    process = subprocess.Popen(
        [sys.executable, "-m", "spikemark", *arguments], env={**os.environ}, stderr=subprocess.PIPE, text=True
    )
    while not (started := list(files["out"].parent.glob(".out.simulating-*/compute.npy"))):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130, process.communicate()
    assert started and set(files["out"].parent.iterdir()) == before


def test_progress_tells_the_cycles_that_are_done(tmp_path, machine, monkeypatch):
    monkeypatch.setattr(smpirun, "LOOK_S", 0.01)
    told = []

    @contextlib.contextmanager
    def progress(words):
        told.append(words)
        yield lambda done, cycles: told.append((done, cycles))

    simulation.simulate(describe(cycles=3000), machine, RANKS, tmp_path / "out", progress=progress)
    words, *counts = told
    assert words == "4 ranks x 3000 cycles on made-up"
    assert {cycles for _, cycles in counts} <= {0, 3010}  # 0: the file is just being made
    assert [done for done, _ in counts] == sorted(done for done, _ in counts)
    assert any(0 < done < 3010 for done, _ in counts)


def test_an_earlier_run_is_replaced(tmp_path, machine):
    simulate(tmp_path / "out", machine, "conventional")
    found = simulate(tmp_path / "out", machine, "overlapped")
    assert found.schedule == "overlapped"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_folder_may_have_spaces_in_its_name(tmp_path, machine):
    assert simulate(tmp_path / "my runs" / "the first", machine, "conventional").record.ranks == RANKS


def test_a_run_of_a_study_is_simulated_once(tmp_path, machine):
    out = tmp_path / "out"
    assert not simulation.done(out, machine)
    simulate(out, machine, "conventional")
    assert simulation.done(out, machine)
    assert not simulation.done(out, machine.assume("interconnect.gap", 0.2, "us", "a test"))


def test_execution_of_neurons_without_a_rate_of_their_own_is_scaled_at_the_one_given(machine):
    place = Place(machines.filled(machine), 2, 1, 1)
    network = dpsnn.describe(neurons=200)
    assert sources.execute(network, place, place.profile, 3.0).factor == pytest.approx(1, rel=0.1)
    with pytest.raises(BadInput, match=r"has no rate of its own"):
        sources.execute(network, place, place.profile)


def test_execution_is_scaled_by_what_the_kernels_need_there_and_here(tmp_path, machine):
    slow = machine
    for group in ("one_core", "full_node"):
        kernel = f"kernels.{group}.update.ignore_and_fire"
        slow = slow.assume(kernel, 10 * machine.need(kernel, "the test").value, "ns", "a test")
        slow = slow.assume(f"kernels.{group}.cycle", 1000, "ns", "a test")
        machine = machine.assume(f"kernels.{group}.cycle", 100, "ns", "a test")
    simulation.simulate(describe(), slow, 2, tmp_path / "out", "execute", host=machine)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert about["factor"] == pytest.approx(10, rel=0.05)
    assert (
        about["host"] == "made-up" and "--cfg=smpi/host-speed:" + f"{about['factor']:.6g}Gf" in about["flags"]
    )
