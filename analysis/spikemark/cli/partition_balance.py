"""`spikemark partition --balance`: weights of ranks by what a machine is predicted to take."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

import typer

from spikemark.core.errors import BadInput

from .options import WHOLE

if TYPE_CHECKING:
    from spikemark.network.placement_file import Placement
    from spikemark.quantities.table import Table

TIME, ENERGY = RULES = "time", "energy"

Balance = Annotated[
    str | None,
    typer.Option(
        metavar="time|energy",
        help="Weights so that all ranks compute equally long on --machine; energy: also the nodes that need"
        " least energy within a time limit.",
    ),
]
Machine = Annotated[
    str | None, typer.Option(help="With --balance: the machine, a file in machines/ or a path.")
]
On = Annotated[
    str | None,
    typer.Option(metavar="PART=RANKS,…", help="Ranks by part of the machine [each part filled in turn]."),
]
TargetRtf = Annotated[
    float | None,
    typer.Option(min=0, metavar="RTF", help="With --balance energy: the largest allowed real-time factor."),
]
Within = Annotated[
    float | None,
    typer.Option(metavar="TIMES", help="With --balance energy: so many times as long as the fastest mix."),
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


def ranks_by_part(text: str | None) -> dict[str, int] | None:
    """Ranks by part of a text such as x86=4,arm=8. Raises BadInput for anything else."""
    if text is None:
        return None
    found: dict[str, int] = {}
    for word in text.split(","):
        name, _, number = word.partition("=")
        if not WHOLE.fullmatch(number) or not name or name in found:
            raise BadInput(f"--on={text}: {word!r}; allowed: ranks by part, each once, such as x86=4,arm=8")
        found[name] = int(number)
    return found


def answer(graph, ranks: int | None, method, seed: int, asked: Asked) -> Answer:
    """The balanced placement. Raises BadInput, before anything is written, for what cannot be asked."""
    from spikemark.machines import filled, loader
    from spikemark.machines.parts import Machine
    from spikemark.prediction import rates
    from spikemark.prediction.partition import balance, balance_show, least_energy

    machine, on = filled(loader.load_any(asked.machine)), ranks_by_part(asked.on)
    whole = isinstance(machine, Machine)
    if on is not None and not whole:
        raise BadInput(f"--on={asked.on}: {machine.name} has no parts; allowed: a machine of parts")
    balance.check(graph, method)
    profiles = [part.profile for part in machine.parts.values()] if whole else [machine]
    cores = min(round(p.need("node.cores", "placing ranks").value) for p in profiles)
    threads = asked.threads or max(1, cores // (asked.ranks_per_node or 1))
    hz = rates.of(graph.described, asked.rate).hz
    task = balance.Task(graph, method, machine, hz, threads, asked.ranks_per_node, seed)
    if on is not None and ranks is not None and asked.rule == ENERGY:
        task.shares(ranks, on)
    if asked.rule == ENERGY:
        limit = least_energy.Limit(asked.target_rtf, asked.within)
        search = least_energy.search(task, ranks, on, limit)
        made, tables = search.chosen.balanced, [balance_show.mixes(search)]
        more = {"energy": balance_show.search_content(search)}
    else:
        ranks = sum(on.values()) if ranks is None and on else ranks
        if ranks is None:
            raise BadInput("--ranks: missing; allowed: the number of ranks, or --on")
        made, tables, more = balance.balanced(task, ranks, on), [], {}
    content = {"balance": balance_show.content(task, made) | more}
    tables.append(balance_show.table(task, made))
    return Answer(made.best.placement, tables, balance_show.lines(task, made), content)
