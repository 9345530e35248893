"""`spikemark study`: published comparisons, repeated on this machine or on a simulated one."""

import sys
from functools import partial
from typing import Annotated

import typer

from .options import AsJson, Machine, Root, Where
from .output import list_lines, print_json, short

SUMMARY_WIDTH = 20
WIDTH = 150  # of a table that goes to a file


def study(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of a study.")] = None,
    as_json: AsJson = False,
    profile: Where = "laptop",
    machine: Machine = None,
    results: Root = None,
) -> None:
    """Repeat a published comparison on this machine.

    Measures what is missing, prints the main table and writes the page. Without a name, lists the studies.
    """
    from spikemark.studies import STUDIES, carry_out

    if name is None:
        for entry in STUDIES.values():
            typer.echo(f"{entry.name:{SUMMARY_WIDTH}}{entry.summary}")
        return
    stream = sys.stderr if as_json else sys.stdout
    done, outcome = carry_out.carry_out(carry_out.find(name), machine, results, profile, stream)
    list_lines([f"failed: {label}: {why}" for label, why in outcome.failed.items()])
    list_lines(outcome.complaints)
    if as_json:
        content = done.content()
        print_json(content | content["tables"])  # each table also by its name
    else:
        _show(done)
    if outcome.status:
        raise typer.Exit(outcome.status)


def _show(done) -> None:
    from rich.console import Console
    from rich.table import Table

    from spikemark.report.simulated import worded

    words = partial(worded, done.sweep)
    width = None if sys.stdout.isatty() else WIDTH
    console = Console(highlight=False, soft_wrap=True, width=width)
    main = done.findings.tables[0]
    shown = main.shown()
    table = Table(title=main.title, title_justify="left")
    for number, (head, kind) in enumerate(shown.heads):
        table.add_column(
            words(f"{head}\n{kind}".strip()), justify="left" if number in shown.words else "right"
        )
    for row in shown.cells:
        table.add_row(*row)
    console.print(table)
    for line in (*done.findings.remarks, done.findings.sentence):
        console.print(words(line), markup=False)
    console.print(short(done.page), markup=False)
