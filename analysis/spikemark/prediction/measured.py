"""Compute times of all ranks as a dry run measured them, in place of those that kernel times predict."""

from operator import attrgetter

from spikemark.core.errors import BadInput, shown
from spikemark.network import lanes
from spikemark.network.description import Description, read
from spikemark.network.placement_file import same
from spikemark.network.schedules import Schedule
from spikemark.records.dry_run import DryRun

from .workload import Loads

#: Fields that decide which synapses a rank has, and when spikes arrive.
SAME = ("network", "seed", "inject", "delay_ratio", "lag", "time.resolution_ms", "time.cycle_ms")


def check(run: DryRun, loads: Loads) -> None:
    """Raises BadInput unless a dry run is one of these ranks, threads and this network, run in this way."""
    for name, asked, own in ("ranks", loads.ranks, run.ranks), ("threads", loads.threads, run.about.threads):
        _alike(run, name, asked, own, asked == own)
    check_description(run, loads.description, loads.schedule, loads.placement)


def check_description(
    run: DryRun, asked: dict | Description, schedule: Schedule | None = None, placement: str | None = None
) -> None:
    """Raises BadInput unless compute times of a dry run are those of this network, run in this way.

    `schedule` and `placement` are those of the description where they are not given.
    """
    ran, wanted = read(run.about.description), read(asked)
    own, other = lanes.chosen(ran, None, None), lanes.chosen(wanted, schedule, placement)
    _alike(run, "schedule", other[0].name, own[0].name, own[0] == other[0])
    _alike(run, "placement", other[1], own[1], same(own[1], other[1]))
    for path, of in ((path, attrgetter(path)) for path in SAME):
        _alike(run, path, of(wanted), of(ran), of(wanted) == of(ran))


def _alike(run: DryRun, name: str, asked: object, own: object, equal: bool) -> None:
    if not equal:
        both = shown(asked), shown(own)
        what, there = (f"{name}={both[0]}", f" has {both[1]}") if len("".join(both)) < 80 else (
            f"{name}: another value", "")  # fmt: skip
        raise BadInput(f"{what}; expected that of the dry run in {run.path},{there} or another dry run",
                       field=name)  # fmt: skip
