"""Running the build for SimGrid on a small star of hosts (star.xml), and a network of eight areas for it."""

import json
import os
import subprocess
from pathlib import Path

import program

SIMULATED = program.ROOT / "build-smpi" / "miniapp"
PLATFORM = Path(__file__).parent / "star.xml"
HOSTS = 8  # of the platform; more ranks go round

FLAGS = (
    "smpi/privatization:no", "smpi/simulate-computation:no", "smpi/cpu-threshold:0", "smpi/host-speed:1Gf",
    "smpi/wtime:0", "smpi/test:0", "smpi/iprobe:1e-7", "smpi/grow-injected-times:no",
)  # fmt: skip


def start(folder, *arguments, ranks=1, flags=FLAGS):
    """Run the program to its end on a simulated cluster; `folder` takes the list of hosts."""
    hosts = Path(folder) / "hosts"
    hosts.write_text("".join(f"node-{i}\n" for i in range(HOSTS)))
    command = ["smpirun", "-np", str(ranks), "-platform", PLATFORM, "-hostfile", hosts]
    command += [*(f"--cfg={flag}" for flag in flags), "--log=root.thresh:error", SIMULATED]
    environment = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    return subprocess.run(
        [*command, *map(str, arguments)], env=environment, capture_output=True, text=True, timeout=600,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip


def record_of(folder, description, *arguments, out="run", **how):
    """The record of a run that must succeed, in `folder`/`out`."""
    done = start(folder, description, "--out", folder / out, *arguments, **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / out / "record.json").read_text())


def absent(text):
    """{name: reason} of the exchanges that `miniapp --list` says are absent."""
    return {one["name"]: one["absent"] for one in json.loads(text)["exchanges"] if one["absent"]}


def eight_areas(path, **record):
    """Writes a description that every schedule takes on 1 to 8 ranks; 100 measured cycles, D = 10."""
    near = {"mean": 0.5, "sd": 0.25, "min": 0.1, "max": 2}
    far = {"mean": 1.5, "sd": 0.75, "min": 1, "max": 2}
    areas, neuron = [f"a{i}" for i in range(8)], {"model": "ignore_and_fire", "rate_hz": 50}
    projections = [{"source": a, "target": a, "indegree": 10, "delay": near} for a in areas]
    projections += [
        {"source": [b for b in areas if b != a], "target": a, "indegree": 10, "delay": far} for a in areas
    ]
    description = {
        "format_version": 1,
        "time": {"resolution_ms": 0.1, "cycle_ms": 0.1, "warmup_ms": 1, "simulate_ms": 10},
        "delay_ratio": 10,
        "schedule": "structure_aware",
        "network": {
            "populations": [{"name": a, "size": 60, "neuron": neuron} for a in areas],
            "projections": projections,
        },
        "record": record,
    }
    path.write_text(json.dumps(description))
    return path
