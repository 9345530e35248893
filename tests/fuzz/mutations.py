"""Changes of files: a list of edits, each a kind, a place and a number, which can be kept and shortened.

Some edits change bytes. Others change what a file means, so that it can still be read: a value of a JSON or
YAML file, a cell of a table, a number or the shape of an array, a member of an archive.
"""

import contextlib
import io
import json
import math
import random
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml


@dataclass(frozen=True)
class Edit:
    """`kind` is a key of KINDS, `place` a share of the file, and `number` says what is put there."""

    kind: str
    place: float
    number: int

    @property
    def rng(self) -> random.Random:
        return random.Random(self.number)


WORDS = (
    "", "-1", "0", "1", "1e308", "-1e-320", "nan", "inf", "-inf", "9223372036854775808", "1e400", "true",
    "null", "\n", "\x00", "\ud7ff", "ü", "<script>", "../../x", "2024-13-45", "0x10", " ", ",", '"',
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 10**30, -(10**30), 0.5, -0.5, 1e308, 5e-324,
    math.nan, math.inf, -math.inf, "", "x", "\n", "\u2028", "<b>", "nan", "1", [], [0], [[]], {}, {"x": 1},
    "x" * 5000,
)  # fmt: skip


def _at(place: float, size: int) -> int:
    return min(int(place * size), max(size - 1, 0))


def _bytes(change: Callable[[bytes, int, int], bytes], beyond: int = 0) -> Callable[[bytes, Edit], bytes]:
    """An edit of bytes at a place, which may be the end where `beyond` is 1."""
    return lambda data, edit: change(data, _at(edit.place, len(data) + beyond), edit.number)


