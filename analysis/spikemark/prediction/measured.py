"""Compute times of all ranks as a dry run measured them, in place of those that kernel times predict."""

from spikemark.core.errors import BadInput, shown
from spikemark.network import lanes
from spikemark.network.description import Description, read
from spikemark.network.placement_field import same
from spikemark.network.schedules import Schedule
from spikemark.records.dry_run import DryRun

from .workload import Loads

#: Fields that decide which synapses a rank has, and when spikes arrive.
SAME = ("network", "seed", "inject", "delay_ratio", "lag", "time.resolution_ms", "time.cycle_ms")


def check(run: DryRun, loads: Loads) -> None:
    """Raises BadInput unless a dry run is one of these ranks, threads and this network, run in this way."""
    _alike(run, "ranks", loads.ranks, run.ranks)
    _alike(run, "threads", loads.threads, run.about.threads)
    check_description(run, loads.description, loads.schedule, loads.placement)


def check_description(
    run: DryRun, asked: dict | Description, schedule: Schedule | None = None, placement: str | None = None
) -> None:
    """Raises BadInput unless compute times of a dry run are those of this network, run in this way.

    `schedule` and `placement` are those of the description where they are not given.
    """
    ran, wanted = read(run.about.description), read(asked)
    own, other = lanes.chosen(ran, None, None), lanes.chosen(wanted, schedule, placement)
    if own[0] != other[0]:
        _alike(run, "schedule", other[0].name, own[0].name, False)
    _alike(run, "placement", other[1], own[1], same(own[1], other[1]))
    for path in SAME:
        first, second = ran, wanted
        for name in path.split("."):
            first, second = getattr(first, name), getattr(second, name)
        _alike(run, path, second, first)


def _alike(run: DryRun, name: str, asked: object, own: object, equal: bool | None = None) -> None:
    """Raises BadInput for a value of a field that is not `equal` [==] to that of the dry run."""
    if not (asked == own if equal is None else equal):
        both = shown(asked), shown(own)
        what = f"{name}={both[0]}" if len("".join(both)) < 80 else f"{name}: another value"
        there = f" has {both[1]}" if len("".join(both)) < 80 else ""
        raise BadInput(f"{what}; expected that of the dry run in {run.path},{there} or another dry run",
                       field=name)  # fmt: skip
