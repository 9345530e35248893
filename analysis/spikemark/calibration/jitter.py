"""How cycle times of the mini-app fluctuate on all cores, and what the node draws meanwhile and when idle."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark import launch, project, record
from spikemark.calibration.effort import Effort
from spikemark.calibration.values import Value, repeated
from spikemark.measure import RunFailed, watch
from spikemark.models import modes, serial
from spikemark.presets import mam_benchmark
from spikemark.record_fields import Energy, Host

NEURONS, INDEGREE = 20_000, 1000  # of an area, one on each core
LIMIT_S = 600


@dataclass(frozen=True)
class Found:
    """`values` by path, jitter.…, power.… and software.…; `commit` and `host` as the record has them."""

    values: dict[str, Value]
    unknown: dict[str, str]
    host: Host
    commit: str


def measure(cores: int, effort: Effort, folder: Path) -> Found:
    """Runs of one area per core, which meet in every cycle. Raises RunFailed, also if one gave no record."""
    runs = [_run(cores, effort, folder / "run0", energy=True)]
    metered = runs[0].record.energy is not None
    runs += [_run(cores, effort, folder / f"run{i}", metered) for i in range(1, effort.runs)]
    unknown = {"jitter.node_spread": "one node does not show it"}
    values = fluctuation([run.compute() for run in runs], _detail(runs))
    energies = [run.record.energy for run in runs if run.record.energy is not None]
    drawn, why = power(energies, runs[0].record.energy_reason, cores)
    provenance = runs[0].record.provenance
    values["software.launcher"] = Value("mpirun", None, detail=provenance.mpi_library.split(",")[0])
    commit = (provenance.commit or "unknown")[:9] + (" with changes" if provenance.dirty else "")
    return Found(values | drawn, unknown | why, runs[0].record.host, commit)


def _run(cores: int, effort: Effort, out: Path, energy: bool) -> record.Run:
    description = mam_benchmark.describe(
        areas=cores,
        neurons_per_area=NEURONS,
        indegree=INDEGREE,
        simulate_ms=effort.model_ms,
        schedule="conventional",
        placement="area",
    )
    if energy:
        description["record"] = {"energy": True, "idle_pause_s": effort.idle_s}
    out.mkdir()
    (out / "run.json").write_text(json.dumps(description))
    program = [str(project.miniapp()), str(out / "run.json"), "--out", str(out / "record")]
    status, _, errors = watch(launch.mpirun(program, cores, 1, cores), LIMIT_S)
    if status:
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        raise RunFailed(lines[-1] if lines else f"{program[0]}: exit status {status} without a message")
    return record.load(out / "record")


def _detail(runs: list[record.Run]) -> str:
    mean_us = 1e6 * float(np.mean([run.compute().mean() for run in runs]))
    cycles = f"{runs[0].record.timing.cycles} cycles of {mean_us:.3g} us"
    return f"mam-benchmark, one area of {NEURONS} neurons per core, {cycles}"


def fluctuation(runs: list[np.ndarray], detail: str) -> dict[str, Value]:
    """Of the times of each run, [rank, cycle] in s, of each rank about its own mean, all ranks together.

    The minor mode is the longer one of the two largest. A run without one has the share 0 and tells no
    factor; where none has one, the factor is 1.
    """
    cv, correlation, share, factor = [], [], [], []
    for times in runs:
        relative = times / times.mean(axis=1, keepdims=True)
        cv.append(float(np.sqrt(relative.var(axis=1).mean())))
        correlation.append(serial.integrated_time(serial.pooled_autocorrelation(relative)))
        largest = sorted(modes.modes(relative)[:2], key=lambda mode: mode.at)
        share.append(largest[1].share if len(largest) > 1 else 0.0)
        factor += [largest[1].at / largest[0].at] if len(largest) > 1 else []
    return {
        "jitter.cv": repeated(cv, "1", detail),
        "jitter.correlation_time": repeated(correlation, "cycles", detail),
        "jitter.minor_share": repeated(share, "1", detail),
        "jitter.minor_factor": repeated(factor or [1.0] * len(runs), "1", detail),
    }


def power(energies: list[Energy], reason: str | None, cores: int) -> tuple[dict[str, Value], dict[str, str]]:
    """Values, and what is unknown. `energies`: of runs; `reason`: why there are none, as the record says."""
    known = [e for e in energies if e.gross_j is not None and e.idle_power_w is not None and e.duration_s > 0]
    card = {"power.card": "no meter of the network card"}
    if not known:
        reason = reason or (energies[0].reason if energies else None) or "no meter"
        nothing = {"power.idle": reason, "power.core": reason, **card}
        return {"software.energy_source": Value("none", None, detail=reason)}, nothing
    idle = [e.idle_power_w for e in known]
    busy = [max((e.gross_j / e.duration_s - e.idle_power_w) / cores, 0.0) for e in known]
    pause = "read by " + known[0].source
    return {
        "power.idle": repeated(idle, "W", pause),
        "power.core": repeated(busy, "W", f"{pause}, all {cores} cores busy, above idle"),
        "software.energy_source": Value(known[0].source, None),
    }, card
