"""How every command prints: answers on standard output, warnings and reasons on standard error."""

import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from spikemark.core.errors import plain
from spikemark.core.interrupts import received

if TYPE_CHECKING:
    import pandas as pd

    from spikemark.quantities.answer import Answer
    from spikemark.quantities.elements import Section
    from spikemark.quantities.table import Table

MAX_LINES_OF_A_KIND = 10  # on standard error, before the rest is counted
INTERRUPTED = 130  # exit status
BETWEEN_LINES_S = 15.0  # on progress, where standard error is no terminal
_LINE: ContextVar[str] = ContextVar("command line", default="")


def answer(
    verb: str,
    json: bool,
    content: Callable[[], Mapping[str, Any]],
    sentences: Iterable[str] = (),
    tables: Iterable["Table"] = (),
    more: Iterable[str] = (),
    warnings: Iterable[str] = (),
    format_: str | None = None,
    frame: "Callable[[], pd.DataFrame] | None" = None,
) -> None:
    """Print the answer of a command; all commands answer in this way.

    Args:
        verb: words of the command, which name the format of its JSON.
        json: whether JSON is printed, and nothing else.
        content: returns what JSON shows; it is called only where that is printed.
        sentences: the first lines.
        tables: below the sentences.
        more: lines below the tables, such as the next command.
        warnings: lines for standard error.
        format_: the form in which `frame` is printed, and nothing else.
        frame: returns the figures as one table; of commands that have --format.

    Example:
        >>> answer("collect", json=False, content=dict, sentences=["12 runs of 12."])
        12 runs of 12.
    """
    if json:
        print_answer(verb, content())
        return
    warn(warnings)
    if format_ is not None and frame is not None:
        _print_frame(frame(), format_)
        return
    print_lines(sentences)
    shown_tables = list(tables)
    if shown_tables:
        from spikemark.quantities import terminal

        terminal.show(*shown_tables)
    print_lines(more)


def show(result: "Answer", json: bool, details: bool = False, format_: str | None = None) -> None:
    """Print the answer of a function of the public API.

    Args:
        result: the answer.
        json: whether JSON is printed, and nothing else.
        details: whether all of its tables are printed.
        format_: the form in which its `table` is printed, and nothing else.
    """
    screen = result.screen(details)
    warn(screen.warnings)
    if json:
        print_answer(result.verb, result.content())
        return
    if format_ is not None:
        _print_frame(result.table, format_)
        return
    print_lines(screen.lines)
    if screen.tables:
        from spikemark.quantities import terminal

        terminal.show(*screen.tables)
    print_lines(screen.notes)


def _print_frame(frame: "pd.DataFrame", format_: str) -> None:
    """Print a table alone, in one of the forms of --format."""
    from spikemark.quantities.table_forms import table_text

    print_lines([table_text(frame, format_)])


def write_page(
    path: Path | None,
    title: str,
    result: "Answer",
    sections: Callable[[], list["Section"]] = list,
) -> None:
    """Write the page of an answer, where --html names one.

    Args:
        path: the file; None for no page.
        title: of the page.
        result: the answer.
        sections: makes what the page shows besides.

    Example:
        >>> import spikemark
        >>> from tempfile import TemporaryDirectory
        >>> answer = spikemark.waiting("tests/golden/analysis/records/conventional-4")
        >>> with TemporaryDirectory() as folder:
        ...     page = Path(folder) / "waiting.html"
        ...     write_page(page, "Waiting", answer)
        ...     page.read_text()[:15]
        '<!DOCTYPE html>'
    """
    if path is None:
        return
    from spikemark.report import answer_page

    answer_page.write(path, title, result, command_line(), sections())


@contextmanager
def carrying_out(words: list[str]) -> Iterator[None]:
    """Lets pages say which command made them; `words`: those behind `spikemark`.

    Example:
        >>> with carrying_out(["predict", "network.json"]):
        ...     command_line().split()
        ['spikemark', 'predict', 'network.json']
    """
    token = _LINE.set(shlex.join(["spikemark", *words]))
    try:
        yield
    finally:
        _LINE.reset(token)


def command_line() -> str:
    """The command that is carried out, as a shell takes it; empty where none is.

    Example:
        >>> command_line()  # in a notebook, no command is carried out
        ''
    """
    return _LINE.get()


