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
    as_lines,
    content,
    contradiction,
    hidden_note,
    options_table,
    part_cell,
    quantity,
    remarks_on,
    surest_content,
)
from .costs import PRICE, SECONDS_PER_HOUR, WATTS, MachineLife, Use, least, share_of_least
from .draws import Draws
from .narrowing import HEADS, RatioTerm
from .option import (
    MEMORY_BANDWIDTHS,
    NOT_REACHED,
    PROBABLE,
    SURE,
    Option,
    SearchResult,
    is_assumed,
    stated,
)
from .over_nodes import over_nodes
from .question import Question
from .wording import goal, interval, probability, short, span, supported

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

TOLD_APART = 0.975  #: share of the draws in which a machine is faster, from which on it surely is
LIKELY = 0.8  #: share of the draws from which on a machine is recommended
INTERVALS = "Brackets: 95 % intervals. No clear difference: the interval holds faster and slower."

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
        """Cost of a simulated second on each machine of which it is known."""
        costs = {}
        for name, life in self.lives.items():
            if life.cost_eur is not None:
                costs[name] = life.cost_eur
        return costs

    @cached_property
    def cheapest(self) -> dict[str, float]:
        """In which share of the draws a simulated second is cheapest on each machine; {} unless
        the costs of all are known.
        """
        if len(self.costs_eur) < len(self.best):
            return {}
        shares = share_of_least(list(self.costs_eur.values()))
        return dict(zip(self.costs_eur, shares, strict=True))

    @cached_property
    def even_prices(self) -> dict[str, Draws]:
        """Price of a node, in EUR, at which each machine is as cheap as the cheapest other one
        whose cost is known; also of a machine whose own price is not.
        """
        prices = {}
        for name, life in self.lives.items():
            others = [cost for other, cost in self.costs_eur.items() if other != name]
            price = life.even_price(least(others)) if others else None
            if price is not None:
                prices[name] = price
        return prices

    @cached_property
    def missing(self) -> dict[str, list[str]]:
        """Fields without which a cost is unknown, by machine; machines that lack none are left
        out.
        """
        return {name: life.missing for name, life in self.lives.items() if life.missing}

    @cached_property
    def remarks(self) -> list[str]:
        """What a reader should know of the machines and of their use."""
        of_machines = remarks_on(self.best.values())
        return [*of_machines, *_remark_on_memory(self.best), *self.use.remarks(self.verb)]

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
        sentences = [*_decision(self), _verdict(self.results, self.target_rtf)]
        sentences.append(_times_sentence(self.best))
        notes = as_lines(self.remarks)
        for result in self.results.values():
            notes += contradiction(result.options)
        notes += _measured_lines(self.best)
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
            "remarks": [*self.network.remarks, *self.remarks],
        }


def _decision(answer: ComparisonAnswer) -> list[str]:
    """Which machine to take, and what price would change that; nothing about a single machine."""
    if len(answer.best) < 2:
        return []
    ending = "er" if len(answer.best) == 2 else "est"
    reasons_of_machine: dict[str, list[str]] = {}
    untold = []
    surest = 0.0
    for shares, adjective, of in (
        (answer.fastest, f"fast{ending}", "speed"),
        (answer.cheapest, f"cheap{ending} per simulated hour", "cost"),
    ):
        if not shares:
            continue
        name = most_often(shares)
        if shares[name] < LIKELY:
            untold.append(of)
            continue
        surest = max(surest, shares[name])
        place = ""
        if of == "speed" and len({option.nodes for option in answer.best.values()}) > 1:
            place = f" on {counted(answer.best[name].nodes, 'node')}"
        reason = f"{adjective}{place} (probability {probability(shares[name])})"
        reasons_of_machine.setdefault(name, []).append(reason)
    reasons = []
    for name, of_name in reasons_of_machine.items():
        subject = name if len(reasons_of_machine) > 1 else "it"
        reasons.append(f"{subject} is {listed(of_name)}")
    if untold:
        reasons.append(f"no clear difference in {' or '.join(untold)}")
    sentence = f"{_start(list(reasons_of_machine), surest)}: {', '.join(reasons)}."
    return [" ".join([sentence, *_lacking_sentence(answer), *_tipping_sentence(answer)])]


def _start(likely: list[str], surest: float) -> str:
    """The first words of the answer.

    Args:
        likely: the machines that are likely the fastest or the cheapest.
        surest: the largest probability of these.

    >>> _start(["a"], 0.9), _start(["a"], 0.99), _start(["a", "b"], 0.99), _start([], 0.0)
    ('Rather a', 'Take a', 'Speed or cost', 'Not decided')
    """
    if not likely:
        return "Not decided"
    if len(likely) > 1:
        return "Speed or cost"
    return f"Take {likely[0]}" if surest >= TOLD_APART else f"Rather {likely[0]}"


