"""The cells of Brocke & Djurfeldt's study of MUSIC, collective against point-to-point communication.

The study (section 2.4.1) has 2 M = 2 097 152 cells (M = K^2, K = 1024) with 1000 connections, or M / 4 =
262 144 with 10 000, each ± 50 uniformly, with delays of 1 ms. Cells fire at 30 Hz. These are cells of one
application: captions of its figures say 1/2 M and 4 M for two applications, and 1 M for four. Applications
A, B, ... send to each other over MUSIC, and the structure parameter s says how far. Here each application has
as many areas as processes, one area per rank if there are enough ranks. Every connection between applications
is a lane between their areas with an exchange of its own: MUSIC's collective is an allgather of sizes, then
of data; its point-to-point communication sends a message to each process that needs one.

Cells lie on a square lattice on the unit torus, cut into g x g tiles. The cells of a tile are one population:
they have the same sources. A tile receives from the tiles whose centres lie within the square of side 1 - s
around its own centre: with s = 0 from all, with s = 1 from its own place only. The paper gives the two ends;
the side between them is our definition. The processes own the patches of a grid of rows x columns, as square
as their number allows. Where the window reaches no further than one patch on each side, a patch receives from
at most nine. That is our reading of the paper's s > g, whose g is coarser: the share of a side that a process
owns.

What differs: every cell of an application that receives has exactly that many synapses for each connection to
it, drawn with repetition, instead of sending 1000 or 10 000 ± 50; cells only fire instead of integrating; the
applications are parts of one program and advance together.
"""

import math
import re
from itertools import product
from typing import Literal

from spikemark.core.errors import BadInput, shown
from spikemark.network.exchanges import most_equal

from .options import Strict, option

