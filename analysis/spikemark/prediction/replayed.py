"""How other schedules would change a production program's run time, by replay of its cycle
times.
"""

from contextlib import suppress
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity
from spikemark.records import imported
from spikemark.waiting import replay
from spikemark.waiting.trace import CycleTrace, trace

REPLAYED = ("structure_aware", "overlapped")  #: schedules that are tried


def changes(folder: Path, delay_ratio: int | None) -> dict[str, Quantity]:
    """Run times over the measured one with D = `delay_ratio`, by schedule.

    `folder` holds imported times. Raises BadInput for a folder without cycle times, and where no
    schedule can be replayed.

    Example:
        >>> from pathlib import Path
        >>> run = Path("tests/golden/analysis/records/conventional-4")
        >>> list(changes(run, delay_ratio=2))
        ['structure_aware', 'overlapped']
    """
    run = trace(imported.run_or_times(folder))
    by_schedule = {}
    for schedule in REPLAYED:
        change = _replayed(run, schedule, delay_ratio or 1)
        if change is None:
            continue
        if change.reason:
            raise BadInput(f"placement: {change.reason}", field="times", file=folder)
        by_schedule[schedule] = change
    if not by_schedule:
        raise BadInput(
            field="times",
            value=str(folder),
            expected=f"cycle times of more than {delay_ratio} cycles",
        )
    return by_schedule


def _replayed(run: CycleTrace, schedule: str, delay_ratio: int) -> Quantity | None:
    """The change of a schedule; None where the run is too short, or the schedule is not for it."""
    with suppress(BadInput):
        return replay.predict(run, replay.Setting.from_run(run, schedule, delay_ratio)).change
    return None
