"""Mixes of x86 servers and ARM boards that simulate DPSNN's network, with equal and with balanced shares.

Two programs: DPSNN, whose times of synapses, neurons and messages are fitted to the published ones on either
kind of node (studies/prediction_checks.py), and the mini-app, whose times are those of the profiles.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile, Value
from spikemark.models.published import simula
from spikemark.network.description import read
from spikemark.prediction import energy, rates, times
from spikemark.prediction.intervals import predicted
from spikemark.prediction.layout import Layout
from spikemark.prediction.loads import Loads
from spikemark.prediction.partition import graph
from spikemark.prediction.partition.balance import Task, balanced
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import dpsnn
from spikemark.studies import prediction_checks
from spikemark.studies.published_runs import LOGICAL, MESSAGES, PHYSICAL, WORK, table_ii, table_iii

from . import kept, probe

FILE, MACHINE = "mixes.json", "simula-bath"
X86, ARM = "x86", "arm"
DPSNN, MINI_APP = "DPSNN", "mini-app"
EQUAL, BALANCED = "equal", "balanced"
LEAST = "least cost of a message"
SECONDS = 10.0  # simulated, as in the paper
WORK_WITHIN, MESSAGE_WITHIN = 1.25, 2.0  # the truth over a fitted time: as far as held-out rows were off
CRITERIA = ("time", "net energy", "gross energy", "net energy x time", "gross energy x time")
TABLES, ETHERNET = "Simula et al. 2019, Tables II and III", "dpsnn-westmere-eth"
PUBLISHED = ((1, 0), (2, 0), (64, 0), (0, 1), (0, 2))  # besides those of the grid
GRID = tuple((x, a) for a in (0, 4, 8) for x in (0, 4, 8, 16, 32) if x + a)


@dataclass(frozen=True)
class Mix:
    """Ranks on x86 cores and on ARM cores, and how neurons are shared among them."""

    x86: int
    arm: int
    shares: str = EQUAL

    @property
    def key(self) -> str:
        return f"{self.x86} + {self.arm} {self.shares}"

    @property
    def on(self) -> dict[str, int]:
        return {part: ranks for part, ranks in ((X86, self.x86), (ARM, self.arm)) if ranks}

    @property
    def words(self) -> str:
        names = [f"{ranks} {name}" for name, ranks in (("x86", self.x86), ("ARM", self.arm)) if ranks]
        return " + ".join(names)


def mixes() -> list[Mix]:
    """All of them; where all ranks are on equal nodes, equal shares are balanced ones."""
    return [
        Mix(x, a, shares)
        for x, a in (*PUBLISHED, *GRID)
        for shares in ((EQUAL, BALANCED) if x and a else (EQUAL,))
    ]


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """What has been computed, by program."""
    return kept.load(folder / FILE, _digests())


def compute(folder: Path) -> Iterator[str]:
    """Compute what is missing, and yield what cannot be."""
    yield from kept.compute(folder / FILE, _digests(), result)


def _digests() -> dict[str, str]:
    plan = published_w(), [mix.key for mix in mixes()], WORK_WITHIN, MESSAGE_WITHIN
    about = (digest(_plain()), *plan, probe.numbers())
    return {program: kept.digest(program, *about) for program in (DPSNN, MINI_APP)}


@lru_cache(maxsize=1)
def _plain() -> Machine:
    return machines.filled(machines.load_any(MACHINE))


@lru_cache(maxsize=1)
def published_w() -> dict[str, dict[int, float]]:
    """Power above idling by part and cores, in W; servers with InfiniBand.

    It is the printed energy over the printed time of Tables II and III. One printed power is another
    (`simula.slips`).
    """
    tables = {X86: simula.X86, ARM: simula.ARM}
    return {
        part: {p.cores: p.implied_w for p in simula.points(table) if _alike(p)}
        for part, table in tables.items()
    }


def _alike(p: simula.Point) -> bool:
    return "HT" not in p.label and p.note != simula.ETHERNET


def _powered(machine: Machine, mix: Mix) -> Machine:
    """The machine whose parts draw above idling what they did with as many cores busy."""
    ethernet = machines.load(ETHERNET).need("power.card", "servers with boards")
    card = {X86: ethernet.value if mix.arm else 0.0, ARM: 0.0}
    parts = dict(machine.parts)
    for name, cores in mix.on.items():
        watts = published_w()[name][cores]
        values = {
            "power.core": Value(watts / cores, "W", "literature", f"{watts:g} W of {cores} cores: {TABLES}"),
            "power.card": Value(card[name], "W", "literature", f"beyond that power; {TABLES}"),
        }
        profile = parts[name].profile
        parts[name] = replace(parts[name], profile=replace(profile, values={**profile.values, **values}))
    return replace(machine, parts=parts)


@lru_cache(maxsize=1)
def fitted() -> dict[str, dict[str, float]]:
    """The factors on times of work and messages that fit Tables II and III, by part.

    They are those of prediction_checks; but messages of boards are fitted, too, to the row of two boards.
    Between servers and boards, messages may cost as little (LEAST) as between servers over Ethernet.
    """
    two_boards = [replace(case, fitted=MESSAGES) if case.ranks > case.each else case for case in table_iii()]
    servers, boards = prediction_checks.check(table_ii())[1], prediction_checks.check(two_boards)[1]
    least = {LEAST: servers[ETHERNET][MESSAGES]}
    return {X86: servers["dpsnn-westmere-ib"], ARM: boards["jetson-tx1"] | least}


def machine_of(program: str, mix: Mix) -> Machine:
    """The machine on which a program runs with its own times.

    DPSNN's processes share the cores of a server where there are more of them than it has cores.
    """
    found = _powered(_plain(), mix)
    if program == MINI_APP:
        return found
    factors, both = fitted(), len(mix.on) > 1
    parts = {
        name: replace(part, profile=_fitted(part.profile, factors[name], both))
        for name, part in found.parts.items()
    }
    crowding = max(1.0, min(mix.x86, LOGICAL) / PHYSICAL)
    crowded = Value(crowding, "1", "literature", "Table II: 16 processes share 8 cores", (crowding, crowding))
    parts[X86] = replace(parts[X86], slower=crowded)
    links = {
        name: replace(link, profile=_fitted(link.profile, factors[ARM], both))
        for name, link in found.links.items()
    }
    return replace(found, parts=parts, links=links)


def _fitted(profile: Profile, factors: dict[str, float], both: bool) -> Profile:
    """The profile with fitted times, where servers and boards are `both` there or not.

    Rings of input are left out: DPSNN queues its events by neuron.
    """
    values = dict(profile.values)
    for path, value in profile.values.items():
        if path.startswith(tuple(prediction_checks.OF_WORK)) and WORK in factors:
            values[path] = _scaled(value, factors[WORK], WORK_WITHIN)
        elif path == prediction_checks.GAP:
            values[path] = _message(value, factors, both)
        elif path in prediction_checks.NO_RING:
            values[path] = replace(value, value=0.0, interval=(0.0, 0.0), follows=())
    return replace(profile, values=values)


def _scaled(value: Value, factor: float, within: float) -> Value:
    there = value.value * factor
    reference = f"{value.value:g} times {factor:.3g}, as fitted to Tables II and III of Simula et al. 2019"
    return Value(there, value.unit, "literature", reference, (there / within, there * within))


def _message(value: Value, factors: dict[str, float], both: bool) -> Value:
    """The cost of a message; where servers and boards are both there, it is assumed to be the boards'."""
    found = _scaled(value, factors[MESSAGES], MESSAGE_WITHIN)
    if not both or LEAST not in factors:
        return found
    return replace(found, kind="assumed", interval=(value.value * factors[LEAST], found.interval[1]))


