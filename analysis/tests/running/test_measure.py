"""One run of a plan, with stand-ins for the mini-app that fail in every way."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import swept
from planned import LINE

from spikemark.core.errors import BadInput
from spikemark.launch.layout import LaunchLayout, RanksOnNodes
from spikemark.launch.process import ProgramFailed
from spikemark.records import run_files
from spikemark.running.measure import PlannedRun, carry_out, check_record, measure

SLEEP = (
    f"sleep 600.{os.getpid()}"  # of this process: other checkouts may be tested at the same time
)
WRITE = """
mkdir -p "$3"
echo '{{"status": "{status}", "ranks": {ranks}, "threads": 1}}' > "$3/record.json"
"""


def plan(folder, time_limit_s=60):
    """A results folder with the plan of one run on two ranks, and its id."""
    results, (run,) = swept.planned(folder, time_limit_s=time_limit_s)
    return results, run.id


@pytest.fixture
def planned(tmp_path):
    return plan(tmp_path / "results")


@pytest.fixture
def miniapp(tmp_path, monkeypatch):
    """Returns a function that makes a shell script stand in for the mini-app."""

    def stand_in(body: str) -> None:
        path = tmp_path / "miniapp"
        path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
        path.chmod(0o755)
        monkeypatch.setenv("SPIKEMARK_MINIAPP", str(path))

    return stand_in


FAILURES = {
    # Open MPI names no rank that ends while it still starts others; real ranks meet in MPI_Init
    # first.
    "signal of one rank": (
        "[ $OMPI_COMM_WORLD_RANK = 1 ] && sleep 0.5 && kill -SEGV $$; exec sleep 60",
        "SIGSEGV",
    ),
    "own line": (
        "echo 'miniapp: seed: 7; allowed: more' >&2; exit 2",
        "miniapp: seed: 7; allowed: more",
    ),
    "no record": ("exit 0", "no valid record"),
    "half a record": ('mkdir -p "$3"; echo "{" > "$3/record.json"', "no valid record"),
    "not complete": (WRITE.format(status="running", ranks=2), "not complete"),
    "singletons": (WRITE.format(status="complete", ranks=1), "planned ranks=2, the record has 1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", FAILURES)
def test_failure_leaves_a_reason_and_nothing_else(case, planned, miniapp):
    results, run = planned
    body, reason = FAILURES[case]
    miniapp(body)
    with pytest.raises(ProgramFailed, match=reason):
        measure(results, run)
    log = results.failure(run).read_text().splitlines()
    assert reason in log[0]
    assert "run: conventional ranks=2 seed=1" in log
    assert any(line.startswith("command: ") and "mpirun" in line for line in log)
    assert not results.run(run).exists()
    assert list((results.path / "unchecked").iterdir()) == []


@pytest.mark.slow
def test_time_limit_ends_the_run(miniapp, tmp_path):
    results, run = plan(tmp_path / "results", time_limit_s=0.5)
    miniapp(f"exec {SLEEP}")
    with pytest.raises(
        ProgramFailed, match=r"limit of 0\.5 s; time_limit_s of the experiment raises it$"
    ):
        measure(results, run)
    assert "time limit" in results.failure(run).read_text()
    assert running(SLEEP) == b""


def running(command: str) -> bytes:
    return subprocess.run(["pgrep", "-f", command], capture_output=True).stdout


@pytest.mark.slow
@pytest.mark.parametrize("left", [None, *sorted(run_files.FILES.keys() - {"record.json"})])
def test_success_keeps_the_record_and_removes_an_old_failure(left, planned, miniapp):
    """Also where a file of an old record is left, which stays until there is something better."""
    results, run = planned
    results.run(run).mkdir(parents=True)  # as Snakemake does before a job
    if left:
        (results.run(run) / left).write_text("old")
    miniapp("exit 3")
    with pytest.raises(ProgramFailed):
        measure(results, run)
    assert left is None or (results.run(run) / left).is_file()
    miniapp(WRITE.format(status="complete", ranks=2))
    assert measure(results, run) == results.run(run)
    assert results.measured(run) and not results.failure(run).exists()
    assert {path.name for path in results.run(run).iterdir()} == {"record.json", "launch.json"}
    start = json.loads((results.run(run) / "launch.json").read_text())
    assert start["command"][0] == "mpirun"
    assert start["environment"]["OMP_NUM_THREADS"] == "1"


@pytest.mark.slow
def test_interruption_ends_all_ranks(planned, miniapp, tmp_path):
    results, run = planned
    miniapp(f"touch {tmp_path}/started-$OMPI_COMM_WORLD_RANK; exec {SLEEP}")
    job = subprocess.Popen(
        [sys.executable, "-m", "spikemark", "run", results.path, run], stderr=subprocess.PIPE
    )
    while len(list(tmp_path.glob("started-*"))) < 2:
        assert job.poll() is None
        time.sleep(0.05)
    job.terminate()
    _, errors = job.communicate(timeout=60)
    assert job.returncode == 130
    assert len(errors.splitlines()) == 1
    assert running(SLEEP) == b""
    assert not results.run(run).exists()
    assert not results.failure(run).exists()


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


REFUSALS = {
    "no miniapp": (
        lambda results, run: os.environ.update(SPIKEMARK_MINIAPP="/nowhere/miniapp"),
        "/nowhere/miniapp is not an executable file",
    ),
    "no description": (
        lambda results, run: results.description(run).unlink(),
        r"\.json: not found",
    ),
    "a file": (
        lambda results, run: put(results.run(run) / "notes.txt", "mine"),
        r"contains 'notes\.txt'",
    ),
    "measured": (
        lambda results, run: put(results.run(run) / "record.json", "{}"),
        "measured already; move or delete",
    ),
    "launcher": (lambda results, run: None, "launcher='bogus'; expected one of mpirun, srun"),
    "no such run": (lambda results, run: None, r"plan\.json: run='none'"),
}


@pytest.mark.parametrize("fault", REFUSALS)
def test_what_cannot_start_changes_nothing(fault, planned, miniapp):
    results, run = planned
    plant, complaint = REFUSALS[fault]
    miniapp(WRITE.format(status="complete", ranks=2))
    put(results.failure(run), "an earlier reason")
    plant(results, run)
    before = tree(results)
    with pytest.raises(BadInput, match=complaint) as refusal:
        measure(
            results,
            "none" if fault == "no such run" else run,
            "bogus" if fault == "launcher" else "mpirun",
        )
    assert "\n" not in str(refusal.value)
    assert tree(results) == before


def tree(results):
    """Every file and folder of the results, with what it holds."""
    return {path: path.is_file() and path.read_bytes() for path in results.path.rglob("*")}


def test_a_fault_of_the_program_keeps_its_trace(planned, miniapp, monkeypatch):
    """Only bad input, failed programs and the operating system give a reason without one."""
    results, run = planned
    miniapp(WRITE.format(status="complete", ranks=2))
    monkeypatch.setattr("spikemark.running.measure.watch", lambda *_, **__: int("no number"))
    with pytest.raises(ValueError, match="no number"):
        measure(results, run)
    log = results.failure(run).read_text()
    assert log.startswith("ValueError: invalid literal for int() with base 10: 'no number'\n")
    assert "Traceback" in log and f"id: {run}" in log
    assert not results.run(run).exists()


def test_record_that_comes_meanwhile_is_kept(planned, miniapp):
    results, run = planned
    other = results.run(run)
    miniapp(
        f"mkdir -p {other}; echo other > {other}/record.json\n"
        + WRITE.format(status="complete", ranks=2)
    )
    assert measure(results, run) == other  # a failure would make Snakemake remove the other record
    assert (other / "record.json").read_text() == "other\n"
    assert list((results.path / "unchecked").iterdir()) == []


@pytest.mark.slow
def test_two_hosts_in_one_folder_measure_each_run_once(planned, miniapp, tmp_path):
    """Each host has a lock of its own, which the other one does not see."""
    results, run = planned
    started = tmp_path / "started"
    miniapp(f"echo >> {started}; sleep 1\n" + WRITE.format(status="complete", ranks=2))
    command = [sys.executable, "-m", "spikemark.cli.planned_run", str(results.path), run]
    jobs = [
        subprocess.Popen(
            command,
            env={**os.environ, "SPIKEMARK_LOCK": str(tmp_path / host)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for host in ("n1", "n2")
    ]
    ends = [(*job.communicate(timeout=60), job.returncode) for job in jobs]
    assert [status for _, _, status in ends] == [0, 0], ends
    assert results.measured(run)
    assert started.read_text() == "\n" * 2  # of both ranks, once


def test_a_run_imports_nothing_heavy():
    """It starts anew for every record."""
    heavy = {
        "numpy",
        "scipy",
        "pandas",
        "yaml",
        "rich",
        "snakemake",
        "pydantic",
        "typer",
        "statistics",
    }
    script = (
        f"import sys; import spikemark.cli.planned_run; print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("linked", [False, True])
def test_a_run_whose_ranks_are_left_is_refused(tmp_path, linked):
    """Its command and mpirun were killed; mpirun had closed the lock for the ranks."""
    planned = PlannedRun(LINE["id"], LINE["label"], LaunchLayout(1), False, 60, LINE, [LINE])
    (tmp_path / "results").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "results")
    place = tmp_path / ("link" if linked else "results")
    unchecked = place / "unchecked" / planned.id / "record"
    paths = unchecked, place / "runs" / planned.id, place / "failed" / planned.id
    command = [
        sys.executable,
        "-c",
        "import time; time.sleep(60)",
        "--out",
        str(unchecked.resolve()),
    ]
    left = subprocess.Popen(command)
    line = Path(f"/proc/{left.pid}/cmdline")
    while not line.read_bytes():  # it has no arguments yet when Popen returns
        time.sleep(0.01)
    try:
        with pytest.raises(BadInput) as refusal:
            carry_out(planned, *paths, lambda: pytest.fail("it has begun"))
    finally:
        left.kill()
        left.wait()
    assert f"`kill {left.pid}`" in str(refusal.value)
    assert not paths[2].exists() and not (place / "unchecked").exists()

    def work() -> dict:
        unchecked.mkdir()
        (unchecked / "record.json").write_text("{}")
        return {}

    assert carry_out(planned, *paths, work) == paths[1]


# --- where ranks ran

TWO = {"nodes": 2, "node_names": ["a", "b"]}
#: What the record says of its nodes, the node of each rank, and the complaint.
PLACED = [
    (TWO, "0101", None),
    ({}, "", None),  # an old record
    ({"nodes": 1}, "", "nodes=2, .*nodes=1"),
    (TWO, "0011", "distribution=cyclic, ranks_per_node=2, .* rank 1 on a"),
    ({"nodes": 2}, "0111", "rank 2 on 1"),
]


def check(
    folder,
    host: dict,
    nodes: str,
    layout: LaunchLayout,
    spread: RanksOnNodes | None,
    complaint: str | None,
) -> None:
    content = {"status": "complete", "ranks": 4, "threads": 1, "host": host}
    put(folder / "record.json", json.dumps(content))
    table = "".join(f"{rank},{node}\n" for rank, node in enumerate(nodes))
    put(folder / "ranks.csv", f"rank,node\n{table}" if nodes else "rank\n0\n1\n2\n3\n")
    refused = (
        pytest.raises(ProgramFailed, match=complaint) if complaint else contextlib.nullcontext()
    )
    with refused:
        check_record(folder, layout, spread)


@pytest.mark.parametrize(("host", "nodes", "complaint"), PLACED)
def test_ranks_must_be_where_they_were_asked_for(host, nodes, complaint, tmp_path):
    check(
        tmp_path, host, nodes, LaunchLayout(4), None, None
    )  # where nothing is known about the nodes
    check(
        tmp_path,
        host,
        nodes,
        LaunchLayout(4),
        RanksOnNodes(4, 2, 2, "cyclic", ("a", "b")),
        complaint,
    )