def most_often(shares: dict[str, float]) -> str:
    """The name with the largest share of the draws.

    Example:
        >>> most_often({"a": 0.3, "b": 0.7})
        'b'
    """
    return max(shares, key=lambda name: shares[name])


def _lacking_sentence(answer: ComparisonAnswer) -> list[str]:
    """The fields without which costs are not compared; none where nothing is missing."""
    names_by_fields: dict[str, list[str]] = {}
    for name, fields in answer.missing.items():
        names_by_fields.setdefault(listed(fields), []).append(name)
    lacking = [f"{fields} of {listed(names)}" for fields, names in names_by_fields.items()]
    if not lacking:
        return []
    return [f"Costs cannot be compared without {listed(lacking)}."]


def _tipping_sentence(answer: ComparisonAnswer) -> list[str]:
    """The price of a node at which costs would be equal: of the machine that states none, or else
    of the runner-up in cost. None where it is not known.
    """
    unpriced = [name for name in answer.even_prices if PRICE in answer.lives[name].missing]
    if unpriced:
        return [_even_sentence(answer, name) for name in unpriced]
    if not answer.cheapest:
        return []
    cheapest = most_often(answer.cheapest)
    others = [name for name in answer.cheapest if name != cheapest]
    other = min(others, key=lambda name: float(np.median(answer.costs_eur[name])))
    return [_difference_sentence(answer, other, cheapest)]


def _even_sentence(answer: ComparisonAnswer, name: str) -> str:
    """At which price of a node a machine without a price costs as much as the others."""
    even = _even_words(answer.even_prices[name])
    if even is None:
        return f"{name} would cost more even if its nodes cost nothing."
    return f"For equal costs, a node of {name} would cost {even}."


def _difference_sentence(answer: ComparisonAnswer, other: str, cheapest: str) -> str:
    """What a node of the runner-up would have to cost for equal costs, and what that tells."""
    if _costs_the_same(answer, other):
        equal = [name for name in answer.cheapest if _costs_the_same(answer, name)]
        return f"A simulated hour costs the same on {listed(dict.fromkeys([cheapest, *equal]))}."
    price_eur = answer.lives[other].price_of_node
    assert price_eur is not None
    even = _even_words(answer.even_prices[other])
    if even is None:
        return f"{other} would cost more even if its nodes cost nothing."
    sentence = f"For equal costs, a node of {other} would cost {even}"
    price = integer(price_eur)
    _, low, high = draws.interval(answer.even_prices[other])
    if not low < price_eur < high:
        return f"{sentence} instead of {price}."
    told = "which of them is cheaper is open"
    if answer.cheapest[cheapest] >= LIKELY:
        told = f"{cheapest} is likely cheaper, but not surely"
    return f"{sentence}; its price of {price} EUR lies within that interval: {told}."


def _even_words(even_eur: Draws) -> str | None:
    """A price of a node for equal costs, with its interval; None: not even at 0.

    >>> _even_words(np.linspace(-5770.0, 13230.0, 101)), _even_words(np.full(3, 9000.0))
    ('4\u202f000 EUR (at most 13\u202f000)', '9\u202f000 EUR')
    >>> _even_words(np.linspace(-9000.0, 3000.0, 101)), _even_words(np.full(3, -1.0))
    ('nothing (at most 3\u202f000 EUR)', None)
    """
    middle, low, high = draws.interval(even_eur)
    if high <= 0:
        return None
    middle_eur, least_eur, most_eur = supported(low, high, middle, low, high)
    if least_eur == most_eur:
        return f"{middle_eur} EUR"
    if low > 0:
        return f"{middle_eur} EUR ({least_eur} to {most_eur})"
    if middle <= 0 or middle_eur == "0":
        return f"nothing (at most {most_eur} EUR)"
    return f"{middle_eur} EUR (at most {most_eur})"


def _costs_the_same(answer: ComparisonAnswer, name: str) -> bool:
    """Whether the price of a machine surely is that for equal costs, as far as it is shown."""
    price_eur = answer.lives[name].price_of_node
    _, low, high = draws.interval(answer.even_prices[name])
    return price_eur is not None and set(supported(low, high, low, high)) == {integer(price_eur)}


def _remark_on_memory(best: dict[str, Option]) -> list[str]:
    """That the costs of the program have no term of the memory, where the machines differ in it."""
    if all(option.counts_bandwidth for option in best.values()):
        return []
    differing = []
    for path in MEMORY_BANDWIDTHS:
        values = set()
        for option in best.values():
            if not is_assumed(option.machine, path):
                values.add(stated(option.machine, path))
        if len(values - {None}) > 1:
            differing.append(path)
    if not differing:
        return []
    title = next(iter(best.values())).title
    return [
        f"the model of {title} has no term for memory bandwidth: {listed(best)} differ in"
        f" {listed(differing)}, but no predicted time depends on it"
    ]


