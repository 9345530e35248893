"""The fields of record.json (miniapp/FORMAT.md) that Spikemark relies on; others are kept."""

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from spikemark.network.description import Description, read

from .field_types import Checksum, Count, Fields, Positive, Seconds, Span
from .kernel_fields import Kernel
from .phases import HOLD_THREADS, THREADS, with_threads
from .placed import Placed

FORMAT_VERSIONS = (1, 2)
READABLE = " and ".join(map(str, FORMAT_VERSIONS))


class Provenance(Fields):
    """What was run, and when."""

    commit: str | None
    dirty: bool | None
    compiler: str
    flags: str
    mpi_library: str
    version: str
    started: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


class Node(Fields):
    """Values that may differ between the nodes of a run; null where unknown."""

    name: str
    cpu: str | None
    cores: Positive | None
    memory_bytes: Count | None
    ranks: Positive
    governor: str | None
    governor_reason: str | None
    frequency_min_hz: Count | None
    frequency_max_hz: Count | None


class Waiting(Fields):
    """How ranks and threads wait for each other, and which environment variables say so."""

    passive: bool
    chosen_by: Literal["miniapp", "environment"] | None
    variables: dict[str, str]


class Host(Fields):
    """Where it ran; null where unknown."""

    name: str
    system: str | None
    cpu: str | None
    cores: Positive | None
    threads_per_core: Positive | None
    sockets: Positive | None
    memory_bytes: Count | None
    cache_bytes: dict[str, Count | None]
    virtual_machine: bool | None
    nodes: Positive
    foreign_load: Seconds | None
    binding: list[list[Count] | None] | None
    node_names: list[str] | None = None  #: in the order of their lowest ranks; None in older records
    per_node: list[Node] | None = None  #: None in simulated runs and in older records
    waiting: Waiting | None = None  #: of the first rank; None in simulated runs and in older records


class Totals(Fields):
    """Counts of the measured part, over all ranks."""

    neurons: Count
    synapses: Count
    spikes: Count
    synaptic_events: Count
    external_events: Count
    first_accesses: Count
    messages: Count
    bytes_sent: Count
    lookups: Count | None = None  #: spikes examined, over all threads; None in older records


class PhaseTime(Fields):
    """Seconds in the measured part, as the mean over ranks and on the slowest rank; null with a reason."""

    mean_s: Seconds | None
    max_s: Seconds | None
    reason: str | None = None

    @model_validator(mode="after")
    def _null_has_reason(self) -> "PhaseTime":
        if (self.mean_s is None or self.max_s is None) and not self.reason:
            raise ValueError("a time of null needs a reason")
        return self


class Timing(Fields):
    """Times of the whole run, and what measuring them cost."""

    build_s: Seconds
    simulate_s: Seconds
    model_s: Annotated[float, Field(gt=0)]
    real_time_factor: Seconds
    cycles: Positive
    clock: str | None = None  #: None in records from before the field
    timer_overhead: Seconds
    timer_read_s: Seconds
    counter_read_s: Seconds | None = None
    counter_overhead: Seconds | None = None
    simulate_started_s: Seconds | None = None  #: Unix epoch; these and the above None in older records
    simulate_ended_s: Seconds | None = None
    idle_before_s: Span | None = None
    idle_after_s: Span | None = None
    clock_step_s: float | None = None  #: None in older records and in simulated time
    phases: dict[str, PhaseTime]


class Memory(Fields):
    """Memory of the run over all ranks; null where unknown."""

    peak_bytes: Count | None
    bytes_per_synapse: Seconds | None
    parts: dict[str, Count]


class Lane(Fields):
    """A lane of the run, and what travelled on it."""

    name: str
    period: Positive
    lag: Count
    exchange: str
    composed: dict[str, Any] | None = None
    wire: str = "compact"
    ranks: Positive
    groups: Positive = 1
    connections: Count | None = None  #: None in records from before the field
    slack: float | None
    shortest_delay_ms: float | None
    synapses: Count
    windows: Count
    messages: Count
    bytes_sent: Count
    spikes_sent: Count
    levels: list[dict[str, Count | None]] | None = None  #: None unless composed, and before the field


