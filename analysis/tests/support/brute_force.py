"""A small network drawn synapse by synapse, and the mini-app's counts taken on it by plain enumeration.

The slow reference for `spikemark.models.access`: it shares no formula with the model, only the rules of
miniapp/FORMAT.md and of the mini-app's placements.
"""

from typing import NamedTuple

import numpy as np


class Layout(NamedTuple):
    """Where every neuron lives: arrays over gid."""

    population: np.ndarray
    area: np.ndarray
    rank: np.ndarray
    thread: np.ndarray
    rate_hz: np.ndarray


class Counts(NamedTuple):
    """Counts per rank; `lists` is the number of (source, rank, thread, lane) with at least one synapse."""

    neurons: np.ndarray
    synapses: np.ndarray
    spikes: np.ndarray
    synaptic_events: np.ndarray
    first_accesses: np.ndarray
    lists: int


def layout(description: dict, placement: str, ranks: int, threads: int) -> Layout:
    populations = description["network"]["populations"]
    sizes = [p["size"] for p in populations]
    names = [p.get("area", p["name"]) for p in populations]
    areas = list(dict.fromkeys(names))
    population = np.repeat(np.arange(len(sizes)), sizes)
    area = np.array([areas.index(n) for n in names], dtype=np.int64)[population]
    gid = np.arange(len(population))
    if placement == "round_robin":
        vp = gid % (ranks * threads)
        rank, thread = vp % ranks, vp // ranks
    elif placement == "area_group":
        rank, thread = np.zeros_like(gid), np.zeros_like(gid)
        for number, own in _groups([int((area == a).sum()) for a in range(len(areas))], ranks).items():
            here = gid[area == number]
            unit = (here - (here[0] if len(here) else 0)) % (len(own) * threads)
            rank[here], thread[here] = own[0] + unit % len(own), unit // len(own)
    else:
        first = np.array([gid[area == a].min() if (area == a).any() else 0 for a in range(len(areas))])
        rank, thread = area % ranks, (gid - first[area]) % threads
    rates = np.array([p["neuron"].get("rate_hz", 2.5) for p in populations], dtype=float)
    return Layout(population, area, rank, thread, rates[population])


def _groups(sizes: list[int], ranks: int) -> dict[int, list[int]]:
    """Ranks of each area: first fit, largest first, for growing numbers of neurons on the fullest rank."""
    most, bins, used = 0, [], ranks + 1
    while used > ranks:
        most, bins = most + 1, []
        for a in sorted(range(len(sizes)), key=lambda a: -sizes[a]):
            own = -(-sizes[a] // most) if sizes[a] > most else 1
            room = [b for b in bins if b["own"] == own == 1 and b["n"] + sizes[a] <= most]
            if not room:
                room = [{"areas": [], "n": 0, "own": own}]
                bins += room
            room[0]["areas"].append(a)
            room[0]["n"] += sizes[a]
        used = sum(b["own"] for b in bins)
    for _ in range(ranks - used):
        fullest = max(bins, key=lambda b: b["n"] / b["own"])
        filled = sorted(a for a in fullest["areas"] if sizes[a])
        if len(filled) > 1:
            fullest["areas"].remove(filled[0])
            fullest["n"] -= sizes[filled[0]]
            bins.append({"areas": filled[:1], "n": sizes[filled[0]], "own": 1})
        else:
            fullest["own"] += 1
    ranks_of, rank = {}, 0
    for b in sorted(bins, key=lambda b: min(b["areas"])):
        ranks_of |= {area: list(range(rank, rank + b["own"])) for area in b["areas"]}
        rank += b["own"]
    return ranks_of


def draw(description: dict, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sources and targets (gid) of every synapse."""
    populations = description["network"]["populations"]
    starts = np.cumsum([0] + [p["size"] for p in populations])
    by_name = {p["name"]: i for i, p in enumerate(populations)}
    sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for projection in description["network"].get("projections", []):
        names = projection["source"]
        names = [names] if isinstance(names, str) else names
        pool = np.concatenate([np.arange(starts[by_name[n]], starts[by_name[n] + 1]) for n in names])
        t = by_name[projection["target"]]
        indegree = projection["indegree"]
        if isinstance(indegree, dict):
            indegree = rng.poisson(indegree["mean"], starts[t + 1] - starts[t])
        target = np.repeat(np.arange(starts[t], starts[t + 1]), indegree)
        targets.append(target)
        sources.append(rng.choice(pool, size=len(target)) if len(target) else target)
    return np.concatenate(sources), np.concatenate(targets)


def lanes(description: dict, where: Layout, schedule: str | list, ranks: int) -> np.ndarray:
    """Number of the lane of the synapses between two areas, [source area, target area]."""
    names = [p.get("area", p["name"]) for p in description["network"]["populations"]]
    names = list(dict.fromkeys(names))
    lives = [set(where.rank[where.area == a]) for a in range(len(names))]
    square = min((abs(d - ranks**0.5), d) for d in range(1, ranks + 1) if ranks % d == 0)[1]
    near, far = {"group": "area"}, {"group": ranks}
    named = {"structure_aware": [near, far], "overlapped": [near, far]}
    named["hierarchical"] = [near, {"group": square}, far]
    rules = named.get(schedule, [far]) if isinstance(schedule, str) else schedule
    found = np.full((len(names), len(names)), -1)
    for number, rule in reversed(list(enumerate(rules))):
        size = ranks if rule.get("group", "world") == "world" else rule["group"]
        for a in range(len(names)):
            for b in range(len(names)):
                if a == b if size == "area" else len({r // size for r in lives[a] | lives[b]}) <= 1:
                    chosen = names[a] in rule.get("from", names) and names[b] in rule.get("to", names)
                    found[a, b] = number if chosen else found[a, b]
    return found


def count(
    description: dict, schedule, placement: str, ranks: int, threads: int, seconds: float, seed: int
) -> Counts:
    """Draw the network and count as the mini-app does."""
    rng = np.random.default_rng(seed)
    where = layout(description, placement, ranks, threads)
    source, target = draw(description, rng)
    # Ignore-and-fire: the interval is fixed, the phase uniform.
    fired = np.floor(where.rate_hz * seconds + rng.uniform(size=len(where.rate_hz))).astype(np.int64)
    lane = lanes(description, where, schedule, ranks)[where.area[source], where.area[target]]
    shape = (len(where.rank), ranks, threads, len(where.rank))
    keys = np.ravel_multi_index((source, where.rank[target], where.thread[target], lane), shape)
    lists = np.column_stack(np.unravel_index(np.unique(keys), shape))

    def per_rank(index: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        return np.bincount(index, weights=weights, minlength=ranks).astype(np.int64)

    return Counts(
        neurons=per_rank(where.rank),
        synapses=per_rank(where.rank[target]),
        spikes=per_rank(where.rank, fired),
        synaptic_events=per_rank(where.rank[target], fired[source]),
        first_accesses=per_rank(lists[:, 1], fired[lists[:, 0]]),
        lists=len(lists),
    )
