"""How often `spikemark diff` raises false alarms and finds a planted wait: counted on real runs.

python -m spikemark.documents.planted RESULTS             results of workflows/experiments/differences.yaml
python -m spikemark.documents.planted RESULTS --all       with the disturbed runs, which `diff` leaves out
python -m spikemark.documents.planted RESULTS --median    as if `diff` compared medians of cycles, not means

Undisturbed runs without and with the wait are put in the order of time, each so many after each other are a
session, and sessions are compared as `diff` compares two sweeps of so many repetitions. Sessions in turns
have runs of the same time; any two sessions are taken for sweeps made one after the other. With a history,
the first half of the sessions is the history, and those of the second half are compared.
"""

import sys
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.differences.compare import between, disturbed
from spikemark.differences.entries import KIND, VERSION, Entry
from spikemark.differences.history import spreads
from spikemark.differences.spread import HISTORY, Known
from spikemark.differences.times import CYCLE, Part, Times, cycle
from spikemark.differences.times import median as of_median
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent
from spikemark.records.gather import Measured, gather

SIZES = (1, 3, 5, 10)  # repetitions of a session
LIMIT = 0.05  # of --fail-above
MOST = 4000  # comparisons of one kind; of more than twice as many, some are left out, evenly
EVERY, MEDIAN = "--all", "--median"
TURNS, ANY = "in turns", "any two"
UNCHANGED, LONGER, PLANTED = "unchanged", "times 1.1", "wait planted"
FACTOR = 1.1
Session = list[Times]


