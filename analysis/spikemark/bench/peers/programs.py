"""The compared programs: how each starts on a run description, and its results in common terms."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from pydantic import Field, ValidationError

from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.launch import Launch
from spikemark.records import run_files
from spikemark.records.record_fields import Count, Fields, Positive, Record, Seconds
from spikemark.running.carry_out import RunFailed

INSTALL = "workflows/peers/install.sh"
ENVIRONMENT = ".venv-peers"

#: The program all others are compared with.
REFERENCE = "miniapp"


class Figures(Fields):
    """What a program says about one run, in bytes and seconds; null where it does not report a value.

    `baseline_bytes`: resident before the network is built, a part of `peak_bytes`. `foreign_load`: cores
    that others kept busy while `simulate_s` was measured. `synaptic_events`: null where not counted.
    """

    version: str
    model: str
    note: str | None = None
    threads: Positive
    ranks: Positive
    neurons: Positive
    synapses: Count
    spikes: Count
    synaptic_events: Count | None = None
    build_s: Seconds
    simulate_s: Annotated[float, Field(gt=0)]
    model_s: Annotated[float, Field(gt=0)]
    peak_bytes: Count | None
    baseline_bytes: Count | None = None
    foreign_load: Seconds | None

    @property
    def mean_rate_hz(self) -> float:
        """Spikes per neuron and simulated second."""
        return self.spikes / self.neurons / self.model_s


class Program(Protocol):
    """`identity` changes whenever what would be measured does."""

    name: str
    title: str

    @property
    def identity(self) -> str: ...

    def takes(self, models: set[str]) -> bool:
        """Says whether it can be compared on networks of these neuron models of the mini-app."""

    def start(self, description: Path, workspace: Path, threads: int) -> Launch:
        """How to simulate `description` on one rank; `workspace` is an empty folder for what it writes."""

    def read(self, output: str, workspace: Path) -> tuple[dict[str, Any], Figures]:
        """The program's own result and what it means, after exit status 0; raises RunFailed."""


#: How many times longer than its peers the mini-app simulates. Its runs would otherwise take a fraction of a
#: second, and whatever holds the machine up for a moment would decide.
LONGER = 10


@dataclass(frozen=True)
class Miniapp:
    """The mini-app of this checkout, started with mpirun like in a sweep; simulates LONGER than described."""

    name: str = REFERENCE
    title: str = "mini-app"

    @property
    def identity(self) -> str:
        return f"{digest(places.program('miniapp'))} {LONGER}"

    def takes(self, models: set[str]) -> bool:
        return True

    def start(self, description: Path, workspace: Path, threads: int) -> Launch:
        simulate_ms = LONGER * json.loads(description.read_text())["time"]["simulate_ms"]
        command = [str(places.program("miniapp")), str(description), "--out", str(workspace / "record")]
        command += ["--set", f"time.simulate_ms={simulate_ms}"]
        return launch.launch("mpirun", command, launch.Layout(1, threads))

    def read(self, output: str, workspace: Path) -> tuple[dict[str, Any], Figures]:
        path = workspace / "record" / run_files.RECORD
        try:
            raw = json.loads(path.read_text())
            record = Record.model_validate(raw)
        except (OSError, ValueError) as error:
            raise RunFailed(f"exit status 0, but no valid record: {_brief(error)}") from None
        models = {p["neuron"]["model"] for p in record.description["network"]["populations"]}
        totals, timing = record.totals, record.timing
        figures = Figures(
            version=f"{record.provenance.version} {(record.provenance.commit or 'unknown')[:12]}",
            model=", ".join(sorted(models)),
            threads=record.threads,
            ranks=record.ranks,
            neurons=totals.neurons,
            synapses=totals.synapses,
            spikes=totals.spikes,
            synaptic_events=totals.synaptic_events,
            build_s=timing.build_s,
            simulate_s=timing.simulate_s,
            model_s=timing.model_s,
            peak_bytes=record.memory.peak_bytes,
            foreign_load=record.host.foreign_load,
        )
        return raw, figures


@dataclass(frozen=True)
class Nest:
    """NEST in the environment of the peers; `model` says with which neurons (nest_neurons.KINDS)."""

    name: str
    title: str
    model: str
    for_models: frozenset[str]

    @property
    def identity(self) -> str:
        return f"{(_environment() / 'complete').read_text().split()[0]} {_scripts()} {self.model}"

    def takes(self, models: set[str]) -> bool:
        return models <= self.for_models

    def start(self, description: Path, workspace: Path, threads: int) -> Launch:
        options = ["--model", self.model, "--threads", str(threads)]
        command = [
            str(_environment() / "bin" / "python"),
            str(_folder() / "nest_network.py"),
            str(description),
            *options,
        ]
        return Launch(command, _threads(threads))

    def read(self, output: str, workspace: Path) -> tuple[dict[str, Any], Figures]:
        lines = output.splitlines() or [""]
        try:
            raw = json.loads(lines[-1])
            return raw, Figures.model_validate(raw)
        except ValueError as error:
            raise RunFailed(f"exit status 0, but no valid result: {_brief(error)}") from None


IGNORING, INTEGRATING = frozenset({"ignore_and_fire"}), frozenset({"lif_delta", "lif_exp"})

#: Everything that is compared; the reference first.
PROGRAMS: tuple[Program, ...] = (
    Miniapp(),
    Nest("nest", "NEST ignore_and_fire", "ignore_and_fire", IGNORING),
    Nest("nest_iaf_psc_delta", "NEST iaf_psc_delta", "iaf_psc_delta", IGNORING),
    Nest("nest_described", "NEST, the same neurons", "described", INTEGRATING),
)


def digest(path: Path) -> str:
    """Hash of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def _folder() -> Path:
    return places.root() / "workflows" / "peers"


def _scripts() -> str:
    return " ".join(digest(path) for path in sorted(_folder().glob("nest_*.py")))


def _environment() -> Path:
    """The environment of the peers; raises BadInput with the way to get it."""
    path = places.root() / ENVIRONMENT
    if not (path / "complete").is_file():
        raise BadInput(f"peers: {path} is missing or incomplete: install it with {INSTALL} or `make peers`")
    return path


def _threads(threads: int) -> dict[str, str]:
    """The binding that the mini-app gets: every thread on its own core as long as there are enough."""
    named = launch.launch("mpirun", [], launch.Layout(1, threads)).environment
    return {name: value for name, value in named.items() if name.startswith("OMP_")}


def _brief(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())
