"""One run of the mini-app on a simulated machine, from its description to a record like any other.

`simulate` takes a description; `simulate_planned` a run of a plan, as `measure` does.
"""

import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import memory, places
from spikemark.core.errors import BadInput
from spikemark.core.files import replace_folder, replaceable, write_json
from spikemark.launch.process import ProgramFailed
from spikemark.machines.parts import Machine, digest
from spikemark.machines.profile import Profile
from spikemark.models import mpi_rules
from spikemark.network import lanes
from spikemark.network.description import read, read_time
from spikemark.network.presets import mam
from spikemark.records import run_files
from spikemark.records.frames import preset_of
from spikemark.records.results import Results
from spikemark.running.experiments import BY_POPULATION
from spikemark.running.measure import carry_out, check_record, claim

from . import smpirun, times
from .platform import Networks, build_parts, routed

MOST_RANKS, MOST_SEED = 4096, 2**63 - 1  # all ranks are in one process; numpy takes no larger seed
#: For a lane with a lag whose exchange is not named. The mini-app's own choice, ialltoallv, polls for
#: messages, and each poll costs SimGrid time: 64 ranks x 500 cycles took ten minutes instead of one.
QUICK = "direct"


def simulate(
    description: dict[str, Any],
    machine: Profile | Machine,
    ranks: int,
    out: Path,
    compute: str | Path = times.MODEL,
    *,
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
    compute_of: dict[str, Any] | None = None,
    seed: int = 1,
    correlation: float | None = None,
    cv: float | None = None,
    hz: float | dict[str, float] | None = None,
    progress: Callable[[str], AbstractContextManager[smpirun.Advance | None]] | None = None,
    limit_s: float = smpirun.LIMIT_S,
) -> Path:
    """Simulate a run on `ranks` ranks of a machine; its record and simulation.json are in `out` afterwards.

    Arguments are as in the field `machine` of an experiment (docs/experiments.md). `compute` may also be a
    path, whose run, or dry run of the description or of `compute_of`, is replayed; `hz`: rates in Hz of
    neurons, or of populations, without one. What the profile does not say is assumed (`machines.filled`).
    `progress` receives a line of text and returns a context manager; entering it gives a function that is
    called with the cycles done and the cycles in all.

    Raises BadInput for an impossible description, machine or compute time, without SimGrid, and if `out`
    contains anything but an earlier simulated run. Raises ProgramFailed if the run ends without a record.
    Neither leaves a trace.
    """
    for name, value, most in ("ranks", ranks, MOST_RANKS), ("seed", seed, MOST_SEED):
        if value > most:
            raise BadInput.of(name, value, f"up to {most}", code="range")
    version, out = smpirun.version(), Path(out).absolute()
    places.program("miniapp_smpi")
    _check(out)
    filled = machines.filled(machine)
    layout = times.layout_of(filled, ranks, compute, ranks_per_node, threads, on)
    cycles = times.cycles_of(description)
    memory.check(12.0 * ranks * cycles, f"{ranks} ranks x {cycles} cycles:")
    networks, values = Networks.of(filled, layout), times.values_of(filled, layout)
    description, used, chosen = exchanges(description, ranks)  # refuses what no host can run
    source = times.source(compute, description, filled, layout, compute_of, seed, correlation, cv, hz)
    built, collectives = build_parts(networks, layout), mpi_rules.words(networks.common.selector, ranks)
    lines = [*chosen, collectives, *mpi_rules.differences(used, values, routed(filled, layout))]
    lines += [*times.assumed(values, "interconnect"), *networks.assumptions, *source.assumptions]
    parts = {
        s.part: {"ranks": s.ranks, "nodes": s.node.nodes, "ranks_per_node": s.node.ranks}
        for s in layout.named
    }
    shown = progress(f"{ranks} ranks x {cycles} cycles on {machine.name}") if progress else None
    out.parent.mkdir(parents=True, exist_ok=True)
    name = f".{out.name}.simulating-"
    beside = tempfile.TemporaryDirectory(prefix=name, dir=out.parent, ignore_cleanup_errors=True)
    with beside as folder, shown or contextlib.nullcontext() as advance:
        began = time.monotonic()
        record = smpirun.run(Path(folder), description, built, source.times, advance, limit_s)
        cost = time.monotonic() - began
        about = {
            "format_version": 1, "machine": machine.name, "profile": digest(machine), "compute": str(compute),
            **source.facts,
            "ranks_per_node": max(share.node.ranks for share in layout.shares),
            "threads": layout.shares[0].node.threads, **({"parts": parts} if parts else {}),
            "interconnect": networks.content, "facts": built.facts, "platform": built.xml,
            "flags": built.flags, "collectives": collectives, "assumptions": list(dict.fromkeys(lines)),
            "cost_s": cost, "simgrid": version,
            "cost_per_rank_and_cycle_s": cost / (ranks * (cycles + read_time(description).warmup_cycles)),
        }  # fmt: skip
        write_json(record / run_files.SIMULATION, about)
        _check(out)
        replace_folder(record, out)
    return out


