"""One run of the mini-app on a simulated machine, from its description to a record like any other."""

import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.machines import algorithms
from spikemark.machines.digest import digest
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile
from spikemark.network.description import read_time
from spikemark.prediction.layout import inside, threads_of
from spikemark.records import run_files
from spikemark.records.record import load

from . import compute_times, exchanges, folder, parts_platform, power, smpirun, sources
from .networks import Networks
from .sources import Place, Source

MOST_RANKS, MOST_SEED = 4096, 2**63 - 1  # all ranks are in one process; numpy takes no larger seed
MOST_TIMES = 200_000_000  # compute times, one for every rank and cycle, of three phases of four bytes


def simulate(
    description: dict[str, Any],
    machine: Profile | Machine,
    ranks: int,
    out: Path,
    compute: str | Path = "model",
    *,
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
    compute_of: dict[str, Any] | None = None,
    seed: int = 1,
    correlation: float | None = None,
    cv: float | None = None,
    hz: float | dict[str, float] | None = None,
    host: Profile | None = None,
    progress: Callable[[str], AbstractContextManager[smpirun.Advance | None]] | None = None,
) -> Path:
    """Simulate a run on `ranks` ranks of a machine; its record and simulation.json are in `out` afterwards.

    `ranks_per_node`: by default one, or as many as fit on a machine of unequal parts; `on` says how many are
    on each of its parts.

    `compute` says where compute times come from. `model` draws them from the profile's kernel times and
    jitter, for `threads` per rank (default: all cores, shared by the ranks of a node). They are those of
    `compute_of`, if given, instead of the description itself; `cv` and `correlation` (from cycle to cycle)
    override the jitter's; `hz` gives rates in Hz where the description's models state none. `execute` times
    the kernels here with one thread, scaled by the profile of this `host`. A path replays the times of the
    run there, or those of a dry run of the description, or of `compute_of`. What the profile does not say is
    assumed (`machines.filled`). `progress` receives a line of text and returns a context manager; entering it
    gives a function that is called with the cycles done and the cycles in all.

    Raises BadInput for an impossible description, machine or compute time, without SimGrid, and if `out`
    contains anything but an earlier simulated run (`folder.check`). Raises SimulationFailed if the run ends
    without a record. Neither leaves a trace.
    """
    if host is not None and compute != "execute":
        raise BadInput(f"host={host.name}: allowed with compute 'execute' only")
    for name, value, most in ("ranks", ranks, MOST_RANKS), ("seed", seed, MOST_SEED):
        if value > most:
            raise BadInput(f"{name}={value}: allowed is up to {most}")
    version, out = smpirun.version(), Path(out).absolute()
    places.program("miniapp_smpi")
    folder.check(out)
    filled = machines.filled(machine)
    place = placed(filled, ranks, compute, ranks_per_node, threads, on)
    cycles = compute_times.cycles(description)
    if ranks * cycles > MOST_TIMES:
        raise BadInput(f"{ranks} ranks x {cycles} cycles: allowed are {MOST_TIMES} compute times in all")
    networks = Networks.of(filled, place.layout)
    selector = networks.common.selector
    description, chosen = exchanges.chosen(description, ranks)  # refuses what no host can run
    assumed = [
        *chosen,
        algorithms.words(selector, ranks),
        *algorithms.differences(
            exchanges.used(description, ranks), place.values, place.layout.routed(filled)
        ),
        *_assumed(place, "interconnect"),
    ]
    if compute == "model":
        source = sources.model(description, compute_of, place, place.jitters(cv, correlation), seed, hz)
        assumed += _assumed(place, "jitter")
    else:
        useless = {} if host else {"hz": hz}
        useless |= {"compute_of": compute_of} if compute == "execute" else {}
        sources.refuse_options(str(compute), correlation=correlation, cv=cv, **useless)
        source = _other(compute, description, place, host, hz, compute_of)
    built = parts_platform.build(networks, place.layout, place.ranks_per_node, source.speeds)
    assumed += parts_platform.assumptions(networks, built)
    flags = [*built.flags, *source.flags]
    words = f"{ranks} ranks x {cycles} cycles on {machine.name}"
    shown = progress(words) if progress else contextlib.nullcontext()
    with folder.workspace(out) as place_of_work, shown as advance:
        began = time.monotonic()
        record = smpirun.run(place_of_work, description, built, flags, source.times, advance)
        cost = time.monotonic() - began
        about = {
            "format_version": 1,
            "machine": machine.name,
            "profile": digest(machine),
            "compute": str(compute),
            **source.facts,
            "ranks_per_node": place.ranks_per_node,
            "threads": place.threads,
            **_parts(place),
            "interconnect": networks.content,
            "energy": power.modelled(place, load(record)),
            "facts": built.facts,
            "platform": built.xml,
            "flags": flags,
            "collectives": algorithms.words(selector, ranks),
            "odd_values": list(filled.odd),
            "assumptions": list(dict.fromkeys([*assumed, *source.assumptions])),
            "cost_s": cost,
            "cost_per_rank_and_cycle_s": cost / (ranks * (cycles + read_time(description).warmup_cycles)),
            "simgrid": version,
        }
        write_json(record / run_files.SIMULATION, about)
        folder.put(record, out)
    return out


def done(out: Path, machine: Profile | Machine) -> bool:
    """Tells whether `out` contains a run that was simulated on this machine with its present profile."""
    about = out / run_files.SIMULATION
    if not (about.is_file() and run_files.whole(out)):
        return False
    about = read_json(about)
    return isinstance(about, dict) and about.get("profile") == digest(machine)


def _other(
    compute: str | Path,
    description: dict[str, Any],
    place: Place,
    host: Profile | None,
    hz: float | dict[str, float] | None,
    compute_of: dict[str, Any] | None,
) -> Source:
    if compute == "execute":
        return sources.execute(description, place, host and machines.filled(host), hz)
    if not Path(compute).is_dir():
        raise BadInput(f"compute={compute}: allowed are model, execute, or the folder of a run")
    return sources.replay(description, Path(compute), place.ranks, compute_of)


def placed(
    machine: Profile | Machine,
    ranks: int,
    compute: str | Path = "model",
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
) -> Place:
    """Where the ranks are on a filled machine.

    Raises BadInput for more of them, or of their threads, than a node has cores.
    """
    if compute != "model":
        if threads not in (None, 1):
            raise BadInput(f"threads={threads}: allowed is 1 where compute times are executed or replayed")
        threads = 1
    if not isinstance(machine, Machine):
        ranks_per_node = ranks_per_node or 1
    elif threads is None:
        threads = threads_of(machine, ranks_per_node, on)
    return Place.of(machine, ranks, threads, ranks_per_node, on)


def _parts(place: Place) -> dict[str, Any]:
    """How many ranks are on each named part, and on how many of its nodes."""
    found = {
        share.part: {"ranks": share.ranks, "nodes": share.node.nodes, "ranks_per_node": share.node.ranks}
        for share in place.layout.shares
        if share.part is not None
    }
    return {"parts": found} if found else {}


def _assumed(place: Place, group: str) -> list[str]:
    """The assumed values of a group, each with its reason."""
    return [
        f"{path} = {value.value}{'' if value.unit in (None, '1') else f' {value.unit}'}: {value.reference}"
        for path, value in place.values.items()
        if value.kind == "assumed" and inside(path).startswith(f"{group}.") and "tables" not in path
    ]
