"""One run of the mini-app on a simulated machine, from its description to a record like any other.

`simulate` takes a description; `simulate_planned` a run of a plan, as `measure` does.
"""

import contextlib
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import memory, places
from spikemark.core.errors import BadInput
from spikemark.core.files import replace_folder, replaceable, write_json
from spikemark.launch.process import ProgramFailed
from spikemark.machines.parts import MachineOfParts, digest
from spikemark.machines.profile import Profile
from spikemark.models import exchange_times, mpi_rules
from spikemark.network import lanes
from spikemark.network.description import read_description, read_time
from spikemark.network.presets import mam
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.mini_app import MINI_APP
from spikemark.records import run_files
from spikemark.records.results import Results
from spikemark.records.runs_table import preset_of
from spikemark.running.experiments import BY_POPULATION
from spikemark.running.measure import carry_out, check_record, claim

from . import smpirun, times
from .platform import Networks, build_parts, routed

#: All ranks are in one process.
MAX_SIMULATED_RANKS = 4096
#: numpy takes no larger seed.
MAX_SEED = 2**63 - 1
#: Of compute times: float32 of three phases.
BYTES_PER_RANK_AND_CYCLE = 12.0
#: For a lane with a lag whose exchange is not named. The mini-app's own choice, ialltoallv, polls
#: for messages, and each poll costs SimGrid time: 64 ranks x 500 cycles took ten minutes instead of
#: one.
QUICK_EXCHANGE = "direct"


def simulate(
    description: dict[str, Any],
    machine: Profile | MachineOfParts,
    ranks: int,
    out: Path,
    compute: str | Path = times.MODEL_TIMES,
    *,
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
    compute_of: dict[str, Any] | None = None,
    seed: int = 1,
    correlation: float | None = None,
    cv: float | None = None,
    hz: float | dict[str, float] | None = None,
    program: str = MINI_APP,
    progress: Callable[[str], AbstractContextManager[smpirun.Advance | None]] | None = None,
    limit_s: float = smpirun.LIMIT_S,
) -> Path:
    """Simulates a run of the mini-app; its record and simulation.json are in `out` afterwards.

    What the machine's profile does not say is assumed (`machines.filled`). Other arguments are as
    in the field `machine` of an experiment (docs/experiments.md).

    Args:
        description: of the run.
        machine: to simulate.
        ranks: how many.
        out: folder of the record.
        compute: may also be a path, whose run, or dry run of the description or of `compute_of`,
            is replayed.
        hz: rates in Hz of neurons, or of populations, without one.
        program: whose kernels take the time between messages: mini-app, nest or dpsnn.
        progress: receives a line of text and returns a context manager; entering it gives a
            function that is called with the cycles done and the cycles in all.
        limit_s: time after which the simulation is stopped.

    Raises BadInput for an impossible description, machine or compute time, without SimGrid, and if
    `out` contains anything but an earlier simulated run. Raises ProgramFailed if the run ends
    without a record. Neither leaves a trace.

    Example:
        >>> machine = machines.load("jureca-dc")
        >>> simulate({}, machine, ranks=10**9, out=Path("out"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: ranks=1000000000; expected up to 4096
    """
    for name, value, most in ("ranks", ranks, MAX_SIMULATED_RANKS), ("seed", seed, MAX_SEED):
        if value > most:
            raise BadInput(
                field=name,
                value=value,
                expected=f"up to {most}",
                code="range",
            )
    version = smpirun.version()
    out = Path(out).absolute()
    places.program("miniapp_smpi")
    _check(out)
    filled = machines.filled(machine)
    layout = times.layout_of(filled, ranks, compute, ranks_per_node, threads, on)
    cycles = times.cycles_of(description)
    size = f"{ranks} ranks x {cycles} cycles"
    memory.check(BYTES_PER_RANK_AND_CYCLE * ranks * cycles, f"{size}:")
    networks = Networks.from_machine(filled, layout)
    values = times.values_of(filled, layout)
    choice = exchanges(description, ranks)  # refuses what no host can run
    description = choice.description
    source = times.source(
        compute, description, filled, layout, compute_of, seed, correlation, cv, hz, program
    )
    built = build_parts(networks, layout)
    collectives = mpi_rules.algorithms_in_words(networks.common.selector, ranks)
    assumptions = [
        *choice.remarks,
        collectives,
        *exchange_times.differences(choice.used, values, routed(filled, layout)),
        *times.assumed(values, "interconnect"),
        *networks.assumptions,
        *source.assumptions,
    ]
    about = {
        "format_version": 1,
        "machine": machine.name,
        "profile": digest(machine),
        "compute": str(compute),
        **source.facts,
        "ranks_per_node": max(share.node.ranks for share in layout.shares),
        "threads": layout.shares[0].node.threads,
    }
    if layout.named:
        about["parts"] = _parts(layout)
    about |= {
        "interconnect": networks.content,
        "facts": built.facts,
        "platform": built.xml,
        "flags": built.flags,
        "collectives": collectives,
        "assumptions": list(dict.fromkeys(assumptions)),
    }
    bar: AbstractContextManager[smpirun.Advance | None] = contextlib.nullcontext()
    if progress is not None:
        bar = progress(f"{size} on {machine.name}")
    out.parent.mkdir(parents=True, exist_ok=True)
    workspace = tempfile.TemporaryDirectory(
        prefix=f".{out.name}.simulating-", dir=out.parent, ignore_cleanup_errors=True
    )
    with workspace as folder, bar as advance:
        began = time.monotonic()
        record = smpirun.run(Path(folder), description, built, source.times, advance, limit_s)
        cost_s = time.monotonic() - began
        all_cycles = cycles + read_time(description).warmup_cycles
        about |= {
            "cost_s": cost_s,
            "simgrid": version,
            "cost_per_rank_and_cycle_s": cost_s / (ranks * all_cycles),
        }
        write_json(record / run_files.SIMULATION, about)
        _check(out)
        replace_folder(record, out)
    return out


