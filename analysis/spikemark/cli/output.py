"""How every command prints: tables and JSON on standard output, warnings and reasons on standard error."""

import json
import math
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from spikemark.core.errors import plain

ASSUMED = "assumed: "
SHOWN = 10  # lines of one kind, before the rest is counted
INTERRUPTED = 130  # exit status

_received: list[int] = []  # signals


def print_tables(*tables) -> None:
    """Print tables of `quantities.table`, each with its notes."""
    from spikemark.quantities import terminal

    terminal.show(*tables)


def print_json(content: Any, as_written: bool = False) -> None:
    """Print JSON; `as_written` leaves letters beyond ASCII as they are."""
    if (where := not_finite(content)) is not None:
        fail(f"{where}: not a finite number, so there is no JSON to print")
    typer.echo(json.dumps(content, indent=1, ensure_ascii=not as_written, allow_nan=False))


def not_finite(content: Any, where: str = "") -> str | None:
    """The path of the first number that JSON cannot hold, with `.` between its parts; None without one."""
    if isinstance(content, float):
        return None if math.isfinite(content) else where
    parts = content.items() if isinstance(content, dict) else ()
    parts = enumerate(content) if isinstance(content, list | tuple) else parts
    found = (not_finite(part, f"{where}.{name}".lstrip(".")) for name, part in parts)
    return next((path for path in found if path is not None), None)


@contextmanager
def waiting_for(what: str | None) -> Iterator[None]:
    """Say on a terminal what takes long, while it does; elsewhere, and for None, say nothing."""
    if what is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    for line in lines:
        typer.echo(plain(line))


def print_based(lines: Iterable[str], assumptions: bool) -> None:
    """Print each line once; lines that state an assumption are only counted unless they are wanted."""
    unique = list(dict.fromkeys(lines))
    kept = [line for line in unique if assumptions or ASSUMED not in line]
    print_lines(kept)
    if left := len(unique) - len(kept):
        from spikemark.quantities.words import counted

        typer.echo(f"These numbers rest on {counted(left, 'assumption')}; --assumptions lists them.")


def say(line: str) -> None:
    """Print a line on standard error, such as how far the work has come."""
    typer.echo(plain(line), err=True)


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


@contextmanager
def bar_of_cycles(words: str):
    """Show a bar on a terminal while cycles are simulated; yields a function of those done and of all.

    Before the first cycle the ranks start and build the network.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(8), TaskProgressColumn(), TimeElapsedColumn())
    columns += (TextColumn("left"), Remaining())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(f"starting {words}", total=None)

        def advance(done: int, cycles: int) -> None:
            bar.update(
                task, completed=done, total=cycles or None, description="starting " * (not done) + words
            )

        yield advance
