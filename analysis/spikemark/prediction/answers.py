"""What the answers about options share: lines on the anchor, on what decides and on what is next,
rows of tables, and the figures of an option for JSON and as a frame.

`PredictionAnswer` (predicted.py), `RunAnswer` (beside.py), `AdviceAnswer` (advised.py) and
`ComparisonAnswer` (compared.py) are made of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark.quantities.table import Cell
from spikemark.quantities.words import listed

from . import draws
from .draws import Draws
from .narrowing import RatioTerm, decides, next_step, words_of
from .option import Option, SearchResult
from .wording import chance, interval, short, span

if TYPE_CHECKING:
    import pandas as pd

MAX_DECIDING = 8  #: inputs that decide, in JSON
MAX_NAMED = 2  #: inputs that decide, in words
PER_EVENT = "energy per synaptic event (µJ)"
#: Columns of a table of options that say what ran where; figures with their limits follow.
LAYOUT_COLUMNS = (
    "machine",
    "nodes",
    "ranks",
    "threads",
    "schedule",
    "placement",
    "delay_ratio",
    "lag",
)
#: Units of figures that are numbers without an interval.
UNITS_OF_NUMBERS = {"memory_gb": "GB", "bytes_per_synapse": "B"}
#: Heads of rows, and what the cell of a row is, given an option.
CellsOfOptions = dict[str, Callable[[Option], str]]


def about(sides: Sequence[RatioTerm], result: Draws, inputs: dict[str, Draws]) -> list[str]:
    """Lines behind the table: anchor, what decides, and next.

    `sides`: the options that the result is made of.

    Example:
        >>> import spikemark as sm
        >>> [option] = sm.predict("mam-benchmark", "jureca-dc", nodes=32).options
        >>> lines = about([RatioTerm(option)], option.rtf, option.inputs)
        >>> lines[0]
        "Times are the mini-app's, modelled; kernel times are assumed from a calibrated machine."
    """
    most_alike = min((side.option for side in sides), key=_differences)
    lines = [most_alike.rests_on, *_deciding_line(result, inputs)]
    return lines + next_step(sides, result, inputs)


def _differences(option: Option) -> int:
    """In how many respects the measured run differs from which an option is scaled."""
    return 0 if option.anchor is None else len(option.anchor.differs)


def contradiction(options: Sequence[Option]) -> list[str]:
    """A line where a measured run and the prediction for the same nodes contradict each other.

    `options`: of one machine; the fewest nodes where they do are named. Empty where they agree, or
    where the run was of another machine or network.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> contradiction(options)  # no run was published of these nodes
        []
    """
    for option in sorted(options, key=lambda option: option.nodes):
        anchor = option.anchor
        if anchor is None or option.way.origin or {"machine", "network"} & {*anchor.differs}:
            continue
        run = anchor.run
        if run.seconds is None or run.nodes != option.nodes:
            continue
        _, low, high = draws.interval(option.rtf)
        if low <= run.seconds <= high:
            continue
        line = (
            f"Contradiction: {run.title} {run.version} took {short(run.seconds)}"
            f" on {option.place}, predicted are {span(option.rtf)}"
        )
        if anchor.differs:
            line += f"; it differs in {listed(anchor.differs)}"
        return [f"{line}."]
    return []


def remarks_on(options: Iterable[Option]) -> list[str]:
    """What a reader should know of the machines of options, each remark once.

    Example:
        >>> import spikemark as sm
        >>> remarks_on(sm.predict("mam-benchmark", "jureca-dc", nodes=2).options)
        []
    """
    remarks: dict[str, None] = {}
    for option in options:
        remarks |= dict.fromkeys(option.remarks)
    return list(remarks)


def as_lines(remarks: Iterable[str]) -> list[str]:
    """Remarks as lines of a screen.

    Example:
        >>> as_lines(["offer-a: node.cores is 8"])
        ['Remark: offer-a: node.cores is 8.']
    """
    return [f"Remark: {remark.rstrip('.')}." for remark in remarks]


def _deciding_line(result: Draws, inputs: dict[str, Draws]) -> list[str]:
    """What decides a result most, as a line; none where nothing decides."""
    share_by_words: dict[str, float] = {}
    for name, share in decides(result, inputs, MAX_DECIDING):
        words = words_of(name)
        share_by_words[words] = share_by_words.get(words, 0.0) + share
    largest = sorted(share_by_words.items(), key=lambda item: -item[1])[:MAX_NAMED]
    if not largest:
        return []
    causes = [f"{words} ({chance(share)})" for words, share in largest]
    return [f"Decides: {', '.join(causes)}."]


def rows(cells: CellsOfOptions, options: Mapping[str, Option]) -> list[dict[str, Cell]]:
    """A row for each of the cells, with a column for each option, by its name.

    Example:
        >>> import spikemark as sm
        >>> [option] = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> rows({"nodes": lambda option: f"{option.nodes}"}, {"jureca-dc": option})
        [{'what': 'nodes', 'jureca-dc': '2'}]
    """
    rows = []
    for head, text in cells.items():
        row: dict[str, Cell] = {"what": head}
        for name, option in options.items():
            row[name] = text(option)
        rows.append(row)
    return rows


def part_cell(option: Option, part: str) -> str:
    """A part of the real-time factor; of an exchange that is hidden behind computing, how long.

    Example:
        >>> import spikemark as sm
        >>> answer = sm.predict("mam-benchmark", "jureca-dc", nodes=2, schedule="overlapped")
        >>> part_cell(answer.options[0], "exchange").startswith("hidden behind computing: ")
        True
    """
    seconds = option.parts.get(part)
    hidden = option.hidden_exchange if part == "exchange" else None
    if hidden is None:
        return interval(seconds)
    text = f"hidden behind computing: {short(hidden.number)}"
    low, high = hidden.limits
    if low < high:
        text += f" ({short(low)}-{short(high)})"
    if seconds is not None and np.max(seconds) > 0:
        return f"{interval(seconds)}, and {text}"
    return text


def hidden_note(options: Iterable[Option]) -> list[str]:
    """What a hidden exchange means, where an option has one.

    Example:
        >>> import spikemark as sm
        >>> hidden_note(sm.predict("mam-benchmark", "jureca-dc", nodes=2).options)
        []
    """
    if all(option.hidden_exchange is None for option in options):
        return []
    return [
        "An exchange that goes on while ranks compute is hidden: it adds nothing, unless it takes"
        " longer. The rest then counts as wait for ranks."
    ]


def energy_cell(option: Option) -> str:
    """Energy per synaptic event, in microjoule.

    Example:
        >>> import spikemark as sm
        >>> [option] = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> energy_cell(option).count("(")  # the interval stands behind the median
        1
    """
    return interval(option.energy_uj)


def rtf_cell(option: Option) -> str:
    """The real-time factor.

    Example:
        >>> import spikemark as sm
        >>> [option] = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> rtf_cell(option).count("(")  # the interval stands behind the median
        1
    """
    return interval(option.rtf)


def surest_content(result: SearchResult, target: float | None) -> dict[str, Any] | None:
    """The fewest nodes that surely reach a target, else those that most probably do; for JSON.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", ranks=128).options
        >>> surest_content(SearchResult(options[0], options, lambda: options[0]), 1e-9)
        {'nodes': 128, 'reached': 0.0}
    """
    if target is None:
        return None
    return {"nodes": result.surest.nodes, "reached": result.surest.reaches(target)}


def quantity(
    values: Draws | float | None, unit: str, kind: str = "modelled"
) -> dict[str, Any] | None:
    """Median and 95 % interval for JSON.

    Example:
        >>> quantity(3.0, "W")
        {'value': 3.0, 'interval': [3.0, 3.0], 'unit': 'W', 'kind': 'modelled'}
    """
    if values is None:
        return None
    median, low, high = draws.interval(np.broadcast_to(values, draws.N))
    return {"value": median, "interval": [low, high], "unit": unit, "kind": kind}


def content(option: Option) -> dict[str, Any]:
    """An option with all its figures for JSON.

    Example:
        >>> import spikemark as sm
        >>> [option] = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> content(option)["nodes"]
        2
    """
    _, why_no_memory = option.needed
    option_content = {
        "machine": option.machine.name,
        "nodes": option.nodes,
        "ranks": option.ranks,
        "threads": option.threads,
        **option.way_content(),
        "figures": _figures(option),
        "fits": option.fits,
        "no_memory": why_no_memory or None,
        "decides": dict(decides(option.rtf, option.inputs, MAX_DECIDING)),
    }
    return option_content | option.further_content()


def _figures(option: Option) -> dict[str, Any]:
    """The figures of an option for JSON: quantities, numbers, or None where unknown."""
    memory, _ = option.needed
    quantities: dict[str, Any] = {
        part: quantity(seconds, "s per simulated s") for part, seconds in option.parts.items()
    }
    hidden = option.hidden_exchange
    if hidden is not None:
        quantities["hidden_exchange"] = {
            "value": hidden.number,
            "interval": list(hidden.limits),
            "unit": hidden.unit,
            "kind": hidden.kind,
        }
    quantities["real_time_factor"] = quantity(option.rtf, "1")
    quantities["power_w"] = quantity(option.power_w, "W", _kind_of_power(option))
    quantities["energy_per_event_uj"] = quantity(option.energy_uj, "µJ")
    quantities["memory_gb"] = option.node_gb
    quantities["bytes_per_synapse"] = None if memory is None else memory.per_synapse
    if option.power_w is not None:
        quantities["energy_j"] = quantity(option.power_w * option.rtf, "J per simulated s")
    return quantities


def _kind_of_power(option: Option) -> str:
    """What the power is: as the profile has it where that is offered, else modelled."""
    offered = option.machine.values.get("offer.watts")
    return "modelled" if offered is None else offered.kind


def options_table(options: Sequence[Option]) -> "pd.DataFrame":
    """A row for each option: how it runs, and its figures.

    A figure `x` has its 95 % interval in `x_low` and `x_high`; `attrs["units"]` has its unit. What
    is not known is NaN.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", nodes=2).options
        >>> options_table(options)["nodes"].tolist()
        [2]
    """
    import pandas as pd

    rows = []
    units: dict[str, str] = {}
    for option in options:
        figures_of_option = content(option)
        row = {name: figures_of_option.get(name) for name in LAYOUT_COLUMNS}
        for name, figure in figures_of_option["figures"].items():
            if not isinstance(figure, dict):
                row[name] = figure
                units[name] = UNITS_OF_NUMBERS.get(name, units.get(name, ""))
                continue
            row[name] = figure["value"]
            row[f"{name}_low"], row[f"{name}_high"] = figure["interval"]
            units[name] = figure["unit"]
        rows.append(row)
    frame = pd.DataFrame(rows)
    frame.attrs["units"] = units
    return frame
