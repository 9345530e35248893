"""A range of nodes in words: how sure, with how many, from where on less sure again, and why."""

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import counted, integer, number

from .node_range import EXCLUDED, LIKELY, OPEN, POSSIBLE, SURE, TELLING, Candidate, factor, interval, vague
from .predict import Prediction

AGAIN = {POSSIBLE: "only possible", EXCLUDED: "missed"}  # with more nodes than were likely, or possible
SAME = 1.005  # times as fast, below which it is shown as once


def nodes(p: Prediction) -> str:
    """How many nodes there are, and how many ranks if each node has several."""
    return integer(p.nodes) if p.ranks == p.nodes else f"{integer(p.nodes)} ({counted(p.ranks, 'rank')})"


def certain(c: Candidate) -> str:
    """'possible with 6 nodes, sure with 24 nodes': each number of nodes once, with its strongest word."""
    found = [c.first(word) for word in (POSSIBLE, LIKELY, SURE)]
    words = {p.nodes: c.word(p) for p in found if p}
    return ", ".join(f"{word} with {counted(n, 'node')}" for n, word in words.items())


def fewest(c: Candidate) -> str:
    """'sure with 24 nodes': the fewest likely nodes, else the fewest possible ones; how sure these are."""
    p = c.first(LIKELY) or c.first(POSSIBLE)
    return f"{c.word(p)} with {counted(p.nodes, 'node')}"


def not_with(c: Candidate, word: str) -> str:
    """', not with 32 to 48': more nodes with which the target is less sure again."""
    gaps = c.gaps(word)
    return f", not with {_stretches(c, gaps)}" if gaps else ""


def _stretches(c: Candidate, chosen: list[int]) -> str:
    """'6 and 12 to 256': numbers of nodes, neighbours among those that were tried as one stretch."""
    order = [p.nodes for p in c.usable]
    runs: list[list[int]] = []
    for before, n in zip([0, *order], order, strict=False):
        if n in chosen:
            runs += [[n]] if before not in chosen else []
            runs[-1].append(n)
    said = [integer(r[0]) if r[0] == r[-1] else f"{integer(r[0])} to {integer(r[-1])}" for r in runs]
    return " and ".join(said)


def again(c: Candidate) -> str:
    """'; only possible with 6; missed with 8 to 256': where more nodes make the target less sure again."""
    gaps = next((gaps for word in (LIKELY, POSSIBLE) if c.first(word) and (gaps := c.gaps(word))), [])
    word_of = {p.nodes: c.word(p) for p in c.usable}
    by_word = {word: [n for n in gaps if word_of[n] == word] for word in AGAIN}
    return "".join(f"; {AGAIN[word]} with {_stretches(c, found)}" for word, found in by_word.items() if found)


def jumps(c: Candidate) -> str:
    """Why more nodes take longer, where the MPI library changes its algorithm."""
    said = {why: (p, q) for p, q, why in reversed(c.jumps)}
    return "".join(
        f" {why[0].upper()}{why[1:]}: the real-time factor is {number(factor(q))} on"
        f" {counted(q.nodes, 'node')}, and {number(factor(p))} on {integer(p.nodes)}."
        for why, (p, q) in reversed(said.items())
    )


def speed_up(c: Candidate) -> str:
    """Says beyond how many nodes more of them do not help."""
    last, enough = c.usable[-1], c.enough
    if last.nodes == enough.nodes:
        return ""
    gain = interval(enough).value / interval(c.fastest).value
    if gain < SAME:
        make = "makes" if enough.nodes == 1 else "make"
        return f" More than {counted(enough.nodes, 'node')} {make} it no faster."
    return (
        f" Beyond {counted(enough.nodes, 'node')}, more hardly help: with up to {integer(last.nodes)}, the"
        f" network runs at most {number(gain)} times as fast."
    )


def show_interval(f: Quantity) -> str:
    """A number with its interval."""
    return f"{number(f.value)} ({number(f.low)} to {number(f.high)})"


def open_still(p: Prediction, target: float) -> list[str]:
    """One sentence, where the interval of a prediction is too wide to say anything about a target."""
    found = interval(p)
    return [
        f"Reaching real-time factor {number(target)} with {counted(p.nodes, 'node')} is {OPEN}"
        f" from what is known: {number(found.low, 2)} to {number(found.high, 2)} spans more than a factor of"
        f" {TELLING:g}."
    ] * vague(p, target)
