"""What rare long cycles were made of, as far as the kernel counted it (record.kernel).

For each cycle the record holds the processor time of the rank's first thread while it computed, and its
context switches and page faults. What a long cycle took beyond the usual of its rank is divided:

- time off the processor, beyond what is usual: with an involuntary switch, other *processes* had the core;
  with a voluntary one only, the thread *slept*; without a switch, *interrupts* or a hypervisor took the time,
  as far as the clock of the kernel leaves them out;
- time on the processor in a cycle with more page *faults* than 99 % of the ordinary cycles;
- of the other time on the processor, what coincides with counts of the node (`coincidence`);
- the rest was *not seen*.

Processes, sleep, interrupts and faults are measured; coincidences are modelled. Shares are of the time that
long cycles took beyond the usual, of all ranks together. Intervals: ratio of means over BLOCKS blocks of
cycles.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, student
from spikemark.records.kernel import READER, KernelCounts, load
from spikemark.records.record import Run

from . import coincidence
from .coincidence import BLOCKS, Coincidence, Intervals, Name

FAULTS = 0.99  # quantile of page faults in ordinary cycles
LEAST = 1e-6  # share of a cause; less is rounding
FEWEST_COUNTS = 5  # of a cause in a whole run; less cannot stand out

MEANING = {
    "processes": "the core ran another process (involuntary context switch)",
    "sleep": "the thread slept: a wait of its own, such as for a page on disk",
    "interrupts": "off the processor without a switch: interrupts, softirqs or the hypervisor",
    "faults": "on the processor, with unusually many page faults",
}
NOT_SEEN = "not seen"


@dataclass(frozen=True)
class Cause:
    """A cause of long cycles, its share of their time, and what that means."""

    name: str
    share: Quantity
    meaning: str

    def content(self) -> dict:
        """The content for JSON."""
        return {"name": self.name, "share": self.share.content(), "meaning": self.meaning}


@dataclass(frozen=True)
class Causes:
    """The causes of the rare long cycles of a run; their shares add up to 1; the last is what was not seen.

    `long_s`: what these cycles took beyond the usual, all ranks together. `coincidences`: counts that rose
    when a long cycle of any cause was under way. `processes`: what ran beside the ranks, in words.
    `blind`: what could not be seen, and why.
    """

    long_cycles: int
    long_s: float
    causes: tuple[Cause, ...]
    coincidences: tuple[Coincidence, ...]
    processes: tuple[str, ...]
    blind: tuple[str, ...]

    def content(self) -> dict:
        """The content for JSON."""
        return {
            **vars(self),
            "causes": [cause.content() for cause in self.causes],
            "coincidences": [one.content() for one in self.coincidences],
        }


def causes(run: Run, rare: np.ndarray) -> Causes | None:
    """What the rare long cycles of a run were made of; `rare` [rank, cycle] in s is as in `split.Split`.

    None for a run without record.kernel. Raises BadInput for files that do not fit the record.
    """
    kernel = load(run)
    if kernel is None:
        return None
    excess = rare.astype(np.float64)
    long = excess > 0
    blind, ran = _blind(run, kernel), _processes(kernel)
    if not long.any():
        return Causes(0, 0.0, (), (), ran, blind)
    compute = run.compute()[:, : excess.shape[1]]
    measured, left = _measured(kernel, compute, excess, long)
    whole = float(excess.sum())
    shares = {name: _ratio(taken, excess) for name, taken in measured.items()}
    named = [Cause(name, share, MEANING[name]) for name, share in shares.items() if share.value > LEAST]
    during, of_left = (_intervals(run, kernel, compute, lost) for lost in (excess, left))
    part = float(left.sum()) / whole
    found = coincidence.coincidences(of_left) if of_left is not None else []
    for (source, name), share in coincidence.divided(of_left, [(c.source, c.name) for c in found]).items():
        meaning = f"coincides with {source} of that name"
        named.append(Cause(name, share.times(part) if part > 0 else share, meaning))
    known = [cause.share for cause in named if cause.share.kind == "modelled"]
    rest = _without(_ratio(left, excess), known)
    named.append(Cause(NOT_SEEN, rest, "on the processor, and nothing was counted"))
    beside = coincidence.coincidences(during) if during is not None else []
    return Causes(int(long.sum()), whole, tuple(named), tuple(beside), ran, blind)


def _measured(kernel: KernelCounts, compute: np.ndarray, excess: np.ndarray, long: np.ndarray):
    """Seconds of each measured cause, [rank, cycle] by name, and the seconds that are left."""
    cycles = excess.shape[1]
    away = compute - kernel.field("processor_s")[:, :cycles]
    faults = kernel.field("faults")[:, :cycles]
    usual, many = np.zeros((len(away), 1)), np.zeros((len(away), 1))
    for rank, ordinary in enumerate(~long):
        usual[rank] = np.median(away[rank, ordinary]) if ordinary.any() else 0.0
        many[rank] = np.quantile(faults[rank, ordinary], FAULTS) if ordinary.any() else 0.0
    taken = np.where(long, np.clip(away - usual, 0.0, excess), 0.0)
    involuntary = kernel.field("involuntary")[:, :cycles] > 0
    voluntary = kernel.field("voluntary")[:, :cycles] > 0
    found = {
        "processes": np.where(involuntary, taken, 0.0),
        "sleep": np.where(~involuntary & voluntary, taken, 0.0),
        "interrupts": np.where(~involuntary & ~voluntary, taken, 0.0),
        "faults": np.where(faults > many, excess - taken, 0.0),
    }
    return found, excess - sum(found.values())


def _ratio(part: np.ndarray, whole: np.ndarray) -> Quantity:
    """The share of `part` in `whole`, both [rank, cycle]."""
    edges = np.linspace(0, whole.shape[1], BLOCKS + 1).astype(int)[:-1]
    parts, wholes = (np.add.reduceat(x.sum(axis=0), edges) for x in (part, whole))
    share = float(parts.sum() / wholes.sum())
    error = np.sqrt(BLOCKS / (BLOCKS - 1) * np.square(parts - share * wholes).sum()) / wholes.sum()
    half = student(BLOCKS - 1, LEVEL) * float(error)
    return Quantity(share, max(share - half, 0.0), min(share + half, 1.0), "", "measured")


def _without(whole: Quantity, parts: list[Quantity]) -> Quantity:
    """The rest of a share; the ends of its interval are the worst of both."""
    if not parts:
        return whole
    value, low, high = (sum(getattr(part, end) for part in parts) for end in ("value", "low", "high"))
    ends = (whole.value - value, whole.low - high, whole.high - low)
    value, low, high = (max(end, 0.0) for end in ends)
    return Quantity(value, low, high, "", "modelled")


def _intervals(run: Run, kernel: KernelCounts, compute: np.ndarray, lost: np.ndarray) -> Intervals | None:
    """The intervals between readings with the counts of each rank's cores; None if nothing can be compared.

    Time that a cycle lost, `lost` [rank, cycle] in s, is spread evenly over its computing.
    """
    pieces: list[tuple] = []
    names: set[Name] = set()
    for rank in range(len(lost)):
        times, per_second = _per_second(run, kernel, rank)
        if len(times) < 2:
            continue
        lost_s = np.diff(_lost_until(run.cycles[rank], compute[rank], lost[rank], times))
        if not np.count_nonzero(lost_s == 0) >= coincidence.FEWEST_ORDINARY:
            continue
        where = {name: coincidence.exposed(rate, lost_s) for name, rate in per_second.items()}
        for name in where:
            if name[0] == READER:
                where[name] = per_second[name] > 0
        names |= per_second.keys()
        pieces.append((lost_s, np.diff(times), times[1:], where, per_second))
    if not any(piece[0].any() for piece in pieces):
        return None
    end = max(piece[2][-1] for piece in pieces)

    def joined(part: int, name: Name, fill) -> np.ndarray:
        return np.concatenate([p[part].get(name, np.full(len(p[0]), fill)) for p in pieces])

    time = np.concatenate([piece[2] for piece in pieces])
    return Intervals(
        np.concatenate([piece[0] for piece in pieces]),
        np.concatenate([piece[1] for piece in pieces]),
        np.minimum((BLOCKS * time / end).astype(int), BLOCKS - 1),
        {name: joined(3, name, False) for name in sorted(names)},
        {name: joined(4, name, 0.0) for name in sorted(names)},
    )


def _per_second(run: Run, kernel: KernelCounts, rank: int) -> tuple[np.ndarray, dict[Name, np.ndarray]]:
    """Times of the readings within the measured part, and between them each cause on the cores of a rank."""
    counts = kernel.counts[kernel.counts["node"] == kernel.about.node_of_rank[rank]]
    times = counts.loc[counts["source"] == READER, "time_s"].to_numpy()
    times = times[(times >= 0) & (times <= run.record.timing.simulate_s)]
    if len(times) < 2:
        return times, {}
    binding = run.record.host.binding
    cores = binding[rank] if binding else None
    own = counts[counts["core"].isin(cores)] if cores else counts
    own = own[(own["time_s"] > times[0]) & (own["time_s"] <= times[-1])]
    found = {}
    for name, rows in own.groupby(["source", "name"]):
        if rows["count"].sum() >= FEWEST_COUNTS:
            place = np.searchsorted(times, rows["time_s"]) - 1
            found[name] = np.bincount(place, rows["count"], len(times) - 1) / np.diff(times)
    return times, found


def _lost_until(phases: np.ndarray, compute: np.ndarray, lost: np.ndarray, times: np.ndarray) -> np.ndarray:
    """The time that one rank had lost at each of `times`, in s; `phases` [cycle, phase]."""
    where = np.flatnonzero(lost > 0)
    whole = np.nansum(phases, axis=1, dtype=np.float64)
    begin = (np.cumsum(whole) - whole)[where]
    ends = begin + compute[where]
    amount = np.cumsum(lost[where])
    at, sums = np.empty(2 * len(where)), np.empty(2 * len(where))
    at[::2], at[1::2] = begin, ends
    sums[::2], sums[1::2] = amount - lost[where], amount
    return np.interp(times, at, sums, left=0.0) if len(where) else np.zeros(len(times))


def _processes(kernel: KernelCounts) -> tuple[str, ...]:
    """The processes that ran beside the ranks, those that read the counts first."""
    several = len(kernel.about.nodes) > 1
    lines = []
    for node in kernel.about.nodes:
        where = f" of the node of rank {node.node}" if several else ""
        lines.append(f"reading these counts: {100 * node.sampling_cost:.2g} % of a core{where}")
        for p in node.processes:
            lines.append(f"{p.name}, last on hardware thread {p.core}{where}: {p.used_s:.2f} s")
    return tuple(lines)


def _blind(run: Run, kernel: KernelCounts) -> tuple[str, ...]:
    """What could not be seen in this run, one line each."""
    record, about = run.record, kernel.about
    apart_ms = 1e3 * max(node.interval_s for node in about.nodes)
    lines = [f"the order of events within {apart_ms:.3g} ms, the time between two readings"]
    if record.host.virtual_machine:
        counted = kernel.counts["name"].eq("steal").any()
        lines.append(f"time that the hypervisor took{', except in ticks of 10 ms' if counted else ''}")
    if record.threads > 1:
        lines.append(f"switches and faults of {record.threads - 1} of {record.threads} threads of each rank")
    most = record.threads * (record.host.threads_per_core or 1)
    if any(cores is None or len(cores) > most for cores in record.host.binding or [None]):
        lines.append("on which core a rank ran: it was not bound, and counts of all its cores stand for it")
    for node in about.nodes:
        where = f"node of rank {node.node}: "
        if node.missing:
            lines.append(where + node.missing)
        if node.full:
            lines.append(f"{where}counts after {node.looked_s:.3g} s: there was no room for more")
        if not node.may_trace:
            lines.append(f"{where}which interrupt took how long: no tracer ({node.tracers})")
    lines.append("firmware interrupts, clock frequency, and caches and memory shared with others")
    return tuple(dict.fromkeys(lines))
