"""Misses of spike delivery in a cache with least recently used lines, from counts of a run.

What delivery touches, in lines of L bytes (Lober et al. 2026, section 2.3, extended to lines):

- lists: a spike enters F lists with E synapses of b bytes in all. A list of n synapses that starts
  anywhere touches 1 + (n - 1) b / L lines, its start and what follows with the lines it straddles;
  together F + (E - F) b / L. Where lists hold less than five synapses on the mean, neighbouring
  ones share lines: a spike reads one, and w lines of further words (network/lines.py): F (1 + w),
  or S (1 + w) without a filter.
- starts: to find a list, entries l and l + 1 of an array of four-byte words: F (1 + 4 / L). Where
  lists share lines, none. Where they hold less than one synapse on the mean, each of the S spikes
  examined reads a word of a filter of one bit for each list: S.
- ring: every synapse adds to a cell of a random target: E. Populations differ in how many they
  receive.
- words: the spikes themselves, F four-byte words that the exchange has just written, so that they
  are hits.
- buffers: what a thread works with while it delivers from lines: places of lists, found words,
  spikes that the filter passed. It touches them once in every step, and then again and again.

A visit is a miss unless its line was touched within the last T steps, T being the time in which as
many different lines are touched as the cache holds (Che, Tung, Wang 2002, doi
10.1109/JSAC.2002.801752):
sum over all lines of P(touched within T) = C / L. For one region at random this is the miss ratio
1 - C / bytes. A line that k lists share, each entered with rate r, was touched with probability

- 1 - (1 - r T)^k if neurons fire at intervals of their own (ignore_and_fire), 1 from T = 1 / r on,
- 1 - exp(-k r T) if they fire at random.

A line of the ring belongs to one step: update empties it, then deliveries with ever shorter delays
come; it was touched unless both were longer than T ago. Neurons, routes and buffers only take room.
A cache that holds everything has no misses, because building the network touched it all. Everything
is assumed to be spread evenly over the steps, and neurons to fire alike.

Where less fits than a step touches, T < 1, it matters that each of n threads delivers all its
spikes of a step at once, one thread after the other, as simulated. A visit at the part x of its
thread's spikes finds what x of a step's visits touched, and of those of the step before what is at
most T ago: together max(x, 1 - n (1 - T)) takes the place of T.

`fit`: counted misses per synaptic event over the share of first accesses (Lober et al. 2026, 2.3).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize

from spikemark.core.errors import BadInput

#: Moments of a run at which the age of the caches is looked at.
MOMENTS = 64
#: Steps after which nothing is expected to be touched again.
FOREVER = 1e12
#: Parts of a step in integrals over the life of a row of the ring.
PARTS_PER_STEP = 8
#: Different shares of first accesses that `fit` needs, so that a line can fail to fit.
MIN_DIFFERENT_SHARES = 3
#: Bytes of a word of the array that finds the lists.
TABLE_WORD_BYTES = 4


@dataclass(frozen=True)
class Delivery:
    """What one rank does in `steps` steps that begin `before` steps after the first.

    Sizes are in bytes, numbers are totals over the steps unless stated otherwise.
    """

    steps: int  #: number of steps
    before: int  #: steps of the run before these
    events: float  #: E, synapses visited
    first_accesses: float  #: F, lists entered
    spikes: float  #: fired on the rank
    neurons: float  #: on the rank
    synapse: int  #: b, size of one synapse
    synapses: float  #: size of all lists
    starts: float  #: size of what finds the lists
    ring: float  #: size of the ring
    profile: np.ndarray  #: [slot] share of the events by steps from delivery to use
    #: Share of the ring, and of the events there, for each population.
    targets: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    routes: float = 0.0  #: size of what tells where the spikes of neurons go
    others: float = 0.0  #: size of what every step touches: neurons, buffers
    regular: bool = False  #: neurons fire at intervals of their own
    lines_read: float = 0.0  #: lines read by spikes, where lists share lines
    beyond: float = 0.0  #: w, lines of further words that a spike reads
    filtered: float = 0.0  #: S, spikes examined by a filter
    threads: int = 1  #: n, threads of the rank
    buffers: float = 0.0  #: size of the buffers of all threads


@dataclass(frozen=True)
class LineVisits:
    """Lines visited, and how many of the visits are misses."""

    visits: float  #: number of visits
    misses: float  #: how many of them are misses


def prediction(d: Delivery, size: int, line: int = 64) -> dict[str, LineVisits]:
    """Predict visits and misses of delivery in one cache (equations at the head of the module).

    Args:
        d: what the rank does.
        size: of the cache, in bytes.
        line: size of a line of the cache, in bytes.

    Returns:
        The terms `lists`, `starts`, `ring`, `words` and `buffers`.

    Example:
        One list of 1000 synapses, entered in every step, and a cache that holds everything.

        >>> steps = Delivery(steps=10, before=10, events=1e4, first_accesses=10, spikes=10,
        ...     neurons=1, synapse=4, synapses=4000, starts=8, ring=64, profile=np.ones(1))
        >>> lists = prediction(steps, size=1 << 20)["lists"]
        >>> round(lists.visits, 1), lists.misses  # 10 times 1 + 999 x 4 / 64
        (634.4, 0.0)
    """
    touched = _Touched(d, line)
    time = touched.time(size / line)
    ages = _ages(d, time)
    row_ages = [time] if time >= 1 else ages
    ring_miss_ratio = 0.0
    for row in touched.rows:
        ratios = [row.life.missed(age) for age in row_ages]
        ring_miss_ratio += row.events * float(np.mean(ratios))
    buffer_visits = d.steps * touched.buffers
    buffer_misses = buffer_visits if time < 1 else 0.0
    return {
        "lists": _visits([touched.lists], ages),
        "starts": _visits([touched.starts, touched.filter], ages),
        "ring": LineVisits(d.events, d.events * ring_miss_ratio),
        "words": LineVisits(TABLE_WORD_BYTES * d.first_accesses / line, 0.0),
        "buffers": LineVisits(buffer_visits, buffer_misses),
    }


def _visits(regions: "list[_Shared]", ages: np.ndarray) -> LineVisits:
    """Visits and misses of regions, mean over what visits find, `ages` [moment] in steps."""
    misses = 0.0
    for region in regions:
        ratios = [region.missed(age) for age in ages]
        misses += region.visits * float(np.mean(ratios))
    return LineVisits(sum(region.visits for region in regions), misses)


def _ages(d: Delivery, time: float) -> np.ndarray:
    """How long ago the lines that visits find may have been touched, in steps, [moment].

    The moments are those of the run or, where less fits than a step touches, of a thread's spikes.
    """
    if np.isinf(time):
        return np.array([FOREVER])
    moments = (np.arange(MOMENTS) + 0.5) / MOMENTS
    if time < 1:
        return np.maximum(moments, 1 - d.threads * (1 - time))
    # A visit early in the run finds nothing of the time before it, unless all that was built is
    # still there.
    return np.minimum(time, d.before + moments * d.steps)


class _Shared:
    """A region of memory whose lines are shared by lists."""

    def __init__(
        self, d: Delivery, entries: float, lines_per_entry: float, lists: float, lines: float
    ):
        """`entries` into `lists` in all steps, each touching `lines_per_entry` of `lines`."""
        self.visits = entries * lines_per_entry
        self.lines = lines
        self.regular = d.regular
        #: Entries into a list in a step, r.
        self.rate = entries / lists / d.steps if lists else 0.0
        #: Lists that share a line, k.
        self.sharing = lists * lines_per_entry / lines if lines else 0.0

    def missed(self, age: float) -> float:
        """Probability that a visit finds its line untouched for `age` steps."""
        if not self.regular:
            return float(np.exp(-self.sharing * self.rate * age))
        untouched_by_one = max(0.0, 1 - self.rate * age)
        if not untouched_by_one:
            return 0.0
        return float(untouched_by_one ** max(0.0, self.sharing - 1))

    def resident(self, age: float) -> float:
        """Lines touched within `age` steps."""
        if not self.regular:
            return self.lines * float(-np.expm1(-self.sharing * self.rate * age))
        untouched_by_one = max(0.0, 1 - self.rate * age)
        return self.lines * float(1 - untouched_by_one**self.sharing)


class _RowLife:
    """A line of the ring over its life, from when it is emptied until it is used.

    Times are in steps since it was emptied.
    """

    def __init__(self, profile: np.ndarray, events: float):
        """`events` visits in all, spread as `profile` [slot] says."""
        visits = np.repeat(profile[::-1], PARTS_PER_STEP) * events / PARTS_PER_STEP
        self.edges = np.arange(len(visits) + 1) / PARTS_PER_STEP
        self.middle = (self.edges[1:] + self.edges[:-1]) / 2
        self.visits = np.append(0.0, np.cumsum(visits))  # until each edge

    def _untouched(self, age: float) -> np.ndarray:
        """Probability that the line was untouched for `age` steps, in the middle of each part."""
        visits_now = np.interp(self.middle, self.edges, self.visits)
        visits_then = np.interp(self.middle - age, self.edges, self.visits)
        return np.where(self.middle > age, np.exp(visits_then - visits_now), 0.0)

    def missed(self, age: float) -> float:
        """Share of the visits that are misses."""
        all_visits = self.visits[-1] or 1.0
        return float(np.diff(self.visits) @ self._untouched(age) / all_visits)

    def resident(self, age: float) -> float:
        """Share of the lines touched within `age` steps."""
        return float(1 - self._untouched(age).mean())


class _Rows(NamedTuple):
    """The part of the ring that belongs to a population."""

    lines: float  #: number of lines
    events: float  #: share of all events
    life: _RowLife  #: what becomes of each line


class _Touched:
    """Everything that a rank touches."""

    def __init__(self, d: Delivery, line: int):
        self.line = line
        events_per_list = d.events / d.first_accesses if d.first_accesses else 0.0
        #: Lists that hold a synapse.
        lists = d.synapses / d.synapse / events_per_list if events_per_list else 0.0
        #: Lists that the filter knows: empty ones, too, of which there are many.
        filtered_lists = lists * d.filtered / d.first_accesses if d.first_accesses else 0.0
        filter_bytes = min(d.starts, filtered_lists / 8)
        self.filter = _Shared(d, d.filtered, 1.0, filtered_lists, filter_bytes / line)
        start_bytes = d.starts - filter_bytes
        if d.lines_read:
            lists_read = lists * d.lines_read / d.first_accesses
            lines = (d.synapses + start_bytes) / line
            self.lists = _Shared(d, d.lines_read, 1 + d.beyond, lists_read, lines)
            self.starts = _Shared(d, 0.0, 0.0, 0.0, 0.0)
        else:
            lines_per_list = 1 + (events_per_list - 1) * d.synapse / line
            lines_per_start = 1 + TABLE_WORD_BYTES / line
            self.lists = _Shared(d, d.first_accesses, lines_per_list, lists, d.synapses / line)
            self.starts = _Shared(d, d.first_accesses, lines_per_start, lists, start_bytes / line)
        lines_per_spike = 1 + d.routes / line / d.neurons if d.neurons else 0.0
        self.routes = _Shared(d, d.spikes, lines_per_spike, d.neurons, d.routes / line)
        self.others = d.others / line
        self.buffers = d.buffers / line
        self.rows = [self._rows(d, room, events) for room, events in d.targets]

    def _rows(self, d: Delivery, room: float, events: float) -> _Rows:
        """The lines of a population that has these shares of the ring and of the events."""
        lines = room * d.ring / self.line
        lines_per_step = lines / len(d.profile)
        events_per_line = events * d.events / d.steps / lines_per_step if lines else 0.0
        return _Rows(lines, events, _RowLife(d.profile, events_per_line))

    def resident(self, age: float) -> float:
        """Different lines touched within `age` steps."""
        regions = (self.lists, self.filter, self.starts, self.routes)
        shared = sum(region.resident(age) for region in regions)
        ring = sum(row.lines * row.life.resident(age) for row in self.rows)
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
    """Misses that a first access has more than any synapse (L26, section 2.3).

    The slope of misses over shares, by least squares.

    Args:
        shares: share of first accesses among synaptic events, shape [run].
        misses: misses per synaptic event, shape [run].

    Raises:
        BadInput: for fewer than three different shares.

    Example:
        >>> round(fit(np.array([0.1, 0.2, 0.3]), np.array([1.2, 1.4, 1.6])), 6)
        2.0
    """
    different = len(np.unique(np.round(shares, 12)))
    if different < MIN_DIFFERENT_SHARES:
        raise BadInput(
            f"share of first accesses: {different} different values; a line needs"
            f" {MIN_DIFFERENT_SHARES} or more",
            field="share of first accesses",
        )
    line = np.polynomial.Polynomial.fit(shares, misses, 1).convert()
    return float(line.coef[1])
