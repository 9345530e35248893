"""The multi-area model on simulated nodes: unequal areas, whole or spread (Lober et al., figs 9, 11)."""

from collections.abc import Callable

import numpy as np

from spikemark import machines
from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.quantity import Quantity, mean, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number
from spikemark.records.gather import Sweep
from spikemark.report.columns import LABEL, RANKS

from .on_machine import PHASES, Place, places, reduction_percent, saved
from .study import Findings, Study

PLACEMENTS = {
    "round_robin": "neurons dealt out",
    "area": "area on one rank",
    "area_group": "area on its ranks",
}
EXPLAINED = (
    "Does it pay to spread an area over several ranks? The 32 areas of the model differ in size. With whole "
    "areas on ranks, the largest area sets the pace, and more than 32 ranks are of no use. An area that is "
    "spread over several ranks, in proportion to its size, needs an exchange in every cycle, but only among "
    "its own ranks. Compute times are those of the full model at the rate of its ground state. Spikes and "
    "messages "
    "are those of a hundredth of the neurons, so exchanges carry fewer bytes than in the full model. Times "
    "are seconds per simulated second."
)
WHOLE = missing("more ranks than areas, or not simulated yet", mark="–")
NONE = missing("no conventional run of these ranks")


def read(sweep: Sweep) -> Findings:
    """Phases and imbalance by ranks, schedule and placement."""
    found = places(sweep.runs)
    main = _main(found)
    parts = [
        Section("mam", "Phases by number of ranks", [EXPLAINED], tables=[main]),
        Section("groups", "One rank per area, or several", tables=[_groups(found)]),
        Section("imbalance", "How unequal ranks are", tables=[_imbalance(found)]),
    ]
    return Findings(_sentence(found), _key_figures(found), parts)


def _placement(p: Place) -> str:
    return PLACEMENTS.get(p.configuration.placement, p.configuration.placement)


OF_SCHEDULE = {RANKS: lambda p: p.ranks, **LABEL}
LABELS = {**OF_SCHEDULE, Column("placement", "placement", "given"): _placement}


def _main(found: list[Place]) -> Table:
    less = {Column("saved_percent", "less run time than conventional (%)", "simulated"): saved(found, NONE)}
    return Table.of({**LABELS, **PHASES, **less}, found, "Seconds per simulated second", "mam")


def _groups(found: list[Place]) -> Table:
    """Both placements of areas, of the same schedule on as many ranks."""

    def whole(p: Place) -> Place | None:
        return next((q for q in found if _same_but_placement(p, q)), None)

    columns = {
        **OF_SCHEDULE,
        Column("area", "real-time factor, area on one rank", "simulated"): lambda p: (
            q.real_time_factor if (q := whole(p)) else WHOLE
        ),
        Column("area_group", "area on its ranks", "simulated"): lambda p: p.real_time_factor,
        Column("saved_percent", "less run time (%)", "simulated"): lambda p: (
            reduction_percent(q, p) if (q := whole(p)) else ""
        ),
    }
    spread = [p for p in found if p.configuration.placement == "area_group"]
    return Table.of(columns, spread, "Areas whole and areas spread", "groups")


def _same_but_placement(p: Place, q: Place) -> bool:
    a, b = p.configuration, q.configuration
    same = (p.machine, p.ranks, a.schedule, a.delay_ratio) == (q.machine, q.ranks, b.schedule, b.delay_ratio)
    return same and b.placement == "area"


def _imbalance(found: list[Place]) -> Table:
    """The time that the slowest rank computes over the whole run, over the mean of all ranks."""

    def over_mean(of: Callable[[np.ndarray], float]) -> Callable[[Place], Quantity]:
        def cell(p: Place) -> Quantity:
            computed = (m.run.compute().sum(axis=1) for m in p.runs if m.run.cycles is not None)
            return mean(float(of(c) / np.mean(c)) for c in computed)

        return cell

    columns = {
        **LABELS,
        Column("imbalance", "slowest rank / mean", "simulated"): over_mean(np.max),
        Column("spread", "SD over ranks / mean", "simulated"): over_mean(np.std),
    }
    return Table.of(columns, found, "Compute time by rank", "imbalance")


def _best(found: list[Place]) -> dict[int, Place]:
    """The fastest of each number of ranks."""
    known = [p for p in found if p.real_time_factor]
    ranks = sorted({p.ranks for p in known})
    return {n: min((p for p in known if p.ranks == n), key=lambda p: p.real_time_factor.value) for n in ranks}


def _sentence(found: list[Place]) -> str:
    best = _best(found)
    if not best:
        return "Nothing to compare yet: no simulated run is complete."
    words = [
        f"{n} ranks {number(p.real_time_factor.value)} ({p.configuration.label}, {_placement(p)})"
        for n, p in best.items()
    ]
    verdict = _verdict(found)
    machine = machines.title(found[0].machine)
    return f"Best real-time factors on {machine}, simulated: {'; '.join(words)}.{verdict}"


def _verdict(found: list[Place]) -> str:
    """Says what spreading areas does to the structure-aware schedule, on the most ranks with both."""
    spread = [p for p in found if p.configuration.placement == "area_group"]
    pairs = [(p, q) for p in spread for q in found if _same_but_placement(p, q)]
    pairs = [(p, q) for p, q in pairs if p.configuration.schedule == "structure_aware"]
    if not pairs:
        return ""
    p, q = max(pairs, key=lambda pair: pair[0].ranks)
    saved = reduction_percent(q, p)
    if not saved:
        return ""
    words = "saves" if saved.value >= 0 else "costs"
    return (
        f" Spreading areas over ranks {words} {number(abs(saved.value))} % of the structure-aware run time "
        f"on {p.ranks} ranks."
    )


def _key_figures(found: list[Place]) -> list[KeyFigure]:
    figures = [
        KeyFigure(f"Real-time factor, {n} ranks", number(p.real_time_factor.value), "simulated",
                  f"{p.configuration.label}, {_placement(p)}")
        for n, p in _best(found).items()
    ]  # fmt: skip
    return figures or [KeyFigure.lacking("Real-time factor", "no such runs")]


STUDY = Study(
    "mam",
    "strong scaling of the multi-area model on simulated nodes, areas whole or spread (Lober et al., fig 9)",
    "mam",
    read,
)
