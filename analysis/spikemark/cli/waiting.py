"""Verbs on cycle times: waiting, and import, which reads those of other programs."""

import shlex
from pathlib import Path

from typer.core import TyperCommand

from spikemark.core.errors import BadInput

from .kinds import Count, Number, Schedule, Text, Texts, number, registry
from .options import only_with, pairs, verb
from .output import answer

FORM = "NAME=THEIRS"
Change, Format = registry("waiting.changes", "CHANGES"), registry("records.imported", "READERS")


@verb
def waiting(
    source: list[Path], *, schedule: Schedule, delay_ratio: Count, lag: Count, group_period: Count,
    ranks: number(2), change: Change, unit: Text, column: Texts, details, json,
) -> None:  # fmt: skip
    """Explain why the ranks of a run waited for each other, and what would help.

    The parts of the waiting come from a ladder of meetings: how long ranks would wait if they met every
    cycle, every D cycles, or once (docs/models.md). The parts add up to the measured waiting. Predictions
    replay the measured cycle times under another schedule; a run of that schedule checks them.

    Example: cycle times of your own program as a NumPy array [rank, cycle].

    spikemark waiting times.npy --unit ms

    RUN|IMPORT|FILE…: Folder of a run, of imported cycle times or of a dry run, or files with cycle times.
    --schedule: Predict the waiting under this schedule: structure_aware, overlapped, hierarchical, …
    --delay-ratio: D: cycles between two exchanges of all ranks [the largest exact one; of a run, its own].
    --lag: L: how many windows an exchange may take [1]; overlapped only.
    --group-period: Cycles between meetings of a group [D]; hierarchical only.
    --ranks: Number of ranks [that of the run].
    --change NAME,…: What if: halve-jitter, level-ranks, double-delay-ratio, halve-latency, double-ranks,
        slow-rank=RANK:FACTOR; + combines several.
    --unit: Unit of all times: s, ms, us or ns; required for tables.
    --column NAME=THEIRS: What the files call a column; may be repeated (see `spikemark import --help`).
    """
    from spikemark.records import imported
    from spikemark.waiting.answer import answer as answered
    from spikemark.waiting.answer import content, lines, tables
    from spikemark.waiting.trace import trace

    alone = len(source) == 1 and (source[0].is_dir() or not source[0].suffix)
    if alone:
        only_with(f"files, not {source[0]}", None, unit=unit, column=column)
        known = imported.sums_in(source[0]) or imported.run_or_times(source[0])
    else:
        known = imported.read(source, unit, pairs(column, "column", FORM))
        if not isinstance(known, imported.Sums):
            known = imported.cycle_times(known, source[0])
    if isinstance(known, imported.Sums):
        if schedule or change:
            raise imported.sums.refuse(source[0])
        return answer(json, lambda: known.content, tables=[known.table])
    names, run = [name for name in (change or "").split(",") if name], trace(known)
    made = answered(run, schedule, delay_ratio, names, lag=lag, group_period=group_period, ranks=ranks)
    given = " ".join(shlex.quote(str(path)) for path in source)
    more = f"spikemark waiting {given} --details" + f"    spikemark report {given}" * alone
    shown = tables(made) if details and not json else ()
    return answer(json, lambda: content(made), lines(made), shown, [more], run.warnings)


class Formats(TyperCommand):
    """Lists in its help what can be read; that list is loaded for nothing else."""

    def format_epilog(self, ctx, formatter) -> None:
        """Write the names of the formats, with what each one is."""
        from spikemark.records.imported import READERS

        with formatter.section("Formats"):
            formatter.write_dl([(name, reader.summary) for name, reader in READERS.items()])


@verb
def import_cycles(
    files: list[Path], *, out: Path, format_: Format,
    unit: Text, column: Texts, skip: number(0, kind=int) = 0, cycles: Count,
    cycle_ms: Number, json,
) -> None:  # fmt: skip
    """Read the cycle times of another simulator, or of any program with ranks that meet in every cycle.

    Afterwards, `spikemark waiting DIR` explains why its ranks wait, and `report DIR` writes a page.
    Example: one file per rank, one line per cycle, times in milliseconds.

    \b
        $ head -2 rank-0.csv
        compute,communicate
        1.21,0.34
        $ spikemark import rank-*.csv --unit ms --out mine
        $ spikemark waiting mine

    The columns are compute (or cycle_time, from which communicate is subtracted), communicate (all
    communication, waiting included) and wait (the waiting within communicate). A missing wait is
    derived from the others. One file may hold all ranks, as arrays [rank, cycle] in .npy (compute) or
    .npz, or with a column `rank`. NumPy writes such a file from two arrays [rank, cycle] with
    numpy.savez("times.npz", compute=compute, communicate=communicate).

    FILE…: One file, or one for each rank.
    --out DIR: Folder to write.
    --format NAME: One of the formats below [the one that fits the files].
    --unit: Unit of all times: s, ms, us or ns; required for tables.
    --column NAME=THEIRS: What the files call a column, or which regions of a trace are communicate, wait, or
        hold the cycles (within); may be repeated.
    --skip: Cycles to leave out at the start.
    --cycles: Cycles to keep after the skipped ones [all].
    --cycle-ms: Simulated time of a cycle in ms, if the files do not say.
    """
    from spikemark.records import imported

    if cycle_ms is not None and not 0 < cycle_ms < float("inf"):
        raise BadInput.of("cycle_ms", cycle_ms, "a number above 0", code="range")
    reader, folder = imported.reader_of(files, format_).name, shlex.quote(str(out))
    found = imported.read(files, unit, pairs(column, "column", FORM), skip, cycles, reader)
    about = {"files": [str(path) for path in files], "unit": unit or "s", "skipped": skip}
    made = imported.save(out, found, about | {"cycle_ms": cycle_ms, "reader": reader})
    if isinstance(made, imported.Sums):
        line = f"{len(made.runs)} x sums of a run, without cycles: spikemark waiting {folder}"
        return answer(json, made.model_dump, [line])
    lines = [
        f"{made.about.ranks} x {made.about.cycles} (ranks x cycles), {', '.join(made.about.columns)};"
        f" {1e3 * made.compute.mean(dtype='f8'):.4g} ms of computing per cycle: {out}"
    ]
    lines.append(f"spikemark waiting {folder}    spikemark report {folder}")
    return answer(json, made.about.model_dump, lines, warnings=made.cautions)
