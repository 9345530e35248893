"""Lines that several commands print alike."""

from pathlib import Path

import typer

SHOWN = 10


def list_lines(lines: list[str]) -> None:
    """The first of the lines on standard error, and how many more there are."""
    for line in lines[:SHOWN]:
        typer.echo(line, err=True)
    if len(lines) > SHOWN:
        typer.echo(f"… and {len(lines) - SHOWN} more like these", err=True)


def short(path: Path) -> Path:
    """From the current directory, where the path lies in it."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
