"""The D that the delays of a run allow, for questions that name none."""

from dataclasses import dataclass, replace

from spikemark.core.errors import BadInput
from spikemark.network import lanes
from spikemark.network.description import read
from spikemark.network.schedules import called
from spikemark.records.imported import CycleTimes
from spikemark.records.record import Run

MEASURED = (
    "Compute times stay as measured: what another placement would make of them is not known."
    " `spikemark whatif` says what equal work on all ranks would change (level-ranks)."
)


@dataclass(frozen=True)
class Chosen:
    """`ratio` is D; `lines` say where it comes from, `warnings` that the spikes would not be the same."""

    ratio: int
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def delay_ratio(
    run: Run | CycleTimes, schedule: str, given: int | None = None, lag: int | None = None
) -> Chosen:
    """The given D, else the largest that is exact in the run's network with every area on ranks of its own.

    It is 1 for a schedule without D. Raises BadInput where no D is exact with this lag.
    """
    known = called(schedule)
    placed = () if schedule == "conventional" else (MEASURED,)
    if isinstance(run, CycleTimes) and known is not None and known.uses_delay_ratio:
        if given is None:
            raise BadInput(
                f"delay_ratio: missing; imported times do not say which D the delays allow {schedule}; give"
                " --delay-ratio, such as 5"
            )
        return Chosen(given, (f"D = {given}: given; which D the delays allow is not known", *placed))
    found = _of_network(run, schedule, given, lag)
    return replace(found, lines=(*found.lines, *placed)) if known else found


def _of_network(run: Run | CycleTimes, schedule: str, given: int | None, lag: int | None) -> Chosen:
    known = called(schedule)
    if known is None or not known.uses_delay_ratio:
        return Chosen(given or 1)
    windows = (lag or 1) if known.lagged else 0
    largest = lanes.largest_between_areas(read(run.record.description), windows)
    if largest is None:
        return Chosen(given or 1, ("there are no synapses between areas, so no delay limits D",))
    if given is None:
        return Chosen(largest, (f"D = {largest}: the largest that the delays of the run allow",))
    if given > largest:
        return Chosen(given, (), (f"delay_ratio={given}: the delays of the run allow {largest} at most",))
    return Chosen(given, (f"D = {given}: given; the delays of the run allow up to {largest}",))
