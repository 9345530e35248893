"""What `spikemark predict` answers about runs that were not made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spikemark.machines.parts import MachineOfParts, digest
from spikemark.machines.profile import Profile
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent

from .answers import (
    PER_EVENT,
    CellsOfOptions,
    about,
    as_lines,
    content,
    contradiction,
    energy_cell,
    hidden_note,
    options_table,
    part_cell,
    remarks_on,
    rows,
    rtf_cell,
)
from .narrowing import HEADS, RatioTerm
from .option import TIE, Option, ordered
from .over_nodes import over_nodes
from .wording import capital, interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class PredictionAnswer(Answer):
    """Time, energy and memory of runs that were not made.

    `table` has a row for each number of ranks or nodes, see `options_table`.
    """

    verb = "predict"

    options: Sequence[Option]  #: one for each number of ranks or nodes
    machine: Profile | MachineOfParts  #: as its file states it; what it lacks was assumed
    named: str = ""  #: how a command names the machine; by its name by default

    @property
    def table(self) -> "pd.DataFrame":
        """The options with their figures."""
        return options_table(self.options)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Real-time factors over nodes with 95 % bands, a line for each machine."""
        return over_nodes({self.machine.name: self.options}, axes)

    @cached_property
    def fastest(self) -> Option:
        """The fastest option, of which the sentences speak: of those that fit into the memory, if
        any do, and of those that are equally fast the one on the fewest nodes.
        """
        fitting = [option for option in self.options if option.fits is not False]
        return ordered(fitting or self.options, target=None)[0]

    @cached_property
    def _screen(self) -> Screen:
        fastest = self.fastest
        notes = as_lines(remarks_on(self.options))
        notes += contradiction(self.options)
        if len(self.options) > 1:
            ranks = counted(fastest.ranks, "rank")
            chosen = "the fastest run of this table"
            if fastest.median > min(option.median for option in self.options):
                chosen = f"the fewest nodes within {percent(TIE - 1)} of the fastest run that fits"
            notes.append(
                f"The first sentence and the lines below are about {ranks} on {fastest.place},"
                f" {chosen}."
            )
        notes += about([RatioTerm(fastest, named=self.named)], fastest.rtf, fastest.inputs)
        table = _predicted_table(self.options)
        lines = [_predicted_sentence(fastest), *self._on_more_nodes()]
        return Screen(lines, [table], notes)

    def _on_more_nodes(self) -> list[str]:
        """How much longer the most nodes would take, where these are not the fastest."""
        fastest = self.fastest
        most = max(self.options, key=lambda option: (option.nodes, -option.median))
        if most.nodes <= fastest.nodes or most.fits is False:
            return []
        ratio = interval(most.rtf / fastest.rtf)
        return [f"On {counted(most.nodes, 'node')}, it would take {ratio} times as long."]

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark predict` prints."""
        return self._screen

    def content(self) -> dict[str, Any]:
        """The options with all figures, and the profile that they rest on."""
        question = self.options[0].question
        return {
            "kind": "modelled",
            "profile": {"name": self.machine.name, "digest": digest(self.machine)},
            "network": question.title,
            "rates": question.rates.source,
            "description": question.description,
            "predictions": [content(option) for option in self.options],
            "remarks": remarks_on(self.options),
        }


def _predicted_sentence(option: Option) -> str:
    """What a run would take, after that it does not fit into the memory of a node, if so."""
    network = option.question.sized
    takes = f"would take {interval(option.rtf)} times real time"
    if option.fits is False and option.node_gb is not None:
        needs = f"a node needs {number(option.node_gb)} GB, more than it has"
        lacking = f"{capital(network)} does not fit on {option.place}: {needs}."
        return f"{lacking} With more memory, {option.title} {takes}."
    return f"{capital(option.title)} {takes} for {network} on {option.place}."


def _predicted_table(options: Sequence[Option]) -> Table:
    """A row for each part and figure, and a column for each option."""
    cells: CellsOfOptions = {}
    for part in options[0].parts:
        cells[HEADS.get(part, part)] = _cell_of_part(part)
    cells["real-time factor"] = rtf_cell
    cells[PER_EVENT] = energy_cell
    cells["power (W)"] = lambda option: interval(option.power_w, 3)
    cells["memory of a node (GB)"] = _memory_cell
    columns = [Column("what", "s per simulated s, with 95 % interval")]
    by_column = {}
    for place, option in enumerate(options):
        ranks = counted(option.ranks, "rank")
        threads = counted(option.threads, "thread")
        nodes = f"{counted(option.nodes, 'node')}, " if len(options) > 1 else ""
        columns.append(Column(str(place), f"{nodes}{ranks} x {threads}"))
        by_column[str(place)] = option
    return Table(columns, rows(cells, by_column), notes=hidden_note(options))


def _cell_of_part(part: str) -> Callable[[Option], str]:
    """The cell of a part of the real-time factor."""
    return lambda option: part_cell(option, part)


def _memory_cell(option: Option) -> str:
    return "unknown" if option.node_gb is None else number(option.node_gb)
