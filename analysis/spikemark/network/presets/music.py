"""The cells of Brocke & Djurfeldt's study of MUSIC: collective or point-to-point communication.

The study (section 2.4.1) has 2 M = 2 097 152 cells (M = K^2, K = 1024) with 1000 connections, or M
/ 4 = 262 144 with 10 000, each ± 50 uniformly, with delays of 1 ms. Cells fire at 30 Hz. These are
cells of one application: captions of its figures say 1/2 M and 4 M for two applications, and 1 M
for four. Applications A, B, ... send to each other over MUSIC, and the structure parameter s says
how far. Here each application has as many areas as processes, one area per rank if there are enough
ranks. Every connection between applications is a lane between their areas with an exchange of its
own: MUSIC's collective is an allgather of sizes, then of data; its point-to-point communication
sends a message to each process that needs one.

Cells lie on a square lattice on the unit torus, cut into g x g tiles. The cells of a tile are one
population:
they have the same sources. A tile receives from the tiles whose centres lie within the square of
side 1 - s around its own centre: with s = 0 from all, with s = 1 from its own place only. The paper
gives the two ends; the side between them is our definition. The processes own the patches of a grid
of rows x columns, as square as their number allows. Where the window reaches no further than one
patch on each side, a patch receives from at most nine. That is our reading of the paper's s > g,
whose g is coarser: the share of a side that a process owns.

What differs: every cell of an application that receives has exactly that many synapses for each
connection to it, drawn with repetition, instead of sending 1000 or 10 000 ± 50; cells only fire
instead of integrating; the applications are parts of one program and advance together.
"""

import math
import re
from typing import Any, Literal

from spikemark.core.errors import BadInput, short_repr
from spikemark.network.exchanges import most_equal

from .options import StrictOptions, option

