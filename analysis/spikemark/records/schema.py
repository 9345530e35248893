"""The files of a run as classes: record.json, launch.json, and record.json and dryrun.json of dry
runs.

One class for each part of a file, one line for each field. A field with a default is missing in
older files. Types are strict (no '3' for 3), numbers are finite, and fields that are added later
are kept. Times are wall-clock seconds unless stated otherwise. miniapp/FORMAT.md describes the same
fields for those who write such files; a test compares the two.
"""

import json
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from spikemark.core.errors import BadInput
from spikemark.network.description import Description, Network, read_description

from .judged import warnings
from .phases import THREADS

#: Versions of the formats of record.json and dryrun.json that are read.
FORMAT_VERSIONS = (1, 2, 3)
MAX_NETWORKS = 8  # that are kept
_networks: dict[str, Network] = {}
FormatVersion = Literal[1, 2, 3]
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
PositiveNumber = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Seconds = NonNegative
Share = Annotated[float, Field(ge=0, le=1)]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
Date = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
Span = Annotated[list[Seconds], Field(min_length=2, max_length=2)]
MeterStatus = Literal["ok", "unavailable", "denied", "simulated", "modelled"]

REASON_OF_FORMAT_1 = "counted as delivery and update before format 2"
WARNING_OF_FORMAT_1 = "format 1: waiting of threads counts as delivery and update"


def _null_needs_a_reason(*fields: str) -> ConfigDict:
    """What a JSON Schema says of fields that may be null only beside a `reason`."""
    numbers: JsonDict = {field: {"type": "number"} for field in fields}
    reason: JsonDict = {"reason": {"type": "string", "minLength": 1}}
    without_null: JsonDict = {"properties": numbers, "required": [*fields]}
    with_reason: JsonDict = {"properties": reason, "required": ["reason"]}
    return ConfigDict(json_schema_extra={"anyOf": [without_null, with_reason]})


def _without_reason(expected: str) -> BadInput:
    """The complaint about a null without a reason."""
    return BadInput(
        field="reason",
        reason="missing",
        expected=expected,
        code="missing",
    )


class RecordPart(BaseModel):
    """Base of all parts of these files."""

    model_config = ConfigDict(
        defer_build=True,  # of those models that a command uses
        extra="allow",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
    )


class Provenance(RecordPart):
    """Which program wrote the record, and when."""

    commit: str | None = Field(description="commit of the mini-app; null where git reported none")
    dirty: bool | None = Field(description="whether files differed from that commit")
    compiler: str = Field(description="compiler and its version")
    flags: str = Field(description="options of the compiler")
    mpi_library: str = Field(description="MPI library and its version")
    version: str = Field(description="version of the mini-app")
    started: Date = Field(description="when the program started, ISO 8601, UTC")


class NodeRecord(RecordPart):
    """One node, as its lowest rank sees it. Null where unknown."""

    name: str = Field(description="host name")
    cpu: str | None = Field(description="model of the processor")
    cores: Positive | None = Field(description="physical cores")
    memory_bytes: Count | None = Field(description="main memory")
    ranks: Positive = Field(description="ranks on this node")
    governor: str | None = Field(description="what sets the clock frequency")
    governor_reason: str | None = Field(
        None,
        description="why `governor` is null",
    )
    frequency_min_hz: Count | None = Field(description="lowest limit of the clock that is set")
    frequency_max_hz: Count | None = Field(description="highest limit of the clock that is set")
    quota_cores: PositiveNumber | None = Field(
        None, description="tightest quota of control groups, cores"
    )
    quota_reason: str | None = Field(
        None,
        description="why `quota_cores` is null",
    )


class Surroundings(RecordPart):
    """What around the first rank may change times. Null where unknown, limits also without one."""

    variables: dict[str, str] = Field(description="variables that OpenMP, MPI or the loader read")
    nice: int = Field(description="priority; above 0 gives way to others")
    scheduler: str | None = Field(description="other, batch, idle, fifo or rr")
    huge_pages: str | None = Field(description="when the kernel uses large pages by itself")
    stack_bytes: Count | None = Field(description="limit of the stack")
    locked_bytes: Count | None = Field(description="limit of locked memory")
    address_space_bytes: Count | None = Field(description="limit of the address space")


