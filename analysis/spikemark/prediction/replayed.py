"""How other schedules would change a production simulator's run time, by replay of its cycle times."""

from contextlib import suppress
from pathlib import Path

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity
from spikemark.records import imported
from spikemark.waiting import replay
from spikemark.waiting.trace import trace


def changes(folder: Path, delay_ratio: int | None) -> dict[str, Quantity]:
    """Run times over the measured one with D = `delay_ratio`, by schedule; `folder` holds imported times.

    Raises BadInput for a folder without cycle times, and where no schedule can be replayed.
    """
    run, found = trace(imported.run_or_times(folder)), {}
    for name in ("structure_aware", "overlapped"):
        with suppress(BadInput):
            found[name] = replay.predict(run, replay.Setting.of(run, name, delay_ratio or 1)).change
    if not found:
        raise BadInput.of("times", str(folder), f"cycle times of more than {delay_ratio} cycles")
    return found
