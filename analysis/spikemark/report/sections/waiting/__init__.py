"""Waiting for the slowest rank, measured over D, against the theory of independent cycle times."""

from dataclasses import dataclass

from spikemark.models.waiting_iid import IidWaiting
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, geometric_mean, number
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration, Measured
from spikemark.records.phases import NOT_TIMED, OVERLAP
from spikemark.report.columns import LABEL, RUNS, WAITS, extent, without

from . import drawing
from .compared import statement
from .misfit import misfit

TITLE = "Waiting for the slowest rank"
EXPLAINED = (
    "How long do ranks wait, and does theory expect that? A rank that is done waits at a barrier for the "
    "slowest one. The published theory (Lober et al. 2026, eqs 2–11) treats all cycle times as independent "
    "draws from one normal distribution. It is fitted here to the conventional runs alone. For ranks that "
    "meet only every D cycles, it expects the waiting to shrink by a share of 1 − 1/√D. Ranks that overlap "
    "have no barrier: they wait for messages under way, transport included, of which the theory is silent."
)


@dataclass(frozen=True)
class Point:
    """Waiting of every run of a configuration: seconds per second of simulated time, averaged over ranks."""

    configuration: Configuration
    measured: list[float]
    #: of the theory for this D, one per conventional run; empty with the reason in `unexpected`
    expected: list[float]
    waits: str  # where the ranks wait (Run.waits)
    unexpected: str = ""


@dataclass(frozen=True)
class Waiting:
    """Everything that the figure for one number of ranks shows."""

    ranks: int
    points: list[Point]
    curve: dict[int, list[float]]  # D -> what the theory expects, one per conventional run


def prepare(case: Case, ranks: int) -> Waiting | None:
    """Returns None where no run on that many ranks has waiting timed on its own."""
    configurations = case.configurations(ranks)
    plain = [m for c in configurations if c.schedule == "conventional" for m in case.of(c, ranks)]
    fits = [(IidWaiting.fit(m.run), m) for m in plain if m.run.cycles is not None]
    points = []
    for configuration in configurations:
        runs = [m for m in case.of(configuration, ranks) if m.waiting is not None]
        if runs:
            points.append(_point(configuration, runs, fits))
    if not points:
        return None
    largest = max(c.delay_ratio for c in configurations)
    return Waiting(ranks, points, {d: _expected(fits, d) for d in range(1, largest + 1)} if fits else {})


def _point(configuration: Configuration, runs: list[Measured], fits: list) -> Point:
    measured, run = [m.waiting for m in runs], runs[0].run
    if OVERLAP in run.waiting_phases:
        return Point(configuration, measured, [], run.waits, "no theory of overlap")
    expected = _expected(fits, configuration.delay_ratio)
    return Point(configuration, measured, expected, run.waits, "" if expected else "no cycle times")


def _expected(fits: list[tuple[IidWaiting, Measured]], delay_ratio: int) -> list[float]:
    return [fit.predict(delay_ratio).waiting_s / m.run.record.timing.model_s for fit, m in fits]


def section(view: View) -> Section:
    """Shows one figure for every number of ranks above one."""
    if view.case is None:
        return Section("waiting", TITLE, missing=["Waiting: no run is complete."])
    figures, missing, text = [], [], [EXPLAINED]
    for ranks in view.case.ranks:
        if ranks == 1:
            continue
        waiting = prepare(view.case, ranks)
        if waiting is None:
            missing.append(f"Waiting on {counted(ranks, 'rank')}: {NOT_TIMED}.")
            continue
        figures.append(_figure(waiting, view.kind))
        text += _miss(view.case, ranks)
        if not waiting.curve:
            missing.append(
                f"The theory on {counted(ranks, 'rank')}: there is no conventional run with recorded cycle "
                "times to "
                "fit it to."
            )
    if view.case.ranks == [1]:
        missing.append("Waiting: all runs have one rank, and one rank waits for nobody.")
    text = [*statement(view), *text] if figures else []
    return Section("waiting", TITLE, text=text, figures=figures, missing=missing)


def _miss(case: Case, ranks: int) -> list[str]:
    """Says by how much the theory misses the runs it is fitted to, and why."""
    miss = misfit(case, ranks)
    if miss is None:
        return []
    words = (
        f"On {counted(ranks, 'rank')} the theory expects {number(miss.factor, 2)} times the waiting of "
        "the conventional runs it is fitted to"
    )
    if miss.reason:
        return [f"{words}, because {miss.reason}."]
    if miss.notable:
        return [
            f"{words}; neither rare long cycles nor lasting differences between ranks alone explain that."
        ]
    return [f"{words}."]


def _figure(waiting: Waiting, kind: str) -> Figure:
    where = counted(waiting.ranks, "rank")
    alt = f"Waiting per simulated time against D on {where}. " + " ".join(
        f"{p.configuration.label}: {number(geometric_mean(p.measured))} {kind}"
        + (f", {number(geometric_mean(p.expected))} expected." if p.expected else ".")
        for p in waiting.points
    )
    caption = (
        f"Waiting on {where}, in seconds per second of simulated time (mean over ranks). "
        f"Dots: {kind}, one per run. "
    )
    if waiting.curve:
        caption += (
            "Dashed: expected from independent cycle times with the mean and SD of the conventional runs "
            "(modelled: geometric mean of the fits; shaded: lowest to highest). The theory treats "
            "differences between ranks, drifts and rare long cycles as jitter."
        )
    zero = without(f"0 {kind}")

    def factor(p: Point) -> Cell:
        if not p.expected:
            return without(p.unexpected, said=False)
        return geometric_mean(p.expected) / mean if (mean := geometric_mean(p.measured)) > 0 else zero

    columns = {
        **LABEL,
        RUNS: lambda p: len(p.measured),
        WAITS: lambda p: p.waits,
        Column("waiting", "waiting (s/s)", kind): lambda p: geometric_mean(p.measured),
        Column("range", "lowest–highest", kind): lambda p: extent(p.measured),
        Column("expected", "expected (s/s)", "modelled"): lambda p: (
            geometric_mean(p.expected) if p.expected else without(p.unexpected)
        ),
        Column("factor", f"expected / {kind}", words=_times): factor,
    }
    name, table = f"waiting-{waiting.ranks}", Table.of(columns, waiting.points)
    return Figure(name, f"On {where}", drawing.draw(waiting, kind, name, alt), alt, caption, table)


def _times(factor: float) -> str:
    return f"{number(factor)}×"
