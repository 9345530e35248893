"""Parts of a page of docs/ that are made from stored results.

    <!-- figures: NAME -->      a block of its own, such as a table
    | … |
    <!-- end -->

    saves <!-- figures: NAME -->19 %<!-- end --> of the time

A page on GitHub shows what is between the marks and hides the marks.
"""

import re
from collections.abc import Callable

MARK = re.compile(r"<!-- figures: (?P<name>[^\n]+?) -->(?P<text>.*?)<!-- end -->", re.DOTALL)


def names(page: str) -> list[str]:
    """The names of all marked parts of a page, in order."""
    return [found["name"] for found in MARK.finditer(page)]


def rewritten(page: str, text: Callable[[str], str | None]) -> str:
    """The page with the text that each name stands for; where that is None, the part stays as it is."""

    def part(found: re.Match) -> str:
        new = text(found["name"])
        if new is None:
            return found[0]
        block = "\n" if found["text"].startswith("\n") else ""
        return f"<!-- figures: {found['name']} -->{block}{new}{block}<!-- end -->"

    return MARK.sub(part, page)


def without(page: str) -> str:
    """The page without its marked parts."""
    return MARK.sub("", page)


def shown(page: str) -> str:
    """The page as a reader sees it: without the marks."""
    return MARK.sub(lambda found: found["text"], page)
