"""The folder of a simulated run: what may be there before, and how a new run takes its place.

The rules are those of the mini-app (`miniapp --out`): the folder is new, empty, or contains an earlier run
and nothing else. Moreover, the earlier run must be a simulated one, since a measured run cannot be restored.
"""

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.core.files import discard, replace_folder
from spikemark.records import run_files

ALLOWED = "allowed: a folder that is new, empty, or contains an earlier simulated run and nothing else"


def check(out: Path) -> None:
    """Raises BadInput if a simulated run must not replace what is at `out`."""
    if not os.path.lexists(out):
        return
    if out.is_symlink() or not out.is_dir():
        raise BadInput(f"{out}: is not a folder; {ALLOWED}")
    if foreign := run_files.foreign(out):
        raise BadInput(f"{out}: contains {foreign[0]!r}, which belongs to no run; {ALLOWED}")
    if not any(out.iterdir()):
        return
    if not run_files.whole(out):
        raise BadInput(f"{out}: contains parts of a run without its {run_files.RECORD}; {ALLOWED}")
    if not _simulated(out):
        raise BadInput(f"{out}: contains a measured run; {ALLOWED}")


def _simulated(out: Path) -> bool:
    try:
        return json.loads((out / run_files.RECORD).read_text())["kind"] == "simulated"
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


@contextlib.contextmanager
def workspace(out: Path) -> Iterator[Path]:
    """A folder beside `out` for everything until it is whole. It is removed afterwards, whatever happens."""
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix=f".{out.name}.simulating-", dir=out.parent))
    try:
        yield folder
    finally:
        discard(folder)


def put(record: Path, out: Path) -> None:
    """Moves the folder `record` to `out`.

    What was there is removed once the new run is in place, never before. Raises BadInput as `check` does if
    something else has appeared there meanwhile; then nothing has changed.
    """
    check(out)
    replace_folder(record, out, check)
