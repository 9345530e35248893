"""The fields of dryrun.json, which says what a dry run ran and how (dry_run.py)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Sampled(BaseModel):
    """One rank that ran. `beside`: share of its measured part in which each of its neighbours was measured,
    too, the least of them; None where it ran by itself."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    rank: Annotated[int, Field(ge=0)]
    why: str
    beside: Annotated[float, Field(ge=0, le=1)] | None


class About(BaseModel):
    """dryrun.json."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    format_version: Literal[1]
    kind: Literal["dry_run"]
    ranks: Annotated[int, Field(ge=1)]  #: R, of the machine
    threads: Annotated[int, Field(ge=1)]
    ranks_here: Annotated[int, Field(ge=1)]  #: that ran side by side
    cores: Annotated[int, Field(ge=1)]  #: of this node, that could be used
    bound: bool  #: whether every thread had a core of its own
    sampled: Annotated[list[Sampled], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)]
    spikes: Literal["exact", "drawn"]
    routes: Literal["exact", "drawn"]  #: which ranks a rank's own spikes go to, which collocation depends on
    rates: str  #: where the rates come from
    rate_hz: Annotated[float, Field(ge=0)] | None
    cycles: Annotated[int, Field(ge=1)]
    phases: Annotated[list[str], Field(min_length=1)]
    description: dict[str, Any]
    host: dict[str, Any]
    provenance: dict[str, Any]
    kinds: dict[str, str]
    null: dict[str, str]  #: what is not known, and why
    warnings: list[str]
    #: cores that other programs kept busy while a rank was measured, the most of all ranks; None: not known
    foreign_load: Annotated[float, Field(ge=0)] | None = None
