"""Runs of the mini-app for a calibration: how its cycle times fluctuate, and what power it draws.

Every core holds one area of the MAM-benchmark, and all areas meet in every cycle. The values of
`jitter` are ratios, so that kernel times alone determine the mean (machines/jitter.py). A round
takes as long as it simulates, `Effort.model_ms`, on cores that are about as fast as real time.
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spikemark import launch
from spikemark.launch import LaunchLayout
from spikemark.launch.process import output
from spikemark.machines.fields import FIELD
from spikemark.machines.jitter import FIELD_OF_PATH, PART_OF
from spikemark.machines.profile import Value
from spikemark.models.jitter import Jitter
from spikemark.models.jitter_estimate import scattering
from spikemark.network.presets import mam_benchmark
from spikemark.records import record
from spikemark.records.schema import EnergyRecord, Record
from spikemark.running import energy
from spikemark.running.measure import program

from .site import MIN_REPETITIONS, Effort, Site, ValuesAndUnknown, measured, repeated

#: Longest time of a run, s.
RUN_LIMIT_S = 600
#: Neurons of the area on each core, and synapses of each neuron.
NEURONS, INDEGREE = 20_000, 1000
#: Parameters of jitter that one rank alone does not show.
OF_SEVERAL_RANKS = ("common.share", "slow_spells.share")
#: Expected number of events of which none was seen, at the upper end of a 95 % interval.
NONE_SEEN = 3.0
#: Length of spells of which none was seen, as a share of a round.
UNSEEN_LENGTH = 0.1


def run(
    layout: LaunchLayout,
    out: Path,
    neurons: int,
    indegree: int,
    ms: float,
    areas: int | None = None,
) -> record.Run:
    """Runs the MAM-benchmark in the new folder `out`.

    Args:
        layout: of the ranks.
        out: gets run.json, and the record in a folder of its own.
        neurons: of each area.
        indegree: synapses of each neuron.
        ms: simulated time.
        areas: number of areas, spread over the ranks; None: one on each rank.

    Raises ProgramFailed without a record.
    """
    description = mam_benchmark.describe(
        areas=areas or layout.ranks,
        neurons_per_area=neurons,
        indegree=indegree,
        simulate_ms=ms,
        schedule="conventional",
        placement="area" if areas is None else "round_robin",
    )
    out.mkdir()
    (out / "run.json").write_text(json.dumps(description))
    command = program("miniapp", out / "run.json", out / "record")
    output(launch.launch(None, command, layout), RUN_LIMIT_S)
    return record.load_run(out / "record")


class FullNodeRun(NamedTuple):
    """Results of a round: a run on all cores."""

    record: Record
    jitter: Jitter
    cycle_s: float  #: mean over ranks and cycles


def one_round(
    site: Site,
    effort: Effort,
    folder: Path,
    earlier: list[FullNodeRun],
) -> FullNodeRun:
    """One area per core of all nodes, which meet in every cycle.

    In the first rounds, power is read, with a pause before if there is a meter. Raises
    ProgramFailed.
    """
    metered = not earlier
    if earlier and earlier[0].record.energy is not None:
        metered = len(earlier) < effort.metered
    out = folder / "run"
    with energy.metered(
        out / "record",
        folder / "energy",
        energy.EnergyRequest(metered),
        site.names,
        launch.default_launcher(),
    ):
        run(site.full(), out, NEURONS, INDEGREE, effort.model_ms)
    full = record.load_run(out / "record")
    times = full.compute()
    return FullNodeRun(full.record, scattering(times).jitter, float(times.mean()))


def jitter_values(jitters: list[Jitter], ranks: int, detail: str) -> ValuesAndUnknown:
    """Values of `jitter` by path, and what the rounds do not say of it, with reasons.

    A factor or a length means something only in rounds that have such cycles. Where no slow spell
    was seen, there may be some: as many as are expected with NONE_SEEN in all rounds.

    Args:
        jitters: of the rounds.
        ranks: of each round.
        detail: what is special about the values.

    Example:
        >>> jitters = [Jitter(cv=0.10), Jitter(cv=0.11), Jitter(cv=0.12)]
        >>> by_path, unknown = jitter_values(jitters, ranks=1, detail="three rounds")
        >>> by_path["jitter.cv"].value, unknown["jitter.common.share"]
        (0.11, 'one core does not show it')
    """
    values: dict[str, Value] = {}
    unknown = {}
    for path, field in FIELD_OF_PATH.items():
        share = FIELD_OF_PATH.get(PART_OF.get(path, ""), field)
        of_rounds = [getattr(jitter, field) for jitter in jitters if getattr(jitter, share)]
        if path == "node_spread":
            continue  # kernel_rounds tells it
        name = f"jitter.{path}"
        if ranks < 2 and path in OF_SEVERAL_RANKS:
            unknown[name] = "one core does not show it"
        elif path in PART_OF and len(of_rounds) < MIN_REPETITIONS:
            unknown[name] = f"{len(of_rounds)} of {len(jitters)} rounds had such cycles"
        elif path == "slow_spells.share" and not of_rounds:
            most = NONE_SEEN * UNSEEN_LENGTH / (len(jitters) * ranks)
            why = f"{detail}; none seen, at most {NONE_SEEN:g} that last a tenth of a round"
            values[name] = measured(0.0, "1", (0.0, most), why)
        else:
            all_rounds = [getattr(jitter, field) for jitter in jitters]
            numbers = of_rounds if path in PART_OF else all_rounds
            values[name] = repeated(numbers, FIELD[name].unit or "1", detail)
    return values, unknown


def values(rounds: list[FullNodeRun], site: Site) -> ValuesAndUnknown:
    """Values by path, jitter.…, power.…, software.…, and what is unknown, with reasons.

    Example:
        >>> run = record.load_run("tests/golden/analysis/records/aware-4")
        >>> full = FullNodeRun(run.record, Jitter(cv=0.1), cycle_s=1e-4)
        >>> by_path, unknown = values([full, full, full], Site(nodes=1, cores=4))
        >>> by_path["jitter.cv"].value, unknown["power.core"]
        (0.1, 'record.energy is false')
    """
    first = rounds[0].record
    cycle_us = 1e6 * np.mean([round_.cycle_s for round_ in rounds])
    cycles = f"{first.timing.cycles} cycles of {cycle_us:.3g} µs"
    cores = "per core" if site.nodes == 1 else f"per core of {site.nodes} nodes"
    detail = f"mam-benchmark, one area of {NEURONS} neurons {cores}, {cycles}"
    library = first.provenance.mpi_library.split(",")[0]
    jitters = [round_.jitter for round_ in rounds]
    new_values, jitter_unknown = jitter_values(jitters, site.cores * site.nodes, detail)
    launcher = launch.default_launcher()
    new_values["software.launcher"] = measured(launcher, None, detail=library)
    energies = [r.record.energy for r in rounds if r.record.energy is not None]
    power_values, unknown = power(energies, first.energy_reason, site.cores, site.nodes)
    return new_values | power_values, unknown | jitter_unknown


def power(
    energies: list[EnergyRecord],
    reason: str | None,
    cores: int,
    nodes: int = 1,
) -> ValuesAndUnknown:
    """Values of power, and what is unknown.

    Args:
        energies: those of the runs that have one.
        reason: why a run has none.
        cores: of each of the nodes, all of them busy.
        nodes: that the meters covered.

    Example:
        >>> _, unknown = power(energies=[], reason="no meter", cores=4)
        >>> unknown
        {'power.idle': 'no meter', 'power.core': 'no meter', 'power.card': 'no meter of the ...
    """
    idle_w = []
    core_w = []
    sources = []
    for reading in energies:
        gross_j, idle_power_w = reading.gross_j, reading.idle_power_w
        if gross_j is None or idle_power_w is None or reading.duration_s <= 0:
            continue
        above_idle_w = gross_j / reading.duration_s - idle_power_w
        idle_w.append(idle_power_w / nodes)
        core_w.append(max(above_idle_w / (cores * nodes), 0.0))
        sources.append(reading.source)
    unknown = {"power.card": "no meter of the network card"}
    if not sources:
        if not reason and energies:
            reason = energies[0].reason
        reason = reason or "no meter"
        unknown = {"power.idle": reason, "power.core": reason, **unknown}
        return {"software.energy_source": measured("none", None, detail=reason)}, unknown
    pause = f"read by {sources[0]}"
    if nodes > 1:
        pause = f"{pause}, mean over {nodes} nodes"
    return {
        "power.idle": repeated(idle_w, "W", pause),
        "power.core": repeated(core_w, "W", f"{pause}, all {cores} cores busy, above idle"),
        "software.energy_source": measured(sources[0], None),
    }, unknown
