"""The page of imported cycle times, or of one run: why ranks wait, what would help, what to measure next."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, integer, number
from spikemark.records.imported import COMMUNICATE, PAGE, WAIT, CycleTimes
from spikemark.records.record import Run
from spikemark.waiting import PREDICTORS, show, show_budget, verdicts
from spikemark.waiting.allowed import MEASURED, delay_ratio
from spikemark.waiting.base_case import misses
from spikemark.waiting.budget import budget
from spikemark.waiting.components import Components
from spikemark.waiting.estimates import estimates
from spikemark.waiting.predictor import Predictor
from spikemark.waiting.source import Source, source
from spikemark.waiting.units import in_us
from spikemark.waiting.whatif import CHANGES, Outcome, situation, whatif

from . import page
from .first_screen import COLOURS, COMPUTING, EXCHANGE, WAITING
from .style import COLOUR, drawing, legend_above, markup, rows_height, stacked

TRIED = [
    *(("structure_aware", d) for d in (2, 5, 10, 20)),
    *(("overlapped", d) for d in (2, 10)),
]
DELAYS = (
    "A schedule with D cycles between two exchanges gives the same spikes only if the shortest delay between"
    " areas is at least D cycles; cycle times do not say how long delays are."
)


@dataclass(frozen=True)
class Way:
    """One schedule: µs per cycle of computing, waiting and exchange, means over ranks."""

    name: str
    parts: dict[str, Quantity]
    cycle: Quantity  # all of it


def write(times: CycleTimes | Run, path: Path | None = None) -> tuple[Path, str]:
    """Write the page, into the folder of the times if nowhere else. Returns its path and its sentence."""
    path = path or times.path / PAGE
    text, sentence = render(times)
    write_atomically(path, text)
    return path, sentence


def render(times: CycleTimes | Run) -> tuple[str, str]:
    """The page as one HTML document that loads nothing, and the sentence at its top."""
    made = answer(times)
    title = f"{counted(made.fitted.ranks, 'rank')}, {integer(made.fitted.cycles)} cycles"
    origin = "another program" if isinstance(times, CycleTimes) else "a run of the mini-app"
    text = page.document(
        what="cycle times",
        sweep=SimpleNamespace(name=times.path.resolve().name, machine=origin, title=title),
        sentence=made.sentence,
        top=page.Top(_picture(made.ways, made.predictor), _table(made.ways)),
        broken=False,
        cautions=[Box(page.WARY, line) for line in made.based],
        sections=[
            _section("order", "What would help, in order", made.order),
            _section("budget", "Why ranks wait", made.causes),
            _section("whatif", "What each change does", made.helps),
            _section("cycle-times", "What cycle times are made of", made.times),
            Section("next", "What to measure next", text=list(made.next)),
        ],
    )
    return text, made.sentence


@dataclass(frozen=True)
class Answer:
    """What can be said to somebody who has to decide; the page and the terminal show it."""

    sentence: str
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
    ways, refused = _ways(fitted, models[best], times)
    base = situation([times])
    outcomes = {name: whatif(base, predictor=name) for name in PREDICTORS}
    return Answer(
        sentence=verdicts.cause(found),
        fitted=fitted,
        predictor=best,
        ways=ways,
        order=_order(ways, outcomes[best], best),
        causes=show_budget.budget(found, times.measured_cycles),
        helps=show.outcomes(outcomes, missed),
        times=show.fitted(fitted, estimates(Components(fitted.compute)), made, missed),
        based=(*fitted.warnings, *((DELAYS,) if isinstance(times, CycleTimes) else ()), MEASURED, *refused),
        next=_next(times, any("cycles=" in line for line in refused)),
    )


def _order(ways: Sequence[Way], outcomes: Sequence[Outcome], predictor: str) -> Table:
    """Every schedule and change by how much shorter the run would be."""
    base, *changes = outcomes
    singles = [one for one in changes if one.name in CHANGES]
    known = {way.name: way.cycle.times(1 / ways[0].cycle.value, "") for way in ways[1:]}
    whole = base.runtime.value
    known |= {one.name: one.runtime.times(1 / whole, "") for one in singles if not one.refused}
    ordered = sorted(known.items(), key=lambda one: one[1].value)
    columns = {
        Column("change", "what"): lambda one: one[0],
        Column("runtime", f"run time by {predictor}", "modelled", words=change): lambda one: one[1],
        Column("meaning", "what it means"): lambda one: getattr(CHANGES.get(one[0]), "__doc__", ""),
    }
    made = Table.of(columns, ordered, _helps_most(*ordered[0]))
    notes = [f"refused: {one.name}: {one.refused}" for one in singles if one.refused]
    return Table(made.columns, made.rows, made.title, notes=notes)


def _helps_most(name: str, runtime: Quantity) -> str:
    """The sentence on the first of all changes."""
    low, high = (change(x) for x in runtime.interval or (runtime.value,) * 2)
    words = f"{change(runtime.value)} ({low} to {high}) of the run time"
    if (runtime.high or runtime.value) < 1:
        return f"What would help most: {name}, {words}."
    return f"Nothing is sure to help; most likely would {name}, {words}."


def _next(times: CycleTimes | Run, short: bool) -> tuple[str, ...]:
    """What would make the answer surer."""
    found = []
    if isinstance(times, CycleTimes):
        if times.column(COMMUNICATE) is None:
            found.append("Time the collective call of each cycle: run times then include exchanges.")
        elif times.column(WAIT) is None:
            found.append(
                "Time a barrier before the collective call, in a run of its own: a clock then tells waiting"
                " and exchange apart."
            )
        if times.about.missing:
            found.append("Log the missing ranks, too: one of them may be the slowest.")
        found.append("Find the shortest delay between areas in cycles: it is the largest D.")
    if short:
        found.append("Log more cycles: some schedules were refused because there are too few.")
    found.append("Run a second time on other nodes: it shows whether the same ranks are slow again.")
    return tuple(found)


def _ways(fitted: Source, model: Predictor, times: CycleTimes | Run) -> tuple[list[Way], list[str]]:
    """The program as it ran and under other schedules, and which schedules are refused."""
    computing = Quantity(1e6 * float(fitted.compute.mean(dtype="f8")), unit="µs", kind="measured")
    parts = {COMPUTING: computing, WAITING: in_us(fitted.waited), EXCHANGE: in_us(fitted.exchanged)}
    known = [Way("as it ran", parts, in_us(fitted.cycle))]
    refused = []
    for schedule, d in TRIED:
        name = f"{SCHEDULES[schedule].label}, D = {d}"
        try:
            _exact(times, schedule, d)
            made = model.predict(schedule, d)
            each = in_us(replace(fitted.exchanged, kind="modelled"), made.plan.window)
        except BadInput as reason:
            refused.append(f"{name}: {reason}")
            continue
        parts = {
            COMPUTING: computing,
            WAITING: in_us(made.waiting, made.cycles),
            EXCHANGE: Quantity(0.0, unit="µs", kind="modelled") if made.plan.lag else each,
        }
        known.append(Way(name, parts, in_us(made.runtime, made.cycles)))
    return known, refused


def _exact(times: CycleTimes | Run, schedule: str, ratio: int) -> None:
    """Raises BadInput for a D that the delays of a run do not allow; those of others are not known."""
    said = () if isinstance(times, CycleTimes) else delay_ratio(times, schedule, ratio).warnings
    if said:
        raise BadInput(said[0])


def _picture(ways: Sequence[Way], predictor: str) -> Figure:
    names = [way.name for way in ways]
    parts = {
        part: ([max(way.parts[part].value, 0.0) for way in ways], COLOUR[COLOURS[part]])
        for part in (COMPUTING, WAITING, EXCHANGE)
    }
    alt = "Microseconds per cycle as stacked bars. " + " ".join(
        f"{way.name}: {number(way.cycle.value)}, of which {number(way.parts[WAITING].value)} waiting."
        for way in ways
    )
    with drawing(height=rows_height(len(ways))) as (figure, (axes,)):
        handles = stacked(axes, names, parts)
        axes.set(ylim=(-0.6, len(ways) - 0.4), xlabel="µs per cycle")
        legend_above(figure, handles, columns=3)
        svg = markup(figure, "first-picture", alt)
    caption = (
        f"Time per cycle, mean over ranks. First bar: the times that were imported. The others: {predictor}, "
        f"{PREDICTORS[predictor].summary} (modelled)."
    )
    return Figure("first-picture", "Under other schedules", svg, alt, caption, _table(ways))


def _table(ways: Sequence[Way]) -> Table:
    first = ways[0].cycle.value
    return Table.of(
        {
            Column("schedule", "schedule"): lambda way: way.name,
            Column("cycle", "cycle (µs)", digits=4): lambda way: way.cycle,
            Column("change", "change", words=change): lambda way: (
                missing("the others are compared with it", mark="–")
                if way is ways[0]
                else way.cycle.value / first
            ),
            Column("waiting", "waiting (µs)"): lambda way: way.parts[WAITING],
            Column("kind", "kind"): lambda way: way.parts[WAITING].kind,
        },
        ways,
    )


def _section(name: str, title: str, table: Table) -> Section:
    """A section of one table, whose title is its text."""
    return Section(name, title, text=[table.title], tables=[untitled(table)])


def untitled(table: Table) -> Table:
    """The table for where its title stands elsewhere."""
    return Table(table.columns, table.rows, notes=table.notes)
