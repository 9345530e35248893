"""`spikemark diff`: two results side by side, and the history of a machine."""

import typer

from spikemark.core.errors import BadInput

from .kinds import File, Files, Text
from .options import verb
from .output import answer, print_lines, say, short


@verb
def diff(results: Files, *, fail_above: Text, history: File, add: Files, details, html, json) -> None:
    """Compare two results: is B slower than A, by how much, and where.

    Runs of different networks are refused. With --history, the spread of the machine comes from the history
    that --add has made.

    Examples: spikemark diff results/demo/old results/demo/new --fail-above 5%
    spikemark diff --history times --add results/demo/new

    A B: Two runs, two sweeps, or two whole results folders.
    --fail-above PERCENT: End with status 1 if B is slower by more, such as 5%; for continuous integration.
    --history FOLDER: Take the spread of A's machine from its history there; without A and B, show it.
    --add RESULTS: Append results to the history; may be repeated.
    --details: Print everything, on more than one screen.
    """
    from spikemark.diff import show
    from spikemark.diff.compare import FAIL, compare, gate, limit
    from spikemark.diff.history import add as append
    from spikemark.diff.history import content, known_of, read_all, sentence, table
    from spikemark.quantities.words import counted

    if add or (history is not None and not results):
        if history is None or results or html or fail_above:
            raise BadInput.of("--add", "given", "--history FOLDER, and no A and B", code="conflict")
    elif len(results or []) != 2:
        raise BadInput.of("A B", [str(one) for one in results or []], "two results, or --history FOLDER")
    if add:
        added, left_out = append(history, add)
        if left_out:
            say(f"left out: {counted(left_out, 'disturbed run')}")
        lines = [f"{short(path)}: {counted(n, 'entry', 'entries')} appended" for path, n in added.items()]
        return print_lines(lines or ["nothing appended: all entries are there already"])
    if not results:
        found = read_all(history)
        return answer(json, lambda: content(found), [sentence(found)], [table(found)])
    most = None if fail_above is None else limit(fail_above)
    made = compare(*results, None if history is None else known_of(history))
    decided = None if most is None else gate(made, most)
    if html is not None:
        show.write(made, decided, html)
    lines = [show.sentence(made), *([decided.sentence] if decided else [])]
    tables = show.details(made) if details else [show.first_table(made)]
    answer(json, lambda: show.content(made, decided), lines, tables, show.lines(made), made.cautions)
    if decided is not None and decided.state == FAIL:
        raise typer.Exit(1)
    return None
