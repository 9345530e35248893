"""`spikemark partition --balance`: weights of ranks by what a machine is predicted to take."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from spikemark.core.errors import BadInput

from .options import any_machine, ranks_by_part

if TYPE_CHECKING:
    from spikemark.network.placement_file import Placement
    from spikemark.quantities.table import Table

TIME, ENERGY = RULES = "time", "energy"

Balance = Annotated[
    str | None,
    typer.Option(
        metavar="time|energy",
        help="Choose weights so that all ranks compute equally long on --machine; energy: also choose the"
        " nodes that need the least energy within a time limit.",
    ),
]
Machine = Annotated[
    str | None, typer.Option(help="With --balance: the machine, a file in machines/ or a path.")
]
TargetRtf = Annotated[
    float | None,
    typer.Option(min=0, metavar="RTF", help="With --balance energy: the largest allowed real-time factor."),
]
Within = Annotated[
    float | None,
    typer.Option(
        metavar="TIMES", help="With --balance energy: largest time, as a multiple of the fastest mix."
    ),
]


@dataclass(frozen=True)
class Asked:
    """The options of `partition` that go with --balance, as given."""

    rule: str | None
    machine: str | None
    on: str | None
    threads: int | None
    ranks_per_node: int | None
    rate: float | None
    target_rtf: float | None
    within: float | None

    def check(self, others: dict[str, object]) -> None:
        """Raises BadInput for options that do not go together; `others` do not go with --balance."""
        own = {"machine": self.machine, "on": self.on, "threads": self.threads, "rate": self.rate}
        own |= {"ranks-per-node": self.ranks_per_node}
        energy = {"target-rtf": self.target_rtf, "within": self.within}
        if self.rule is None:
            _refuse(own | energy, "allowed with --balance")
            return
        if self.rule not in RULES:
            raise BadInput(f"--balance={self.rule}; allowed: {' or '.join(RULES)}")
        if self.machine is None:
            raise BadInput("--machine: missing; needed for --balance: a name in machines/, or a .yaml file")
        _refuse(others, "allowed without --balance")
        if self.rule == TIME:
            _refuse(energy, f"allowed with --balance {ENERGY}")


def _refuse(given: dict[str, object], why: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise BadInput(f"--{name}={value}: {why}")


@dataclass(frozen=True)
class Answer:
    """A placement, and what is said about it."""

    placement: "Placement"
    tables: list["Table"]
    lines: list[str]
    content: dict = field(repr=False)


def answer(graph, ranks: int | None, method, seed: int, asked: Asked) -> Answer:
    """The balanced placement. Raises BadInput, before anything is written, for what cannot be asked."""
    from spikemark.prediction import layout, rates
    from spikemark.prediction.partition import balance, balance_show, least_energy

    machine, on = any_machine(asked.machine), ranks_by_part(asked.on)
    balance.check(graph, method)
    threads = asked.threads or layout.threads_of(machine, asked.ranks_per_node, on)
    found = rates.of(graph.described, asked.rate)
    task = balance.Task(graph, method, machine, found, threads, asked.ranks_per_node, seed)
    if on is not None:
        task.layout(ranks or sum(on.values()), on)
    if asked.rule == ENERGY:
        limit = least_energy.Limit(asked.target_rtf, asked.within)
        search = least_energy.search(task, ranks, on, limit)
        made, tables = search.chosen.balanced, [balance_show.mixes(search)]
        more = {"energy": balance_show.search_content(search)}
        said = balance_show.search_lines(search)
    else:
        ranks = sum(on.values()) if ranks is None and on else ranks
        if ranks is None:
            raise BadInput("--ranks: missing; allowed: the number of ranks, or --on")
        made, tables, more = balance.balanced(task, ranks, on), [], {}
        said = balance_show.assumed(task, made)
    content = {"balance": balance_show.content(task, made) | more}
    tables.append(balance_show.table(task, made))
    return Answer(made.best.placement, tables, balance_show.lines(task, made) + said, content)
