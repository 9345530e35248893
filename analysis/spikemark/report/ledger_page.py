"""The page of a ledger: how often intervals held, all predictions with failures first, and hit rates."""

from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.prediction.ledger import show
from spikemark.prediction.ledger.score import HELD, MISSED, NOT_VALID, OPEN, VERDICTS, Scores
from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.words import percent

from . import page

MEANS = "An interval held if the run lies within it: the mean of its records, if there are several."


def write(made: Scores, path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(Path(path), render(made))


def render(made: Scores) -> str:
    """The page as one HTML document that loads nothing."""
    ledger = made.ledger
    return page.document(
        what="ledger of predictions",
        sweep=SimpleNamespace(
            name=ledger.path.name,
            machine=", ".join(sorted({e.run.machine or "measured runs" for e in ledger.entries})),
            title=f"{ledger.entries[0].frozen} to {ledger.entries[-1].frozen}",
        ),
        sentence=show.sentence(made),
        top=page.Top(table=_failures(made)),
        key_figures=_figures(made),
        broken=False,
        cautions=[Box("bad", line) for line in made.complaints],
        sections=[_rates(made), _all(made), _based(made)],
    )


def _figures(made: Scores) -> list[KeyFigure]:
    rate = made.rate.share
    note = "" if not rate else f"of those that were scored; {' to '.join(map(percent, rate.interval))}"
    return [
        KeyFigure("intervals held", rate, "counted", note, percent),
        *(KeyFigure(name, made.count(name), "counted", VERDICTS[name]) for name in (MISSED, OPEN, NOT_VALID)),
    ]


def _failures(made: Scores):
    failed = [score for score in made.failures_first if score.verdict in (NOT_VALID, MISSED)]
    table = show.table(made, failed)
    title = "Failures, the worst first" if failed else "No prediction failed"
    return type(table)(table.columns, table.rows, title)


def _rates(made: Scores) -> Section:
    return Section("rates", "Hit rates", [show.GOAL, show.CLUSTERED], tables=show.rates(made))


def _all(made: Scores) -> Section:
    words = [MEANS, *(f"{name}: {what}." for name, what in VERDICTS.items() if name != HELD)]
    return Section("all", "All predictions", words, tables=[show.table(made)])


def _based(made: Scores) -> Section:
    return Section("based", "What was not scored, and how to check the ledger", show.lines(made))
