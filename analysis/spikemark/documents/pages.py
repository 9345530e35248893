"""The pages of docs/ whose marked parts come from stored results.

A mark names what stands there:

    NAME.caption                      where the results NAME come from, see `Stored.caption`
    NAME.remark                       what stands out in the study
    STUDY.PART, STUDY.PART: ARGUMENT  a table or number of simulated.PARTS
    NAME.table TABLE                  a table of a model
    NAME/TABLE/key=value/…/COLUMN     one number: the cell of the first row with these values; ` as 2` after
                                      it shows two significant digits, ` as 2 %` also the sign
"""

import re
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.quantities.words import number

from . import marks, modelled, stored
from .simulated import PARTS
from .stored import Stored

DIGITS = 3
#: For results that were published on a page before results were stored.
NOT_STORED = "*Simulated on 2026-11-21, before results were stored. **Not run again since.***"


def marked() -> dict[Path, str]:
    """The pages of docs/ with marks, and their text."""
    found = {path: path.read_text(encoding="utf-8") for path in sorted((places.root() / "docs").glob("*.md"))}
    return {path: text for path, text in found.items() if marks.names(text)}


def text(name: str) -> str | None:
    """What stands at a mark; None where nothing is stored. Raises BadInput for a mark that names nothing."""
    study, separator, rest = re.fullmatch(r"([\w-]*)(.?)(.*)", name).groups()
    kept = stored.load(study)
    if kept is None:
        known = {*stored.names(), *PARTS, *modelled.TABLES}
        if study not in known:
            raise BadInput(
                f"mark {name!r}: nothing is stored as {study!r}: one of {', '.join(sorted(known))}"
            )
        return NOT_STORED if rest == "caption" and study in PARTS else None
    if separator == "/":
        return _number(kept, rest)
    part, _, argument = rest.partition(": ")
    if part == "caption":
        return kept.caption
    if part == "remark":
        return kept.remarks[0] if kept.remarks else ""
    if part.startswith("table "):
        return _table(kept, part.removeprefix("table "))
    parts = PARTS.get(study, {})
    if part not in parts:
        raise BadInput(f"mark {name!r}: no part {part!r}: one of caption, remark, {', '.join(parts)}")
    return parts[part](kept, *([argument] if argument else []))


def _table(kept: Stored, name: str) -> str:
    """A table of a model as Markdown."""
    if name not in kept.tables:
        raise BadInput(f"{kept.name}: no table {name!r}: one of {', '.join(kept.tables)}")
    return kept.tables[name]["markdown"]


def _number(kept: Stored, path: str) -> str:
    path, _, form = path.partition(" as ")
    table, *where, column = path.split("/")
    wanted = {key: _plain(value) for key, value in (part.split("=", 1) for part in where)}
    found = stored.one(kept.rows(table), column, **wanted)
    if not isinstance(found, int | float):
        raise BadInput(f"mark {kept.name}/{path}: no number there")
    digits = int(form.split()[0]) if form and form[0].isdigit() else DIGITS
    return number(found, digits) + (" %" if form.endswith("%") else "")


def _plain(value: str) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


def rewrite() -> list[Path]:
    """Rewrites the marked parts of all pages; the pages that changed."""
    changed = []
    for path, page in marked().items():
        new = marks.rewritten(page, text)
        if new != page:
            write_atomically(path, new)
            changed.append(path)
    return changed
