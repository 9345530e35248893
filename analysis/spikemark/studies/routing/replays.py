"""What SimGrid says: the messages of a brain replayed beside the model, and beside a small run."""

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import Interconnect
from spikemark.network.description import read
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.partition import graph, levels, routed, traffic
from spikemark.prediction.partition.placement import of_rule
from spikemark.presets import voxels
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records import record
from spikemark.running.simulation import beside, congestion, networks
from spikemark.running.simulation.replay import AS_DIRECT, BY_NUMBER, IN_TURN, Messages, replay
from spikemark.running.simulation.run import simulate
from spikemark.running.simulation.smpirun import SimulationFailed

from . import counted
from .loads import Item, Way, drawn

FILE, RUNS = "replays.json", "simulated"
MACHINE = "jureca-dc"
BACK_END = "direct"  # as p2p, but without looking for messages, which SimGrid makes dear on many ranks
NUMBERED_BACK_END = "p2p"
MOST_MESSAGES = 4_500_000  # of a hop, for which SimGrid takes minutes
SMALL = {"voxels": 64, "neurons": 20_000, "rate": 100.0, "delay_ms": 2.0}
#: Ranks and levels of small brains, which the mini-app runs, too.
SMALL_CASES = ((16, 1), (16, 2), (64, 1), (64, 2), (128, 2), (256, 2), (512, 2))
LARGE_CASES = ((1000, 2), (2000, 2))  # the same at full size
MOST_NUMBERED = 512  # ranks of small brains whose messages are replayed by number
CYCLES, FEW_CYCLES = 20, 5  # of small brains: up to MOST_NUMBERED ranks, and on more
#: Ranks and levels of small brains that are also sent by number.
SMALL_NUMBERED = ((16, 1), (16, 2), (64, 1), (64, 2), (128, 2), (256, 2))
#: Ranks, levels and cycles of full brains that are also sent by number: messages of 1 to 70 kB.
NUMBERED = ((64, 1, 1), (64, 1, 10), (256, 2, 1), (256, 2, 10))


