"""The cells of one application on a torus: tiles, the patches of its processes, and the sources of a tile.

The cells lie on a square lattice on the unit torus, which is cut into g x g tiles. The cells of a tile are
one population: they have the same sources. A tile receives from the tiles whose centres lie within the square
of side 1 - s around its own centre: with s = 0 from all, with s = 1 from its own place only.

The processes own the patches of a grid of rows x columns, as square as their number allows. Where the window
reaches no further than one patch on each side, `reach` <= shortest side of a patch in tiles, a patch
receives from at most nine. That is our reading of the paper's s > g, whose g is coarser: the share of a side
that a process owns.
"""

import math
from dataclasses import dataclass

from spikemark.core.errors import BadInput


def reach(structure: float, granularity: int) -> int:
    """Tiles that the window extends to each side of its own: (1 - s) g / 2, rounded down."""
    return math.floor((1 - structure) * granularity / 2 + 1e-9)


@dataclass(frozen=True)
class Lattice:
    """The torus of one application: `cells` in `granularity`^2 tiles, owned by `processes`."""

    name: str
    cells: int
    processes: int
    granularity: int

    def __post_init__(self) -> None:
        rows, columns = self.grid
        if columns > self.granularity:
            raise BadInput(
                f"granularity={self.granularity}: {self.name} has {self.processes} processes, as {rows} x"
                f" {columns} patches; allowed are at least {columns} tiles along a side"
            )
        if self.granularity**2 > self.cells:
            raise BadInput(
                f"granularity={self.granularity}: {self.granularity**2} tiles for {self.cells} cells of"
                f" {self.name}; allowed are at most {math.isqrt(self.cells)} along a side, or more cells"
            )

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches: the pair of divisors of the processes that is closest to a square."""
        rows = next(r for r in range(math.isqrt(self.processes), 0, -1) if self.processes % r == 0)
        return rows, self.processes // rows

    def process(self, row: int, column: int) -> int:
        """The process that owns the tile."""
        rows, columns = self.grid
        return row * rows // self.granularity * columns + column * columns // self.granularity

    def area(self, process: int) -> str:
        """The name of the area of a process."""
        return f"{self.name}/{process}"

    def tile(self, row: int, column: int) -> str:
        """The name of the population that a tile makes."""
        return f"{self.area(self.process(row, column))}/{row},{column}"

    def tiles(self) -> list[tuple[int, int]]:
        """Rows and columns of all tiles, process by process."""
        every = [(row, column) for row in range(self.granularity) for column in range(self.granularity)]
        return sorted(every, key=lambda place: (self.process(*place), place))

    def size(self, row: int, column: int) -> int:
        """Cells of the tile; with a remainder the first tiles have one more."""
        whole, rest = divmod(self.cells, self.granularity**2)
        return whole + (row * self.granularity + column < rest)

    def window(self, row: int, column: int, structure: float) -> list[str]:
        """The tiles of this torus that the cells at a place receive from, here or in another application."""
        far = reach(structure, self.granularity)
        places = range(self.granularity)

        def near(centre: int) -> list[int]:
            return [x for x in places if min((x - centre) % len(places), (centre - x) % len(places)) <= far]

        return [self.tile(r, c) for r in near(row) for c in near(column)]
