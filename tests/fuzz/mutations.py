"""Changes of files: a list of edits, each a kind, a place and a number, which can be shortened.

Some edits change bytes. Others change what a file means, so that it can still be read: a value of a
JSON or YAML file, a cell of a table, a number or the shape of an array, a member of an archive.
"""

import contextlib
import io
import json
import math
import random
import tarfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml


@dataclass(frozen=True)
class Edit:
    """One change of a file."""

    kind: str  #: a key of KINDS
    place: float  #: as a share of the file
    number: int  #: says what is put there

    @property
    def rng(self) -> random.Random:
        return random.Random(self.number)


WORDS = (
    "",
    "-1",
    "0",
    "1",
    "1e308",
    "-1e-320",
    "nan",
    "inf",
    "-inf",
    "9223372036854775808",
    "1e400",
    "true",
    "null",
    "\n",
    "\x00",
    "\ud7ff",
    "ü",
    "<script>",
    "../../x",
    "2024-13-45",
    "0x10",
    " ",
    ",",
    '"',
)
VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63,
    10**30,
    -(10**30),
    0.5,
    -0.5,
    1e308,
    5e-324,
    math.nan,
    math.inf,
    -math.inf,
    "",
    "x",
    "\n",
    "\u2028",
    "<b>",
    "nan",
    "1",
    [],
    [0],
    [[]],
    {},
    {"x": 1},
    "x" * 5000,
)


def _index(place: float, size: int) -> int:
    """The number of the item at a share of `size` items."""
    return min(int(place * size), max(size - 1, 0))


#: Changes bytes: the data, the index of a byte, and a number that says how -> the data.
ByteChange = Callable[[bytes, int, int], bytes]


def _bytes(change: ByteChange, beyond: int = 0) -> Callable[[bytes, Edit], bytes]:
    """An edit of bytes at a place, which may be the end where `beyond` is 1."""
    return lambda data, edit: change(data, _index(edit.place, len(data) + beyond), edit.number)


def _flip(data: bytes, index: int, number: int) -> bytes:
    """Turns a bit over."""
    flipped = bytes(byte ^ 1 << number % 8 for byte in data[index : index + 1])
    return data[:index] + flipped + data[index + 1 :]


def _set(data: bytes, index: int, number: int) -> bytes:
    """Puts another byte there."""
    return data[:index] + bytes([number % 256]) + data[index + 1 :]


def _cut(data: bytes, index: int, number: int) -> bytes:
    """Leaves out all that follows."""
    return data[:index]


def _remove(data: bytes, index: int, number: int) -> bytes:
    """Leaves out up to 40 bytes."""
    return data[:index] + data[index + 1 + number % 40 :]


def _repeat(data: bytes, index: int, number: int) -> bytes:
    """Has up to 200 bytes twice."""
    return data[: index + 1 + number % 200] + data[index:]


