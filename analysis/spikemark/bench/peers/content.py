"""peers.json: what a comparison found, read back and checked."""

from pathlib import Path
from typing import Any, Literal

from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.record_fields import Count, Fields, Positive

from .store import FORMAT_VERSION

FILE = "peers.json"
EXPERIMENT = "peers"  # its results lie beside those of the experiments


class Estimated(Fields):
    """A median over `rounds` rounds, `disturbed` of them disturbed, and its interval; null with a reason.

    `confidence` is that with which the interval contains the median; 0 if there is only one round.
    """

    median: float | None
    low: float | None
    high: float | None
    confidence: float | None
    rounds: Count
    disturbed: Count
    reason: str | None

    def with_unit(self, unit: str) -> Quantity:
        """The trials as a quantity in `unit`, with `*` if disturbed; a single round has no interval."""
        if self.median is None:
            return missing(self.reason or "not measured", unit)
        low, high = (self.low, self.high) if self.confidence else (None, None)
        return Quantity(self.median, low, high, unit, sign="*" if self.disturbed else "")


class Median(Estimated):
    """The median of one quantity in one program."""

    program: str
    threads: Positive
    quantity: str
    unit: str


class Factor(Estimated):
    """The factor by which the mini-app is ahead of `peer`."""

    peer: str
    threads: Positive
    quantity: str


class Gain(Estimated):
    """The speed on `threads` threads over that on `over` threads."""

    program: str
    threads: Positive
    over: Positive


class Known(Fields):
    """What is known about a program; null where it gave no result or does not report it."""

    name: str
    title: str
    version: str | None
    model: str | None
    note: str | None
    mean_rate_hz: float | None
    synapses: Count | None
    baseline_bytes: Count | None


class Content(Fields):
    """The content of peers.json, see compare.compare."""

    format_version: Literal[FORMAT_VERSION]
    experiment: str
    machine: str
    shuffle_seed: Count
    conditions: dict[str, Any]
    planned: Count
    measured: Count
    disturbed: Count
    programs: list[Known]
    medians: list[Median]
    factors: list[Factor]
    scaling: list[Gain]
    complaints: list[str]


def path(machine: str, root: Path) -> Path:
    """The file with the comparison of a machine; `root` is the folder `results`."""
    return root / EXPERIMENT / machine / FILE


def read(file: Path) -> Content:
    """The content of a file. Raises BadInput naming the file and what is wrong with it."""
    return checked(Content, read_json(file, "a comparison ends with it"), file, "peers")
