"""Where the compute times of a simulated run come from: a model of the machine, or another run.

Times are float32 [rank, cycle, (deliver, update, collocate)] in seconds, of the measured cycles. A
simulated rank has one thread, which updates until the last thread of the rank for which it stands
would have ended.
"""

from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.jitter import jitter_of
from spikemark.machines.parts import LINKS, PARTS, MachineOfParts, inside
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values
from spikemark.models.jitter import Jitter
from spikemark.network.description import read_description, read_time
from spikemark.prediction import measured
from spikemark.prediction.layout import MachineLayout, threads_of
from spikemark.prediction.mini_app import MINI_APP
from spikemark.prediction.programs import program_named
from spikemark.prediction.question import of_description
from spikemark.prediction.workload import Loads
from spikemark.records import dry_run
from spikemark.records.dry_run import DryRun
from spikemark.records.phases import COMPUTE_PARTS, THREADS
from spikemark.records.record import Run

PHASES = tuple(part for part in COMPUTE_PARTS if part != THREADS)
#: Streams of random numbers of nodes lie beyond those of ranks.
FIRST_NODE_STREAM = 2**32
#: Stream of what all ranks have in common.
COMMON_STREAM = 2**33
#: Fields that say how spikes travel; those of the run hold where compute times are another
#: network's, too.
TRAVEL = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")
#: What counts of a link between parts.
LINK_VALUES = ("latency", "bandwidth", "congestion", "gap")
SMALLER = "compute times are those of another network than the one whose spikes are simulated"
#: Public times of an exchange do not tell its software from waiting (docs/models.md).
OTHER_PROGRAM = (
    "compute times are those of {0}, spikes and messages those of the mini-app: what {0}'s exchange"
    " costs in software counts as collocation, and may contain waiting that is simulated, too"
)
ONE_NODE = "all nodes are as fast as the one on which the dry run was made"
MODEL_TIMES = "model"


def layout_of(
    machine: Profile | MachineOfParts,
    ranks: int,
    compute: str | Path = MODEL_TIMES,
    ranks_per_node: int | None = None,
    threads: int | None = None,
    on: dict[str, int] | None = None,
) -> MachineLayout:
    """Where ranks are on a filled machine.

    One is on a node, unless the machine has parts or `ranks_per_node` is given. Raises BadInput for
    more ranks, or threads of them, than a node has cores, and for several threads where compute
    times are replayed.

    Example:
        >>> from spikemark import machines
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> layout = layout_of(machine, ranks=8, ranks_per_node=4)
        >>> layout.nodes, layout.ranks
        (2, 8)
    """
    if compute != MODEL_TIMES:
        if threads not in (None, 1):
            raise BadInput(
                field="threads", value=threads, expected="1 where compute times are replayed"
            )
        threads = 1
    if not isinstance(machine, MachineOfParts):
        ranks_per_node = ranks_per_node or 1
    elif threads is None:
        threads = threads_of(machine, ranks_per_node, on)
    return MachineLayout.from_machine(machine, ranks, threads, ranks_per_node, on)


def values_of(machine: Profile | MachineOfParts, layout: MachineLayout) -> dict[str, Value]:
    """The values of a profile, or of the parts that have ranks and of the links between these.

    Example:
        >>> from spikemark import machines
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> values = values_of(machine, layout_of(machine, ranks=2))
        >>> values["interconnect.bandwidth"].unit
        'GB/s'
    """
    if not isinstance(machine, MachineOfParts):
        return machine.values
    parts = [str(share.part) for share in layout.shares]
    starts = tuple(f"{PARTS}.{part}." for part in parts)
    of_links = set()
    for first, second in combinations(parts, 2):
        link = machine.link(first, second).name
        of_links |= {f"{LINKS}.{link}.interconnect.{name}" for name in LINK_VALUES}
    return {
        path: value
        for path, value in machine.values.items()
        if path.startswith(starts) or path in of_links
    }


def assumed(values: dict[str, Value], *groups: str) -> list[str]:
    """The assumed values of groups such as `power`, each with its reason.

    Example:
        >>> from spikemark import machines
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> [line.split(" = ")[0] for line in assumed(machine.values, "interconnect")]
        ['interconnect.topology', 'interconnect.nodes_per_leaf', 'interconnect.congestion', ...
    """
    starts = tuple(f"{group}." for group in groups)
    lines = []
    for path, value in values.items():
        in_group = inside(path).startswith(starts) and "tables" not in path
        if value.kind == "assumed" and in_group:
            lines.append(f"{path} = {value.value}{_unit(value)}: {value.reference}")
    return lines


def _unit(value: Value) -> str:
    """The unit as it follows a number."""
    if value.unit in (None, "1"):
        return ""
    return " µs" if value.unit == "us" else f" {value.unit}"


@dataclass(frozen=True)
class SimulatedCompute:
    """Compute times of a simulated run."""

    facts: dict[str, Any]  #: for simulation.json
    times: np.ndarray  #: float32 [rank, cycle, phase of PHASES], s
    assumptions: list[str]  #: a line each


