"""Runs of production simulators: configuration and seconds per simulated second.

They come from points (models/published/data/points.csv, with a source in each row, or a file with its
columns), or from a table of a user's own runs.
"""

import csv
import io
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_text
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
    part: str = ""  #: "exchange" where `seconds` are of this part alone
    anchor: str = ""  #: the series from which a test is to predict it, if its row says so,
    aspects: str = ""  #: and in what that differs, such as machine+version

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


def network_named(text: str, simulator: str, **size: float) -> Network:
    """The network of a text such as "hpc_benchmark (static)"; the rest of its kind is typical."""
    low = text.lower()
    step = 1.0 if "h 1 ms" in low else 0.1
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


Count = Annotated[int, Field(gt=0, lt=10**9)]
Amount = Annotated[float, Field(ge=1e-12, lt=1e18)]
EXCHANGE, EVENTS = "communicate", "equivalent synaptic events per wall-clock s"
QUANTITIES = ("real-time factor", "wall-clock time", EXCHANGE, EVENTS)  #: of points that are about times


class _Point(BaseModel):
    """A row of points.csv; `anchor` and `aspects` are those of Run."""

    series: str
    source: str = ""
    system: str
    simulator: str
    network: str
    neurons: Amount
    synapses: Amount
    rate_hz: Amount
    cycle_ms: Amount = 0.1
    ranks: Count
    threads: Count = 1
    nodes: Count | None = None
    quantity: str
    value: Amount
    sd_rel: float = Field(0.0, ge=0, lt=100)
    anchor: str = ""
    aspects: str = ""

    def run(self) -> Run:
        """The run; networks of one table, and fabrics, are series of their own."""
        simulator, _, version = self.simulator.partition(" ")
        machine, series, seconds = machine_named(self.system), self.series, self.value
        size = self.model_dump(include={"neurons", "synapses", "rate_hz", "cycle_ms"})
        network = network_named(self.network, simulator, **size)
        if self.quantity == EVENTS:  # all of them, those from outside too
            seconds = (self.synapses * self.rate_hz + EXTERNAL_HZ * self.neurons) / self.value
        if series == "SIM-T1":
            series += f"-{self.network.split()[0]}"
        elif series in ("T3-DPSNN", "T3-NEST"):
            series += "-SW" if "SW" in self.network else "-AW"
        elif series == "SIM-T2" and "1 GbE" in self.system:
            series = "SIM-T2-ETH"
        nodes = self.nodes or -(-self.ranks * self.threads // machine.cores)
        return Run(simulator, version, network, machine, nodes, self.ranks, self.threads, seconds,
                   self.sd_rel, series, self.source, "exchange" if self.quantity == EXCHANGE else "",
                   self.anchor, self.aspects.replace(" ", "+"))  # fmt: skip


class _OwnRun(BaseModel):
    """A row of a user's runs; `communicate`: seconds per simulated second of exchanges."""

    nodes: Count
    ranks: Count
    threads: Count
    real_time_factor: Amount
    communicate: Amount | None = None


OWN = tuple(_OwnRun.model_fields)  #: columns of a table of own runs


def _rows(path: Path) -> dict[str, dict[str, str]]:
    """The rows of a table by where they are; a blank cell is as if it was not there. Raises BadInput."""
    try:
        rows = [*csv.DictReader(io.StringIO(read_text(path)))]
    except csv.Error as why:
        raise BadInput(f"{path}: {why}", code="file") from None
    return {f"{path}, line {number}": {name: cell for name, cell in row.items() if name and cell}
            for number, row in enumerate(rows, 2)}  # fmt: skip


def own_runs(path: Path, like: Run) -> list[Run]:
    """Runs of a user's table, of the simulator, version, network and machine of `like`; raises BadInput.

    Times of communication become runs of their own, of the part "exchange".
    """
    found = []
    for where, row in _rows(path).items():
        own = checked(_OwnRun, row, where, "run").model_dump()
        times = {"": own.pop("real_time_factor"), "exchange": own.pop("communicate")}
        run = replace(like, **own, series=str(path), source=str(path))
        found += [replace(run, seconds=seconds, part=part) for part, seconds in times.items() if seconds]
    if not found:
        raise BadInput.of("runs", 0, f"at least one run, with {', '.join(OWN[:4])}", file=path)
    return found


def read(path: Path) -> list[Run]:
    """Runs of a file with the columns of points.csv: its times and numbers of events, where the rate is
    known and each process has a core of its own. Raises BadInput."""
    found = []
    for where, row in _rows(path).items():
        timed = row.get("quantity") in QUANTITIES and "rate_hz" in row
        if timed and "two processes on one core" not in row.get("notes", ""):
            found.append(checked(_Point, row, where, "point").run())
    if not found:
        raise BadInput.of("runs", 0, "a row with rate_hz, and quantity: real-time factor", file=path)
    return found


@cache
def published() -> tuple[Run, ...]:
    """The published points, those of the project's own measurements among them."""
    return tuple(read(papers.path("points")))
