"""Tells whether a run record belongs to the planned run."""

import math
from typing import Any

from spikemark.core.errors import BadInput, shown
from spikemark.network.named_files import with_content

from .plan import Planned
from .record import Run, load
from .results import Results

#: The mini-app writes numbers with 15 digits.
DIGITS = 1e-14


def load_planned(results: Results, planned: Planned) -> Run:
    """The record of a planned run.

    Raises BadInput if it cannot be read, or belongs to another run than planned: simulated instead of
    measured or vice versa, with other ranks or threads, or with a description that lacks or changes a field
    of the planned one.
    """
    description = results.read_description(planned.id)
    if description.get("delay_ratio") == "auto":  # the record has the number it stood for
        del description["delay_ratio"]
    wanted = {"ranks": planned.ranks, "threads": planned.threads, "description": description}
    kind = "measured" if planned.machine is None else "simulated"
    try:
        run = load(results.run(planned.id))
        if run.record.kind != kind:  # a page never mixes the two kinds
            raise BadInput(f"{run.path}: record.kind={run.record.kind!r}; the plan says {kind!r}")
        for what, value in wanted.items():
            found = getattr(run.record, what)
            if what == "description":
                value, found = with_content(value), with_content(found)
            if complaint := difference(value, found, what):
                raise BadInput(f"{run.path}: {complaint}")
    except BadInput as error:
        raise BadInput(f"{error}; delete the folder of the run to measure it again") from None
    return run


def difference(planned: Any, found: Any, where: str) -> str | None:
    """The first field of `planned` that `found` lacks or has another value for; None if there is none.

    Further fields do not matter.
    """
    if isinstance(planned, dict) and isinstance(found, dict):
        for name, value in planned.items():
            if name not in found:
                return f"{where}.{name} is missing; the plan says {shown(value)}"
            if complaint := difference(value, found[name], f"{where}.{name}"):
                return complaint
        return None
    if isinstance(planned, list) and isinstance(found, list) and len(planned) == len(found):
        parts = enumerate(zip(planned, found, strict=True))
        return next((text for i, (p, f) in parts if (text := difference(p, f, f"{where}.{i}"))), None)
    return None if _equal(planned, found) else f"{where}={shown(found)}; the plan says {shown(planned)}"


def _equal(planned: Any, found: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (planned, found)]
    if not all(numbers) or (isinstance(planned, int) and isinstance(found, int)):
        return type(planned) is type(found) and planned == found
    try:
        return math.isclose(planned, found, rel_tol=DIGITS)
    except OverflowError:  # an integer beyond all floating-point numbers
        return False