class ThreadWaiting(RecordPart):
    """How the threads of the first rank wait for each other."""

    passive: bool = Field(description="whether threads sleep while they wait")
    chosen_by: Literal["miniapp", "spikemark", "environment"] | None = Field(
        description="who chose so"
    )
    variables: dict[str, str] = Field(description="environment variables that say so")


class Host(RecordPart):
    """The machine, as the first rank sees it. Null where unknown."""

    name: str = Field(description="host name")
    system: str | None = Field(description="operating system")
    cpu: str | None = Field(description="model of the processor")
    cores: Positive | None = Field(description="physical cores")
    threads_per_core: Positive | None = Field(description="hardware threads of a core")
    sockets: Positive | None = Field(description="processors")
    memory_bytes: Count | None = Field(description="main memory")
    cache_bytes: dict[str, Count | None] = Field(description="size of a cache: L1d, L2, L3")
    virtual_machine: bool | None = Field(description="whether it is a virtual machine")
    nodes: Positive = Field(description="nodes of the run")
    foreign_load: NonNegative | None = Field(
        description="cores that other processes kept busy, mean over the measured part"
    )
    binding: list[list[Count] | None] | None = Field(
        description="hardware threads that each rank may run on"
    )
    node_names: list[str] | None = Field(
        None,
        description="host names of all nodes",
    )
    per_node: list[NodeRecord] | None = Field(
        None, description="nodes, in the order of `node_names`"
    )
    stolen_load: NonNegative | None = Field(
        None,
        description="cores that a hypervisor took away",
    )
    usable_cores: list[list[Count]] | None = Field(
        None, description="cores that each rank may run on, by their first hardware thread"
    )
    node_of_rank: list[Count] | None = Field(
        None,
        description="number of the node of each rank",
    )
    waiting: ThreadWaiting | None = Field(
        None,
        description="how threads wait for each other",
    )
    throttled_load: NonNegative | None = Field(
        None,
        description="cores that quotas of control groups took away, of the rank that lost most",
    )
    throttled_reason: str | None = Field(
        None,
        description="why `throttled_load` is null",
    )
    surroundings: Surroundings | None = Field(
        None, description="what around the ranks may change times"
    )


class TotalCounts(RecordPart):
    """Counts of the measured part, over all ranks."""

    neurons: Count = Field(description="neurons")
    synapses: Count = Field(description="synapses")
    spikes: Count = Field(description="spikes that were fired")
    synaptic_events: Count = Field(description="synapses that spikes visited")
    external_events: Count = Field(description="events of external input")
    first_accesses: Count = Field(description="synapse lists entered: per spike, thread and lane")
    messages: Count = Field(description="messages handed to MPI for other ranks")
    bytes_sent: Count = Field(description="bytes handed to MPI for other ranks")
    lookups: Count | None = Field(
        None,
        description="spikes that threads examined",
    )


class PhaseTime(RecordPart):
    """Time in one phase of the cycle over the measured part. A null time needs a reason."""

    model_config = _null_needs_a_reason("mean_s", "max_s")

    mean_s: Seconds | None = Field(description="mean over ranks")
    max_s: Seconds | None = Field(description="slowest rank")
    reason: str | None = Field(None, description="why times are null")

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if None in (self.mean_s, self.max_s) and not self.reason:
            raise _without_reason("why a time is null")
        return self


class CommonTiming(RecordPart):
    """Times that runs and dry runs have."""

    build_s: Seconds = Field(description="reading the description to the first cycle, slowest rank")
    model_s: PositiveNumber = Field(description="simulated time of the measured part")
    cycles: Positive = Field(description="measured cycles")
    stretch_cycles: Positive | None = Field(
        None,
        description="cycles of a row of activity.npy",
    )
    clock: str | None = Field(
        None,
        description="what was read between the phases of a cycle",
    )
    timer_overhead: NonNegative = Field(description="share of the time spent reading the clock")
    timer_read_s: Seconds = Field(description="one reading of the clock")
    counter_read_s: Seconds | None = Field(
        None,
        description="one reading of a thread's counters",
    )
    counter_overhead: NonNegative | None = Field(
        None,
        description="share of time reading counters",
    )
    simulate_started_s: Seconds | None = Field(
        None, description="begin of the measured part, since the Unix epoch"
    )
    simulate_ended_s: Seconds | None = Field(
        None, description="end of the measured part, since the Unix epoch"
    )
    idle_before_s: Span | None = Field(
        None,
        description="begin and end of the pause before",
    )
    idle_after_s: Span | None = Field(
        None,
        description="begin and end of the pause after",
    )
    clock_step_s: float | None = Field(
        None, description="by how much the system clock was set during the run"
    )
    phases: dict[str, PhaseTime] = Field(description="time in each phase of the cycle")


