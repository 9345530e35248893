"""What predict, compare and advise print: a sentence, one table, the anchor, what decides, what is next."""

import json
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.yaml_file import YAML
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, integer, listed, number

from . import anchors, draws
from .draws import Draws
from .search import SURE, Found, Option, stated

Sides = Sequence[tuple[Option, int]]
Screen = tuple[list[str], Table, list[str]]  # sentences, a table, and lines below it
LEAST = 0.025  # share of the draws below which a target counts as not reached
#: Of widths, as logarithms: what does not narrow to that is not worth a run; by how much a run on several
#: nodes has to be better than one on a single node.
LITTLE, WORTH = 0.95, 1.25
TOLD = 0.975  # share of the draws in which a machine is faster, from which on two are told apart
HEADS = {"thread_wait": "wait for threads", "waiting": "wait for ranks"}  # of parts; others by their names
PER_EVENT = "energy per synaptic event (µJ)"
#: An uncertain effect of a production simulator in words, by part and aspect; {} is what it belongs to.
EFFECTS = {
    ("kernel", "machine"): "time per event on a full node of {}", ("exchange", "machine"): "exchange on {}",
    ("kernel", "version"): "kernel of version {}", ("exchange", "version"): "exchange of version {}",
    ("kernel", "growth"): "growth of the kernel with nodes", ("total", "rate"): "firing rate of the {}",
    ("exchange", "growth"): "growth of the exchange with nodes", ("total", "scatter"): "scatter of runs",
}  # fmt: skip
#: What narrows an input, by the start of its name behind the machine.
ADVICE = (
    ("kernels", "calibrating a full node of {}", "spikemark calibrate --help"),
    ("jitter", "calibrating a full node of {}", "spikemark calibrate --help"),
    ("interconnect", "measuring messages between two nodes of {}", "spikemark bench --help"),
    ("power", "a meter reading of one busy node of {}", "spikemark energy --help"),
    ("node", "the data sheet of {}", "spikemark machine --help"),
    ("", "a run of the mini-app on {}", "spikemark run --help"),
)


def short(value: float, digits: int = 2) -> str:
    """A number with no more significant digits than it has."""
    return number(float(f"{value:.{digits}g}"), digits)


def span(result: Draws, digits: int = 2) -> str:
    """The 95 % interval."""
    return "-".join(short(end, digits) for end in draws.interval(result)[1:])


def interval(values: Draws | float | None, digits: int = 2) -> str:
    """Median and 95 % interval, such as `10 (5.0-20)`; one number where nothing is uncertain."""
    if values is None:
        return "unknown"
    middle = float(np.median(values))
    sure = np.ndim(values) == 0 or np.ptp(values) <= 1e-9 * abs(middle)
    return short(middle, digits) + f" ({span(values, digits)})" * (not sure)


def chance(share: float) -> str:
    """A share of draws as per cent, without more than they show."""
    return "under 1 %" if 0 < share < 0.01 else "over 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def decides(result: Draws, inputs: dict[str, Draws], most: int = 2) -> list[tuple[str, float]]:
    """Names and shares of the variance of the inputs that decide most."""
    found = draws.shares(np.log(result), inputs)
    return [(name, share) for name, share in list(found.items())[:most] if share >= 0.05]


def without(result: Draws, of: Draws) -> Draws:
    """The result were an input known: its linear effect on the logarithm removed."""
    logs = np.log(result)
    return np.exp(logs - np.polyfit(of, logs, 1)[0] * of)


def width(result: Draws) -> float:
    """Upper over lower end of the 95 % interval, as a logarithm."""
    _, low, high = draws.interval(result)
    return float(np.log(high / low))


def words_of(name: str) -> str:
    """An uncertain input in words."""
    start, *rest = name.split("/")
    if start == "error":
        part, aspect, *what = rest
        return EFFECTS.get((part, aspect), f"{part} by {aspect} ({{}})").format(what[-1] if what else "")
    if start == "model":
        return f"error of the model: {HEADS.get(rest[0], rest[0])}"
    return f"kernel times of {start}" if rest == ["kernels"] else f"{'/'.join(rest)} of {start}"


