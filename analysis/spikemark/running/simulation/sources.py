"""Where the compute times of a simulated run come from: a model, the kernels themselves, or another run."""

from dataclasses import asdict, dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.machines.parts import LINKS, PARTS, Machine
from spikemark.machines.profile import Profile, Value
from spikemark.network.description import read
from spikemark.prediction import phases, rates
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Loads
from spikemark.prediction.measured import check_description
from spikemark.records import dry_run

from . import compute_times

#: Fields that say how spikes travel; those of the run hold where compute times are another network's, too.
TRAVEL = ("delay_ratio", "schedule", "lag", "placement", "exchange", "wire")
OF_LINK = "latency", "bandwidth", "congestion", "gap"  # what counts of a link between parts
OWN, OTHER = "the description itself", "another description"
SMALLER = "compute times are those of another network than the one whose spikes are simulated"
NODES = "all nodes are as fast as the one on which the dry run was made"
UNSCALED = "execute: compute times of this host, not scaled, since it has no profile (spikemark calibrate)"


@dataclass(frozen=True)
class Source:
    """`times`: float32 [rank, cycle, phase] in seconds; None: the kernels run, `factor` times as long.

    `factors`: by part of the machine, where they differ; the first is `factor`.
    """

    facts: dict[str, Any]
    times: np.ndarray | None = None
    factor: float = 1.0
    assumptions: list[str] = field(default_factory=list)
    factors: dict[str | None, float] = field(default_factory=dict)

    @property
    def speeds(self) -> dict[str | None, str]:
        """Speed of the hosts of each part; 1 Gf for the first part, and for all if times are given."""
        return {part: f"{self.factor / factor:.6g}Gf" for part, factor in self.factors.items()}

    @property
    def flags(self) -> list[str]:
        """Options of smpirun."""
        measured = "yes" if self.times is None else "no"
        return [
            f"--cfg=smpi/simulate-computation:{measured}",
            "--cfg=smpi/cpu-threshold:0",  # even the shortest piece of computation counts
            f"--cfg=smpi/host-speed:{self.factor:.6g}Gf",
        ]


@dataclass(frozen=True)
class Place:
    """Places ranks on a machine: a profile, or a machine of parts.

    `ranks_per_node`: as many as a node may have; there may be fewer.
    """

    machine: Profile | Machine
    layout: Layout
    ranks_per_node: int

    @classmethod
    def of(
        cls,
        machine: Profile | Machine,
        ranks: int,
        threads: int | None = None,
        ranks_per_node: int | None = None,
        on: dict[str, int] | None = None,
    ) -> "Place":
        """Raises BadInput as `Layout.of` does."""
        layout = Layout.of(machine, ranks, threads, ranks_per_node, on)
        most = max(share.node.ranks for share in layout.shares)
        return cls(machine, layout, ranks_per_node or most)

    @property
    def ranks(self) -> int:
        return self.layout.ranks

    @property
    def threads(self) -> int:
        """Threads of a rank, the same on all nodes."""
        return self.layout.shares[0].node.threads

    @property
    def values(self) -> dict[str, Value]:
        """The values of the profile, or of the parts that have ranks and of the links between these."""
        if not isinstance(self.machine, Machine):
            return self.machine.values
        used = [share.part for share in self.layout.shares]
        links = [self.machine.link(*pair).name for pair in combinations(used, 2)]
        starts = tuple(f"{PARTS}.{part}." for part in used)
        between = {f"{LINKS}.{link}.interconnect.{name}" for link in links for name in OF_LINK}
        found = self.machine.values.items()
        return {path: value for path, value in found if path.startswith(starts) or path in between}

    def phase_times(
        self, description: dict[str, Any], hz: float | dict[str, float] | None
    ) -> phases.PhaseTimes:
        """Mean compute times of a description here (`prediction.phases`)."""
        loads = Loads.of(description, self.ranks, self.threads, rates.of(description, hz).hz)
        inputs = Inputs(self.machine)
        times = phases.of_ranks(loads, inputs, self.layout)
        return phases.PhaseTimes(*times, phases.assumptions(inputs, self.layout, loads))

    def jitters(self, cv: float | None, correlation: float | None) -> list[Jitter]:
        """Jitter of the ranks of each share; `cv` and `correlation` override it."""
        return self.layout.each(
            Inputs(self.machine), lambda of, _: Jitter.of(of, "the simulated jitter", cv, correlation)
        )


def full_network(description: dict[str, Any], of: dict[str, Any] | None) -> dict[str, Any]:
    """The description whose compute times a run gets: `of`, where given, run as `description` says."""
    travel = {name: description[name] for name in TRAVEL if name in description}
    return {**(description if of is None else of), **travel}


def model(
    description: dict[str, Any],
    of: dict[str, Any] | None,
    place: Place,
    jitters: list[Jitter],
    seed: int,
    hz: float | dict[str, float] | None = None,
) -> Source:
    """Times drawn about the means that kernel times predict for `of`, or else for the description.

    `jitters`: of each share of the machine.
    """
    if of is not None:
        read(of, "compute_of: ")
    full = full_network(description, of)
    read(full)
    found = place.phase_times(full, hz)
    means = np.stack(found.of_one_thread, axis=-1)
    shares = place.layout.shares
    by_part = {share.part: asdict(one) for share, one in zip(shares, jitters, strict=True)}
    facts = {
        "seed": seed,
        "jitter": by_part.get(None, by_part),
        "compute_of": OWN if of is None else OTHER,
        "mean_s": {
            name: [float(m.min()), float(m.max())]
            for name, m in zip(compute_times.PHASES, means.T, strict=True)
        },
    }
    cycles, node_of = compute_times.cycles(description), place.layout.node_of
    times = [
        compute_times.draw(
            means[share.slice], cycles, jitter, seed, share.node.ranks, share.first, node_of[share.first]
        )
        for share, jitter in zip(shares, jitters, strict=True)
    ]
    return Source(facts, np.concatenate(times), assumptions=list(found.assumptions))


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
    here = Place.of(host, place.ranks, 1, 1).phase_times(description, hz)
    factors = {
        share.part: float(there.compute_s[share.slice].sum() / here.compute_s[share.slice].sum())
        for share in place.layout.shares
    }
    factor = next(iter(factors.values()))
    assumptions = list(dict.fromkeys([*there.assumptions, *here.assumptions]))
    facts = {"factor": factors.get(None, factors), "host": host.name}
    return Source(facts, None, factor, assumptions, factors)


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
