"""Runs of production simulators as points: configuration and seconds per simulated second.

The published points (models/published/data/points.csv) have a source in each row. A user's own runs come from
a table with the columns nodes, ranks, threads, real-time factor.
"""

import csv
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, PositiveInt

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.models.published import papers

EXTERNAL_HZ = 1200.0  #: DPSNN: 400 external synapses of 3 Hz for each neuron


@dataclass(frozen=True)
class Machine:
    """Nodes of one kind. `platform`: a small board or a quiet core instead of full nodes of a server."""

    name: str
    clock_ghz: float = 2.5
    cache_mb: float = 2.5  #: last-level cache of a core
    cores: int = 64  #: of a node
    sockets: int = 2
    platform: bool = False
    processor: str = ""  #: machines of one processor share the error of the kernel


@dataclass(frozen=True)
class Network:
    """What a model of time needs of a network; `synapses` are recurrent ones, of the whole network.

    `model` and `variant` (state, size, kind of input) identify it: networks of one name share their errors.
    """

    model: str
    variant: str
    neurons: float
    synapses: float
    rate_hz: float
    cycle_ms: float = 0.1  #: between two exchanges
    step_ms: float = 0.1
    delay_ms: float = 5.0  #: longest
    spread_ms: float = 3.0  #: width within which most delays lie
    poisson: bool = True  #: external input drawn for each neuron and step
    plastic: bool = False  #: synapses change at each spike
    partners: float = float("inf")  #: most ranks with which a rank exchanges
    rate_sd: float = 0.03  #: log SD of the rate

    @property
    def name(self) -> str:
        """Model and variant."""
        return f"{self.model}, {self.variant}" if self.variant else self.model


@dataclass(frozen=True)
class Run:
    """One configuration; `seconds` per simulated second, where it was measured, with its relative SD."""

    simulator: str  #: NEST, DPSNN or another name
    version: str
    network: Network
    machine: Machine
    nodes: int
    ranks: int  #: of all nodes together
    threads: int = 1  #: of a rank
    seconds: float | None = None
    sd: float = 0.0
    series: str = ""
    source: str = ""
    part: str = ""  #: "exchange" or "kernel" where `seconds` are of this part alone

    @property
    def cores(self) -> float:
        """Threads of all ranks, at most the cores of the nodes; hardware threads beyond them add a fifth."""
        asked, most = float(self.ranks * self.threads), float(self.nodes * self.machine.cores)
        if asked <= most:
            return asked
        return most * (1.0 if asked < 2 * most or self.machine.cores < 12 else 1.2)

    def with_nodes(self, nodes: int) -> "Run":
        """The same layout on another number of nodes."""
        each = max(1, round(self.ranks / self.nodes))
        return replace(self, nodes=nodes, ranks=each * nodes, seconds=None)


#: Machines of the published points by a word of the column `system`.
MACHINES = {
    "JURECA": Machine("JURECA-DC", 2.25, 4.0, 128, processor="EPYC 7742"),
    "of 128 cores": Machine("nodes of 128 cores", 2.25, 4.0, 128, processor="EPYC 7742"),
    "Piz Daint": Machine("Piz Daint", 2.1, 2.5, 36),
    "GALILEO": Machine("GALILEO", 2.4, 2.5, 16),
    "E5-2630 v2": Machine("2 x E5-2630 v2", 2.6, 2.5, 12),
    "Westmere": Machine("Westmere", 2.6, 2.0, 8, processor="Westmere"),
    "Jetson": Machine("Jetson TX1", 1.9, 0.5, 4, 1, True),
    "virtual machine": Machine("virtual machine", 3.67, 16.0, 2, 1, True),
}


def machine_named(system: str) -> Machine:
    """The machine of a text such as "2 x EPYC 7742 (128 cores, 2.25 GHz)"; the rest is typical."""
    known = next((m for word, m in MACHINES.items() if word in system), None)
    if known:
        return replace(known, name=known.name + " 1 GbE") if "1 GbE" in system and known.cores == 8 else known
    cores, clock = re.search(r"(\d+)\s+cores", system), re.search(r"([\d.]+)\s*GHz", system)
    return Machine(
        system.split(":")[0].split("(")[0].strip(),
        float(clock[1]) if clock else 2.5,
        cores=int(cores[1]) if cores else 64,
        platform="board" in system or "quiet core" in system,
    )


