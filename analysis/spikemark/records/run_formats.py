"""Formats of other tools for a single run, by the name that `spikemark export --format` takes."""

from collections.abc import Callable

from .caliper import caliper
from .record import Run
from .talp import talp
from .timeline import timeline

#: (run) -> (text, remarks about what it leaves out).
RUN_FORMATS: dict[str, Callable[[Run], tuple[str, list[str]]]] = {
    "timeline": timeline,
    "caliper": caliper,
    "talp": talp,
}
