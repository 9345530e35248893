"""`spikemark import`: makes what other programs measured readable for our models."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from spikemark.core.errors import BadInput

from .options import AsJson
from .output import print_json, print_lines, warn

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help="Read cycle times that another program measured.",
)
HELP = """Read the cycle times of another simulator, or of any program whose ranks meet in every cycle.

Afterwards, `spikemark budget DIR`, `fit DIR`, `whatif DIR` and `predict DIR` answer for that program, and
`report DIR` writes a page.
An example: one file per rank, a line per cycle, times in milliseconds.

\b
    $ head -2 rank-0.csv
    compute,communicate
    1.21,0.34
    $ spikemark import cycles rank-*.csv --unit ms --out mine
    $ spikemark budget mine
    $ spikemark predict mine --schedule structure_aware --delay-ratio 10

The columns are compute (or cycle_time, from which communicate is subtracted), communicate (all
communication, waiting included), wait (the part of communicate spent waiting) and spikes. A missing wait is
derived from the others. One file may hold all ranks, as arrays [rank, cycle] in .npy (compute) or
.npz, or with a column `rank`. NumPy writes such a file from two arrays [rank, cycle] with
numpy.savez("times.npz", compute=compute, communicate=communicate)."""


class Cycles(TyperCommand):
    """Lists in its help what can be read; that list is loaded for nothing else."""

    def format_epilog(self, ctx, formatter) -> None:
        """Write the names of the formats, with what each one is."""
        from spikemark.records.imported import READERS

        with formatter.section("Formats"):
            formatter.write_dl([(name, reader.SUMMARY) for name, reader in READERS.items()])


@app.callback()
def _several() -> None:
    """Makes `cycles` a command of its own, beside those to come."""


@app.command(cls=Cycles, help=HELP)
def cycles(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="One file, or one for each rank.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write.")],
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="One of those below [the one that fits the files]."),
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Required for tables: unit of all times in the files: s, ms, us or ns."),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=THEIRS",
            help="What the files call a column, or which regions of a trace are communicate, wait, or hold"
            " the cycles (within); may be repeated.",
        ),
    ] = None,
    skip: Annotated[int, typer.Option(min=0, help="Cycles to leave out at the start.")] = 0,
    keep: Annotated[
        int | None, typer.Option("--cycles", min=1, help="Cycles to keep after those [all].")
    ] = None,
    cycle_ms: Annotated[
        float | None,
        typer.Option(
            help="Simulated time of a cycle in ms, if the program simulates and its files do not say."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read cycle times; HELP is what people see."""
    from spikemark.records import imported

    if cycle_ms is not None and not 0 < cycle_ms < float("inf"):
        raise BadInput(f"--cycle-ms {cycle_ms:g}; allowed: a number above 0")
    reader = imported.reader_of(files, form).NAME
    found = imported.read(files, unit, _pairs(column or []), skip, keep, reader)
    if isinstance(found, imported.Sums):
        imported.save_sums(out, found)
        return _say_sums(found, out, as_json)
    about = {
        "files": [str(path) for path in files],
        "unit": unit or "s",
        "skipped": skip,
        "cycle_ms": cycle_ms,
    }
    made = imported.save(out, found, about | {"reader": reader})
    if as_json:
        print_json(made.about.model_dump())
        return
    warn(made.cautions)
    milliseconds = 1e3 * made.compute.mean(dtype="f8")
    folder = shlex.quote(str(out))
    print_lines([
        f"{made.about.ranks} x {made.about.cycles} (ranks x cycles), {', '.join(made.about.columns)};"
        f" {milliseconds:.4g} ms of computing per cycle: {out}",
        *_stretch(made.compute, skip),
        f"The answer in short:   spikemark advise {folder}",
        f"Why ranks wait:        spikemark budget {folder}",
        f"What would help:       spikemark whatif {folder}",
        f"Under a schedule:      spikemark predict {folder} --schedule structure_aware --delay-ratio 5",
        f"All of it as a page:   spikemark report {folder}",
    ])  # fmt: skip


def _stretch(compute, skip: int) -> list[str]:
    """Which cycles to import instead if ranks were interrupted; nothing where none was."""
    from spikemark.records.imported import stretch

    first, cycles = stretch.quiet(compute)
    if not 0 < cycles < compute.shape[1]:
        return []
    return [
        f"Quiet stretch:         --skip {skip + first} --cycles {cycles}; no rank computed"
        f" {stretch.LONG:g} times as long as its median there"
    ]


def _say_sums(found, out: Path, as_json: bool) -> None:
    if as_json:
        return print_json(found.model_dump())
    warn(found.remarks)
    print_lines([
        f"Sums of {len(found.runs)} run{'s' * (len(found.runs) > 1)}, without single cycles: {out}",
        f"Load balance and efficiencies:   spikemark budget {shlex.quote(str(out))}",
    ])  # fmt: skip
    return None


def _pairs(texts: list[str]) -> dict[str, str]:
    """'compute=update' as {'compute': 'update'}. Raises BadInput for another form."""
    found = {}
    for text in texts:
        name, sign, theirs = text.partition("=")
        if not (name and sign and theirs) or name in found:
            raise BadInput(f"--column {text!r}; allowed: NAME=THEIRS, each name once")
        found[name] = theirs
    return found
