"""What the analysis expects of random runs, against what `miniapp --explain` says.

Both read the same description and must agree on lanes, periods, lags, groups, placement, the ring
of input, memory and on whether the run is possible at all. Both sides compute every figure in the
same way, so the only tolerance is for rounding.
"""

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import drawn
import layouts
import numpy as np
import program
import pytest

from spikemark.core.errors import BadInput
from spikemark.models import exchange_times
from spikemark.network import exchanges, placement, schedules
from spikemark.network.description import read_description
from spikemark.network.lanes import SPIKE_BYTES
from spikemark.network.named_files import located
from spikemark.network.placement_text import FROM_FILE, split
from spikemark.network.presets import PRESETS
from spikemark.prediction import exchange
from spikemark.prediction.workload import Loads
from spikemark.records import run_files
from spikemark.running import possible

pytestmark = pytest.mark.slow

#: Descriptions, how many of them make one test, and how many are for the day.
CASES, BATCH, CASES_BY_DAY = 240, 60, 60
#: Sums of millions of terms in another order; the mini-app takes 1.0000001 neurons for a pool of
#: one.
ROUNDING = 1e-6
MODELS = ("ignore_and_fire", "lif_exp", "lif_delta", "lif_sfa")
WEIGHTS = (1, 2, -3, 0.1, 0.25, -0.7, 87.8, -351.2, 0, 1 / 3, 2**0.5, 1e-3, 64.0)
#: Most of these have a common unit, which is a part of the smallest of them.
RELATED = (2, -3, 1, 1.5, -2.5, 1 / 64, 1 + 1 / 64, 1 / 65, 0.7)


class Drawn:
    """A random description and how it is to be run; about every second one is possible."""

    def __init__(self, number: int, known: dict):
        self.random = random.Random(number)
        self.step = self.pick(0.1, 0.1, 0.05, 0.2, 0.25)
        self.cycle = round(self.step * self.pick(1, 1, 2, 5), 9)
        self.areas = [f"area{i}" for i in range(self.pick(1, 2, 3, 4, 8, 12, 16))]
        self.ranks = min(
            self.pick(1, 2, 3, 4, 6, 8, 12, 16), len(self.areas) + self.rarely(0.2) * 16
        )
        self.threads = self.pick(1, 2, 5)
        self.populations = [self.population(i) for i in range(len(self.areas) + self.pick(0, 1, 5))]
        names = [p["name"] for p in self.populations]
        self.projections = [self.projection(names) for _ in range(self.pick(0, 1, 3, 8, 20))]
        neurons = max(1, sum(p["size"] for p in self.populations))
        self.way = drawn.Draw(self.random, self.ranks, neurons, drawn.ordinary(known))
        self.description = self.described(known)

    def pick(self, *values):
        return self.random.choice(values)

    def rarely(self, how: float = 0.02) -> bool:
        return self.random.random() < how

    def described(self, known: dict) -> dict:
        found = {
            "format_version": 1,
            "time": {
                "resolution_ms": self.step,
                "cycle_ms": self.cycle,
                "simulate_ms": 40 * self.cycle,
            },
            "schedule": self.way.schedule(known, self.areas),
            "network": {"populations": self.populations, "projections": self.projections},
        }
        if self.cycle == self.step and self.pick(True, False):
            del found["time"]["cycle_ms"]
        for field, how, value in (
            ("delay_ratio", 0.7, self.pick("auto", "auto", 1, 2, 3, 4, 6, 12, 10**6)),
            ("lag", 0.3, self.pick(1, 2, 3)),
            ("wire", 0.3, self.pick("compact", "aer12")),
            ("placement", 0.7, self.way.placement(known)),
            ("exchange", 0.4, self.way.exchange(known)),
            (
                "exchange",
                0.05,
                self.pick("none_such", "self", {self.pick("near", "world", "lane1"): "p2p"}),
            ),
            ("placement", 0.02, "none_such"),
        ):
            if self.rarely(how):
                found[field] = value
        return found

    def population(self, i: int) -> dict:
        found = {
            "name": f"population{i}",
            "area": self.areas[i] if i < len(self.areas) else self.pick(*self.areas),
            "size": self.pick(1, 10, 300, 300, 5000, 5000, 123_457) * (not self.rarely()),
            "neuron": {"model": self.pick(*MODELS)},
        }
        if self.pick(True, False, False, False):
            found["external"] = {
                "rate_hz": self.pick(0, 8, 8.5, 1000) * (1e6 if self.rarely() else 1),
                "weight": self.weight_value(),
                "synapses": self.pick(0, 1, 40),
            }
        if len(self.areas) > i and self.pick(True, False):
            found["name"] = found.pop("area")
        return found

    def projection(self, names: list[str]) -> dict:
        sources = self.random.sample(names, min(len(names), self.pick(1, 1, 2, 3)))
        found = {
            "source": self.pick(sources, sources[0]),
            "target": self.pick(*names),
            "delay": self.delay(),
            "indegree": self.pick(0, 1, 17, 300, 3000, {"mean": self.pick(0, 0.05, 3.7, 250.5)}),
        }
        if self.rarely():
            found["indegree"] = self.pick(32767, 40_000, 0)
        if self.pick(True, True, False):
            found["weight"] = self.weight()
        return found

    def weight_value(self) -> float:
        """Most networks have few weights, so that some have a common unit and others have none."""
        few = random.Random(len(self.areas) + self.ranks)
        few = few.sample(few.choice((WEIGHTS, RELATED, RELATED)), 3)
        return self.pick(*few) if not self.rarely() else self.pick(*WEIGHTS, 1e-9)

    def weight(self) -> float | dict:
        mean = self.weight_value()
        if self.random.random() < 0.85:
            return mean
        sd = abs(mean) * self.pick(0, 0.1, 0.1, 0.25, 1.0 * self.rarely(0.2))
        return {"mean": mean, "sd": sd, **self.pick({}, {"classes": self.pick(0, 2, 3, 8)})}

    def delay(self) -> dict:
        """Most delays are long enough for the schedules that wait several cycles."""
        kind = self.pick("normal", "normal", "constant", "exponential", None)
        mean = round(self.cycle * self.pick(2, 4, 6, 6.37, 12, 24.5), 9)
        found = {"mean": mean} | ({"distribution": kind} if kind else {})
        if kind in ("normal", None):
            found["sd"] = self.pick(0, 0.5, 1.0) * mean
        if found.get("sd") or kind == "exponential" or self.rarely():
            found["min"] = round(mean * self.pick(0.25, 0.5, 0.5, 1) + 0.03 * self.pick(0, 0, 1), 9)
        if self.pick(True, False):
            found["max"] = round(max(mean, found.get("min", 0)) * self.pick(1.1, 1.5, 3), 9)
        if self.rarely():
            found["min"] = self.step * self.pick(0.2, 0.5, 1, 1.49)
        return found


