"""Misses of spike delivery in a cache with least recently used lines, predicted from counts of a run.

What delivery touches, in lines of L bytes (Lober et al. 2026, section 2.3, extended to lines):

- lists: a spike enters F lists with E synapses of b bytes in all. A list of n synapses that starts anywhere
  touches 1 + (n - 1) b / L lines, its start and what follows with the lines it straddles; together
  F + (E - F) b / L. Where lists hold less than five synapses on the mean, neighbouring ones share lines: a
  spike reads one, and w lines of further words (network/lines.py): F (1 + w), or S (1 + w) without a filter.
- starts: to find a list, entries l and l + 1 of an array of four-byte words: F (1 + 4 / L). Where lists
  share lines, none. Where they hold less than one synapse on the mean, each of the S spikes examined reads a
  word of a filter of one bit for each list: S.
- ring: every synapse adds to a cell of a random target: E. Populations differ in how many they receive.
- words: the spikes themselves, F four-byte words that the exchange has just written, so that they are hits.
- buffers: what a thread works with while it delivers from lines: places of lists, found words, spikes that
  the filter passed. It touches them once in every step, and then again and again.

A visit is a miss unless its line was touched within the last T steps, T being the time in which as many
different lines are touched as the cache holds (Che, Tung, Wang 2002, doi 10.1109/JSAC.2002.801752):
sum over all lines of P(touched within T) = C / L. For one region at random this is the miss ratio
1 - C / bytes. A line that k lists share, each entered with rate r, was touched with probability

- 1 - (1 - r T)^k if neurons fire at intervals of their own (ignore_and_fire), 1 from T = 1 / r on,
- 1 - exp(-k r T) if they fire at random.

A line of the ring belongs to one step: update empties it, then deliveries with ever shorter delays come; it
was touched unless both were longer than T ago. Neurons, routes and buffers only take room. A cache that holds
everything has no misses, because building the network touched it all. Everything is assumed to be spread
evenly over the steps, and neurons to fire alike.

Where less fits than a step touches, T < 1, it matters that each of n threads delivers all its spikes of a
step at once, one thread after the other, as simulated. A visit at the part x of its thread's spikes finds
what x of a step's visits touched, and of those of the step before what is at most T ago: together
max(x, 1 - n (1 - T)) takes the place of T.

`fit`: counted misses per synaptic event over the share of first accesses (Lober et al. 2026, 2.3).
"""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from spikemark.core.errors import BadInput

MOMENTS = 64  # of a run at which the age of the caches is looked at
FOREVER = 1e12  # steps
FINE = 8  # parts of a step in integrals over the life of a row of the ring
FEWEST = 3  # different shares, so that a line can fail to fit


@dataclass(frozen=True)
class Delivery:
    """What one rank does in `steps` steps that begin `before` steps after the first. Sizes in bytes."""

    steps: int
    before: int
    events: float  # E, synapses visited
    first_accesses: float  # F, lists entered
    spikes: float  # fired on the rank
    neurons: float  # on the rank
    synapse: int  # size of one
    synapses: float  # size of all lists
    starts: float  # size of what finds the lists
    ring: float
    profile: np.ndarray  # [slot] share of the events by steps from delivery to use
    targets: tuple[tuple[float, float], ...] = ((1.0, 1.0),)  # share of the ring, and of the events there
    routes: float = 0.0
    others: float = 0.0  # what every step touches: neurons, buffers
    regular: bool = False  # neurons fire at intervals of their own
    lines_read: float = 0.0  # by spikes, where lists share lines
    beyond: float = 0.0  # w
    filtered: float = 0.0  # spikes examined by a filter
    threads: int = 1  # n
    buffers: float = 0.0  # of all threads


@dataclass(frozen=True)
class Term:
    """Lines visited, and how many of the visits are misses."""

    visits: float
    misses: float


def prediction(d: Delivery, size: int, line: int = 64) -> dict[str, Term]:
    """Terms `lists`, `starts`, `ring`, `words`, `buffers` for a cache of `size` bytes."""
    touched = _Touched(d, line)
    time = touched.time(size / line)
    ages = _ages(d, time)
    row_ages = [time] if time >= 1 else ages
    in_ring = sum(events * np.mean([row.missed(age) for age in row_ages]) for _, events, row in touched.rows)

    def term(*regions: _Shared) -> Term:
        misses = sum(r.visits * float(np.mean([r.missed(age) for age in ages])) for r in regions)
        return Term(sum(r.visits for r in regions), misses)

    return {
        "lists": term(touched.lists),
        "starts": term(touched.starts, touched.filter),
        "ring": Term(d.events, d.events * float(in_ring)),
        "words": Term(4 * d.first_accesses / line, 0.0),
        "buffers": Term(d.steps * touched.buffers, d.steps * touched.buffers * (time < 1)),
    }


def _ages(d: Delivery, time: float) -> np.ndarray:
    """How long ago what visits find was touched, in steps, at moments of the run or of a thread's spikes."""
    if np.isinf(time):
        return np.array([FOREVER])
    moments = (np.arange(MOMENTS) + 0.5) / MOMENTS
    if time < 1:
        return np.maximum(moments, 1 - d.threads * (1 - time))
    # A visit early in the run finds nothing of the time before it, unless all that was built is still there.
    return np.minimum(time, d.before + moments * d.steps)


