"""The file of a ledger: reading it, finding what was tampered with, and adding a line.

What the file alone cannot show: lines that were removed from its end, and a file that was written anew from
some line on. `Ledger.noted` finds both by a digest of a line that was noted elsewhere.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_output
from spikemark.core.lock import locked
from spikemark.core.reading import check_plain, read_text

from . import entry
from .entry import ORIGIN, Entry

MOST = 100_000  # lines
#: What two entries have in common that are the same prediction.
SAID = {"asked", "method", "figures", "run", "profile"}


@dataclass(frozen=True)
class Ledger:
    """`entries` in the order of the file. `wrong`: number of an entry -> why it does not count.

    `gaps` are sentences about lines that are not there.
    """

    path: Path
    entries: list[Entry]
    wrong: dict[int, list[str]] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    @property
    def head(self) -> str:
        """The digest of the last line, which the next one will hold."""
        return self.entries[-1].sha256 if self.entries else ORIGIN

    @property
    def whole(self) -> bool:
        """True if nothing was changed."""
        return not (self.wrong or self.gaps)

    @property
    def complaints(self) -> list[str]:
        """What was tampered with, a sentence each."""
        lines = [f"entry {number}: {why}" for number, found in self.wrong.items() for why in found]
        return [*lines, *self.gaps]

    def noted(self, digest: str) -> str | None:
        """Says that a digest that was noted earlier is missing; None if some line has it."""
        if digest in {ORIGIN, *(one.sha256 for one in self.entries)}:
            return None
        return f"no entry has the noted digest {digest[:12]}…: the ledger was cut or rewritten since"


def read(path: Path, now: datetime | None = None) -> Ledger:
    """The ledger in a file, checked. Raises BadInput naming the line for what is no entry at all."""
    lines = read_text(path, "`spikemark ledger add` writes it").split("\n")
    if lines.pop():
        raise BadInput(f"{path}: line {len(lines) + 1}: not whole: every line ends with an end of line")
    if not lines or len(lines) > MOST:
        raise BadInput(f"{path}: {len(lines)} entries; allowed: 1 to {MOST}")
    contents = [_content(text, path, number) for number, text in enumerate(lines, 1)]
    entries = [_entry(content, path, number) for number, content in enumerate(contents, 1)]
    wrong: dict[int, list[str]] = {}
    gaps: list[str] = []

    def blame(number: int, why: str) -> None:
        wrong.setdefault(number, []).append(why)

    now = now or entry.now()
    before: Entry | None = None
    for one, content in zip(entries, contents, strict=True):
        if entry.own_digest(content) != one.sha256:
            blame(one.number, "edited: its digest is not that of what it says")
        if entry.digest(content["run"]) != one.run_sha256:
            blame(one.number, "edited: the digest of its run is not that of the run")
        expected = before.number + 1 if before else 1
        if one.number != expected:
            gaps.append(_gap(expected, one.number))
        elif one.previous != (before.sha256 if before else ORIGIN):
            whom = before.number if before else one.number
            blame(whom, f"edited: entry {one.number} was frozen after another version of what stands there")
        if before and one.when < before.when:
            blame(one.number, f"backdated: frozen {one.frozen}, before entry {before.number} in the file")
        if one.when > now:
            blame(one.number, f"dated in the future: frozen {one.frozen}")
        before = one
    return Ledger(path, entries, wrong, gaps)


def _gap(expected: int, found: int) -> str:
    if found < expected:
        return f"entry {found} stands where entry {expected} was: entries were moved, repeated or renumbered"
    deleted = f"entry {expected} was" if found == expected + 1 else f"entries {expected} to {found - 1} were"
    return f"{deleted} deleted: entry {found} follows"


def _content(text: str, path: Path, number: int) -> dict[str, Any]:
    at = f"{path}: line {number}"
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{at}: not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("kind") != "prediction":
        raise BadInput(f"{at}: no prediction; allowed: one JSON object with kind='prediction'")
    check_plain(content, Path(at))
    return content


def _entry(content: dict[str, Any], path: Path, number: int) -> Entry:
    found = checked(Entry, content, Path(f"{path}: line {number}"), "a prediction")
    try:
        _ = found.when
    except ValueError:
        raise BadInput(f"{path}: line {number}: frozen={found.frozen!r}: no such time") from None
    return found


def add(path: Path, contents: list[dict[str, Any]]) -> list[Entry]:
    """Add predictions to the file, which is made if it is missing; their number, date and digests come here.

    `contents` lack these fields. A prediction that the ledger holds already is not added again, so that a
    command may be repeated and nothing counts twice; its entry is returned. Raises BadInput if the ledger is
    not whole, or another command adds to it.
    """
    path = Path(path)
    if (path.exists() and not path.is_file()) or not path.absolute().parent.is_dir():
        raise BadInput(f"ledger={path}: allowed: a regular file, or none yet, in a folder that exists")
    with locked(path.absolute().parent, lambda: f"adding to {path}"):
        old = read(path) if path.exists() else Ledger(path, [])
        if not old.whole:
            raise BadInput(f"{path}: {old.complaints[0]}; nothing is added to a ledger that was changed")
        number, previous, frozen = len(old.entries), old.head, entry.now()
        added, text = [], path.read_text(encoding="utf-8") if path.exists() else ""
        known = {_said(one): one for one in old.entries}
        for content in contents:
            made = {
                "format_version": entry.VERSION, "kind": "prediction", "number": number + 1,
                "frozen": frozen.strftime(entry.STAMP), **content, "previous": previous,
            }  # fmt: skip
            made["run_sha256"] = entry.digest(made["run"])
            made["sha256"] = entry.own_digest(made)
            one = checked(Entry, made, path, "a prediction")
            added.append(known.setdefault(_said(one), one))
            if added[-1] is one:
                number, previous, text = number + 1, one.sha256, text + entry.line(made)
        if number > len(old.entries):
            write_output(path, text)
    return added


def _said(one: Entry) -> str:
    """What an entry predicts, whenever that was and whatever file it came from."""
    return entry.digest(one.model_dump(mode="json", include=SAID))