#: Words of the name of a network, its model and variant, and what differs from a typical one; the first that
#: fits counts.
NETWORKS = (
    ("multi-area.*metastable", "multi-area model", "metastable", {"delay_ms": 20.0, "rate_sd": 0.15}),
    ("multi-area", "multi-area model", "ground state", {"delay_ms": 20.0}),
    ("microcircuit.*poisson|poisson.*microcircuit", "microcircuit", "Poisson input", {}),
    ("microcircuit", "microcircuit", "constant input", {"poisson": False}),
    ("hpc.*static", "hpc_benchmark", "static", {"delay_ms": 1.5}),
    ("hpc.*delays", "hpc_benchmark", "delays", {"delay_ms": 50.0, "plastic": True}),
    ("hpc", "hpc_benchmark", "plastic", {"delay_ms": 1.5, "plastic": True}),
    ("mam-benchmark", "MAM-benchmark", "", {"delay_ms": 2.0, "spread_ms": 2.0, "poisson": False}),
)


def network_named(text: str, simulator: str, row: dict[str, str]) -> Network:
    """The network of a row of points: its kind follows from words of its name."""
    size, low = {name: float(row[name]) for name in ("neurons", "synapses", "rate_hz")}, text.lower()
    size["cycle_ms"], step = float(row.get("cycle_ms") or 0.1), 1.0 if "h 1 ms" in low else 0.1
    if simulator == "DPSNN" or "grid" in low or "dpsnn" in low:
        state = "slow waves" if re.search(r"\bsw\b|slow", low) else "awake"
        grid = "grid" in low
        return Network("grid of columns" if grid else "homogeneous network",
                       f"{state}, {size['neurons']:.4g} neurons", **size, step_ms=step, delay_ms=40.0,
                       partners=32.0 if grid else float("inf"))  # fmt: skip
    for words, model, variant, more in NETWORKS:
        if re.search(words, low):
            return Network(model, variant, **size, **more)
    return Network(text.split("(")[0].strip(), "", **size, step_ms=step)


def run_of(row: dict[str, str]) -> Run | None:
    """The run of a row with the columns of points.csv; None if it is no total time, or has no rate."""
    what = row["quantity"]
    two = "two processes on one core" in row["notes"]
    if what not in (*TOTALS, "communicate") or not row["rate_hz"] or two:
        return None
    simulator, _, version = row["simulator"].partition(" ")
    network, seconds = network_named(row["network"], simulator, row), float(row["value"])
    machine = machine_named(row["system"])
    if what.startswith("equivalent"):  # all synaptic events, those from outside too
        seconds = (network.synapses * network.rate_hz + EXTERNAL_HZ * network.neurons) / seconds
    ranks, threads = int(row["ranks"]), int(row["threads"] or 1)
    nodes = int(row["nodes"] or -(-ranks * threads // machine.cores))
    sd, part = float(row["sd_rel"] or 0), "exchange" if what == "communicate" else ""
    return Run(simulator, version, network, machine, nodes, ranks, threads, seconds, sd, series_of(row),
               row["source"], part)  # fmt: skip


TOTALS = ("real-time factor", "wall-clock time", "equivalent synaptic events per wall-clock s")


def series_of(row: dict[str, str]) -> str:
    """The series of a row; networks of one table, and fabrics, are series of their own."""
    name = row["series"]
    if name == "SIM-T1":
        return f"{name}-{row['network'].split()[0]}"
    if name in ("T3-DPSNN", "T3-NEST"):
        return name + ("-SW" if "SW" in row["network"] else "-AW")
    return "SIM-T2-ETH" if name == "SIM-T2" and "1 GbE" in row["system"] else name


@cache
def published() -> tuple[Run, ...]:
    """The published points, those of the project's own measurements among them."""
    return tuple(filter(None, map(run_of, papers.rows("points"))))


def by_series(runs: Iterable[Run]) -> dict[str, list[Run]]:
    """Runs by series, in the order of the file."""
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(run.series, []).append(run)
    return found


#: Columns of a table of own runs; `communicate`, seconds per simulated second of exchanges, may be missing.
OWN = ("nodes", "ranks", "threads", "real_time_factor")
_Seconds = Annotated[float, Field(gt=0, lt=1e9)]


class _OwnRun(BaseModel):
    nodes: PositiveInt
    ranks: PositiveInt
    threads: PositiveInt
    real_time_factor: _Seconds
    communicate: _Seconds | None = None


def own_runs(path: Path, like: Run) -> list[Run]:
    """Runs of a user's table, of the simulator, version, network and machine of `like`; raises BadInput.

    Times of communication become runs of their own, of the part "exchange".
    """
    found = []
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), 2):
            given = {name: value for name, value in row.items() if value and name}
            own = checked(_OwnRun, given, f"{path}, line {number}", "run")
            run = replace(like, nodes=own.nodes, ranks=own.ranks, threads=own.threads, sd=0.0,
                          series=str(path), source=str(path))  # fmt: skip
            found.append(replace(run, seconds=own.real_time_factor))
            if own.communicate:
                found.append(replace(run, seconds=own.communicate, part="exchange"))
    if not found:
        raise BadInput.of("runs", 0, f"at least one run, with {', '.join(OWN)}", file=path)
    return found


def digest(*paths: Path) -> str:
    """First 12 digits of the SHA-256 of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]
