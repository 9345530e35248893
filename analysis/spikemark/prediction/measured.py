"""Compute times of all ranks as a dry run measured them, in place of those that kernel times predict."""

from operator import attrgetter

from spikemark.core.errors import BadInput, shown
from spikemark.network import lanes
from spikemark.network.description import Description, read
from spikemark.network.placement_file import same
from spikemark.records.dry_run import DryRun

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
