"""Reads .npy files of numbers without NumPy, in pieces and with bounds."""

from __future__ import annotations

import array
import math
import os
import re
import stat
import sys

from .reading import Absent, Unusable

HEADER = re.compile(
    rb"\{'descr': '<(?P<type>[fu])4', 'fortran_order': False,"
    rb" 'shape': \((?P<shape>\d{1,15}(, \d{1,15})*)(, |,)?\), \}"
    rb" *\n"
)
PIECE = 2**16  # numbers read at a time


class Numbers:
    """A file of 32-bit numbers in C order: `kind` f (IEEE) or u (unsigned), and its `shape`."""

    def __init__(self, path: str, kind: str, shape: tuple) -> None:
        """Raises Absent, or Unusable for another kind, shape or size of the file."""
        self.path, self.kind, self.shape = path, kind, tuple(shape)
        try:
            found = os.lstat(path)
            if not stat.S_ISREG(found.st_mode):
                raise Unusable("not a regular file")
            with open(path, "rb") as stream:
                head = stream.read(10)
                if head[:8] != b"\x93NUMPY\x01\x00" or len(head) < 10:
                    raise Unusable("not a .npy file of version 1.0")
                size = int.from_bytes(head[8:], "little")
                header = HEADER.fullmatch(stream.read(size))
        except FileNotFoundError:
            raise Absent("not there") from None
        except OSError as error:
            raise Unusable(f"cannot be read: {error}") from None
        if header is None or header["type"].decode() != kind:
            raise Unusable(f"its header is not that of 32-bit numbers of the kind {kind!r}")
        stated = tuple(int(n) for n in header["shape"].split(b", "))
        if stated != self.shape:
            raise Unusable(f"shape {list(stated)}; the record has {list(self.shape)}")
        self.start = 10 + size
        wanted = 4 * math.prod(self.shape)
        if found.st_size - self.start != wanted:
            raise Unusable(f"{found.st_size - self.start} bytes of numbers; the shape needs {wanted}")

    def piece(self, first: int, count: int) -> array.array:
        """The numbers `first` to `first + count - 1` of the flat array. Raises Unusable if it was cut."""
        found = array.array("f" if self.kind == "f" else "I")
        if found.itemsize != 4:
            raise Unusable("this Python has no numbers of 32 bits")
        try:
            with open(self.path, "rb") as stream:
                stream.seek(self.start + 4 * first)
                found.fromfile(stream, count)
        except (OSError, EOFError):
            raise Unusable("it was cut off while it was read") from None
        if sys.byteorder == "big":
            found.byteswap()
        return found

    def pieces(self, first: int, count: int, multiple: int):
        """The same in pieces of a multiple of `multiple` numbers."""
        step = max(1, PIECE // multiple) * multiple
        for at in range(first, first + count, step):
            yield self.piece(at, min(step, first + count - at))


class Times(Numbers):
    """cycles.npy: seconds, [rank, cycle, phase]."""

    def __init__(self, path: str, ranks: int, cycles: int, phases: list) -> None:
        super().__init__(path, "f", (ranks, cycles, len(phases)))
        self.ranks, self.cycles, self.phases = ranks, cycles, list(phases)

    def block(self, rank: int, first: int, cycles: int) -> array.array:
        """[cycle, phase] of one rank, flat."""
        width = len(self.phases)
        return self.piece((rank * self.cycles + first) * width, cycles * width)

    def sums(self, rank: int) -> tuple:
        """(time of each phase in s, [phase]; whether every time is a finite number >= 0, [phase])."""
        width = len(self.phases)
        totals, good = [0.0] * width, [True] * width
        for piece in self.pieces(rank * self.cycles * width, self.cycles * width, width):
            for p in range(width):
                column = piece[p::width]
                total = sum(column)
                totals[p] += total
                good[p] = good[p] and math.isfinite(total) and min(column) >= 0
        return totals, good
