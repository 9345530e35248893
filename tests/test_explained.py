"""What the analysis expects of a run, against what `miniapp --explain` says, for random descriptions.

Both read the same description and must agree on lanes, periods, lags, groups, placement, the ring of input,
memory and on whether the run is possible at all. Both sides compute every figure in the same way, so the only
tolerance is for rounding.
"""

import json
import os
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import drawn
import layouts
import numpy as np
import program
import pytest

from spikemark.core.errors import BadInput
from spikemark.models import loggp
from spikemark.network import exchanges, placement, schedules
from spikemark.network.description import read
from spikemark.network.lanes import WORD_BYTES
from spikemark.network.named_files import located
from spikemark.network.placement_file import FROM_FILE, split
from spikemark.network.presets import PRESETS
from spikemark.prediction import exchange
from spikemark.prediction.workload import Loads
from spikemark.records import run_files
from spikemark.running import possible

pytestmark = pytest.mark.slow

CASES, BATCH, DAY = 240, 60, 60  # descriptions, how many of them make one test, and how many are for the day
#: Sums of millions of terms in another order; the mini-app takes 1.0000001 neurons for a pool of one.
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
        self.ranks = min(self.pick(1, 2, 3, 4, 6, 8, 12, 16), len(self.areas) + self.rarely(0.2) * 16)
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
            "time": {"resolution_ms": self.step, "cycle_ms": self.cycle, "simulate_ms": 40 * self.cycle},
            "schedule": self.way.schedule(known, self.areas),
            "network": {"populations": self.populations, "projections": self.projections},
        }
        if self.cycle == self.step and self.pick(True, False):
            del found["time"]["cycle_ms"]
        for field, how, value in (
            ("delay_ratio", 0.7, self.pick("auto", "auto", 1, 2, 3, 4, 6, 12, 10**6)),
            ("lag", 0.3, self.pick(1, 2, 3)), ("wire", 0.3, self.pick("compact", "aer12")),
            ("placement", 0.7, self.way.placement(known)), ("exchange", 0.4, self.way.exchange(known)),
            ("exchange", 0.05, self.pick("none_such", "self", {self.pick("near", "world", "lane1"): "p2p"})),
            ("placement", 0.02, "none_such"),
        ):  # fmt: skip
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
                "weight": self.weight_value(), "synapses": self.pick(0, 1, 40),
            }  # fmt: skip
        if len(self.areas) > i and self.pick(True, False):
            found["name"] = found.pop("area")
        return found

    def projection(self, names: list[str]) -> dict:
        sources = self.random.sample(names, min(len(names), self.pick(1, 1, 2, 3)))
        found = {
            "source": self.pick(sources, sources[0]), "target": self.pick(*names), "delay": self.delay(),
            "indegree": self.pick(0, 1, 17, 300, 3000, {"mean": self.pick(0, 0.05, 3.7, 250.5)}),
        }  # fmt: skip
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
        rates = np.zeros(len(read(description).network.populations))
        found = Loads.of(description, ranks, threads, rates)
        for lane in found.lanes:
            exchange.check(lane)
    except BadInput as refusal:
        return str(refusal)
    return found


def disagreement(number: int, folder: Path, known: dict) -> tuple[str, bool]:
    """Where the two views of a random description differ, and whether it is possible."""
    case = Drawn(number, known)
    description, ranks, threads = case.description, case.ranks, case.threads
    folder = folder / f"{number}"
    folder.mkdir()
    path = folder / "run.json"
    for name, content in {"run.json": description, **case.way.files}.items():
        (folder / name).write_text(json.dumps(content))
    description = located(description, folder)
    done = program.start("--explain", path, "--ranks", ranks, "--threads", threads, "--json")
    mine = expected(description, ranks, threads)
    planned, _ = possible.refusal(description, ranks, threads)
    if isinstance(planned, str) != isinstance(mine, str):
        return f"a plan: {planned or 'possible'} | {mine if isinstance(mine, str) else 'possible'}", False
    if isinstance(mine, str) or done.returncode:
        if isinstance(mine, str) and done.returncode == 2:
            return "", False
        return f"{mine if isinstance(mine, str) else 'possible'} | {done.stderr.strip() or 'possible'}", False
    views = [(name, a, b) for name, a, b in compared(mine, json.loads(done.stdout)) if a != b]
    return "; ".join(f"{name}: {a} | {b}" for name, a, b in views), True


def close(values):
    return pytest.approx(values, rel=ROUNDING, abs=0)


