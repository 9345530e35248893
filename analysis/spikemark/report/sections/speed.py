"""Speed: synaptic events per second and core, costs per synapse and neuron, memory by part, scaling."""

from collections.abc import Callable

import numpy as np

from spikemark.bench import kernel_bench, kernels
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import number, percent, span
from spikemark.records.cases import View
from spikemark.report.figures import speed as drawing
from spikemark.report.speeds import REST, Gain, Setup, by_where, gains, prepare

TITLE = "Speed"
RANKS_THREADS = "ranks × threads"
EXPLAINED = (
    "A core is one thread of one rank, also where threads have to share the cores there are. Synaptic events "
    "per second and core are the currency in which simulators are compared: for delivery alone they say how "
    "well the memory is used, for the whole run what is left of that after update, waiting and communication."
)
BOUND = (
    "The bound does only what no delivery can avoid: it starts at the lists of spikes, in random order, and "
    "adds every synapse to the ring buffer."
)


def section(view: View) -> Section:
    """Of the network of the other figures, on every number of ranks and threads."""
    setups = prepare(view)
    if not setups:
        return Section("speed", TITLE, missing=["Speed: no run is complete."])
    figures, missing = [], []
    try:
        table = _kernels(view)
    except BadInput as error:
        table = None
        missing.append(f"Delivery against its bound: {error}.")
    for make in (_rates, _memory, _scaling, lambda setups: _bound(setups, table)):
        made = make(setups)
        if isinstance(made, Figure):
            figures.append(made)
        elif made:
            missing.append(made)
    costs, reasons = _costs(setups, table)
    text = [EXPLAINED, *([BOUND] if table is not None else [])]
    tables = [("Costs per synapse and neuron", costs)]
    return Section("speed", TITLE, text=text, figures=figures, tables=tables, missing=missing + reasons)


def _kernels(view: View):
    path = kernel_bench.folder(view.sweep.path.name, view.sweep.path.parent.parent) / kernel_bench.TABLE
    if not path.is_file():
        raise BadInput(f"no times of kernels on {view.sweep.path.name}: run `spikemark bench`")
    return kernels.read(path)


def _rates(setups: list[Setup]) -> Figure | str:
    shown = [s for s in setups if s.delivery or s.whole]
    if not shown:
        return "Synaptic events per second: no synaptic event occurred in any run."
    alt = "Million synaptic events per second and core. " + _sentences(
        shown, lambda s: f"{_mega(s.delivery)} in delivery alone, {_mega(s.whole)} in the whole run"
    )
    caption = (
        "Million synaptic events per second and core, one mark per run. Dots: events (counted) over the time "
        "in deliver, mean over ranks (measured). Rings: over the wall-clock time of the run (measured)."
    )
    rows = [
        [
            s.configuration.label,
            s.grid,
            str(len(s.runs)),
            _mega(s.delivery),
            span([x / 1e6 for x in s.delivery]) if s.delivery else "missing",
            _mega(s.whole),
            span([x / 1e6 for x in s.whole]) if s.whole else "missing",
        ]
        for s in shown
    ]
    heads = ["schedule", RANKS_THREADS, "runs", "delivery alone (10⁶/s/core)", "lowest–highest"]
    heads += ["whole run (10⁶/s/core)", "lowest–highest"]
    table = Table(heads, rows, ["given", "given", "counted", *["measured"] * 4], words=(0, 1))
    svg = drawing.rates(by_where(shown), "speed-rates", alt)
    return Figure("speed-rates", "Synaptic events per second and core", svg, alt, caption, table)


def _memory(setups: list[Setup]) -> Figure | str:
    shown = [s for s in setups if s.memory is not None]
    if not shown:
        return "Memory per synapse: the networks have no synapses."
    parts = list(dict.fromkeys(n for s in shown for n in s.memory if n != REST))
    held = [_held(s) for s in shown]
    alt = "Memory in bytes per synapse, as stacked bars. " + _sentences(
        shown,
        lambda s: f"{number(_held(s))} in the program's own structures, {_rest(s)} for {REST}",
    )
    caption = (
        "Bytes per synapse, all ranks together. Coloured: what the structures of the mini-app hold "
        f"(counted), {span(held)} in all. Grey: {REST}, the resident high-water mark (measured) less the "
        "coloured parts; it hardly grows with the network, so it is much for a small one."
    )
    rows = [
        [
            s.configuration.label,
            s.grid,
            *(number(s.memory[n]) if n in s.memory else "missing" for n in parts),
            number(_held(s)),
            _rest(s),
        ]
        for s in shown
    ]
    heads = ["schedule", RANKS_THREADS, *(f"{n} (B)" for n in parts), "all parts (B)", f"{REST} (B)"]
    kinds = ["given", "given", *["counted"] * (len(parts) + 1), "measured"]
    table = Table(heads, rows, kinds, words=(0, 1))
    svg = drawing.memory(by_where(shown), REST, "speed-memory", alt)
    return Figure("speed-memory", "Memory per synapse", svg, alt, caption, table)


def _held(setup: Setup) -> float:
    return sum(v for n, v in setup.memory.items() if n != REST)


def _rest(setup: Setup) -> str:
    if setup.memory[REST] is not None:
        return number(setup.memory[REST])
    unknown = any(m.run.record.memory.peak_bytes is None for m in setup.runs)
    return "missing: peak unknown" if unknown else "missing: the peak is below the parts"


