"""SHA-256 of finished files, in `SHA256SUMS` beside them, so that bytes that change later are noticed.

The file is as the program `sha256sum` writes it, which can check it, too (`sha256sum --check SHA256SUMS`).
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from .errors import BadInput
from .files import write_output
from .reading import read_text

NAME = "SHA256SUMS"


def of(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits. Raises OSError."""
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def write(folder: Path, files: Iterable[Path]) -> None:
    """Writes NAME in `folder` for files below it, which must be whole."""
    lines = [f"{of(path)}  {path.relative_to(folder).as_posix()}\n" for path in sorted(files)]
    write_output(folder / NAME, "".join(lines))


def there(folder: Path) -> bool:
    """True if the folder has such a file."""
    return (folder / NAME).is_file()


def check(folder: Path, files: Iterable[Path]) -> None:
    """Compares files below `folder` with its NAME; does nothing where there is none.

    Raises BadInput for a file with other bytes, one that is not listed, and a listed one that is lost.
    """
    listed: dict[Path, str] = {}
    for number, line in enumerate(read_text(folder / NAME).splitlines() if there(folder) else [], 1):
        if (match := re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)) is None:
            expected = "64 hexadecimal digits, two spaces and a name"
            raise BadInput(f"{folder / NAME}: line {number}: expected {expected}")
        listed[folder / match[2]] = match[1]
        if not (folder / match[2]).is_file():
            raise BadInput(f"{folder / match[2]}: not found; {NAME} lists it")
    for path in files if there(folder) else ():
        if path not in listed:
            raise BadInput(f"{path}: not in {NAME}, which lists all files that the run left")
        if of(path) != listed[path]:
            raise BadInput(f"{path}: its bytes have changed since the run ended, by {NAME}")
