"""How other schedules would change a production program's run time, by replay of its cycle
times.
"""

from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity
from spikemark.records import imported
from spikemark.waiting import replay
from spikemark.waiting.trace import trace

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
    if delay_ratio is None:
        delay_ratio = 1
    by_schedule = {}
    refusals = []
    for schedule in REPLAYED:
        try:
            setting = replay.Setting.from_run(run, schedule, delay_ratio)
            change = replay.predict(run, setting).change
        except BadInput as refusal:  # such as a D that a schedule with a lag does not take
            refusals.append(refusal)
            continue
        if change.reason:
            raise BadInput(f"placement: {change.reason}", field="times", file=folder)
        by_schedule[schedule] = change
    if not by_schedule:
        raise refusals[0]  # the first schedule takes any D, so this is about the times
    return by_schedule
