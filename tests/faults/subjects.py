"""Commands that write results: what lies there before, the command line, and how a whole result is known."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from small_network import describe

from spikemark.core import places
from spikemark.core.reading import read_json
from spikemark.diff import history as entries
from spikemark.network import placement_file
from spikemark.records import dry_run, imported, record, run_files
from spikemark.records.results import Results
from spikemark.running import experiments, sweeps
from spikemark.tender import formats

#: A digest of each part of a result that is there.
Parts = dict[str, str]
NEURONS, CYCLES = 60, 100
QUIET = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_ess_singleton_isolated": "1",  # no daemon, which took all memory where files cannot grow
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMP_NUM_THREADS": "1",
}


class Subject(NamedTuple):
    """A command, in which {} is the folder that holds all that it writes, and {id} the run that is planned.

    `parts` raises BadInput where something is neither absent nor whole. `keeps`: what was measured is never
    measured again. `tries`: faults of each kind.
    """

    name: str
    prepare: Callable[[Path], object]
    command: str
    parts: Callable[[Path], Parts]
    keeps: bool = False
    tries: int = 6


class Said(NamedTuple):
    """How a command ended: its status, negative for a signal, and what it printed."""

    status: int
    output: str
    errors: str


def start(command: str, folder: Path, environment: dict[str, str] | None = None) -> Said:
    """Runs a program of ours to its end, or for five minutes."""
    plan = folder / "here" / "plan.json"
    run = read_json(plan)["runs"][0]["id"] if plan.is_file() else ""
    words = [word.replace("{id}", run).replace("{}", str(folder)) for word in command.split()]
    program, *rest = words
    own = [sys.executable, "-m", program] if program == "spikemark" else [str(places.program(program))]
    try:
        done = subprocess.run(
            [*own, *rest], env={**os.environ, **QUIET, **(environment or {})}, cwd=folder.parent,
            capture_output=True, text=True, errors="replace", timeout=300,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Said(-signal.SIGALRM, "", "")
    return Said(done.returncode, done.stdout, done.stderr)


def digest(content: bytes | str) -> str:
    """SHA-256."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


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
    return {"record": record.load(out).record.checksum} if out.exists() and any(out.iterdir()) else {}


def planned(folder: Path) -> None:
    """A planned sweep of one run."""
    described(folder)
    (folder / "faults.yaml").write_text(
        "name: faults\ntitle: A short run\ndescription: run.json\nranks: 2\nseeds: 1\ntime_limit_s: 60\n"
        "grid:\n  - schedule: [conventional]\nshuffle_seed: 1\n"
    )
    found = experiments.load(folder / "faults.yaml")
    sweeps.plan(found, experiments.expand(found), Results(folder / "here"))


def runs(folder: Path) -> Parts:
    found = {}
    for path in sorted((folder / "here" / "runs").glob("*")):
        if any(path.iterdir()):
            found[path.name] = record.load(path).record.checksum
            read_json(path / run_files.LAUNCH)
    return found


def dry(folder: Path) -> Parts:
    each = sorted(path for path in (folder / "out" / dry_run.EACH).glob("*") if path.name.isdigit())
    found = {f"rank {path.name}": dry_run.load_rank(path).counts["checksum"] for path in each}
    if (folder / "out" / dry_run.ABOUT).exists():
        found["all"] = str(dry_run.load(folder / "out").timed.tolist())
    return found


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
    if not (folder / "out" / imported.ABOUT).exists():
        return {}
    found = imported.load(folder / "out")
    return {"import": digest(found.about.model_dump_json().encode() + found.times.tobytes())}


def other_placement(folder: Path) -> None:
    described(folder)
    other = placement_file.Placement.of(2, [NEURONS, 2 * NEURONS], [1, 0], method="before")
    placement_file.write(folder / "placement.json", other)


def placed(folder: Path) -> Parts:
    path = folder / "placement.json"
    if not path.exists():
        return {}
    placement_file.read(path, 2 * NEURONS)
    return {"placement": digest(path.read_bytes())}


def one_entry(folder: Path) -> None:
    """A history of one run, and the record of another one that nothing disturbed."""
    described(folder)
    for seed, out in ((2, "before"), (1, "out")):
        ran(folder, f"miniapp {{}}/run.json --out {{}}/{out} --set seed={seed}")
        path = folder / out / run_files.RECORD
        content = read_json(path)
        content["host"] |= {"foreign_load": 0.0, "virtual_machine": False}
        path.write_text(json.dumps(content))
    entries.add(folder / "history", [folder / "before"])


def of_history(folder: Path) -> Parts:
    found = [
        one for path in sorted((folder / "history").glob(f"*{entries.END}")) for one in entries.entries(path)
    ]
    return {f"entry {number}": digest(entry.model_dump_json()) for number, entry in enumerate(found)}


def bundle(folder: Path) -> Parts:
    path = folder / "bundle"
    if not path.exists():
        return {}
    listed = json.loads((path / formats.MANIFEST).read_text())["files"]
    files = {
        name: one for name, one in listed.items() if name not in (formats.TENDER, formats.RULES)
    }  # dated
    return {"bundle": digest(json.dumps([files, formats.read_bundle(path).tender.name], sort_keys=True))}


SUBJECTS = (
    Subject("miniapp", described, RUN, recorded),
    Subject("miniapp in place of another run", other_seed, RUN, recorded),
    Subject("run", planned, "spikemark run {}/here {id}", runs, keeps=True),
    Subject(
        "dryrun", described, "spikemark dryrun {}/run.json --of 4 --sample 2 --threads 1 --out {}/out", dry,
        keeps=True,
    ),
    Subject("import in place of another", other_import, IMPORT, of_import),
    Subject(
        "partition in place of another", other_placement,
        "spikemark partition {}/run.json --ranks 2 --method greedy_swap --out {}/placement.json", placed,
    ),
    Subject("diff --add", one_entry, "spikemark diff --history {}/history --add {}/out", of_history),
    Subject(
        "tender new", lambda folder: None,
        "spikemark tender new {}/bundle --quick --commit HEAD --node-memory 0.02 --minimum 0.1", bundle,
        tries=1,
    ),
)  # fmt: skip
