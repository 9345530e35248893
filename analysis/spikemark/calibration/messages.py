"""Single messages between ranks: latency, bandwidth, gap, the eager limit, and how pairs disturb each other.

Both ends of a pair are on one node, or each is the only rank of its node. Of several pairs, the profile gets
the median; the reference names the fastest and the slowest pair.
"""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from spikemark.bench.kernel_bench import BenchFailed, failed
from spikemark.core import launch, places
from spikemark.core.process import watch
from spikemark.machines.profile import Value

from .effort import Effort
from .site import Site, listed
from .values import measured, repeated

LIMIT_S = 3600
LARGE, LARGEST, MANY = 1 << 20, 1 << 22, 64  # bytes, bytes, messages; of bench/bench_messages_times.c
FEWEST_AT_ONCE = 2  # pairs of nodes that can disturb each other
LEVELS = 1.3  # from one latency to the next larger one, where nodes seem to be on different switches
DISTURBED = "every repetition was disturbed"
ALONE = "there is one core, so there are no messages between ranks"
ONE_NODE = "one node does not show it"
FABRIC = "messages do not show it; write it into this file"
FEW_NODES = "fewer than four nodes do not show it"
#: (Bytes, messages in a row) -> seconds until the answer.
Times = dict[tuple[int, int], float]
Pair = tuple[int, int]


@dataclass(frozen=True)
class Round:
    """A repetition of bench_messages.

    `nodes`: the node of each rank; `pairs`: the times of each pair; `halves`: the times of large messages
    between the two halves of the nodes, of one pair alone and of all at once; `eager`: the eager limit in
    bytes, None if it was not looked for, or if no message leaves early.
    """

    nodes: list[str]
    pairs: dict[Pair, Times]
    halves: dict[Pair, tuple[Times, Times]]
    eager: int | None


def within(site: Site, effort: Effort, first: bool) -> Round | None:
    """Measures between the first and the last core of a node; None on a single core. Raises BenchFailed."""
    if site.cores < 2:
        return None
    return _run(site.full(1), effort, ["--eager"] if first and site.nodes == 1 else [])


def between(site: Site, effort: Effort, first: bool) -> Round | None:
    """Measures between nodes, pair by pair and half of them at once; None on one node. Raises BenchFailed."""
    if site.nodes < 2:
        return None
    options = ["--pairs", str(effort.pairs)]
    options += ["--bisection"] if site.nodes >= 2 * FEWEST_AT_ONCE else []
    return _run(site.one_each(), effort, options + (["--eager"] if first else []))


def _run(layout: launch.Layout, effort: Effort, options: list[str]) -> Round:
    program = str(places.program("bench_messages"))
    command = [program, "--repetitions", "1", "--min-time", str(effort.exchange_s), *options]
    finished = watch(launch.launch(None, command, layout), LIMIT_S)
    if finished.status != 0:
        raise failed(program, finished)
    try:
        return read(json.loads(finished.output))
    except (ValueError, KeyError, TypeError) as error:
        raise BenchFailed(f"{program}: exit status 0, but no valid JSON: {error}") from None


def read(content: Any) -> Round:
    """Reads a repetition from the JSON of bench_messages. Raises ValueError, KeyError or TypeError."""
    pairs: dict[Pair, Times] = {}
    alone: dict[Pair, Times] = {}
    crowded: dict[Pair, Times] = {}
    for m in content["measurements"]:
        key, seconds = (m["bytes"], m["messages"]), float(m["round_s"])
        if m["at_once"] > 1:
            crowded.setdefault(tuple(m["pair"]), {})[key] = seconds
        else:
            pairs.setdefault(tuple(m["pair"]), {}).setdefault(key, seconds)
            alone.setdefault(tuple(m["pair"]), {})[key] = seconds  # the last one, beside those at once
    whole = {pair: times for pair, times in pairs.items() if (0, 1) in times}
    return Round(
        content["nodes"],
        whole,
        {pair: (alone[pair], times) for pair, times in crowded.items()},
        content["eager_bytes"],
    )


def latency(times: Times) -> float:
    """Half a round trip of empty messages, us."""
    return 1e6 * times[0, 1] / 2


def bandwidth(times: Times) -> float:
    """How the time grows from 1 to 4 MiB, GB/s; not a number if it does not grow."""
    grown = times[LARGEST, 1] - times[LARGE, 1]
    return 1e-9 * (LARGEST - LARGE) / grown if grown > 0 else np.nan


def gap(times: Times) -> float:
    """How the time grows with the number of empty messages, us; not a number if it does not grow."""
    grown = times[0, MANY] - times[0, 1]
    return 1e6 * grown / (MANY - 1) if grown > 0 else np.nan


#: How a value follows from the times of a pair, and what it is.
COSTS = {
    "latency": (latency, "us", "half a round trip"),
    "bandwidth": (bandwidth, "GB/s", "one message of 1 to 4 MiB"),
    "gap": (gap, "us", f"{MANY} empty messages in a row"),
}