class Meter(Fields):
    """One value besides the times, or the reason why it is missing (the first versions wrote neither)."""

    name: str
    unit: str
    value: float | None = None
    source: str
    event: str | None = None
    status: Literal["ok", "unavailable", "denied", "simulated", "modelled"]
    reason: str | None = None
    phase: str | None = None  #: None: the total over all phases


class EnergyChannel(Fields):
    """One meter of one node; `node` is the lowest rank there."""

    node: Count
    name: str
    event: str
    unit: Literal["J", "W"]
    gross_j: Seconds | None
    failed: Count = 0  #: readings; 0 in records from before the field


class Energy(Fields):
    """Energy of the measured part over all nodes; null with a reason where it is not known."""

    source: str
    status: Literal["ok", "unavailable", "denied", "simulated", "modelled"]
    gross_j: Annotated[float, Field(ge=0)] | None
    idle_power_w: Annotated[float, Field(ge=0)] | None
    net_j: float | None
    duration_s: Seconds
    readings: Count
    coverage: Annotated[float, Field(ge=0, le=1)]
    nodes: Positive
    sampling_cost: Seconds
    reason: str | None
    channels: list[EnergyChannel]

    @model_validator(mode="after")
    def _null_has_reason(self) -> "Energy":
        if None in (self.gross_j, self.idle_power_w, self.net_j) and not self.reason:
            raise ValueError("an energy of null needs a reason")
        return self


class OfProcesses(Fields):
    """What the record of a run and that of one rank alone (dry_rank.py) share."""

    format_version: Literal[1, 2]
    status: Literal["complete"]
    description: dict[str, Any]  #: its placement file is the copy in the folder of the record
    placement: Placed | None = None  #: records from before the field lack it
    provenance: Provenance
    host: Host
    warnings: list[str]
    ranks: Positive
    threads: Positive
    memory: Memory
    timing: Timing
    phases: Annotated[list[str], Field(min_length=1)]  #: of cycles.npy; `timing.phases` also have THREADS

    @model_validator(mode="before")
    @classmethod
    def _as_now(cls, content: Any) -> Any:
        return with_threads(content)

    @model_validator(mode="after")
    def _all_timed(self) -> "OfProcesses":
        untold = {THREADS} if self.format_version == 1 else set()
        if len(set(self.phases)) != len(self.phases) or {*self.phases} | untold != {*self.timing.phases}:
            raise ValueError(
                f"phases {self.phases} are not those of timing.phases {list(self.timing.phases)}"
            )
        return self

    @property
    def mixed(self) -> tuple[str, ...]:
        """The parts of a cycle that hold the waiting of threads, which is a part of its own in format 2."""
        return HOLD_THREADS if self.format_version == 1 and self.threads > 1 else ()


class Record(OfProcesses):
    """record.json. Units stand in the field names; see miniapp/FORMAT.md for each field."""

    kind: Literal["measured", "simulated"] = "measured"  #: records from before the field were all measured
    checksum: Checksum
    spike_checksum: Checksum
    totals: Totals
    lanes: Annotated[list[Lane], Field(min_length=1)]
    meters: list[Meter]
    energy: Energy | None
    kernel: Kernel | None = None
    energy_reason: str | None = None  #: why energy is None; None in records from before the field

    @cached_property
    def described(self) -> Description:
        """The description as an object. Raises BadInput where the mini-app would refuse it."""
        return read(self.description)

    @property
    def steps(self) -> float:
        """Steps of the measured part, a whole number up to rounding."""
        return self.timing.model_s * 1e3 / self.described.time.resolution_ms

    @model_validator(mode="after")
    def _consistent(self) -> "Record":
        kinds = {"schedule": (str, list), "placement": (str, dict), "delay_ratio": (int, str), "record": dict}
        for name, kind in (kinds | {"exchange": (str, dict)}).items():
            found = self.description.get(name)
            if not isinstance(found, kind):
                raise ValueError(f"description.{name}={found!r} is missing or of the wrong type")
        expected = self.timing.simulate_s / self.timing.model_s
        if abs(self.timing.real_time_factor - expected) > 1e-3 * expected:
            raise ValueError(
                f"timing.real_time_factor={self.timing.real_time_factor}:"
                f" simulate_s / model_s is {expected:.6g}"
            )
        return self
