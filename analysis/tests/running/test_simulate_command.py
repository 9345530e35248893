"""`spikemark simulate` as a command: what it says, what it refuses, what it leaves behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import dry_folder
import machine_file
import pytest
import synthetic
from four_areas import describe

from spikemark.records import record
from spikemark.records.phases import COMPUTE, THREADS


@pytest.fixture
def files(tmp_path):
    run, profile = tmp_path / "run.json", tmp_path / "made-up.yaml"
    run.write_text(json.dumps(describe()))
    machine_file.write(profile)
    return {"run": run, "machine": profile, "out": tmp_path / "out"}


def command(files, *more) -> list[str]:
    given = {"--machine": files["machine"], "--ranks": 4, "--out": files["out"]}
    return [str(word) for word in ("simulate", files["run"], *sum(given.items(), ()), *more)]


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


@pytest.fixture
def dry(tmp_path, monkeypatch):
    """A dry run of two of the four ranks of another network, and the description of that."""
    full = dry_folder.description(seed=7)
    file = tmp_path / "full.json"
    file.write_text(json.dumps(full))
    with monkeypatch.context() as patch:
        found = dry_folder.write(patch, tmp_path / "dry", of=4, sample=2, description=full)
    return {"folder": found.path, "full": file, "found": found}


def test_compute_times_of_a_dry_run_are_replayed_and_the_rest_simulated(spikemark, files, dry):
    files["run"] = dry["full"]
    status, output, errors = spikemark(*command(files, "--compute", dry["folder"]))
    assert status == 0, errors
    assert "deliver, update and collocate were measured by a dry run of 2 of 4 ranks; the rest is" in output
    found = record.load(files["out"])
    means = dict(zip(COMPUTE, dry["found"].times().mean(axis=(0, 1)), strict=True))
    means["update"] += means.pop(THREADS)  # simulated ranks have one thread
    for name, mean in means.items():
        assert found.phase(name).mean() == pytest.approx(mean, rel=1e-3)
    about = found.simulation["dry_run"]
    assert about["sampled"] == [0, 3] and about["not_measured"] == ["waiting", "exchange"]
    assert "compute times were measured by a dry run" in spikemark("fit", files["out"])[2]


def test_a_small_network_takes_the_times_of_the_full_one_only_if_that_is_named(
    spikemark, files, dry, refusal
):
    more = "--compute", dry["folder"], "--set", "time.simulate_ms=40", "--set", "schedule=conventional"
    more += "--set", "placement=round_robin"
    assert "network: not that of the dry run" in refusal(*command(files, *more))
    status, _, errors = spikemark(*command(files, *more, "--compute-of", dry["full"]))
    assert status == 0, errors
    about = json.loads((files["out"] / "simulation.json").read_text())
    assert any("those of another network" in line for line in about["assumptions"])


def test_a_dry_run_of_other_ranks_or_cycles_is_refused(files, dry, refusal):
    files["run"] = dry["full"]
    words = command(files, "--compute", dry["folder"])
    at = words.index("--ranks") + 1
    assert "has 4 ranks: allowed are as many" in refusal(*words[:at], "2", *words[at + 1 :])
    assert "has 400 measured cycles" in refusal(*words, "--set", "time.simulate_ms=30")
    assert "schedule=structure_aware: the dry run" in refusal(
        *words, "--set", "schedule=structure_aware", "--set", "placement=area"
    )