def _scaling(setups: list[Setup]) -> Figure | str:
    if len({s.where for s in setups}) == 1:
        return f"Scaling: all runs have {setups[0].where}."
    found = gains(setups)
    if not found:
        return "Scaling: no configuration was run on one network with several numbers of ranks or threads."
    everything = [g for group in found.values() for g in group]
    alt = "Speed-up with ranks and threads. " + " ".join(
        f"{g.setup.configuration.label}, {g.setup.where} against {g.base.where}: {number(g.ratio.value)}."
        for g in everything
    )
    caption = (
        "Speed-up against the smallest number of cores of the same schedule: ratio of wall-clock times, "
        f"geometric mean over networks (measured){_intervals(everything)}. "
        "Bars across: what proportional to the cores would be."
    )
    rows = [
        [
            g.setup.configuration.label,
            g.setup.grid,
            g.base.grid,
            str(len(g.ratio.pairs)),
            number(g.ratio.value),
            span([g.ratio.low, g.ratio.high]) if g.ratio.low is not None else "missing: one pair",
            percent(g.ratio.value / g.ideal),
        ]
        for g in everything
    ]
    heads = ["schedule", RANKS_THREADS, "against", "pairs", "speed-up", "95 % interval", "of proportional"]
    kinds = ["given", "given", "given", "counted", "measured", "measured", "measured"]
    svg = drawing.speed_up(found, "speed-scaling", alt)
    table = Table(heads, rows, kinds, words=(0, 1, 2))
    return Figure("speed-scaling", "Scaling over ranks and threads", svg, alt, caption, table)


def _intervals(found: list[Gain]) -> str:
    return "; lines: 95 % intervals, cut at the axis" if any(g.ratio.low is not None for g in found) else ""


def _bound(setups: list[Setup], table) -> Figure | str:
    if table is None:
        return ""  # said already
    compared = kernels.ratios(table)
    if not len(compared):
        return (
            f"Delivery against its bound: {kernels.DELIVER} and {kernels.BOUND} were not measured in one run "
            "of the kernels: run `spikemark bench`."
        )
    shown = [s for s in setups if s.length and s.deliver_s]
    largest = compared.loc[compared["ratio"].idxmax()]
    alt = (
        "Nanoseconds per synapse over the list length, both logarithmic. "
        + " ".join(
            f"L = {r.size}: bound {number(r.bound_ns)}, deliver {number(r.deliver_ns)}."
            for r in compared.itertuples()
        )
        + (" Runs: " + _sentences(shown, lambda s: f"{_nano(s.deliver_s)} at L = {number(s.length)}"))
    )
    caption = (
        "Lines: kernels on their own, on one core, with synapses far beyond the caches; median and quartiles "
        f"(measured, interleaved). As a multiple of its bound, deliver takes {span(compared['ratio'])} "
        f"(largest at L = {int(largest['size'])}). Rings: the runs of this experiment at their own mean list "
        "length, in wall-clock time (measured); a network that fits into the caches may lie below the bound."
    )
    rows = [
        [str(r.size), number(r.deliver_ns), number(r.bound_ns), number(r.ratio)]
        for r in compared.itertuples()
    ]
    heads = ["list length", "deliver (ns / synapse)", "bound (ns / synapse)", "multiple of the bound"]
    svg = drawing.bound(table, shown, "speed-bound", alt)
    table = Table(heads, rows, ["given", "measured", "measured", "measured"])
    return Figure("speed-bound", "Delivery against its bound", svg, alt, caption, table)


def _costs(setups: list[Setup], table) -> tuple[Table, list[str]]:
    """One row per setup, and why some have no bound."""
    heads = ["schedule", RANKS_THREADS, "update (ns / neuron / step)", "clock reading, share of the run"]
    heads += ["mean list length", "deliver (ns / synapse)"]
    kinds = ["given", "given", "measured", "measured", "counted", "measured"]
    if table is not None:
        heads += ["bound (ns / synapse)", "multiple of the bound"]
        kinds += ["measured", "measured"]
    rows, reasons = [], []
    for s in setups:
        row = [s.configuration.label, s.grid, _nano(s.update_s), percent(np.mean(s.timer_overhead), 1)]
        row += [number(s.length) if s.length else "missing", _nano(s.deliver_s)]
        if table is not None:
            row += _multiple(s, table, reasons)
        rows.append(row)
    reasons = [f"The bound for {reason}." for reason in dict.fromkeys(reasons)]
    return Table(heads, rows, kinds, words=(0, 1)), reasons


def _multiple(setup: Setup, table, reasons: list[str]) -> list[str]:
    if not (setup.length and setup.deliver_s):
        return ["missing", "missing"]
    try:
        bound = kernels.bound_ns(table, setup.length)
    except BadInput as error:
        reasons.append(f"{setup.configuration.label}, {setup.where}: {error}")
        return ["missing", "missing"]
    return [number(bound), number(1e9 * np.mean(setup.deliver_s) / bound)]


def _sentences(setups: list[Setup], say: Callable[[Setup], str]) -> str:
    return " ".join(f"{s.configuration.label}, {s.where}: {say(s)}." for s in setups)


def _mega(values: list[float]) -> str:
    return number(np.mean(values) / 1e6) if values else "missing"


def _nano(seconds: list[float]) -> str:
    return number(1e9 * np.mean(seconds)) if seconds else "missing"
