"""`spikemark study`: published comparisons, repeated on this machine or on a simulated one."""

import sys
from typing import Annotated

import typer

from .options import AsJson, Machine, Root, Where
from .output import list_lines, print_json, print_lines, short

SUMMARY_WIDTH = 20


def study(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Name of a study.")] = None,
    as_json: AsJson = False,
    profile: Where = "here",
    machine: Machine = None,
    results: Root = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="Compute at full size what takes hours (partition-du, routing)."),
    ] = False,
    docs: Annotated[
        bool, typer.Option("--docs", help="Also write its figures into docs/ (simulated studies only).")
    ] = False,
) -> None:
    """Repeat a published comparison, here or on a simulated machine.

    Measures or simulates the runs that are still missing and says beforehand how long that takes. Then prints
    the main table and writes the page. Without a name, lists the studies.
    """
    from spikemark.documents import keep, pages
    from spikemark.studies import STUDIES, carry_out

    if name is None:
        for entry in STUDIES.values():
            typer.echo(f"{entry.name:{SUMMARY_WIDTH}}{entry.summary}")
        return
    stream = sys.stderr if as_json else sys.stdout
    done, outcome = carry_out.carry_out(carry_out.find(name), machine, results, profile, stream, full)
    list_lines([f"failed: {label}: {why}" for label, why in outcome.failed.items()])
    list_lines(outcome.complaints)
    if as_json:
        content = done.content()
        print_json(content | content["tables"])  # each table also by its name
    else:
        _show(done)
    if outcome.status:
        raise typer.Exit(outcome.status)
    if docs:
        keep.study(done)
        list_lines([f"rewritten: {short(path)}" for path in pages.rewrite()])


def _show(done) -> None:
    """Prints the main table, what stands out in it, and where the page is."""
    from spikemark.quantities import terminal

    terminal.show(done.findings.tables[0], notes=False)
    print_lines([*done.findings.remarks, done.findings.sentence, str(short(done.page))])