def compared(mine: Loads, said: dict):
    """Yields name, the analysis' value and the mini-app's."""
    time, network, ring = mine.description.time, mine.description.network, said["input"]["ring"]
    name, weights = split(mine.placement)
    name, weights = (name if name in placement.PLACEMENTS else FROM_FILE), 1 if weights is None else weights
    yield "placement", name, said["placement"]
    yield "steps of a cycle", time.cycle_steps, said["time"]["steps_per_cycle"]
    yield "cycles", time.cycles, said["time"]["cycles"]
    yield "areas", len(network.areas), said["network"]["areas"]
    yield "synapses", network.synapses, pytest.approx(said["network"]["synapses"], abs=0.51, rel=ROUNDING)
    yield "ring", (8 * mine.ring.cell_bytes, mine.ring.slots), (ring["bits"], ring["slots"])
    yield "unit", mine.ring.unit, close(ring["unit"])
    yield "external", mine.external / mine.cycle_s, close(said["input"]["external_events_per_s"])
    yield "lanes", [lane.name for lane in mine.lanes], [lane["name"] for lane in said["lanes"]]
    for a, b in zip(mine.lanes, said["lanes"], strict=False):
        yield f"{a.name}, period", a.period, b["period"]
        yield f"{a.name}, lag", a.lag, b["lag"]
        yield f"{a.name}, ranks", int(a.sizes.max()), b["ranks"]
        yield f"{a.name}, groups", len(np.unique(a.group)), b["groups"]
        yield f"{a.name}, exchange", "self" if a.alone else a.exchange, b["exchange"]
        if b["composed"]:
            own = b["composed"].get("dimensions") or [b["composed"]["group"]]
            sizes = a.composed.dimensions(b["ranks"])
            yield f"{a.name}, levels", [*sizes[: len(own)]], own
        yield f"{a.name}, wire", a.word_bytes, WORD_BYTES[b["wire"]]
        shortest = None if a.shortest is None else close(a.shortest * time.resolution_ms)
        yield f"{a.name}, shortest delay", shortest, b["shortest_delay_ms"]
    ranks = said["per_rank"]
    neurons = mine.of_rank(mine.neurons).sum(axis=0)
    yield "neurons", neurons.tolist(), [rank["neurons"] for rank in ranks]
    shares = neurons / (weights * np.ones(len(neurons)))
    yield "balance", shares.max() * np.mean(weights) / neurons.mean(), close(said["balance"])
    yield "synapses of ranks", mine.synapses, close([rank["synapses"] for rank in ranks])
    yield "ring's bytes", mine.ring.neuron_bytes * neurons, close([r["memory_parts"]["ring"] for r in ranks])


@pytest.fixture(scope="module")
def known():
    """What `miniapp --list --json` prints."""
    return layouts.registries()


@pytest.mark.parametrize(
    "first",
    [pytest.param(i, marks=pytest.mark.nightly if i >= DAY else []) for i in range(0, CASES, BATCH)],
)
def test_random_descriptions(first, known, tmp_path):
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        numbers = range(first, first + BATCH)
        found = list(pool.map(lambda number: disagreement(number, tmp_path, known), numbers))
    wrong = {first + i: words for i, (words, _) in enumerate(found) if words}
    assert not wrong, "\n".join(f"{number}: {words}" for number, words in wrong.items())
    assert 0.3 * BATCH < sum(possible for _, possible in found) < 0.9 * BATCH


def test_the_same_names(known):
    said = known
    assert [one["name"] for one in said["placements"]] == [*placement.PLACEMENTS, FROM_FILE]
    assert [(one["name"], one["placement"]) for one in said["schedules"]] == [
        (one.name, one.placement) for one in schedules.SCHEDULES.values()
    ]
    for one in said["schedules"]:
        lanes = [
            (lane.name, lane.group, lane.period, "lag" if lane.lag is None else lane.lag)
            for lane in schedules.SCHEDULES[one["name"]].lanes
        ]
        assert [tuple(lane[n] for n in ("name", "group", "period", "lag")) for lane in one["lanes"]] == lanes
    assert {file["name"]: file["writer"] for file in said["run_files"]} == run_files.FILES
    assert {one["name"] for one in said["exchanges"]} == set(exchanges.EXCHANGES)
    composed = {*exchange.COMPOSED, exchanges.ALONE}
    assert set(exchanges.EXCHANGES) == exchange.EXCHANGES.keys() | composed
    assert {one["name"] for one in said["exchanges"] if one["broadcast"]} == set(loggp.BROADCASTS)
    overlapping = {one["name"] for one in said["exchanges"] if one["overlaps"]}
    assert overlapping - {*exchanges.COMPOSED} == set(loggp.OVERLAPPING)
    assert {one["name"] for one in said["neuron_models"]} == set(possible.MODELS)
    assert {one["name"]: 4 * one["words"] for one in said["wires"]} == WORD_BYTES


@pytest.mark.parametrize(("ranks", "threads"), [(1, 4097), (4096, 4096), (2500, 4000)])
def test_the_same_limits_of_ranks_and_threads(ranks, threads, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(PRESETS["mam-benchmark"].describe()))
    done = program.start("--explain", tmp_path / "run.json", "--ranks", ranks, "--threads", threads)
    refused, _ = possible.refusal(PRESETS["mam-benchmark"].describe(), ranks, threads)
    # The mini-app checks the threads of a rank where it starts them, which --explain does not.
    assert (done.returncode == 2) == (refused is not None and threads <= possible.MOST_THREADS)
