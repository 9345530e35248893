"""One run of the mini-app on a simulated machine, from its description to a record like any other."""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark import project
from spikemark.errors import BadInput
from spikemark.files import write_json
from spikemark.launch import Launch
from spikemark.measure import watch
from spikemark.simulation import compute as times
from spikemark.simulation import platform
from spikemark.simulation.compute import Jitter

if TYPE_CHECKING:
    from spikemark.machines import Profile

MODES = ("model", "execute")
LIMIT_S = 24 * 3600.0
#: How spikes travel: these fields of a run hold for the description that its compute times are taken of, too.
TRAVEL = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")


class SimulationFailed(RuntimeError):
    """No record; the message is the reason, in one line."""


def simulate(
    description: dict[str, Any],
    profile: "Profile",
    ranks: int,
    out: Path,
    compute: str | Path = "model",
    *,
    ranks_per_node: int = 1,
    threads: int | None = None,
    compute_of: dict[str, Any] | None = None,
    seed: int = 1,
    correlation: float | None = None,
    cv: float | None = None,
    hz: float | None = None,
    progress: Callable[[str], AbstractContextManager] | None = None,
) -> Path:
    """Simulate a run on `ranks` ranks of a machine; its record and simulation.json are in `out` afterwards.

    `compute`: `model` draws compute times from the profile's kernel times and jitter (of `compute_of`, if
    given, instead of the description itself; `cv` and `correlation`, from cycle to cycle, override the
    jitter's; `hz`: spikes per second of neurons that have no rate of their own), with `threads` (all cores,
    shared by the ranks of a node) per rank; `execute` takes those that the kernels need here, with one
    thread; a path replays those of the run there. What the profile does not
    say is assumed (`machines.filled`). `progress` is called with what is done and returns what lasts while
    it is.

    Raises BadInput for a description, machine or compute time that cannot be, without SimGrid, and where
    `out` holds something else than a run; SimulationFailed where the run ends without a record. Neither
    leaves a trace.
    """
    from spikemark import machines

    program, version = programs()
    out = Path(out).absolute()
    _check_place(out)
    filled = machines.filled(profile)
    drawn = compute == "model"
    if not drawn and (compute_of or correlation is not None or cv is not None):
        raise BadInput(f"compute={compute}: compute_of, correlation and cv are allowed for 'model' only")
    threads = _threads(filled, ranks, ranks_per_node, threads, drawn)
    network = platform.Interconnect.of(filled)
    built = platform.build(network, ranks, ranks_per_node)
    cycles = times.cycles(description)
    facts: dict[str, Any] = {"compute": str(compute), "seed": seed}
    given = None
    if drawn:
        means, assumptions = _means(
            compute_of or description, description, filled, ranks, threads, ranks_per_node, hz
        )
        jitter = Jitter.of(filled, cv, correlation)
        given = times.draw(means, cycles, jitter, seed, ranks_per_node)
        facts |= {
            "jitter": asdict(jitter),
            "mean_s": _spread(means),
            "of": "itself" if compute_of is None else "another",
        }
    else:
        assumptions = list(filled.assumptions)
        if compute != "execute":
            given = times.replayed(Path(compute), ranks, cycles)
    flags = [*built.flags, f"--cfg=smpi/simulate-computation:{'yes' if given is None else 'no'}"]
    if given is None:
        flags.append("--cfg=smpi/cpu-threshold:0")
    words = f"{ranks} ranks, {cycles} cycles on {profile.name}"
    with _workspace(out) as folder, progress(words) if progress else contextlib.nullcontext():
        began = time.monotonic()
        _run(program, folder, description, ranks, built, flags, given)
        cost = time.monotonic() - began
        about = {
            "format_version": 1,
            "machine": profile.name,
            **facts,
            "ranks_per_node": ranks_per_node,
            "threads": threads,
            "interconnect": asdict(network),
            "facts": built.facts,
            "platform": built.xml,
            "flags": flags,
            "assumptions": [str(line) for line in assumptions],
            "cost_s": cost,
            "cost_per_rank_and_cycle_s": cost / (ranks * cycles),
            "simgrid": version,
        }
        write_json(folder / "record" / "simulation.json", about)
        if out.exists():
            shutil.rmtree(out)
        os.rename(folder / "record", out)
    return out