def _check(out: Path) -> None:
    """Raises BadInput if a simulated run must not replace what is at `out`, such as a measured run."""
    replaceable(out, run_files.FILES, run_files.SIMULATION, "an earlier simulated run")


def exchanges(description: dict[str, Any], ranks: int) -> tuple[dict[str, Any], list[str], list[str]]:
    """The description with an exchange for every lane that has a lag, the names of all exchanges by which
    ranks meet, and a line that says what was chosen, if anything was.

    Spikes are the same with every exchange; the messages that carry them are not. Raises BadInput for a
    description that cannot be run.
    """
    described = read(description)
    used = [
        lane for lane in lanes.read(described, ranks, *lanes.chosen(described, None, None)) if not lane.alone
    ]
    given = described.exchange

    def named(lane: str) -> bool:
        own = given.get(lane)
        return bool(own.get("name") if isinstance(own, dict) else own)

    free = isinstance(given, dict) and "name" not in given  # else it is named for all lanes
    late = [lane.name for lane in used if free and lane.lag and not named(lane.name)]
    if not late:
        return description, [name for lane in used for name in lane.exchanges], []
    lines = [
        f"exchange = {QUICK!r} for lanes {', '.join(late)}: SimGrid takes many times as long for ialltoallv"
    ]
    found = {**description, "exchange": {**given, **dict.fromkeys(late, QUICK)}}
    return found, exchanges(found, ranks)[1], lines


def simulate_planned(results: Results, run: str) -> Path:
    """Simulate run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises ProgramFailed. Raises
    BadInput, before anything is changed, for what `claim` refuses.
    """
    due, out, compute_of = claim(results, run, True), results.unchecked(run), results.compute_of(run)
    description, (plan, planned) = results.read_description(run), results.planned(run)
    asked, hz = planned.machine, planned.machine.rate_hz
    if hz == BY_POPULATION:
        hz = mam.rates_hz(planned.seed, preset_of(plan, planned)[1].get("from_"))
    arguments = {
        "ranks": planned.ranks, "compute": asked.compute, "ranks_per_node": asked.ranks_per_node,
        "threads": asked.threads, "on": asked.on, "seed": 1000 * planned.seed + planned.repetition,
        "correlation": asked.correlation, "cv": asked.cv, "hz": hz,
    }  # fmt: skip

    def work() -> dict[str, Any]:
        of = json.loads(compute_of.read_text()) if compute_of.is_file() else None
        try:
            machine = machines.load_any(asked.profile)
            limited = {"out": out, "compute_of": of, "limit_s": due.limit_s}
            simulate(description, machine, **limited, **arguments)
        except (BadInput, ProgramFailed, OSError) as error:
            raise ProgramFailed(" ".join(str(error).split())) from None
        check_record(out, due.layout)
        return {"machine": asked.profile, **arguments}

    return carry_out(due, out, results.run(run), results.failure(run), work)
