"""The analysis knows the same fields of a run description as the mini-app, and refuses the same
ones.
"""

import re
from copy import deepcopy

import descriptions
import layouts
import pytest

from spikemark.core import places
from spikemark.network import fields

pytestmark = pytest.mark.slow


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


def same_program(first, second):
    """Both listings, without what depends on the libraries that a mini-app was built with: what it
    lacks.

    Nothing but its name and its summary is known of an exchange that one of the two lacks.
    """
    both = parts_of(first), parts_of(second)
    for part, entries in both[0].items():
        for name, entry in entries.items():
            other = both[1].get(part, {}).get(name, {})
            lacking = entry.pop("absent", None) or other.get("absent")
            other.pop("absent", None)
            if lacking and part == "exchanges":
                for properties in (entry, other):
                    for key in properties.keys() - {"name", "summary"}:
                        del properties[key]
    return both


def test_the_copy_is_what_the_miniapp_lists(known):
    again = "build/miniapp --list > analysis/spikemark/network/listing.json"
    here, copy = same_program(deepcopy(known), deepcopy(fields.LISTING))
    assert here == copy, f"write the copy anew: {again}"
    assert list(here["exchanges"]) == list(copy["exchanges"])


def test_the_format_has_all_fields(known):
    text = (places.root() / "miniapp" / "FORMAT.md").read_text(encoding="utf-8")
    documented = {
        word for code in re.findall(r"`([^`]+)`", text) for word in re.findall(r"\w+", code)
    }
    assert [f["path"] for f in known["fields"] if f["path"].split(".")[-1] not in documented] == []


def test_the_same_descriptions_are_refused_for_the_same_fields(known, tmp_path):
    wrong, asked, accepted = descriptions.campaign(0, 300, known, tmp_path)
    assert not wrong, "\n".join(wrong)
    assert 0.1 < accepted / asked < 0.6


@pytest.mark.nightly
def test_many_more_descriptions(known, tmp_path):
    wrong, _, _ = descriptions.campaign(10_000, 20_000, known, tmp_path)
    assert not wrong, "\n".join(wrong)
