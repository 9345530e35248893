"""How cycle times of the mini-app fluctuate on all cores, and the power that the node draws.

Power is measured meanwhile and when idle. machines/jitter.py says what the values mean; they are ratios, so
that the kernels alone determine the mean.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spikemark.core.launch import default_launcher
from spikemark.machines.profile import Value
from spikemark.models import modes, serial
from spikemark.records.record_fields import Energy, Record

from . import mini_app
from .effort import Effort
from .site import Site
from .values import measured, repeated

NEURONS, INDEGREE = 20_000, 1000  # an area on each core
OUTLYING, ROBUST = 5, 1.4826  # standard deviations; one by the median absolute deviation of normal values


@dataclass(frozen=True)
class Fluctuation:
    """How the cycles of one run fluctuate.

    `share` of them are long, `factor` times as long as the others on average (None: there are none). The CV
    and the integrated autocorrelation time (cycles) are those of the others.
    """

    cv: float
    correlation_time: float
    share: float
    factor: float | None


@dataclass(frozen=True)
class Round:
    """The results of a run."""

    record: Record
    fluctuation: Fluctuation
    cycle_s: float  # mean


def one_round(site: Site, effort: Effort, folder: Path, energy: bool) -> Round:
    """A run of one area per core of all nodes, which meet in every cycle.

    Raises RunFailed if the run failed or left no record.
    """
    metered = {"energy": True, "idle_pause_s": effort.idle_s} if energy else None
    run = mini_app.run(site.full(), folder, NEURONS, INDEGREE, effort.model_ms, metered)
    times = run.compute()
    return Round(run.record, fluctuation(times), float(times.mean()))


def values(rounds: list[Round], site: Site) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, jitter.…, power.… and software.…, and what is unknown, with reasons.

    The spread between nodes is not among them (`node_spread`).
    """
    first = rounds[0].record
    cycles = f"{first.timing.cycles} cycles of {1e6 * np.mean([r.cycle_s for r in rounds]):.3g} us"
    cores = "per core" if site.nodes == 1 else f"per core of {site.nodes} nodes"
    detail = f"mam-benchmark, one area of {NEURONS} neurons {cores}, {cycles}"
    each = [r.fluctuation for r in rounds]
    library = first.provenance.mpi_library.split(",")[0]
    factors = [f.factor for f in each if f.factor is not None] or [1.0] * len(each)
    found = {
        "jitter.cv": repeated([f.cv for f in each], "1", f"{detail}, without long ones"),
        "jitter.correlation_time": repeated([f.correlation_time for f in each], "cycles", detail),
        "jitter.minor_share": repeated([f.share for f in each], "1", detail),
        "jitter.minor_factor": repeated(factors, "1", detail),
        "software.launcher": measured(default_launcher(), None, detail=library),
    }
    energies = [r.record.energy for r in rounds if r.record.energy is not None]
    drawn, unknown = power(energies, first.energy_reason, site.cores, site.nodes)
    return found | drawn, unknown


def commit(record: Record) -> str:
    """The commit that was built, in a few characters."""
    built = record.provenance
    return (built.commit or "unknown")[:9] + (" with changes" if built.dirty else "")


def fluctuation(times: np.ndarray) -> Fluctuation:
    """The fluctuation of times [rank, cycle] in s, of each rank about its own mean, all ranks together.

    Long cycles are those beyond the valley between the two largest modes, or, where there is one mode,
    OUTLYING robust standard deviations above the median. The CV leaves them out, since a few interrupts would
    dominate it. In the autocorrelation, they are limited to the threshold at which they begin.
    """
    relative = times / times.mean(axis=1, keepdims=True)
    found = sorted(modes.modes(relative)[:2], key=lambda mode: mode.at)
    if len(found) > 1:
        limit = float(np.quantile(relative, 1 - found[1].share))
    else:
        median = np.median(relative)
        limit = float(median + OUTLYING * ROBUST * np.median(np.abs(relative - median)))
    long = relative > limit
    others = relative[~long]
    rho = serial.pooled_autocorrelation(np.minimum(relative, limit))
    return Fluctuation(
        cv=float(others.std() / others.mean()),
        correlation_time=serial.integrated_time(rho),
        share=float(long.mean()),
        factor=float(relative[long].mean() / others.mean()) if long.any() else None,
    )


def power(
    energies: list[Energy], reason: str | None, cores: int, nodes: int = 1
) -> tuple[dict[str, Value], dict[str, str]]:
    """Values of power, and what is unknown. `energies`: those of runs; `reason`: why there are none.

    `cores`: of each of the `nodes`, all of them busy.
    """
    known = [e for e in energies if e.gross_j is not None and e.idle_power_w is not None and e.duration_s > 0]
    card = {"power.card": "no meter of the network card"}
    if not known:
        reason = reason or (energies[0].reason if energies else None) or "no meter"
        nothing = {"power.idle": reason, "power.core": reason, **card}
        return {"software.energy_source": measured("none", None, detail=reason)}, nothing
    idle = [e.idle_power_w / nodes for e in known]
    busy = [max((e.gross_j / e.duration_s - e.idle_power_w) / (cores * nodes), 0.0) for e in known]
    pause = "read by " + known[0].source + ("" if nodes == 1 else f", mean over {nodes} nodes")
    return {
        "power.idle": repeated(idle, "W", pause),
        "power.core": repeated(busy, "W", f"{pause}, all {cores} cores busy, above idle"),
        "software.energy_source": measured(known[0].source, None),
    }, card
