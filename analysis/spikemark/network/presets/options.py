"""What presets share: how options are read, how a network is run, and what was published about it."""

from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from spikemark.core.errors import BadInput, invalid, shown
from spikemark.network.description import read_time
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.placement import check_name
from spikemark.network.placement_field import field_of
from spikemark.network.schedules import SCHEDULES

ALL = "all"  # stands for all neurons where published rates have no population
SCALE = "neurons, as a fraction of the published "


class Strict(BaseModel):
    """Options that are known and finite, and numbers where numbers are required."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    @field_validator("*", mode="before")
    @classmethod
    def _no_booleans(cls, value: Any, about: ValidationInfo) -> Any:
        if any(isinstance(part, bool) for part in (value if isinstance(value, list | tuple) else [value])):
            raise ValueError(f"{about.field_name}={shown(value)}: expected no true or false")  # would be 1, 0
        return value


class RunOptions(Strict):
    """How a network is run; a preset overrides the defaults that do not suit it."""

    seed: int = Field(1, ge=0, le=2**53, description="seed of the network")
    schedule: str = Field("conventional", description="a schedule of the mini-app")
    placement: str | None = Field(
        None,
        description="a placement of the mini-app, or a placement file; default: what the schedule implies",
    )
    exchange: str | None = Field(
        None, description="an exchange of the mini-app; by default it chooses for each lane"
    )
    simulate_ms: float = Field(1000.0, gt=0, description="measured time, ms")
    warmup_ms: float = Field(500.0, ge=0, description="simulated time before the measurement, ms")

    @field_validator("schedule", "exchange", "placement")
    @classmethod
    def _known(cls, name: str | None, about: ValidationInfo) -> str | None:
        if name is not None and about.field_name == "placement":
            check_name(name)
        elif name is not None:
            known = SCHEDULES if about.field_name == "schedule" else EXCHANGES
            if name not in known:
                raise BadInput.of(about.field_name, name, ", ".join(known))
        return name

    def described(
        self,
        populations: list[dict],
        projections: list[dict],
        delay_ratio: int | None = None,
        resolution_ms: float = 0.1,
        cycle_ms: float = 0.1,
    ) -> dict:
        """The run description (miniapp/FORMAT.md) of that network; it states no D where none is given.

        Raises BadInput for times that the mini-app does not take.
        """
        times = {"resolution_ms": resolution_ms, "cycle_ms": cycle_ms}
        found = {
            "format_version": 1,
            "seed": self.seed,
            "time": times | {"warmup_ms": self.warmup_ms, "simulate_ms": self.simulate_ms},
            "delay_ratio": delay_ratio,
            "schedule": self.schedule,
            "placement": None if self.placement is None else field_of(self.placement),
            "exchange": self.exchange,
            "network": {"populations": populations, "projections": projections},
        }
        found = {name: value for name, value in found.items() if value is not None}
        read_time(found)
        return found


class ScaledOptions(RunOptions):
    """Options of networks with a fraction of the published neurons, and of the synapses of each."""

    scale: float = Field(ge=0.001, le=1, description=SCALE)
    indegree_scale: float | None = Field(
        None,
        ge=0.001,
        le=1,
        description="synapses of each neuron, as a fraction; default: a power of the scale that keeps rates",
    )

    def of_synapses(self, power: float) -> float:
        """The fraction of the synapses; by default that power of the scale."""
        return self.scale**power if self.indegree_scale is None else self.indegree_scale


Chosen = TypeVar("Chosen", bound=Strict)


def choose(kind: type[Chosen], given: dict[str, Any], full: bool, published: dict[str, Any]) -> Chosen:
    """Options of the given `kind`; None stands for the default. Raises BadInput: option, value, expected.

    With `full`, options that are not given take their `published` values.
    """
    if not isinstance(full, bool):
        raise BadInput.of("full", full, "true or false")
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return kind.model_validate((published if full else {}) | given)
    except ValidationError as error:
        raise invalid(error, kind=kind) from None


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, in spikes per neuron and second, with their source.

    They apply if options have the values of `hold_for`. They were compared with those of the preset for
    values of at least `compared_from`. `mean_hz`: of all neurons, if that was published.
    """

    hz: dict[str, float]
    source: str
    hold_for: dict[str, Any] = field(default_factory=dict)
    compared_from: dict[str, float] = field(default_factory=dict)

    @property
    def mean_hz(self) -> float | None:
        return self.hz.get(ALL)