def _measured_lines(best: dict[str, Option]) -> list[str]:
    """A line for each machine whose runs took more or less than its data say, where it is compared
    with one on which nobody has run the program.
    """
    beyond = {name: option.beyond_data for name, option in best.items()}
    unmeasured = [name for name, factors in beyond.items() if not factors]
    lines = []
    for name, factors in beyond.items():
        if factors and unmeasured:
            times = [f"{short(factor)} times ({part})" for part, factor in factors.items()]
            lines.append(
                f"Measured: runs on {name} took {listed(times)} as long as its data suggest; of"
                f" {listed(unmeasured)}, only the data are known."
            )
    return lines


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
    cells: dict[tuple[str, str], CellOfMachine] = {}
    if any(option.way.placement is not None for option in best.values()):
        cells["schedule", "chosen"] = lambda name: _schedule_words(best[name])
    cells["real-time factor", "modelled"] = lambda name: interval(best[name].rtf)
    if len(best) > 1:
        first = next(iter(best))
        cells[f"its ratio to {first}", "modelled"] = lambda name: _ratio_cell(answer, name)
        head = "probability to be the fastest"
        cells[head, "modelled"] = lambda name: probability(answer.fastest[name])
    target = answer.target_rtf
    head = f"probability to reach {goal(target)}"
    cells[head, "modelled"] = lambda name: probability(best[name].reaches(target))
    cells["simulations at a time", "counted"] = lambda name: _simulations_cell(lives[name])
    cells["energy of a simulated s (kJ)", "modelled"] = lambda name: _energy_cell(lives[name])
    power_kind = _kind(answer, WATTS, "modelled")
    cells["power of a simulation (kW)", power_kind] = lambda name: interval(_kilowatt(best[name]))
    cells |= _cost_cells(answer)
    columns = [Column("what", "")]
    for name, option in best.items():
        columns.append(Column(name, f"{name} ({counted(option.nodes, 'node')})"))
    columns.append(Column("kind", "kind"))
    return Table(columns, _rows(answer, cells), notes=[INTERVALS])


def _cost_cells(answer: ComparisonAnswer) -> dict[tuple[str, str], CellOfMachine]:
    """The rows of prices and costs: each that is known of a machine."""
    lives = answer.lives
    has_kwh = answer.use.price_kwh is not None
    cells: dict[tuple[str, str], CellOfMachine] = {}
    if any(life.price_of_node is not None for life in lives.values()):
        kind = _kind(answer, PRICE)
        cells["price of a node (EUR)", kind] = lambda name: _price_cell(lives[name], 1)
        cells["price of all nodes (EUR)", kind] = lambda name: _price_cell(
            lives[name], lives[name].nodes
        )
    if has_kwh and answer.missing:
        cells["energy of a simulated h (EUR)", "modelled"] = lambda name: _hourly_cell(
            lives[name].energy_eur, WATTS
        )
    if answer.costs_eur:
        head = "price of a simulated h (EUR)"
        if has_kwh:
            head = "price and energy of a simulated h (EUR)"
        cells[head, "modelled"] = lambda name: _hourly_cell(
            lives[name].cost_eur, *lives[name].missing
        )
    if answer.cheapest and len(lives) > 1:
        head = "probability to be the cheapest"
        cells[head, "modelled"] = lambda name: probability(answer.cheapest[name])
    if answer.even_prices:
        head = "price of a node for equal costs (EUR)"
        cells[head, "modelled"] = lambda name: _even_price_cell(answer, name)
    return cells


def _schedule_words(option: Option) -> str:
    """The schedule, with the cycles between two exchanges and the placement."""
    way = option.way
    words = [way.schedule.replace("_", "-")]
    cycles = (way.delay_ratio or 1) // (1 + (way.lag or 0))  # the rest is left for the exchange
    if cycles > 1:
        words.append(f"exchange after {counted(cycles, 'cycle')}")
    words.append(f"placement {way.placement}")
    return ", ".join(words)


def _kind(answer: ComparisonAnswer, path: str, unstated: str = "") -> str:
    """What numbers are that machines state at a path; `unstated` where one does not state it."""
    kinds = []
    for option in answer.best.values():
        value = option.machine.values.get(path)
        kinds.append(unstated if value is None else value.kind)
    return ", ".join(dict.fromkeys(kind for kind in kinds if kind))


def _ratio_cell(answer: ComparisonAnswer, name: str) -> str:
    """The real-time factor of a machine over that of the first, if that can be told from 1."""
    first_name, *_ = answer.best
    if name == first_name:
        return ""
    ratio = answer.best[name].rtf / answer.best[first_name].rtf
    faster = float((ratio < 1).mean())
    if max(faster, float((ratio > 1).mean())) < TOLD_APART:
        return f"no clear difference ({span(ratio)})"
    return interval(ratio)


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


