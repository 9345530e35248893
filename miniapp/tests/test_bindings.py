"""The record names nodes and governors, and warns of ranks without cores of their own."""

import csv
import json
import os
import socket
import subprocess

import program
import pytest

pytestmark = pytest.mark.slow

SHORT = program.sets(time__simulate_ms=1)
#: A node with two cores of two hardware threads each, of which this host has the first two, for hwloc.
HYPERTHREADS = {"HWLOC_SYNTHETIC": "core:2 pu:2", "HWLOC_THISSYSTEM": "1"}
CORES = {"HWLOC_SYNTHETIC": "core:4 pu:1", "HWLOC_THISSYSTEM": "1"}


@pytest.fixture
def bound_to(tmp_path):
    """A function of the hardware thread of each rank: the warnings of such a run about its machine."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.fail("these tests need two hardware threads")

    def run(threads_of_ranks, of_rank, **environment):
        pin = tmp_path / "pin"
        pin.write_text(
            f'#!/bin/sh\nset -- {" ".join(map(str, of_rank))} -- "$@"\nshift $OMPI_COMM_WORLD_RANK\n'
            'cpu=$1\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec taskset -c $cpu "$@"\n'
        )
        pin.chmod(0o755)
        out = tmp_path / "run"
        command = ["mpirun", "--quiet", "--bind-to", "none", "-n", str(len(of_rank)), pin, program.MINIAPP]
        done = subprocess.run(
            [*command, program.EXAMPLE, "--out", out, *SHORT],
            env={
                **os.environ,
                **program.ENVIRONMENT,
                "OMP_NUM_THREADS": str(threads_of_ranks),
                **environment,
            },
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads((out / "record.json").read_text())["warnings"]
        return [w for w in found if w.startswith(("shared", "bound", "oversubscribed"))]

    return run


def test_ranks_on_one_hardware_thread_are_a_warning(bound_to):
    [found] = bound_to(1, [0, 0], **CORES)
    assert found.startswith("shared cores: 2 ranks on node ")
    assert "such as ranks 0 and 1 (hardware threads 0 and 0), have 2 threads on 1 core;" in found


def test_ranks_on_hardware_threads_of_one_core_are_a_warning(bound_to):
    [found] = bound_to(1, [0, 1], **HYPERTHREADS)
    assert found.startswith("shared cores: 2 ranks on node ")
    assert "(hardware threads 0 and 1), have 2 threads on 1 core;" in found


def test_ranks_on_cores_of_their_own_are_no_warning(bound_to):
    assert bound_to(1, [0, 1], **CORES) == []


def test_threads_of_a_rank_on_hardware_threads_of_one_core_are_a_warning(bound_to):
    [found] = bound_to(2, ["0,1"], **HYPERTHREADS)
    assert found.startswith("bound too tightly: rank 0 on node ")
    assert "has 2 threads and may use 1 core (hardware threads 0-1), as 1 of 1 ranks are bound;" in found


def test_threads_of_a_rank_on_cores_of_their_own_are_no_warning(bound_to):
    assert bound_to(2, ["0,1"], **CORES) == []


def test_a_node_with_fewer_cores_than_threads_is_named(bound_to):
    found = bound_to(1, [0, 1], HWLOC_SYNTHETIC="core:1 pu:2", HWLOC_THISSYSTEM="1")
    assert [w.split(";")[0] for w in found] == [
        f"oversubscribed: 2 ranks x 1 threads on 1 cores of node {socket.gethostname()}"
    ]


def test_the_node_of_every_rank_is_recorded_with_its_governor(tmp_path):
    governor = tmp_path / "sys" / "devices" / "system" / "cpu" / "cpu0" / "cpufreq" / "scaling_governor"
    governor.parent.mkdir(parents=True)
    governor.write_text("powersave\n")
    record = program.record_of(tmp_path / "run", *SHORT, ranks=2, SPIKEMARK_SYSFS=str(tmp_path / "sys"))
    host = record["host"]
    assert host["node_names"] == [socket.gethostname()]
    [node] = host["per_node"]
    assert (node["name"], node["cpu"], node["ranks"]) == (host["name"], host["cpu"], 2)
    assert (node["governor"], node["governor_reason"]) == ("powersave", None)
    assert node["frequency_max_hz"] is None
    with open(tmp_path / "run" / "ranks.csv") as file:
        assert [row["node"] for row in csv.DictReader(file)] == ["0", "0"]


def test_a_governor_that_nobody_tells_is_null_with_a_reason(tmp_path):
    (tmp_path / "sys").mkdir()
    record = program.record_of(tmp_path / "run", *SHORT, SPIKEMARK_SYSFS=str(tmp_path / "sys"))
    [node] = record["host"]["per_node"]
    assert node["governor"] is None
    assert node["governor_reason"].endswith("cpu0/cpufreq/scaling_governor: not there")


def test_the_fields_of_a_node_are_documented(tmp_path):
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text()
    [node] = program.record_of(tmp_path / "run", *SHORT)["host"]["per_node"]
    assert all(f"`{name}`" in text for name in node)
