"""What decides an uncertain result, in words, and which measurement would narrow it most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spikemark.core.commands import command
from spikemark.quantities.words import counted, listed

from . import draws
from .draws import Draws
from .effects import LEFT_OPEN
from .option import Option
from .wording import span

#: Names of parts; others have their own.
HEADS = {
    "thread_wait": "wait for threads",
    "waiting": "wait for ranks",
}
JITTER = "jitter"  #: values of a machine that count as one input
SMALLEST_SHARE = 0.05  #: of the variance, of an input that decides
#: A measurement is proposed where it narrows the interval, as a logarithm, to so much of its width
#: or less.
WORTH_WHILE = 0.8
RUN_S = 600.0  #: how long a run of a production program that is proposed may take
#: By how much runs on several nodes or machines have to be better than one on a single node.
SEVERAL_NODES = 1.25
#: An uncertain effect of a production program in words, by part and aspect; {} is what it belongs
#: to.
EFFECTS = {
    ("kernel", "machine"): "time per event on a full node of {}",
    ("kernel", "platform"): "time per event on a small or quiet node such as {}",
    ("kernel", "version"): "kernel of version {}",
    ("kernel", "network"): "time per event of the {}",
    ("kernel", "variant"): "time per event in the state and size of {}",
    ("kernel", "program"): "time per event of {}",
    ("kernel", "growth"): "growth of the kernel with nodes",
    ("exchange", "machine"): "exchange on {}",
    ("exchange", "platform"): "exchange on a small or quiet node such as {}",
    ("exchange", "version"): "exchange of version {}",
    ("exchange", "network"): "exchange of the {}",
    ("exchange", "variant"): "exchange in the state and size of {}",
    ("exchange", "program"): "exchange of {}",
    ("exchange", "growth"): "growth of the exchange with nodes",
    ("total", "rate"): "firing rate of the {}",
    ("total", "scatter"): "scatter of runs",
}


class Measurement(NamedTuple):
    """What narrows an input of a machine."""

    start: str  #: of the path of the input
    text: str  #: {} is the machine
    verb: str  #: the command that is about it


#: The first whose start fits counts.
MEASUREMENTS = (
    Measurement("kernels", "calibrating a full node of {}", "calibrate"),
    Measurement("jitter", "calibrating a full node of {}", "calibrate"),
    Measurement("interconnect", "measuring messages between two nodes of {}", "bench"),
    Measurement("power", "a meter reading of one busy node of {}", "energy"),
    Measurement("node", "the data sheet of {}", "machine"),
    Measurement("", "a run of the mini-app on {}", "sweep"),
)


class RatioTerm(NamedTuple):
    """An option whose time is a factor of the result: of a time itself, or of a ratio of two."""

    option: Option
    power: int = 1  #: of its time in the result: 1, or -1 in a ratio
    named: str = ""  #: how a command names its machine; by its name by default


@dataclass(frozen=True, eq=False)
class Narrowed:
    """A result, were something measured."""

    text: str  #: what would be measured
    commands: tuple[str, ...]  #: what measures it, or explains how
    result: Draws


def decides(result: Draws, inputs: dict[str, Draws], most: int = 2) -> list[tuple[str, float]]:
    """Names and shares of the variance of the inputs that decide most, at most `most`.

    The parameters of a machine's jitter count together, as NAME/jitter: one log tells them all.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> cause, other = rng.standard_normal((2, 2048))
        >>> [(name, share)] = decides(np.exp(0.3 * cause + 0.01 * other), {"cause": cause})
        >>> name, round(share, 1)
        ('cause', 1.0)
    """
    shares: dict[str, float] = {}
    for name, share in draws.shares(np.log(result), inputs).items():
        group = _group(name)
        shares[group] = shares.get(group, 0.0) + share
    largest = sorted(shares.items(), key=lambda item: -item[1])[:most]
    return [(name, share) for name, share in largest if share >= SMALLEST_SHARE]


def _group(name: str) -> str:
    """The inputs with which an input counts, or itself.

    >>> _group("jureca-dc/jitter.cv"), _group("jureca-dc/node.clock")
    ('jureca-dc/jitter', 'jureca-dc/node.clock')
    """
    machine, separator, _ = name.partition(f"/{JITTER}.")
    return f"{machine}/{JITTER}" if separator else name


def without(result: Draws, source: Draws) -> Draws:
    """The result were an input known: its linear effect on the logarithm removed.

    Example:
        >>> source = np.random.default_rng(1).standard_normal(2048)
        >>> float(np.std(without(np.exp(0.3 * source), source)).round(6))
        0.0
    """
    logs = np.log(result)
    slope = np.polyfit(source, logs, 1)[0]
    narrowed: Draws = np.exp(logs - slope * source)
    return narrowed


def width(result: Draws) -> float:
    """Upper over lower end of the 95 % interval, as a logarithm.

    Example:
        >>> round(width(np.linspace(1.0, 2.0, 2048)), 2)
        0.66
    """
    _, low, high = draws.interval(result)
    return float(np.log(high / low))


def words_of(name: str) -> str:
    """An uncertain input in words.

    >>> words_of("error/kernel/growth/multi-area model")
    'growth of the kernel with nodes'
    >>> words_of("jureca-dc/node.clock")
    'node.clock of jureca-dc'
    """
    start, *path = name.split("/")
    if start == "error":
        return _words_of_effect(*path)
    if start == "model":
        return f"error of the model: {HEADS.get(path[0], path[0])}"
    if path == ["kernels"]:
        return f"kernel times of {start}"
    return f"{'/'.join(path)} of {start}"


def _words_of_effect(part: str, aspect: str, *names: str) -> str:
    """An effect in words; `names` are what it belongs to, from the program to the variant."""
    filled = [name.strip() for name in names if name]  # a network without variants has an empty one
    if aspect == "variant":
        filled = [", ".join(filled[1:])]  # behind the program: the network and its variant
    words = EFFECTS.get((part, aspect), f"{part} by {aspect}")
    whose = filled[-1] if filled else ""
    ending = LEFT_OPEN.format("")
    if whose.endswith(ending):
        return f"{words.format(whose.removesuffix(ending))} (what its profile leaves open)"
    return words.format(whose)


def next_step(sides: Sequence[RatioTerm], result: Draws, inputs: dict[str, Draws]) -> list[str]:
    """What would narrow a result most, as a line with a command; none if nothing decides, or if
    the program can be run nowhere in RUN_S.

    Several commands follow, each on a line of its own. `sides`: the options in the result.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.production import anchored
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> network = of_preset("mam-benchmark")
        >>> option = anchored(network, jureca, "nest", nodes=1).best
        >>> [line] = next_step([RatioTerm(option)], option.rtf, option.inputs)
        >>> "ten minutes of NEST" in line
        True
    """
    deciding = decides(result, inputs, 1)
    if not deciding:
        return []
    name, _ = deciding[0]
    narrowed: Narrowed | None
    if name.startswith("error/"):
        narrowed = _by_run(sides, result)
    else:
        sources = [drawn for input_name, drawn in inputs.items() if _group(input_name) == name]
        narrowed = _by_measurement(name, sides[0].option.machine.name, result, sources)
    if narrowed is None or width(narrowed.result) > WORTH_WHILE * width(result):
        return []
    start = f"Next: {narrowed.text} would narrow {span(result)} to {span(narrowed.result)}:"
    if len(narrowed.commands) == 1:
        return [f"{start} {narrowed.commands[0]}"]
    return [start, *narrowed.commands]


def _by_run(sides: Sequence[RatioTerm], result: Draws) -> Narrowed | None:
    """The run of a production program that would narrow a result most; None: it can be run nowhere.

    Of each option, a run on the fewest nodes that take it, and one on about a quarter of its nodes.
    """
    candidates = []
    fewest = []
    for side in sides:
        possible = side.option.nodes_for_run(RUN_S)
        if not possible:
            continue
        fewest.append(possible[0])
        no_more = [count for count in possible if count <= side.option.nodes // 4]
        for count in dict.fromkeys((possible[0], *no_more[-1:])):
            narrowed = _by_run_on(count, side, result)
            effort = SEVERAL_NODES if count > 1 else 1.0
            candidates.append((width(narrowed.result) * effort, narrowed))
    if len(fewest) == len(sides) > 1:
        narrowed = _by_runs_on_each(sides, fewest, result)
        candidates.append((width(narrowed.result) * SEVERAL_NODES, narrowed))
    if not candidates:
        return None
    _, best = min(candidates, key=lambda candidate: candidate[0])
    return best


def _by_runs_on_each(sides: Sequence[RatioTerm], nodes: Sequence[int], result: Draws) -> Narrowed:
    """A result after a run of a production program on so many nodes of each machine."""
    commands: list[str] = []
    places = []
    for side, count in zip(sides, nodes, strict=True):
        narrowed = _by_run_on(count, side, result)
        result = narrowed.result
        commands += narrowed.commands
        places.append(f"{counted(count, 'node')} of {side.option.machine.name}")
    place = f"{counted(nodes[0], 'node')} of each machine"
    if len(set(nodes)) > 1:
        place = listed(places)
    text = f"ten minutes of {sides[0].option.program_title} on {place}"
    return Narrowed(text, tuple(commands), result)


def _by_run_on(nodes: int, side: RatioTerm, result: Draws) -> Narrowed:
    """A result after a run of a production program on so many nodes."""
    option = side.option
    change = option.rtf_after_run(nodes) / option.rtf
    machine = option.machine.name
    text = f"ten minutes of {option.program_title} on {counted(nodes, 'node')} of {machine}"
    return Narrowed(text, (_anchor(side, nodes),), result * change**side.power)


def _anchor(side: RatioTerm, nodes: int) -> str:
    """The command that writes the runs of a production program on so many nodes."""
    network = side.option.question.options
    if not network:
        return command("anchor", "--help")
    name = side.option.machine.name
    out = f"anchor-{name}-{nodes}".replace(" ", "")
    return command("anchor", **network, machine=side.named or name, nodes=nodes, out=out)


def _by_measurement(name: str, machine: str, result: Draws, sources: list[Draws]) -> Narrowed:
    """A result after the measurement of inputs of a machine, which count as one.

    `machine`: where the input is an error of the model.
    """
    start, _, path = name.partition("/")
    if start != "model":
        machine = start
    fitting = [kind for kind in MEASUREMENTS if path.startswith(kind.start)]
    measurement = fitting[0]
    for source in sources:
        result = without(result, source)
    explains = command(measurement.verb, "--help")
    return Narrowed(measurement.text.format(machine), (explains,), result)