SUMMARY = "applications of cells on a torus, joined all to all, by neighbours or one to one (MUSIC)"
#: Cells of an application and connections of a cell, by the name of the configuration (2.4.1).
CELLS = {"1k": (2 * 1024**2, 1000), "10k": (1024**2 // 4, 10_000)}
SMALL = 1 / 1024  # share of the published cells that suits a laptop
COMMUNICATION = {"collective": "allgatherv", "point-to-point": "p2p"}  # -> exchange of the mini-app
# A description names every pair of connected tiles; the mini-app takes 32 lanes.
MOST_PAIRS, MOST_LANES = 2**21, 32
_LABEL = r"[A-Za-z_]\w*"
_CHAIN = re.compile(rf"{_LABEL}(?:\s*<?->\s*{_LABEL})+", re.ASCII)
Place = tuple[int, int]  # row and column of a tile


class Options(Strict):
    """What `describe` accepts; the defaults suit a laptop. `full` is the published number of cells."""

    cells: Literal["1k", "10k"] = option(
        "1k", "published configuration: cells of an application, and their connections"
    )
    scale: float = option(SMALL, "share of the published number of cells; connections stay", gt=0, le=1)
    connections: int | None = option(None, "synapses of a cell per connection; default: as published", ge=0)
    applications: str = option("A<->B", "who sends to whom: A<->B,C<->D, A->B->C->D, or others like these")
    np: int = option(4, "processes (areas) of an application", ge=1, le=4096)
    communication: Literal["collective", "point-to-point"] = option(
        "point-to-point", "for every connection: collective or point-to-point"
    )
    structure: float = option(0.0, "s: 0 for all to all, 1 for one to one, neighbours between", ge=0, le=1)
    granularity: int = option(8, "g, tiles along a side of the torus", ge=1, le=1024)
    rate: float = option(30.0, "rate, spikes/s", ge=0, le=1e6)
    delay: float = option(1.0, "delay of all connections and length of a cycle, ms", gt=0, le=1e6)
    seed: int = option(1, "seed of the network", ge=0, le=2**53)
    simulate_ms: float = option(200.0, "measured time, ms", gt=0)
    warmup_ms: float = option(20.0, "simulated time before the measurement, ms", ge=0)
    resolution_ms: float = option(0.1, "step h, ms", gt=0)

    def description(self) -> dict:
        """Neighbouring areas are on neighbouring ranks, so applications stay apart."""
        share, indegree = CELLS[self.cells]
        connections, g = _connections(self.applications), self.granularity
        cells, columns, far = int(share * self.scale), most_equal(self.np, 2)[1], reach(self.structure, g)
        names = list(dict.fromkeys(name for pair in connections for name in pair))
        pairs = len(connections) * (g * min(2 * far + 1, g)) ** 2
        self.expect(
            (len(connections) <= MOST_LANES, "applications", f"at most {MOST_LANES} connections"),
            (columns <= g, "granularity", f"at least {columns} tiles along a side for np={self.np}"),
            (g**2 <= cells, "granularity", f"at most {math.isqrt(cells)} along a side for {cells} cells"),
            (pairs <= MOST_PAIRS, "granularity", f"at most {MOST_PAIRS} connected pairs of tiles"),
        )
        owners = owners_of(self.np, g)
        tiles = {name: {p: f"{name}/{owner}/{p[0]},{p[1]}" for p, owner in owners.items()} for name in names}
        areas = {name: [f"{name}/{process}" for process in range(self.np)] for name in names}
        neuron = {"model": "ignore_and_fire", "rate_hz": self.rate}
        whole, rest = divmod(cells, g**2)  # with a remainder the first tiles have one more
        populations = [
            {"name": tiles[name][row, column], "area": areas[name][owner],
             "size": whole + (row * g + column < rest), "neuron": neuron}
            for name in names for (row, column), owner in owners.items()
        ]  # fmt: skip
        indegree = indegree if self.connections is None else self.connections
        delay = {"distribution": "constant", "mean": self.delay}
        projections = [
            {"source": [tiles[source][p] for p in window(place, far, g)], "target": tiles[target][place],
             "indegree": indegree, "delay": delay}
            for source, target in connections for place in owners
        ]  # fmt: skip
        lanes = [{"name": f"{a}-{b}", "from": areas[a], "to": areas[b]} for a, b in connections]
        exchange = {lane["name"]: COMMUNICATION[self.communication] for lane in lanes}
        run = {"schedule": lanes, "placement": "area_group", "exchange": exchange}
        return self.run(populations, projections, self.resolution_ms, self.delay, **run)


describe = Options.describe


def owners_of(processes: int, granularity: int) -> dict[Place, int]:
    """The process that owns each tile, process by process, in patches as square as their number allows."""
    rows, columns = most_equal(processes, 2)
    owners = {
        (row, column): row * rows // granularity * columns + column * columns // granularity
        for row in range(granularity)
        for column in range(granularity)
    }
    return dict(sorted(owners.items(), key=lambda tile: tile[1]))


def window(place: Place, far: int, granularity: int) -> list[Place]:
    """The tiles that the cells at a place receive from, `far` tiles to each side, here or elsewhere."""
    g = granularity
    return list(product(*([x for x in range(g) if min((x - at) % g, (at - x) % g) <= far] for at in place)))


def reach(structure: float, granularity: int) -> int:
    """Tiles that the window extends to each side of its own: (1 - s) g / 2, rounded down."""
    return math.floor((1 - structure) * granularity / 2 + 1e-9)


def _connections(text: str) -> list[tuple[str, str]]:
    """Pairs of applications, sender and receiver, from chains as "A<->B,C<->D" or "A->B->C->D"."""
    found = []
    for chain in map(str.strip, text.split(",")):
        if not _CHAIN.fullmatch(chain):
            expected = "chains of names with arrows, as A<->B or A->B->C->D, separated by commas"
            raise BadInput(f"applications={shown(text)}: {shown(chain)}; expected {expected}")
        first, *rest = re.split(r"\s*(<?->)\s*", chain)
        for arrow, second in zip(rest[::2], rest[1::2], strict=True):
            found += [(first, second)] + [(second, first)] * (arrow == "<->")
            first = second
    if len(set(found)) < len(found):
        raise BadInput.of("applications", text, "one connection from one application to another")
    return found
