"""The fields of record.json, launch.json and dryrun.json that Spikemark relies on, as one table.

A line is a part of a file: `field:type` for each field. `?`: may be null. `=`: older files lack it, with the
value then (null). `[x]`: a list of x, `[x]+` one that is not empty; `{x}`: an object whose values are x. A
type is one of SCALARS or a part above. Other fields are kept. miniapp/FORMAT.md says what each field holds.
"""

import ast
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, model_validator

from spikemark.network.description import Description, read

from .judged import warnings
from .phases import THREADS

FORMAT_VERSIONS = 1, 2, 3
Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
#: The types of single values; times are in s.
SCALARS: dict[str, Any] = {
    "str": str, "bool": bool, "real": float, "any": Any, "count": Count, "positive": Positive,
    "seconds": Seconds, "above_0": Annotated[float, Field(gt=0)], "share": Share,
    "span": Annotated[list[Seconds], Field(min_length=2, max_length=2)],
    "date": Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")],
    "checksum": Annotated[str, Field(pattern="^[0-9a-f]{16}$")],
    "chosen_by": Literal["miniapp", "spikemark", "environment"], "version": Literal[1, 2, 3],
    "complete": Literal["complete"], "measured": Literal["measured", "simulated"], "power": Literal["J", "W"],
    "known": Literal["ok", "unavailable", "denied", "simulated", "modelled"],
    "exact": Literal["exact", "drawn"], "none": None, "balance": Annotated[float, Field(ge=1)],
    "dry_run": Literal["dry_run"],
}  # fmt: skip
TABLE = """
Provenance: commit:str? dirty:bool? compiler:str flags:str mpi_library:str version:str started:date
Node: name:str cpu:str? cores:positive? memory_bytes:count? ranks:positive governor:str? governor_reason:str?=
  frequency_min_hz:count? frequency_max_hz:count?
Waiting: passive:bool chosen_by:chosen_by? variables:{str}
Host: name:str system:str? cpu:str? cores:positive? threads_per_core:positive? sockets:positive?
  memory_bytes:count? cache_bytes:{count?} virtual_machine:bool? nodes:positive foreign_load:seconds?
  binding:[[count]?]? node_names:[str]?= per_node:[Node]?= stolen_load:seconds?=
  usable_cores:[[count]]?= node_of_rank:[count]?= waiting:Waiting?=
Totals: neurons:count synapses:count spikes:count synaptic_events:count external_events:count
  first_accesses:count messages:count bytes_sent:count lookups:count?=
PhaseTime: mean_s:seconds? max_s:seconds? reason:str?=
Timing: build_s:seconds simulate_s:seconds model_s:above_0 real_time_factor:seconds cycles:positive
  clock:str?= timer_overhead:seconds timer_read_s:seconds counter_read_s:seconds?= counter_overhead:seconds?=
  simulate_started_s:seconds?= simulate_ended_s:seconds?= idle_before_s:span?= idle_after_s:span?=
  clock_step_s:real?= phases:{PhaseTime}
DryTiming(Timing): simulate_s:none real_time_factor:none
Memory: peak_bytes:count? bytes_per_synapse:seconds? parts:{count}
Lane: name:str period:positive lag:count exchange:str composed:{any}?= wire:str="compact" ranks:positive
  groups:positive=1 connections:count?= slack:real? shortest_delay_ms:real? synapses:count windows:count
  messages:count bytes_sent:count spikes_sent:count levels:[{count?}]?=
Meter: name:str unit:str value:real?= source:str event:str?= status:known reason:str?= phase:str?=
EnergyChannel: node:count name:str event:str unit:power gross_j:seconds? failed:count=0
Energy: source:str status:known gross_j:seconds? idle_power_w:seconds? net_j:real? duration_s:seconds
  readings:count coverage:share nodes:positive sampling_cost:seconds reason:str? channels:[EnergyChannel]
Placed: name:str file:str? method:str? balance:balance
OfProcesses: format_version:version status:complete description:{any} placement:Placed?= provenance:Provenance
  host:Host warnings:[str] ranks:positive threads:positive memory:Memory timing:Timing phases:[str]+
Record(OfProcesses): kind:measured="measured" checksum:checksum spike_checksum:checksum totals:Totals
  lanes:[Lane]+ meters:[Meter] energy:Energy?= energy_reason:str?=
Alone: rank:count of:positive spikes:exact rate_hz:seconds? routes:exact compute_s:seconds inbox_s:seconds
  prepare_s:seconds words:count routes_s:seconds?=
DryRecord(OfProcesses): kind:dry_run timing:DryTiming dry_run:Alone
Sampled: rank:count why:str
About: format_version:version kind:dry_run ranks:positive threads:positive ranks_here:positive
  sampled:[Sampled]+ seed:count rates:str description:{any} warnings:[str]
Allocation: cluster:str?= job:str partition:str?= nodes:[str]=[] modules:[str]=[]
Launched: launcher:str?= command:[str]=[] environment:{any}={} began_s:real?= wall_s:real?=
  allocation:Allocation?=
"""


