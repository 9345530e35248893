"""The forwarding table of two levels: through which bridge words of a group go to each rank outside it.

Without a table, words for the member j of any group go through the own group's member j. A table moves
destinations from busy bridges to idle ones, largest first (LPT: Graham 1969, doi 10.1137/0117039), while no
bridge sends to more than `cap` ranks of other groups. With bridges on the receiver's side, the same holds for
words from each rank outside a group into it, and for the ranks that a bridge receives from.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically

from .traffic import peak, unevenness

KIND, VERSION = "forwarding_table", 1


@dataclass(frozen=True)
class Bridges:
    """`bridge` [groups, ranks] is the member of a group through which words between it and a rank go: to the
    rank with bridges on the sender's side, from it on the receiver's. For ranks of the own group it is the
    rank itself. Loads are in routes, [ranks], of the table and without one."""

    sizes: tuple[int, int]
    cap: int
    bridge: np.ndarray
    forwarded: np.ndarray  # what each rank sends on for others
    before: np.ndarray
    partners: np.ndarray  # ranks of other groups to which a rank may send, or from which it may receive
    partners_before: np.ndarray
    side: str = "sender"


def check(sizes: tuple[int, ...], ranks: int, cap: int | None = None) -> None:
    """Raises BadInput for others than two full levels, and for a small cap."""
    text = "x".join(map(str, sizes)) or "none"
    if len(sizes) != 2 or math.prod(sizes) != ranks:
        raise BadInput(f"levels={text}: a forwarding table is for two levels whose product is {ranks} ranks")
    if cap is not None and cap < sizes[1] - 1:
        raise BadInput(
            f"cap={cap}: at least {sizes[1] - 1}, since {sizes[0]} bridges reach {ranks - sizes[0]} ranks"
        )


def balanced(
    pairs: np.ndarray, sizes: tuple[int, ...], cap: int | None = None, side: str = "sender"
) -> Bridges:
    """The table by traffic; `pairs` is T. The cap is the number of connections without a table by default.

    Raises BadInput as `check`.
    """
    check(sizes, len(pairs), cap)
    if side == "receiver":  # the same the other way round
        pairs = pairs.T
    group, blocks = sizes
    cap = blocks - 1 if cap is None else cap
    ranks = np.arange(len(pairs))
    usual = np.tile(ranks % group, (blocks, 1))
    table = usual.copy()
    for block in range(blocks):
        own = pairs[block * group : (block + 1) * group]
        outside = ranks[ranks // group != block]
        table[block, outside] = _assigned(own[:, outside], cap)
    return Bridges(
        (group, blocks), cap, table, _forwarded(pairs, table, group), _forwarded(pairs, usual, group),
        _partners(pairs, table, group), _partners(pairs, usual, group), side,
    )  # fmt: skip


def _assigned(own: np.ndarray, cap: int) -> np.ndarray:
    """[destinations] the member that serves each; `own` [members, destinations] is what members send.

    A member forwards for a destination what the others send there.
    """
    whole = own.sum(axis=0)
    load, taken = np.zeros(len(own)), np.zeros(len(own), dtype=np.int64)
    found = np.empty(own.shape[1], dtype=np.int64)
    for destination in np.argsort(-whole, kind="stable"):
        after = np.where(taken < cap, load + whole[destination] - own[:, destination], np.inf)
        member = int(after.argmin())
        load[member] = after[member]
        taken[member] += 1
        found[destination] = member
    return found


def _through(table: np.ndarray, group: int) -> np.ndarray:
    """[groups, ranks] the rank that is the bridge."""
    return table + group * np.arange(len(table))[:, np.newaxis]


def _forwarded(pairs: np.ndarray, table: np.ndarray, group: int) -> np.ndarray:
    """[ranks] what each rank sends on to other groups for others."""
    ranks = np.arange(len(pairs))
    at = _through(table, group)
    away = ranks // group != np.arange(len(table))[:, np.newaxis]
    whole = pairs.reshape(len(table), group, -1).sum(axis=1)
    forwarded = (whole - pairs[at, ranks]) * away
    return np.bincount(at.ravel(), forwarded.ravel(), len(pairs))


def _partners(pairs: np.ndarray, table: np.ndarray, group: int) -> np.ndarray:
    """[ranks] ranks of other groups for which a rank is the bridge of anything."""
    away = np.arange(len(pairs)) // group != np.arange(len(table))[:, np.newaxis]
    used = away & (pairs.reshape(len(table), group, -1).sum(axis=1) > 0)
    return np.bincount(_through(table, group)[used], minlength=len(pairs))


def write(path: Path, found: Bridges) -> None:
    """Write the table as JSON: the field `table` of the exchange multi_level names such a file."""
    about = {"kind": KIND, "format_version": VERSION, "side": found.side, "dimensions": list(found.sizes)}
    rows = ",\n  ".join(json.dumps(row) for row in found.bridge.tolist())
    write_atomically(path, f'{json.dumps(about)[:-1]},\n "bridge": [\n  {rows}]}}\n')


def content(found: Bridges) -> dict:
    """The content for JSON: level-2 peaks in routes without and with the table; connections of a bridge."""
    return {
        "side": found.side,
        "cap": found.cap,
        "forwarded_peak_before": peak(found.before),
        "forwarded_peak": peak(found.forwarded),
        "forwarded_mean": float(found.forwarded.mean()),
        "connections_before": int(found.partners_before.max()),
        "connections": int(found.partners.max()),
    }


def words(found: Bridges) -> str:
    """One line for people."""
    before, after = unevenness(found.before), unevenness(found.forwarded)
    speaks = "sends to" if found.side == "sender" else "receives from"
    change = 100 * (peak(found.forwarded) / peak(found.before) - 1) if peak(found.before) else 0.0
    return (
        f"level-2 peak, modelled: {peak(found.before):.4g} routes without the table ({before:.3f} times the"
        f" mean), {peak(found.forwarded):.4g} with it ({after:.3f} times), {change:+.1f} %; a bridge {speaks}"
        f" {int(found.partners.max())} ranks elsewhere at most, {int(found.partners_before.max())} before"
    )