def next_step(sides: Sides, result: Draws, inputs: dict[str, Draws]) -> list[str]:
    """What would narrow a result most, as a line with a command; none if nothing decides.

    `sides`: the options in the result, and the power (1 or -1 of a ratio) of their times.
    """
    if not (top := decides(result, inputs, 1)):
        return []
    name, tried = top[0][0], []
    if name.startswith("error/"):
        for option, power in sides:
            for nodes in dict.fromkeys((1, max(1, option.nodes // 4))):
                run = option.run.with_nodes(nodes)
                made = anchors.predict([option.run], option.own, more=[run]).total[0]
                what = f"ten minutes of {run.simulator} on {counted(nodes, 'node')} of {option.machine.name}"
                known = result * (made / option.rtf) ** power
                tried.append(((1.0 if nodes == 1 else WORTH) * width(known), what, known))
        _, what, known = min(tried, key=lambda one: one[0])
        command = "spikemark anchor --help"
    else:
        machine, _, path = name.partition("/")
        start, command = next((text, cmd) for key, text, cmd in ADVICE if path.startswith(key))
        what = start.format(sides[0][0].machine.name if name.startswith("model/") else machine)
        known = without(result, inputs[name])
    narrows = width(known) <= LITTLE * width(result)
    return [f"Next: {what} would narrow {span(result)} to {span(known)}: {command}"] * narrows


def anchor_line(option: Option) -> str:
    """What the times rest on."""
    near = option.near
    if near is None:
        kinds = [v.kind for path, v in option.machine.values.items() if "kernels.full_node.t_next" in path]
        origin = "measured there" if kinds[:1] == ["measured"] else "assumed from a calibrated machine"
        return f"Times are the mini-app's, modelled; kernel times are {origin}."
    whose = "your run" if near in option.own else "published"
    apart = f"differs in {', '.join(option.differs)}" if option.differs else "the same"
    where = f"{counted(near.nodes, 'node')} of {near.machine.name} ({whose}; {apart})"
    return f"Anchor: {near.simulator} {near.version} took {number(near.seconds, 3)} on {where}."


def about(sides: Sides, result: Draws, inputs: dict[str, Draws]) -> list[str]:
    """Lines behind the table: anchor, what decides, next, and where a network does not fit into a node."""
    shares: dict[str, float] = {}
    for name, share in decides(result, inputs, 8):
        shares[words_of(name)] = shares.get(words_of(name), 0.0) + share
    top = sorted(shares.items(), key=lambda one: -one[1])[:2]
    lines = [anchor_line(min((option for option, _ in sides), key=lambda option: len(option.differs)))]
    lines += [f"Decides: {', '.join(f'{name} ({chance(share)})' for name, share in top)}."] if top else []
    lines += next_step(sides, result, inputs)
    if len(sides) == 1 and sides[0][0].fits is False:
        lines.append(f"A node needs {number(sides[0][0].node_gb)} GB, more than it has.")
    return lines


def goal(target: float) -> str:
    """A target in words."""
    return "real time" if target == 1 else f"real-time factor {short(target)}"


def simulator(option: Option) -> str:
    """Whose times these are."""
    return "the mini-app" if option.run is None else option.run.simulator


def capital(text: str) -> str:
    """The start of a sentence."""
    return text[:1].upper() + text[1:]


def rows(cells: dict[str, Callable[[Any], str]], options: dict[str, Any]) -> list[dict[str, str]]:
    """A row for each of the cells, with a column for each option."""
    return [{"what": head, **{n: text(o) for n, o in options.items()}} for head, text in cells.items()]


# -- predict


def predicted(options: Sequence[Option]) -> Screen:
    """Sentence, table and lines of one cell, or of several numbers of ranks or nodes."""
    first = options[0]
    sentence = (
        f"{capital(simulator(first))} would take {interval(first.rtf)} times real time for"
        f" {first.question.title} on {counted(first.nodes, 'node')} of {first.machine.name}."
    )
    cells = {HEADS.get(name, name): lambda o, name=name: interval(o.parts[name]) for name in first.parts}
    cells |= {
        "real-time factor": lambda o: interval(o.rtf),
        PER_EVENT: lambda o: interval(o.energy_uj),
        "power (W)": lambda o: interval(o.power_w, 3),
        "memory of a node (GB)": lambda o: "unknown" if o.node_gb is None else number(o.node_gb),
    }
    columns = [Column("what", "s per simulated s, with 95 % interval")]
    columns += [Column(str(i), f"{counted(o.ranks, 'rank')} x {counted(o.threads, 'thread')}")
                for i, o in enumerate(options)]  # fmt: skip
    table = Table(columns, rows(cells, {str(i): o for i, o in enumerate(options)}))
    return [sentence], table, about([(first, 1)], first.rtf, first.inputs)


def predicted_content(options: Sequence[Option]) -> dict[str, Any]:
    """The cells of a prediction."""
    asked = options[0].question
    return {"network": asked.title, "rates": asked.rates.source, "description": asked.description,
            "predictions": [content(option) for option in options]}  # fmt: skip


# -- advise


def advised(found: Found, target: float | None) -> Screen:
    """The best way, beside the best of every other schedule."""
    best, lines = found.options[0], []
    where = f"on {counted(best.nodes, 'node')} of {best.machine.name}"
    if best.run is None:
        way = f"{best.way['schedule'].replace('_', '-')} on {best.way['placement']}"
        sentences = [f"Run {best.question.title} {way}, {where}: real-time factor {interval(best.rtf)}."]
        lines = [f"Run: {command(best)}"]
    else:
        sentences = [f"{best.run.simulator} would take {interval(best.rtf)} times real time {where}."]
        sentences += [saving(one, best) for one in found.options[1:2]]
        if any(one.way.get("from") == "bound" for one in found.options):
            lines = ["Cycle times tell what a schedule would save: --times DIR (spikemark import --help)"]
    if target is not None:
        sure = "no number of nodes" if found.sure is None else counted(found.sure.nodes, "node")
        reached = f"It reaches {goal(target)} in {chance(best.reaches(target))} of the draws"
        sentences.append(f"{reached}; {sure} would in {chance(SURE)}.")
    cells = {
        "schedule": lambda o: f"{o.way['schedule']}{' (bound)' * (o.way.get('from') == 'bound')}",
        "placement": lambda o: o.way.get("placement", ""), "D": lambda o: str(o.way.get("delay_ratio") or ""),
        "nodes": lambda o: str(o.nodes), "ranks x threads": lambda o: f"{o.ranks} x {o.threads}",
        "real-time factor": lambda o: interval(o.rtf), "over the first": lambda o: interval(o.rtf / best.rtf),
        "µJ per event": lambda o: interval(o.energy_uj),
    }  # fmt: skip
    columns = {
        Column(name, name): cell for name, cell in cells.items() if best.run is None or name != "placement"
    }
    table = Table.of(columns, found.options)
    return sentences, table, about([(best, 1)], best.rtf, best.inputs) + lines


def saving(option: Option, best: Option) -> str:
    """What another schedule would save of a production run, by replay or at most."""
    _, low, high = draws.interval(1 - option.rtf / best.rtf)
    replayed = option.way["from"] == "replay"
    name = f"{option.way['schedule'].replace('_', '-')} schedule with D = {option.way['delay_ratio']}"
    why = "by replay of its cycle times" if replayed else "if its cycles are independent"
    return f"A {name} would save {'at most ' * (not replayed)}{100 * low:.0f} to {100 * high:.0f} % {why}."


#: A program that prints a YAML file as JSON, read as by `spikemark`.
AS_JSON = (
    "import json, pathlib, sys; from spikemark.core.yaml_file import read_yaml;"
    " print(json.dumps(read_yaml(pathlib.Path(sys.argv[1])), indent=1))"
)


def command(best: Option) -> str:
    """The command that runs the mini-app in this way: of the file that was given, or of what the preset
    writes. The mini-app reads JSON; of a YAML file, the JSON is written first."""
    file, writes = best.question.named, []
    if isinstance(file, tuple):
        file, writes = Path("run.json"), ["spikemark", "preset", *file]
    elif file.suffix in YAML:
        file, writes = file.with_name(f"{file.name}.json"), ["python3", "-c", AS_JSON, str(file)]
    each = -(-best.ranks // best.nodes)
    words = ["mpirun", "-n", best.ranks, "--map-by", f"ppr:{each}:node:PE={best.threads}"]
    words += ["miniapp", file, "--out", "out/advice"]
    for name, value in best.way.items():
        if value is not None:
            words += ["--set", f"{name}={json.dumps(value) if isinstance(value, dict) else value}"]
    first = f"{shlex.join(writes)} > {shlex.quote(str(file))} && " if writes else ""
    return f"{first}OMP_NUM_THREADS={best.threads} {shlex.join(map(str, words))}"


def advised_content(found: Found) -> dict[str, Any]:
    """An advice for JSON; `ratios` are to the first option."""
    first = found.options[0]
    return {
        "network": first.question.title, "machine": first.machine.name,
        "largest_delay_ratio": first.detail and first.detail.loads.largest_delay_ratio,
        "sure": found.sure and found.sure.nodes, "options": [content(one) for one in found.options],
        "ratios": [quantity(one.rtf / first.rtf, "1") for one in found.options],
        "command": first.detail and command(first),
    }  # fmt: skip


# -- compare


def compared(
    by_machine: dict[str, Found], target: float, years: float, hours: float, price_kwh: float | None
) -> Screen:
    """One column for each machine, at its best number of nodes."""
    best = {name: found.best for name, found in by_machine.items()}
    first, *others = best
    ratios = {name: best[name].rtf / best[first].rtf for name in others}
    table = rows({"real-time factor": lambda o: interval(o.rtf)}, best)
    for name, ratio in ratios.items():
        faster = float((ratio < 1).mean())
        apart = "" if max(faster, 1 - faster) >= TOLD else ": not told apart"
        table.append({"what": f"{name} over {first}", name: f"{interval(ratio)}{apart}"})
    if any(one.reaches(target) >= LEAST for one in best.values()):
        sure = {name: found.sure and str(found.sure.nodes) for name, found in by_machine.items()}
        table += rows({f"{goal(target)}, of the draws": lambda o: chance(o.reaches(target))}, best)
        table += rows({f"nodes for {chance(SURE)} of them": lambda nodes: nodes or "none"}, sure)

    def kilowatt(option: Option) -> Draws | None:
        return None if option.power_w is None else 1e-3 * option.power_w

    def power(option: Option) -> str:
        offered = option.power_w is not None and stated(option.machine, "offer.watts") is not None
        return interval(kilowatt(option)) + ", as offered" * offered

    cells = {PER_EVENT: lambda o: interval(o.energy_uj), "power (kW)": power}
    if any(price(one) for one in best.values()):
        cells["price (EUR)"] = lambda o: "unknown" if price(o) is None else integer(price(o))
    if price_kwh is not None:

        def spent(option: Option) -> Draws | None:
            return None if option.power_w is None else kilowatt(option) * years * hours * price_kwh

        cells[f"energy, {years:g} years of {hours:g} h (EUR)"] = lambda o: interval(spent(o), 3)
        if all(price(one) is not None and one.power_w is not None for one in best.values()):
            cells["price and energy (EUR)"] = lambda o: interval(price(o) + spent(o), 3)
    columns = [Column("what", ""), *(Column(n, f"{n} ({counted(o.nodes, 'node')})") for n, o in best.items())]
    inputs = {name: z for option in best.values() for name, z in option.inputs.items()}
    sides, result = [(best[first], 1)], best[first].rtf
    if others:
        sides, result = [(best[others[0]], 1), (best[first], -1)], ratios[others[0]]
    return reached(best, target), Table(columns, table + rows(cells, best)), about(sides, result, inputs)


def reached(best: dict[str, Option], target: float) -> list[str]:
    """Which machines reach a target, and the real-time factors of all."""
    shares = {name: one.reaches(target) for name, one in best.items()}
    often, many = [name for name, share in shares.items() if share >= 0.5], len(best)
    if not often:
        who = {1: f"{next(iter(best))} does not reach", 2: "Neither machine reaches"}
        verdict = who.get(many, "No machine reaches")
    elif len(often) == many > 1:
        verdict = "Both machines reach" if many == 2 else "All machines reach"
    else:
        verdict = f"{'Only ' * (many > 1)}{listed(often)} reach{'es' * (len(often) == 1)}"
    sure = ", as far as is known" if max(shares.values()) < LEAST else " in at least half of the draws"
    times = [
        f"{interval(one.rtf)} {{}}on {counted(one.nodes, 'node')} of {name}" for name, one in best.items()
    ]
    took = listed([one.format("times real time " * (not at)) for at, one in enumerate(times)])
    return [
        f"{verdict} {goal(target)}{sure}.",
        f"{capital(simulator(next(iter(best.values()))))} would take {took}.",
    ]


def price(option: Option) -> float | None:
    """Of all nodes, as offered, in EUR."""
    each = stated(option.machine, "offer.price")
    return None if each is None else option.nodes * each


def compared_content(by_machine: dict[str, Found], target: float) -> dict[str, Any]:
    """A comparison: the best option of each machine, numbers of nodes, and ratios to the first machine."""
    first = next(iter(by_machine.values())).best
    return {
        "target": target,
        "machines": [
            {"name": name, "likely": f.best.nodes if f.best.reaches(target) >= 0.5 else None,
             "sure": f.sure and f.sure.nodes, "reached": f.best.reaches(target),
             "ratio": quantity(f.best.rtf / first.rtf, "1"), "faster": float((f.best.rtf < first.rtf).mean()),
             "price_eur": price(f.best), "best": content(f.best),
             "by_nodes": [{"nodes": o.nodes, "real_time_factor": quantity(o.rtf, "1")} for o in f.options]}
            for name, f in by_machine.items()
        ],
    }  # fmt: skip


# -- JSON


def quantity(values: Draws | float | None, unit: str) -> dict[str, Any] | None:
    """Median and 95 % interval for JSON."""
    if values is None:
        return None
    middle, low, high = draws.interval(np.broadcast_to(values, draws.N))
    return {"value": middle, "interval": [low, high], "unit": unit, "kind": "modelled"}


def content(option: Option) -> dict[str, Any]:
    """An option with all its figures."""
    memory, why = option.needed
    figures = {name: quantity(part, "s per simulated s") for name, part in option.parts.items()}
    figures |= {
        "real_time_factor": quantity(option.rtf, "1"), "power_w": quantity(option.power_w, "W"),
        "energy_per_event_uj": quantity(option.energy_uj, "µJ"),
        "memory_gb": option.node_gb, "bytes_per_synapse": memory and memory.per_synapse,
    }  # fmt: skip
    if option.power_w is not None:
        figures["energy_j"] = quantity(option.power_w * option.rtf, "J per simulated s")
    found = {
        "machine": option.machine.name, "nodes": option.nodes, "ranks": option.ranks,
        "threads": option.threads, **option.way, "figures": figures, "fits": option.fits,
        "no_memory": why or None, "decides": dict(decides(option.rtf, option.inputs, 8)),
    }  # fmt: skip
    if near := option.near:
        found["anchor"] = {
            "simulator": near.simulator, "version": near.version, "machine": near.machine.name,
            "nodes": near.nodes, "real_time_factor": near.seconds, "source": near.source,
            "differs": list(option.differs),
        }  # fmt: skip
    if option.detail is not None:
        found["largest_delay_ratio"] = option.detail.loads.largest_delay_ratio
    return found
