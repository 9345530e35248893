"""The cells of Brocke & Djurfeldt's study of MUSIC, collective against point-to-point communication.

The study (section 2.4.1) has 2 M = 2 097 152 cells (M = K^2, K = 1024) with 1000 connections, or M / 4 =
262 144 with 10 000, each ± 50 uniformly, with delays of 1 ms. Cells fire at 30 Hz. Applications A, B, ...
send to each other over MUSIC, and the structure parameter s says how far: music_lattice.py states our reading
of it. Here each application has as many areas as processes, one area per rank if there are enough ranks.
Every connection between applications is a lane between their areas with an exchange of its own.

We read the published number of cells as that of all applications together, in equal parts. What differs:
every cell of an application that receives has exactly that many synapses for each connection to it, drawn
with repetition, instead of sending 1000 or 10 000 ± 50; cells only fire instead of integrating; the
applications are parts of one program and advance together.
"""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from spikemark.core.errors import BadInput, shown

from . import music_config
from .music_lattice import Lattice, reach
from .music_wiring import COMMUNICATION, Wiring, wire
from .options import Strict, choose

SUMMARY = "applications of cells on a torus, joined all to all, by neighbours or one to one (MUSIC)"
#: Cells of all applications and connections of a cell, by the name of the configuration (2.4.1).
CELLS = {"1k": (2 * 1024**2, 1000), "10k": (1024**2 // 4, 10_000)}
SMALL = 1 / 512  # share of the published cells that suits a laptop
# A description names every pair of connected tiles; the mini-app takes 32 lanes.
MOST_NEURONS, MOST_PAIRS, MOST_LANES = 4_000_000_000, 2**21, 32
#: What a configuration file sets; these are the defaults without one.
WIRING = {"applications": "A<->B", "np": 4, "communication": "point-to-point"}


class Options(Strict):
    """What `describe` accepts; the defaults suit a laptop."""

    cells: Annotated[
        Literal["1k", "10k"], Field(description="published configuration: connections and number of cells")
    ] = "1k"
    scale: Annotated[
        float, Field(gt=0, le=1, description="share of the published number of cells; connections stay")
    ] = SMALL
    connections: Annotated[
        int | None,
        Field(ge=0, le=MOST_NEURONS, description="synapses of a cell per connection; default: as published"),
    ] = None
    applications: Annotated[
        str | None,
        Field(
            description="who sends to whom: A<->B (default), A<->B,C<->D, A->B->C->D, or others like these"
        ),
    ] = None
    np: Annotated[
        int | None, Field(ge=1, le=4096, description="processes (areas) of an application (default 4)")
    ] = None
    communication: Annotated[
        str | None, Field(description="for every connection: collective or point-to-point (default)")
    ] = None
    config: Annotated[
        str | None, Field(description="a configuration file like MUSIC's, instead of the three above")
    ] = None
    structure: Annotated[
        float, Field(ge=0, le=1, description="s: 0 for all to all, 1 for one to one, neighbours between")
    ] = 0.0
    granularity: Annotated[int, Field(ge=1, le=1024, description="g, tiles along a side of the torus")] = 8
    rate: Annotated[float, Field(ge=0, le=1e6, description="rate, spikes/s")] = 30.0
    delay: Annotated[
        float, Field(gt=0, le=1e6, description="delay of all connections and length of a cycle, ms")
    ] = 1.0
    seed: Annotated[int, Field(ge=0, le=2**53, description="seed of the network")] = 1
    simulate_ms: Annotated[float, Field(gt=0, description="measured time, ms")] = 200.0
    warmup_ms: Annotated[float, Field(ge=0, description="simulated time before the measurement, ms")] = 20.0
    resolution_ms: Annotated[float, Field(gt=0, description="step h, ms")] = 0.1


def describe(full: bool = False, **options) -> dict:
    """The run description (miniapp/FORMAT.md) for `options`, see Options; None stands for the default.

    `full` uses the published number of cells if no scale is given. Raises BadInput naming the option, its
    value and what is allowed, or the line of the configuration file.
    """
    chosen = choose(Options, options, full, {"scale": 1.0})
    wiring = _wiring(chosen)
    lattices = _lattices(chosen, wiring)
    lanes = [
        {
            "name": connection.name,
            "from": _areas(lattices[connection.source]),
            "to": _areas(lattices[connection.target]),
        }
        for connection in wiring.connections
    ]
    return {
        "format_version": 1,
        "seed": chosen.seed,
        "time": {
            "resolution_ms": chosen.resolution_ms,
            "cycle_ms": chosen.delay,
            "warmup_ms": chosen.warmup_ms,
            "simulate_ms": chosen.simulate_ms,
        },
        "schedule": lanes,
        "placement": "area_group",  # neighbouring areas on neighbouring ranks, so applications stay apart
        "exchange": {c.name: COMMUNICATION[c.communication] for c in wiring.connections},
        "network": {
            "populations": [p for lattice in lattices.values() for p in _populations(lattice, chosen.rate)],
            "projections": _projections(chosen, wiring, lattices),
        },
    }


def _wiring(chosen: Options) -> Wiring:
    given = {name: getattr(chosen, name) for name in WIRING if getattr(chosen, name) is not None}
    if chosen.config is not None:
        for name, value in given.items():
            raise BadInput(f"{name}={shown(value)}: not with config, which sets it")
        wiring = music_config.read(Path(chosen.config))
    else:
        settled = WIRING | given
        if settled["communication"] not in COMMUNICATION:
            words = " or ".join(COMMUNICATION)
            raise BadInput(f"communication={shown(settled['communication'])}: allowed are {words}")
        wiring = wire(settled["applications"], settled["np"], settled["communication"])
    if len(wiring.connections) > MOST_LANES:
        raise BadInput(
            f"{len(wiring.connections)} connections between applications: each is a lane, allowed are at most"
            f" {MOST_LANES}"
        )
    return wiring


def _lattices(chosen: Options, wiring: Wiring) -> dict[str, Lattice]:
    """The torus of each application; the published cells in equal parts where its file gives no width."""
    share = int(CELLS[chosen.cells][0] * chosen.scale) // len(wiring.applications)
    lattices = {
        a.name: Lattice(a.name, share if a.cells is None else a.cells, a.processes, chosen.granularity)
        for a in wiring.applications
    }
    cells = sum(lattice.cells for lattice in lattices.values())
    if cells > MOST_NEURONS:
        raise BadInput(f"{cells} cells in all applications: allowed are at most {MOST_NEURONS}")
    window = min(2 * reach(chosen.structure, chosen.granularity) + 1, chosen.granularity)
    pairs = len(wiring.connections) * (chosen.granularity * window) ** 2
    if pairs > MOST_PAIRS:
        raise BadInput(
            f"granularity={chosen.granularity}: with structure={chosen.structure} {pairs} pairs of tiles are"
            f" connected; allowed are at most {MOST_PAIRS}, so take fewer tiles or more structure"
        )
    return lattices


def _areas(lattice: Lattice) -> list[str]:
    return [lattice.area(process) for process in range(lattice.processes)]


def _populations(lattice: Lattice, rate: float) -> list[dict]:
    return [
        {
            "name": lattice.tile(*place),
            "area": lattice.area(lattice.process(*place)),
            "size": lattice.size(*place),
            "neuron": {"model": "ignore_and_fire", "rate_hz": rate},
        }
        for place in lattice.tiles()
    ]


def _projections(chosen: Options, wiring: Wiring, lattices: dict[str, Lattice]) -> list[dict]:
    """One for every tile and connection to it."""
    indegree = CELLS[chosen.cells][1] if chosen.connections is None else chosen.connections
    return [
        {
            "source": lattices[connection.source].window(*place, chosen.structure),
            "target": lattices[connection.target].tile(*place),
            "indegree": indegree,
            "delay": {"distribution": "constant", "mean": chosen.delay},
        }
        for connection in wiring.connections
        for place in lattices[connection.target].tiles()
    ]