def print_answer(verb: str, content: Mapping[str, Any]) -> None:
    """Print the JSON of an answer. A number that it cannot hold ends the command with status 1.

    Example:
        >>> print_answer("collect", {"runs": 12})
        {
         "format": "collect-answer",
         "version": 1,
         "runs": 12
        }
    """
    from spikemark.quantities.answer import as_json

    try:
        print(as_json(verb, content))
    except ValueError as error:
        fail(f"no JSON: {error}")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines on standard output.

    Example:
        >>> print_lines(["4 ranks wait 12 % of the time."])
        4 ranks wait 12 % of the time.
    """
    for line in lines:
        print(plain(line))


def say(line: str) -> None:
    """Print a line on standard error, such as how far the work has come.

    Example:
        >>> say("run 3 of 12")  # on standard error
    """
    print(plain(line), file=sys.stderr)


def list_lines(lines: list[str]) -> None:
    """Print the first lines on standard error, and how many more there are.

    Example:
        >>> list_lines(["run 3: disturbed", "run 5: disturbed"])  # on standard error
    """
    for line in lines[:MAX_LINES_OF_A_KIND]:
        say(line)
    if len(lines) > MAX_LINES_OF_A_KIND:
        say(f"… and {len(lines) - MAX_LINES_OF_A_KIND} more like these")


def warn(remarks: Iterable[str]) -> None:
    """Print remarks on standard error, each as a warning.

    Example:
        >>> warn(["the machine was not idle"])  # on standard error
    """
    list_lines([f"warning: {remark}" for remark in remarks])


def complain(complaints: list[str]) -> None:
    """Print complaints on standard error and end the command with status 1, if there are any.

    Example:
        >>> from contextlib import suppress
        >>> complain([])  # all went well
        >>> with suppress(typer.Exit):
        ...     complain(["run 3: its record is truncated"])  # on standard error
    """
    list_lines(complaints)
    if complaints:
        raise typer.Exit(1)


def fail(line: str) -> NoReturn:
    """End the command with status 1 and one line on standard error: something failed.

    Example:
        >>> from contextlib import suppress
        >>> with suppress(typer.Exit):
        ...     fail("2 of 12 runs failed")  # on standard error
    """
    say(line)
    raise typer.Exit(1) from None


def interrupted(outcome: str) -> NoReturn:
    """End an interrupted command, and say what came of it.

    Example:
        >>> from contextlib import suppress
        >>> with suppress(SystemExit):
        ...     interrupted("nothing was written")  # on standard error
    """
    why = "ended by SIGTERM" if signal.SIGTERM in received[:1] else "interrupted"
    print(f"spikemark: {why}: {outcome}", file=sys.stderr)
    sys.exit(INTERRUPTED)


@contextmanager
def ending(
    *failures: type[Exception], words: str = "{}", if_interrupted: str | None = None
) -> Iterator[None]:
    """End the command with status 1 where the work within raises one of `failures`.

    Args:
        failures: classes of exceptions.
        words: the line for standard error, with {} for the exception.
        if_interrupted: what comes of the work then, for the line that says so; None: what
            `spikemark` says of the command.

    Example:
        >>> from contextlib import suppress
        >>> with suppress(typer.Exit), ending(FileNotFoundError, words="no trace: {}"):
        ...     open("nowhere/traces.otf2")  # one line on standard error
    """
    try:
        yield
    except failures as error:
        fail(words.format(error))
    except KeyboardInterrupt:
        if if_interrupted is None:
            raise
        interrupted(if_interrupted)


@contextmanager
def bar(words: str = "") -> Iterator[Callable[[float, str], None]]:
    """Show a bar on a terminal while work goes on.

    Args:
        words: what is done, where nobody knows how far it has come.

    Yields a function of the share that is done and of what is being done.

    Example:
        >>> with bar() as advance:
        ...     advance(0.5, "run 6 of 12")
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True, highlight=False)
    progress = Progress(
        BarColumn(20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
    with progress:
        task = progress.add_task(words, total=None if words else 1.0)

        def advance(share: float, doing: str) -> None:
            progress.update(task, completed=share, total=1.0, description=doing)

        yield advance


@contextmanager
def bar_of_cycles(words: str) -> Iterator[Callable[[int, int], None]]:
    """The same while cycles are simulated; without a terminal, a line now and then.

    Yields a function of the cycles that are done and of all cycles, 0 as long as it is not known.

    Example:
        >>> with bar_of_cycles("4 ranks") as advance:
        ...     advance(500, 1000)
    """
    with bar(f"starting {words}") as progress:
        said_s = time.monotonic()

        def advance(done: int, cycles: int) -> None:
            nonlocal said_s
            if not (done and cycles):
                return
            progress(done / cycles, words)
            if not sys.stderr.isatty() and time.monotonic() - said_s > BETWEEN_LINES_S:
                said_s = time.monotonic()
                say(f"{words}: {done} of {cycles} cycles")

        yield advance
