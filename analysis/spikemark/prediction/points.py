"""Runs of production programs: configuration and seconds per simulated second.

They come from points (points.csv, with a source in each row, or a file with its columns), or from a
table of a user's own runs.
"""

import csv
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, Field

from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.fields import checked
from spikemark.quantities.words import counted

from .program_costs import PROGRAMS, find
from .published_machine import PublishedMachine, measured_machine

#: Published points, with a source in each row.
POINTS = Path(__file__).with_name("points.csv")
#: The networks of these points, a row for each variant.
NETWORKS = Path(__file__).with_name("networks.csv")
UNPUBLISHED = "unpublished"  #: role of a point that the project measured itself
UNUSED = "unused"  #: role of a point that is no run of the models: two processes share a core
EXTERNAL_HZ = 1200.0  #: DPSNN: 400 external synapses of 3 Hz for each neuron
MAX_SMT = 8  #: most hardware threads of a core of any processor
SMT_CORES = 12  #: cores of a node from which hardware threads beyond them add something
SMT_FACTOR = 1.2  #: what all hardware threads of a node do over its cores alone


@dataclass(frozen=True)
class PublishedNetwork:
    """What a model of time needs of a network.

    `model` and `variant` identify it: networks of one name share their errors.
    """

    model: str
    variant: str  #: state, size, kind of input
    neurons: float
    synapses: float  #: recurrent ones, of the whole network
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
class PublishedRun:
    """One configuration, and its time where it was measured."""

    program: str  #: id, such as nest
    version: str
    network: PublishedNetwork
    machine: PublishedMachine
    nodes: int
    ranks: int  #: of all nodes together
    threads: int = 1  #: of a rank
    seconds: float | None = None  #: per simulated second; None: not measured
    sd: float = 0.0  #: relative, of `seconds`
    series: str = ""
    source: str = ""
    is_published: bool = True  #: whether others than the project measured it
    shared_cores: float | None = None  #: of all nodes, where hardware threads share them
    part: str = ""  #: "exchange" where `seconds` are of this part alone
    #: The series from which a test is to predict it, if its row says so.
    anchor: str = ""
    aspects: str = ""  #: in what that series differs, such as machine+version

    @cached_property
    def _hash(self) -> int:
        """Of all fields; a search asks for the effects of the same runs again and again."""
        return hash(tuple(getattr(self, field.name) for field in fields(self)))

    def __hash__(self) -> int:
        return self._hash

    @property
    def title(self) -> str:
        """The program for readers."""
        return find(self.program).title

    @property
    def cores(self) -> float:
        """Threads of all ranks, at most the cores of the nodes.

        Hardware threads beyond them add a fifth, where all of them are used.
        """
        if self.shared_cores is not None:
            return self.shared_cores
        threads = float(self.ranks * self.threads)
        cores = float(self.nodes * self.machine.cores)
        if threads <= cores:
            return threads
        if threads < 2 * cores or self.machine.cores < SMT_CORES:
            return cores
        return cores * SMT_FACTOR

    def with_nodes(self, nodes: int) -> "PublishedRun":
        """The same layout on another number of nodes."""
        ranks_per_node = max(1, round(self.ranks / self.nodes))
        ranks = ranks_per_node * nodes
        return replace(self, nodes=nodes, ranks=ranks, seconds=None, shared_cores=None)


class _Network(BaseModel, defer_build=True):
    """A row of networks.csv: what a published network is, beside its size and rate."""

    network: str
    variant: str = ""
    preset: str = ""  #: which has this network at its published size
    step_ms: float
    delay_ms: float
    spread_ms: float
    poisson: bool
    plastic: bool
    partners: float = float("inf")
    rate_sd: float

    def of_size(
        self, neurons: float, synapses: float, rate_hz: float, cycle_ms: float
    ) -> PublishedNetwork:
        """The network with so many neurons and synapses."""
        return PublishedNetwork(
            model=self.network,
            variant=self.variant,
            neurons=neurons,
            synapses=synapses,
            rate_hz=rate_hz,
            cycle_ms=cycle_ms,
            **self.model_dump(exclude={"network", "variant", "preset"}),
        )


@cache
def _networks() -> tuple[_Network, ...]:
    """The published networks, a row for each variant."""
    rows = rows_of_package(NETWORKS).items()
    return tuple(checked(_Network, cells, Path(place), "network") for place, cells in rows)


def network_of_preset(preset: str | None) -> _Network | None:
    """The published network that a preset has at its full size; None where there is none.

    Example:
        >>> network_of_preset("microcircuit").network, network_of_preset(None)
        ('microcircuit', None)
    """
    fitting = [row for row in _networks() if row.preset and row.preset == preset]
    return fitting[0] if fitting else None