def table(runs: list[Measured], disturbed_too: bool = False, median: bool = False) -> Table:
    """Counts alarms over sessions of SIZES. Raises BadInput where runs with or without a wait are missing."""
    waits = sorted({_wait(m) for m in runs})
    if len(waits) != 2 or waits[0] != 0:
        raise BadInput(f"inject.mean_us={waits}: runs with two waits are needed, one of them 0")
    calm = sorted((m for m in runs if disturbed_too or disturbed(m.run) is None), key=_started)
    if not all(any(_wait(m) == wait for m in calm) for wait in waits):
        raise BadInput("no undisturbed runs: nothing can be counted")
    plain, planted = ([_cycle(m, median) for m in calm if _wait(m) == wait] for wait in waits)
    rows = []
    for size in SIZES:
        ours, theirs = _sessions(plain, size), _sessions(planted, size)
        even, odd = _sessions(plain[::2], size), _sessions(plain[1::2], size)
        half = len(ours) // 2
        late, late_planted = ours[half:], theirs[half:]
        known = spreads([_entry(number, one) for number, one in enumerate(ours[:half])])
        turns, any_two = list(zip(even, odd, strict=False)), list(combinations(ours, 2))
        of_history = list(combinations(late, 2))
        for what, how, pairs, of in (
            (UNCHANGED, TURNS, turns, None),
            (UNCHANGED, ANY, any_two, None),
            (UNCHANGED, f"{ANY}, {HISTORY}", of_history, known),
            (LONGER, TURNS, _longer(turns), None),
            (LONGER, ANY, _longer(any_two), None),
            (LONGER, f"{ANY}, {HISTORY}", _longer(of_history), known),
            (PLANTED, TURNS, list(zip(ours, theirs, strict=False)), None),
            (PLANTED, ANY, list(product(ours, theirs)), None),
            (PLANTED, f"{ANY}, {HISTORY}", list(product(late, late_planted)), known),
        ):
            some = pairs[:: max(len(pairs) // MOST, 1)]
            found = _shares(some, of, how != TURNS)
            rows.append({"runs": size, "what": what, "pairs": how, "count": len(some), **found})
    columns = [
        Column("runs", "repetitions"),
        Column("what", "runs"),
        Column("pairs", "sessions compared"),
        Column("count", "comparisons"),
        Column("slower", "surely slower", words=lambda x: percent(x, 1)),
        Column("faster", "surely faster", words=lambda x: percent(x, 1)),
        Column("fails", "`--fail-above 5%` fails", words=lambda x: percent(x, 1)),
    ]
    rows = [row for row in rows if row["count"]]
    return Table(columns, rows, notes=[_said(plain, planted, len(runs) - len(calm))])


def _said(plain: list[Times], planted: list[Times], left_out: int) -> str:
    cycles = [np.array([one.cycle.value for one in side]) for side in (plain, planted)]
    (before, after), spread = (
        (float(np.mean(side)) for side in cycles),
        cycles[0].std(ddof=1) / cycles[0].mean(),
    )
    near = np.diff(cycles[0]).std(ddof=1) / 2**0.5 / cycles[0].mean()
    errors = [one.cycle.error / one.cycle.value for one in plain if one.cycle.error is not None]
    return (
        f"{counted(len(plain) + len(planted), 'run')}, {left_out} disturbed ones left out. A cycle takes"
        f" {number(1e6 * before)} µs, and with the wait {number(1e6 * after)} µs"
        f" ({percent(after / before - 1, 1)} longer). Runs spread by {percent(spread, 1)} (standard"
        f" deviation; {percent(near, 1)} from one run to the next); their cycles alone would imply"
        f" {percent(float(np.median(errors)), 1)}."
    )


def _cycle(m: Measured, median: bool = False) -> Times:
    """The time of a cycle of a run, without its phases and causes, which are not looked at here.

    With `median`, that of its cycles; its error is taken as unknown. Raises BadInput without cycle times.
    """
    if not median:
        return Times(cycle(m.run), {}, {}, {})
    found = of_median(m.run)
    if found is None:
        raise BadInput(f"{m.run.path}: no cycles.npy; allowed with {MEDIAN}: runs with record.cycles")
    return Times(found, {}, {}, {})


def _wait(m: Measured) -> float:
    return m.description.get("inject", {}).get("mean_us", 0.0)


def _started(m: Measured) -> float:
    return m.run.record.timing.simulate_started_s or 0.0


def _sessions(runs: list[Times], size: int) -> list[Session]:
    return [runs[i : i + size] for i in range(0, len(runs) - size + 1, size)]


def _entry(number: int, session: Session) -> Entry:
    """A session as an entry of a history."""
    date = f"2000-01-01T{number // 60:02d}:{number % 60:02d}:00Z"
    runs = [{"started": date, "seed": 1, "parts": {CYCLE: one.cycle.value}} for one in session]
    about = {"machine": "", "experiment": "", "setup": "", "key": "planted", "versions": {}}
    content = {"kind": KIND, "format_version": VERSION, "started": date, **about, "runs": runs}
    return Entry.model_validate(content)


def _longer(pairs: list[tuple[Session, Session]]) -> list[tuple[Session, Session]]:
    """The pairs with cycles of the second session FACTOR times as long."""
    return [(one, [_times(run, FACTOR) for run in other]) for one, other in pairs]


def _times(run: Times, factor: float) -> Times:
    error = run.cycle.error
    return replace(run, cycle=Part(factor * run.cycle.value, None if error is None else factor * error))


def _shares(
    pairs: list[tuple[Session, Session]], known: Known | None, apart: bool
) -> dict[str, float | None]:
    """The shares of comparisons in which the second session is surely slower, faster, and above the limit."""
    found = []
    for first, second in pairs:
        made = between(first, second, [1] * len(first), [1] * len(second), known=known, apart=apart)[CYCLE]
        low, high = made.interval()
        found.append((low > 0, high < 0, low > LIMIT * made.first_s))
    if not found:
        return {}
    return dict(zip(("slower", "faster", "fails"), np.mean(found, axis=0).tolist(), strict=True))


def main(arguments: list[str]) -> int:
    """Prints the table as Markdown; exit status 2 for bad input."""
    try:
        folders = [one for one in arguments if one not in (EVERY, MEDIAN)]
        if len(folders) != 1:
            raise BadInput(f"one results folder is needed; allowed besides: {EVERY}, {MEDIAN}")
        made = table(gather(Path(folders[0])).runs, EVERY in arguments, MEDIAN in arguments)
    except BadInput as error:
        print(f"planted: {error}", file=sys.stderr)
        return 2
    print(made.markdown(), *made.notes, sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
