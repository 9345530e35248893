"""What `spikemark compare` answers: which of several machines to take for one network.

The first screen has a verdict, the times, and what a simulated second costs over the life of each
machine (costs.py); `details` has the parts of these figures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, integer, listed, with_ends

from . import draws
from .answers import (
    PER_EVENT,
    about,
    content,
    contradiction,
    nodes_of,
    options_table,
    quantity,
    remark_lines,
    remarks_on,
)
from .costs import SECONDS_PER_HOUR, MachineLife, Use, least_of_others, share_of_least
from .draws import Draws
from .narrowing import HEADS, RatioTerm
from .option import SURE, Option, SearchResult, stated
from .over_nodes import over_nodes
from .question import Question
from .wording import chance, goal, interval, short

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

NOT_REACHED = 0.025  #: share of the draws below which a target counts as not reached
TOLD_APART = 0.975  #: share of the draws in which a machine is faster, from which on it surely is
LIKELY = 0.8  #: share of the draws from which on a machine is recommended

#: What the cell of a row is, given the name of a machine.
CellOfMachine = Callable[[str], str]


@dataclass(frozen=True, repr=False)
class ComparisonAnswer(Answer):
    """Machines side by side for one network.

    `table` has a row for the best option of each machine, see `options_table`.
    """

    verb = "compare"

    results: dict[str, SearchResult]  #: by the name of the machine
    network: Question
    target_rtf: float
    use: Use
    #: How a command names each machine, such as a path, by its name.
    words: dict[str, str]

    @property
    def options_by_machine(self) -> dict[str, Sequence[Option]]:
        """All options of the search: those of a page about the answer."""
        return {name: result.options for name, result in self.results.items()}

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Real-time factors over nodes with 95 % bands, a line for each machine."""
        return over_nodes(self.options_by_machine, axes)

    @cached_property
    def best(self) -> dict[str, Option]:
        """The best option of each machine."""
        return {name: result.best for name, result in self.results.items()}

    @cached_property
    def lives(self) -> dict[str, MachineLife]:
        """What each machine simulates over its life, and what that costs."""
        return {name: MachineLife(option, self.use) for name, option in self.best.items()}

    @cached_property
    def fastest(self) -> dict[str, float]:
        """In which share of the draws each machine is the fastest."""
        shares = share_of_least([option.rtf for option in self.best.values()])
        return dict(zip(self.best, shares, strict=True))

    @cached_property
    def costs_eur(self) -> dict[str, Draws]:
        """Cost of a simulated second on each machine; {} unless it is known of all of them."""
        costs = {}
        for name, life in self.lives.items():
            if life.cost_eur is None:
                return {}
            costs[name] = life.cost_eur
        return costs

    @cached_property
    def cheapest(self) -> dict[str, float]:
        """In which share of the draws a simulated second is cheapest on each machine."""
        if not self.costs_eur:
            return {}
        shares = share_of_least(list(self.costs_eur.values()))
        return dict(zip(self.costs_eur, shares, strict=True))

    @cached_property
    def even_prices(self) -> dict[str, Draws]:
        """Price of a node at which each machine is as cheap as the cheapest other; in EUR."""
        if len(self.costs_eur) < 2:
            return {}
        costs = list(self.costs_eur.values())
        prices = {}
        for index, (name, life) in enumerate(self.lives.items()):
            prices[name] = life.even_price(least_of_others(costs, index))
        return prices

    @property
    def table(self) -> "pd.DataFrame":
        """The best option of each machine."""
        frame = options_table(list(self.best.values()))
        frame["machine"] = list(self.results)
        return frame

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark compare` prints; with `details`, the parts of its figures, too."""
        return self._details if details else self._screen

    @cached_property
    def _screen(self) -> Screen:
        sentences = [*_decision(self), _verdict(self.best, self.target_rtf)]
        sentences.append(_times_sentence(self.best))
        notes = remark_lines(self.best.values())
        for result in self.results.values():
            notes += contradiction(result.options)
        notes += _compared_lines(self.best, self.words)
        return Screen(sentences, [_compared_table(self)], notes, self.network.remarks)

    @property
    def _details(self) -> Screen:
        screen = self._screen
        tables = [*screen.tables, _parts_table(self.best), _costs_table(self)]
        return Screen(screen.lines, tables, screen.notes, screen.warnings)

    def content(self) -> dict[str, Any]:
        """The sentence, the best option of each machine with all figures, and their ratios."""
        machines = [_machine_content(self, name) for name in self.results]
        first = next(iter(self.best.values()))
        return {
            "sentence": self.sentence,
            "target": self.target_rtf,
            "machines": machines,
            "network": self.network.title,
            "program": first.program,
            "years": self.use.years,
            "hours_per_year": self.use.hours_per_year,
            "price_kwh": self.use.price_kwh,
            "remarks": [*self.network.remarks, *remarks_on(self.best.values())],
        }


def _decision(answer: ComparisonAnswer) -> list[str]:
    """Which machine to take, and what price would change that; nothing about a single machine."""
    if len(answer.best) < 2:
        return []
    fastest = most_often(answer.fastest)
    share_fast = answer.fastest[fastest]
    is_fastest = f"{_comparative(answer, 'fast')} in {chance(share_fast)} of the draws"
    if not answer.cheapest:
        start = f"Take {fastest}"
        if share_fast < LIKELY:
            start = "Not decided"
        return [f"{start}: {fastest} is {is_fastest}. {_why_no_costs(answer)}"]
    cheapest = most_often(answer.cheapest)
    share_cheap = answer.cheapest[cheapest]
    is_cheapest = f"{_comparative(answer, 'cheap')} per simulated hour in {chance(share_cheap)}"
    reasons = f"{fastest} is {is_fastest}, {cheapest} {is_cheapest}"
    if fastest == cheapest:
        reasons = f"{fastest} is {is_fastest}, {is_cheapest}"
    likely = []
    if share_fast >= LIKELY:
        likely.append(fastest)
    if share_cheap >= LIKELY:
        likely.append(cheapest)
    start = "Not decided"
    if likely:
        start = f"Take {likely[0]}"
    if len(set(likely)) > 1:
        start = "Speed or cost"
    return [f"{start}: {reasons}. {_tipping_sentence(answer, cheapest)}"]


def most_often(shares: dict[str, float]) -> str:
    """The name with the largest share of the draws.

    Example:
        >>> most_often({"a": 0.3, "b": 0.7})
        'b'
    """
    return max(shares, key=lambda name: shares[name])


def _comparative(answer: ComparisonAnswer, adjective: str) -> str:
    """An adjective as it compares two machines, or more."""
    ending = "er" if len(answer.best) == 2 else "est"
    return f"{adjective}{ending}"


def _why_no_costs(answer: ComparisonAnswer) -> str:
    """Which machines lack a price, or else a power."""
    lives = answer.lives
    lacking = [name for name, life in lives.items() if life.price_of_node is None]
    what = "price (offer.price)"
    if not lacking:
        lacking = [name for name, life in lives.items() if life.energy_j is None]
        what = "power (offer.watts)"
    return f"Costs are not compared: no {what} of {listed(lacking)}."


def _tipping_sentence(answer: ComparisonAnswer, cheapest: str) -> str:
    """The difference of the price of a node at which the runner-up in cost would be even."""
    others = [name for name in answer.cheapest if name != cheapest]
    other = min(others, key=lambda name: float(np.median(answer.costs_eur[name])))
    price_eur = answer.lives[other].price_of_node
    assert price_eur is not None
    middle, low, high = draws.interval(price_eur - answer.even_prices[other])
    if middle > price_eur:
        return f"{other} would not be even if its nodes cost nothing."
    lower_end = less_or_more(high)
    if high > price_eur:
        lower_end = "more than its whole price less"
    difference = with_ends(less_or_more(middle), less_or_more(low), lower_end)
    return f"The costs would be equal if a node of {other} cost {difference}."


def less_or_more(difference_eur: float) -> str:
    """How much less, or more, a node would have to cost.

    Example:
        >>> less_or_more(1500.0), less_or_more(-20.0)
        ('1\\u202f500 EUR less', '20 EUR more')
    """
    direction = "less" if difference_eur >= 0 else "more"
    return f"{short(abs(difference_eur))} EUR {direction}"


def _compared_lines(best: dict[str, Option], words: dict[str, str]) -> list[str]:
    """Lines about the ratio of the second machine to the first, or about the only one."""
    inputs: dict[str, Draws] = {}
    for option in best.values():
        inputs |= option.inputs
    names = list(best)
    first = best[names[0]]
    first_word = words.get(names[0], "")
    if len(names) == 1:
        return about([RatioTerm(first, named=first_word)], first.rtf, inputs)
    second = best[names[1]]
    sides = [
        RatioTerm(second, named=words.get(names[1], "")),
        RatioTerm(first, power=-1, named=first_word),
    ]
    return about(sides, second.rtf / first.rtf, inputs)


def _rows(
    answer: ComparisonAnswer, cells: dict[tuple[str, str], CellOfMachine]
) -> list[dict[str, Cell]]:
    """A row for each of `cells`, by its head and the kind of its numbers."""
    rows = []
    for (head, kind), cell in cells.items():
        row: dict[str, Cell] = {"what": head, "kind": kind}
        for name in answer.best:
            row[name] = cell(name)
        rows.append(row)
    return rows


def _compared_table(answer: ComparisonAnswer) -> Table:
    """A row for each figure that decides, and a column for each machine."""
    best = answer.best
    lives = answer.lives
    cells: dict[tuple[str, str], CellOfMachine] = {
        ("real-time factor", "modelled"): lambda name: interval(best[name].rtf),
    }
    if len(best) > 1:
        first = next(iter(best))
        cells[f"over {first}", "modelled"] = lambda name: _ratio_cell(answer, name)
        cells["fastest, of the draws", "modelled"] = lambda name: chance(answer.fastest[name])
    target = answer.target_rtf
    if any(option.reaches(target) >= NOT_REACHED for option in best.values()):
        head = f"{goal(target)}, of the draws"
        cells[head, "modelled"] = lambda name: chance(best[name].reaches(target))
    cells["simulations at a time", "counted"] = lambda name: _simulations_cell(lives[name])
    cells["energy of a simulated s (kJ)", "modelled"] = lambda name: _energy_cell(lives[name])
    cells["power (kW)", _kind(answer, "offer.watts")] = lambda name: interval(_kilowatt(best[name]))
    if any(life.price_of_node is not None for life in lives.values()):
        price_kind = _kind(answer, "offer.price")
        cells["price of all nodes (EUR)", price_kind] = lambda name: _price_cell(lives[name])
    if answer.costs_eur:
        head = "price of a simulated h (EUR)"
        if answer.use.price_kwh is not None:
            head = "price and energy of a simulated h (EUR)"
        cells[head, "modelled"] = lambda name: interval(SECONDS_PER_HOUR * answer.costs_eur[name])
    if answer.even_prices:
        cells["cheapest, of the draws", "modelled"] = lambda name: chance(answer.cheapest[name])
        head = "even at a price of a node of (EUR)"
        cells[head, "modelled"] = lambda name: _even_price_cell(answer.even_prices[name])
    columns = [Column("what", "")]
    for name, option in best.items():
        columns.append(Column(name, f"{name} ({counted(option.nodes, 'node')})"))
    columns.append(Column("kind", "kind"))
    return Table(columns, _rows(answer, cells))


def _kind(answer: ComparisonAnswer, path: str) -> str:
    """What numbers are that machines state at a path; modelled where one does not state it."""
    kinds = []
    for option in answer.best.values():
        value = option.machine.values.get(path)
        kinds.append("modelled" if value is None else value.kind)
    return ", ".join(dict.fromkeys(kinds))


def _ratio_cell(answer: ComparisonAnswer, name: str) -> str:
    """The real-time factor of a machine over that of the first, and whether that is sure."""
    first_name, *_ = answer.best
    if name == first_name:
        return ""
    ratio = answer.best[name].rtf / answer.best[first_name].rtf
    faster = float((ratio < 1).mean())
    text = interval(ratio)
    if max(faster, 1 - faster) < TOLD_APART:
        text += ": not sure"
    return text


def _simulations_cell(life: MachineLife) -> str:
    """How many simulations at a time, on how many nodes."""
    return f"{life.simulations} on {counted(life.nodes, 'node')}"


def _kilowatt(option: Option) -> Draws | None:
    """Power of the nodes of a simulation in kW; None where it is unknown."""
    if option.power_w is None:
        return None
    return np.asarray(1e-3 * option.power_w)


def _energy_cell(life: MachineLife) -> str:
    """Energy of a simulated second in kJ."""
    if life.energy_j is None:
        return interval(None)
    return interval(1e-3 * np.asarray(life.energy_j))


def _price_cell(life: MachineLife) -> str:
    if life.price_of_node is None:
        return "unknown"
    return integer(life.nodes * life.price_of_node)


def _even_price_cell(price_eur: Draws) -> str:
    """A price that may be negative, where a machine would cost more even as a gift."""
    middle, low, high = draws.interval(price_eur)
    return with_ends(short(middle), short(low), short(high))


def _parts_table(best: dict[str, Option]) -> Table:
    """A row for each part of the real-time factor, and a column for each machine."""
    rows: list[dict[str, Cell]] = []
    for part in next(iter(best.values())).parts:
        row: dict[str, Cell] = {"what": HEADS.get(part, part)}
        for name, option in best.items():
            row[name] = interval(option.parts.get(part))
        rows.append(row)
    columns = [Column("what", "s per simulated s")]
    columns += [Column(name, name, "modelled") for name in best]
    return Table(columns, rows, "Where the time goes", "parts")


def _costs_table(answer: ComparisonAnswer) -> Table:
    """The parts of what a machine costs over its life."""
    lives = answer.lives
    cells: dict[tuple[str, str], CellOfMachine] = {
        (f"nodes for {chance(SURE)} of the draws", "modelled"): lambda name: _sure_cell(
            answer.results[name]
        ),
        (PER_EVENT, "modelled"): lambda name: interval(answer.best[name].energy_uj),
        ("simulated days", "modelled"): lambda name: interval(lives[name].simulated_s / 86400),
    }
    if answer.use.price_kwh is not None:
        cells["energy, all simulations (EUR)", "modelled"] = lambda name: interval(
            _energy_of_life(lives[name]), 3
        )
        cells["price and energy (EUR)", "modelled"] = lambda name: interval(
            _total_of_life(lives[name]), 3
        )
    columns = [Column("what", "")]
    columns += [Column(name, name) for name in answer.best]
    columns.append(Column("kind", "kind"))
    title = f"Over {answer.use.years:g} years of {answer.use.hours_per_year:g} h"
    notes = ["Nodes that no simulation uses are paid, but use no energy."]
    return Table(columns, _rows(answer, cells), title, "costs", notes)


def _sure_cell(result: SearchResult) -> str:
    nodes = nodes_of(result.sure)
    return str(nodes or "none")


def _energy_of_life(life: MachineLife) -> Draws | None:
    """Price of the energy of all simulations over the life of a machine."""
    if life.energy_eur is None:
        return None
    return life.energy_eur * life.simulated_s


def _total_of_life(life: MachineLife) -> Draws | None:
    """Price of all nodes and of their energy over the life of a machine."""
    if life.cost_eur is None:
        return None
    return life.cost_eur * life.simulated_s


def _verdict(best: dict[str, Option], target: float) -> str:
    """The sentence that says which machines reach the target.

    A machine counts as reaching it if it does so in at least half of the draws.
    """
    shares = {name: option.reaches(target) for name, option in best.items()}
    reaching = [name for name, share in shares.items() if share >= 0.5]
    certainty = " in at least half of the draws"
    if max(shares.values()) < NOT_REACHED:
        certainty = ", as far as is known"
    if not reaching:
        subject = _nobody_reaches(list(best))
    elif len(reaching) == len(best) > 1:
        subject = "Both machines reach" if len(best) == 2 else "All machines reach"
    else:
        verb = "reaches" if len(reaching) == 1 else "reach"
        only = "Only " if len(best) > 1 else ""
        subject = f"{only}{listed(reaching)} {verb}"
    return f"{subject} {goal(target)}{certainty}."


def _nobody_reaches(machines: list[str]) -> str:
    """Subject and verb of the sentence where no machine reaches a target."""
    if len(machines) == 1:
        return f"{machines[0]} does not reach"
    return "Neither machine reaches" if len(machines) == 2 else "No machine reaches"


def _times_sentence(best: dict[str, Option]) -> str:
    """The real-time factors of all machines."""
    times: list[str] = []
    for name, option in best.items():
        unit = "" if times else " times real time"  # once is enough
        nodes = counted(option.nodes, "node")
        times.append(f"{interval(option.rtf)}{unit} on {nodes} of {name}")
    first = next(iter(best.values()))
    return f"For {first.question.title}, {first.title} would take {listed(times)}."


def _price(option: Option) -> float | None:
    """Price of the nodes of one simulation in EUR, as offered; None where it is not."""
    per_node = stated(option.machine, "offer.price")
    if per_node is None:
        return None
    return option.nodes * per_node


def _machine_content(answer: ComparisonAnswer, name: str) -> dict[str, Any]:
    """A machine of a comparison for JSON, beside the best option of the first machine."""
    result = answer.results[name]
    life = answer.lives[name]
    best = result.best
    first = next(iter(answer.best.values()))
    share = best.reaches(answer.target_rtf)
    by_nodes = [
        {"nodes": option.nodes, "real_time_factor": quantity(option.rtf, "1")}
        for option in result.options
    ]
    return {
        "name": name,
        "likely": best.nodes if share >= 0.5 else None,
        "sure": nodes_of(result.sure),
        "reached": share,
        "ratio": quantity(best.rtf / first.rtf, "1"),
        "faster": float((best.rtf < first.rtf).mean()),
        "fastest": answer.fastest[name],
        "simulations": life.simulations,
        "energy_per_simulated_s": quantity(life.energy_j, "J"),
        "cost_per_simulated_s": quantity(answer.costs_eur.get(name), "EUR"),
        "cheapest": answer.cheapest.get(name),
        "even_price_of_node": quantity(answer.even_prices.get(name), "EUR"),
        "price_eur": _price(best),
        "best": content(best),
        "by_nodes": by_nodes,
    }