class _Shared:
    """A region of `lines`, in lists that are entered `entries` times in `steps`, `each` lines at a time."""

    def __init__(self, d: Delivery, entries: float, each: float, lists: float, lines: float):
        self.visits, self.lines, self.regular = entries * each, lines, d.regular
        self.rate = entries / lists / d.steps if lists else 0.0
        self.sharing = lists * each / lines if lines else 0.0  # k

    def missed(self, age: float) -> float:
        """Probability that a visit finds its line untouched for `age` steps."""
        if not self.regular:
            return float(np.exp(-self.sharing * self.rate * age))
        alone = max(0.0, 1 - self.rate * age)
        return float(alone ** max(0.0, self.sharing - 1)) if alone else 0.0

    def resident(self, age: float) -> float:
        """Lines touched within `age` steps."""
        if not self.regular:
            return self.lines * float(-np.expm1(-self.sharing * self.rate * age))
        return self.lines * float(1 - max(0.0, 1 - self.rate * age) ** self.sharing)


class _Row:
    """A line of the ring over its life: emptied at 0, visited with `profile` times `events` in all, used."""

    def __init__(self, profile: np.ndarray, events: float):
        life = np.repeat(profile[::-1], FINE) * events / FINE  # by time since it was emptied
        self.edges = np.arange(len(life) + 1) / FINE
        self.middle = (self.edges[1:] + self.edges[:-1]) / 2
        self.visits = np.append(0.0, np.cumsum(life))

    def _untouched(self, age: float) -> np.ndarray:
        """Probability that the line was untouched for `age` steps, by time since it was emptied."""
        now, then = (np.interp(at, self.edges, self.visits) for at in (self.middle, self.middle - age))
        return np.where(self.middle > age, np.exp(then - now), 0.0)

    def missed(self, age: float) -> float:
        """Share of the visits that are misses."""
        return float(np.diff(self.visits) @ self._untouched(age) / (self.visits[-1] or 1.0))

    def resident(self, age: float) -> float:
        """Share of the lines touched within `age` steps."""
        return float(1 - self._untouched(age).mean())


class _Touched:
    """Everything that a rank touches."""

    def __init__(self, d: Delivery, line: int):
        entered = d.first_accesses
        mean = d.events / entered if entered else 0.0
        held = d.synapses / d.synapse / mean if mean else 0.0  # lists with a synapse
        lists = held * d.filtered / entered if entered else 0.0  # empty ones, too, of which there are many
        filter_bytes = min(d.starts, lists / 8)
        self.filter = _Shared(d, d.filtered, 1.0, lists, filter_bytes / line)
        if d.lines_read:
            each, listed = 1 + d.beyond, d.synapses + d.starts - filter_bytes
            self.lists = _Shared(d, d.lines_read, each, held * d.lines_read / entered, listed / line)
            self.starts = _Shared(d, 0.0, 0.0, 0.0, 0.0)
        else:
            each = 1 + (mean - 1) * d.synapse / line
            self.lists = _Shared(d, entered, each, held, d.synapses / line)
            self.starts = _Shared(d, entered, 1 + 4 / line, held, (d.starts - filter_bytes) / line)
        a_spike = 1 + d.routes / line / d.neurons if d.neurons else 0.0
        self.routes = _Shared(d, d.spikes, a_spike, d.neurons, d.routes / line)
        self.others, self.buffers = d.others / line, d.buffers / line
        self.rows = []  # lines, share of the events, what becomes of a line
        for room, events in d.targets:
            lines = room * d.ring / line
            each = events * d.events / d.steps / (lines / len(d.profile)) if lines else 0.0
            self.rows.append((lines, events, _Row(d.profile, each)))

    def resident(self, age: float) -> float:
        """Different lines touched within `age` steps."""
        shared = sum(region.resident(age) for region in (self.lists, self.filter, self.starts, self.routes))
        ring = sum(lines * row.resident(age) for lines, _, row in self.rows)
        return shared + ring + (self.others + self.buffers) * min(1.0, age)

    def time(self, lines: float) -> float:
        """Steps in which so many different lines are touched; infinite if there are not as many."""
        longest = 1.0
        while self.resident(longest) <= lines:
            longest *= 2
            if longest > FOREVER:
                return np.inf
        return float(optimize.brentq(lambda age: self.resident(age) - lines, 0.0, longest))


def fit(shares: np.ndarray, misses: np.ndarray) -> float:
    """Misses that a first access has more than any synapse: the slope of `misses` per synaptic event over the
    `shares` of first accesses, one of each per run, by least squares.

    Raises BadInput for fewer than three different shares.
    """
    different = len(np.unique(np.round(shares, 12)))
    if different < FEWEST:
        raise BadInput(
            f"share of first accesses: {different} different values; a line needs {FEWEST} or more"
        )
    return float(np.polynomial.Polynomial.fit(shares, misses, 1).convert().coef[1])
