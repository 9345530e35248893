"""Runs of an experiment that are carried out on a simulated machine instead of the one at hand."""

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import places
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from .simulation import run, smpirun


def check() -> None:
    """Raises BadInput where nothing can be simulated: without SimGrid, or the mini-app built for it."""
    smpirun.version()
    places.program("miniapp_smpi")


def simulate(results: Results, planned: Planned, out: Path, limit_s: float) -> dict[str, Any]:
    """Simulate a run of the plan, leave its record in `out`, and return what to keep of how it was started.

    Raises BadInput for what cannot be simulated, TimeoutError beyond `limit_s`.
    """
    wanted = planned.machine
    of = results.compute_of(planned.id)
    arguments = {
        "ranks": planned.ranks,
        "compute": wanted.compute,
        "ranks_per_node": wanted.ranks_per_node,
        "seed": 1000 * planned.seed + planned.repetition,
        "correlation": wanted.correlation,
        "cv": wanted.cv,
        "hz": wanted.rate_hz,
    }
    with limited(limit_s):
        run.simulate(
            results.read_description(planned.id),
            machines.load(wanted.profile),
            out=out,
            compute_of=json.loads(of.read_text()) if of.is_file() else None,
            **arguments,
        )
    return {"machine": wanted.profile, **arguments}


@contextlib.contextmanager
def limited(limit_s: float) -> Iterator[None]:
    """Raises TimeoutError inside the block after `limit_s` seconds; works in the main thread only."""

    def over(*_: object) -> None:
        raise TimeoutError(f"not finished within the time limit of {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
