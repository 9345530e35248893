"""How compute times scatter about their mean: the equations of jitter.

In cycle s, rank r of a node, whose mean is m, computes for

    c[r, s] = m (1 + b) (1 + cv z[r, s]) f[r, s] g[r, s] / (E[f] E[g])

- z[r, s] = sqrt(k) u[s] + sqrt(1 - k) w[r, s]: standard normal, autoregressive of first order; a
  share k of its variance is `common`: cycles that are long on all ranks at once, which costs time
  and makes nobody wait.
- f: `minor_factor` in a share of the cycles, else 1: the second peak of a bimodal distribution.
- g: `spell_factor` in slow spells, else 1. Spells come and go as in a chain of two states; they
  last `spell_cycles` on average.
- b: normal with `node_spread`, the same for all ranks of a node.

Lober et al. 2026 (section 2.4.1) describe all of them in cycle times of NEST: two modes, phases of
some thousand slower cycles of single ranks, cycles that are long on all ranks together, and lasting
differences. Where no parameter but cv differs from its default, these are the independent normal
times of their eq 2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from .injected import autoregressive
from .serial import lumped_cv_ratio

#: Shortest correlation time, cycles.
MIN_CORRELATION_TIME = 0.01
#: Least mean time of a node over that of all nodes.
MIN_NODE_FACTOR = 0.01
#: Largest share of cycles that are long, or in slow spells: others would be the ordinary ones.
MAX_SHARE = 0.5
#: Steps in which the slow cycles of a window are counted; longer windows have longer steps.
MAX_STEPS = 400


@dataclass(frozen=True, eq=False)
class Noise:
    """Random numbers from which times of ranks follow."""

    own: np.ndarray  #: [rank, cycle], standard normal
    common: np.ndarray | None  #: [cycle], standard normal, the same for all ranks
    minor: np.ndarray | None  #: [rank, cycle], uniform: which cycles are long
    spells: np.ndarray | None  #: [rank, cycle], uniform: when spells begin and end


@dataclass(frozen=True)
class Jitter:
    """How compute times of cycles vary, from cycle to cycle and from node to node.

    Example:
        >>> Jitter(cv=0.1, minor_share=0.01, minor_factor=3.0).mean
        1.02
    """

    cv: float  #: of ordinary cycles: SD over mean
    correlation_time: float = 1.0  #: of ordinary cycles: integrated autocorrelation time, cycles
    minor_share: float = 0.0  #: share of the cycles that are longer, each on its own
    minor_factor: float = 1.0  #: how many times as long these are
    node_spread: float = 0.0  #: SD of the nodes' mean times over their mean
    common_share: float = 0.0  #: share of the variance of ordinary cycles that all ranks share
    spell_share: float = 0.0  #: share of the cycles that are in slow spells
    spell_factor: float = 1.0  #: how many times as long cycles are in these
    spell_cycles: float = 1.0  #: mean length of a spell, cycles
    #: From one cycle to the next, in place of the correlation time; None: from that time.
    correlation: float | None = None

    @property
    def rho(self) -> float:
        """Correlation from one cycle to the next; that of a time below one cycle is negative.

        The integrated time of an autoregressive series of first order is (1 + rho) / (1 - rho).
        """
        if self.correlation is not None:
            return self.correlation
        time = max(self.correlation_time, MIN_CORRELATION_TIME)
        return (time - 1) / (time + 1)

    @property
    def mean(self) -> float:
        """E[f] E[g]: the mean of all cycles over that of the ordinary ones."""
        long = 1 + self.minor_share * (self.minor_factor - 1)
        slow = 1 + self.spell_share * (self.spell_factor - 1)
        return long * slow

    def lumped(self, window: int) -> float:
        """CV of the sum over a window of ordinary cycles, of what each rank has for itself."""
        own = self.cv * float(np.sqrt(1 - self.common_share))
        return own * lumped_cv_ratio(self.rho ** np.arange(window), window)

    def level(self, normal: np.ndarray) -> np.ndarray:
        """1 + b: mean times of nodes over the mean of all nodes, from standard normal numbers."""
        return np.maximum(1 + self.node_spread * normal, MIN_NODE_FACTOR)

    def draw(
        self, own: np.random.Generator, shared: np.random.Generator, ranks: int, cycles: int
    ) -> np.ndarray:
        """Times of ranks over their means, [rank, cycle], the deviation of nodes apart.

        Args:
            own: source of what ranks have for themselves.
            shared: source of what they have in common; the same state for all ranks of a run.
            ranks: how many are drawn.
            cycles: of each.

        Example:
            >>> first, second = np.random.default_rng(1), np.random.default_rng(2)
            >>> Jitter(cv=0.0).draw(first, second, ranks=1, cycles=3)
            array([[1., 1., 1.]])
        """
        return self.times(self.noise(own, shared, ranks, cycles))

    def noise(
        self, own: np.random.Generator, shared: np.random.Generator, ranks: int, cycles: int
    ) -> "Noise":
        """The random numbers of `draw`, which other jitters can have in common with this one."""
        shape = (ranks, cycles)
        return Noise(
            own=np.asfortranarray(own.standard_normal(shape)),
            common=shared.standard_normal(cycles) if self.common_share else None,
            minor=np.asfortranarray(own.random(shape)) if self.minor_share else None,
            spells=own.random(shape) if self.spell_share else None,
        )

    def times(self, noise: "Noise") -> np.ndarray:
        """Times of ranks over their means, [rank, cycle], from random numbers.

        Those of a jitter with common cycles, long cycles and slow spells hold for any other.
        """
        return np.asarray(times_of_runs([self], noise)[0])

    def moved(self, factors: Mapping[str, float]) -> "Jitter":
        """With some values multiplied by factors, by name, and brought into what is possible.

        Example:
            >>> Jitter(cv=0.1, common_share=0.5).moved({"cv": 2.0, "common_share": 3.0})
            Jitter(cv=0.2, ..., common_share=1.0, ...)
        """
        changed = {name: factor * getattr(self, name) for name, factor in factors.items()}
        for name, value in changed.items():
            if name in ("minor_factor", "spell_factor"):
                changed[name] = max(value, 1.0)
            if name in ("minor_share", "spell_share"):
                changed[name] = min(value, MAX_SHARE)
        if "common_share" in changed:
            changed["common_share"] = min(changed["common_share"], 1.0)
        return replace(self, **changed)


def times_of_runs(jitters: Sequence[Jitter], noise: Noise) -> np.ndarray:
    """Times of ranks over their means in runs that share random numbers, [run, rank, cycle].

    In memory, the same cycle of all ranks lies together, as those need it who go from cycle to
    cycle.

    Example:
        >>> first, second = np.random.default_rng(1), np.random.default_rng(2)
        >>> noise = Jitter(cv=0.1).noise(first, second, ranks=4, cycles=100)
        >>> times_of_runs([Jitter(cv=0.1), Jitter(cv=0.2)], noise).shape
        (2, 4, 100)
    """

    def of_runs(name: str) -> np.ndarray:
        """A parameter, [run, 1, 1]."""
        return np.array([getattr(jitter, name) for jitter in jitters])[:, None, None]

    rho: float | np.ndarray = jitters[0].rho
    if len(jitters) > 1:
        rho = of_runs("rho")[..., 0]
    times = autoregressive(rho, np.broadcast_to(noise.own, (len(jitters), *noise.own.shape)))
    mean = of_runs("mean")
    own, common_part = of_runs("cv") / mean, 1 / mean
    if noise.common is not None:
        common = np.broadcast_to(noise.common, (len(jitters), 1, len(noise.common)))
        share = of_runs("common_share")
        common_part = common_part + own * np.sqrt(share) * autoregressive(rho, common)
        own = own * np.sqrt(1 - share)
    times *= own
    times += common_part
    if noise.minor is not None:
        largest = max(jitter.minor_share for jitter in jitters)
        is_long_in_any = noise.minor < largest
        cycle, rank = np.nonzero(is_long_in_any.T)
        minor = noise.minor[rank, cycle]
    for jitter, times_of_run in zip(jitters, times, strict=True):
        by_cycle = times_of_run.T  # as it lies in memory
        if noise.minor is not None:
            is_long = minor < jitter.minor_share
            by_cycle[cycle[is_long], rank[is_long]] *= jitter.minor_factor
        if jitter.spell_share and noise.spells is not None:
            in_spell = slow(jitter.spell_share, jitter.spell_cycles, noise.spells)
            by_cycle[in_spell.T] *= jitter.spell_factor
    np.maximum(times, 0.0, out=times)
    return times


def transitions(share: float, cycles: float) -> tuple[float, float]:
    """Probabilities that a spell begins, and that it ends, from one cycle to the next.

    A spell that lasts L cycles on average ends with 1 / L; a share p of all cycles is in spells if
    others begin with p / (1 - p) / L. Cycles that are independent of each other have spells of
    1 / (1 - p), the shortest that count.

    Example:
        >>> begins, ends = transitions(share=0.2, cycles=10.0)
        >>> round(begins, 3), ends
        (0.025, 0.1)
    """
    length = max(cycles, 1 / (1 - share))
    return share / (1 - share) / length, 1 / length


def slow(share: float, cycles: float, uniform: np.ndarray) -> np.ndarray:
    """Which cycles are in slow spells, of the shape of `uniform` random numbers, [..., cycle].

    In each cycle a spell begins, or ends, or all stays as it is, whatever it was before; so that
    the last cycle in which it did not stay decides.

    Example:
        >>> drawn = slow(0.25, 50.0, np.random.default_rng(1).random((40, 100_000)))
        >>> round(float(drawn.mean()), 2)
        0.25
    """
    begins, ends = transitions(share, cycles)
    state = uniform < begins
    decided = state | (uniform >= 1 - ends)
    state[..., 0] = uniform[..., 0] < share
    decided[..., 0] = True
    places = np.flatnonzero(decided)
    lengths = np.diff(np.append(places, uniform.size))
    return np.repeat(state.ravel()[places], lengths).reshape(uniform.shape)


@lru_cache(maxsize=256)
def slow_in_window(share: float, cycles: float, window: int) -> tuple[np.ndarray, np.ndarray]:
    """How much of a window is in slow spells: possible shares, and the probability of each.

    The exact distribution of the time that a chain of two states spends in one of them, step by
    step; a window of more than MAX_STEPS cycles goes in steps of several cycles.

    Example:
        >>> shares, probability = slow_in_window(share=0.1, cycles=1000.0, window=2)
        >>> shares.tolist(), probability.round(2).tolist()
        ([0.0, 0.5, 1.0], [0.9, 0.0, 0.1])
    """
    steps = min(window, MAX_STEPS)
    begins, ends = transitions(share, cycles * steps / window)
    ordinary = np.zeros(steps + 1)  # [slow steps so far], the last one being ordinary
    spell = np.zeros(steps + 1)  # the last one being slow
    ordinary[0] = 1 - share
    spell[1] = share
    for _ in range(steps - 1):
        to_spell = begins * ordinary + (1 - ends) * spell
        ordinary = (1 - begins) * ordinary + ends * spell
        spell = np.append(0.0, to_spell[:-1])
    return np.arange(steps + 1) / steps, ordinary + spell
