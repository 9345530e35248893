"""What the tests of the program share: running it, and a small network."""

import csv
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

from spikemark.core.single_process import ALONE, session_in

ROOT = Path(__file__).parents[2]
SECTIONS = ("placements", "schedules", "wires", "exchanges", "neuron_models", "meters", "run_files")
# Made by `make peers`; absent otherwise.
NEST = ROOT / ".venv-peers" / "bin" / "python"
MINIAPP = ROOT / "build" / "miniapp"
CHECKED = ROOT / "build" / "miniapp_checked"
EXAMPLE = ROOT / "miniapp" / "examples" / "two_areas.json"

# Ranks and threads beyond the cores give way to each other.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_orte_execute_quiet": "1",  # Open MPI 4 says nothing of its own; 5 knows no --quiet
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMP_WAIT_POLICY": "passive",
}


def start(*arguments, ranks=None, threads=1, program=MINIAPP, cwd=None, launch=(), **environment):
    """Run the program to its end; without `ranks` without mpirun, and then without a daemon of MPI.

    A variable that is None is not set. `launch` stands between mpirun and the program. Programs
    may be started side by side: each has the files of MPI in a folder of its own.
    """
    mpirun = [*([] if ranks is None else ["mpirun", "-n", str(ranks)]), *launch]
    usual = {**ENVIRONMENT, **(ALONE if ranks is None and not launch else {})}
    streams = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL}
    command = map(str, (*mpirun, program, *arguments))
    with tempfile.TemporaryDirectory(prefix="mpi", ignore_cleanup_errors=True) as session:
        usual |= session_in(Path(session))
        variables = {**os.environ, **usual, "OMP_NUM_THREADS": str(threads), **environment}
        environment = {name: value for name, value in variables.items() if value is not None}
        return subprocess.run([*command], env=environment, timeout=600, cwd=cwd, **streams)


def sets(**fields):
    """--set arguments; `__` stands for the dot. What is no text is written as JSON."""
    said = {
        n.replace("__", "."): v if isinstance(v, str) else json.dumps(v) for n, v in fields.items()
    }
    return [word for name, value in said.items() for word in ("--set", f"{name}={value}")]


def record_of(out, *arguments, description=EXAMPLE, **how):
    """The record of a run that must succeed. A description that is no file is written beside it."""
    if isinstance(description, dict):
        path = Path(f"{out}.json")
        path.write_text(json.dumps(description))
        description = path
    done = start(description, "--out", out, *arguments, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((Path(out) / "record.json").read_text())


# Libraries that leave blocks behind.
FOREIGN = re.compile(
    r"libmpi|libopen-|mca_|libpmix|libprrte|libhwloc|libevent|libucp|libucs|libfabric|libpapi"
)


def leaks(report):
    """Stacks of the lost blocks in a report of the sanitizer that our sources took, without MPI
    between.
    """
    stacks = re.findall(r"(?:Direct|Indirect) leak of .*\n((?: +#\d+ .*\n)+)", report)
    ours = [re.sub(r".* in main .*\n", "", stack) for stack in stacks if not FOREIGN.search(stack)]
    return [stack for stack in ours if re.search("miniapp/(src|variants)/", stack)]


def watched(*arguments, log, leaking=True, **how):
    """A run of the build with checks, without optimisation. Its report goes to files LOG.*; nothing
    is ours.

    Where the system forbids looking for leaks (under ptrace), it looks for none.
    """
    # Stacks through libraries, by which leaks are judged, take most of the time of a short run.
    options = f"exitcode=0:log_path={log}:detect_leaks={leaking:d}"
    options += f":fast_unwind_on_malloc={not leaking:d}"
    done = start(*arguments, program=CHECKED, ASAN_OPTIONS=options, **how)
    report = "".join(path.read_text() for path in log.parent.glob(f"{log.name}.*"))
    if "LeakSanitizer has encountered a fatal error" in report and leaking:
        return watched(*arguments, log=log, leaking=False, **how)
    assert leaks(report) == []
    assert not re.search("runtime error|ERROR: AddressSanitizer", report + done.stderr), (
        report + done.stderr
    )
    return done


def checked(out, *arguments, **how):
    """The record of the build with checks."""
    done = watched(EXAMPLE, "--out", out, *arguments, log=out.parent / "report", **how)
    assert done.returncode == 0, done.stderr
    return json.loads((out / "record.json").read_text())


def registered():
    """{section: {name: member}} of miniapp --list."""
    listed = json.loads(start("--list").stdout)
    return {
        title: {one["name"]: one for one in listed[title]}
        for title in SECTIONS
        if listed.get(title)
    }


def rows(out):
    """The lines of ranks.csv, or of another table in the folder of a run, as {column: text}."""
    with open(out if out.suffix else out / "ranks.csv", newline="") as file:
        return list(csv.DictReader(file))