def values(inside: list[Round], outside: list[Round]) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, interconnect.…, and what is unknown, from rounds within a node and between nodes."""
    found, unknown = {}, {}
    ways = [("latency", "latency_node", inside), ("bandwidth", "bandwidth_node", inside)]
    ways += [(name, name, outside) for name in ("latency", "bandwidth")]
    ways.append(("gap", "gap", outside or inside))
    for cost, name, rounds in ways:
        path, why = f"interconnect.{name}", ONE_NODE if rounds is outside else ALONE
        value = _cost(cost, rounds) if rounds else None
        if value is None:
            unknown[path] = DISTURBED if rounds else why
        else:
            found[path] = value
    for part in (_eager(outside or inside), _congestion(outside), _topology(outside)):
        found, unknown = found | part[0], unknown | part[1]
    return found, unknown


def _cost(name: str, rounds: list[Round]) -> Value | None:
    """The median over pairs in each round. Pairs whose time does not grow were disturbed and are left out."""
    cost, unit, words = COSTS[name]
    table = np.array([[cost(times) for times in r.pairs.values()] for r in rounds])
    per_round = [float(np.median(row[row > 0])) for row in table if (row > 0).any()]
    if not per_round:
        return None
    return repeated(per_round, unit, f"{words} {_ends(table, rounds[0])}")


def _ends(table: np.ndarray, first: Round) -> str:
    """Where the pairs of a table [round, pair] lie and, if there are several, how far they are apart."""
    names = [f"{first.nodes[a]}-{first.nodes[b]}" for a, b in first.pairs]
    if len(set(first.nodes)) == 1:
        return "between the first and the last core"
    if len(names) == 1:
        return "between " + names[0].replace("-", " and ")
    places = [i for i in range(len(names)) if (table[:, i] > 0).any()]
    middle = {names[i]: float(np.median(table[:, i][table[:, i] > 0])) for i in places}
    low, high = min(middle, key=middle.get), max(middle, key=middle.get)
    return (
        f"between nodes, median over {len(names)} pairs of {listed(first.nodes)}: {middle[low]:.3g} ({low})"
        f" to {middle[high]:.3g} ({high})"
    )


def _eager(rounds: list[Round]) -> tuple[dict[str, Value], dict[str, str]]:
    path = "interconnect.eager"
    if not rounds:
        return {}, {path: ALONE}
    first = rounds[0]
    if first.eager is None:
        return {}, {path: "even an empty message waits for its receiver"}
    where = "within the node" if len(set(first.nodes)) == 1 else f"from {first.nodes[0]} to {first.nodes[-1]}"
    more = "; larger ones were not tried" if first.eager == LARGEST else ""
    detail = f"{where}, the largest message that left before its receiver asked for it{more}"
    return {path: measured(first.eager / 1024, "KiB", detail=detail)}, {}


def _congestion(rounds: list[Round]) -> tuple[dict[str, Value], dict[str, str]]:
    """Median over pairs of the bandwidth alone over that with all pairs at once, in each round."""
    path, ratios = "interconnect.congestion", []
    for each in rounds:
        ratio = [bandwidth(alone) / bandwidth(crowded) for alone, crowded in each.halves.values()]
        ratios += [float(np.nanmedian(ratio))] if np.isfinite(ratio).any() else []
    if not ratios:
        crowded = any(each.halves for each in rounds)
        return {}, {path: DISTURBED if crowded else FEW_NODES if rounds else ONE_NODE}
    nodes, pairs = listed(rounds[0].nodes), len(rounds[0].halves)
    return {path: repeated(ratios, "1", f"{pairs} pairs of {nodes} at once, 1 to 4 MiB")}, {}


def _topology(rounds: list[Round]) -> tuple[dict[str, Value], dict[str, str]]:
    """Why fabric and topology stay unknown: latencies show how far nodes are apart, not what links them."""
    reason = ONE_NODE
    if rounds:
        pairs = list(rounds[0].pairs)
        middle = sorted(float(np.median([latency(r.pairs[p]) for r in rounds])) for p in pairs)
        # Two pairs at least on either side: a single one may have been disturbed.
        steps = {i: middle[i] / middle[i - 1] for i in range(2, len(middle) - 1)}
        far = max(steps, key=steps.get, default=None)
        far = far if far and steps[far] >= LEVELS else None
        if len(pairs) == 1:
            reason = "one pair of nodes does not show it"
        elif far is None:
            reason = (
                f"latencies of {len(pairs)} pairs, {middle[0]:.3g} to {middle[-1]:.3g} us, show one level"
            )
        else:
            reason = (
                f"latencies show two levels, {middle[0]:.3g} to {middle[far - 1]:.3g} us ({far} pairs) and"
                f" {middle[far]:.3g} to {middle[-1]:.3g} us ({len(pairs) - far}), but not what links them"
            )
    unknown = {"fabric": FABRIC, "topology": reason, "nodes_per_leaf": reason}
    return {}, {f"interconnect.{name}": why for name, why in unknown.items()}