def presets_of(models: Collection[str]) -> list[str]:
    """The presets that have one of some published networks at their full size.

    Example:
        >>> presets_of({"microcircuit", "dpsnn-grid"})
        ['microcircuit']
    """
    return sorted({row.preset for row in _networks() if row.preset and row.network in models})


def _network_named(name: str, variant: str) -> _Network:
    """The row of a network. Raises BadInput for one that networks.csv does not have."""
    of_name = [row for row in _networks() if row.network == name]
    if not of_name:
        raise unknown_name("network", name, {row.network for row in _networks()})
    for row in of_name:
        if row.variant == variant:
            return row
    raise unknown_name("variant", variant, {row.variant for row in of_name})


Count = Annotated[int, Field(gt=0, lt=10**9)]
Amount = Annotated[float, Field(ge=1e-12, lt=1e18)]
EXCHANGE = "communicate"
EVENTS = "equivalent synaptic events per wall-clock s"
#: Quantities of points that are about times, and the unit of each.
UNITS = {
    "real-time factor": "1",
    "wall-clock time": "s per simulated s",
    EXCHANGE: "s per simulated s",
    EVENTS: "1/s",
}


class _Point(BaseModel, defer_build=True):
    """A row of points.csv; `anchor` and `aspects` are those of PublishedRun."""

    series: str
    #: UNUSED where a row is no run that the models can be compared with, or UNPUBLISHED.
    role: str = ""
    source: str = ""
    machine: str  #: a profile of machines/
    processor: str = ""  #: that of the profile
    program: str
    version: str = ""
    network: str  #: network and variant are those of a row of networks.csv
    variant: str = ""
    neurons: Amount
    synapses: Amount
    rate_hz: Amount
    cycle_ms: float = Field(0.1, ge=1e-3, le=1e3)
    ranks: Count
    threads: Count = 1
    nodes: Count | None = None
    cores: Count | None = None  #: of all nodes, where hardware threads share them
    quantity: str
    unit: str = ""  #: that of UNITS where it is stated
    value: Amount
    sd_rel: float = Field(0.0, ge=0, lt=1)
    anchor: str = ""
    aspects: str = ""

    def run(self) -> PublishedRun:
        """The run of this row.

        Raises BadInput for a machine or network that is not known, and for another unit.
        """
        machine = measured_machine(self.machine)
        if self.processor and self.processor != machine.processor:
            raise BadInput(
                field="processor",
                value=self.processor,
                expected=f"{machine.processor or 'none'}, that of {self.machine}",
                code="conflict",
            )
        self._check()
        row = _network_named(self.network, self.variant)
        network = row.of_size(self.neurons, self.synapses, self.rate_hz, self.cycle_ms)
        return PublishedRun(
            program=self.program,
            version=self.version,
            network=network,
            machine=machine,
            nodes=self.nodes or -(-self.ranks * self.threads // machine.cores),
            ranks=self.ranks,
            threads=self.threads,
            seconds=self._seconds(),
            shared_cores=self.cores,
            sd=self.sd_rel,
            series=self.series,
            source=self.source,
            is_published=self.role != UNPUBLISHED,
            part="exchange" if self.quantity == EXCHANGE else "",
            anchor=self.anchor,
            aspects=self.aspects.replace(" ", "+"),
        )

    def _check(self) -> None:
        """Raises BadInput for a misspelt program, another unit, nodes without a rank, and more
        threads than any core has.

        A program whose costs were never fitted is none that is misspelt.
        """
        if self.program not in PROGRAMS and self.program.lower() in PROGRAMS:
            raise unknown_name("program", self.program, PROGRAMS)
        if self.unit not in ("", UNITS[self.quantity]):
            raise BadInput(
                field="unit",
                value=self.unit,
                expected=f"{UNITS[self.quantity]}, that of {self.quantity}",
                code="conflict",
            )
        if self.nodes is not None and self.ranks < self.nodes:
            raise BadInput(
                field="ranks",
                value=self.ranks,
                expected=f"at least one on each of {self.nodes} nodes",
                code="conflict",
            )

        hardware_threads = MAX_SMT * measured_machine(self.machine).cores * (self.nodes or math.inf)
        if self.ranks * self.threads > hardware_threads:
            raise BadInput(
                field="threads",
                value=self.threads,
                expected=(
                    f"at most {hardware_threads // self.ranks:g} with ranks={self.ranks} on"
                    f" {counted(self.nodes or 1, 'node')} of {self.machine}"
                ),
                code="conflict",
            )

    def _seconds(self) -> float:
        """Seconds per simulated second; events are all of them, those from outside too."""
        if self.quantity == EVENTS:
            return (self.synapses * self.rate_hz + EXTERNAL_HZ * self.neurons) / self.value
        return self.value


class OwnRun(BaseModel, defer_build=True):
    """A row of a user's runs; `communicate`: seconds per simulated second of exchanges."""

    nodes: Count
    ranks: Count
    threads: Count
    real_time_factor: Amount
    communicate: Amount | None = None


OWN = tuple(OwnRun.model_fields)  #: columns of a table of own runs

#: Cells of a row that are not blank, by column.
Cells = dict[str, str]


def rows_of_package(path: Path) -> dict[str, Cells]:
    """The rows of a table of the package by where they are, as `rows_of_file` has them.

    That one refuses what is wrong with anyone's file, but takes 0.3 s to load pandas and Arrow.

    Example:
        >>> first, *_ = rows_of_package(NETWORKS).values()
        >>> first["network"], first["preset"]
        ('multi-area-model', 'mam')
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        return {f"{path}, line {reader.line_num}": _filled(cells) for cells in reader}


def _filled(cells: Mapping[Any, str]) -> Cells:
    """The cells of a row that are not blank."""
    return {str(name): cell for name, cell in cells.items() if name and cell}


def rows_of_file(path: Path) -> dict[str, Cells]:
    """The rows of anyone's table by where they are; a blank cell is as if it was not there.

    Raises BadInput for a file that is no table.

    Example:
        >>> rows_of_file(NETWORKS) == rows_of_package(NETWORKS)
        True
    """
    from spikemark.core.csv_file import read_csv

    table = read_csv(path).cells
    rows = table.to_dict("records")
    return {
        f"{path}, line {line}": _filled(cells)
        for line, cells in zip(table.index, rows, strict=True)
    }


def own_rows(path: Path) -> dict[str, OwnRun]:
    """The rows of a user's table by where they are. Raises BadInput for a wrong cell.

    Example:
        >>> own_rows(Path("nowhere.csv"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere.csv: not found
    """
    rows = rows_of_file(path).items()
    return {place: checked(OwnRun, cells, Path(place), "run") for place, cells in rows}


def own_runs(path: Path, like: PublishedRun) -> list[PublishedRun]:
    """Runs of a user's table, of the program, version, network and machine of `like`.

    Times of communication become runs of their own, of the part "exchange". Raises BadInput for a
    wrong cell, and for a table without runs.

    Example:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> run = next(run for run in published() if run.program == "nest")
        >>> with TemporaryDirectory() as folder:
        ...     table = Path(folder, "runs.csv")
        ...     written = table.write_text("nodes,ranks,threads,real_time_factor\\n1,8,16,2.5\\n")
        ...     [own] = own_runs(table, like=run)
        >>> own.ranks, own.seconds
        (8, 2.5)
    """
    runs = []
    for row in own_rows(path).values():
        run = replace(
            like,
            nodes=row.nodes,
            ranks=row.ranks,
            threads=row.threads,
            seconds=row.real_time_factor,
            series=str(path),
            source=str(path),
            part="",
        )
        runs.append(run)
        if row.communicate:
            runs.append(replace(run, seconds=row.communicate, part="exchange"))
    if not runs:
        expected = f"at least one run, with {', '.join(OWN[:4])}"
        raise BadInput(field="runs", value=0, expected=expected, file=path)
    return runs


def read(path: Path) -> list[PublishedRun]:
    """Runs of a file with the columns of points.csv: its times and numbers of events.

    Rows count where the rate is known, unless their role is UNUSED. Raises BadInput for a wrong
    cell, and for a file without rows that count.

    Example:
        >>> from pathlib import Path
        >>> runs = read(Path(__file__).with_name("points.csv"))
        >>> runs[0].nodes >= 1
        True
    """
    return _runs(path, rows_of_file(path))


def _runs(path: Path, rows: Mapping[str, Cells]) -> list[PublishedRun]:
    """The runs of rows of a file, as `read`."""
    runs = []
    places: dict[str, str] = {}
    for place, cells in rows.items():
        if first := places.get(cells.get("id", "")):
            raise BadInput(
                field="id",
                value=cells["id"],
                expected=f"another one than in {first}",
                file=place,
                code="conflict",
            )
        if "id" in cells:
            places[cells["id"]] = place
        is_time = cells.get("quantity") in UNITS and "rate_hz" in cells
        if is_time and cells.get("role") != UNUSED:
            point = checked(_Point, cells, Path(place), "point")
            try:
                runs.append(point.run())
            except BadInput as error:
                raise error.within(file=place) from None
    if not runs:
        expected = "a row with rate_hz, and quantity: real-time factor"
        raise BadInput(field="runs", value=0, expected=expected, file=path)
    return runs


@cache
def published() -> tuple[PublishedRun, ...]:
    """The published points, those of the project's own measurements among them.

    Example:
        >>> sorted({run.program for run in published()})
        ['dpsnn', 'nest']
    """
    return tuple(_runs(POINTS, rows_of_package(POINTS)))