def expected(description: dict, ranks: int, threads: int) -> Loads | str:
    """What the analysis computes from it, or the line with which it refuses it."""
    try:
        rates = np.zeros(len(read_description(description).network.populations))
        loads = Loads.count(description, ranks, threads, rates)
        for lane in loads.lanes:
            exchange.check(lane)
    except BadInput as refusal:
        return str(refusal)
    return loads


class Comparison(NamedTuple):
    """Where the two views of a random description differ, and whether it is possible."""

    differences: str
    possible: bool


def disagreement(number: int, folder: Path, listed: dict) -> Comparison:
    """Compares the two views of a random description; `listed`: what the mini-app lists."""
    case = Drawn(number, listed)
    ranks, threads = case.ranks, case.threads
    folder = folder / f"{number}"
    folder.mkdir()
    path = folder / "run.json"
    for name, content in {"run.json": case.description, **case.way.files}.items():
        (folder / name).write_text(json.dumps(content))
    description = located(case.description, folder)
    done = program.start("--explain", path, "--ranks", ranks, "--threads", threads, "--json")
    loads = expected(description, ranks, threads)
    refusal = loads if isinstance(loads, str) else None
    refusal_of_plan, _ = possible.refusal(description, ranks, threads)
    if (refusal_of_plan is None) != (refusal is None):
        words = f"a plan: {refusal_of_plan or 'possible'} | {refusal or 'possible'}"
        return Comparison(words, possible=False)
    if refusal is not None and done.returncode == 2:
        return Comparison("", possible=False)
    if refusal is not None or done.returncode:
        words = f"{refusal or 'possible'} | {done.stderr.strip() or 'possible'}"
        return Comparison(words, possible=False)
    differences = []
    for name, ours, theirs in compared(loads, json.loads(done.stdout)):
        if ours != theirs:
            differences.append(f"{name}: {ours} | {theirs}")
    return Comparison("; ".join(differences), possible=True)


def close(values):
    return pytest.approx(values, rel=ROUNDING, abs=0)


def compared(loads: Loads, explanation: dict):
    """Yields name, the analysis' value and the mini-app's."""
    time, network = loads.description.time, loads.description.network
    inputs, ring = explanation["input"], explanation["input"]["ring"]
    name, weights = split(loads.placement)
    if name not in placement.PLACEMENTS:
        name = FROM_FILE
    if weights is None:
        weights = 1
    yield "placement", name, explanation["placement"]
    yield "steps of a cycle", time.cycle_steps, explanation["time"]["steps_per_cycle"]
    yield "cycles", time.cycles, explanation["time"]["cycles"]
    yield "areas", len(network.areas), explanation["network"]["areas"]
    synapses = pytest.approx(explanation["network"]["synapses"], abs=0.51, rel=ROUNDING)
    yield "synapses", network.synapses, synapses
    yield "ring", (8 * loads.ring.cell_bytes, loads.ring.slots), (ring["bits"], ring["slots"])
    yield "unit", loads.ring.unit, close(ring["unit"])
    external = close(inputs["external_events_per_s"])
    yield "external", loads.external / loads.cycle_s, external
    names = [lane["name"] for lane in explanation["lanes"]]
    yield "lanes", [lane.name for lane in loads.lanes], names
    for lane, explained in zip(loads.lanes, explanation["lanes"], strict=False):
        yield from compared_lane(lane, explained, time.resolution_ms)
    ranks = explanation["per_rank"]
    neurons = loads.of_rank(loads.neurons).sum(axis=0)
    yield "neurons", neurons.tolist(), [rank["neurons"] for rank in ranks]
    shares = neurons / (weights * np.ones(len(neurons)))
    balance = shares.max() * np.mean(weights) / neurons.mean()
    yield "balance", balance, close(explanation["balance"])
    yield "synapses of ranks", loads.synapses, close([rank["synapses"] for rank in ranks])
    ring_bytes = close([rank["memory_parts"]["ring"] for rank in ranks])
    yield "ring's bytes", loads.ring.neuron_bytes * neurons, ring_bytes


