"""What CONTRIBUTING.md and docs/architecture.md name in code marks is there: files, functions,
classes, tables, commands and words of the sources. A name that code no longer has fails here.
"""

import re
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest
import typer.main
from checkout import ROOT

from spikemark.cli import main

PAGES = ("CONTRIBUTING.md", "docs/architecture.md")
#: A paragraph, an item of a list or a row of a table: its names are looked for in its files.
PASSAGES = re.compile(r"\n\s*\n|\n(?=\d+\. |\| |- )")
#: Words that stand for a choice of the reader, in names of files.
CHOICE = re.compile(r"[A-Z]{3,}")
FOLDERS = (
    ".ci",
    "analysis",
    "docs",
    "machines",
    "miniapp",
    "profiles",
    "setup",
    "tests",
    "workflows",
)
TEXTS = (".c", ".csv", ".h", ".json", ".py", ".sh", ".smk", ".toml", ".txt", ".yaml", ".yml")
SOURCES = (".c", ".csv", ".h", ".py", ".smk", ".yaml")
MAX_SHOWN = 10  #: files of a message
COMMANDS = ["cmake", "ctest", "make", "miniapp", "pip", "python3", "spikemark"]
#: Names of what is not in the sources, and why.
ELSEWHERE = {
    "*Measured on YYYY-MM-DD, commit 1234567, MACHINE.*": "a caption as people write it",
    "./results": "made by a sweep",
    "build": "made by cmake",
    "record.json": "written by the mini-app",
    "plan.json": "written by a sweep",
    "swept.NAME": "a column that an experiment names",
    "::": "of pytest",
    "CurrentWatts": "of Slurm",
    "workflow.scheduler.job_rate_limiter": "of Snakemake",
    "interconnect.NAME": "a field that the reader names",
}


def names(page: str) -> list[tuple[str, str]]:
    """Pairs of a name in code marks and the passage around it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    pairs = []
    for passage in PASSAGES.split(text):
        pairs += [(name, passage) for name in re.findall(r"`([^`\n]+)`", passage)]
    return pairs


NAMES = [(page, *pair) for page in PAGES for pair in names(page)]


@cache
def files() -> list[str]:
    """Files of the checkout, from its root; without what is built."""
    paths = [path for path in ROOT.iterdir() if path.is_file() or path.name in FOLDERS]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts]
    return [path.relative_to(ROOT).as_posix() for path in paths]


def matching(name: str) -> list[str]:
    """Files and folders of a path that is given from the root, or by its last parts."""
    pattern = CHOICE.sub("*", name.rstrip("/"))
    return [path for path in files() if fnmatch(path, pattern) or fnmatch(path, f"*/{pattern}")]


@cache
def text_of(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def all_words() -> frozenset[str]:
    """Words of all sources; this test is none."""
    words: set[str] = set()
    for path in files():
        if path.endswith(TEXTS) and "tests/golden" not in path and path != "tests/test_named.py":
            words.update(re.findall(r"[\w.-]+", text_of(path)))
            words.update(re.findall(r"\w+", text_of(path)))
    return frozenset(words)


def sources_of(page: str, passage: str) -> list[str]:
    """Sources in which functions, classes and tables are looked for.

    In CONTRIBUTING.md, those that the passage names. Passages of docs/architecture.md go on about
    files of others: all.
    """
    if page != "CONTRIBUTING.md":
        return [path for path in files() if path.endswith(SOURCES)]
    named: set[str] = set()
    for name in re.findall(r"`([^`\n]+)`", passage):
        for word in filter(is_path, name.split()):
            named.update(path for path in matching(word) if path.endswith(SOURCES))
    return sorted(named)


def is_path(name: str) -> bool:
    return " " not in name and ("/" in name or name.endswith((*TEXTS, ".cff", ".md")))


def is_defined(name: str, text: str) -> bool:
    """Whether a source defines a function, a class, a table or a constant."""
    return (
        re.search(
            rf"^\s*(?:async )?(?:def|class) {name}\b"  # Python
            rf"|^\s*{name}(?:: [^=\n]+)? (?:=|\|=)"
            rf"|^#define {name}\b|^(?:static |extern )?[a-z][\w \*]*\b{name}(?:\(|\[| =)"  # C
            rf"|^struct {name}\b",
            text,
            re.MULTILINE,
        )
        is not None
    )


def missing_of_command(name: str) -> str:
    """What a command line names that is not there; nothing where all is."""
    program, *words = name.split()
    if program == "spikemark":
        verbs = typer.main.get_command(main.app).commands
        return "" if not words or words[0] in verbs else words[0]
    if program == "make":
        makefile = text_of("Makefile")
        is_target = re.search(rf"^{words[0]}:.*## ", makefile, re.MULTILINE)
        return "" if is_target else words[0]
    if program.startswith(".venv/bin/"):
        tool = Path(sys.executable).parent / Path(program).name
        pages = [word for word in words if word.endswith((".md", ".py")) and not matching(word)]
        return ", ".join([*([] if tool.exists() else [program]), *pages])
    options = [word for word in words if word.startswith("--")]
    if program == "miniapp":
        return ", ".join(word for word in options if word not in all_words())
    return ""


def missing(name: str, page: str, passage: str) -> str:
    """Why a name is stale; nothing where it is not."""
    if name in ELSEWHERE:
        return ""
    program = name.split()[0].removeprefix("build/").removeprefix("new/bin/")
    if (program in COMMANDS and " " in name) or program.startswith((".venv/", "tests/bare")):
        return missing_of_command(name.removeprefix("build/"))
    if is_path(name):
        return "" if matching(name) else "no such file or folder"
    plain = name.removesuffix("()").removeprefix("struct ")
    is_code = name.endswith("()") or plain != name or re.fullmatch(r"[A-Z][\w]+", plain)
    if is_code and not name.startswith("SPIKEMARK_"):
        sources = sources_of(page, passage)
        is_there = any(is_defined(plain, text_of(path)) for path in sources)
        return "" if is_there else f"not defined in {', '.join(sources[:MAX_SHOWN])}"
    words = [word for word in re.findall(r"[\w.-]+", name) if word != "as"]
    unknown = [word for word in words if word not in all_words() and not CHOICE.match(word)]
    return f"nowhere in the sources: {', '.join(unknown)}" if unknown else ""


@pytest.mark.parametrize("page", PAGES)
def test_every_name_in_code_marks_is_there(page):
    stale = []
    for other_page, name, passage in NAMES:
        reason = missing(name, page, passage) if other_page == page else ""
        if reason:
            stale.append(f"`{name}`: {reason}")
    assert not stale, "\n".join([f"{page} names what is not there", *stale])
    assert len(NAMES) > 100


@pytest.mark.parametrize(
    "name",
    [
        "collective_s()",
        "prediction/growths.py",
        "UNSTATED_FIELDS",
        "PublishedMachines",
        "spikemark predicts mam",
        "make checks",
        ".venv/bin/cogs -r docs/columns.md",
        ".venv/bin/cog -r docs/rows.md",
        "miniapp --lists",
        "rule_of_placement",
    ],
)
def test_a_stale_name_is_noticed(name):
    assert missing(name, "CONTRIBUTING.md", "In `analysis/spikemark/prediction/growth.py`:")