class Fields(BaseModel):
    """Base of all parts of a record: types are strict (no '3' for 3), and fields added later are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)


def _judged(content: dict[str, Any]) -> list[str]:
    """The warnings of a record; none where its fields are not those of a record, which is refused later."""
    try:
        return warnings(content)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError, ZeroDivisionError):
        return []


def _with_threads(content: dict[str, Any]) -> Any:
    """A record of format 1 (of 0.1), in which the waiting of threads is a part of delivery and update."""
    match content:
        case {"timing": {"phases": dict(phases)} as timing, "threads": threads, "warnings": list(said)}:
            held = {"mean_s": 0.0, "max_s": 0.0, "reason": "counted as delivery and update before format 2"}
            said = [*said, *["format 1: waiting of threads counts as delivery and update"] * (threads != 1)]
            return content | {"timing": timing | {"phases": phases | {THREADS: held}}, "warnings": said}
    return content


class _OfProcesses(Fields):
    """What the records of a run and of one rank alone share; from version 3 on, warnings are judged here."""

    @model_validator(mode="before")
    @classmethod
    def _as_now(cls, content: Any) -> Any:
        version = content.get("format_version") if isinstance(content, dict) else None
        if version == 3:
            return content | {"warnings": _judged(content)}
        return _with_threads(content) if version == 1 else content

    @model_validator(mode="after")
    def _all_timed(self):
        timed = [*self.phases, *[THREADS] * (self.format_version == 1)]
        if sorted(timed) != sorted(self.timing.phases):
            raise ValueError(
                f"phases {self.phases} are not those of timing.phases {list(self.timing.phases)}"
            )
        return self


class _Record(Fields):
    @cached_property
    def described(self) -> Description:
        """The description as an object. Raises BadInput where the mini-app would refuse it."""
        return read(self.description)

    @model_validator(mode="after")
    def _consistent(self):
        kinds = {"schedule": (str, list), "placement": (str, dict), "delay_ratio": (int, str), "record": dict}
        for name, kind in (kinds | {"exchange": (str, dict)}).items():
            found = self.description.get(name)
            if not isinstance(found, kind):
                raise ValueError(f"description.{name}={found!r} is missing or of the wrong type")
        return self


BASES: dict[str, tuple] = {"OfProcesses": (_OfProcesses,), "Record": (_Record,)}


def _type(words: str, known: dict[str, Any]) -> Any:
    """The type that is written so."""
    if words.endswith("?"):
        return _type(words[:-1], known) | None
    if words.endswith("+"):
        return Annotated[_type(words[:-1], known), Field(min_length=1)]
    if words[0] == "[":
        return list[_type(words[1:-1], known)]
    return dict[str, _type(words[1:-1], known)] if words[0] == "{" else known[words]


def _parts() -> dict[str, Any]:
    """The models of TABLE by name."""
    known: dict[str, Any] = {**SCALARS}
    for line in TABLE.strip().replace("\n  ", " ").splitlines():
        head, _, fields = line.partition(": ")
        name, _, base = head.rstrip(")").partition("(")
        of = {}
        for one in fields.split():
            field, _, kind = one.partition(":")
            kind, older, value = kind.partition("=")
            of[field] = (_type(kind, known), (ast.literal_eval(value) if value else None) if older else ...)
        bases = (*BASES.get(name, ()), *((known[base],) if base else ())) or (Fields,)
        known[name] = create_model(name, __base__=bases, **of)
    return known


_PARTS = _parts()
Provenance, Host, Totals, PhaseTime = (_PARTS[n] for n in ("Provenance", "Host", "Totals", "PhaseTime"))
Timing, Lane, Energy = (_PARTS[n] for n in ("Timing", "Lane", "Energy"))
Record, DryRecord, About, Launched = (_PARTS[n] for n in ("Record", "DryRecord", "About", "Launched"))