class Timing(CommonTiming):
    """Times of a run."""

    simulate_s: Seconds = Field(description="the measured part, slowest rank")
    real_time_factor: NonNegative = Field(description="simulate_s / model_s")


class DryTiming(CommonTiming):
    """Times of a rank that ran alone: how long all ranks take together is unknown."""

    simulate_s: None = Field(description="unknown")
    real_time_factor: None = Field(description="unknown")


class MemoryRecord(RecordPart):
    """Memory over all ranks, bytes."""

    peak_bytes: Count | None = Field(description="resident high-water mark; null where unknown")
    bytes_per_synapse: NonNegative | None = Field(description="peak_bytes / synapses")
    parts: dict[str, Count] = Field(description="what each structure of the mini-app holds")


class LaneTraffic(RecordPart):
    """A lane, the way in which it was exchanged, and its traffic in the measured part."""

    name: str = Field(description="name")
    period: Positive = Field(description="P, cycles of a window")
    lag: Count = Field(description="L, windows from the start of an exchange to its end")
    exchange: str = Field(description="exchange algorithm")
    composed: dict[str, Any] | None = Field(
        None,
        description="levels of a composed exchange",
    )
    wire: str = Field(
        "compact",
        description="format of spikes on the wire",
    )
    ranks: Positive = Field(description="ranks that share an exchange, of the largest group")
    groups: Positive = Field(
        1,
        description="groups of ranks; one alone is a group",
    )
    connections: Count | None = Field(
        None,
        description="ranks that one sends to, the most",
    )
    slack: float | None = Field(
        None,
        description="shortest delay minus P (L+1) d_min, ms",
    )
    shortest_delay_ms: float | None = Field(
        None,
        description="shortest delay, ms",
    )
    synapses: Count = Field(description="synapses")
    windows: Count = Field(description="measured windows")
    messages: Count = Field(description="messages to other ranks")
    bytes_sent: Count = Field(description="bytes to other ranks")
    spikes_sent: Count = Field(
        description="one for each spike and rank that needs it, also the own"
    )
    levels: list[dict[str, Count | None]] | None = Field(
        None, description="traffic of each level of a composed exchange, innermost first"
    )


class Meter(RecordPart):
    """One value that was read besides clocks, or why there is none."""

    model_config = _null_needs_a_reason("value")

    name: str = Field(description="what is meant: instructions, minor_faults, energy, …")
    unit: str = Field(description="count, s, ns, byte or J")
    value: float | None = Field(
        None,
        description="null where it was not measured, never 0",
    )
    source: str = Field(description="name of the meter that was queried")
    event: str | None = Field(
        None,
        description="what the source calls it",
    )
    status: MeterStatus = Field(description="ok, or what stood in the way")
    reason: str | None = Field(
        None,
        description="why `value` is null",
    )
    phase: str | None = Field(
        None,
        description="of one phase only; null for the total",
    )

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if self.value is None and not self.reason:
            raise _without_reason("why `value` is null")
        return self


class EnergyChannel(RecordPart):
    """Energy of one channel of a meter on one node."""

    node: Count = Field(description="lowest rank on the node")
    name: str = Field(description="name of the channel")
    event: str = Field(description="what the source calls it")
    unit: Literal["J", "W"] = Field(description="J: a cumulative counter; W: power")
    gross_j: Seconds | None = Field(
        None,
        description="energy of the measured part, J",
    )
    failed: Count = Field(
        0,
        description="readings that failed; the others bridge them",
    )


class EnergyRecord(RecordPart):
    """Energy of the measured part. A null energy needs a reason."""

    model_config = _null_needs_a_reason("gross_j")

    source: str = Field(description="the meter")
    status: MeterStatus = Field(description="ok, or what stood in the way")
    gross_j: NonNegative | None = Field(description="sum over the channels of all nodes, J")
    idle_power_w: NonNegative | None = Field(description="mean over the pause before the run, W")
    net_j: float | None = Field(description="gross_j - idle_power_w x duration_s, J")
    duration_s: Seconds = Field(description="simulate_ended_s - simulate_started_s")
    readings: Count = Field(description="within the measured part, of the node with the fewest")
    coverage: Share = Field(description="share of the measured part between readings close by")
    nodes: Positive = Field(description="nodes that were read")
    sampling_cost: NonNegative = Field(description="processor time of the sampler by time")
    reason: str | None = Field(description="why values are null")
    channels: list[EnergyChannel] = Field(description="energy of each channel and node")

    @model_validator(mode="after")
    def _null_has_a_reason(self) -> Self:
        if self.gross_j is None and not self.reason:
            raise _without_reason("why `gross_j` is null")
        return self


