"""SHA-256 of finished files, in `SHA256SUMS` beside them: bytes that change later are noticed.

The file is as the program `sha256sum` writes it, which can check it, too (`sha256sum --check
SHA256SUMS`).
"""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

from .errors import BadInput
from .files import write_output
from .reading import check_file, read_text

SUMS_FILE = "SHA256SUMS"


def file_digest(path: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal digits.

    Raises OSError, and BadInput as `check_file`.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "record.json")
        ...     _ = file.write_text("{}")
        ...     file_digest(file)[:12]
        '44136fa355b3'
    """
    check_file(path)
    with path.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def write(folder: Path, files: Iterable[Path]) -> None:
    """Writes SUMS_FILE in `folder` for files below it, which must be whole.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "answer.txt")
        ...     _ = file.write_text("42")
        ...     write(Path(folder), [file])
        ...     print(sorted(path.name for path in Path(folder).iterdir()))
        ['SHA256SUMS', 'answer.txt']
    """
    lines = [
        f"{file_digest(path)}  {path.relative_to(folder).as_posix()}\n" for path in sorted(files)
    ]
    write_output(folder / SUMS_FILE, "".join(lines))


def _has_sums(folder: Path) -> bool:
    """True if the folder has such a file."""
    return (folder / SUMS_FILE).is_file()


def check(folder: Path, files: Iterable[Path]) -> None:
    """Compares files below `folder` with its SUMS_FILE; does nothing where there is none.

    Raises BadInput for a file with other bytes, one that is not listed, and a listed one that is
    lost.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "record.json")
        ...     _ = file.write_text("{}")
        ...     write(Path(folder), [file])
        ...     check(Path(folder), [file])
    """
    if not _has_sums(folder):
        return
    sums = _listed(folder)
    for path in sums:
        if not path.is_file():
            raise _changed(path, f"not found; {SUMS_FILE} lists it")
    for path in files:
        if path not in sums:
            raise _changed(path, f"not in {SUMS_FILE}, which lists all files that the run left")
        if file_digest(path) != sums[path]:
            raise _changed(path, f"its bytes have changed since the run ended, by {SUMS_FILE}")


def _changed(path: Path, message: str) -> BadInput:
    return BadInput(message, file=path, code="file")


def _listed(folder: Path) -> dict[Path, str]:
    """The sum of each file that is listed in a folder. Raises BadInput naming the line."""
    sums = {}
    for number, line in enumerate(read_text(folder / SUMS_FILE).splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})  (\S.*)", line)
        if match is None:
            message = "expected 64 hexadecimal digits, two spaces and a name"
            raise BadInput(
                message,
                file=folder / SUMS_FILE,
                line=number,
                code="file",
            )
        sums[folder / match[2]] = match[1]
    return sums
