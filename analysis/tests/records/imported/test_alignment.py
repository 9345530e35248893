"""What does not line up is said in one clear line, whatever the format; nothing is cut silently."""

import json
import resource
import subprocess
import sys

import foreign_logs
import numpy as np
import pytest
from synthetic import compute_times

from spikemark.records import imported
from spikemark.records.imported.checks import examine

RANKS, CYCLES = 4, 200
FROM = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": None}
CALLED = {"otf2": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}}


def times():
    """Compute times of a millisecond, [rank, cycle]."""
    return compute_times(RANKS, CYCLES, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)


def read(name, files):
    """What the reader `name` finds."""
    return imported.read(files, "s" if name == "table" else None, CALLED.get(name), form=name)


def shorter(name, folder):
    """Files in which the last rank has three cycles less."""
    compute = times()
    if name == "otf2":
        return foreign_logs.trace(folder, compute, less=3)
    if name == "table":
        lines = [(rank, 1e-3) for rank in range(RANKS) for _ in range(CYCLES - 3 * (rank == RANKS - 1))]
        np.savetxt(folder / "a.csv", lines, delimiter=",", header="rank,compute", comments="")
        return [folder / "a.csv"]
    files = foreign_logs.WRITERS[name](folder, compute)
    if name == "nest":
        held = dict(np.load(files[-1]))
        np.savez(files[-1], **{key: value[:-3] if value.ndim else value for key, value in held.items()})
    else:
        files[-1].write_text("".join(files[-1].read_text().splitlines(keepends=True)[:-3]))
    return files


def negative(name, folder):
    """Files in which one rank communicates for longer than a cycle takes."""
    compute = times()
    if name == "table":
        columns = {"cycle_time": compute, "communicate": foreign_logs.exchanged(compute)}
        columns["communicate"][2, 7] = 1.0
        np.savez(folder / "a.npz", **columns)
        return [folder / "a.npz"]
    files = foreign_logs.WRITERS[name](folder, compute)
    if name == "nest":
        held = dict(np.load(files[2]))
        held["time_communicate_spike_data"][7] = 1.0
        np.savez(files[2], **held)
    else:
        lines = np.loadtxt(files[2])
        lines[7, 1:3] = 1.0
        np.savetxt(files[2], lines)
    return files


OF_CYCLES = [name for name in foreign_logs.WRITERS if name not in ("nest-sums", "bennch")]


@pytest.mark.parametrize("name", OF_CYCLES)
def test_ranks_with_different_numbers_of_cycles_are_refused(refused, tmp_path, name):
    said = refused(read, name, shorter(name, tmp_path))
    assert f"{CYCLES - 3}" in said and f"{CYCLES}" in said, said


@pytest.mark.parametrize("name", [name for name in OF_CYCLES if name != "otf2"])
def test_negative_computing_is_refused(refused, tmp_path, name):
    """In a trace, communication is cut out of the cycle, so that there is none."""
    said = refused(read, name, negative(name, tmp_path))
    assert "rank 2" in said and "cycle 7" in said, said


@pytest.mark.parametrize("name", OF_CYCLES)
def test_long_first_cycles_are_kept_and_said(tmp_path, name):
    compute = times()
    compute[:, :3] *= 20
    found = read(name, foreign_logs.WRITERS[name](tmp_path, compute))
    made = imported.save(tmp_path / "out", found, FROM)
    assert made.measured_cycles == CYCLES, "nothing is cut silently"
    (line,) = [line for line in made.about.remarks if line.startswith("the first")]
    assert "--skip 3 leaves out" in line


@pytest.mark.parametrize("factor", [0.1, 10.0])
@pytest.mark.parametrize("which", ["compute", "communicate"])
def test_a_column_in_another_unit_is_said(factor, which):
    compute = times()
    columns = {"compute": compute, "communicate": foreign_logs.exchanged(compute)}
    columns[which] = factor * columns[which]
    (line,) = examine(columns)
    assert "unit" in line or "a part of the cycle is in no column" in line


@pytest.mark.slow
def test_a_hundred_thousand_cycles_of_128_ranks_need_little_more_memory_than_a_copy_of_them(tmp_path):
    """At most fifteen arrays [rank, cycle] at once, whatever Python itself needs; and it comes to an end."""
    draw = np.random.default_rng(1)
    compute = (1e-3 * (1 + 0.05 * draw.standard_normal((128, 100_000), dtype=np.float32))).astype(np.float32)
    np.savez(tmp_path / "times.npz", compute=compute, communicate=compute.max(axis=0) - compute + 5e-5)
    command = [sys.executable, "-m", "spikemark"]
    limit = 15 * compute.nbytes + 1_000_000_000

    def run(*arguments):
        def held():
            resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

        done = subprocess.run(
            [*command, *map(str, arguments)], capture_output=True, text=True, preexec_fn=held, timeout=1800
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    out = tmp_path / "mine"
    run("import", "cycles", tmp_path / "times.npz", "--unit", "s", "--out", out)
    content = json.loads(run("budget", out, "--json"))
    waited = float((compute.max(axis=0) - compute.mean(axis=0)).sum(dtype=np.float64))
    low, high = content["waiting_limits_s"]
    assert low <= waited <= high
    run("predict", out, "--schedule", "structure_aware", "--delay-ratio", 10)
