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

import dry_folder
import machine_file
import numpy as np
import pytest
import synthetic
from edited_record import set_times
from four_areas import RANKS, SCHEDULES, describe
from synthetic import PHASES

from spikemark import launch, machines
from spikemark.core import places
from spikemark.models import recursion
from spikemark.prediction import programs, question
from spikemark.prediction.workload import Loads
from spikemark.records import record
from spikemark.records.phases import COMPUTE_PARTS, THREADS
from spikemark.running import measure, simulation
from spikemark.running.simulation import smpirun, times

pytestmark = pytest.mark.slow  # starts programs

LARGE_S = 1e-3  # of the clock's steps and the overhead of a message nothing is seen then


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
            status, _, errors = measure.watch(
                launch.launch("mpirun", program, launch.LaunchLayout(2)), 60
            )
            assert status == 0, errors
            kept[schedule] = record.load_run(folder / schedule)
        return kept[schedule]

    return run


def simulate(
    out: Path, machine, schedule: str, ranks: int = RANKS, compute="model", **options
) -> record.Run:
    return record.load_run(
        simulation.simulate(describe(schedule), machine, ranks, out, compute, **options)
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_spikes_are_those_of_the_real_run_and_repeat(tmp_path, machine, real, schedule):
    found = simulate(tmp_path / "my runs" / "the first", machine, schedule)
    assert found.record.checksum == real(schedule).record.checksum
    assert found.record.kind == "simulated" and found.record.ranks == RANKS
    assert np.all(found.compute() > 0)
    assert np.array_equal(found.cycles, simulate(tmp_path / "again", machine, schedule).cycles)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_ranks_wait_as_the_recursion_says(tmp_path, machine, schedule):
    """With cycles so long that messages cost next to nothing."""
    own = np.zeros((RANKS, 200, 3), dtype=np.float32)
    own[:, :, 1] = np.random.default_rng(1).normal(LARGE_S, LARGE_S / 10, (RANKS, 200))
    given = {"ranks": RANKS, "cycles": 200, "description": describe(), "schedule": "conventional"}
    before = synthetic.write_run(tmp_path / "before", **given)
    array = np.load(before / "cycles.npy")
    array[:, :, [PHASES.index(name) for name in times.PHASES]] = own
    set_times(before, array)
    found = simulate(tmp_path / "out", machine, schedule, compute=before)
    assert found.compute() == pytest.approx(own.sum(axis=2), abs=2e-6)  # polling in between
    waiting = found.waiting().astype(float)
    expected = recursion.evaluate(own.sum(axis=2), recursion.lanes_of(found)).waiting_per_cycle_s
    assert expected > 0.01 * LARGE_S
    assert waiting.mean() == pytest.approx(expected, rel=0.1, abs=0.01 * LARGE_S)


def test_a_real_run_is_replayed_cycle_by_cycle(tmp_path, machine, real):
    measured = real("structure-aware")
    found = simulate(
        tmp_path / "out", machine, "structure-aware", 2, measured.path, ranks_per_node=2
    )
    assert found.record.checksum == measured.record.checksum
    assert found.compute() == pytest.approx(measured.compute(), rel=1e-3, abs=1e-7)
    about = json.loads((tmp_path / "out" / "simulation.json").read_text())
    assert about["run"] == str(measured.path) and about["threads"] == 1
    assert about["cost_per_rank_and_cycle_s"] == pytest.approx(
        about["cost_s"] / (2 * (200 + 10))
    )  # warm-up
    assert about["cost_s"] > 0 and "SimGrid" in about["simgrid"] and "<cluster" in about["platform"]


@pytest.mark.parametrize("program", ["nest", "mini-app"])
def test_ranks_compute_as_long_as_the_kernels_of_the_program(tmp_path, program):
    """Spikes are those of the mini-app; the page of the run says whose times they are."""
    jureca = machines.load("jureca-dc")
    found = simulate(tmp_path / "out", jureca, "conventional", program=program)
    filled = machines.filled(jureca)
    layout = times.layout_of(filled, RANKS)
    network = question.of_description("a network", describe("conventional"))
    threads = layout.shares[0].node.threads
    loads = Loads.count(network.description, RANKS, threads, network.rates.hz)
    seconds = programs.PROGRAMS[program].times(network, loads, filled, layout)
    assert found.simulation["program"] == program
    mean_s = found.compute().mean()
    assert mean_s == pytest.approx(sum(seconds.values()).mean(), rel=0.1)
    of_program = [line for line in found.simulation["assumptions"] if program in line]
    assert bool(of_program) == (program != "mini-app")


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


# --- the command


@pytest.fixture
def files(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(describe()))
    machine_file.write(tmp_path / "made-up.yaml")
    return {
        "run": tmp_path / "run.json",
        "machine": tmp_path / "made-up.yaml",
        "out": tmp_path / "out",
    }


def command(files, *more) -> list[str]:
    given = {"--machine": files["machine"], "--ranks": 4, "--out": files["out"]}
    if "--ranks" in more:
        del given["--ranks"]
    return [str(word) for word in ("simulate", files["run"], *sum(given.items(), ()), *more)]


def test_the_command_says_what_was_simulated_and_assumed(spikemark, files, monkeypatch):
    """Without a folder, the run is named by what was asked; a second one takes its place."""
    machine_file.write(files["machine"], jitter__node_spread=None, interconnect__gap=None)
    monkeypatch.chdir(files["out"].parent)
    place = files["out"] / f"run-made-up-{RANKS}"
    for lanes in True, False:
        more = (
            ("schedule=overlapped", 'exchange={"near": "alltoall"}')
            if lanes
            else ("time.simulate_ms=30",)
        )
        words = command(files, *(word for one in more for word in ("--set", one)))
        words[(at := words.index("--out")) : at + 2] = []
        status, output, errors = spikemark(*words)
        assert status == 0, errors
        assert "simulated: real-time factor" in output and "longest path of 2 links" in output
        assert output.splitlines()[-1] == f"out/{place.name}"
        found = record.load_run(place)
        assumed = found.simulation["assumptions"]
        for path in "jitter.node_spread", "interconnect.gap":
            assert any(line.startswith(f"{path} = ") for line in assumed), "\n".join(assumed)
        assert "assumed: interconnect.gap = " in errors and "more like these" in errors
        if lanes:
            assert {lane.name: lane.exchange for lane in found.record.lanes}["far"] == "direct"
            assert (
                assumed[0].startswith("exchange = 'direct'") and f"assumed: {assumed[0]}" in errors
            )
    assert found.record.timing.cycles == 300 and list(files["out"].iterdir()) == [place]
    status, output, errors = spikemark(*words, "--json")
    assert status == 0 and json.loads(output)["simulation"]["assumptions"] == assumed, errors
    status, output, errors = spikemark("waiting", place, "--json")
    assert status == 0 and json.loads(output)["kind"] == "simulated", errors


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ("--ranks-per-node 17", "--ranks-per-node=17; "),
        ("--ranks-per-node 2 --threads 9", "--ranks-per-node=2; "),
        ("--compute guess", "compute='guess'"),
        ("--set delay_ratio=20", "lane far has windows of 20 cycles"),
        ("--set time.simulate_ms=0", "time.simulate_ms=0"),
        ("--set nothing", "set='nothing'"),
        ("--set time.simulate_ms=1e8", "GB of memory"),
        ("--set network=[]", "network=[]"),
        ("--ranks 1000000000", "ranks=1000000000"),
        (f"--seed {2**64}", f"seed={2**64}"),
        ("--cv inf", "--cv='inf'"),
        ("--compute RUN --cv 0.1", "cv: "),
        ("--compute RUN --threads 2", "threads=2; "),
        ("--compute RUN --rate 1", "rate: "),
        ("--compute-of EMPTY", "compute_of: "),
        ("--on fast=4", "part 'fast': "),
        ("--program nets", "--program='nets'"),
        ("--program dpsnn", "--program='dpsnn'"),  # neither network nor machine was measured
        ("--program nest --compute RUN", "--program: "),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_left(refusal, files, more, complaint):
    synthetic.write_run(files["out"].with_name("RUN"), ranks=4)
    files["out"].with_name("EMPTY").write_text("{}")
    before = set(files["out"].parent.iterdir())
    words = [str(files["out"].with_name(word)) if word.isupper() else word for word in more.split()]
    assert complaint in refusal(*command(files, *words))
    assert set(files["out"].parent.iterdir()) == before


@pytest.mark.parametrize("name", ["letter.txt", "record.json"])
def test_what_is_no_simulated_run_is_not_overwritten(refusal, files, name):
    """A measured run, with a file of notes beside it or alone."""
    synthetic.write_run(files["out"])
    (files["out"] / name).open("a").write("\n")
    before = {path.name: path.read_bytes() for path in files["out"].iterdir()}
    assert refusal(*command(files)).startswith(f"--out={files['out']}: contains ")
    assert {path.name: path.read_bytes() for path in files["out"].iterdir()} == before


def test_without_simgrid_or_a_record_nothing_is_left(
    refusal, spikemark, files, monkeypatch, tmp_path
):
    """SimGrid's exit status is 0 after a deadlock."""
    before = set(files["out"].parent.iterdir())
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        assert refusal(*command(files)) == smpirun.MISSING
    monkeypatch.setenv("SPIKEMARK_MINIAPP_SMPI", shutil.which("true"))
    status, _, errors = spikemark(*command(files))
    assert status == 1 and errors.splitlines()[-1].startswith("simulation failed: ")
    assert set(files["out"].parent.iterdir()) == before


def test_an_interrupt_leaves_nothing_behind(files):
    before = set(files["out"].parent.iterdir())
    words = [sys.executable, "-m", "spikemark", *command(files, "--set", "time.simulate_ms=100000")]
    process = subprocess.Popen(words, env={**os.environ}, stderr=subprocess.PIPE, text=True)
    while not list(files["out"].parent.glob(".out.simulating-*/compute.f32")):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130, process.communicate()
    assert set(files["out"].parent.iterdir()) == before


# --- compute times of a dry run


@pytest.fixture
def dry(tmp_path, monkeypatch):
    """A dry run of two of the four ranks of another network, and the description of that."""
    full = dry_folder.description(seed=7)
    file = tmp_path / "full.json"
    file.write_text(json.dumps(full))
    with monkeypatch.context() as patch:
        found = dry_folder.write(patch, tmp_path / "dry", of=4, sample=2, description=full)
    return {"folder": found.path, "full": file, "found": found}


def test_compute_times_of_a_dry_run_are_replayed_and_the_rest_simulated(
    spikemark, files, dry, refusal
):
    files["run"] = dry["full"]
    words = command(files, "--compute", dry["folder"])
    status, output, errors = spikemark(*words)
    assert status == 0, errors
    assert "a dry run of 2 of 4 ranks" in output
    found = record.load_run(files["out"])
    means = dict(zip(COMPUTE_PARTS, dry["found"].times().mean(axis=(0, 1)), strict=True))
    means["update"] += means.pop(THREADS)  # simulated ranks have one thread
    for name, mean in means.items():
        assert found.phase(name).mean() == pytest.approx(mean, rel=1e-3)
    assert found.simulation["dry_run"]["sampled"] == [0, 3]
    at = words.index("--ranks") + 1
    assert "has 4 ranks; expected 2" in refusal(*words[:at], "2", *words[at + 1 :])
    assert "has 400 cycles; expected 300" in refusal(*words, "--set", "time.simulate_ms=30")
    aware = "--set", "schedule=structure_aware", "--set", "placement=area"
    assert refusal(*words, *aware).startswith("schedule=")


def test_a_small_network_takes_the_times_of_the_full_one_only_if_that_is_named(
    spikemark, files, dry, refusal
):
    more = (
        "--compute",
        dry["folder"],
        "--set",
        "time.simulate_ms=40",
        "--set",
        "schedule=conventional",
    )
    more += "--set", "placement=round_robin"
    assert refusal(*command(files, *more)).startswith("network.")
    status, _, errors = spikemark(*command(files, *more, "--compute-of", dry["full"]))
    assert status == 0, errors
    assert any(
        "those of another network" in line
        for line in record.load_run(files["out"]).simulation["assumptions"]
    )
