"""The fields of `kernel` in record.json: how the counts of the kernel were read (miniapp/FORMAT.md)."""

from typing import Annotated

from pydantic import Field

from .field_types import Count, Fields, Seconds


class Process(Fields):
    """A process that ran beside the ranks: processor time, and the hardware thread it was last seen on."""

    name: str = "?"
    core: int
    used_s: Seconds


class NodeKernel(Fields):
    """How the counts of the kernel of one node were read; `node` is the lowest rank there."""

    node: Count
    hardware_threads: Count
    interval_s: Annotated[float, Field(gt=0)]  #: between readings; longer than asked for on large nodes
    readings: Count
    events: Count
    sampling_cost: Seconds
    read_s: Seconds
    looked_s: float  #: time of the last reading, from the begin of the measured part on
    full: bool
    may_trace: bool
    tracers: str  #: that the user may use, or why none
    missing: str | None
    processes: list[Process]


class Kernel(Fields):
    """How the counts of the kernel were read (kernel.csv, kernel.npy)."""

    interval_s: Annotated[float, Field(gt=0)]
    cycle_read_s: Seconds
    fields: Annotated[list[str], Field(min_length=1)]
    nodes: Annotated[list[NodeKernel], Field(min_length=1)]
    node_of_rank: list[Count]
