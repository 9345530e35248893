"""Where the compute times of a simulated run come from: a model of the machine, or another run.

Times are float32 [rank, cycle, (deliver, update, collocate)] in seconds, of the measured cycles. A simulated
rank has one thread, which updates until the last thread of the rank for which it stands would have ended.
"""

from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.jitter import Jitter
from spikemark.machines.parts import LINKS, PARTS, Machine, inside
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values
from spikemark.network.description import read, read_time
from spikemark.prediction import measured
from spikemark.prediction.layout import Layout, threads_of
from spikemark.prediction.performance import compute_s
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records import dry_run
from spikemark.records.dry_run import DryRun
from spikemark.records.imported import CycleTimes, run_or_times
from spikemark.records.phases import COMPUTE, THREADS

PHASES = tuple(part for part in COMPUTE if part != THREADS)
NODES = 2**32  # streams of nodes lie beyond those of ranks
#: Fields that say how spikes travel; those of the run hold where compute times are another network's, too.
TRAVEL = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")
OF_LINK = "latency", "bandwidth", "congestion", "gap"  # what counts of a link between parts
SMALLER = "compute times are those of another network than the one whose spikes are simulated"
ONE_NODE = "all nodes are as fast as the one on which the dry run was made"
MODEL = "model"


def layout_of(
    machine: Profile | Machine,
    ranks: int,
    compute: str | Path = MODEL,
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
) -> Layout:
    """Where ranks are on a filled machine: one on a node, unless it has parts or `ranks_per_node` is given.

    Raises BadInput for more ranks, or threads of them, than a node has cores, and for several threads where
    compute times are replayed.
    """
    if compute != MODEL and threads not in (None, 1):
        raise BadInput.of("threads", threads, "1 where compute times are replayed")
    if compute != MODEL:
        threads = 1
    if not isinstance(machine, Machine):
        ranks_per_node = ranks_per_node or 1
    elif threads is None:
        threads = threads_of(machine, ranks_per_node, on)
    return Layout.of(machine, ranks, threads, ranks_per_node, on)


def values_of(machine: Profile | Machine, layout: Layout) -> dict[str, Value]:
    """The values of a profile, or of the parts that have ranks and of the links between these."""
    if not isinstance(machine, Machine):
        return machine.values
    used = [share.part for share in layout.shares]
    links = [machine.link(*pair).name for pair in combinations(used, 2)]
    starts = tuple(f"{PARTS}.{part}." for part in used)
    between = {f"{LINKS}.{link}.interconnect.{name}" for link in links for name in OF_LINK}
    found = machine.values.items()
    return {path: value for path, value in found if path.startswith(starts) or path in between}


def assumed(values: dict[str, Value], *groups: str) -> list[str]:
    """The assumed values of groups such as `power`, each with its reason."""
    starts = tuple(f"{group}." for group in groups)
    units = {None: "", "1": "", "us": " µs"}
    return [
        f"{path} = {value.value}{units.get(value.unit, f' {value.unit}')}: {value.reference}"
        for path, value in values.items()
        if value.kind == "assumed" and inside(path).startswith(starts) and "tables" not in path
    ]


@dataclass(frozen=True)
class Source:
    """Compute times; `facts` are for simulation.json. What was assumed has a line each."""

    facts: dict[str, Any]
    times: np.ndarray
    assumptions: list[str]


def source(
    compute: str | Path, description: dict[str, Any], machine: Profile | Machine, layout: Layout,
    of: dict[str, Any] | None = None, seed: int = 1, correlation: float | None = None,
    cv: float | None = None, hz: float | dict[str, float] | None = None,
) -> Source:  # fmt: skip
    """The compute times of a run, as `run.simulate` says, of the network `of` where that is given.

    A model draws them about the means that kernel times predict; `correlation` and `cv` override those of
    the machine's jitter. Raises BadInput for these and `hz` where another run is replayed.
    """
    if compute != MODEL:
        if not Path(compute).is_dir():
            raise BadInput.of("compute", str(compute), f"{MODEL}, or the folder of a run")
        options = {"correlation": correlation, "cv": cv, "hz": hz}
        for name in (name for name, value in options.items() if value is not None):
            raise BadInput(f"{name}: expected with compute={MODEL} only", code="conflict")
        return replay(description, Path(compute), layout.ranks, of)
    full, cycles = _full(description, of), cycles_of(description)
    read(full)
    loads = Loads.of(full, layout.ranks, layout.shares[0].node.threads, rates_of(full, hz).hz)
    found = compute_s(loads, machine, layout)
    found["update"] = found["update"] + found[THREADS]
    means = np.stack([found[name] for name in PHASES], axis=-1)
    jitters = layout.each(
        Values(machine), lambda values, _: Jitter.of(values, "the simulated jitter", cv, correlation)
    )
    shares = list(zip(layout.shares, jitters, strict=True))
    times = [
        draw(means[s.slice], cycles, one, seed, s.node.ranks, s.first, layout.node_of[s.first])
        for s, one in shares
    ]
    by_part = {share.part: asdict(one) for share, one in shares}
    spans = zip(PHASES, means.min(axis=0).tolist(), means.max(axis=0).tolist(), strict=True)
    facts = {
        "seed": seed,
        "jitter": by_part.get(None, by_part),
        "compute_of": _whose(of),
        "mean_s": {name: [low, high] for name, low, high in spans},
    }
    return Source(facts, np.concatenate(times), assumed(values_of(machine, layout), "kernels", "jitter"))


