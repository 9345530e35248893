"""The analysis knows the same fields of a run description as the mini-app, and refuses the same
ones.
"""

import json
import re
import subprocess
from copy import deepcopy

import descriptions
import layouts
import pytest
from layouts import ROOT

from spikemark.core import places
from spikemark.core.fields import differing

LISTING = ROOT / "analysis" / "spikemark" / "network" / "listing.json"
AGAIN = f"build/miniapp --list > {LISTING.relative_to(ROOT)}"


@pytest.fixture(scope="module")
def known():
    """What `miniapp --list --json` prints."""
    return layouts.registries()


def parts_of(listing):
    """The entries of each list of a listing, by name."""
    parts = {part: entries for part, entries in listing.items() if isinstance(entries, list)}
    return {
        part: {entry.get("name", entry.get("path")): entry for entry in entries}
        for part, entries in parts.items()
    }


def without_libraries(listing, other):
    """A listing without what depends on the libraries that a mini-app was built with: what it
    lacks.

    Nothing but its name and its summary counts of an exchange that it or the other listing lacks.
    """
    result = deepcopy(listing)
    others = parts_of(other)
    for part, entries in parts_of(result).items():
        for name, entry in entries.items():
            lacking = entry.get("absent") or others.get(part, {}).get(name, {}).get("absent")
            entry.pop("absent", None)
            if lacking and part == "exchanges":
                for property in entry.keys() - {"name", "summary"}:
                    del entry[property]
    return result


def by_name(listing):
    """A listing with entries by name, and the names in order."""
    parts = parts_of(listing)
    return {**listing, **parts, "order": {part: list(entries) for part, entries in parts.items()}}


def difference(copy, here):
    """Where two listings in JSON differ, other than by libraries: numbers by their digits."""
    old, new = (json.loads(text, parse_float=str, parse_int=str) for text in (copy, here))
    texts = by_name(without_libraries(old, new)), by_name(without_libraries(new, old))
    return [f"{one.path}: {one.value} instead of {one.expected}" for one in differing(*texts)]


def test_the_copy_is_what_the_miniapp_lists():
    program = ROOT / "build" / "miniapp"
    here = subprocess.run([program, "--list"], check=True, capture_output=True, text=True).stdout
    found = difference(LISTING.read_text(), here)
    assert not found, "\n".join([f"write the copy anew: {AGAIN}", *found])


def test_a_copy_with_other_digits_or_another_order_differs():
    """Only what a library lacks may differ."""
    text = LISTING.read_text()
    assert difference(text, text) == []
    (said,) = difference(text.replace(": 0.1,", ": 0.10000000000000001,", 1), text)
    assert said == "fields.time.resolution_ms.default: 0.10000000000000001 instead of 0.1"
    content = json.loads(text)
    content["exchanges"].reverse()
    paths = [line.split(":")[0] for line in difference(json.dumps(content), text)]
    assert paths and all(path.startswith("order.exchanges.") for path in paths)
    content = json.loads(text)
    content["exchanges"][0] |= {"absent": "an old library", "kind": None}
    assert difference(json.dumps(content), text) == []


@pytest.mark.slow
def test_the_format_has_all_fields(known):
    text = (places.root() / "miniapp" / "FORMAT.md").read_text(encoding="utf-8")
    documented = {
        word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)
    }
    assert [f["path"] for f in known["fields"] if f["path"].split(".")[-1] not in documented] == []


@pytest.mark.slow
def test_the_same_descriptions_are_refused_for_the_same_fields(known, tmp_path):
    wrong, asked, accepted = descriptions.campaign(0, 300, known, tmp_path)
    assert not wrong, "\n".join(wrong)
    assert 0.1 < accepted / asked < 0.6


@pytest.mark.slow
@pytest.mark.nightly
def test_many_more_descriptions(known, tmp_path):
    wrong, _, _ = descriptions.campaign(10_000, 20_000, known, tmp_path)
    assert not wrong, "\n".join(wrong)