def compared_lane(lane, explained: dict, step_ms: float):
    """Yields what `compared` does, of a lane."""
    name = lane.name
    yield f"{name}, period", lane.period, explained["period"]
    yield f"{name}, lag", lane.lag, explained["lag"]
    yield f"{name}, ranks", int(lane.sizes.max()), explained["ranks"]
    yield f"{name}, groups", len(np.unique(lane.group)), explained["groups"]
    yield f"{name}, exchange", "self" if lane.alone else lane.exchange, explained["exchange"]
    if explained["composed"]:
        levels = explained["composed"].get("dimensions") or [explained["composed"]["group"]]
        sizes = lane.composed.dimensions(explained["ranks"])
        yield f"{name}, levels", [*sizes[: len(levels)]], levels
    yield f"{name}, wire", lane.word_bytes, SPIKE_BYTES[explained["wire"]]
    shortest = None if lane.shortest is None else close(lane.shortest * step_ms)
    yield f"{name}, shortest delay", shortest, explained["shortest_delay_ms"]


@pytest.fixture(scope="module")
def listed():
    """What `miniapp --list --json` prints."""
    return layouts.registries()


FIRST_CASES = [
    pytest.param(first, marks=pytest.mark.nightly if first >= CASES_BY_DAY else [])
    for first in range(0, CASES, BATCH)
]


@pytest.mark.parametrize("first", FIRST_CASES)
def test_random_descriptions(first, listed, tmp_path):
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        numbers = range(first, first + BATCH)
        results = list(pool.map(lambda number: disagreement(number, tmp_path, listed), numbers))
    wrong = [
        f"{number}: {result.differences}"
        for number, result in zip(numbers, results, strict=True)
        if result.differences
    ]
    assert not wrong, "\n".join(wrong)
    assert 0.3 * BATCH < sum(result.possible for result in results) < 0.9 * BATCH


def test_the_same_schedules_and_placements(listed):
    names = [entry["name"] for entry in listed["placements"]]
    assert names == [*placement.PLACEMENTS, FROM_FILE]
    assert [(entry["name"], entry["placement"]) for entry in listed["schedules"]] == [
        (schedule.name, schedule.placement) for schedule in schedules.SCHEDULES.values()
    ]
    for entry in listed["schedules"]:
        lanes = schedules.SCHEDULES[entry["name"]].lanes
        assert len(entry["lanes"]) == len(lanes)
        for listed_lane, lane in zip(entry["lanes"], lanes, strict=True):
            lag = "lag" if lane.lag is None else lane.lag
            fields = tuple(listed_lane[field] for field in ("name", "group", "period", "lag"))
            assert fields == (lane.name, lane.group, lane.period, lag)


def test_the_same_files_and_wires(listed):
    assert {file["name"]: file["writer"] for file in listed["run_files"]} == run_files.FILES
    assert {wire["name"]: 4 * wire["words"] for wire in listed["wires"]} == SPIKE_BYTES


def test_the_same_exchanges(listed):
    def names(field: str) -> set[str]:
        return {entry["name"] for entry in listed["exchanges"] if entry[field]}

    absent = names("absent")  # this MPI library lacks them
    assert names("name") == set(exchanges.EXCHANGES)
    assert names("broadcast") == exchanges.BROADCASTS - absent
    assert names("overlaps") == exchanges.OVERLAPPING - absent
    without_times = {*exchanges.COMPOSED, exchanges.SELF_EXCHANGE}
    assert set(exchanges.EXCHANGES) - without_times == set(exchange_times.EXCHANGES)


@pytest.mark.parametrize(("ranks", "threads"), [(1, 4097), (4096, 4096), (2500, 4000)])
def test_the_same_limits_of_ranks_and_threads(ranks, threads, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(PRESETS["mam-benchmark"].describe()))
    done = program.start("--explain", tmp_path / "run.json", "--ranks", ranks, "--threads", threads)
    refusal, _ = possible.refusal(PRESETS["mam-benchmark"].describe(), ranks, threads)
    # The mini-app checks the threads of a rank where it starts them, which --explain does not.
    assert (done.returncode == 2) == (refusal is not None and threads <= possible.MAX_THREADS)
