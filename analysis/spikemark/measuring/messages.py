"""Single messages between ranks: latency, bandwidth, gap, eager limit, and how pairs disturb each
other.

Both ends of a pair are on one node, or each is the only rank of its node. build/bench_messages
times round trips of a few sizes for each pair in turn, and of large messages for half of the nodes
at once; a round of a calibration starts it once within a node and once between nodes. Of several
pairs, the profile gets the median; the reference names the fastest and the slowest pair.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spikemark.launch import LaunchLayout
from spikemark.machines.profile import Value

from .bench_program import run_bench
from .site import (
    NO_SECOND_CORE,
    ONE_NODE,
    Effort,
    Site,
    ValuesAndUnknown,
    listed,
    measured,
    repeated,
)

#: Bytes of the large messages, and messages in a row, of bench/bench_messages_times.c.
LARGE = 1 << 20
LARGEST = 1 << 22
MANY = 64
#: Pairs of nodes between which messages are timed, at most.
MAX_PAIRS = 32
#: Pairs of nodes that can disturb each other.
MIN_PAIRS_AT_ONCE = 2
#: Why values are unknown.
DISTURBED = "every repetition was disturbed"
FABRIC = "messages do not show it; write it into this file"
FEW_NODES = "fewer than four nodes do not show it"
#: (Bytes, messages in a row) -> seconds until the answer.
RoundTrips = dict[tuple[int, int], float]
#: The ranks at both ends of messages.
Pair = tuple[int, int]


class HalvedTimes(NamedTuple):
    """Times of large messages from one half of the nodes to the other, of a pair of them."""

    alone: RoundTrips  #: while no other pair sends
    crowded: RoundTrips  #: while all pairs send at once


@dataclass(frozen=True)
class MessageRepetition:
    """A repetition of bench_messages."""

    nodes: list[str]  #: the node of each rank
    pairs: dict[Pair, RoundTrips]  #: times of each pair, measured one after the other
    halves: dict[Pair, HalvedTimes] = field(default_factory=dict)  #: {} with fewer than four nodes
    eager: int | None = None  #: eager limit in bytes; None: not looked for, or nothing leaves early


class MessageRound(NamedTuple):
    """What a round of a calibration measures: None where there is one core, or one node."""

    within: MessageRepetition | None  #: between the first and the last core of a node
    between: MessageRepetition | None  #: between nodes


def one_round(
    site: Site,
    effort: Effort,
    folder: Path,
    earlier: list[MessageRound],
) -> MessageRound:
    """Measures between the first and the last core of a node, and between nodes.

    Between nodes, pair by pair and half of them at once. The first round looks for the eager limit,
    too. Raises ProgramFailed.
    """
    within = ["--repetitions", "1", "--min-time", str(effort.exchange_s)]
    between = [*within, "--pairs", str(MAX_PAIRS)]
    if site.nodes >= 2 * MIN_PAIRS_AT_ONCE:
        between.append("--bisection")
    if not earlier:
        between.append("--eager")
        if site.nodes == 1:
            within.append("--eager")
    return MessageRound(
        within=_bench(within, site.full(1)) if site.cores > 1 else None,
        between=_bench(between, site.one_each()) if site.nodes > 1 else None,
    )


def _bench(options: list[str], layout: LaunchLayout) -> MessageRepetition:
    """A repetition on a layout of ranks. Raises ProgramFailed."""
    return run_bench("bench_messages", options, layout, repetition_of_json)


def repetition_of_json(content: Any) -> MessageRepetition:
    """A repetition from the JSON of bench_messages. Raises ValueError, KeyError or TypeError.

    Example:
        >>> trips = {"bytes": 0, "messages": 1, "pair": [0, 1], "at_once": 1, "round_s": 2e-6}
        >>> content = {"nodes": ["a", "b"], "measurements": [trips], "eager_bytes": None}
        >>> repetition_of_json(content).pairs
        {(0, 1): {(0, 1): 2e-06}}
    """
    pairs: dict[Pair, RoundTrips] = {}
    alone: dict[Pair, RoundTrips] = {}
    crowded: dict[Pair, RoundTrips] = {}
    for measurement in content["measurements"]:
        kind = (measurement["bytes"], measurement["messages"])
        first, last = measurement["pair"]
        pair = (first, last)
        seconds = float(measurement["round_s"])
        if measurement["at_once"] > 1:
            crowded.setdefault(pair, {})[kind] = seconds
            continue
        pairs.setdefault(pair, {}).setdefault(kind, seconds)
        alone.setdefault(pair, {})[kind] = seconds  # the last one, beside those at once
    complete = {pair: times for pair, times in pairs.items() if (0, 1) in times}
    halves = {pair: HalvedTimes(alone[pair], times) for pair, times in crowded.items()}
    return MessageRepetition(content["nodes"], complete, halves, content["eager_bytes"])


def latency(times: RoundTrips) -> float:
    """Half a round trip of an empty message, us.

    Example:
        >>> latency({(0, 1): 2e-6})  # half of a round trip, µs
        1.0
    """
    return 1e6 * times[0, 1] / 2


def _bandwidth(times: RoundTrips) -> float:
    """How the time grows from 1 to 4 MiB, GB/s; not a number if it does not grow."""
    growth_s = times[LARGEST, 1] - times[LARGE, 1]
    if growth_s <= 0:
        return np.nan
    return 1e-9 * (LARGEST - LARGE) / growth_s


def _gap(times: RoundTrips) -> float:
    """How the time grows with the number of empty messages, us; not a number if it does not."""
    growth_s = times[0, MANY] - times[0, 1]
    if growth_s <= 0:
        return np.nan
    return 1e6 * growth_s / (MANY - 1)


class MessageCost(NamedTuple):
    """A cost of messages that a profile states."""

    of_pair: Callable[[RoundTrips], float]  #: how it follows from the times of a pair
    unit: str  #: in a profile
    words: str  #: what it is


LATENCY = MessageCost(latency, "us", "half a round trip")
BANDWIDTH = MessageCost(_bandwidth, "GB/s", "one message of 1 to 4 MiB")
GAP = MessageCost(_gap, "us", f"{MANY} empty messages in a row")


def values(rounds: list[MessageRound], site: Site) -> ValuesAndUnknown:
    """Values by path, interconnect.…, and what is unknown, with reasons.

    Example:
        >>> alone = MessageRound(within=None, between=None)
        >>> values_by_path, unknown = values([alone], Site(nodes=1, cores=1))
        >>> values_by_path, unknown["interconnect.latency"]
        ({}, 'one node does not show it')
    """
    within = [round_.within for round_ in rounds if round_.within]
    between = [round_.between for round_ in rounds if round_.between]
    values_or_reasons: dict[str, Value | str] = {
        "fabric": FABRIC,
        "topology": FABRIC,
        "nodes_per_leaf": FABRIC,
        "latency_node": _value(LATENCY, within, without=NO_SECOND_CORE),
        "bandwidth_node": _value(BANDWIDTH, within, without=NO_SECOND_CORE),
        "latency": _value(LATENCY, between, without=ONE_NODE),
        "bandwidth": _value(BANDWIDTH, between, without=ONE_NODE),
        "gap": _value(GAP, between or within, without=NO_SECOND_CORE),
        "eager": _eager(between or within),
        "congestion": _congestion(between),
    }
    calibrated = {}
    unknown = {}
    for name, value in values_or_reasons.items():
        if isinstance(value, Value):
            calibrated[f"interconnect.{name}"] = value
        else:
            unknown[f"interconnect.{name}"] = value
    return calibrated, unknown


def _value(cost: MessageCost, rounds: list[MessageRepetition], without: str) -> Value | str:
    """The median over pairs in each round, or why it is unknown: `without` where no round has any.

    Pairs whose time does not grow were disturbed and are left out.
    """
    if not rounds:
        return without
    costs = np.array([_costs(cost, repetition) for repetition in rounds])  # [round, pair]
    per_round = [float(np.median(row[row > 0])) for row in costs if (row > 0).any()]
    if not per_round:
        return DISTURBED
    return repeated(per_round, cost.unit, f"{cost.words} {_where(rounds[0], costs)}")


def _costs(cost: MessageCost, repetition: MessageRepetition) -> list[float]:
    """A cost of each pair."""
    return [cost.of_pair(times) for times in repetition.pairs.values()]


def _where(repetition: MessageRepetition, costs: np.ndarray) -> str:
    """Between which ranks costs [round, pair] were measured, and how far pairs are apart."""
    nodes = repetition.nodes
    if len(set(nodes)) == 1:
        return "between the first and the last core"
    names = [(nodes[first], nodes[last]) for first, last in repetition.pairs]
    if len(names) == 1:
        return f"between {' and '.join(names[0])}"
    medians = []
    for (first, last), column in zip(names, costs.T, strict=True):
        undisturbed = column[column > 0]
        if len(undisturbed):
            medians.append((float(np.median(undisturbed)), f"{first}-{last}"))
    lowest, fastest = min(medians, key=lambda median: median[0])
    highest, slowest = max(medians, key=lambda median: median[0])
    spread = f"{lowest:.3g} ({fastest}) to {highest:.3g} ({slowest})"
    return f"between nodes, median over {len(names)} pairs of {listed(nodes)}: {spread}"


def _eager(rounds: list[MessageRepetition]) -> Value | str:
    """The eager limit in KiB, which the first round looks for, or why it is unknown."""
    if not rounds:
        return NO_SECOND_CORE
    nodes, eager = rounds[0].nodes, rounds[0].eager
    if eager is None:
        return "even an empty message waits for its receiver"
    where = "within the node" if len(set(nodes)) == 1 else f"from {nodes[0]} to {nodes[-1]}"
    detail = f"{where}, the largest message that left before its receiver asked for it"
    if eager == LARGEST:
        detail = f"{detail}; larger ones were not tried"
    return measured(eager / 1024, "KiB", detail=detail)


def _congestion(rounds: list[MessageRepetition]) -> Value | str:
    """Bandwidth of a pair alone over that with all pairs at once, median over pairs in each round;
    or why it is unknown.
    """
    medians = []
    for repetition in rounds:
        ratios = [
            _bandwidth(times.alone) / _bandwidth(times.crowded)
            for times in repetition.halves.values()
        ]
        if np.isfinite(ratios).any():
            medians.append(float(np.nanmedian(ratios)))
    if medians:
        nodes, pairs = listed(rounds[0].nodes), len(rounds[0].halves)
        return repeated(medians, "1", f"{pairs} pairs of {nodes} at once, 1 to 4 MiB")
    if not rounds:
        return ONE_NODE
    if any(repetition.halves for repetition in rounds):
        return DISTURBED
    return FEW_NODES
