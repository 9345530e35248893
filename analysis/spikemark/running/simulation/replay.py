"""Replays the messages of an exchange on a simulated machine: sizes alone, without spikes (SimGrid).

The program is miniapp/serial/replay.c. Ranks may take turns: in step d, a rank sends to the one d places
before it in its set and receives from the one d places behind it, with AHEAD steps on their way. Then
thousands of ranks take minutes. Or a rank sends to its targets by number, so that all messages for a rank
meet. Then SimGrid takes seconds for 4000 messages and many minutes for 65 000.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core import memory
from spikemark.core.process import watch
from spikemark.machines.interconnect import Interconnect

from . import platform, smpirun

FLAGS = ["--cfg=smpi/simulate-computation:no", "--cfg=contexts/stack-size:128"]  # KiB, of a rank
FILE, LIMIT_S = "messages", 3600.0
AHEAD = 16  # as the mini-app's all-to-all of many messages (platform.AHEAD)
IN_TURN, BY_NUMBER, AS_DIRECT = "in turn", "by number", "by number, as direct"
#: Orders of messages, and what the file says of them. By number, a rank takes what comes first, as the
#: exchange p2p does; as direct, it receives by number, too.
ORDERS = {IN_TURN: AHEAD, BY_NUMBER: 0, AS_DIRECT: -1}
#: Bytes, at most, as measured on 2 to 2000 ranks: of SimGrid alone, of a rank, of a message in the file and
#: here, and of one on its way besides what it carries.
ALONE, PER_RANK, PER_MESSAGE, ON_THE_WAY = 40e6, 60e3, 600, 5000


@dataclass(frozen=True)
class Replayed:
    """Simulated seconds from the beginning to the end of each hop, [hop]: of the last rank, and the mean.
    `peak_bytes`: the most memory that the simulator held."""

    last_s: np.ndarray
    mean_s: np.ndarray
    peak_bytes: int


@dataclass(frozen=True)
class Messages:
    """A hop: `bytes` [sender, receiver], an entry of 0 is an empty message. A set has `size` ranks, which
    differ by multiples of `stride`."""

    bytes: sparse.csr_array
    stride: int
    size: int


def replay(hops: list[Messages], network: Interconnect, order: str = IN_TURN) -> Replayed:
    """Replay hops on ranks that have a node each; `order` is one of ORDERS.

    Raises BadInput where SimGrid or the program is absent, or memory is too small, and SimulationFailed if
    the program does not print times.
    """
    ranks = hops[0].bytes.shape[0]
    smpirun.version()
    most = max(hop.bytes.nnz for hop in hops)
    memory.check(needed(hops, network, order), f"{ranks} ranks: replaying {most} messages at a time")
    built = platform.build(network, ranks)
    with tempfile.TemporaryDirectory(prefix="spikemark-replay-") as name:
        folder = Path(name)
        _content(hops, ORDERS[order]).tofile(folder / FILE)
        start = smpirun.launch(folder, built, [*built.flags, *FLAGS], "replay_smpi", [FILE])
        status, output, errors = watch(start, LIMIT_S)
    words = [line.split() for line in output.splitlines()]
    rows = [row[1:] for row in words if row[:1] == ["time"]]
    peak = [int(row[1]) for row in words if row[:1] == ["memory"]]
    if len(rows) != len(hops) or not peak:
        smpirun.explain(status, f"{output}\n{errors}")
    found = 1e-6 * np.array(rows, dtype=float)[:, 1:]
    return Replayed(found[:, 0], found[:, 1], peak[0])


def needed(hops: list[Messages], network: Interconnect, order: str) -> float:
    """Bytes that a replay takes at most. Messages that do not wait for their receivers are copied."""
    ranks, whole = hops[0].bytes.shape[0], sum(hop.bytes.nnz for hop in hops)
    on_the_way, copied = 0, 0.0
    for hop in hops:
        at_once = min(hop.bytes.nnz, ranks * AHEAD) if order == IN_TURN else hop.bytes.nnz
        eager = hop.bytes.data[hop.bytes.data <= network.eager]
        on_the_way = max(on_the_way, at_once)
        copied = max(copied, min(eager.sum(), at_once * eager.max(initial=0)))
    return ALONE + PER_RANK * ranks + PER_MESSAGE * whole + ON_THE_WAY * on_the_way + copied


def _content(hops: list[Messages], ahead: int) -> np.ndarray:
    """The words of the file, int32."""
    parts = [np.array([hops[0].bytes.shape[0], len(hops), ahead])]
    for hop in hops:
        entries = hop.bytes.tocoo()
        step = (entries.row // hop.stride - entries.col // hop.stride) % hop.size
        for own, other in ((entries.row, entries.col), (entries.col, entries.row)):
            order = np.lexsort((other, step if ahead > 0 else other, own))
            begin = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=hop.bytes.shape[0]))])
            parts += [begin, other[order], np.rint(entries.data[order]), step[order]]
    return np.concatenate([part.astype(np.int32) for part in parts])
