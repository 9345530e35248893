"""Single messages between ranks: latency, bandwidth, gap, the eager limit, and how pairs disturb each other.

Both ends of a pair are on one node, or each is the only rank of its node. Of several pairs, the profile gets
the median; the reference names the fastest and the slowest pair.
"""

from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark.machines.profile import Value

from .kernels import benched
from .site import ALONE, ONE_NODE, Effort, Site, listed, measured, repeated

LARGE, LARGEST, MANY = 1 << 20, 1 << 22, 64  # bytes, bytes, messages; of bench/bench_messages_times.c
PAIRS = 32  # of nodes, at most, between which messages are timed
FEWEST_AT_ONCE = 2  # pairs of nodes that can disturb each other
DISTURBED = "every repetition was disturbed"
FABRIC = "messages do not show it; write it into this file"
FEW_NODES = "fewer than four nodes do not show it"
#: (Bytes, messages in a row) -> seconds until the answer.
Times = dict[tuple[int, int], float]
Pair = tuple[int, int]


class Round(NamedTuple):
    """A repetition of bench_messages.

    `nodes`: the node of each rank; `pairs`: the times of each pair; `halves`: the times of large messages
    between the two halves of the nodes, of one pair alone and of all at once; `eager`: the eager limit in
    bytes, None if it was not looked for, or if no message leaves early.
    """

    nodes: list[str]
    pairs: dict[Pair, Times]
    halves: dict[Pair, tuple[Times, Times]]
    eager: int | None


Measured = tuple[Round | None, Round | None]  # within a node, and between nodes; None where there is one


def one_round(site: Site, effort: Effort, folder: Path, earlier: list[Measured]) -> Measured:
    """Measures between the first and the last core of a node, and between nodes.

    Between nodes, pair by pair and half of them at once. Raises ProgramFailed.
    """
    several = ["--pairs", str(PAIRS), *["--bisection"] * (site.nodes >= 2 * FEWEST_AT_ONCE)]
    ways = (
        (site.cores, site.full(1), ["--eager"] * (not earlier and site.nodes == 1)),
        (site.nodes, site.one_each(), several + ["--eager"] * (not earlier)),
    )
    every = ["--repetitions", "1", "--min-time", str(effort.exchange_s)]
    return tuple(
        benched("bench_messages", every + options, layout, read) if number > 1 else None
        for number, layout, options in ways
    )


def read(content: Any) -> Round:
    """Reads a repetition from the JSON of bench_messages. Raises ValueError, KeyError or TypeError."""
    pairs, alone, crowded = defaultdict(dict), defaultdict(dict), defaultdict(dict)
    for m in content["measurements"]:
        key, pair, seconds = (m["bytes"], m["messages"]), tuple(m["pair"]), float(m["round_s"])
        if m["at_once"] > 1:
            crowded[pair][key] = seconds
        else:
            pairs[pair].setdefault(key, seconds)
            alone[pair][key] = seconds  # the last one, beside those at once
    whole = {pair: times for pair, times in pairs.items() if (0, 1) in times}
    halves = {pair: (alone[pair], times) for pair, times in crowded.items()}
    return Round(content["nodes"], whole, halves, content["eager_bytes"])


def bandwidth(times: Times) -> float:
    """How the time grows from 1 to 4 MiB, GB/s; not a number if it does not grow."""
    grown = times[LARGEST, 1] - times[LARGE, 1]
    return 1e-9 * (LARGEST - LARGE) / grown if grown > 0 else np.nan


def gap(times: Times) -> float:
    """How the time grows with the number of empty messages, us; not a number if it does not grow."""
    grown = times[0, MANY] - times[0, 1]
    return 1e6 * grown / (MANY - 1) if grown > 0 else np.nan


#: How a value follows from the times of a pair, its unit in a profile, and what it is.
COSTS = {
    "latency": (lambda times: 1e6 * times[0, 1] / 2, "us", "half a round trip"),
    "bandwidth": (bandwidth, "GB/s", "one message of 1 to 4 MiB"),
    "gap": (gap, "us", f"{MANY} empty messages in a row"),
}


def values(rounds: list[Measured], site: Site) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, interconnect.…, and what is unknown, with reasons."""
    inside, outside = ([one for one in way if one] for way in zip(*rounds, strict=True))
    ways = {"latency_node": ("latency", inside), "bandwidth_node": ("bandwidth", inside)}
    ways |= {name: (name, outside) for name in ("latency", "bandwidth")} | {"gap": ("gap", outside or inside)}
    found: dict[str, Value | str] = dict.fromkeys(("fabric", "topology", "nodes_per_leaf"), FABRIC)
    for name, (cost, way) in ways.items():
        found[name] = _cost(cost, way) if way else ONE_NODE if way is outside else ALONE
    found["eager"] = _eager(outside or inside)
    found["congestion"] = _congestion(outside)
    known = {f"interconnect.{name}": of for name, of in found.items() if isinstance(of, Value)}
    return known, {f"interconnect.{name}": of for name, of in found.items() if isinstance(of, str)}


def _cost(name: str, rounds: list[Round]) -> Value | str:
    """The median over pairs in each round, or why it is unknown.

    Pairs whose time does not grow were disturbed and are left out.
    """
    cost, unit, words = COSTS[name]
    table = np.array([[cost(times) for times in r.pairs.values()] for r in rounds])
    per_round = [float(np.median(row[row > 0])) for row in table if (row > 0).any()]
    if not per_round:
        return DISTURBED
    nodes, names = rounds[0].nodes, [f"{rounds[0].nodes[a]}-{rounds[0].nodes[b]}" for a, b in rounds[0].pairs]
    if len(set(nodes)) == 1:
        where = "between the first and the last core"
    elif len(names) == 1:
        where = "between " + names[0].replace("-", " and ")
    else:
        columns = {name: column[column > 0] for name, column in zip(names, table.T, strict=True)}
        middle = {name: float(np.median(column)) for name, column in columns.items() if len(column)}
        low, high = min(middle, key=middle.get), max(middle, key=middle.get)
        where = (
            f"between nodes, median over {len(names)} pairs of {listed(nodes)}: {middle[low]:.3g} ({low})"
            f" to {middle[high]:.3g} ({high})"
        )
    return repeated(per_round, unit, f"{words} {where}")


def _eager(rounds: list[Round]) -> Value | str:
    if not rounds:
        return ALONE
    nodes, eager = rounds[0].nodes, rounds[0].eager
    if eager is None:
        return "even an empty message waits for its receiver"
    where = "within the node" if len(set(nodes)) == 1 else f"from {nodes[0]} to {nodes[-1]}"
    more = "; larger ones were not tried" if eager == LARGEST else ""
    detail = f"{where}, the largest message that left before its receiver asked for it{more}"
    return measured(eager / 1024, "KiB", detail=detail)


def _congestion(rounds: list[Round]) -> Value | str:
    """Median over pairs of the bandwidth alone over that with all pairs at once, in each round."""
    ratios = []
    for each in rounds:
        ratio = [bandwidth(alone) / bandwidth(crowded) for alone, crowded in each.halves.values()]
        ratios += [float(np.nanmedian(ratio))] if np.isfinite(ratio).any() else []
    if not ratios:
        crowded = any(each.halves for each in rounds)
        return DISTURBED if crowded else FEW_NODES if rounds else ONE_NODE
    nodes, pairs = listed(rounds[0].nodes), len(rounds[0].halves)
    return repeated(ratios, "1", f"{pairs} pairs of {nodes} at once, 1 to 4 MiB")