def _word(data: bytes, at: int, number: int) -> bytes:
    return data[:at] + WORDS[number % len(WORDS)].encode(errors="replace") + data[at + number // 64 % 9 :]


def _number(data: bytes, at: int, number: int) -> bytes:
    """Puts a number of one to eight bytes over others."""
    size = 2 ** (number % 4)
    value = (0, 1, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), number)[number // 4 % 5]
    return data[:at] + (value % 2 ** (8 * size)).to_bytes(size, "little") + data[at + size :]


def _paths(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths to all values below `value`."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = []
    for key, part in items:
        found += [(*path, key), *_paths(part, (*path, key))]
    return found


def _change_value(value: Any, edit: Edit) -> Any:
    paths = _paths(value)
    if not paths:
        return VALUES[edit.number % len(VALUES)]
    *path, last = paths[_at(edit.place, len(paths))]
    at = value
    for step in path:
        at = at[step]
    rng = edit.rng
    match rng.randrange(6):
        case 0:
            del at[last]
        case 1 if isinstance(at, dict):
            at[rng.choice(("x", "", "name", "\n", "__class__"))] = at.pop(last)
        case 2:  # what stands elsewhere
            other = value
            for step in rng.choice(paths):
                other = other[step]
            at[last] = json.loads(json.dumps(other))
        case 3 if isinstance(at[last], int | float) and not isinstance(at[last], bool):
            at[last] = at[last] * rng.choice((-1, 0, 2, 10, 0.1)) + rng.choice((0, 0, 1, -1))
        case _:
            at[last] = rng.choice(VALUES)
    return value


def _cell(data: bytes, edit: Edit) -> bytes:
    """Changes a cell, a line or a column of a table; what separates cells is found."""
    text = data.decode()
    sign = "," if "," in text else " "
    rows = [line.split(sign) for line in text.splitlines()]
    if not rows:
        return data
    rng, line = edit.rng, _at(edit.place, len(rows))
    column = rng.randrange(len(rows[line]))
    match rng.randrange(8):
        case 0:
            del rows[line]
        case 1:
            rows.insert(line, list(rng.choice(rows)))
        case 2:
            del rows[line][column]
        case 3:
            rows = [row[:column] + row[column + 1 :] for row in rows]
        case 4:
            rows[line][column] = rng.choice(rng.choice(rows))
        case _:
            rows[line][column] = rng.choice(WORDS)
    return ("\n".join(sign.join(row) for row in rows) + "\n").encode(errors="replace")


def _array(data: bytes, edit: Edit) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    rng = edit.rng
    odd = (np.nan, np.inf, -np.inf, -1, 0, 1e30, 1e-30, 2**62)
    match rng.randrange(6):
        case 0:
            array = array.astype(rng.choice(("<f4", "<f8", ">f4", "<i8", "<u1", "<c16", "?", "S3", "U2")))
        case 1:
            array = array.reshape(-1)[: _at(edit.place, array.size + 1)]
        case 2:
            array = array.T
        case 3:
            array = array[None] if array.ndim < 5 else array.reshape(-1)
        case _ if array.size and array.dtype.kind in "fiu":
            array = array.copy()
            with np.errstate(all="ignore"):
                array.flat[_at(edit.place, array.size)] = np.array(rng.choice(odd)).astype(array.dtype)
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _zip(kind: str) -> Callable[[bytes, Edit], bytes]:
    """An edit of one member of a zip archive, which is packed again; or a member that is lost."""

    def zipped(data: bytes, edit: Edit) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            held = {name: archive.read(name) for name in archive.namelist()}
        rng = edit.rng
        name = rng.choice(list(held))
        if rng.randrange(10) == 0:
            del held[name]
        else:
            held[name] = KINDS[kind](held[name], Edit(kind, edit.place, rng.getrandbits(32)))
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for key, content in held.items():
                archive.writestr(zipfile.ZipInfo(key), content)  # dated 1980, whenever that is done
        return stream.getvalue()

    return zipped


def _tar(data: bytes, edit: Edit) -> bytes:
    """Changes bytes of one member of a tar archive, which is packed again."""
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        held = {m.name: archive.extractfile(m).read() for m in archive.getmembers() if m.isfile()}
    rng = edit.rng
    name, kind = rng.choice(list(held)), rng.choice(BYTES)
    held[name] = KINDS[kind](held[name], Edit(kind, edit.place, rng.getrandbits(32)))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for key, content in held.items():
            entry = tarfile.TarInfo(key)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


KINDS: dict[str, Callable[[bytes, Edit], bytes]] = {
    "flip": _bytes(
        lambda data, at, n: data[:at] + bytes(b ^ 1 << n % 8 for b in data[at : at + 1]) + data[at + 1 :]
    ),
    "set": _bytes(lambda data, at, n: data[:at] + bytes([n % 256]) + data[at + 1 :]),
    "cut": _bytes(lambda data, at, _: data[:at], 1),
    "remove": _bytes(lambda data, at, n: data[:at] + data[at + 1 + n % 40 :]),
    "repeat": _bytes(lambda data, at, n: data[: at + 1 + n % 200] + data[at:]),
    "word": _bytes(_word, 1),
    "number": _bytes(_number),
    "json": lambda data, edit: json.dumps(_change_value(json.loads(data), edit)).encode(),
    "yaml": lambda data, edit: yaml.safe_dump(
        _change_value(yaml.safe_load(data), edit), allow_unicode=True
    ).encode(),
    "cell": _cell, "array": _array, "tar": _tar,
    "array in zip": _zip("array"), "bytes in zip": _zip("number"),
}  # fmt: skip
BYTES = ("flip", "set", "cut", "remove", "repeat", "word", "number")
#: Edits that know what a file with such an end means.
MEANING = {
    ".json": ("json",), ".yaml": ("yaml",), ".csv": ("cell",), "": ("cell",), ".npy": ("array",),
    ".npz": ("array in zip", "bytes in zip"), ".cubex": ("tar",),
}  # fmt: skip


def kinds_for(path: Path) -> list[str]:
    """The edits of a file; those that know its meaning come as often as all others."""
    meaning = MEANING.get(path.suffix, ())
    return [*BYTES, *(meaning * len(BYTES) if meaning else ())]


def edited(data: bytes, edits: list[Edit]) -> bytes:
    """The file after all edits. One that a damaged file does not allow is left out."""
    for edit in edits:
        with warnings.catch_warnings(), contextlib.suppress(Exception):  # of what damaged bytes hold
            warnings.simplefilter("ignore")
            data = KINDS[edit.kind](data, edit)
    return data


def draw(rng: random.Random, kinds: list[str]) -> list[Edit]:
    """One to four edits."""
    count = rng.choice((1, 1, 1, 2, 4))
    return [Edit(rng.choice(kinds), rng.random(), rng.getrandbits(32)) for _ in range(count)]