def source(
    compute: str | Path,
    description: dict[str, Any],
    machine: Profile | MachineOfParts,
    layout: MachineLayout,
    of: dict[str, Any] | None = None,
    seed: int = 1,
    correlation: float | None = None,
    cv: float | None = None,
    hz: float | dict[str, float] | None = None,
    program: str = MINI_APP,
) -> SimulatedCompute:
    """The compute times of a run, as `run.simulate` says.

    Args:
        compute: MODEL draws them about the means that kernel times predict; a folder replays those
            of a run.
        description: of the run.
        machine: with assumed values.
        layout: of the ranks on it.
        of: description of the network whose compute times are taken; None for the run's own.
        seed: of the drawn times.
        correlation: replaces that of the machine's jitter.
        cv: replaces that of the machine's jitter.
        hz: rates of neurons, or of populations, without one.
        program: whose kernels fill the time between messages.

    Raises BadInput for `correlation`, `cv`, `hz` and `program` where another run is replayed, and
    for a program that cannot be predicted on this machine.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.records.record import load_run
        >>> machine = machines.filled(machines.load("jureca-dc"))
        >>> run = Path("tests/golden/analysis/records/aware-4")
        >>> description = load_run(run).record.description
        >>> source(run, description, machine, layout_of(machine, ranks=4)).times.shape
        (4, 1000, 3)
    """
    if compute != MODEL_TIMES:
        if not Path(compute).is_dir():
            raise BadInput(
                field="compute",
                value=str(compute),
                expected=f"{MODEL_TIMES}, or the folder of a run",
            )
        options = {
            "correlation": correlation,
            "cv": cv,
            "rate": hz,
            "program": None if program == MINI_APP else program,
        }
        for name, value in options.items():
            if value is not None:
                message = f"{name}: expected with compute={MODEL_TIMES} only"
                raise BadInput(message, field=name, code="conflict")
        return replay(description, Path(compute), layout.ranks, of)
    return _modelled(description, machine, layout, of, seed, correlation, cv, hz, program)


def _modelled(
    description: dict[str, Any],
    machine: Profile | MachineOfParts,
    layout: MachineLayout,
    of: dict[str, Any] | None,
    seed: int,
    correlation: float | None,
    cv: float | None,
    hz: float | dict[str, float] | None,
    program: str,
) -> SimulatedCompute:
    """Times that are drawn about the means that a program's kernels take; arguments as of
    `source`.
    """
    full = _full(description, of)
    cycles = cycles_of(description)
    read_description(full)
    threads = layout.shares[0].node.threads
    network = of_description("this network", full, hz)
    loads = Loads.count(full, layout.ranks, threads, network.rates.hz)
    seconds = program_named(program).times(network, loads, machine, layout)
    seconds["update"] = seconds["update"] + seconds[THREADS]
    means = np.stack([seconds[name] for name in PHASES], axis=-1)
    jitters = layout.each(
        Values(machine),
        lambda values, _: jitter_of(values, "the simulated jitter", cv, correlation),
    )
    times = []
    jitter_by_part = {}
    for share, jitter in zip(layout.shares, jitters, strict=True):
        jitter_by_part[share.part] = asdict(jitter)
        times.append(
            draw(
                means[share.slice],
                cycles,
                jitter,
                seed,
                ranks_per_node=share.node.ranks,
                first=share.first,
                first_node=layout.node_of[share.first],
            )
        )
    low = means.min(axis=0).tolist()
    high = means.max(axis=0).tolist()
    facts = {
        "seed": seed,
        "jitter": jitter_by_part.get(None, jitter_by_part),
        "compute_of": _whose(of),
        "program": program,
        "mean_s": {name: [low[number], high[number]] for number, name in enumerate(PHASES)},
    }
    groups = ["kernels", "jitter"]
    assumptions = []
    if program != MINI_APP:
        groups = ["jitter"]
        assumptions.append(OTHER_PROGRAM.format(program))
    assumptions += assumed(values_of(machine, layout), *groups)
    return SimulatedCompute(facts, np.concatenate(times), assumptions)