class PlacementRecord(RecordPart):
    """Where the neurons were."""

    name: str = Field(description="the placement")
    file: str | None = Field(description="its file, as the description gives it")
    method: str | None = Field(description="what made the file")
    balance: Annotated[float, Field(ge=1)] = Field(
        description="the largest load of a rank over its target"
    )


def _judged(content: dict[str, Any]) -> list[str]:
    """The warnings of a record.

    None where its fields are not those of a record, which is refused later.
    """
    try:
        return warnings(content)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ZeroDivisionError):
        return []


def _with_threads(content: dict[str, Any]) -> Any:
    """A record of format 1 (of 0.1), with the times of today's phases.

    In that format, the waiting of threads is a part of delivery and update.
    """
    match content:
        case {"timing": {"phases": dict(phases)} as timing, "threads": threads, "warnings": list()}:
            zero = {"mean_s": 0.0, "max_s": 0.0, "reason": REASON_OF_FORMAT_1}
            timing = timing | {"phases": phases | {THREADS: zero}}
            sentences = content["warnings"]
            if threads != 1:
                sentences = [*sentences, WARNING_OF_FORMAT_1]
            return content | {"timing": timing, "warnings": sentences}
    return content


def _without_warnings_of_today(schema: dict[str, Any]) -> None:
    """Says in a JSON Schema that files of version 3 hold no warnings, which are judged here."""
    schema["required"].remove("warnings")
    schema["if"] = {"properties": {"format_version": {"enum": [1, 2]}}}
    schema["then"] = {"required": ["warnings"]}


class CommonRecord(RecordPart):
    """What the records of a run and of a rank alone share.

    From version 3 on, warnings are judged here.
    """

    model_config = ConfigDict(json_schema_extra=_without_warnings_of_today)

    format_version: FormatVersion = Field(description="version of the format")
    status: Literal["complete"] = Field(description="complete")
    description: dict[str, Any] = Field(
        description="the run description as run, defaults filled in"
    )
    placement: PlacementRecord | None = Field(
        None,
        description="where the neurons were",
    )
    provenance: Provenance = Field(description="which program wrote the record, and when")
    host: Host = Field(description="the machine")
    warnings: list[str] = Field(description="what a reader of the times must know")
    ranks: Positive = Field(description="MPI ranks")
    threads: Positive = Field(description="OpenMP threads of a rank")
    memory: MemoryRecord = Field(description="memory over all ranks")
    timing: CommonTiming = Field(description="times")
    phases: Annotated[list[str], Field(min_length=1)] = Field(
        description="names along the last axis of cycles.npy"
    )

    @model_validator(mode="before")
    @classmethod
    def _as_of_today(cls, content: Any) -> Any:
        version = content.get("format_version") if isinstance(content, dict) else None
        if version == 3:
            return content | {"warnings": _judged(content)}
        if version == 1:
            return _with_threads(content)
        return content

    @model_validator(mode="after")
    def _times_every_phase(self) -> Self:
        timed = list(self.phases)
        if self.format_version == 1:
            timed.append(THREADS)
        if sorted(timed) != sorted(self.timing.phases):
            raise BadInput(
                f"phases {self.phases} are not those of timing.phases {list(self.timing.phases)}",
                field="phases",
                code="conflict",
            )
        return self


#: Fields of a description that a record always has, and their types.
DESCRIBED = {
    "schedule": (str, list),
    "placement": (str, dict),
    "delay_ratio": (int, str),
    "record": (dict,),
    "exchange": (str, dict),
}


