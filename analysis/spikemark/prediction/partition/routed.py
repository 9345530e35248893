"""How long an exchange in levels takes: in every hop, lines of ranks exchange by an ordinary
exchange.

The hops are those of routing.py. A run of words has a frame of two words in each of them. The lines
of a hop exchange at the same time, so the slowest one sets its time; those of a node share its
card. Copies between hops are left out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spikemark.models.exchange_times import WORD_BYTES
from spikemark.models.loggp import Collectives, Traffic, slowest
from spikemark.network.exchanges import TWO_LEVEL, ComposedExchange
from spikemark.network.lanes import Lane

from .routing import Grid, Hop

FRAME_BYTES = 8.0  #: of a run of words
RUN_BYTES = 4.0  #: of a run; a message is taken to be empty as if its words came alone
Exchange = Callable[[Collectives, Traffic], Any]


@dataclass(frozen=True)
class Line:
    """Ranks that meet along a level in one hop."""

    members: np.ndarray  #: numbers of ranks, [member]
    receives: np.ndarray | bool  #: whether each of them gets something there, [member]


@dataclass(frozen=True)
class Step:
    """What lines of ranks send in one hop."""

    lines: list[Traffic]  #: of lines that differ
    turns: int  #: how often a line follows on another
    card_bytes: float  #: through the busiest card of a node


def check(lane: Lane) -> dict[str, str]:
    """The exchanges of the levels of a lane, by what they are, such as "inner ".

    Raises BadInput for levels that do not fit the ranks.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import Loads, rates_of
        >>> description = mam_benchmark.describe(areas=4) | {"exchange": {"name": "two_level"}}
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> check(loads.lanes[0])
        {'inner ': 'alltoallv', 'outer ': 'alltoallv'}
    """
    ranks = sorted({int(n) for n in lane.sizes if n > 1 or len(lane.sizes) == 1})
    two_level = lane.exchange == TWO_LEVEL
    parts = lane.composed.parts
    lane.composed.check(ranks, two_level, f"exchange: lane {lane.name}: ")
    if two_level:
        roles = ["inner ", "outer "]
    else:
        roles = [f"level {number} " for number in range(1, len(parts) + 1)]
    return dict(zip(roles, parts, strict=True))


def seconds(
    net: Collectives, composed: ComposedExchange, traffic: Traffic, exchanges: dict[str, Exchange]
) -> Any:
    """Seconds of an exchange of these ranks: a number, or [setting] as costs have them.

    Args:
        net: the network between them.
        composed: levels, bridges and the exchange of each level.
        traffic: what they send each other in a window.
        exchanges: times of the ordinary exchanges, by name.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.machines.values import Values
        >>> from spikemark.models.exchange_times import EXCHANGES
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> net = Collectives.from_values(Values(jureca), nodes=4)
        >>> others = 1.0 - np.eye(4)
        >>> traffic = Traffic(100 * others, others, node=np.arange(4))
        >>> composed = ComposedExchange(parts=("p2p", "p2p"), group=2)
        >>> round(1e6 * seconds(net, composed, traffic, EXCHANGES), 1)  # microseconds
        3.0
    """
    steps = traffic.kept(replace(composed, parts=()), lambda: _steps(composed, traffic))
    names = list(composed.parts)
    if composed.side == "receiver":
        names.reverse()
    total: Any = 0.0
    for name, step in zip(names, steps, strict=True):
        lines_s = step.turns * slowest(exchanges[name](net, line) for line in step.lines)
        card_s = 0.0
        if step.card_bytes:
            card_s = net.card_s(step.card_bytes)
        total = total + slowest([lines_s, card_s])
    return total


def _steps(composed: ComposedExchange, traffic: Traffic) -> list[Step]:
    """What the lines of every hop send."""
    ranks = traffic.ranks
    grid = Grid(ranks, composed.dimensions(ranks), composed.side, **composed.read_files(ranks))

    def framed_onto(sets: np.ndarray) -> np.ndarray:
        assert traffic.onto is not None, "merging needs the words for sets of ranks"
        words = traffic.onto(sets)
        bytes_and_frames: np.ndarray = words * traffic.word_bytes - FRAME_BYTES * np.expm1(-words)
        return bytes_and_frames

    framed = traffic.bytes + FRAME_BYTES * traffic.messages
    hops = grid.hops(framed, framed_onto if composed.merged else None)
    return [
        _step(grid, level, hop, traffic.node) for level, hop in zip(grid.crossed, hops, strict=True)
    ]


def _step(grid: Grid, level: int, hop: Hop, node: np.ndarray) -> Step:
    """What the lines along a level send in a hop; `node` [rank].

    Of lines that send the same within one node each, one is there: they take equally long.
    """
    lines, turns = _lines(grid, level)
    card_bytes = _card_bytes(hop, node)
    traffic = []
    within_node = set()
    for line in lines:
        if len(line.members) == 1:
            continue
        sent = hop.flow[line.members][:, line.members].toarray() * line.receives
        nodes = node[line.members]
        key = sent.tobytes()
        leaves_node = np.ptp(nodes) > 0
        if leaves_node or key not in within_node:
            shares_card = leaves_node and turns == 1  # lines that take turns have the card alone
            any_run = -np.expm1(-sent / RUN_BYTES)
            card = card_bytes if shares_card else None
            traffic.append(Traffic(sent, any_run, nodes, card=card))
        within_node.add(key)
    return Step(traffic, turns, card_bytes)


def _lines(grid: Grid, level: int) -> tuple[list[Line], int]:
    """The lines of ranks that meet along a level, and how many of them a rank is in at most.

    With a smaller last group, its members sit in several columns, one after another: each gets only
    what is for members of its column. With a table, the second level is one line.
    """
    if level == 1 and grid.table is not None:
        return [Line(np.arange(grid.ranks), True)], 1
    if level == 1 and grid.ragged:
        size = grid.sizes[0]
        first_of_last_group = (grid.ranks - 1) // size * size
        full, last = np.split(np.arange(grid.ranks), [first_of_last_group])
        lines = []
        for column in range(size):
            members = np.append(full[full % size == column], last[column % len(last)])
            lines.append(Line(members, members % size == column))
        return lines, -(-size // len(last))
    first_position = (grid.position - grid.part[level])[grid.rank_at]  # of the line, [position]
    order = np.argsort(first_position, kind="stable")
    ends = np.flatnonzero(np.diff(first_position[order])) + 1
    return [Line(members, True) for members in np.split(grid.rank_at[order], ends)], 1


def _card_bytes(hop: Hop, node: np.ndarray) -> float:
    """Bytes of the hop through the busiest card of a node, one way."""
    entries = hop.flow.tocoo()
    senders = node[entries.row]
    receivers = node[entries.col]
    away = senders != receivers
    by_direction = [
        np.bincount(nodes[away], entries.data[away]).max(initial=0.0)
        for nodes in (senders, receivers)
    ]
    return float(max(by_direction))


def alone(partners: float, sent: float, largest: float, runs: float = 0.0) -> Traffic:
    """Traffic of ranks with a node each, of which the busiest alone is known.

    The arguments are those of `Hop.busiest`, but in bytes; `runs` do not count.

    Example:
        >>> alone(partners=3, sent=1200, largest=400).ranks
        2
    """
    to_other = np.array([[0.0, 1.0], [0.0, 0.0]])
    return Traffic(largest * to_other, partners * to_other, np.arange(2), card=sent)


def seconds_alone(net: Collectives, hops: list[dict[str, float]], words: float) -> float:
    """Seconds of hops by the exchange p2p, each hop as of `Hop.busiest`; a route carries `words`.

    That is the time of `seconds` if all ranks were in the line with the busiest ones, so it is no
    less. A single hop has no frames.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.machines.values import Values
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> net = Collectives.from_values(Values(jureca), nodes=4)
        >>> hop = {"partners": 3.0, "sent": 300.0, "largest": 100.0, "runs": 0.0}
        >>> round(1e6 * seconds_alone(net, [hop], words=1.0), 1)  # microseconds
        2.0
    """
    total = 0.0
    for hop in hops:
        runs = hop["runs"] if len(hops) > 1 else 0.0
        filled_runs = runs * -np.expm1(-words * hop["sent"] / runs) if runs else 0.0
        sent = WORD_BYTES * words * hop["sent"] + FRAME_BYTES * filled_runs
        largest = WORD_BYTES * words * hop["largest"]
        total += net.messages(alone(hop["partners"], sent, largest), by_number=True)
    return total