def _price_cell(life: MachineLife, nodes: int) -> str:
    """The price of so many nodes."""
    if life.price_of_node is None:
        return f"{PRICE} is missing"
    return integer(nodes * life.price_of_node)


def _hourly_cell(eur_per_s: Draws | None, *fields: str) -> str:
    """What a simulated hour costs, or which fields are missing."""
    if eur_per_s is None:
        return f"{listed(fields)} missing"
    return interval(SECONDS_PER_HOUR * eur_per_s)


def _even_price_cell(answer: ComparisonAnswer, name: str) -> str:
    """Price of a node for equal costs, with no more digits than its interval supports."""
    price_eur = answer.even_prices.get(name)
    if price_eur is None:
        return "unknown"
    middle, low, high = draws.interval(price_eur)
    if high <= 0:
        return "not even at 0"
    middle_eur, least_eur, most_eur = supported(low, high, middle, low, high)
    if low <= 0:
        if middle <= 0 or middle_eur == "0":
            middle_eur = "nothing"
        return f"{middle_eur} (at most {most_eur})"
    if least_eur == most_eur:
        return middle_eur
    stated_eur = answer.lives[name].price_of_node
    if stated_eur is not None and low < stated_eur < high:
        return f"not told apart from its price ({least_eur} to {most_eur})"
    return with_ends(middle_eur, least_eur, most_eur)


def _parts_table(best: dict[str, Option]) -> Table:
    """A row for each part of the real-time factor, and a column for each machine."""
    rows: list[dict[str, Cell]] = []
    for part in next(iter(best.values())).parts:
        row: dict[str, Cell] = {"what": HEADS.get(part, part)}
        for name, option in best.items():
            row[name] = part_cell(option, part)
        rows.append(row)
    columns = [Column("what", "s per simulated s")]
    columns += [Column(name, name, "modelled") for name in best]
    return Table(columns, rows, "Where the time goes", "parts", hidden_note(best.values()))


def _costs_table(answer: ComparisonAnswer) -> Table:
    """The parts of what a machine costs over its life."""
    lives = answer.lives
    sure_head = f"nodes for {goal(answer.target_rtf)} with probability {probability(SURE)}"
    cells: dict[tuple[str, str], CellOfMachine] = {
        (sure_head, "modelled"): lambda name: _surest_cell(answer.results[name], answer.target_rtf),
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


def _surest_cell(result: SearchResult, target: float) -> str:
    """The number of nodes that surely reaches a target, or with which probability one does."""
    surest = result.surest
    share = surest.reaches(target)
    if share >= SURE:
        return str(surest.nodes)
    return f"{probability(share)} on {counted(surest.nodes, 'node')}"


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


def _verdict(results: dict[str, SearchResult], target: float) -> str:
    """How probably each machine reaches the target, on how many nodes, and why on these."""
    shares = []
    out_of_reach = []
    for name, result in results.items():
        best = result.best
        share = best.reaches(target)
        shares.append(f"{probability(share)} on {counted(best.nodes, 'node')} of {name}")
        if share < NOT_REACHED and not result.is_given:
            out_of_reach.append(name)
    sentence = f"Probability to reach {goal(target)}: {listed(shares)}."
    if not out_of_reach:
        return sentence
    return (
        f"{sentence} Out of reach of {listed(out_of_reach)} on any number of nodes: the fastest"
        " number of nodes is shown."
    )


def _times_sentence(best: dict[str, Option]) -> str:
    """The real-time factors of all machines."""
    times: list[str] = []
    for name, option in best.items():
        unit = "" if times else " times real time"  # once is enough
        nodes = counted(option.nodes, "node")
        times.append(f"{interval(option.rtf)}{unit} on {nodes} of {name}")
    first = next(iter(best.values()))
    return f"For {first.question.sized}, {first.title} would take {listed(times)}."


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
        "likely": best.nodes if share >= PROBABLE else None,
        "surest": surest_content(result, answer.target_rtf),
        "beyond_data": best.beyond_data,
        "reached": share,
        "ratio": quantity(best.rtf / first.rtf, "1"),
        "faster": float((best.rtf < first.rtf).mean()),
        "fastest": answer.fastest[name],
        "simulations": life.simulations,
        "energy_per_simulated_s": quantity(life.energy_j, "J"),
        "energy_cost_per_simulated_s": quantity(life.energy_eur, "EUR"),
        "cost_per_simulated_s": quantity(answer.costs_eur.get(name), "EUR"),
        "missing": life.missing,
        "cheapest": answer.cheapest.get(name),
        "even_price_of_node": quantity(answer.even_prices.get(name), "EUR"),
        "price_eur": _price(best),
        "best": content(best),
        "by_nodes": by_nodes,
    }