def _parts(layout: MachineLayout) -> dict[str | None, dict[str, int]]:
    """Ranks and nodes of each part of a machine, for simulation.json."""
    parts = {}
    for share in layout.named:
        node = share.node
        parts[share.part] = {
            "ranks": share.ranks,
            "nodes": node.nodes,
            "ranks_per_node": node.ranks,
        }
    return parts


def _check(out: Path) -> None:
    """Raises BadInput if a simulated run must not replace what is at `out`."""
    replaceable(out, run_files.FILES, run_files.SIMULATION, "an earlier simulated run")


@dataclass(frozen=True)
class ExchangeChoice:
    """The exchanges of a simulated run."""

    description: dict[str, Any]  #: with an exchange for every lane that has a lag
    used: list[str]  #: names of all exchanges by which ranks meet
    remarks: list[str]  #: a line that says what was chosen, if anything was


def exchanges(description: dict[str, Any], ranks: int) -> ExchangeChoice:
    """Chooses an exchange for every lane that has a lag and names none.

    Spikes are the same with every exchange; the messages that carry them are not. Raises BadInput
    for a description that cannot be run.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> description = mam_benchmark.describe(areas=4, schedule="conventional")
        >>> exchanges(description, ranks=4).used
        ['alltoallv']
    """
    described = read_description(description)
    lanes_by_number = lanes.plan_lanes(
        described, ranks, *lanes.schedule_and_placement(described, None, None)
    )
    used = [lane for lane in lanes_by_number if not lane.alone]
    field = described.exchange
    # Text, or a mapping with `name`, names it for all lanes.
    by_lane = field if isinstance(field, dict) else {"name": field}
    without_name = []
    for lane in used:
        named = "name" in by_lane or _names_exchange(by_lane.get(lane.name))
        if lane.lag and not named:
            without_name.append(lane.name)
    if not without_name:
        names: list[str] = []
        for lane in used:
            names += lane.exchanges
        return ExchangeChoice(description, names, [])
    changed = {
        **description,
        "exchange": {**by_lane, **dict.fromkeys(without_name, QUICK_EXCHANGE)},
    }
    reason = "SimGrid takes many times as long for ialltoallv"
    remark = f"exchange = {QUICK_EXCHANGE!r} for lanes {', '.join(without_name)}: {reason}"
    return ExchangeChoice(changed, exchanges(changed, ranks).used, [remark])


def _names_exchange(value: object) -> bool:
    """Whether the field of a lane names an exchange."""
    return bool(value.get("name") if isinstance(value, dict) else value)


def simulate_planned(results: Results, run: str) -> Path:
    """Simulates the run of the plan with the id `run`; returns the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises
    ProgramFailed. Raises BadInput, before anything is changed, for what `claim` refuses.

    Example:
        >>> simulate_planned(Results(Path("nowhere")), "conventional-r2-s1-1a2b3c4d")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/plan.json: not found; a sweep writes it
    """
    due = claim(results, run, simulated=True)
    out = results.unchecked(run)
    compute_of = results.compute_of(run)
    description = results.read_description(run)
    plan, planned = results.planned(run)
    machine = planned.machine
    if machine is None:
        raise AssertionError("`claim` takes runs of a simulated machine")
    hz: Any = machine.rate_hz
    if hz == BY_POPULATION:
        _, options = preset_of(plan, planned)
        hz = mam.rates_hz(planned.seed, options.get("from_"))
    arguments: dict[str, Any] = {
        "ranks": planned.ranks,
        "compute": machine.compute,
        "ranks_per_node": machine.ranks_per_node,
        "threads": machine.threads,
        "on": machine.on,
        "seed": 1000 * planned.seed + planned.repetition,
        "correlation": machine.correlation,
        "cv": machine.cv,
        "hz": hz,
        "program": machine.program or MINI_APP,
    }

    def work() -> dict[str, Any]:
        of = json.loads(compute_of.read_text()) if compute_of.is_file() else None
        try:
            simulate(
                description,
                machines.load_any(machine.profile),
                out=out,
                compute_of=of,
                limit_s=due.limit_s,
                **arguments,
            )
        except (BadInput, ProgramFailed, OSError) as error:
            raise ProgramFailed(" ".join(str(error).split())) from None
        check_record(out, due.layout)
        return {"machine": machine.profile, **arguments}

    return carry_out(due, out, results.run(run), results.failure(run), work)
