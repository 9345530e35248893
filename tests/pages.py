"""The commands that stand on the pages of the documentation."""

import re


def blocks(part: str) -> list[str]:
    """The indented blocks of a part of a page."""
    found = re.findall(r"(?:^    .*\n|^\n)+", part, re.MULTILINE)
    unindented = ["\n".join(line[4:] for line in block.split("\n")).strip("\n") for block in found]
    return [block for block in unindented if block.strip()]


def section(page: str, heading: str) -> str:
    """The text between a heading of a page, such as `## Two nodes`, and the next one."""
    _, found, rest = page.partition(f"\n{heading}\n")
    assert found, heading
    return re.split(r"^#", rest, maxsplit=1, flags=re.MULTILINE)[0]
