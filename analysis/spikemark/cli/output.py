"""How every command prints: answers on standard output, warnings and reasons on standard error."""

import json as json_format
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from spikemark.core.errors import plain
from spikemark.launch.process import received

SHOWN = 10  # lines of one kind, before the rest is counted
INTERRUPTED = 130  # exit status


def answer(
    json: bool, content: Callable[[], Any], lines: Iterable[str] = (), tables: Iterable = (),
    more: Iterable[str] = (), warnings: Iterable[str] = (),
) -> None:  # fmt: skip
    """The one way in which commands answer: JSON of `content`, or lines, tables and the lines below them."""
    if json:
        return print_json(content())
    list_lines([f"warning: {text}" for text in warnings])
    print_lines(lines)
    if tables := list(tables):
        from spikemark.quantities import terminal

        terminal.show(*tables)
    return print_lines(more)


def print_json(content: Any) -> None:
    """Print JSON. A number that JSON cannot hold ends the command with status 1."""
    try:
        typer.echo(json_format.dumps(content, indent=1, allow_nan=False))
    except ValueError as error:
        fail(f"no JSON: {error}")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output."""
    for line in lines:
        typer.echo(plain(line))


def say(line: str) -> None:
    """Print a line on standard error, such as how far the work has come."""
    typer.echo(plain(line), err=True)


def list_lines(lines: list[str]) -> None:
    """Print the first lines on standard error, and how many more there are."""
    for line in lines[:SHOWN]:
        say(line)
    if len(lines) > SHOWN:
        say(f"… and {len(lines) - SHOWN} more like these")


def complain(complaints: list[str]) -> None:
    """Print complaints on standard error and end the command with status 1, if there are any."""
    list_lines(complaints)
    if complaints:
        raise typer.Exit(1)


def fail(line: str) -> NoReturn:
    """End the command with status 1 and one line on standard error: it ran, but something failed."""
    say(line)
    raise typer.Exit(1) from None


def interrupted(kept: str = "the same command continues from here") -> NoReturn:
    """End an interrupted command, and say what was kept."""
    why = "ended by SIGTERM" if signal.SIGTERM in received[:1] else "interrupted"
    print(f"spikemark: {why}: {kept}", file=sys.stderr)
    sys.exit(INTERRUPTED)


@contextmanager
def ending(*failures: type[Exception], words: str = "{}", kept: str | None = None) -> Iterator[None]:
    """End the command with status 1 and `words` where its work raises one of `failures`.

    Where it is interrupted, say what was `kept`.
    """
    try:
        yield
    except failures as reason:
        fail(words.format(reason))
    except KeyboardInterrupt:
        interrupted(*[kept] if kept else [])


def short(path: Path) -> Path:
    """The path from the current directory, where it lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@contextmanager
def bar(words: str = "") -> Iterator[Callable[[float, str], None]]:
    """Show a bar on a terminal; yields a function of the share that is done and of what is done now."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    columns = (BarColumn(20), TaskProgressColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as shown:
        task = shown.add_task(words, total=None if words else 1.0)
        yield lambda share, what: shown.update(task, completed=share, total=1.0, description=what)


@contextmanager
def bar_of_cycles(words: str) -> Iterator[Callable[[int, int], None]]:
    """The same while cycles are simulated; the function takes those done and all of them, 0 at the start."""
    with bar(f"starting {words}") as progress:
        yield lambda done, cycles: progress(done / cycles, words) if done and cycles else None
