"""The programs that `spikemark peers` compares: the mini-app, and NEST with neurons that can stand
for those of a network.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

from pydantic import Field, ValidationError

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.core.validation import invalid
from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed
from spikemark.prediction import anchor_run
from spikemark.records import run_files
from spikemark.records.schema import Count, Positive, Record, RecordPart, Seconds
from spikemark.running.measure import program

#: The environment of NEST, in the checkout.
ENVIRONMENT = ".venv-peers"
OURS = "mini-app"
#: Times as long as its peers the mini-app simulates: its runs would take a fraction of a second.
LONGER = 10

#: Of a run, s: a time that no clock tells would make a speed that no number holds.
Duration = Annotated[float, Field(ge=1e-9, le=1e9)]


class Figures(RecordPart):
    """What a program says about one run, in bytes and seconds."""

    version: str  #: of the program
    model: str  #: of the neurons
    note: str | None = None  #: what a reader must know
    threads: Positive
    ranks: Positive
    neurons: Positive
    synapses: Count
    spikes: Count
    synaptic_events: Count | None = None  #: None where not counted
    build_s: Seconds
    simulate_s: Duration
    model_s: Duration  #: simulated time
    peak_bytes: Count | None  #: None where not reported
    foreign_load: Seconds | None  #: cores that others kept busy; None where not reported


class PeerProgram(Protocol):
    """A program that is compared."""

    @property
    def name(self) -> str:
        """What tables call it."""

    def start(self, description: Path, out: Path, threads: int) -> Launch:
        """How to simulate `description` on one rank; `out`: a folder that is not there yet."""

    def read(self, output: str, out: Path) -> Figures:
        """What it said after exit status 0. Raises ProgramFailed."""


@dataclass(frozen=True)
class MiniAppPeer:
    """The mini-app, which simulates LONGER times the time of the description."""

    name: str = OURS

    def start(self, description: Path, out: Path, threads: int) -> Launch:
        simulate_ms = LONGER * read_json(description)["time"]["simulate_ms"]
        command = program("miniapp", description, out)
        command += ["--set", f"time.simulate_ms={simulate_ms}"]
        return launch.launch("mpirun", command, launch.LaunchLayout(1, threads))

    def read(self, output: str, out: Path) -> Figures:
        try:
            record = Record.model_validate_json((out / run_files.RECORD).read_text())
            return self._figures(record)
        except (OSError, ValueError) as error:
            raise _no_result(error) from None

    def _figures(self, record: Record) -> Figures:
        """What a record says."""
        populations = record.description["network"]["populations"]
        models = {population["neuron"]["model"] for population in populations}
        commit = (record.provenance.commit or "unknown")[:9]
        return Figures(
            version=f"{record.provenance.version} {commit}",
            model=", ".join(sorted(models)),
            threads=record.threads,
            ranks=record.ranks,
            neurons=record.totals.neurons,
            synapses=record.totals.synapses,
            spikes=record.totals.spikes,
            synaptic_events=record.totals.synaptic_events,
            build_s=record.timing.build_s,
            simulate_s=record.timing.simulate_s,
            model_s=record.timing.model_s,
            peak_bytes=record.memory.peak_bytes,
            foreign_load=record.host.foreign_load,
        )


@dataclass(frozen=True)
class Nest:
    """NEST with one of its neurons, see KINDS of workflows/peers/nest_neurons.py."""

    model: str

    @property
    def name(self) -> str:
        return f"NEST {self.model}"

    def start(self, description: Path, out: Path, threads: int) -> Launch:
        python = _environment() / "bin" / "python"
        command = [str(python), str(_script()), str(description)]
        command += ["--model", self.model, "--threads", str(threads)]
        # The binding that the mini-app gets: every thread on a core of its own where there are
        # enough.
        layout = launch.LaunchLayout(1, threads)
        environment = launch.launch("mpirun", command, layout).environment
        binding = {name: text for name, text in environment.items() if name.startswith("OMP_")}
        return Launch(command, binding)

    def read(self, output: str, out: Path) -> Figures:
        lines = output.splitlines()
        try:
            return Figures.model_validate_json(lines[-1] if lines else "")
        except ValueError as error:
            raise _no_result(error) from None


def _no_result(error: OSError | ValueError) -> ProgramFailed:
    """A program that ended well without a valid result."""
    reason = invalid(error) if isinstance(error, ValidationError) else error
    text = " ".join(str(reason).split())
    return ProgramFailed(f"exit status 0, but no valid result: {text}")


def _script() -> Path:
    return places.root() / "workflows" / "peers" / "nest_network.py"


def _environment() -> Path:
    """The environment of NEST. Raises BadInput with the way to get it."""
    path = places.checkout() / ENVIRONMENT
    if not (path / "complete").is_file():
        reason = f"{path} is missing or incomplete"
        raise BadInput(
            field="peers",
            reason=reason,
            expected="after `make peers`",
        )
    return path


def programs(models: set[str]) -> list[PeerProgram]:
    """The mini-app, and NEST with each of its neurons that can stand for these.

    Raises BadInput for models of neurons that NEST does not have.

    Example:
        >>> [program.name for program in programs({"ignore_and_fire"})]
        ['mini-app', 'NEST ignore_and_fire', 'NEST iaf_psc_delta']
    """
    stand_in = anchor_run.neurons(models)
    kinds = [stand_in]
    if models == {"ignore_and_fire"}:
        kinds = ["ignore_and_fire", stand_in]
    return [MiniAppPeer(), *(Nest(kind) for kind in kinds)]