def draw(
    mean_s: np.ndarray,
    cycles: int,
    jitter: Jitter,
    seed: int,
    ranks_per_node: int = 1,
    first: int = 0,
    first_node: int = 0,
) -> np.ndarray:
    """Times about the means; the phases of a cycle scatter together.

    A rank's times depend on the seed and its number alone, so that runs of other schedules, or of
    more ranks, meet the same jitter. Ranks of one node share its deviation.

    Args:
        mean_s: [rank, phase], s.
        cycles: how many are drawn.
        jitter: how times scatter.
        seed: of the random numbers.
        ranks_per_node: of a full node.
        first: the number of the first rank, if these are the ranks of one part of a machine.
        first_node: the number of its node.

    Returns: float32 [rank, cycle, phase], s.

    Example:
        >>> means_s = np.full((2, len(PHASES)), 1e-4)
        >>> draw(means_s, cycles=1000, jitter=Jitter(cv=0.1), seed=1).shape
        (2, 1000, 3)
    """

    def stream(number: int) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=[seed, number]))

    times = np.empty((len(mean_s), cycles, len(PHASES)), dtype=np.float32)
    for rank, means in enumerate(mean_s):
        node = first_node + rank // ranks_per_node
        deviation = stream(FIRST_NODE_STREAM + node).standard_normal()
        level = jitter.level(np.asarray(deviation))
        of_rank, common = stream(first + rank), stream(COMMON_STREAM)
        factors = level * jitter.draw(of_rank, common, 1, cycles)[0]
        times[rank] = factors[:, None] * means
    return times


def replay(
    description: dict[str, Any], run: Path, ranks: int, of: dict[str, Any] | None = None
) -> SimulatedCompute:
    """Measured times of another run, cycle by cycle, or of a dry run of all its ranks.

    Those of a dry run are of one network, which is `description`, or `of` where that is given.
    Raises BadInput for other numbers of ranks or cycles, and for a dry run of something else.

    Example:
        >>> from spikemark.records.record import load_run
        >>> run = Path("tests/golden/analysis/records/aware-4")
        >>> description = load_run(run).record.description
        >>> replay(description, run, ranks=4).times.shape  # [rank, cycle, phase]
        (4, 1000, 3)
    """
    from spikemark.records.imported import run_or_times  # with pandas, a third of the time

    measured_run = dry_run.load_dry_run(run) if dry_run.is_dry_run(run) else run_or_times(run)
    times = _measured(measured_run)
    _check_number(run, "ranks", times.shape[0], ranks)
    _check_number(run, "cycles", times.shape[1], cycles_of(description))
    if not isinstance(measured_run, DryRun):
        if of is not None:
            expected = f"expected with compute=model or a dry run, not with the run {run}"
            raise BadInput(
                f"compute_of: {expected}",
                field="compute_of",
                code="conflict",
            )
        cautions = []
        if isinstance(measured_run, Run):
            cautions = [f"{run}: {caution}" for caution in measured_run.cautions]
        return SimulatedCompute({"run": str(run)}, times, cautions)
    measured.check(measured_run, _full(description, of))
    facts = {
        "run": str(run),
        "compute_of": _whose(of),
        "dry_run": {
            "folder": str(run),
            "of": measured_run.ranks,
            "sampled": measured_run.timed.tolist(),
        },
    }
    assumptions = list(measured_run.remarks)
    if of is not None:
        assumptions.append(SMALLER)
    assumptions.append(ONE_NODE)
    return SimulatedCompute(facts, times, assumptions)


def _check_number(run: Path, plural: str, number: int, asked: int) -> None:
    """Raises BadInput where a run to be replayed has more or fewer ranks, or cycles."""
    if number != asked:
        message = f"has {number} {plural}; expected {asked}, as many as are simulated"
        raise BadInput(f"compute={run}: {message}", field="compute")


def _measured(run: Any) -> np.ndarray:
    """Times of a dry run, of a run, or imported ones. Raises BadInput for impossible times."""
    from spikemark.records.imported import CycleTimes

    if isinstance(run, CycleTimes):  # nobody told its phases apart
        none = np.zeros_like(run.compute)
        return np.stack([none, run.compute, none], axis=-1)
    if isinstance(run, DryRun):
        all_times = run.times()
    else:
        run.compute()  # checks them
        all_times = np.stack([run.phase(name) for name in COMPUTE_PARTS], axis=-1)
    columns = [COMPUTE_PARTS.index(name) for name in PHASES]
    times: np.ndarray = all_times[:, :, columns].astype(np.float32)
    times[:, :, PHASES.index("update")] += all_times[:, :, COMPUTE_PARTS.index(THREADS)]
    return times


def cycles_of(description: dict[str, Any]) -> int:
    """Measured cycles of a description. Raises BadInput if its times do not give them.

    Example:
        >>> cycles_of({"time": {"simulate_ms": 10, "cycle_ms": 0.5}})
        20
    """
    time = read_time(description)
    if not time.cycles:
        expected = f"expected at least one cycle, {time.cycle_ms:g} ms"
        message = f"time.simulate_ms: missing; {expected}"
        raise BadInput(
            message,
            field="time.simulate_ms",
            code="missing",
        )
    return time.cycles


def _full(description: dict[str, Any], of: dict[str, Any] | None) -> dict[str, Any]:
    """The description whose compute times a run gets.

    That is `of`, where given, run as `description` says.
    """
    if of is None:
        return description
    read_description(of, "compute_of: ")
    travel = {name: description[name] for name in TRAVEL if name in description}
    return {**of, **travel}


def _whose(of: dict[str, Any] | None) -> str:
    return "the description itself" if of is None else "another description"
