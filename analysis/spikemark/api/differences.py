"""Two results side by side, and the history of machines: `spikemark.diff`, `spikemark.history`."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from spikemark.core.arguments import public
from spikemark.core.errors import BadInput
from spikemark.diff import compare
from spikemark.diff.history import HistoryAnswer, history_answer, known_of
from spikemark.diff.several import SeveralAnswer, several
from spikemark.diff.show import DifferenceAnswer

FilePath = str | PathLike[str]


@public
def diff(
    first: FilePath,
    second: FilePath | Sequence[FilePath],
    *,
    fail_above: str | None = None,
    history: FilePath | None = None,
) -> DifferenceAnswer | SeveralAnswer:
    """Compare two results: is the second slower than the first, by how much, and where.

    Or compare several with the first: which are slower, with intervals that hold together.

    Args:
        first: a run, the results of a sweep, or a folder of results; A on the screen.
        second: another of the same kind, of the same networks; B on the screen. Or a list of
            several.
        fail_above: percentage such as "5%"; the answer's `failed` says whether the second is surely
            slower by more.
        history: folder of a history (`spikemark.history`), which tells the spread of the machine
            of the first.

    Returns:
        DifferenceAnswer: `table` has a row for each setup, `decision` is about `fail_above`.
        SeveralAnswer for a list: `table` has a row for each of its results.

    Raises:
        BadInput: for results of different kinds or networks, without a common setup, for another
            text than a percentage, and for a folder without a history of the machine.

    Example:
        >>> records = "tests/golden/analysis/records"
        >>> answer = diff(f"{records}/conventional-4", f"{records}/aware-4", fail_above="5%")
        >>> answer.failed, answer.table["change"].round(2).tolist()
        (False, [-0.16])
    """
    largest_change = None if fail_above is None else compare.limit(fail_above)
    known_spread = None if history is None else known_of(Path(history))
    if not isinstance(second, str | PathLike):
        if not second:
            raise BadInput(field="second", value="[]", expected="results")
        others = [Path(path) for path in second]
        return several(Path(first), others, known_spread, largest_change)
    comparison = compare.compare(Path(first), Path(second), known_spread)
    decision = None if largest_change is None else compare.gate(comparison, largest_change)
    return DifferenceAnswer(comparison, decision)


@public
def history(folder: FilePath, *, add: Sequence[FilePath] = ()) -> HistoryAnswer:
    """The history of machines: what their times spread by, and when they changed.

    Args:
        folder: of the history; it has a file for each machine, with a line for each setup and
            session.
        add: results to append at first: runs, results of sweeps, or folders of results. Disturbed
            runs, and what is there already, are left out.

    Returns:
        HistoryAnswer: `table` has a row for each setup, `appended` the number of new entries by
        file.

    Raises:
        BadInput: for a folder without a history, a line that is no entry, simulated times, and
            where every run that was to be added was disturbed.

    Example:
        answer = spikemark.history("times", add=["results/demo/new"])
        answer.table[["setup", "entries", "change"]]
    """
    return history_answer(Path(folder), [Path(results) for results in add])
