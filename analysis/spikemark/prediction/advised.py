"""What `spikemark advise` answers: the best way to run a network, beside the best of every other
schedule.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spikemark.core.commands import command
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.table import Cells, Column, Table
from spikemark.quantities.words import counted, percent

from . import draws
from .answers import (
    about,
    as_lines,
    content,
    contradiction,
    energy_cell,
    options_table,
    quantity,
    remarks_on,
    rtf_cell,
    surest_content,
)
from .narrowing import RatioTerm
from .option import BOUND, REPLAY, SURE, Option, SearchResult
from .over_nodes import over_nodes
from .question import Question
from .wording import goal, interval, probability, span

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@dataclass(frozen=True, repr=False)
class AdviceAnswer(Answer):
    """How to run a network on a machine.

    `table` has a row for the best way of each schedule, see `options_table`: the best first, but
    that of a bound after those that are predicted.
    """

    verb = "advise"

    result: SearchResult
    network: Question  #: as it was asked about
    target_rtf: float | None
    #: All options of the search, by machine: those of a page about the answer.
    options_by_machine: dict[str, Sequence[Option]]
    named: str = ""  #: how a command names the machine; by its name by default

    @property
    def table(self) -> "pd.DataFrame":
        """The best way of each schedule."""
        return options_table(self.result.options)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Real-time factors over nodes with 95 % bands, a line for each machine."""
        return over_nodes(self.options_by_machine, axes)

    @cached_property
    def _screen(self) -> Screen:
        best = self.result.options[0]
        notes = as_lines(remarks_on([best]))
        notes += contradiction(self.result.options)
        notes += about([RatioTerm(best, named=self.named)], best.rtf, best.inputs)
        notes += _advised_lines(self.result)
        return Screen(
            _advised_sentences(self.result, self.target_rtf),
            [_advised_table(self.result.options)],
            notes,
            warnings=self.network.remarks,
        )

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark advise` prints."""
        return self._screen

    def content(self) -> dict[str, Any]:
        """The sentence, and the options with all figures."""
        remarks = [*self.network.remarks, *remarks_on(self.result.options[:1])]
        return {"sentence": self.sentence} | _advised_content(self) | {"remarks": remarks}


def _advised_sentences(result: SearchResult, target: float | None) -> list[str]:
    """What is best, what another schedule would save, and how surely a target is reached."""
    best = result.options[0]
    sentences = [best.advice]
    sentences += [_saving(other, best) for other in result.options[1:2] if other.way.origin]
    if target is not None:
        sentences.append(_target_sentence(result, target))
    return sentences


def _target_sentence(result: SearchResult, target: float) -> str:
    """How probably the best way reaches a target, and on how many nodes that would be surer."""
    best, surest = result.options[0], result.surest
    reaches = f"It reaches {goal(target)} with probability {probability(best.reaches(target))}"
    if surest.nodes != best.nodes:
        share = probability(surest.reaches(target))
        return f"{reaches}; {counted(surest.nodes, 'node')} would with {share}."
    if best.reaches(target) < SURE and not result.is_given:
        return f"{reaches}; no number of nodes is surer."
    return f"{reaches}."


def _saving(option: Option, best: Option) -> str:
    """What another schedule would save of a production run, by replay or at most."""
    middle, low, high = draws.interval(1 - option.rtf / best.rtf)
    schedule = option.way.schedule.replace("_", "-")
    saved = f"{percent(low)} to {percent(high)}"
    if option.way.origin == REPLAY:
        saved = f"{saved} by replay of its cycle times"
    else:
        saved = f"at most {percent(middle)} ({saved}), as if its cycles were independent"
    return f"The {schedule} schedule with D = {option.way.delay_ratio} would save {saved}."


def _advised_lines(result: SearchResult) -> list[str]:
    """The command that runs the best way, or the one that would tell more than a bound."""
    best = result.options[0]
    if best.run_command is not None:
        return [f"Run: {best.run_command}"]
    if any(_is_bound(option) for option in result.options):
        imports = command("import", "--help")
        return [f"Cycle times tell what a schedule would save: `{imports}`, then --times DIR"]
    return []


def _is_bound(option: Option) -> bool:
    """Whether the times of a schedule are a bound, not a replay or a model."""
    return option.way.origin == BOUND


def _advised_table(options: Sequence[Option]) -> Table:
    """A row for each schedule, the best first."""
    best = options[0]
    cells: dict[tuple[str, str], Callable[[Option], str]] = {
        ("schedule", "schedule"): _schedule_cell,
        ("placement", "placement"): lambda option: str(option.way.placement or ""),
        ("delay_ratio", "D"): lambda option: str(option.way.delay_ratio or ""),
        ("nodes", "nodes"): lambda option: str(option.nodes),
        ("layout", "ranks x threads"): lambda option: f"{option.ranks} x {option.threads}",
        ("real_time_factor", "real-time factor"): rtf_cell,
        ("ratio", "its ratio to the first"): lambda option: _ratio_cell(option, best),
        ("energy", "µJ per event"): energy_cell,
    }
    if best.way.placement is None:
        del cells["placement", "placement"]
    columns: Cells = {Column(name, head): cell for (name, head), cell in cells.items()}
    notes = [
        "D: cycles from one exchange of all ranks to the next; overlapped ones, with a lag, are"
        " D / (lag + 1) cycles apart. Brackets: 95 % intervals."
    ]
    table: Table = Table.from_items(columns, options, notes=notes)
    return table


def _ratio_cell(option: Option, best: Option) -> str:
    """The time of an option over that of the best, if the two can be told apart."""
    if option is best:
        return ""
    ratio = option.rtf / best.rtf
    _, low, high = draws.interval(ratio)
    if low < 1 < high:
        return f"no clear difference ({span(ratio)})"
    return interval(ratio)


def _schedule_cell(option: Option) -> str:
    """The schedule, and whether its times are a bound."""
    schedule = option.way.schedule
    return f"{schedule} (bound)" if _is_bound(option) else schedule


def _advised_content(answer: AdviceAnswer) -> dict[str, Any]:
    """An advice for JSON; `ratios` are to the first option."""
    result, target = answer.result, answer.target_rtf
    first = result.options[0]
    return {
        "network": first.question.title,
        "machine": first.machine.name,
        "largest_delay_ratio": first.further_content().get("largest_delay_ratio"),
        "reached": None if target is None else first.reaches(target),
        "surest": surest_content(result, target),
        "options": [content(option) for option in result.options],
        "ratios": [quantity(option.rtf / first.rtf, "1") for option in result.options],
        "command": first.run_command,
    }
