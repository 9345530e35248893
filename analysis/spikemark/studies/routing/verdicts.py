"""Which way is fastest on which machine, from how many bytes on nothing beats sending directly.

Times are those of `spikemark predict` for the exchange p2p, of ranks that have a node each.
"""

from dataclasses import astuple, dataclass, replace
from functools import cache, lru_cache

import numpy as np

from spikemark import machines
from spikemark.machines.inputs import Inputs
from spikemark.prediction import exchange
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.intervals import predicted
from spikemark.prediction.partition import routed
from spikemark.quantities.quantity import Quantity, missing

from .loads import Placed, Way

BACK_END = "p2p"
SCAN = np.logspace(-2, 4, 31)  # D for which the fastest way is looked for
LATENCY, BANDWIDTH = "interconnect.latency", "interconnect.bandwidth"


@dataclass(frozen=True)
class Schedule:
    """D in cycles of the brain, and the lag: a window is D / (lag + 1) cycles."""

    delay_ratio: float
    lag: int = 0

    @property
    def window(self) -> float:
        return self.delay_ratio / (self.lag + 1)

    @property
    def words(self) -> str:
        return f"D = {self.delay_ratio:g}" + (f", lag {self.lag}" if self.lag else "")


SCHEDULES = (Schedule(1), Schedule(10), Schedule(10, 1))


@lru_cache(maxsize=1)
def profiles() -> dict[str, object]:
    """Profiles that state latency and bandwidth between nodes, by name; of equal networks the first."""
    found, known = {}, set()
    for name in machines.names():
        profile = machines.load(name)
        network = tuple(profile.get(path) and profile.get(path).value for path in (LATENCY, BANDWIDTH))
        if None not in network and network not in known:
            known.add(network)
            found[name] = machines.filled(profile)
    return found


def seconds(net: Collectives, placed: Placed, way: Way, cycles: float) -> list[float]:
    """Seconds of each hop of an exchange of so many cycles."""
    back_end = exchange.EXCHANGES[BACK_END]
    return routed.of_sums(net, placed.sums[way], placed.words * cycles, back_end)


def cost(net: Collectives, placed: Placed, way: Way, schedule: Schedule) -> float:
    """Seconds of exchange per simulated second that ranks cannot hide.

    With a lag, the first hop goes on while ranks compute, who take the time that a cycle simulates; the
    others begin when the window is due, as in two_level.
    """
    first, *others = seconds(net, placed, way, schedule.window)
    window_s = 1e-3 * placed.cycle_ms * schedule.window
    hidden = min(first, schedule.lag * window_s)
    return (first - hidden + sum(others)) / window_s


def fastest(net: Collectives, placed: Placed, schedule: Schedule) -> Way:
    """The way with the least cost; of equal ones the one with the fewest levels."""
    return min(placed.sums, key=lambda way: (cost(net, placed, way, schedule), len(way.sizes)))


@dataclass(frozen=True)
class Verdict:
    """The fastest way of a schedule: seconds per simulated second of it and of sending directly."""

    machine: str
    placed: Placed
    schedule: Schedule
    way: Way
    best_s: Quantity
    direct_s: Quantity
    gain: Quantity  # direct over best
    depends: tuple[str, ...]

    @property
    def sure(self) -> str:
        """True if levels pay, whatever the profile does not know."""
        if len(self.way.sizes) == 1:
            return "direct"
        return "levels" if self.gain.low > 1 else "open"


def verdict(machine: str, placed: Placed, schedule: Schedule) -> Verdict:
    """The verdict with intervals from all values of the profile that it depends on."""
    profile, ranks = profiles()[machine], placed.item.ranks
    direct = Way((ranks,))
    way = fastest(Collectives.of(Inputs(profile), ranks), placed, schedule)

    def evaluate(inputs: Inputs) -> dict[str, float]:
        net = Collectives.of(inputs, ranks)
        best, straight = (cost(net, placed, w, schedule) for w in (way, direct))
        return {"best": best, "direct": straight, "gain": straight / best if best else 1.0}

    found, _ = predicted(Inputs(profile), evaluate)
    best, straight, gain = (replace(found[name], kind="") for name in ("best", "direct", "gain"))
    return Verdict(machine, placed, schedule, way, best, straight, gain, found["gain"].depends)


def borders(net: Collectives, placed: Placed, lag: int = 0) -> dict[int, float]:
    """Levels -> the number of cycles D from which no way with more levels costs less.

    Interpolated between the points of SCAN by the logarithm of the ratio, or with a lag, which may hide all,
    by the difference; 0 or infinite beyond them.
    """
    ways = _undominated(placed)
    counts = sorted({len(way.sizes) for way in ways})
    times = np.array([
        [min(cost(net, placed, w, Schedule(d, lag)) for w in ways if len(w.sizes) == count) for d in SCAN]
        for count in counts
    ])  # fmt: skip
    found = {}
    for place, count in enumerate(counts[:-1]):
        fewer, more_levels = times[: place + 1].min(axis=0), times[place + 1 :].min(axis=0)
        behind = fewer - more_levels if lag else np.log(fewer / more_levels)  # > 0: more pay
        more = np.flatnonzero(behind > 0)
        if not len(more):
            found[count] = 0.0
        elif more[-1] == len(SCAN) - 1:
            found[count] = np.inf
        else:
            at = int(more[-1])
            share = behind[at] / (behind[at] - behind[at + 1])
            found[count] = float(SCAN[at] * (SCAN[at + 1] / SCAN[at]) ** share)
    return found


@cache
def _undominated(placed: Placed) -> tuple[Way, ...]:
    """The ways that do not send at least as much as another one of as many levels does, in every hop."""
    sums = {way: np.array([astuple(hop) for hop in hops]) for way, hops in placed.sums.items()}

    def worse(way: Way, other: Way) -> bool:
        if way == other or len(way.sizes) != len(other.sizes):
            return False
        more = sums[way] - sums[other]
        return bool((more >= 0).all() and (more > 0).any())

    return tuple(way for way in sums if not any(worse(way, other) for other in sums))


def beyond(machine: str, placed: Placed, lag: int = 0) -> dict[int, Quantity]:
    """`borders` with intervals from what the profile does not know."""
    profile, ranks = profiles()[machine], placed.item.ranks

    def evaluate(inputs: Inputs) -> dict[str, float]:
        known = borders(Collectives.of(inputs, ranks), placed, lag)
        return {str(count): float(np.clip(d, SCAN[0], SCAN[-1])) for count, d in known.items()}

    found, _ = predicted(Inputs(profile), evaluate)
    at_end = missing("more levels pay up to the largest D that was looked at", mark="none")
    never = missing("more levels pay nowhere", mark="never")
    return {
        int(count): never if d.value <= SCAN[0] else at_end if d.value >= SCAN[-1] else replace(d, kind="")
        for count, d in found.items()
    }
