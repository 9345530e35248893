"""The cells of Brocke & Djurfeldt's study of MUSIC, collective against point-to-point communication.

Published (2.4.1): cells that fire at 30 Hz and have 1000 or 10 000 ± 50 connections with a delay of 1 ms,
dealt to processes that send to all others, to one other, or to at most nine. Here areas take the place of
processes. What differs: every neuron receives the same number of connections instead of sending a uniform
number, sources are drawn with repetition, cells only fire instead of integrating, they are one program
instead of two applications joined by MUSIC, and a run has as many cells as a laptop holds.
"""

import math
from typing import Annotated, Literal

from pydantic import Field

from spikemark.errors import BadInput
from spikemark.presets.options import Strict, choose

SUMMARY = "areas that project to all areas, to themselves and one other, or to nine on a torus (MUSIC)"
MOST_NEURONS, MOST_AREAS = 4_000_000_000, 4096  # the mini-app's own; a description names pairs of areas

#: Connectivity by name: the areas that `area` receives from.
SOURCES = {
    "all": lambda area, areas: range(areas),
    "one": lambda area, areas: {(area - 1) % areas, area},
    "nine": lambda area, areas: _torus(area, math.isqrt(areas)),
}


class Options(Strict):
    """What `describe` accepts; the defaults suit a laptop."""

    areas: Annotated[int, Field(ge=1, le=MOST_AREAS, description="areas")] = 16
    neurons_per_area: Annotated[int, Field(ge=1, le=MOST_NEURONS, description="neurons per area")] = 250
    connectivity: Annotated[
        Literal["all", "one", "nine"],
        Field(description="areas that an area projects to: all, itself and one, or nine on a square torus"),
    ] = "all"
    connections: Annotated[int, Field(ge=0, le=MOST_NEURONS, description="connections per neuron")] = 100
    rate: Annotated[float, Field(ge=0, le=1e6, description="rate, spikes/s")] = 30.0
    delay: Annotated[
        float, Field(gt=0, le=1e6, description="delay of all connections and length of a cycle, ms")
    ] = 1.0
    seed: Annotated[int, Field(ge=0, le=2**53, description="seed of the network")] = 1
    schedule: Annotated[str, Field(description="a schedule of the mini-app")] = "placement_only"
    exchange: Annotated[
        str | None, Field(description="an exchange of the mini-app; by default it chooses for each lane")
    ] = None
    simulate_ms: Annotated[float, Field(gt=0, description="measured time, ms")] = 200.0
    warmup_ms: Annotated[float, Field(ge=0, description="time simulated first, not measured, ms")] = 20.0
    resolution_ms: Annotated[float, Field(gt=0, description="step h, ms")] = 0.1


def describe(**options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    Raises BadInput naming the option, its value and what is allowed.
    """
    chosen = choose(Options, options)
    areas, side = chosen.areas, math.isqrt(chosen.areas)
    if chosen.connectivity == "nine" and (side**2 != areas or side < 3):
        raise BadInput(
            f"areas={areas}: nine neighbours on a torus take the square of a whole number from 3, as 9 or 16"
        )
    if areas * chosen.neurons_per_area > MOST_NEURONS:
        raise BadInput(
            f"neurons_per_area={chosen.neurons_per_area}: {areas} areas have"
            f" {areas * chosen.neurons_per_area} neurons together; allowed are {MOST_NEURONS}"
        )
    names = [f"area{number}" for number in range(areas)]
    neuron = {"model": "ignore_and_fire", "rate_hz": chosen.rate}
    sources = SOURCES[chosen.connectivity]
    return {
        "format_version": 1,
        "seed": chosen.seed,
        "time": {
            "resolution_ms": chosen.resolution_ms,
            "cycle_ms": chosen.delay,
            "warmup_ms": chosen.warmup_ms,
            "simulate_ms": chosen.simulate_ms,
        },
        "delay_ratio": 1,
        "schedule": chosen.schedule,
        **({} if chosen.exchange is None else {"exchange": chosen.exchange}),
        "network": {
            "populations": [
                {"name": name, "area": name, "size": chosen.neurons_per_area, "neuron": neuron}
                for name in names
            ],
            "projections": [
                {
                    "source": [names[source] for source in sorted(sources(area, areas))],
                    "target": name,
                    "indegree": chosen.connections,
                    "delay": {"distribution": "constant", "mean": chosen.delay},
                }
                for area, name in enumerate(names)
            ],
        },
    }


def _torus(area: int, side: int) -> set[int]:
    """The area and its eight neighbours on a torus of side x side areas."""
    row, column = divmod(area, side)
    around = (-1, 0, 1)
    return {(row + r) % side * side + (column + c) % side for r in around for c in around}