def _word(data: bytes, index: int, number: int) -> bytes:
    """Puts one of WORDS in place of up to eight bytes."""
    word = WORDS[number % len(WORDS)].encode(errors="replace")
    return data[:index] + word + data[index + number // 64 % 9 :]


def _number(data: bytes, index: int, number: int) -> bytes:
    """Puts a number of one to eight bytes over others."""
    size = 2 ** (number % 4)
    largest, highest_bit = 2 ** (8 * size) - 1, 2 ** (8 * size - 1)
    value = (0, 1, largest, highest_bit, number)[number // 4 % 5]
    content = (value % 2 ** (8 * size)).to_bytes(size, "little")
    return data[:index] + content + data[index + size :]


def _paths(value: Any, path: tuple = ()) -> list[tuple]:
    """The paths to all values below `value`."""
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    paths = []
    for key, part in items:
        paths += [(*path, key), *_paths(part, (*path, key))]
    return paths


def _part(value: Any, path: Sequence[Any]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


def _change_value(value: Any, edit: Edit) -> Any:
    """Changes a part of a JSON or YAML file."""
    paths = _paths(value)
    if not paths:
        return VALUES[edit.number % len(VALUES)]
    *path, last = paths[_index(edit.place, len(paths))]
    group = _part(value, path)
    rng = edit.rng
    match rng.randrange(6):
        case 0:
            del group[last]
        case 1 if isinstance(group, dict):
            group[rng.choice(("x", "", "name", "\n", "__class__"))] = group.pop(last)
        case 2:  # what stands elsewhere
            other = _part(value, rng.choice(paths))
            group[last] = json.loads(json.dumps(other))
        case 3 if isinstance(group[last], int | float) and not isinstance(group[last], bool):
            group[last] = group[last] * rng.choice((-1, 0, 2, 10, 0.1)) + rng.choice((0, 0, 1, -1))
        case _:
            group[last] = rng.choice(VALUES)
    return value


def _cell(data: bytes, edit: Edit) -> bytes:
    """Changes a cell, a line or a column of a table; what separates cells is found."""
    text = data.decode()
    sign = "," if "," in text else " "
    rows = [line.split(sign) for line in text.splitlines()]
    if not rows:
        return data
    rng, line = edit.rng, _index(edit.place, len(rows))
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


ARRAY_TYPES = ("<f4", "<f8", ">f4", "<i8", "<u1", "<c16", "?", "S3", "U2")
ARRAY_NUMBERS = (np.nan, np.inf, -np.inf, -1, 0, 1e30, 1e-30, 2**62)


def _array(data: bytes, edit: Edit) -> bytes:
    """Changes the type, the shape or a number of an array."""
    array = np.load(io.BytesIO(data), allow_pickle=False)
    rng = edit.rng
    match rng.randrange(6):
        case 0:
            array = array.astype(rng.choice(ARRAY_TYPES))
        case 1:
            array = array.reshape(-1)[: _index(edit.place, array.size + 1)]
        case 2:
            array = array.T
        case 3:
            array = array[None] if array.ndim < 5 else array.reshape(-1)
        case _ if array.size and array.dtype.kind in "fiu":
            array = array.copy()
            with np.errstate(all="ignore"):
                number = np.array(rng.choice(ARRAY_NUMBERS)).astype(array.dtype)
                array.flat[_index(edit.place, array.size)] = number
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _zip(kind: str) -> Callable[[bytes, Edit], bytes]:
    """An edit of one member of a zip archive, which is packed again; or a member that is lost."""

    def zipped(data: bytes, edit: Edit) -> bytes:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        rng = edit.rng
        name = rng.choice(list(members))
        if rng.randrange(10) == 0:
            del members[name]
        else:
            inner = Edit(kind, edit.place, rng.getrandbits(32))
            members[name] = KINDS[kind](members[name], inner)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for member, content in members.items():
                # dated 1980, whenever that is done
                archive.writestr(zipfile.ZipInfo(member), content)
        return stream.getvalue()

    return zipped


def _tar(data: bytes, edit: Edit) -> bytes:
    """Changes bytes of one member of a tar archive, which is packed again."""
    members = {}
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive.getmembers():
            if member.isfile():
                members[member.name] = archive.extractfile(member).read()
    rng = edit.rng
    name, kind = rng.choice(list(members)), rng.choice(BYTES)
    inner = Edit(kind, edit.place, rng.getrandbits(32))
    members[name] = KINDS[kind](members[name], inner)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for member_name, content in members.items():
            entry = tarfile.TarInfo(member_name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def _json(data: bytes, edit: Edit) -> bytes:
    return json.dumps(_change_value(json.loads(data), edit)).encode()


def _yaml(data: bytes, edit: Edit) -> bytes:
    changed = _change_value(yaml.safe_load(data), edit)
    return yaml.safe_dump(changed, allow_unicode=True).encode()


KINDS: dict[str, Callable[[bytes, Edit], bytes]] = {
    "flip": _bytes(_flip),
    "set": _bytes(_set),
    "cut": _bytes(_cut, beyond=1),
    "remove": _bytes(_remove),
    "repeat": _bytes(_repeat),
    "word": _bytes(_word, beyond=1),
    "number": _bytes(_number),
    "json": _json,
    "yaml": _yaml,
    "cell": _cell,
    "array": _array,
    "tar": _tar,
    "array in zip": _zip("array"),
    "bytes in zip": _zip("number"),
}
BYTES = ("flip", "set", "cut", "remove", "repeat", "word", "number")
#: Edits that know what a file with such an end means.
MEANING = {
    ".json": ("json",),
    ".yaml": ("yaml",),
    ".csv": ("cell",),
    "": ("cell",),
    ".npy": ("array",),
    ".npz": ("array in zip", "bytes in zip"),
    ".cubex": ("tar",),
}


def kinds_for(path: Path) -> list[str]:
    """The edits of a file; those that know its meaning come as often as all others."""
    meaning = MEANING.get(path.suffix, ())
    return [*BYTES, *meaning * len(BYTES)]


def edited(data: bytes, edits: list[Edit]) -> bytes:
    """The file after all edits. One that a damaged file does not allow is left out."""
    for edit in edits:
        with warnings.catch_warnings(), contextlib.suppress(Exception):
            warnings.simplefilter("ignore")  # of what damaged bytes hold
            data = KINDS[edit.kind](data, edit)
    return data


def draw(rng: random.Random, kinds: list[str]) -> list[Edit]:
    """One to four edits."""
    count = rng.choice((1, 1, 1, 2, 4))
    return [Edit(rng.choice(kinds), rng.random(), rng.getrandbits(32)) for _ in range(count)]
