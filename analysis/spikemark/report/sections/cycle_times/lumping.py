"""How cycle times change when D of them make a window: Lober et al. 2026, section 2.4.1.

Shift of the distribution, relative spread, modes, longest time: of conventional cycles, of the same cycles
summed, and of structure-aware windows, beside the theory of independent normal cycles (eqs 6-9).
"""

from dataclasses import dataclass
from operator import itemgetter

from spikemark.models import order_statistics
from spikemark.models.modes import Mode
from spikemark.models.waiting_iid import IidWaiting
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent
from spikemark.records.cases import Ratio, View, ratio
from spikemark.records.gather import Configuration, Measured
from spikemark.report.columns import without

from .distributions import Distribution, distribution

NONE = "none"


@dataclass(frozen=True)
class Lumping:
    """Distributions of one conventional and one structure-aware run with D > 1; times are per cycle."""

    single: Distribution
    summed: Distribution  # the conventional cycles, D at a time
    windows: Distribution  # of the structure-aware run
    sides: tuple[Configuration, Configuration]

    @property
    def d(self) -> int:
        return self.windows.window


def lumping(view: View, drawn: dict[Configuration, Distribution]) -> Lumping | None:
    """Returns None if the drawn runs include no such pair, or if a run is shorter than two windows."""
    found = _sides(drawn)
    if found is None:
        return None
    single, windows = (drawn[configuration] for configuration in found)
    if windows.window == 1 or single.times_s.shape[1] < 2 * windows.window or windows.times_s.shape[1] < 2:
        return None
    if not single.modes:  # the times do not vary
        return None
    plain = next(m for m in view.case.of(found[0], view.ranks) if m.run.cycles is not None)
    return Lumping(single, distribution(plain, windows.window), windows, found)


def _sides(drawn: dict[Configuration, Distribution]) -> tuple[Configuration, Configuration] | None:
    """The first conventional configuration and the last structure-aware one, for which there is a theory."""
    sides = [[c for c in drawn if c.schedule == schedule] for schedule in ("conventional", "structure_aware")]
    return (sides[0][0], sides[1][-1]) if all(sides) else None


def text(view: View, found: Lumping) -> list[str]:
    """Says shift and relative spread over all pairs of runs, and what the paper found in its own."""
    sides = [view.case.of(c, view.ranks) for c in reversed(found.sides)]
    shift, cv = (ratio(*sides, value) for value in (_mean, _cv))
    if shift is None or cv is None:
        return []
    d = found.d
    words = (
        f"When {d} cycles make a window, the theory shifts the distribution by a factor of {d} and shrinks "
        f"its relative spread to 1/√{d} = {number(d**-0.5)} (eqs 6 and 7). {view.kind.capitalize()} over "
        f"{counted(len(shift.pairs), 'pair')} of runs: a shift by {_words(shift)}, a spread of {_words(cv)}."
    )
    if d == 10:
        words += (
            " Lober et al. 2026 (section 2.4.1) also report a shift below 10 and a spread above 0.316, on "
            "up to 128 ranks (literature)."
        )
    return [words]


def table(found: Lumping, kind: str) -> Table:
    """Tabulates the quantities; times of windows are those of whole windows here, not divided by D."""
    three = (found.single, found.summed, found.windows)
    scale = (1, found.d, found.d)
    d, fit = found.d, IidWaiting.fit(found.single.times_s)
    mean, sd = fit.window(d)
    main = [x.modes[0].at if x.modes else x.mean_s for x in three]
    cvs = [x.sd_s / x.mean_s for x in three]

    def times(values: list[float]) -> list[float]:
        return [1e6 * n * v for n, v in zip(scale, values, strict=True)]

    def against_single(values: list[float], factors: tuple[int, ...] = scale) -> list[float]:
        return [n * v / values[0] for n, v in zip(factors, values, strict=True)]

    longest = order_statistics.expected_maximum(found.windows.times_s.size)
    rows = [
        ["mean (µs)", *times([x.mean_s for x in three]), 1e6 * mean],
        ["shift of the mean", *against_single([x.mean_s for x in three]), d],
        ["main mode (µs)", *times(main), 1e6 * d * main[0]],
        ["shift of the main mode", *against_single(main), d],
        ["further modes (µs), share", *(_further(x, n) for x, n in zip(three, scale, strict=True)), NONE],
        ["SD (µs)", *times([x.sd_s for x in three]), 1e6 * sd],
        ["CV", *cvs, fit.cv(d)],
        ["CV over that of cycles", *against_single(cvs, (1, 1, 1)), d**-0.5],
        ["longest (µs)", *times([x.longest_s for x in three]), 1e6 * (mean + sd * longest)],
    ]
    if found.single.maxima_s is not None:
        slowest = mean + sd * order_statistics.expected_maximum(fit.ranks)
        maxima = times([float(x.maxima_s.mean()) for x in three])
        rows += [
            ["slowest rank, mean (µs)", *maxima, 1e6 * slowest],
            ["independent ranks", *map(independent, three), fit.ranks],
        ]
    columns = [
        Column("what", ""),
        Column("single", "conventional cycles", kind),
        Column("summed", f"{d} of them summed", kind),
        Column("windows", f"structure-aware windows of {d}", kind),
        Column("theory", "theory", "modelled"),
    ]
    return Table.of(
        {column: itemgetter(i) for i, column in enumerate(columns)}, rows, "From cycles to windows"
    )


def modes_in_words(modes: list[Mode], scale: float = 1) -> str:
    """Says where modes are, in µs, with their shares where there are several."""
    if len(modes) == 1:
        return number(1e6 * scale * modes[0].at)
    return "; ".join(f"{number(1e6 * scale * m.at)} ({percent(m.share)})" for m in modes) or NONE


def independent(d: Distribution) -> Quantity:
    """Returns how many independent ranks have maxima like those of the run."""
    return d.independent_ranks or without("one rank" if d.maxima_s is None else "too few windows")


def _further(d: Distribution, scale: int) -> str:
    return "; ".join(f"{number(1e6 * scale * m.at)}, {percent(m.share)}" for m in d.modes[1:]) or NONE


def _words(found: Ratio) -> str:
    interval = "" if found.low is None else f" ({number(found.low)}–{number(found.high)})"
    return number(found.value) + interval


def _mean(m: Measured) -> float | None:
    """Returns the mean time between two exchanges, in s."""
    return None if m.run.cycles is None else float(m.run.compute().mean()) * m.run.window


def _cv(m: Measured) -> float | None:
    if m.run.cycles is None:
        return None
    found = distribution(m)
    return found.sd_s / found.mean_s if found.mean_s > 0 else None
