"""Compute times of all ranks as a dry run measured them, in place of those that kernel times
predict.
"""

from operator import attrgetter
from typing import Any

from pydantic import BaseModel

from spikemark.core.errors import BadInput, short_repr
from spikemark.core.fields import differing
from spikemark.network import lanes
from spikemark.network.description import Description, read_description
from spikemark.network.placement_file import same
from spikemark.records.dry_run import DryRun

#: Fields that decide which synapses a rank has, and when spikes arrive.
SAME = ("network", "seed", "inject", "delay_ratio", "lag", "time.resolution_ms", "time.cycle_ms")
MAX_CHARACTERS = 80  #: of both values together; longer ones are not shown


def check(run: DryRun, description: dict[str, Any] | Description, **layout: int) -> None:
    """Raises BadInput unless the compute times of a dry run are those of this network, run so.

    Args:
        run: the dry run.
        description: what is asked about.
        layout: ranks and threads, if these have to be the same, too.
    """
    measured = read_description(run.about.description)
    asked = read_description(description)
    for name, value in layout.items():
        _check_same(run, name, value, getattr(run.about, name))
    for path in SAME:
        value_of = attrgetter(path)
        _check_same(run, path, value_of(asked), value_of(measured))
    schedule, placement = lanes.schedule_and_placement(asked, None, None)
    measured_schedule, measured_placement = lanes.schedule_and_placement(measured, None, None)
    if schedule != measured_schedule:
        _complain(run, "schedule", schedule.name, measured_schedule.name)
    if not same(measured_placement, placement):
        _complain(run, "placement", placement, measured_placement)


def _check_same(run: DryRun, field: str, asked: object, measured: object) -> None:
    for difference in differing(_content(asked), _content(measured), field):
        _complain(run, *difference)


def _content(value: object) -> Any:
    """A part of a description as in JSON."""
    return value.model_dump() if isinstance(value, BaseModel) else value


def _complain(run: DryRun, field: str, asked: object, measured: object) -> None:
    """Raises BadInput for a field whose value is another than that of the dry run."""
    asked_text = short_repr(asked)
    measured_text = short_repr(measured)
    if len(asked_text) + len(measured_text) < MAX_CHARACTERS:
        subject = f"{field}={asked_text}"
        expected = f"{measured_text}, as in the dry run in {run.path}"
    else:
        subject = f"{field}: another value"
        expected = f"that of the dry run in {run.path}"
    message = f"{subject}; expected {expected}, or another dry run"
    raise BadInput(message, field=field)
