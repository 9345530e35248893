"""Writes the tables of docs/tender-check.md from the reasons of the checker and the ways to cheat.

PYTHONPATH=analysis:tests:miniapp/tests python tests/tender/page.py
"""

import re
from pathlib import Path

from tender.cheats import CHEATS

from spikemark.tender.check.findings import REASONS

PAGE = Path(__file__).parents[2] / "docs" / "tender-check.md"
PART = re.compile(r"(?<=<!-- made: )(?P<name>\w+)( -->\n).*?(?=<!-- end of it -->)", re.DOTALL)


def reasons() -> str:
    """Every reason with what must hold, and the ways to cheat that it caught."""
    lines = [
        "| Reason | Verdict | What must hold | Ways to cheat that were tried |",
        "| --- | --- | --- | --- |",
    ]
    for name, reason in REASONS.items():
        tried = "; ".join(cheat.does for cheat in CHEATS if cheat.reason == name)
        lines.append(f"| {reason.number} | {reason.verdict} | {reason.check} | {tried} |")
    return "\n".join(lines) + "\n"


def unseen() -> str:
    """The ways to cheat that no checker can see."""
    lines = ["| Way to cheat | Why no checker sees it, and what helps |", "| --- | --- |"]
    lines += [f"| {cheat.does} | {cheat.unseen} |" for cheat in CHEATS if cheat.unseen]
    return "\n".join(lines) + "\n"


def counted() -> str:
    """How many ways there are."""
    caught = sum(cheat.reason is not None for cheat in CHEATS)
    return f"{caught} ways to cheat are caught, {len(CHEATS) - caught} cannot be seen.\n"


PARTS = {"reasons": reasons, "unseen": unseen, "counted": counted}


def rewritten(page: str) -> str:
    """The page with its parts made anew."""
    return PART.sub(lambda found: found["name"] + found[2] + PARTS[found["name"]](), page)


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
