"""`spikemark diff`: two results side by side."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson
from .output import print_json, print_lines, print_tables, warn


def diff(
    first: Annotated[Path, typer.Argument(metavar="A", help="A run, a sweep, or a whole results folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another one, of the same kind.")],
    fail_above: Annotated[
        str | None,
        typer.Option(
            metavar="PERCENT",
            help="End with status 1 if B is surely slower by more, such as 5%; for continuous integration.",
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Take the spread of the machine of A from its history there."),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two results: is B slower than A, where, and why.

    Runs of different networks are refused. Says what else differs: machine, configuration, versions, binding.
    The difference of the time per cycle is divided among phases and causes. Its intervals allow for the
    serial correlation of cycles and for what changes from run to run.

    Example: spikemark diff results/demo/yesterday results/demo/today --fail-above 5%
    """
    from spikemark.core.files import output_file
    from spikemark.differences import gate, show
    from spikemark.differences.compare import compare
    from spikemark.differences.history import known_of

    output_file("--html", html)
    most = None if fail_above is None else gate.limit(fail_above)
    made = compare(first, second, None if history is None else known_of(history))
    decided = None if most is None else gate.gate(made, most)
    if html is not None:
        from spikemark.differences import page

        page.write(made, decided, html)
    if as_json:
        print_json(show.content(made, decided))
    else:
        warn(made.cautions)
        print_lines([show.sentence(made), *([decided.sentence] if decided else []), *show.lines(made)])
        print_tables(*show.tables(made))
    if decided is not None and decided.state == gate.FAILS:
        raise typer.Exit(1)
