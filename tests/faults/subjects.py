"""Commands that write results: what lies there before, the command line, and how a whole result is
known.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from small_network import describe

from spikemark.core import places
from spikemark.core.reading import read_json
from spikemark.core.single_process import session_in
from spikemark.diff import history as entries
from spikemark.network import placement_file
from spikemark.records import dry_run, imported, record, run_files
from spikemark.records.results import Results
from spikemark.running import experiments, sweeps
from spikemark_tender import formats

#: A digest of each part of a result that is there.
Parts = dict[str, str]
NEURONS, CYCLES = 60, 100
QUIET = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # no daemon, which took all memory where files cannot grow
    "OMPI_MCA_ess_singleton_isolated": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_NUM_THREADS": "1",
}


class Subject(NamedTuple):
    """A command, in which {} is the folder that holds all that it writes, and {id} the run that is
    planned.

    `parts` raises BadInput where something is neither absent nor whole. `keeps`: what was measured
    is never measured again. `tries`: faults of each kind.
    """

    name: str
    prepare: Callable[[Path], object]
    command: str
    parts: Callable[[Path], Parts]
    keeps: bool = False
    tries: int = 6


class Finished(NamedTuple):
    """How a command ended: its status, negative for a signal, and what it printed."""

    status: int
    output: str
    errors: str


def start(command: str, folder: Path, environment: dict[str, str] | None = None) -> Finished:
    """Runs a program of ours to its end, or for five minutes."""
    plan = folder / "here" / "plan.json"
    run = read_json(plan)["runs"][0]["id"] if plan.is_file() else ""
    words = [word.replace("{id}", run).replace("{}", str(folder)) for word in command.split()]
    program, *arguments = words
    if program == "spikemark":
        start_of_command = [sys.executable, "-m", program]
    else:
        start_of_command = [str(places.program(program))]
    with tempfile.TemporaryDirectory(prefix="mpi", ignore_cleanup_errors=True) as session:
        try:
            done = subprocess.run(
                [*start_of_command, *arguments],
                env={**os.environ, **QUIET, **session_in(Path(session)), **(environment or {})},
                cwd=folder.parent,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=300,
            )
        except subprocess.TimeoutExpired:
            return Finished(-signal.SIGALRM, "", "")
    return Finished(done.returncode, done.stdout, done.stderr)


def digest(content: bytes | str) -> str:
    """SHA-256."""
    if isinstance(content, str):
        content = content.encode()
    return hashlib.sha256(content).hexdigest()


def described(folder: Path) -> None:
    """Two areas of a few neurons for a few cycles."""
    content = describe(neurons=NEURONS, indegree=20, rate_hz=50)
    content["time"] |= {"warmup_ms": 1, "simulate_ms": CYCLES / 10}
    content["record"]["spikes"] = True
    (folder / "run.json").write_text(json.dumps(content))


def ran(folder: Path, command: str) -> None:
    done = start(command, folder)
    assert done.status == 0, done.errors


RUN = "miniapp {}/run.json --out {}/out"


def other_seed(folder: Path) -> None:
    described(folder)
    ran(folder, f"{RUN} --set seed=2")


def recorded(folder: Path) -> Parts:
    out = folder / "out"
    if not out.exists() or not any(out.iterdir()):
        return {}
    return {"record": record.load_run(out).record.checksum}


def planned(folder: Path) -> None:
    """A planned sweep of one run."""
    described(folder)
    (folder / "faults.yaml").write_text(
        "name: faults\ntitle: A short run\ndescription: run.json\nranks: 2\nseeds: 1\ntime_limit_s:"
        " 60\ngrid:\n  - schedule: [conventional]\nshuffle_seed: 1\n"
    )
    experiment = experiments.load_experiment(folder / "faults.yaml")
    sweeps.plan(experiment, experiments.expand(experiment), Results(folder / "here"))


def runs(folder: Path) -> Parts:
    parts = {}
    for path in sorted((folder / "here" / "runs").glob("*")):
        if any(path.iterdir()):
            parts[path.name] = record.load_run(path).record.checksum
            read_json(path / run_files.LAUNCH)
    return parts


def dry(folder: Path) -> Parts:
    parts = {}
    for path in sorted((folder / "out" / dry_run.EACH).glob("*")):
        if path.name.isdigit():
            parts[f"rank {path.name}"] = dry_run.load_rank(path).counts["checksum"]
    if (folder / "out" / dry_run.DRY_RUN_FILE).exists():
        parts["all"] = str(dry_run.load_dry_run(folder / "out").timed.tolist())
    return parts


IMPORT = "spikemark import {}/rank-0.csv {}/rank-1.csv --unit ms --out {}/out"


def tables(folder: Path, factor: float = 1.0) -> None:
    for rank in range(2):
        lines = [f"{factor * (1 + rank + cycle % 7)},{1 + cycle % 3}" for cycle in range(CYCLES)]
        (folder / f"rank-{rank}.csv").write_text("\n".join(["compute,communicate", *lines]) + "\n")


def other_import(folder: Path) -> None:
    tables(folder, 2.0)
    ran(folder, IMPORT)
    tables(folder)


def of_import(folder: Path) -> Parts:
    if not (folder / "out" / imported.IMPORT_FILE).exists():
        return {}
    run = imported.load_cycle_times(folder / "out")
    return {"import": digest(run.about.model_dump_json().encode() + run.times.tobytes())}


def other_placement(folder: Path) -> None:
    described(folder)
    other = placement_file.Placement.from_ranges(2, [NEURONS, 2 * NEURONS], [1, 0], method="before")
    placement_file.write(folder / "placement.json", other)


def placed(folder: Path) -> Parts:
    path = folder / "placement.json"
    if not path.exists():
        return {}
    placement_file.read_placement(path, 2 * NEURONS)
    return {"placement": digest(path.read_bytes())}


def one_entry(folder: Path) -> None:
    """A history of one run, and the record of another one that nothing disturbed."""
    described(folder)
    for seed, out in ((2, "before"), (1, "out")):
        ran(folder, f"miniapp {{}}/run.json --out {{}}/{out} --set seed={seed}")
        path = folder / out / run_files.RECORD
        content = read_json(path)
        content["host"] |= dict.fromkeys(("foreign_load", "stolen_load", "throttled_load"), 0.0)
        content["host"]["virtual_machine"] = False
        content["host"].pop("throttled_reason", None)
        # long enough to say something
        content["timing"] |= {"simulate_s": 1.0, "timer_overhead": 0.0}
        path.write_text(json.dumps(content))
    entries.add(folder / "history", [folder / "before"])


def of_history(folder: Path) -> Parts:
    parts: Parts = {}
    for path in sorted((folder / "history").glob(f"*{entries.END}")):
        for entry in entries.entries(path):
            parts[f"entry {len(parts)}"] = digest(entry.model_dump_json())
    return parts


def bundle(folder: Path) -> Parts:
    path = folder / "bundle"
    if not path.exists():
        return {}
    files = json.loads((path / formats.MANIFEST).read_text())["files"]
    for dated in (formats.TENDER, formats.RULES):
        files.pop(dated, None)
    name = formats.read_bundle(path).tender.name
    return {"bundle": digest(json.dumps([files, name], sort_keys=True))}


SUBJECTS = (
    Subject("miniapp", described, RUN, recorded),
    Subject("miniapp in place of another run", other_seed, RUN, recorded),
    Subject("run", planned, "spikemark run {}/here {id}", runs, keeps=True),
    Subject(
        "dryrun",
        described,
        "spikemark dryrun {}/run.json --of 4 --sample 2 --threads 1 --out {}/out",
        dry,
        keeps=True,
    ),
    Subject("import in place of another", other_import, IMPORT, of_import),
    Subject(
        "partition in place of another",
        other_placement,
        "spikemark partition {}/run.json --ranks 2 --method greedy_swap --out {}/placement.json",
        placed,
    ),
    Subject(
        "diff --add", one_entry, "spikemark diff --history {}/history --add {}/out", of_history
    ),
    Subject(
        "tender new",
        lambda folder: None,
        "spikemark tender new {}/bundle --quick --commit HEAD --node-memory 0.02 --minimum 0.1",
        bundle,
        tries=1,
    ),
)
