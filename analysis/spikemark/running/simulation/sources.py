"""Where the compute times of a simulated run come from: a model, the kernels themselves, or another run."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.jitter import Jitter
from spikemark.machines.profile import Profile
from spikemark.network.description import read
from spikemark.prediction import phases
from spikemark.prediction.measured import check_description
from spikemark.records import dry_run

from . import compute_times

#: Fields that say how spikes travel; those of the run hold where compute times are another network's, too.
TRAVEL = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")
OWN, OTHER = "the description itself", "another description"
SMALLER = "compute times are those of another network than the one whose spikes are simulated"
NODES = "all nodes are as fast as the one on which the dry run was made"
UNSCALED = "execute: compute times of this host, not scaled, since it has no profile (spikemark calibrate)"


@dataclass(frozen=True)
class Source:
    """`times`: float32 [rank, cycle, phase] in seconds; None: the kernels run, `factor` times as long."""

    facts: dict[str, Any]
    times: np.ndarray | None = None
    factor: float = 1.0
    assumptions: list[str] = field(default_factory=list)

    @property
    def flags(self) -> list[str]:
        """Options of smpirun; hosts of the platform run at 1 Gf."""
        measured = "yes" if self.times is None else "no"
        return [
            f"--cfg=smpi/simulate-computation:{measured}",
            "--cfg=smpi/cpu-threshold:0",  # even the shortest piece of computation counts
            f"--cfg=smpi/host-speed:{self.factor:.6g}Gf",
        ]


@dataclass(frozen=True)
class Place:
    """How ranks are placed on a machine."""

    profile: Profile
    ranks: int
    ranks_per_node: int
    threads: int

    def phase_times(self, description: dict[str, Any], hz: float | dict[str, float] | None):
        """Mean compute times of a description here (`prediction.phases`)."""
        return phases.phase_times(
            description, self.profile, self.ranks, self.threads, ranks_per_node=self.ranks_per_node, hz=hz
        )


def full_network(description: dict[str, Any], of: dict[str, Any] | None) -> dict[str, Any]:
    """The description whose compute times a run gets: `of`, where given, run as `description` says."""
    travel = {name: description[name] for name in TRAVEL if name in description}
    return {**(description if of is None else of), **travel}


def model(
    description: dict[str, Any],
    of: dict[str, Any] | None,
    place: Place,
    jitter: Jitter,
    seed: int,
    hz: float | dict[str, float] | None = None,
) -> Source:
    """Times drawn about the means that kernel times predict for `of`, or else for the description."""
    if of is not None:
        read(of, "compute_of: ")
    full = full_network(description, of)
    read(full)
    found = place.phase_times(full, hz)
    means = np.stack(found.of_one_thread, axis=-1)
    facts = {
        "seed": seed,
        "jitter": asdict(jitter),
        "compute_of": OWN if of is None else OTHER,
        "mean_s": {
            name: [float(m.min()), float(m.max())]
            for name, m in zip(compute_times.PHASES, means.T, strict=True)
        },
    }
    times = compute_times.draw(means, compute_times.cycles(description), jitter, seed, place.ranks_per_node)
    return Source(facts, times, assumptions=list(found.assumptions))


def execute(
    description: dict[str, Any],
    place: Place,
    host: Profile | None,
    hz: float | dict[str, float] | None = None,
) -> Source:
    """Times that the kernels need here, scaled by predictions for the machine and for this host alone."""
    if host is None:
        return Source({"factor": 1.0}, assumptions=[UNSCALED])
    there = place.phase_times(description, hz)
    here = Place(host, place.ranks, 1, 1).phase_times(description, hz)
    factor = float(there.compute_s.sum() / here.compute_s.sum())
    assumptions = list(dict.fromkeys([*there.assumptions, *here.assumptions]))
    return Source({"factor": factor, "host": host.name}, None, factor, assumptions)


def replay(description: dict[str, Any], run: Path, ranks: int, of: dict[str, Any] | None = None) -> Source:
    """Measured times of another run, cycle by cycle, or of a dry run of all its ranks.

    Those of a dry run are of one network, which is `description`, or `of` where that is given. Raises
    BadInput for other numbers of ranks or cycles, and for a dry run of something else.
    """
    times = compute_times.replayed(run, ranks, compute_times.cycles(description))
    if not dry_run.is_dry_run(run):
        if of is not None:
            raise BadInput(f"compute={run}: compute_of is allowed with 'model' and with a dry run only")
        return Source({"run": str(run)}, times)
    found = dry_run.load(run)
    if of is not None:
        read(of, "compute_of: ")
    check_description(found, full_network(description, of))
    facts = {"run": str(run), "compute_of": OWN if of is None else OTHER, "dry_run": found.content}
    return Source(facts, times, assumptions=[*found.remarks, *([] if of is None else [SMALLER]), NODES])


def refuse_options(mode: str, **options: Any) -> None:
    """Raises BadInput for options that only `model` takes."""
    if given := [name for name, value in options.items() if value is not None]:
        raise BadInput(f"compute={mode}: {given[0]} is allowed with 'model' only")
