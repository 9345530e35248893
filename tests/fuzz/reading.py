"""Readers of files under the fuzzer: what one is, its files to be changed, and what it must not do.

Of a changed file a reader says in one line what is wrong (BadInput), or it returns a valid result:
one whose numbers JSON can hold.
"""

import contextlib
import io
import json
import os
import random
import shutil
import signal
import socket
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mutations
import numpy as np
from mutations import Edit
from pydantic import BaseModel

from spikemark.cli import main
from spikemark.core.errors import BadInput
from spikemark.core.reading import encodable

PATIENCE_S = 60  # for one example in a process of its own


class Reader(NamedTuple):
    """`make` writes real files into an empty folder, `files` says which of them are changed (a
    glob).

    `read` reads the folder and returns what JSON can hold. `apart`: a library in C reads the files,
    so that every example is read in a process of its own.
    """

    make: Callable[[Path], Any]
    files: str
    read: Callable[[Path], Any]
    apart: bool = False

    def complaint(self, folder: Path) -> str | None:
        """What it does with a folder that it must not do; None if all is well."""
        return _in_a_process(self, folder) if self.apart else _complaint(self, folder)


def command(*arguments) -> Any:
    """What a verb of the command line prints as JSON. Raises BadInput where it refuses with one
    line.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main([*map(str, arguments), "--json"])
            status = None
        except SystemExit as end:
            status = end.code
    errors, output = err.getvalue(), out.getvalue()
    line, *others = errors.splitlines() or [""]
    # Below the line, further faults of the same file have an indented line each.
    is_refusal = line.startswith("spikemark: ") and all(text.startswith("  ") for text in others)
    if status == 2 and is_refusal and not output:
        raise BadInput(line.removeprefix("spikemark: "), code="file")
    if status != 0:
        raise AssertionError(f"status {status}: {errors[-500:]} {output[:80]}")
    return json.loads(output, parse_constant=float)


def plain(value: Any) -> str:
    """The value as JSON. Raises AssertionError for what JSON cannot hold, such as NaN."""

    def content(part: Any) -> Any:
        if isinstance(part, BaseModel):
            return part.model_dump()
        if isinstance(part, np.ndarray | np.generic):
            return part.tolist()
        return str(part)

    try:
        return json.dumps(value, allow_nan=False, default=content)
    except ValueError as error:
        raise AssertionError(f"a result that JSON cannot hold: {error}") from None


def _complaint(reader: Reader, folder: Path) -> str | None:
    """What a reader does with a folder that it must not do; None if all is well."""
    try:
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            plain(reader.read(folder))
    except BadInput as error:
        line = str(error)
        if not line.strip() or len(line.splitlines()) > 1 or not encodable(line):
            return f"a refusal that is not one line of UTF-8: {line!r}"
        return None
    except (KeyboardInterrupt, SystemExit):
        raise
    except OSError as error:
        return None if error.filename is not None else f"{type(error).__name__}: {error}"
    except BaseException as error:
        words = " ".join(str(error).split())[:200]
        return f"{type(error).__name__} in {_last_place(error)}: {words}"
    for warning in raised:
        if issubclass(warning.category, RuntimeWarning | UserWarning):
            place = f"{Path(warning.filename).name}:{warning.lineno}"
            return f"a warning of {place}: {warning.message}"
    return None


def _last_place(error: BaseException) -> str:
    """The last place in the package that an error came through."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        if "spikemark" in code.co_filename:
            place = f"{Path(code.co_filename).name}:{line} {code.co_name}"
    return place


def _in_a_process(reader: Reader, folder: Path) -> str | None:
    """The same in a process of its own, whose death by a signal is a complaint."""
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        child = os.fork()
    if child == 0:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(PATIENCE_S)  # of a reader that waits, or never ends
            os.close(read_end)
            complaint = _complaint(reader, folder) or ""
            os.write(write_end, complaint.encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        complaint = pipe.read().decode(errors="replace")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status < 0:
        return f"ended by signal {-status}"
    return complaint or None


def _socket(path: Path) -> None:
    with contextlib.chdir(path.parent), socket.socket(socket.AF_UNIX) as opened:
        opened.bind(path.name)  # a path of one may have some hundred characters


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**41)


#: What may be there instead of a file: how it is made.
NO_FILES: dict[str, Callable[[Path], Any]] = {
    "FIFO": os.mkfifo,
    "endless": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "socket": _socket,
    "sparse": _sparse,
    "lost": lambda path: path.symlink_to("/nowhere/at/all"),
    "circle": lambda path: path.symlink_to(path.name),
}


class Files:
    """The real files of a reader, and a copy of them to be changed; names are relative."""

    def __init__(self, name: str, reader: Reader, folder: Path):
        self.name, self.reader = name, reader
        self.originals, self.copy = folder / "whole" / name, folder / "changed" / name
        self.originals.mkdir(parents=True)
        reader.make(self.originals)
        self.names = []
        for path in sorted(self.originals.glob(reader.files)):
            if path.is_file() and path.name != ".lock":
                self.names.append(path.relative_to(self.originals))
        shutil.copytree(self.originals, self.copy)

    def complaint(self, name: Path, edits: list[Edit]) -> str | None:
        """What is wrong with reading the files of which `name` was edited; None if nothing is."""
        content = (self.originals / name).read_bytes()
        try:
            (self.copy / name).write_bytes(mutations.edited(content, edits))
            return self.reader.complaint(self.copy)
        finally:
            self._restore()

    def replaced(self, name: Path, kind: str) -> str | None:
        """What is wrong with reading the files of which one is replaced by one of NO_FILES."""
        path = self.copy / name
        path.unlink()
        NO_FILES[kind](path)
        try:
            return self.reader._replace(apart=True).complaint(self.copy)
        finally:
            path.rmdir() if kind == "folder" else path.unlink()
            self._restore()

    def _restore(self) -> None:
        """Makes the copy anew."""
        shutil.rmtree(self.copy)
        shutil.copytree(self.originals, self.copy)

    def attempt(self, rng: random.Random) -> tuple[str, str] | None:
        """Reads one random change: what is wrong, and with which edits; None if nothing is.

        Edits without which it is wrong, too, are left out.
        """
        name = rng.choice(self.names)
        edits = mutations.draw(rng, mutations.kinds_for(name))
        complaint = self.complaint(name, edits)
        if complaint is None:
            return None
        for edit in list(edits):
            fewer = [other for other in edits if other is not edit]
            again = self.complaint(name, fewer) if fewer else None
            if again:
                edits, complaint = fewer, again
        return complaint, f"{self.name}: {complaint}\n    {name} after {edits}"
