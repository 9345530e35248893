"""Options that say how a network is run, for presets whose network does not depend on them."""

from typing import Annotated

from pydantic import Field

from spikemark.presets.options import Strict


class RunOptions(Strict):
    """Schedule, placement, exchange and times; a preset overrides the defaults that do not suit it."""

    seed: Annotated[int, Field(ge=0, le=2**53, description="seed of the network")] = 1
    schedule: Annotated[str, Field(description="a schedule of the mini-app")] = "conventional"
    placement: Annotated[
        str | None, Field(description="a placement of the mini-app; default: what the schedule implies")
    ] = None
    exchange: Annotated[
        str | None, Field(description="an exchange of the mini-app; by default it chooses for each lane")
    ] = None
    simulate_ms: Annotated[float, Field(gt=0, description="measured time, ms")] = 1000.0
    warmup_ms: Annotated[float, Field(ge=0, description="time simulated first, not measured, ms")] = 500.0

    def described(self, populations: list[dict], projections: list[dict], delay_ratio: int = 1) -> dict:
        """The run description (miniapp/FORMAT.md) of that network; the step and the cycle last 0.1 ms."""
        return {
            "format_version": 1,
            "seed": self.seed,
            "time": {
                "resolution_ms": 0.1,
                "cycle_ms": 0.1,
                "warmup_ms": self.warmup_ms,
                "simulate_ms": self.simulate_ms,
            },
            "delay_ratio": delay_ratio,
            "schedule": self.schedule,
            **({} if self.placement is None else {"placement": self.placement}),
            **({} if self.exchange is None else {"exchange": self.exchange}),
            "network": {"populations": populations, "projections": projections},
        }
