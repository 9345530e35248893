"""Replays the messages of an exchange on a simulated machine: sizes alone, without spikes (SimGrid).

The program is miniapp/serial/replay.c. Either a rank sends to its targets by number, as the exchange `direct`
does, so that all messages for a rank meet; then SimGrid takes a minute for 65 000 messages. Or ranks take
turns: in step d, a rank sends to the one d places before it in its set and receives from the one d places
behind it, with AHEAD steps on their way. Then thousands of ranks take seconds to minutes, and little memory.
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
BYTES_PER_MESSAGE = 2000  # at most, of SimGrid and MPI, while it is on its way


@dataclass(frozen=True)
class Replayed:
    """Simulated seconds from the beginning to the end of each hop, [hop]: of the last rank, and the mean."""

    last_s: np.ndarray
    mean_s: np.ndarray


@dataclass(frozen=True)
class Messages:
    """A hop: `bytes` [sender, receiver], an entry of 0 is an empty message. A set has `size` ranks, which
    differ by multiples of `stride`."""

    bytes: sparse.csr_array
    stride: int
    size: int


def replay(hops: list[Messages], network: Interconnect, by_number: bool = False) -> Replayed:
    """Replay hops on ranks that have a node each; without `by_number`, ranks take turns.

    Raises BadInput where SimGrid or the program is absent, or memory is too small, and SimulationFailed if
    the program does not print times.
    """
    ranks = hops[0].bytes.shape[0]
    smpirun.version()
    messages = max(hop.bytes.nnz for hop in hops)
    carried = max(float(hop.bytes.sum()) for hop in hops)
    memory.check(BYTES_PER_MESSAGE * messages + carried, f"replaying {messages} messages at a time")
    built = platform.build(network, ranks)
    with tempfile.TemporaryDirectory(prefix="spikemark-replay-") as name:
        folder = Path(name)
        _content(hops, 0 if by_number else AHEAD).tofile(folder / FILE)
        start = smpirun.launch(folder, built, [*built.flags, *FLAGS], "replay_smpi", [FILE])
        status, output, errors = watch(start, LIMIT_S)
    rows = [line.split()[1:] for line in output.splitlines() if line.startswith("time ")]
    if len(rows) != len(hops):
        smpirun.explain(status, f"{output}\n{errors}")
    found = 1e-6 * np.array(rows, dtype=float)[:, 1:]
    return Replayed(found[:, 0], found[:, 1])


def _content(hops: list[Messages], ahead: int) -> np.ndarray:
    """The words of the file, int32."""
    parts = [np.array([hops[0].bytes.shape[0], len(hops), ahead])]
    for hop in hops:
        entries = hop.bytes.tocoo()
        step = (entries.row // hop.stride - entries.col // hop.stride) % hop.size
        for own, other in ((entries.row, entries.col), (entries.col, entries.row)):
            order = np.lexsort((other, step if ahead else other, own))
            begin = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=hop.bytes.shape[0]))])
            parts += [begin, other[order], np.rint(entries.data[order]), step[order]]
    return np.concatenate([part.astype(np.int32) for part in parts])