def programs() -> tuple[Path, str]:
    """The mini-app built for SimGrid, and SimGrid's version. Raises BadInput where either is missing."""
    if not shutil.which("smpirun"):
        raise BadInput("smpirun: command not found: install the package libsimgrid-dev (setup/apt.txt)")
    said = subprocess.run(["smpirun", "-version"], capture_output=True, text=True, errors="replace").stdout
    return project.miniapp_smpi(), said.strip()


def _check_place(out: Path) -> None:
    if out.is_dir():
        if any(out.iterdir()) and not (out / "record.json").is_file():
            raise BadInput(f"{out}: is there and no run: move it away first")
    elif out.exists() or out.is_symlink():
        raise BadInput(f"{out}: is there and no run: move it away first")


def _threads(profile: "Profile", ranks: int, ranks_per_node: int, threads: int | None, drawn: bool) -> int:
    """Threads per rank. Raises BadInput for more ranks or threads than a node has cores."""
    for name, value in (("ranks", ranks), ("ranks_per_node", ranks_per_node), ("threads", threads or 1)):
        if value < 1:
            raise BadInput(f"{name}={value}: allowed is 1 or more")
    cores = int(profile.need("node.cores", "placing ranks").value)
    if not drawn and (threads or 1) > 1:
        raise BadInput(f"threads={threads}: allowed with compute times that are executed or replayed is 1")
    asked = threads or (max(cores // ranks_per_node, 1) if drawn else 1)
    if ranks_per_node * asked > cores:
        raise BadInput(
            f"ranks_per_node={ranks_per_node}, threads={asked}: a node of {profile.name} has {cores} cores:"
            " allowed are as many in all"
        )
    return asked


def _means(of, description, profile, ranks, threads, ranks_per_node, hz) -> tuple[np.ndarray, list[str]]:
    """Mean compute times [rank, phase] in seconds, and what they assume."""
    from spikemark.prediction import phases

    travelling = {name: description[name] for name in TRAVEL if name in description}
    found = phases.phase_times({**of, **travelling}, profile, ranks, threads, None, None, ranks_per_node, hz)
    means = np.stack([found.deliver_s, found.update_s, found.collocate_s], axis=-1)
    return means, found.assumptions


def _spread(means: np.ndarray) -> dict[str, list[float]]:
    """Least and largest mean of any rank, by phase, seconds."""
    low, high = means.min(axis=0), means.max(axis=0)
    return {name: [float(low[i]), float(high[i])] for i, name in enumerate(times.PHASES)}


@contextlib.contextmanager
def _workspace(out: Path):
    """A folder beside `out` for everything until it is whole; gone afterwards, whatever happens."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.simulating-", dir=out.parent))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(program: Path, folder: Path, description, ranks: int, built, flags: list[str], given) -> None:
    """Run the mini-app in the folder; its record is in `record` then. Raises as `simulate` does."""
    (folder / "platform.xml").write_text(built.xml)
    (folder / "hosts").write_text(built.hosts)
    write_json(folder / "run.json", description)
    command = ["smpirun", "-np", str(ranks), "-platform", "platform.xml", "-hostfile", "hosts"]
    command += [*flags, str(program), "run.json", "--out", "record"]
    if given is not None:
        np.save(folder / "compute.npy", given)
        command += ["--compute-times", "compute.npy"]
    start = Launch(["env", f"--chdir={folder}", *command], {"TMPDIR": str(folder)})
    status, output, errors = watch(start, LIMIT_S)
    try:
        complete = json.loads((folder / "record" / "record.json").read_text())["status"] == "complete"
    except (OSError, ValueError, KeyError, TypeError):
        complete = False
    if complete:
        return
    lines = [line.strip() for line in f"{output}\n{errors}".splitlines()]
    if said := [line.removeprefix("miniapp: ") for line in lines if line.startswith("miniapp: ")]:
        raise BadInput(said[0])
    lines = [line for line in lines if line and "/INFO]" not in line]
    deadlock = [line for line in lines if "deadlock" in line.lower()]
    raise SimulationFailed(
        (deadlock or lines[-1:] or [f"exit status {status} and no record, without a message"])[0]
    )
