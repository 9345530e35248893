"""Runs of the mini-app on the cores of this host."""

import json
from pathlib import Path
from typing import Any

from spikemark.core import launch, places
from spikemark.core.process import watch
from spikemark.records import record
from spikemark.running.carry_out import RunFailed

LIMIT_S = 600


def run(description: dict[str, Any], ranks: int, cores: int, out: Path) -> record.Run:
    """Runs one rank on each of so many cores, in the new folder `out`. Raises RunFailed without a record."""
    out.mkdir()
    (out / "run.json").write_text(json.dumps(description))
    program = [str(places.program("miniapp")), str(out / "run.json"), "--out", str(out / "record")]
    finished = watch(launch.mpirun(program, ranks, 1, cores), LIMIT_S)
    if finished.status != 0:
        raise RunFailed(f"{program[0]}: {finished.reason}")
    return record.load(out / "record")
