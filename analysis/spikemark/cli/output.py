"""How every command prints: tables and JSON on standard output, warnings and reasons on standard error."""

import json
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import typer

SHOWN = 10  # lines of one kind, before the rest is counted
INTERRUPTED = 130  # exit status

_received: list[int] = []  # signals


def print_tables(*tables) -> None:
    """Print tables of `quantities.table`, each with its notes."""
    from spikemark.quantities import terminal

    terminal.show(*tables)


def print_json(content: Any, as_written: bool = False) -> None:
    """Print JSON; `as_written` leaves letters beyond ASCII as they are."""
    typer.echo(json.dumps(content, indent=1, ensure_ascii=not as_written))


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    for line in lines:
        typer.echo(line)


def say(line: str) -> None:
    """Print a line on standard error, such as how far the work has come."""
    typer.echo(line, err=True)


def list_lines(lines: list[str]) -> None:
    """Print the first lines on standard error, and how many more there are."""
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"… and {len(lines) - SHOWN} more like these")


def warn(warnings: Iterable[str]) -> None:
    """Print warnings on standard error."""
    list_lines([f"warning: {text}" for text in warnings])


def complain(complaints: list[str]) -> None:
    """Print complaints on standard error and end the command with status 1, if there are any."""
    list_lines(complaints)
    if complaints:
        raise typer.Exit(1)


def fail(line: str) -> NoReturn:
    """End the command with status 1 and one line on standard error: it ran, but something failed."""
    say(line)
    raise typer.Exit(1) from None


def interrupt(number: int, _: object) -> NoReturn:
    """Handler of signals that end a command: takes note of the signal and raises KeyboardInterrupt."""
    _received.append(number)
    raise KeyboardInterrupt


def why_ended() -> str:
    """Why a command was interrupted; asks Slurm where SIGTERM may come from the end of its job."""
    from spikemark.core import job_end

    if signal.SIGTERM not in _received:
        return "interrupted"
    return job_end.of_this() or "ended by SIGTERM"


def interrupted(kept: str) -> NoReturn:
    """End a command that cannot go on later, and say what was kept."""
    print(f"spikemark: {why_ended()}: {kept}", file=sys.stderr)
    sys.exit(INTERRUPTED)


def short(path: Path) -> Path:
    """The path from the current directory, where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