@dataclass(frozen=True)
class Case:
    """A replay of a full brain (cycles in a window), or of a `small` one that is also run. Full ones are sent
    in turn, unless `numbered`: by number. Small ones are sent as they are run, on up to MOST_NUMBERED ranks:
    by BACK_END, or if `numbered` by NUMBERED_BACK_END.
    """

    ranks: int
    levels: int
    cycles: int = 1
    small: bool = False
    numbered: bool = False

    @property
    def key(self) -> str:
        kind = "small" if self.small else "full"
        order = f", {BY_NUMBER}" if self.numbered else ""
        return f"{kind}, {self.ranks} ranks, {self.levels} levels, {self.cycles} cycles, {MACHINE}{order}"

    @property
    def order(self) -> str:
        if self.numbered:
            return BY_NUMBER
        return AS_DIRECT if self.small and self.ranks <= MOST_NUMBERED else IN_TURN

    @property
    def back_end(self) -> str:
        """The exchange that a small brain is run with."""
        return NUMBERED_BACK_END if self.numbered else BACK_END

    @property
    def way(self) -> Way:
        return Way(levels.most_equal(self.ranks, self.levels))

    @property
    def digest(self) -> str:
        """Changes with everything that the result depends on but the code."""
        brain = small(self) if self.small else Item(self.ranks).options
        parts = [brain, asdict(_network(self.ranks)[0]), asdict(self), self.order]
        text = json.dumps(parts, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def cases(full: bool = False) -> list[Case]:
    """Replays of the study, the quick ones first; `full`: also those that take SimGrid long."""
    found = [Case(ranks, k, 1, True) for ranks, k in SMALL_CASES]
    found += [Case(ranks, k, 1, True, True) for ranks, k in SMALL_NUMBERED]
    found += [Case(256, k, d) for k, d in ((2, 1), (2, 10), (3, 1))] + [Case(512, k) for k in (2, 3)]
    found += [Case(ranks, k, d, numbered=True) for ranks, k, d in NUMBERED]
    if not full:
        return found
    found += [Case(ranks, k, 1, True) for ranks, k in LARGE_CASES]
    found += [Case(256, k, d) for k, d in ((1, 1), (1, 10), (3, 10))] + [Case(512, 1)]
    found += [Case(256, k, d) for d in (3, 5) for k in (2, 1)]  # near the threshold
    found += [Case(1000, k) for k in (3, 2, 1)]
    found += [Case(2000, k, d) for k, d in ((4, 1), (3, 1), (2, 1), (2, 10), (1, 1))]
    return [*found, *(Case(ranks, k) for ranks in (4000, 8000, 16000) for k in (3, 2))]


def load(folder: Path) -> dict[Case, dict[str, Any]]:
    """What has been replayed; replays whose brain or machine has changed since are left out."""
    path = folder / FILE
    found = read_json(path) if path.is_file() else {}
    return {
        case: found[case.key]
        for case in cases(full=True)
        if case.key in found and found[case.key].get("digest") == case.digest
    }


def compute(folder: Path, full: bool = False) -> Iterator[str]:
    """Replay what is missing, and yield what cannot be; the next call goes on after an interruption."""
    path = folder / FILE
    known = load(folder)
    found = read_json(path) if path.is_file() else {}
    missing = [case for case in cases(full) if case not in known]
    for number, case in enumerate(missing, 1):
        print(f"routing: {number} of {len(missing)} replays: {case.key}", flush=True)
        try:
            result = _small(case, folder) if case.small else _full(case)
        except (BadInput, SimulationFailed) as reason:
            yield f"{case.key}: {reason}"
            continue
        found[case.key] = result | {"digest": case.digest}
        write_json(path, found)


def _network(ranks: int) -> tuple[Interconnect, Collectives, Collectives]:
    """The simulated network, and the modelled one: with the congestion of the profile, and with the least."""
    profile = machines.filled(machines.load(MACHINE))
    inputs = Inputs(profile), Inputs(profile, moved={congestion.PATH: "low"})
    return networks.of_nodes(profile, ranks), *(Collectives.of(of, ranks) for of in inputs)


@lru_cache(maxsize=1)
def _cycle(ranks: int) -> sparse.csr_array:
    """Words from rank to rank in a cycle of the full brain."""
    brain, hits = drawn(Item(ranks))
    return 1e-3 * brain.cycle_ms * brain.rates_hz[0] * hits.links()


def _full(case: Case) -> dict[str, Any]:
    return _replayed(case, case.cycles * _cycle(case.ranks))


def _small(case: Case, folder: Path) -> dict[str, Any]:
    """The expected messages of a small brain replayed, and the mini-app on the same machine."""
    described = small(case)
    network = read(described)
    brain = graph.of_description(network)
    placement = of_rule(network, "area_group", case.ranks)
    hits = traffic.Hits(brain, placement)
    found = _replayed(case, hits.links(1e-3 * network.time.cycle_ms * brain.rates_hz))
    out = folder / RUNS / f"{case.ranks}-{case.levels}{f'-{case.back_end}' * case.numbered}"
    simulate(described, machines.load(MACHINE), case.ranks, out, cv=1e-6)
    run = record.load(out)
    counts = [_kept(row) for row in counted.rows(run.record)]
    return found | {"run_s": beside.typical_s(run)["exchange"], "counts": counts}


def small(case: Case) -> dict[str, Any]:
    """The run description of a small brain, sent directly or through two levels."""
    part = case.back_end
    found = voxels.describe(**SMALL) | {"placement": "area_group", "exchange": part}
    cycles = CYCLES if case.ranks <= MOST_NUMBERED else FEW_CYCLES
    found["time"] |= {"cycle_ms": 1.0, "warmup_ms": 0.0, "simulate_ms": float(cycles)}
    if case.levels == 2:
        group = case.way.sizes[0]
        found["exchange"] = {"name": "two_level", "inner": part, "outer": part, "group": group}
    return found


def counts(found: dict[Case, dict[str, Any]]) -> Table:
    """What the ranks of the small brains counted in simulated time."""
    rows = [_cells(row) for r in found.values() for row in r.get("counts", ())]
    return counted.of_rows(rows, "Counted by simulated ranks", "simulated")


def _kept(row: dict[str, Cell]) -> dict[str, Any]:
    """A row of counts for JSON."""
    return {n: {"reason": c.reason, "mark": c.mark} if isinstance(c, Quantity) else c for n, c in row.items()}


def _cells(kept: dict[str, Any]) -> dict[str, Cell]:
    """The row that was kept."""
    return {n: missing(**c) if isinstance(c, dict) else c for n, c in kept.items()}


def _spent() -> float:
    """Seconds of processor time of this program and those that it has run."""
    return sum(os.times()[:4])


def _replayed(case: Case, words: sparse.csr_array) -> dict[str, Any]:
    """Simulated and modelled seconds of each hop. Raises BadInput for too many messages."""
    framed = words * traffic.WORD
    if case.levels > 1:
        framed.data = framed.data - routed.FRAME_BYTES * np.expm1(-words.data)
    hops = levels.hops(framed, case.way.sizes)
    if max(hop.flow.nnz for hop in hops) > MOST_MESSAGES:
        raise BadInput(f"{max(hop.flow.nnz for hop in hops)} messages at a time; {MOST_MESSAGES} at most")
    network, net, free = _network(case.ranks)
    sums = [routed.Sums.of(levels.Level.of(hop)) for hop in hops]
    busiest = [routed.Busiest(s.partners, s.sent, s.largest) for s in sums]
    strides = np.cumprod([1, *case.way.sizes[:-1]])
    messages = [
        Messages(hop.flow, int(stride), size)
        for hop, stride, size in zip(hops, strides, case.way.sizes, strict=True)
    ]
    began = _spent()
    simulated = replay(messages, network, case.order)
    return {
        "messages": max(s.partners for s in sums),
        "bytes": sum(s.sent for s in sums),
        "largest": max(s.largest for s in sums),
        "modelled_s": [net.messages(part, by_number=case.order != IN_TURN) for part in busiest],
        "least_s": [free.messages(part, by_number=case.order != IN_TURN) for part in busiest],
        "p2p_s": [net.messages(part, by_number=True) for part in busiest],
        "last_s": simulated.last_s.tolist(),
        "mean_s": simulated.mean_s.tolist(),
        "simulator_bytes": simulated.peak_bytes,
        "processor_s": _spent() - began,
    }


def table(found: dict[Case, dict[str, Any]]) -> Table:
    """One row for each replay: model over simulation, and the small runs of the mini-app."""
    rows = []
    for case, r in found.items():
        run = missing("too large to be run here", mark="–") if "run_s" not in r else 1e6 * r["run_s"]
        rows.append({
            "brain": "small" if case.small else "full",
            "ranks": case.ranks,
            "way": case.way.words,
            "cycles": case.cycles,
            "order": case.order,
            "largest": 1e-3 * r["largest"],
            "mb": 1e-6 * r["bytes"],
            "modelled": 1e6 * sum(r["modelled_s"]),
            "least": 1e6 * sum(r["least_s"]),
            "p2p": 1e6 * sum(r["p2p_s"]),
            "last": 1e6 * r["last_s"][-1],
            "ratio": sum(r["modelled_s"]) / r["last_s"][-1],
            "ratio_least": sum(r["least_s"]) / r["last_s"][-1],
            "run": run,
            "cost_s": r["processor_s"],
            "memory": 1e-6 * r["simulator_bytes"],
            "of_run": r["mean_s"][-1] / r["run_s"] if "run_s" in r else run,
        })  # fmt: skip
    columns = [
        Column("brain", "brain"),
        Column("ranks", "ranks", "given"),
        Column("way", "way"),
        Column("cycles", "cycles in a window", "given"),
        Column("order", "order of messages"),
        Column("largest", "kB of the largest message", "modelled"),
        Column("mb", "MB that the busiest rank sends", "modelled"),
        Column("modelled", "model (us)", "modelled"),
        Column("least", "model without congestion (us)", "modelled"),
        Column("p2p", "model of p2p, by number (us)", "modelled"),
        Column("last", "replayed messages (us)", "simulated"),
        Column("ratio", "model / replay", "simulated"),
        Column("ratio_least", "model without congestion / replay", "simulated"),
        Column("run", "mini-app on SimGrid (us)", "simulated"),
        Column("of_run", "replay / mini-app", "simulated"),
        Column("cost_s", "processor time of the replay (s)", "measured"),
        Column("memory", "memory of the simulator (MB)", "measured"),
    ]
    note = (
        f"An exchange on {MACHINE} with a rank on each node. The replay sends the expected bytes of every"
        " message: to ranks by number, as p2p and direct do, or in turn, so that no rank gets all messages at"
        " once, which takes SimGrid less time. The model beside it is that of the same order, with the"
        " congestion that is assumed for static routes, and without any. The replay has the bandwidth of the"
        " profile, and messages meet on the links of its topology. It ends when the last rank has done."
        " The mini-app has real spikes, whose number varies; its time is a mean over ranks, with which that"
        " of the replay is compared."
    )
    return Table(columns, rows, "Replayed on SimGrid", "replayed", [note])
