"""Times of other runs behind predictions: compute times of a dry run, and imported cycle times."""

from contextlib import suppress
from operator import attrgetter
from pathlib import Path

from spikemark.core.errors import BadInput, shown
from spikemark.network import lanes
from spikemark.network.description import Description, read
from spikemark.network.placement_file import same
from spikemark.quantities.quantity import Quantity
from spikemark.records import imported
from spikemark.records.dry_run import DryRun
from spikemark.waiting import replay
from spikemark.waiting.trace import trace

#: Fields that decide which synapses a rank has, and when spikes arrive.
SAME = ("network", "seed", "inject", "delay_ratio", "lag", "time.resolution_ms", "time.cycle_ms")


def check(run: DryRun, asked: dict | Description, **layout: int) -> None:
    """Raises BadInput unless the compute times of a dry run are those of this network, run in this way.

    `layout`: ranks and threads, if these have to be the same, too.
    """
    ran, wanted = read(run.about.description), read(asked)
    (schedule, placement), (own, there) = (lanes.chosen(of, None, None) for of in (wanted, ran))
    pairs = {name: (value, getattr(run.about, name)) for name, value in layout.items()}
    pairs |= {path: (attrgetter(path)(wanted), attrgetter(path)(ran)) for path in SAME}
    different = [(name, *both) for name, both in pairs.items() if both[0] != both[1]]
    different += [("schedule", schedule.name, own.name)] * (schedule != own)
    different += [("placement", placement, there)] * (not same(there, placement))
    for name, *both in different:
        words = [shown(value) for value in both]
        what, has = f"{name}={words[0]}", f" has {words[1]}"
        if len("".join(words)) >= 80:
            what, has = f"{name}: another value", ""
        line = f"{what}; expected that of the dry run in {run.path},{has} or another dry run"
        raise BadInput(line, field=name)


def changes(folder: Path, delay_ratio: int | None) -> dict[str, Quantity]:
    """Run times of a production simulator over the measured one with D = `delay_ratio`, by schedule.

    They follow by replay of the imported cycle times in `folder`. Raises BadInput for a folder without cycle
    times, and where no schedule can be replayed.
    """
    run, found = trace(imported.run_or_times(folder)), {}
    for name in ("structure_aware", "overlapped"):
        with suppress(BadInput):
            found[name] = replay.predict(run, replay.Setting.of(run, name, delay_ratio or 1)).change
    if not found:
        raise BadInput.of("times", str(folder), f"cycle times of more than {delay_ratio} cycles")
    return found
