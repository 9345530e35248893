"""The run that a prediction is about, and whether a record is of that run.

A record is of the run if network, seed, cycle, injected waits, lanes, placement, ranks and threads are those
that were predicted. How long was simulated, and what was recorded, does not matter: predictions are times per
simulated second.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.network.placement_field import FILE
from spikemark.records import run_files
from spikemark.records.matching import difference
from spikemark.records.record import Run, load

#: What `inject` is in the record of a run into which no waits are injected.
NOTHING = dict.fromkeys(("mean_us", "sd_us", "rank_sd_us", "per_neuron_ns", "per_synapse_ns"), 0.0)


def about(
    description: dict[str, Any], ranks: int, threads: int, machine: str | None = None
) -> dict[str, Any]:
    """The field `run` of an entry. Raises BadInput for what the mini-app would refuse."""
    known = read(description)
    schedule, placement = lanes.chosen(known, None, None)
    if placement.endswith(FILE):
        raise BadInput(f"placement={placement}: a file; allowed in a ledger: the name of a placement")
    used = lanes.read(known, ranks, schedule, placement)
    return {
        "kind": "measured" if machine is None else "simulated", "machine": machine,
        "ranks": ranks, "threads": threads,
        "lanes": [
            {"name": lane.name, "period": lane.period, "lag": lane.lag,
             "exchange": None if lane.alone else lane.exchange}
            for lane in used
        ],
        "placement": placement, "description": {"schedule": "conventional", **description},
    }  # fmt: skip


def other(run: dict[str, Any], found: Run) -> str | None:
    """How a record is of another run than the field `run` of an entry says; None if it is of that run."""
    record = found.record
    simulated = found.simulation or {}
    pairs = {
        "kind": (run["kind"], record.kind),
        "ranks": (run["ranks"], record.ranks),
        "threads": (run["threads"], threads(found)),
        "machine": (run["machine"], simulated.get("machine")),
        "placement": (run["placement"], found.placement),
        "lanes": (run["lanes"], _lanes(run["lanes"], found)),
    }
    for what, pair in pairs.items():
        if text := difference(*pair, what):
            return text
    wanted = identity(run["description"], given=True)
    return difference(wanted, identity(record.description), "description")


def threads(found: Run) -> int:
    """Threads of a rank; a simulated rank has one, which stands for as many as its times are modelled for."""
    return (found.simulation or {}).get("threads") or found.record.threads


def _lanes(wanted: list[dict[str, Any]], found: Run) -> list[dict[str, Any]]:
    """The lanes of a record as an entry has them; its exchange is unknown where nobody meets."""
    alone = [lane["exchange"] is None for lane in wanted]
    alone += [False] * len(found.record.lanes)
    return [
        {"name": lane.name, "period": lane.period, "lag": lane.lag,
         "exchange": None if nobody and lane.ranks == 1 else lane.exchange}
        for lane, nobody in zip(found.record.lanes, alone, strict=False)
    ]  # fmt: skip


def identity(description: dict[str, Any], given: bool = False) -> dict[str, Any]:
    """The fields that define a network and the injected waits, with all defaults; for JSON.

    `given`: without what is null, which the mini-app fills in.
    """
    known = read(description)
    return {
        "seed": 1 if known.seed is None else known.seed,
        "time": {"resolution_ms": known.time.resolution_ms, "cycle_ms": known.time.cycle_ms},
        "inject": NOTHING | (known.inject or {}),
        "network": known.network.model_dump(mode="json", exclude_none=given),
    }  # fmt: skip


def records(folder: Path) -> Iterator[Path]:
    """The folders of all runs below a folder, in order. Raises BadInput if there is no such folder."""
    if not Path(folder).is_dir():
        raise BadInput(f"results={folder}: not there; allowed: a folder, which may be empty")
    for path in sorted(Path(folder).rglob(run_files.RECORD)):
        yield path.parent


def of_run(run: dict[str, Any], folder: Path) -> list[Run]:
    """The records below a folder that are of the run; those that cannot be read are left out."""
    return [found for found in readable(folder) if other(run, found) is None]


def readable(folder: Path) -> list[Run]:
    """All records below a folder that can be read and are of whole runs."""
    found = []
    for path in records(folder):
        try:
            found.append(load(path))
        except BadInput:
            continue
    return found
