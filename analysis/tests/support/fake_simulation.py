"""Stands in for SimGrid: machines without a profile file, and records as a simulated run leaves
them.
"""

import json
from functools import partial
from pathlib import Path
from types import SimpleNamespace

from synthetic import overlap, write_run

from spikemark.core.errors import BadInput
from spikemark.machines.profile import UnknownValue

NAMES = ("jureca-dc", "supermuc-ng", "other")


def needed(values: dict, path: str, why: str):
    if path not in values:
        raise UnknownValue(f"{path} is unknown, needed for {why}")
    return values[path]


class FakeSimulation:
    """Notes how it was called; `fails` is raised instead of writing a record, `kind` stands in the
    record.
    """

    def __init__(self):
        self.calls: list[dict] = []
        self.fails: Exception | None = None
        self.kind = "simulated"
        self.latency = 1.0

    def load(self, name):
        if name not in NAMES:
            raise BadInput(f"machine {name!r} not found: one of {', '.join(NAMES)}")
        leaf = SimpleNamespace(value=self.latency, unit="us")
        cores = SimpleNamespace(value=128, unit="1")
        values = {"interconnect.latency": leaf, "node.cores": cores}
        return SimpleNamespace(
            name=name, values=values, get=values.get, need=partial(needed, values)
        )

    def simulate(self, description, profile, ranks, out, compute, **options):
        self.calls.append(
            {"description": description, "machine": profile.name, "ranks": ranks, **options}
        )
        if self.fails:
            raise self.fails
        write(Path(out), description, ranks, profile.name, self.kind)
        return out


def write(
    out: Path, description: dict, ranks: int, machine: str, kind: str = "simulated", **options
) -> Path:
    """A record of the description on so many ranks, with simulation.json beside it."""
    defaults = {"schedule": "conventional", "delay_ratio": 1, "exchange": "alltoallv"}
    named = {name: description.get(name, default) for name, default in defaults.items()}
    cycles = round(10 * description["time"]["simulate_ms"])
    path = write_run(
        out,
        **{"ranks": ranks, "cycles": cycles, "seed": description["seed"], **options},
        description={**defaults, **description},
        schedule=named["schedule"],
        delay_ratio=named["delay_ratio"],
        placement="round_robin" if named["schedule"] == "conventional" else "area_group",
    )
    record = json.loads((path / "record.json").read_text())
    (path / "record.json").write_text(json.dumps({**record, "kind": kind}))
    about = {
        "machine": machine,
        "compute": "model",
        "ranks_per_node": 1,
        "threads": 128,
        "facts": "fat tree of 4 nodes",
        "flags": [],
        "assumptions": ["gap: 0.3 us"],
        "cost_s": 2.5,
        "simgrid": "SimGrid 3.32",
    }
    (path / "simulation.json").write_text(json.dumps(about))
    return path


def simulated(results: Path, machine: dict | None = None) -> Path:
    """Turn a results folder of `planned.write_experiment` into one of simulated runs.

    A run's own machine are its fields `machine.…`; overlapped runs get the lanes that the schedule
    has.
    """
    plan = json.loads((results / "plan.json").read_text())
    for line in plan["runs"]:
        own = {
            f.removeprefix("machine."): v
            for f, v in line["fields"].items()
            if f.startswith("machine.")
        }
        line["machine"] = {"profile": "jureca-dc", **(machine or {}), **own}
        path = results / "runs" / line["id"] / "record.json"
        if path.is_file():
            if line["fields"]["schedule"] == "overlapped":
                overlap(path.parent)
            path.write_text(json.dumps(json.loads(path.read_text()) | {"kind": "simulated"}))
    (results / "plan.json").write_text(json.dumps(plan))
    return results