SUMMARY = "applications of cells on a torus, joined all to all, by neighbours or one to one (MUSIC)"
#: Cells of an application and connections of a cell, by the name of the configuration (2.4.1).
CELLS = {"1k": (2 * 1024**2, 1000), "10k": (1024**2 // 4, 10_000)}
#: Share of the published cells that suits a laptop.
SMALL = 1 / 1024
#: Exchange of the mini-app, by kind of communication.
COMMUNICATION = {"collective": "allgatherv", "point-to-point": "p2p"}
#: Pairs of connected tiles, each of which a description names; lanes that the mini-app takes.
MAX_PAIRS, MAX_LANES = 2**21, 32
_LABEL = r"[A-Za-z_]\w*"
_CHAIN = re.compile(rf"{_LABEL}(?:\s*<?->\s*{_LABEL})+", re.ASCII)
Place = tuple[int, int]  # row and column of a tile


class MusicOptions(StrictOptions):
    """What `describe` accepts; the defaults suit a laptop.

    `full` is the published number of cells.
    """

    cells: Literal["1k", "10k"] = option(
        "1k", "published configuration: cells of an application, and their connections"
    )
    scale: float = option(
        SMALL, "share of the published number of cells; connections stay", gt=0, le=1
    )
    connections: int | None = option(
        None, "synapses of a cell per connection; default: as published", ge=0
    )
    applications: str = option(
        "A<->B", "who sends to whom: A<->B,C<->D, A->B->C->D, or others like these"
    )
    np: int = option(
        4,
        "processes (areas) of an application",
        ge=1,
        le=4096,
    )
    communication: Literal["collective", "point-to-point"] = option(
        "point-to-point", "for every connection: collective or point-to-point"
    )
    structure: float = option(
        0.0, "s: 0 for all to all, 1 for one to one, neighbours between", ge=0, le=1
    )
    granularity: int = option(
        8,
        "g, tiles along a side of the torus",
        ge=1,
        le=1024,
    )
    rate: float = option(30.0, "rate, spikes/s", ge=0, le=1e6)
    delay: float = option(
        1.0,
        "delay of all connections and length of a cycle, ms",
        gt=0,
        le=1e6,
    )
    seed: int = option(1, "seed of the network", ge=0, le=2**53)
    simulate_ms: float = option(200.0, "measured time, ms", gt=0)
    warmup_ms: float = option(
        20.0,
        "simulated time before the measurement, ms",
        ge=0,
    )
    resolution_ms: float = option(0.1, "step h, ms", gt=0)

    def description(self) -> dict[str, Any]:
        """The run description.

        Neighbouring areas are on neighbouring ranks, so applications stay apart.
        """
        connections = _connections(self.applications)
        applications: dict[str, None] = {}
        for sender, receiver in connections:
            applications[sender] = applications[receiver] = None
        self._check_size(len(connections))
        owners = owners_of(self.np, self.granularity)
        populations: list[dict[str, Any]] = []
        for application in applications:
            populations += self._populations(application, owners)
        projections: list[dict[str, Any]] = []
        for sender, receiver in connections:
            projections += self._projections(sender, receiver, owners)
        lanes = []
        for sender, receiver in connections:
            ends = {"from": self._areas(sender), "to": self._areas(receiver)}
            lanes.append({"name": f"{sender}-{receiver}", **ends})
        exchange = {lane["name"]: COMMUNICATION[self.communication] for lane in lanes}
        return self.run(
            populations,
            projections,
            self.resolution_ms,
            self.delay,
            schedule=lanes,
            placement="area_group",
            exchange=exchange,
        )

    @property
    def cells_of_application(self) -> int:
        """Number of cells of each application."""
        published, _ = CELLS[self.cells]
        return int(published * self.scale)

    def _check_size(self, connections: int) -> None:
        """Raises BadInput for more connections or tiles than there can be."""
        g, cells = self.granularity, self.cells_of_application
        columns = most_equal(self.np, 2)[1]
        side = min(2 * reach(self.structure, g) + 1, g)  # tiles along a side of a window
        pairs = connections * (g * side) ** 2
        tiles = f"at least {columns} tiles along a side for np={self.np}"
        most_tiles = f"at most {math.isqrt(cells)} along a side for {cells} cells"
        most_pairs = f"at most {MAX_PAIRS} connected pairs of tiles"
        self.expect(connections <= MAX_LANES, "applications", f"at most {MAX_LANES} connections")
        self.expect(columns <= g, "granularity", tiles)
        self.expect(g**2 <= cells, "granularity", most_tiles)
        self.expect(pairs <= MAX_PAIRS, "granularity", most_pairs)

    def _areas(self, application: str) -> list[str]:
        """Names of the areas of an application, one for each process."""
        return [f"{application}/{process}" for process in range(self.np)]

    def _populations(self, application: str, owners: dict[Place, int]) -> list[dict[str, Any]]:
        """The tiles of an application; with a remainder the first ones have one cell more."""
        g = self.granularity
        cells_per_tile, remainder = divmod(self.cells_of_application, g**2)
        areas = self._areas(application)
        neuron = {"model": "ignore_and_fire", "rate_hz": self.rate}
        populations = []
        for place, owner in owners.items():
            row, column = place
            size = cells_per_tile
            if row * g + column < remainder:
                size += 1
            name = _tile(application, place, owners)
            populations.append(
                {"name": name, "area": areas[owner], "size": size, "neuron": dict(neuron)}
            )
        return populations

    def _projections(
        self, sender: str, receiver: str, owners: dict[Place, int]
    ) -> list[dict[str, Any]]:
        """The synapses of a connection, a pool of tiles onto each tile."""
        _, indegree = CELLS[self.cells]
        if self.connections is not None:
            indegree = self.connections
        delay = {"distribution": "constant", "mean": self.delay}
        far = reach(self.structure, self.granularity)
        projections = []
        for place in owners:
            places = window(place, far, self.granularity)
            projections.append(
                {
                    "source": [_tile(sender, source, owners) for source in places],
                    "target": _tile(receiver, place, owners),
                    "indegree": indegree,
                    "delay": dict(delay),
                }
            )
        return projections


describe = MusicOptions.describe


def _tile(application: str, place: Place, owners: dict[Place, int]) -> str:
    """Name of the population of a tile."""
    row, column = place
    return f"{application}/{owners[place]}/{row},{column}"


def owners_of(processes: int, granularity: int) -> dict[Place, int]:
    """The process that owns each tile, process by process.

    Patches of tiles are as square as the number of processes allows.

    Example:
        >>> owners_of(processes=2, granularity=2)
        {(0, 0): 0, (1, 0): 0, (0, 1): 1, (1, 1): 1}
    """
    rows, columns = most_equal(processes, 2)
    owners = {}
    for row in range(granularity):
        for column in range(granularity):
            patch_row = row * rows // granularity
            patch_column = column * columns // granularity
            owners[row, column] = patch_row * columns + patch_column
    return dict(sorted(owners.items(), key=lambda tile: tile[1]))


def window(place: Place, far: int, granularity: int) -> list[Place]:
    """The tiles that the cells at a place receive from, `far` tiles to each side.

    Example:
        >>> window((0, 0), far=0, granularity=4)
        [(0, 0)]
    """
    row, column = place
    places = []
    for source_row in _around(row, far, granularity):
        for source_column in _around(column, far, granularity):
            places.append((source_row, source_column))
    return places


def _around(centre: int, far: int, granularity: int) -> list[int]:
    """Places on a circle that are at most so far from a centre, ascending."""
    places = []
    for place in range(granularity):
        distance = min((place - centre) % granularity, (centre - place) % granularity)
        if distance <= far:
            places.append(place)
    return places


def reach(structure: float, granularity: int) -> int:
    """Tiles that the window extends to each side of its own: (1 - s) g / 2, rounded down.

    Example:
        >>> reach(0.1, granularity=100)
        45
    """
    return math.floor((1 - structure) * granularity / 2 + 1e-9)


def _connections(text: str) -> list[tuple[str, str]]:
    """Pairs of applications, sender and receiver, from chains as "A<->B,C<->D" or "A->B->C->D"."""
    pairs: list[tuple[str, str]] = []
    for part in text.split(","):
        chain = part.strip()
        if not _CHAIN.fullmatch(chain):
            expected = "chains of names with arrows, as A<->B or A->B->C->D, separated by commas"
            raise BadInput(
                field="applications", value=text, reason=short_repr(chain), expected=expected
            )
        sender, *rest = re.split(r"\s*(<?->)\s*", chain)
        for arrow, receiver in zip(rest[::2], rest[1::2], strict=True):
            pairs.append((sender, receiver))
            if arrow == "<->":
                pairs.append((receiver, sender))
            sender = receiver
    if len(set(pairs)) < len(pairs):
        expected = "one connection from one application to another"
        raise BadInput(
            field="applications",
            value=text,
            expected=expected,
        )
    return pairs
