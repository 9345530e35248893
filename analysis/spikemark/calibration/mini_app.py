"""Runs of the mini-app on the cores of the nodes."""

import json
from pathlib import Path

from spikemark.core import launch, places
from spikemark.core.launch import Layout
from spikemark.core.process import watch
from spikemark.presets import mam_benchmark
from spikemark.records import record
from spikemark.running.carry_out import RunFailed

LIMIT_S = 600


def run(
    layout: Layout, out: Path, neurons: int, indegree: int, ms: float, recorded: dict | None = None
) -> record.Run:
    """Runs one area of the MAM-benchmark on each rank, one rank on a core, in the new folder `out`.

    `recorded`: the field `record` of the description. Raises RunFailed without a record.
    """
    description = mam_benchmark.describe(
        areas=layout.ranks, neurons_per_area=neurons, indegree=indegree, simulate_ms=ms,
        schedule="conventional", placement="area",
    ) | ({"record": recorded} if recorded else {})  # fmt: skip
    out.mkdir()
    (out / "run.json").write_text(json.dumps(description))
    program = [str(places.program("miniapp")), str(out / "run.json"), "--out", str(out / "record")]
    finished = watch(launch.launch(None, program, layout), LIMIT_S)
    if finished.status != 0:
        raise RunFailed(f"{program[0]}: {finished.reason}")
    return record.load(out / "record")
