"""What a reader of files is for the fuzzer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Reader:
    """`make` writes real files into an empty folder, `files` says which of them are changed (a glob).

    `read` reads the folder and returns what JSON can hold. `apart`: a library in C reads the files, so that
    every example is read in a process of its own.
    """

    make: Callable[[Path], Any]
    files: str
    read: Callable[[Path], Any]
    apart: bool = False
