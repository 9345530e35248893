"""Options of networks with a published size: how they are run, and how much smaller they are."""

from typing import Annotated, Any, TypeVar

from pydantic import Field, ValidationInfo, field_validator

from spikemark.core.errors import shown
from spikemark.network.description import read_time
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.placement import check_name
from spikemark.network.placement_field import field_of
from spikemark.network.schedules import SCHEDULES

from .options import Strict, choose


class RunOptions(Strict):
    """Schedule, placement, exchange and times; a preset overrides the defaults that do not suit it."""

    seed: Annotated[int, Field(ge=0, le=2**53, description="seed of the network")] = 1
    schedule: Annotated[str, Field(description="a schedule of the mini-app")] = "conventional"
    placement: Annotated[
        str | None,
        Field(
            description="a placement of the mini-app, or a placement file; default: what the schedule implies"
        ),
    ] = None
    exchange: Annotated[
        str | None, Field(description="an exchange of the mini-app; by default it chooses for each lane")
    ] = None
    simulate_ms: Annotated[float, Field(gt=0, description="measured time, ms")] = 1000.0
    warmup_ms: Annotated[float, Field(ge=0, description="simulated time before the measurement, ms")] = 500.0

    @field_validator("schedule", "exchange")
    @classmethod
    def _known(cls, name: str | None, about: ValidationInfo) -> str | None:
        allowed = SCHEDULES if about.field_name == "schedule" else EXCHANGES
        if name is not None and name not in allowed:
            raise ValueError(f"{about.field_name}={shown(name)}: allowed are {', '.join(allowed)}")
        return name

    @field_validator("placement")
    @classmethod
    def _placed(cls, name: str | None) -> str | None:
        if name is not None:
            check_name(name)
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
        found = {
            "format_version": 1,
            "seed": self.seed,
            "time": {
                "resolution_ms": resolution_ms,
                "cycle_ms": cycle_ms,
                "warmup_ms": self.warmup_ms,
                "simulate_ms": self.simulate_ms,
            },
            **({} if delay_ratio is None else {"delay_ratio": delay_ratio}),
            "schedule": self.schedule,
            **({} if self.placement is None else {"placement": field_of(self.placement)}),
            **({} if self.exchange is None else {"exchange": self.exchange}),
            "network": {"populations": populations, "projections": projections},
        }
        read_time(found)
        return found


class ScaledOptions(RunOptions):
    """Options of networks with a fraction of the published neurons, and of the synapses of each."""

    scale: Annotated[float, Field(ge=0.001, le=1, description="neurons, as a fraction of the published ones")]
    indegree_scale: Annotated[
        float | None,
        Field(
            ge=0.001,
            le=1,
            description="synapses of each neuron, as a fraction; default: a power of the scale that keeps "
            "rates",
        ),
    ] = None


Scaled = TypeVar("Scaled", bound=ScaledOptions)


def choose_scaled(kind: type[Scaled], full: bool, given: dict[str, Any], power: float) -> Scaled:
    """Options of the given `kind`, whose `indegree_scale` is by default that power of the scale.

    `full` means the scale 1 if none is given. Raises BadInput: option, value, allowed.
    """
    chosen = choose(kind, given, full, {"scale": 1.0})
    if chosen.indegree_scale is None:
        chosen.indegree_scale = chosen.scale**power
    return chosen
