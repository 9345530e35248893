"""Ranks and threads that share processors wait passively, and the record says so."""

import os

import program
import pytest

from spikemark.core import mpirun
from spikemark.core.launch import core_threads

pytestmark = pytest.mark.slow

PROCESSORS = len(os.sched_getaffinity(0))
CROWDED = {"ranks": 2 * PROCESSORS, "threads": 2}
#: Nobody has said how to wait.
UNTOLD = {"OMP_WAIT_POLICY": None, "OMPI_MCA_mpi_yield_when_idle": None}
SHORT = program.sets(schedule="conventional", time__warmup_ms=0, time__simulate_ms=1)
#: A cycle takes long beside a context switch.
LARGE = program.sets(network__populations__0__size=100_000, network__populations__1__size=100_000)


def waiting(record):
    """How ranks and threads wait, and what the warnings say about it."""
    return record["host"]["waiting"], [
        w for w in record["warnings"] if w.startswith(("passive waiting", "active waiting"))
    ]


def test_a_crowded_node_waits_passively(tmp_path):
    record = program.record_of(tmp_path / "run", *SHORT, **CROWDED, **UNTOLD)
    found, [warning] = waiting(record)
    assert found["passive"] is True
    assert found["chosen_by"] == "miniapp"
    assert found["variables"]["OMP_WAIT_POLICY"] == "passive"
    assert found["variables"].items() <= mpirun.CROWDED.items()  # as the package says it, too
    assert len(found["variables"]) == 5
    assert warning.startswith("passive waiting: ")
    assert "OMP_WAIT_POLICY=passive" in warning


def test_a_node_with_room_waits_as_its_libraries_do(tmp_path):
    record = program.record_of(tmp_path / "run", *SHORT, ranks=1, threads=1, **UNTOLD)
    assert waiting(record) == ({"passive": False, "chosen_by": None, "variables": {}}, [])


def test_scripts_between_launcher_and_program_make_no_difference(tmp_path):
    """They are bound as the rank is, so that they do not show the processors of the other ranks."""
    script = tmp_path / "script.sh"
    script.write_text('#!/bin/sh\n"$@"\n')
    script.chmod(0o755)
    bound = {"ranks": len(core_threads()), "launch": ["--bind-to", "core", script, script]}
    for how, passive in ((bound, False), ({**CROWDED, "launch": [script, script]}, True)):
        record = program.record_of(tmp_path / f"passive={passive}", *SHORT, **how, **UNTOLD)
        assert waiting(record)[0]["passive"] is passive


@pytest.mark.parametrize("policy", ["passive", "ACTIVE"])
def test_what_the_environment_says_stays(tmp_path, policy):
    told = UNTOLD | {"OMP_WAIT_POLICY": policy}
    found, [warning] = waiting(program.record_of(tmp_path / "run", *SHORT, **CROWDED, **told))
    assert found["passive"] is (policy == "passive")
    assert found["chosen_by"] == "environment"
    assert found["variables"]["OMP_WAIT_POLICY"] == policy
    assert warning.startswith(f"{policy.lower()} waiting: ")


@pytest.mark.parametrize(
    ("launcher", "passive"),
    [
        ({"SLURM_STEP_TASKS_PER_NODE": f"1(x2),{8 * PROCESSORS}", "SLURM_NODEID": "2"}, True),
        ({"SLURM_STEP_TASKS_PER_NODE": f"1(x2),{8 * PROCESSORS}", "SLURM_NODEID": "1"}, False),
        ({"SLURM_STEP_TASKS_PER_NODE": "all"}, False),
        ({"MPI_LOCALNRANKS": str(8 * PROCESSORS)}, True),
        ({"MPI_LOCALNRANKS": "1"}, False),
    ],
)
def test_each_launcher_tells_the_ranks_of_a_node(tmp_path, launcher, passive):
    record = program.record_of(tmp_path / "run", *SHORT, **UNTOLD, **launcher)
    assert waiting(record)[0]["passive"] is passive


@pytest.mark.alone
def test_crowded_ranks_take_at_most_twice_as_long_as_one_thread_alone(tmp_path):
    arguments = [*program.sets(schedule="conventional", time__warmup_ms=0, time__simulate_ms=100), *LARGE]
    took: dict[str, list[float]] = {"alone": [], "crowded": []}
    for repetition in range(5):
        alone, crowded = (
            program.record_of(tmp_path / f"{name}{repetition}", *arguments, **layout, **UNTOLD)
            for name, layout in (("alone", {"ranks": 1}), ("crowded", CROWDED))
        )
        assert alone["checksum"] == crowded["checksum"]
        took["alone"].append(alone["timing"]["simulate_s"])
        took["crowded"].append(crowded["timing"]["simulate_s"])
    assert min(took["crowded"]) < 2 * min(took["alone"]), took  # other programs only lengthen times
