"""Machines with slow nodes and with two generations, and the schedules that are tried on them."""

from dataclasses import dataclass, replace
from functools import lru_cache

from spikemark import machines
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Value
from spikemark.network.description import read
from spikemark.prediction import rates
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Counting, Loads
from spikemark.presets import mam_benchmark

LAGGED, USUAL, SLOW = "overlapped", "usual", "slow"
SLOWER = (1.05, 1.2, 1.5, 2.0)


@dataclass(frozen=True)
class Way:
    """A schedule with its D and lag."""

    schedule: str
    delay_ratio: int = 1
    lag: int = 0

    @property
    def words(self) -> str:
        name = self.schedule.replace("_", "-")
        if self.schedule == "conventional":
            return name
        return f"{name}, D = {self.delay_ratio}" + (f", lag {self.lag}" if self.lag else "")


FEW_WAYS = (
    Way("conventional"), *(Way("structure_aware", d) for d in (1, 2, 5, 10)), Way(LAGGED, 10, 1),
)  # fmt: skip
WAYS = (
    Way("conventional"),
    *(Way("structure_aware", d) for d in range(1, 11)),
    *(Way(LAGGED, 10, lag) for lag in (1, 4, 9)),
)


@dataclass(frozen=True)
class Variant:
    """Ranks by part. `slower`: how many times as long the slow part takes; None: as its file says."""

    on: dict[str, int]
    slower: float | None = None


@dataclass(frozen=True, eq=False)
class Setting:
    """A machine of which variants are compared with the first one, each with `ranks` ranks on as many nodes.

    The network is the full benchmark of the multi-area model with an area on each rank.
    """

    key: str
    name: str  # of its tables
    title: str
    profile: str
    ranks: int
    ways: tuple[Way, ...]
    variants: dict[str, Variant]

    @property
    def base(self) -> str:
        """The variant that the others are compared with."""
        return next(iter(self.variants))

    @property
    def others(self) -> list[str]:
        return list(self.variants)[1:]

    @property
    def machine(self) -> Machine:
        """The machine with what is unknown assumed, and enough nodes in each part."""
        found = _filled(self.profile)
        enough = {name: replace(part, nodes=self.ranks) for name, part in found.parts.items()}
        return replace(found, parts=enough)

    def machine_of(self, variant: str) -> Machine:
        """The machine with the slow part of a variant."""
        found, factor = self.machine, self.variants[variant].slower
        if factor is None:
            return found
        value = Value(factor, "1", "assumed", "what the study asks", (factor, factor))
        return replace(found, parts={**found.parts, SLOW: replace(found.parts[SLOW], slower=value)})

    def layout(self, variant: str) -> Layout:
        """A rank on each node."""
        return Layout.of(self.machine, self.ranks, self.threads, 1, self.variants[variant].on)

    @property
    def threads(self) -> int:
        """Threads of a rank: the cores of the node that has the fewest."""
        found = self.machine
        return min(round(part.profile.need("node.cores", "placing").value) for part in found.parts.values())

    def loads(self, way: Way) -> Loads:
        """The loads of the network, which are the same on all machines."""
        changed = {"lag": way.lag} if way.lag else {}
        counting = _counting(self.ranks)
        return counting.loads(self.ranks, self.threads, way.schedule, delay_ratio=way.delay_ratio, **changed)


@lru_cache(maxsize=4)
def _filled(profile: str) -> Machine:
    return machines.filled(machines.load_any(profile))


@lru_cache(maxsize=4)
def _counting(ranks: int) -> Counting:
    description = read(mam_benchmark.describe(full=True, areas=ranks, delay_ratio=10))
    return Counting(description, rates.of(description).hz)


_EQUAL, _OLDER = {"equal": Variant({USUAL: 128})}, {"all older": Variant({"older": 32})}
_ONE = _EQUAL | {f"{f:g}": Variant({USUAL: 127, SLOW: 1}, f) for f in SLOWER}
_FEW = _EQUAL | {"6 of 128 slow": Variant({USUAL: 122, SLOW: 6})}
_AGES = _OLDER | {
    "half of them newer": Variant({"older": 16, "newer": 16}),
    "all newer": Variant({"newer": 32}),
}
#: One slow node, one slow node in twenty, and two generations.
SETTINGS = (
    Setting("one slow node", "slow_node", "One slow node in 128", "slow-nodes", 128, WAYS, _ONE),
    Setting("slow nodes", "slow_nodes", "One node in twenty is slow", "slow-nodes", 128, FEW_WAYS, _FEW),
    Setting("two generations", "generations", "Two generations", "two-generations", 32, FEW_WAYS, _AGES),
)