@lru_cache(maxsize=2)
def _task(program: str) -> tuple[graph.Graph, rates.Rates]:
    given = {"exchange": "neighbor"} if program == DPSNN else {}
    described = read(dpsnn.describe(neurons=simula.NEURONS, state="aw", simulate_ms=1000.0, **given))
    return graph.of_description(described), rates.of(described, None, "dpsnn", {})


def loads_of(program: str, mix: Mix) -> Loads:
    """The loads of a mix; balanced ones are those with which all ranks should compute equally long."""
    network, found = _task(program)
    task = Task(network, METHODS["round_robin"], machine_of(program, mix), found, 1)
    made = balanced(task, mix.x86 + mix.arm, mix.on)
    return (made.best if mix.shares == BALANCED else made.equal).loads


def result(program: str) -> dict[str, Any]:
    """Time, energies and their products of all mixes, and each over that of the mix that is best in it.

    Times in s and energies in J for SECONDS simulated s. Net energy is that above idling, as published.
    """
    asked = {mix.key: _Asked(program, mix) for mix in mixes()}

    def numbers(inputs: Inputs) -> dict[str, dict[str, float]]:
        return {key: one.evaluate(inputs) for key, one in asked.items()}

    middle = numbers(Inputs(_plain()))
    best = {what: min(middle, key=lambda key, what=what: middle[key][what]) for what in CRITERIA}

    def evaluate(inputs: Inputs) -> dict[str, float]:
        found = numbers(inputs)
        flat = {f"{what} {key}": value for key, own in found.items() for what, value in own.items()}
        over = {
            f"{what} {key} over best": own[what] / found[best[what]][what]
            for key, own in found.items() for what in CRITERIA
        }  # fmt: skip
        gains = {
            f"gain {mix.words}": found[replace(mix, shares=EQUAL).key]["time"] / found[mix.key]["time"]
            for mix in mixes() if mix.shares == BALANCED
        }  # fmt: skip
        return flat | over | gains

    made, _ = predicted(Inputs(next(iter(asked.values())).machine), evaluate)
    return {"numbers": kept.content(made), "best": best}


class _Asked:
    """A mix with its loads, which stay the same while values of the machine are moved."""

    def __init__(self, program: str, mix: Mix):
        self.machine, self.loads = machine_of(program, mix), loads_of(program, mix)
        self.layout = Layout.of(self.machine, mix.x86 + mix.arm, 1, None, mix.on)

    def evaluate(self, inputs: Inputs) -> dict[str, float]:
        """CRITERIA of the mix."""
        inputs = replace(inputs, profile=self.machine)
        seconds = SECONDS * sum(times.of_parts(self.loads, inputs, self.layout).values())
        gross, idle = energy.power_w(inputs, self.layout), 0.0
        for share in self.layout.shares:
            idle += share.node.nodes * inputs.of_part(share.part).need("power.idle", "energy above idling")
        net = gross - idle
        values = seconds, net * seconds, gross * seconds, net * seconds**2, gross * seconds**2
        return dict(zip(CRITERIA, values, strict=True))
