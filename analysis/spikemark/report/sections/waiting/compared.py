"""Says how the waiting of the two compared configurations differs, beside the published theory."""

from spikemark.models import waiting_iid
from spikemark.quantities.words import counted, number, percent
from spikemark.records.cases import Ratio, View
from spikemark.records.phases import OVERLAP

from .misfit import misfit

#: The schedules that have one window for all ranks, which is what the published theory is about.
OF_THEORY = ("conventional", "placement_only", "structure_aware")


def statement(view: View) -> list[str]:
    """One paragraph; none where no schedules are compared."""
    if not view.comparable:
        return []
    other, base = view.other.label, view.base.label
    if view.ranks == 1:
        which = "All complete runs" if view.case.ranks == [1] else "The only runs that can be compared so far"
        return [f"{which} have one rank, which waits for nobody, so nothing is said about waiting."]
    waiting = view.against_base(view.other, lambda m: m.waiting)
    if waiting is None:
        return [f"Waiting of {other} and {base} cannot be compared: it was not timed on its own."]
    return [f"{other[0].upper()}{other[1:]} against {base}: {observed(waiting)}{_theory(view, waiting)}."]


def observed(waiting: Ratio) -> str:
    """Says how the waiting changed, in the same unit as the theory."""
    value, pairs = number(waiting.value), counted(len(waiting.pairs), "pair")
    if waiting.verdict == "few":
        return f"{pairs} of runs, {waiting.why} for an interval, waited {waiting.each} times as long"
    if waiting.verdict == "open":
        return (
            f"the runs cannot tell whether the waiting changed (ratio {value}, 95 % interval "
            f"{number(waiting.low)}–{number(waiting.high)})"
        )
    low, high = sorted(abs(1 - x) for x in (waiting.low, waiting.high))
    fell = f"{'fell' if waiting.value < 1 else 'rose'} by {percent(abs(1 - waiting.value))}"
    return f"waiting {fell} (95 % interval {percent(low)} to {percent(high)})"


def expected(view: View) -> float | None:
    """The ratio of waiting by the published theory, 1/√D (Lober et al. 2026, eq 11), where it has one."""
    pair = (view.other, view.base)
    if any(c.schedule not in OF_THEORY for c in pair):
        return None
    return waiting_iid.waiting_ratio(view.other.delay_ratio) / waiting_iid.waiting_ratio(
        view.base.delay_ratio
    )


def _theory(view: View, waiting: Ratio) -> str:
    value = expected(view)
    if value is None:
        runs = view.case.of(view.other, view.ranks)
        overlaps = any(OVERLAP in m.run.waiting_phases for m in runs)
        return ", of which the published theory is silent" + (
            "; it is spent on messages under way, not at a barrier" if overlaps else ""
        )
    words = f"; the theory of independent cycle times expects {_in_words(waiting, value)}"
    miss = misfit(view.case, view.ranks)
    if miss and miss.notable:
        words += (
            f", but puts the conventional waiting itself at {number(miss.factor, 2)} times what was "
            f"{view.kind}"
        )
    return words


def _in_words(waiting: Ratio, value: float) -> str:
    if not waiting.resolved:
        return f"a ratio of {number(value)}"
    if value == 1:
        return "no change"
    if value > 1:
        return f"a rise by {percent(value - 1)}"
    return percent(1 - value) if waiting.value < 1 else f"a fall of {percent(1 - value)}"
