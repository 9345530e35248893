"""The page of imported cycle times, a dry run or a run: why ranks wait, what helps, what to measure next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, integer, percent
from spikemark.records.imported import COMMUNICATE, PAGE, WAIT, CycleTimes, of_dry_run
from spikemark.records.record import Run
from spikemark.waiting import PREDICTORS, show, show_budget, verdicts
from spikemark.waiting.allowed import MEASURED
from spikemark.waiting.base_case import misses
from spikemark.waiting.budget import Budget, budget
from spikemark.waiting.components import Components
from spikemark.waiting.estimates import estimates
from spikemark.waiting.source import Source, source
from spikemark.waiting.whatif import CHANGES, Outcome, situation, whatif

from . import page
from .sections import glossary
from .ways import Way, picture, table, ways_of

DOUBLE = "double-delay-ratio"  # the same as structure-aware with D = 2
ITSELF = 0.5  # share of the waiting from which the meeting itself is to be looked into
OTHER, ORIGINS = "another program", {of_dry_run.READER: "a dry run of the mini-app"}
DELAYS = (
    "A schedule with D cycles between two exchanges gives the same spikes only if the shortest delay between"
    " areas is at least D cycles; cycle times do not say how long delays are."
)
EXCHANGES = (
    "An exchange and its barrier are taken to be as long as in this run, although they would carry the spikes"
    " of D cycles."
)


def write(times: CycleTimes | Run, path: Path | None = None) -> tuple[Path, str]:
    """Write the page, into the folder of the times if nowhere else. Returns its path and its sentence."""
    path = path or times.path / PAGE
    text, sentence = render(times)
    write_output(path, text)
    return path, sentence


def render(times: CycleTimes | Run) -> tuple[str, str]:
    """The page as one HTML document that loads nothing, and the sentence at its top."""
    made = answer(times)
    title = f"{counted(made.fitted.ranks, 'rank')}, {integer(made.fitted.cycles)} cycles"
    what, machine = "cycle times of the run", "an unknown machine"
    if isinstance(times, Run):
        machine = times.record.host.name
    else:
        what = f"cycle times of {ORIGINS.get(times.about.reader, OTHER)}"
    text = page.document(
        what=what,
        sweep=SimpleNamespace(name=times.path.resolve().name, machine=machine, title=title),
        sentence=made.sentence,
        top=page.Top(
            picture(made.ways, made.predictor), table(made.ways), rest=f"{made.waits} {made.order.title}"
        ),
        broken=False,
        cautions=[Box(page.WARY, line) for line in made.based],
        sections=[
            _section("order", "What would help, in order", made.order),
            _section("budget", "Why ranks wait", made.causes),
            _section("whatif", "What each change does", made.helps),
            _section("cycle-times", "What cycle times are made of", made.times),
            Section("next", "What to measure next", text=list(made.next)),
            glossary.of(glossary.OF_TIMES),
        ],
    )
    return text, made.sentence


@dataclass(frozen=True)
class Answer:
    """The answer for somebody who has to decide; the page and the terminal show it."""

    sentence: str
    waits: str  # how much of the time is waiting
    fitted: Source
    predictor: str  # the one to believe
    ways: list[Way]
    order: Table  # what would help, the most helpful first
    causes: Table
    helps: Table
    times: Table
    based: tuple[str, ...]
    next: tuple[str, ...]


def answer(times: CycleTimes | Run) -> Answer:
    """Asks every model. Raises BadInput for times that they do not take, as `source` and `observed` do."""
    fitted, found = source(times), budget(times)
    models = {name: kind.fit(fitted) for name, kind in PREDICTORS.items()}
    made = {name: model.predict("conventional") for name, model in models.items()}
    missed = misses(fitted, made)
    best = show.believed(PREDICTORS, missed)
    ways, refused = ways_of(fitted, models[best], times)
    base = situation([times])
    outcomes = {name: whatif(base, predictor=name) for name in PREDICTORS}
    foreign = isinstance(times, CycleTimes)
    order = _order(ways, outcomes[best], best, foreign)
    return Answer(
        sentence=verdicts.cause(found),
        waits=_waits(fitted),
        fitted=fitted,
        predictor=best,
        ways=ways,
        order=order,
        causes=show_budget.budget(found, times.measured_cycles),
        helps=show.outcomes(outcomes, missed),
        times=show.fitted(fitted, estimates(Components(fitted.compute)), made, missed),
        based=(*fitted.warnings, *([DELAYS] if foreign else []), EXCHANGES, MEASURED, *refused),
        next=_next(times, found, any("cycles=" in line for line in refused)),
    )


def _waits(fitted: Source) -> str:
    """Which share of the run time is waiting, as a sentence."""
    share = fitted.waited.share_of(fitted.cycle.value)
    limits = f" ({' to '.join(map(percent, share.interval))})" if share.interval else ""
    return f"Ranks wait {percent(share.value)}{limits} of the run time."


def _order(ways: Sequence[Way], outcomes: Sequence[Outcome], predictor: str, foreign: bool) -> Table:
    """Every schedule and change by how much shorter the run would be.

    `foreign`: of a program whose delays are not known.
    """
    base, *changes = outcomes
    tried = {way.name: way for way in ways[1:]}
    singles = [one for one in changes if one.name in CHANGES and not (tried and one.name == DOUBLE)]
    known = {name: way.cycle.times(1 / ways[0].cycle.value, "") for name, way in tried.items()}
    whole = base.runtime.value
    known |= {one.name: one.runtime.times(1 / whole, "") for one in singles if not one.refused}
    ordered = sorted(known.items(), key=lambda one: one[1].value)
    columns = {
        Column("change", "what"): lambda one: one[0],
        Column("runtime", f"run time by {predictor}", "modelled", words=_change): lambda one: one[1],
        Column("meaning", "what it means"): lambda one: (
            tried[one[0]].meaning if one[0] in tried else CHANGES[one[0]].__doc__
        ),
    }
    if_exact = foreign and ordered[0][0] in tried
    condition = ", if the delays between areas allow it" if if_exact else ""
    notes = [f"refused: {one.name}: {one.refused}" for one in singles if one.refused]
    return Table.of(columns, ordered, _helps_most(*ordered[0], condition), notes=notes)


def _change(factor: float) -> str:
    """A change with a digit behind the point, so that its interval does not look like a point."""
    return change(round(factor, 3), 1)


def _helps_most(name: str, runtime: Quantity, condition: str) -> str:
    """The sentence on the first of all changes."""
    low, high = (_change(x) for x in runtime.interval or (runtime.value,) * 2)
    words = f"{_change(runtime.value)} ({low} to {high}) of the run time{condition}"
    if (runtime.high or runtime.value) < 1:
        return f"What would help most: {name}, {words}."
    return f"Nothing is sure to help; most likely would {name}, {words}."


def _next(times: CycleTimes | Run, found: Budget, short: bool) -> tuple[str, ...]:
    """What would make the answer surer."""
    said, barrier = [], found.parts["barrier"]
    if barrier and found.waiting_s > 0 and barrier.share_of(found.waiting_s).value > ITSELF:
        said.append(
            "Look whether every rank has cores of its own, and what else runs there: most of the waiting is"
            " not due to computing. `spikemark bench --exchange` times exchanges alone."
        )
    if isinstance(times, CycleTimes):
        if times.about.reader == of_dry_run.READER:
            said.append("Take exchanges from a profile or a simulation: `spikemark predict --compute-from`.")
        elif times.column(COMMUNICATE) is None:
            said.append("Time the collective call of each cycle: run times then include exchanges.")
        elif times.column(WAIT) is None:
            said.append(
                "Time a barrier before the collective call, in a run of its own: waiting then has a value"
                " instead of limits."
            )
        if times.about.missing:
            said.append("Log the missing ranks, too: one of them may be the slowest.")
        said.append("Find the shortest delay between areas in cycles: it is the largest D.")
    if short:
        said.append("Log more cycles: some schedules were refused because there are too few.")
    said.append("Run a second time on other nodes: it shows whether the same ranks are slow again.")
    return tuple(said)


def _section(name: str, title: str, table: Table) -> Section:
    """A section of one table, whose title is its text."""
    return Section(name, title, text=[table.title], tables=[untitled(table)])


def untitled(table: Table) -> Table:
    """The table for where its title stands elsewhere."""
    return replace(table, title="", name="")
