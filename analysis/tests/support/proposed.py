"""Commands that screens, messages and pages propose, looked up in the command line.

A proposal begins with `spikemark` and ends at a back tick, at several blanks or at the end of its
line. A mention names a command, perhaps with placeholders in capitals, such as `spikemark energy
RUN_DIR`.
"""

import itertools
import re
import shlex
from typing import Any

import typer.main

from spikemark.cli import main
from spikemark.core.errors import BadInput

#: Words of a shell that end a command.
OPERATORS = (">", "&&", "|")
BEGIN = re.compile(r"(?<![\w./{-])spikemark (?=[a-z-])")
END = re.compile(r"`| {3,}|\n|$")
OPTION = re.compile(r"(?<![\w/-])--[a-z][a-z-]*\b(?!_)")
PLACEHOLDER = re.compile(r"[A-Z][A-Z_]+(\.csv|\.json)?|…|\.\.\.")
ROOT = typer.main.get_command(main.app)


def in_text(text: str) -> list[list[str]]:
    """The words of each proposal in a text, without `spikemark`, in order."""
    proposals = []
    for begin in BEGIN.finditer(text):
        line = text[begin.end() : END.search(text, begin.end()).start()]
        words = shlex.split(line, comments=True)
        proposals.append(list(itertools.takewhile(lambda word: word not in OPERATORS, words)))
    return proposals


def command(words: list[str]) -> tuple[Any, list[str]]:
    """The command of Typer that words name, and the words behind its name; None: there is none."""
    named, arguments = ROOT, list(words)
    while arguments and hasattr(named, "commands"):
        named = named.commands.get(arguments.pop(0))
    return named, arguments


def options(named: Any) -> set[str]:
    """The options of a command, and --help."""
    flags = {"--help"}
    for parameter in named.params:
        flags.update(parameter.opts)
    return flags


def complaint(words: list[str]) -> str | None:
    """Why a proposal would be refused before anything is read.

    A name may be unknown, or an argument missing. Of a mere mention, a verb alone or with
    placeholders, only the names are looked at.
    """
    if words and words[0].startswith("--"):
        root_options = options(ROOT) | {"--install-completion", "--show-completion"}
        return None if words[0] in root_options else words[0]
    if words[-1:] == ["--help"] and command(words[:-1])[0] is not None:
        return None
    named, arguments = command(words)
    if named is None or hasattr(named, "commands"):
        return f"no command {shlex.join(words)}"
    flags = [word.split("=")[0] for word in arguments if word.startswith("--")]
    unknown = [flag for flag in flags if flag not in options(named)]
    if unknown:
        return f"{words[0]} has no option {unknown[0]}"
    if not arguments or "--help" in arguments:
        return None
    if any(PLACEHOLDER.fullmatch(word) for word in arguments):
        return None
    try:
        named.make_context(words[0], list(arguments))
    except BadInput as error:
        if error.code != "file" and error.field != "machine":
            return str(error)
        return None  # a file of the reader's own is not here, such as a profile
    except Exception as error:
        if not hasattr(error, "format_message"):  # no usage error
            raise
        return f"{shlex.join(words)}: {error.format_message()}"
    return None
