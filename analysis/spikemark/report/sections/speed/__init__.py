"""Speed: synaptic events per second and core, costs per synapse and neuron, memory by part, scaling."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from spikemark.bench import kernel_bench, kernels
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, span
from spikemark.records.cases import View
from spikemark.report.columns import LABEL, PAIRS, RUNS, SCHEDULE, known, share, without

from . import drawing
from .compared import statement
from .setups import REST, Gain, Setup, by_where, gains, prepare

TITLE = "Speed"
RANKS_THREADS = "ranks × threads"
EXPLAINED = (
    "How fast is the simulation? Simulators are compared by synaptic events per second and core. For "
    "delivery alone, this number says how well the memory is used; for the whole run, it also reflects "
    "update, waiting and communication. Here, a core means one thread of one rank, even if threads "
    "share the cores of a machine."
)
BOUND = (
    "The bound is a kernel that does only what no delivery can avoid: it visits the lists of spikes in "
    "random order and adds every synapse to the ring buffer."
)
GRID = Column("grid", RANKS_THREADS, "given")
LABEL_GRID = {**LABEL, GRID: lambda setup: setup.grid}
NO_EVENT = "no synaptic event"


def section(view: View) -> Section:
    """Shows the network of the other figures on every number of ranks and threads."""
    setups = prepare(view)
    if not setups:
        return Section("speed", TITLE, missing=["Speed: no run is complete."])
    figures, lacking = [], []
    try:
        table = _kernels(view)
    except BadInput as error:
        table = None
        lacking.append(f"Delivery against its bound: {error}.")
    made = [make(setups, view.kind) for make in (_rates, _memory, _scaling)]
    made += [] if table is None else [_bound(setups, table, view.kind)]
    for one in made:
        (figures if isinstance(one, Figure) else lacking).append(one)
    costs, reasons = _costs(setups, table, view.kind)
    text = [*statement(view), EXPLAINED, *([BOUND] if table is not None else [])]
    return Section("speed", TITLE, text=text, figures=figures, tables=[costs], missing=lacking + reasons)


def _kernels(view: View) -> pd.DataFrame:
    path = kernel_bench.folder(view.sweep.path.name, view.sweep.path.parent.parent) / kernel_bench.TABLE
    if not path.is_file():
        raise BadInput(f"no kernel times on {view.sweep.path.name}; run `spikemark bench`")
    return kernels.read(path)


def _rates(setups: list[Setup], kind: str) -> Figure | str:
    shown = [s for s in setups if s.delivery or s.whole]
    if not shown:
        return "Synaptic events per second: no synaptic event occurred in any run."
    alt = "Million synaptic events per second and core. " + _sentences(
        shown,
        lambda s: f"{_said(s.delivery, 1e-6)} in delivery alone, {_said(s.whole, 1e-6)} in the whole run",
    )
    caption = (
        "Million synaptic events per second and core, one mark per run. Dots: events (counted) over the time "
        f"in deliver, mean over ranks ({kind}). Rings: over the wall-clock time of the run ({kind})."
    )
    columns = {
        **LABEL_GRID,
        RUNS: lambda s: len(s.runs),
        Column("delivery", "delivery alone (10⁶/s/core)", kind): lambda s: _mean(s.delivery, 1e-6),
        Column("delivery_range", "lowest–highest", kind): lambda s: _range(s.delivery, 1e-6),
        Column("whole", "whole run (10⁶/s/core)", kind): lambda s: _mean(s.whole, 1e-6),
        Column("whole_range", "lowest–highest", kind): lambda s: _range(s.whole, 1e-6),
    }
    svg = drawing.rates(by_where(shown), kind, "speed-rates", alt)
    title = "Synaptic events per second and core"
    return Figure("speed-rates", title, svg, alt, caption, Table.of(columns, shown))


def _memory(setups: list[Setup], kind: str) -> Figure | str:
    shown = [s for s in setups if s.memory is not None]
    if not shown:
        return "Memory per synapse: the networks have no synapses."
    parts = list(dict.fromkeys(n for s in shown for n in s.memory if n != REST))
    rest = Column("rest", f"{REST} (B)", kind)
    columns = {
        **LABEL_GRID,
        **{
            Column(n, f"{n} (B)", "counted"): lambda s, n=n: known(s.memory.get(n), "not known")
            for n in parts
        },
        Column("held", "all parts (B)", "counted"): _held,
        rest: _rest,
    }
    alt = "Memory in bytes per synapse, as stacked bars. " + _sentences(
        shown,
        lambda s: f"{number(_held(s))} in the program's own structures, {rest.text(_rest(s))} for {REST}",
    )
    caption = (
        "Bytes per synapse, all ranks together. Coloured: what the structures of the mini-app hold "
        f"(counted), {span(_held(s) for s in shown)} in all. Grey: {REST}, which is the resident high-water "
        f"mark ({kind}) less the coloured parts. It hardly grows with the network, so it weighs most in a "
        "small one."
    )
    svg = drawing.memory(by_where(shown), REST, "speed-memory", alt)
    return Figure("speed-memory", "Memory per synapse", svg, alt, caption, Table.of(columns, shown))


def _held(setup: Setup) -> float:
    return sum(v for n, v in setup.memory.items() if n != REST)


def _rest(setup: Setup) -> float | Quantity:
    if setup.memory[REST] is not None:
        return setup.memory[REST]
    unknown = any(m.run.record.memory.peak_bytes is None for m in setup.runs)
    return without("peak unknown" if unknown else "the peak is below the parts")


def _scaling(setups: list[Setup], kind: str) -> Figure | str:
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
        "Speed-up over the smallest number of cores of the same schedule: ratio of wall-clock times, "
        f"geometric mean over networks ({kind}){_intervals(everything)}. "
        "Cross bars: a speed-up in proportion to the cores."
    )
    columns = {
        SCHEDULE: lambda g: g.setup.configuration.label,
        GRID: lambda g: g.setup.grid,
        Column("base", "against", "given"): lambda g: g.base.grid,
        PAIRS: lambda g: len(g.ratio.pairs),
        Column("speed_up", "speed-up", kind): lambda g: g.ratio.value,
        Column("interval", "95 % interval", kind): lambda g: g.ratio.quantity.interval or without("one pair"),
        share("proportional", "of proportional", kind, digits=0): lambda g: g.ratio.value / g.ideal,
    }
    svg = drawing.speed_up(found, kind, "speed-scaling", alt)
    title = "Scaling over ranks and threads"
    return Figure("speed-scaling", title, svg, alt, caption, Table.of(columns, everything))


def _intervals(found: list[Gain]) -> str:
    return "; lines: 95 % intervals, cut at the axis" if any(g.ratio.low is not None for g in found) else ""


def _bound(setups: list[Setup], table: pd.DataFrame, kind: str) -> Figure | str:
    compared = kernels.ratios(table)
    if not len(compared):
        return (
            f"Delivery against its bound: {kernels.DELIVER} and {kernels.BOUND} were not measured together; "
            "run `spikemark bench`."
        )
    shown = [s for s in setups if s.length and s.deliver_s]
    largest = compared.loc[compared["ratio"].idxmax()]
    alt = (
        "Nanoseconds per synapse over the list length, both logarithmic. "
        + " ".join(
            f"L = {r.size}: bound {number(r.bound_ns)}, deliver {number(r.deliver_ns)}."
            for r in compared.itertuples()
        )
        + (" Runs: " + _sentences(shown, lambda s: f"{_said(s.deliver_s, 1e9)} at L = {number(s.length)}"))
    )
    caption = (
        "Lines: kernels on their own, on one core, with synapses far beyond the caches; median and quartiles "
        f"(measured, interleaved). Deliver takes {span(compared['ratio'])} times as long as its bound "
        f"(longest at L = {int(largest['size'])}). Rings: the runs of this experiment at their mean list "
        f"length, in wall-clock time ({kind}); a network that fits into the caches may be below the bound."
    )
    columns = {
        Column("length", "list length", "given"): lambda r: int(r.size),
        Column("deliver_ns", "deliver (ns / synapse)", "measured"): lambda r: r.deliver_ns,
        Column("bound_ns", "bound (ns / synapse)", "measured"): lambda r: r.bound_ns,
        Column("multiple", "multiple of the bound", "measured"): lambda r: r.ratio,
    }
    svg, title = drawing.bound(table, shown, kind, "speed-bound", alt), "Delivery against its bound"
    return Figure("speed-bound", title, svg, alt, caption, Table.of(columns, compared.itertuples()))


def _costs(setups: list[Setup], table: pd.DataFrame | None, kind: str) -> tuple[Table, list[str]]:
    """Makes one row per setup, and says why some have no bound."""
    columns = {
        **LABEL_GRID,
        Column("update_ns", "update (ns / neuron / step)", kind): lambda s: _mean(s.update_s, 1e9),
        share("clock", "clock reading, share of the run", kind): lambda s: float(np.mean(s.timer_overhead)),
        Column("length", "mean list length", "counted"): lambda s: known(s.length, NO_EVENT),
        Column("deliver_ns", "deliver (ns / synapse)", kind): lambda s: _mean(s.deliver_s, 1e9),
    }
    if table is not None:
        columns |= {
            Column("bound_ns", "bound (ns / synapse)", "measured"): lambda s: _bound_ns(s, table),
            Column("multiple", "multiple of the bound", kind): lambda s: _multiple(s, table),
        }
    reasons = [
        f"The bound for {s.configuration.label}, {s.where}: {bound.reason}."
        for s in setups
        if table is not None
        and isinstance(bound := _bound_ns(s, table), Quantity)
        and bound.reason != NO_EVENT
    ]
    return Table.of(columns, setups, "Costs per synapse and neuron"), list(dict.fromkeys(reasons))


def _bound_ns(setup: Setup, table: pd.DataFrame) -> float | Quantity:
    """Returns the bound at the mean list length of the setup."""
    if not (setup.length and setup.deliver_s):
        return missing(NO_EVENT)
    try:
        return kernels.bound_ns(table, setup.length)
    except BadInput as error:
        return missing(str(error))


def _multiple(setup: Setup, table: pd.DataFrame) -> float | Quantity:
    bound = _bound_ns(setup, table)
    return bound if isinstance(bound, Quantity) else float(1e9 * np.mean(setup.deliver_s) / bound)


def _sentences(setups: list[Setup], say: Callable[[Setup], str]) -> str:
    return " ".join(f"{s.configuration.label}, {s.where}: {say(s)}." for s in setups)


def _mean(values: list[float], unit: float) -> float | Quantity:
    """Returns the mean over runs, in the unit."""
    return unit * float(np.mean(values)) if values else missing(NO_EVENT)


def _range(values: list[float], unit: float) -> tuple[float, float] | Quantity:
    """Returns the lowest and the highest over runs, in the unit."""
    return (unit * min(values), unit * max(values)) if values else missing(NO_EVENT)


def _said(values: list[float], unit: float) -> str:
    return Column("", "").text(_mean(values, unit))