def draw(
    mean_s: np.ndarray,
    cycles: int,
    jitter: Jitter,
    seed: int,
    ranks_per_node: int = 1,
    first: int = 0,
    first_node: int = 0,
) -> np.ndarray:
    """Times about the means `mean_s` [rank, phase]; the phases of a cycle scatter together.

    A rank's times depend on the seed and its number alone, so that runs of other schedules, or of more ranks,
    meet the same jitter. Ranks of one node share its deviation. `first` and `first_node`: the numbers of the
    first rank and its node, if these are the ranks of one part of a machine.
    """

    def stream(number: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[seed, number]))

    truth = jitter.truth()
    times = np.empty((len(mean_s), cycles, len(PHASES)), dtype=np.float32)
    for rank, means in enumerate(mean_s):
        level = jitter.level(stream(NODES + first_node + rank // ranks_per_node).standard_normal())
        times[rank] = (level * truth.draw(stream(first + rank), 1, cycles)[0])[:, None] * means
    return times


def replay(description: dict[str, Any], run: Path, ranks: int, of: dict[str, Any] | None = None) -> Source:
    """Measured times of another run, cycle by cycle, or of a dry run of all its ranks.

    Those of a dry run are of one network, which is `description`, or `of` where that is given. Raises
    BadInput for other numbers of ranks or cycles, and for a dry run of something else.
    """
    found = dry_run.load(run) if dry_run.is_dry_run(run) else run_or_times(run)
    times = _measured(found)
    for what, own, asked in (
        ("ranks", len(times), ranks),
        ("cycles", times.shape[1], cycles_of(description)),
    ):
        if own != asked:
            raise BadInput(f"compute={run}: has {own} {what}; expected {asked}, as many as are simulated")
    if not isinstance(found, DryRun):
        if of is not None:
            raise BadInput(f"compute_of: expected with compute=model or a dry run, not with the run {run}")
        return Source({"run": str(run)}, times, [])
    measured.check(found, _full(description, of))
    dry = {"folder": str(run), "of": found.ranks, "sampled": found.timed.tolist()}
    facts = {"run": str(run), "compute_of": _whose(of), "dry_run": dry}
    return Source(facts, times, [*found.remarks, *([] if of is None else [SMALLER]), ONE_NODE])


def _measured(found: Any) -> np.ndarray:
    """Times of a dry run, of a run, or imported ones. Raises BadInput for impossible times."""
    if isinstance(found, CycleTimes):  # nobody told its phases apart
        none = np.zeros_like(found.compute)
        return np.stack([none, found.compute, none], axis=-1)
    if isinstance(found, DryRun):
        times = found.times()
    else:
        found.compute()  # checks them
        times = np.stack([found.phase(name) for name in COMPUTE], axis=-1)
    own = times[:, :, [COMPUTE.index(name) for name in PHASES]].astype(np.float32)
    own[:, :, PHASES.index("update")] += times[:, :, COMPUTE.index(THREADS)]
    return own


def cycles_of(description: dict[str, Any]) -> int:
    """Measured cycles of a description. Raises BadInput if its times do not give them."""
    time = read_time(description)
    if not time.cycles:
        raise BadInput(f"time.simulate_ms: missing; expected at least one cycle, {time.cycle_ms:g} ms")
    return time.cycles


def _full(description: dict[str, Any], of: dict[str, Any] | None) -> dict[str, Any]:
    """The description whose compute times a run gets: `of`, where given, run as `description` says."""
    if of is None:
        return description
    read(of, "compute_of: ")
    return of | {name: description[name] for name in TRAVEL if name in description}


def _whose(of: dict[str, Any] | None) -> str:
    return "the description itself" if of is None else "another description"
