"""Readers of files under the fuzzer: what one is, its files to be changed, and what it must not do.

Of a changed file a reader says in one line what is wrong (BadInput), or it returns a valid result: one whose
numbers JSON can hold.
"""

import contextlib
import io
import json
import os
import random
import shutil
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


class Reader(NamedTuple):
    """`make` writes real files into an empty folder, `files` says which of them are changed (a glob).

    `read` reads the folder and returns what JSON can hold. `apart`: a library in C reads the files, so that
    every example is read in a process of its own.
    """

    make: Callable[[Path], Any]
    files: str
    read: Callable[[Path], Any]
    apart: bool = False

    def complaint(self, folder: Path) -> str | None:
        """What it does with a folder that it must not do; None if all is well."""
        return _in_a_process(self, folder) if self.apart else _complaint(self, folder)


def command(*arguments) -> Any:
    """What a verb of the command line prints as JSON. Raises BadInput where it refuses with one line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main.main([*map(str, arguments), "--json"])
            status = None
        except SystemExit as end:
            status = end.code
    said = err.getvalue()
    if status == 2 and not out.getvalue() and said.count("\n") == 1 and said.startswith("spikemark: "):
        raise BadInput(said.removeprefix("spikemark: ").rstrip("\n"))
    if status != 0:
        raise AssertionError(f"status {status}: {said[-500:]} {out.getvalue()[:80]}")
    return json.loads(out.getvalue(), parse_constant=lambda name: float(name))


def plain(value: Any) -> str:
    """The value as JSON. Raises AssertionError for what JSON cannot hold, such as NaN."""

    def held(one: Any) -> Any:
        if isinstance(one, BaseModel):
            return one.model_dump()
        return one.tolist() if isinstance(one, np.ndarray | np.generic) else str(one)

    try:
        return json.dumps(value, allow_nan=False, default=held)
    except ValueError as error:
        raise AssertionError(f"a result that JSON cannot hold: {error}") from None


def _complaint(reader: Reader, folder: Path) -> str | None:
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            plain(reader.read(folder))
        if printed := [one for one in told if issubclass(one.category, RuntimeWarning | UserWarning)]:
            return f"a warning of {Path(printed[0].filename).name}:{printed[0].lineno}: {printed[0].message}"
    except BadInput as error:
        line = str(error)
        if not line.strip() or len(line.splitlines()) > 1 or not encodable(line):
            return f"a refusal that is not one line of UTF-8: {line!r}"
    except (KeyboardInterrupt, SystemExit):
        raise
    except OSError as error:
        return None if error.filename is not None else f"{type(error).__name__}: {error}"
    except BaseException as error:  # with the last place in the package that it came through
        at, place = error.__traceback__, ""
        while at is not None:
            code = at.tb_frame.f_code
            if "spikemark" in code.co_filename:
                place = f"{Path(code.co_filename).name}:{at.tb_lineno} {code.co_name}"
            at = at.tb_next
        return f"{type(error).__name__} in {place}: {' '.join(str(error).split())[:200]}"
    return None


def _in_a_process(reader: Reader, folder: Path) -> str | None:
    """The same in a process of its own, whose death by a signal is a complaint."""
    into, out_of = os.pipe()[::-1]
    child = os.fork()
    if child == 0:
        try:
            os.close(out_of)
            os.write(into, (_complaint(reader, folder) or "").encode(errors="replace")[:4000])
        finally:
            os._exit(0)
    os.close(into)
    with open(out_of, "rb") as pipe:
        said = pipe.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return f"ended by signal {-status}" if status < 0 else said.decode(errors="replace") or None


class Files:
    """The real files of a reader in `folder`, and a copy of them to be changed; names are relative."""

    def __init__(self, name: str, reader: Reader, folder: Path):
        self.name, self.reader = name, reader
        self.whole, self.copy = folder / "whole" / name, folder / "changed" / name
        self.whole.mkdir(parents=True)
        reader.make(self.whole)
        found = sorted(p for p in self.whole.glob(reader.files) if p.is_file() and p.name != ".lock")
        self.names = [p.relative_to(self.whole) for p in found]
        shutil.copytree(self.whole, self.copy)

    def complaint(self, name: Path, edits: list[Edit]) -> str | None:
        """What is wrong with reading the files of which `name` was edited; None if nothing is."""
        try:
            (self.copy / name).write_bytes(mutations.edited((self.whole / name).read_bytes(), edits))
            return self.reader.complaint(self.copy)
        finally:
            shutil.rmtree(self.copy)
            shutil.copytree(self.whole, self.copy)

    def attempt(self, rng: random.Random) -> tuple[str, str] | None:
        """Reads one random change: what is wrong, and with no more edits than it needs how it was made."""
        name = rng.choice(self.names)
        edits = mutations.draw(rng, mutations.kinds_for(name))
        said = self.complaint(name, edits)
        for edit in list(edits) if said else ():
            fewer = [one for one in edits if one is not edit]
            if fewer and (again := self.complaint(name, fewer)):
                edits, said = fewer, again
        return said and (said, f"{self.name}: {said}\n    {name} after {edits}")
