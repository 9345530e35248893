"""The ways to run a program that the page of its cycle times compares: as it ran, and other schedules."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, number
from spikemark.records.imported import CycleTimes
from spikemark.records.record import Run
from spikemark.waiting import PREDICTORS
from spikemark.waiting.allowed import delay_ratio
from spikemark.waiting.predictor import Predictor
from spikemark.waiting.source import Source
from spikemark.waiting.units import in_us

from .first_screen import COLOURS, COMPUTING, EXCHANGE, WAITING
from .style import COLOUR, drawing, legend_above, markup, rows_height, stacked

TRIED = [
    *(("structure_aware", d) for d in (2, 5, 10, 20)),
    *(("overlapped", d) for d in (2, 10)),
]

MEANS = {
    "structure_aware": "All ranks exchange every {d} cycles.",
    "overlapped": "All ranks exchange every {d} cycles, and compute meanwhile.",
}
#: Signs of the parts of a bar on a terminal, and the length of the longest bar.
SIGNS, LONGEST = {COMPUTING: "█", WAITING: "▒", EXCHANGE: "░"}, 60


@dataclass(frozen=True)
class Way:
    """One schedule: µs per cycle of computing, waiting and exchange, means over ranks."""

    name: str
    parts: dict[str, Quantity]
    cycle: Quantity  # all of it
    meaning: str = ""


def ways_of(fitted: Source, model: Predictor, times: CycleTimes | Run) -> tuple[list[Way], list[str]]:
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
        known.append(Way(name, parts, in_us(made.runtime, made.cycles), MEANS[schedule].format(d=d)))
    return known, refused


def _exact(times: CycleTimes | Run, schedule: str, ratio: int) -> None:
    """Raises BadInput for a D that the delays of a run do not allow; those of others are not known."""
    said = () if isinstance(times, CycleTimes) else delay_ratio(times, schedule, ratio).warnings
    if said:
        raise BadInput(said[0])


def picture(ways: Sequence[Way], predictor: str) -> Figure:
    """One bar for each way, made of computing, waiting and exchange."""
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
        f"Time per cycle, mean over ranks. First bar: as it ran. The others: {predictor}, "
        f"{PREDICTORS[predictor].summary} (modelled)."
    )
    return Figure("first-picture", "Under other schedules", svg, alt, caption, table(ways))


def table(ways: Sequence[Way]) -> Table:
    """One line for each way: its cycle, how much shorter or longer that is, and how much of it is waiting."""
    first = ways[0].cycle.value
    return Table.of(
        {
            Column("schedule", "schedule"): lambda way: way.name,
            Column("cycle", "cycle (µs)", digits=4, each=True): lambda way: way.cycle,
            Column("change", "change", "modelled", words=change): lambda way: (
                missing("the others are compared with it", mark="–")
                if way is ways[0]
                else way.cycle.value / first
            ),
            Column("waiting", "waiting (µs)", each=True): lambda way: way.parts[WAITING],
        },
        ways,
    )


def bars(ways: Sequence[Way]) -> list[str]:
    """The picture in letters, a line for each way, after one that explains the signs."""
    longest, width = max(way.cycle.value for way in ways), max(len(way.name) for way in ways)
    lines = ["Time per cycle: " + ", ".join(f"{sign} {part}" for part, sign in SIGNS.items())]
    for way in ways:
        ends, bar = 0.0, ""
        for part, sign in SIGNS.items():
            ends += max(way.parts[part].value, 0.0)
            bar += sign * (round(LONGEST * ends / longest) - len(bar))
        lines.append(f"{way.name:>{width}} {bar} {number(way.cycle.value)} µs")
    return lines
