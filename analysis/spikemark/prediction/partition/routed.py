"""How long an exchange in levels takes: in every hop, lines of ranks exchange by an ordinary exchange.

The hops are those of routing.py. A run of words has a frame of two words in each of them. The lines of a hop
exchange at the same time, so the slowest one sets its time; those of a node share its card. Copies between
hops are left out.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spikemark.models.loggp import WORD_BYTES, Collectives, Traffic
from spikemark.network.exchanges import TWO_LEVEL, Composed
from spikemark.network.lanes import Lane

from .routing import Grid, Hop

FRAME_BYTES, RUN_BYTES = 8.0, 4.0  # of a run; a message is taken to be empty as if its words came alone
Exchange = Callable[[Collectives, Traffic], float]
Step = tuple[list[Traffic], int, float]  # lines of a hop; how often one follows on another; bytes of a card


def check(lane: Lane) -> dict[str, object]:
    """The exchanges of the levels by what they are. Raises BadInput for levels that do not fit the ranks."""
    ranks = sorted({int(n) for n in lane.sizes if n > 1 or len(lane.sizes) == 1})
    two_level, parts = lane.exchange == TWO_LEVEL, lane.composed.parts
    lane.composed.check(ranks, two_level, f"exchange: lane {lane.name}: ")
    names = ("inner ", "outer ") if two_level else (f"level {k} " for k in range(1, len(parts) + 1))
    return dict(zip(names, parts, strict=True))


def seconds(net: Collectives, composed: Composed, traffic: Traffic, exchanges: dict[str, Exchange]) -> float:
    """Seconds of an exchange of these ranks. `exchanges`: times of the ordinary ones by name."""
    key = replace(composed, parts=())
    if key not in traffic.kept:
        traffic.kept[key] = _steps(composed, traffic)
    order, total = reversed(composed.parts) if composed.side == "receiver" else composed.parts, 0.0
    for name, (lines, times, card) in zip(order, traffic.kept[key], strict=True):
        slowest = max((exchanges[name](net, line) for line in lines), default=0.0)
        total += max(times * slowest, net.net.latency_s + card / net.net.bandwidth if card else 0.0)
    return total


def _steps(composed: Composed, traffic: Traffic) -> list[Step]:
    ranks, node = traffic.ranks, traffic.node
    grid = Grid(ranks, composed.dimensions(ranks), composed.side, **composed.read_files(ranks))

    def onto(sets: np.ndarray) -> np.ndarray:
        words = traffic.onto(sets)
        return words * traffic.word_bytes - FRAME_BYTES * np.expm1(-words)

    framed, steps = traffic.bytes + FRAME_BYTES * traffic.messages, []
    for level, hop in zip(grid.crossed, grid.hops(framed, onto if composed.merged else None), strict=True):
        lines, times = _lines(grid, level)
        card, parts, known = _card(hop, node), [], set()
        for members, takes in lines:
            if len(members) == 1:
                continue
            sent = hop.flow[members][:, members].toarray() * takes
            far = np.ptp(node[members]) > 0
            key = sent.tobytes()
            if far or key not in known:  # lines that send the same within one node each take equally long
                shared = card if far and times == 1 else None  # those that take turns have the card alone
                parts.append(Traffic(sent, -np.expm1(-sent / RUN_BYTES), node[members], card=shared))
            known.add(key)
        steps.append((parts, times, card))
    return steps


def _lines(grid: Grid, level: int) -> tuple[list[tuple[np.ndarray, np.ndarray]], int]:
    """Members of every line of ranks that meet along a level, with who of them gets something there, and how
    many lines a rank is in at most.

    With a smaller last group, its members sit in several columns, one after another: each gets only what is
    for members of its column. With a table, the second level is one line.
    """
    if level == 1 and grid.table is not None:
        return [(np.arange(grid.ranks), np.True_)], 1
    if level == 1 and grid.ragged:
        size, ranks = grid.sizes[0], np.arange(grid.ranks)
        full, last = np.split(ranks, [ranks[-1] // size * size])
        columns = [np.append(full[full % size == c], last[c % len(last)]) for c in range(size)]
        return [(own, own % size == c) for c, own in enumerate(columns)], -(-size // len(last))
    begin = (grid.position - grid.part[level])[grid.at]  # of the line, by position
    order = np.argsort(begin, kind="stable")
    return [(own, np.True_) for own in np.split(grid.at[order], np.flatnonzero(np.diff(begin[order])) + 1)], 1


def _card(hop: Hop, node: np.ndarray) -> float:
    """Bytes of the hop through the busiest card of a node, one way."""
    entries = hop.flow.tocoo()
    ends = node[entries.row], node[entries.col]
    away = ends[0] != ends[1]
    return max(float(np.bincount(end[away], entries.data[away]).max(initial=0.0)) for end in ends)


def alone(partners: float, sent: float, largest: float, runs: float = 0.0) -> Traffic:
    """Traffic of ranks with a node each, known of the busiest alone: as of `Hop.busiest`, but in bytes."""
    to_other = np.array([[0.0, 1.0], [0.0, 0.0]])
    return Traffic(largest * to_other, partners * to_other, np.arange(2), card=sent)


def seconds_alone(net: Collectives, hops: list[dict[str, float]], words: float) -> float:
    """Seconds of hops, each as of `Hop.busiest`, by the exchange p2p; a route carries `words`.

    That is the time of `seconds` if all ranks were in the line with the busiest ones, so it is no less. A
    single hop has no frames.
    """
    total = 0.0
    for hop in hops:
        runs = hop["runs"] if len(hops) > 1 else 0.0
        filled = runs * -np.expm1(-words * hop["sent"] / runs) if runs else 0.0
        sent, largest = (WORD_BYTES * words * hop[name] for name in ("sent", "largest"))
        total += net.messages(alone(hop["partners"], sent + FRAME_BYTES * filled, largest), by_number=True)
    return total