class Record(CommonRecord):
    """record.json of a run of all ranks."""

    kind: Literal["measured", "simulated"] = Field(
        "measured", description="simulated: times are those of a simulated machine (SimGrid)"
    )
    checksum: Checksum = Field(description="over spikes and the final state of every neuron")
    spike_checksum: Checksum = Field(description="over the spikes alone")
    totals: TotalCounts = Field(description="counts of the measured part")
    timing: Timing = Field(description="times of the run")
    lanes: Annotated[list[LaneTraffic], Field(min_length=1)] = Field(
        description="lanes and their traffic"
    )
    meters: list[Meter] = Field(description="what was read besides clocks")
    energy: EnergyRecord | None = Field(
        None,
        description="energy of the measured part",
    )
    energy_reason: str | None = Field(
        None,
        description="why `energy` is null",
    )

    @cached_property
    def described(self) -> Description:
        """The description as an object. Raises BadInput where the mini-app would refuse it.

        Runs of one network share it: the last networks that were read are kept.
        """
        names = ("format_version", "network", "time")  # a network is checked against its time step
        content = json.dumps({name: self.description.get(name) for name in names}, sort_keys=True)
        described = read_description(self.description, network=_networks.get(content))
        if content not in _networks:
            _networks[content] = described.network
            if len(_networks) > MAX_NETWORKS:
                del _networks[next(iter(_networks))]
        return described

    @model_validator(mode="after")
    def _describes_how_it_ran(self) -> Self:
        for name, types in DESCRIBED.items():
            value = self.description.get(name)
            if not isinstance(value, types):
                raise BadInput(
                    f"description.{name}={value!r} is missing or of the wrong type",
                    field=f"description.{name}",
                    code="type",
                )
        return self


class RankAlone(RecordPart):
    """One rank that ran alone, and what was made up for it."""

    rank: Count = Field(description="the rank")
    of: Positive = Field(description="ranks of the run that it represents")
    spikes: Literal["exact", "drawn"] = Field(description="spikes of all other ranks")
    rate_hz: NonNegative | None = Field(description="rate at which spikes were drawn, Hz")
    routes: Literal["exact", "drawn"] = Field(description="where the spikes of this rank go")
    compute_s: Seconds = Field(description="time in the phases of computing")
    inbox_s: Seconds = Field(description="time of copying words into the receive buffers")
    prepare_s: Seconds = Field(description="time of making up spikes")
    words: Count = Field(description="words of four bytes that were copied")
    routes_s: Seconds | None = Field(
        None,
        description="part of build_s for making up routes",
    )


class DryRecord(CommonRecord):
    """record.json of a rank that ran alone."""

    kind: Literal["dry_run"] = Field(description="dry_run")
    timing: DryTiming = Field(description="times of this rank")
    dry_run: RankAlone = Field(description="what was made up")


class SampledRank(RecordPart):
    """A rank of which there is a record."""

    rank: Count = Field(description="the rank")
    why: str = Field(description="why it was chosen")


class DryRunFile(RecordPart):
    """dryrun.json: some ranks of a run, each of which ran alone."""

    format_version: FormatVersion = Field(description="version of the format")
    kind: Literal["dry_run"] = Field(description="dry_run")
    ranks: Positive = Field(description="ranks of the run that they represent")
    threads: Positive = Field(description="OpenMP threads of a rank")
    ranks_here: Positive = Field(description="ranks that ran at a time")
    sampled: Annotated[list[SampledRank], Field(min_length=1)] = Field(description="the ranks")
    seed: Count = Field(description="of the choice of ranks")
    rates: str = Field(description="where the rates of drawn spikes come from")
    description: dict[str, Any] = Field(description="the run description")
    warnings: list[str] = Field(description="what a reader must know")


class Allocation(RecordPart):
    """The job of a batch system in which a run was started."""

    cluster: str | None = Field(
        None,
        description="name of the cluster",
    )
    job: str = Field(description="number of the job")
    partition: str | None = Field(
        None,
        description="partition or queue",
    )
    nodes: list[str] = Field([], description="names of the nodes")
    modules: list[str] = Field(
        [],
        description="environment modules that were loaded",
    )


class LaunchRecord(RecordPart):
    """launch.json: how `spikemark` started a run."""

    launcher: str | None = Field(
        None,
        description="mpirun, srun or smpirun",
    )
    command: list[str] = Field([], description="the command line")
    environment: dict[str, Any] = Field(
        {},
        description="variables that were set for it",
    )
    began_s: float | None = Field(
        None,
        description="when it began, since the Unix epoch",
    )
    wall_s: float | None = Field(
        None,
        description="wall-clock time of the whole command",
    )
    allocation: Allocation | None = Field(
        None,
        description="the job that it was part of",
    )
