"""`spikemark history`: how the times of a machine went over months, and what changed when."""

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from .options import AsJson
from .output import list_lines, print_json, print_lines, print_tables, short

SHOW = "show"


class OrShow(TyperGroup):
    """`spikemark history FOLDER` is short for `spikemark history show FOLDER`."""

    def resolve_command(self, ctx, args):
        """Take an argument that names no command for the folder to show."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            args = [SHOW, *args]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=OrShow,
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Keep the times per cycle of machines over months.",
    epilog="`spikemark history add FOLDER RESULTS…` appends results, `spikemark history FOLDER` shows them.",
)
Kept = Annotated[Path, typer.Argument(metavar="FOLDER", help="Folder with a file MACHINE.jsonl per machine.")]


@app.command()
def add(
    folder: Kept,
    results: Annotated[
        list[Path],
        typer.Argument(metavar="RESULTS…", help="Runs, sweeps or whole results folders."),
    ],
) -> None:
    """Append results to the history of their machine.

    Runs that are there already are not appended again, and disturbed runs are left out.
    """
    from spikemark.differences import entries
    from spikemark.quantities.words import counted

    found = entries.add(folder, results)
    list_lines(found.left_out)
    for path, number in found.files.items():
        typer.echo(f"{short(path)}: {counted(number, 'entry', 'entries')} appended")
    if found.known:
        typer.echo(f"{counted(found.known, 'entry was', 'entries were')} there already")
    if not found.files and not found.known:
        typer.echo("nothing was appended: no run is undisturbed", err=True)
        raise typer.Exit(1)


@app.command(SHOW)
def show(
    folder: Kept,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page to this file.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the time per cycle over months, when it changed, and which versions differ then."""
    from spikemark.core.files import output_file
    from spikemark.differences import courses_show, entries
    from spikemark.differences.history import courses

    output_file("--html", html)
    found = {path: courses(entries.read(path)) for path in entries.files(folder)}
    if html is not None:
        from spikemark.differences import history_page

        history_page.write(folder, found, html)
    if as_json:
        print_json(courses_show.content(found))
        return
    print_lines(courses_show.sentences(found))
    print_tables(*courses_show.tables(found))
