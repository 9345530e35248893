"""Misses of delivery in simulated caches (Valgrind), beside those predicted from the counts of the run.

Callgrind is told to count only in delivery and to forget the warm-up, which cachegrind 3.19 cannot do; their
misses are within 1 % of each other. Adding a synapse to a cell of the ring is one access, which it counts as
a write. Results of runs in a results folder are kept in RESULTS/cachesim/ID.json.
"""

import re
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict
from pydantic.dataclasses import dataclass
from scipy import special

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.launch import CPUS, Launch
from spikemark.launch.process import ProgramFailed, output
from spikemark.machines import Profile
from spikemark.models import caches
from spikemark.models.caches import Delivery
from spikemark.network import lanes, lines, placement
from spikemark.network.description import Delay
from spikemark.network.schedules import find
from spikemark.quantities.table import Column, Table
from spikemark.records import record, run_files
from spikemark.records.record import Run

from . import host

DELIVER = "synapse_table_deliver*"  # the function of the mini-app in which accesses are counted
MEASURED = "build_reset_counts"  # what the mini-app calls once, between the warm-up and the measured part
WAYS = {"d1": 8, "ll": 16}  # as in most processors
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
UNWANTED = ("cycles", "spikes", "counters", "energy")  # of a record
LIMIT_S = 3600.0


# ---------------------------------------------------------------- caches


@dataclass(frozen=True)
class Cache:
    """`size` and `line` in bytes; `ways`: lines of a set. Sets must be a power of two for Valgrind."""

    size: int
    ways: int
    line: int = 64

    @property
    def option(self) -> str:
        return f"{self.size},{self.ways},{self.line}"

    @property
    def possible(self) -> bool:
        if self.ways < 1 or self.line < 16:
            return False
        sets, rest = divmod(self.size, self.ways * self.line)
        return not rest and self.line.bit_count() == sets.bit_count() == 1


def cache(text: str, field: str) -> Cache:
    """`SIZE,WAYS,LINE` in bytes, lines and bytes. Raises BadInput for what Valgrind would refuse."""
    if re.fullmatch(r"[0-9]{1,15}(,[0-9]{1,15}){2}", text):
        found = Cache(*map(int, text.split(",")))
        if found.possible:
            return found
    expected = "SIZE,WAYS,LINE such as 33554432,16,64, with lines of 16 bytes or more"
    raise BadInput(f"{field}: {text!r}; expected {expected} and SIZE / (WAYS x LINE) a power of two")


def of_machine(name: str, profile: Profile | None = None, cpus: Path = CPUS) -> Cache:
    """`d1`, or `ll`, the last cache or a slice of it, of a machine, by default of this host.

    It has the usual WAYS, or the next number that Valgrind accepts. Raises BadInput where no size is known.
    """
    if profile is None:
        there = [(size, line) for _, kind, size, line, _ in host.caches(cpus) if kind != "Instruction"]
        sizes = [(1024 * int(size), int(line)) for size, line in there if size and line]
    else:
        line = (known := profile.get("node.line")) and known.value
        paths = ("node.l1d",) if name == "d1" else ("node.l2", "node.l3")
        sizes = [(round(known.value * 1024), int(line or 64)) for p in paths if (known := profile.get(p))]
    size, line = (sizes or [(0, 64)])[0 if name == "d1" else -1]
    tried = (Cache(size, ways, line) for ways in range(WAYS[name], size // line + 1))
    if found := next((one for one in tried if one.possible), None):
        return found
    whose = f"machine {profile.name}" if profile else "this host"
    raise BadInput(f"--{name}: the cache of {whose} is unknown: give SIZE,WAYS,LINE")


# ---------------------------------------------------------------- the simulation


class Totals(BaseModel):
    """Counts of the measured part, simulated and predicted. Misses are those of the last cache."""

    model_config = ConfigDict(allow_inf_nan=False)

    synaptic_events: int
    first_accesses: int
    misses: int
    predicted: float


class SimulatedCaches(Totals):
    """What was simulated and predicted for all ranks, each of which had caches of its own.

    `events`: what Callgrind counted; `terms`: predicted visits and misses by term of `caches.prediction`.
    """

    kind: str = "simulated caches"
    label: str = "simulated"
    d1: Cache
    ll: Cache
    ranks: int
    threads: int
    simulate_ms: float
    events: dict[str, int]
    terms: dict[str, caches.Term]


def read(path: Path) -> Totals | None:
    """The totals in a kept file; None where there is none. Raises BadInput for one that cannot be used."""
    return checked(Totals, read_json(path), path, "result") if path.is_file() else None


def counts(path: Path) -> dict[str, int]:
    """The totals of an output file of Callgrind, by event."""
    (totals,) = re.findall(r"^totals: (.*)$", path.read_text(), re.MULTILINE)
    values = [int(value) for value in totals.split()]  # zeros at the end are left out
    return dict(zip(EVENTS, values + [0] * (len(EVENTS) - len(values)), strict=True))


def simulate(
    description: Path, ranks: int, threads: int, first: Cache, last: Cache, simulate_ms: float | None = None
) -> SimulatedCaches:
    """Runs a description under Valgrind, every rank with its own caches, and predicts its misses.

    `simulate_ms` changes the length of the measured part. Takes up to a hundred times as long as the run
    itself. Raises BadInput if Valgrind is missing; ProgramFailed if the run fails.
    """
    if not shutil.which("valgrind"):
        raise BadInput("valgrind: command not found: install the package valgrind (setup/apt.txt)")
    program = build()
    with tempfile.TemporaryDirectory(prefix="cachesim-") as workspace:
        folder = Path(workspace)
        command = [
            "valgrind", "--tool=callgrind", "--cache-sim=yes", f"--I1={first.option}", f"--D1={first.option}",
            f"--LL={last.option}", f"--toggle-collect={DELIVER}", f"--zero-before={MEASURED}",
            f"--callgrind-out-file={folder}/%q{{OMPI_COMM_WORLD_RANK}}.callgrind",
            f"--log-file={folder}/%q{{OMPI_COMM_WORLD_RANK}}.log",
            str(program), str(description.resolve()), "--out", str(folder / "record"),
        ]  # fmt: skip
        settings = [f"record.{name}=false" for name in UNWANTED] + ["record.idle_pause_s=0"]
        settings += [] if simulate_ms is None else [f"time.simulate_ms={simulate_ms:g}"]
        command += [word for setting in settings for word in ("--set", setting)]
        start = launch.launch("mpirun", command, launch.Layout(ranks, threads))
        # Valgrind has no process_vm_readv from rank to rank
        environment = {**start.environment, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
        output(replace(start, environment=environment), LIMIT_S)
        if not run_files.whole(folder / "record"):
            raise ProgramFailed(f"{program}: exit status 0, but no record")
        run = record.load(folder / "record")
        made = deliveries(run)
        simulated = [counts(folder / f"{number}.callgrind") for number in range(len(made))]
    predicted = [caches.prediction(delivery, last.size, last.line) for delivery in made]
    events = {name: sum(found[name] for found in simulated) for name in EVENTS}
    terms = {name: [of[name] for of in predicted] for name in predicted[0]}
    terms = {n: caches.Term(sum(t.visits for t in of), sum(t.misses for t in of)) for n, of in terms.items()}
    return SimulatedCaches(
        synaptic_events=sum(int(d.events) for d in made),
        first_accesses=sum(int(d.first_accesses) for d in made),
        misses=events["DLmr"] + events["DLmw"],
        predicted=float(sum(term.misses for term in terms.values())),
        d1=first, ll=last, ranks=ranks, threads=threads, events=events, terms=terms,
        simulate_ms=float(run.record.description["time"]["simulate_ms"]),
    )  # fmt: skip


def build() -> Path:
    """The mini-app with -O2 for any processor of this kind, in build/cachesim: Valgrind lacks AVX-512.

    Raises ProgramFailed.
    """
    root = places.checkout()
    folder = root / "build" / "cachesim"
    configure = ["cmake", "-S", str(root), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSPIKEMARK_ARCH="]
    for step in (configure, ["cmake", "--build", str(folder), "--target", "miniapp"]):
        output(Launch(step), LIMIT_S)
    return folder / "miniapp"


# ---------------------------------------------------------------- what each rank delivers


#: Bytes that a thread works with while it delivers from lines: 35 cache lines of 64 bytes, counted with
#: Callgrind where nothing stays in the cache from one step to the next. Spikes that pass a filter are kept,
#: too, up to CHUNK at a time (41 to 51 cache lines in all with 400 spikes in a step).
BUFFERS = 35 * 64
CHUNK, SPIKE = 2048, 4  # spikes that go through the filter at a time; bytes of one
BLOCK = 4096  # neurons updated together, whose input every step touches (block_neurons of the mini-app)


def deliveries(run: Run) -> list[Delivery]:
    """One delivery for each rank. Sizes known for all ranks together are split as their contents are."""
    record, description = run.record, run.record.described
    parts, totals, time = record.memory.parts, record.totals, description.time
    populations, projections = description.network.populations, description.network.projections
    weights = [p.weights for p in projections]  # a synapse names one of them, unless each has its own
    classes = 1 if any(w.own for w in weights) else len({level for w in weights for level in w.levels})
    arrivals, steps = arrivals_of(run), time.cycles * time.cycle_steps
    local = placement.neurons(description, description.placement, record.ranks, record.threads).sum(axis=2)
    names = [p.name for p in populations]
    received = np.zeros(len(names))
    for p in projections:
        received[names.index(p.target)] += p.synapses
    synapse = round(parts["synapses"] / max(1, totals.synapses)) or 4
    words, largest = synapse // lines.WORD, max(p.size for p in populations)
    found = []
    for row in run.ranks.itertuples():
        lookups = row.lookups if "lookups" in run.ranks else 0
        filtered = row.synaptic_events < lookups  # lists are mostly empty
        spare = lines.spare_bits(-(-row.neurons // record.threads), len(arrivals), classes)
        shared = bool(lookups) and lines.used(lookups, row.synaptic_events, words, spare)
        beyond = lines.beyond(row.synaptic_events / lookups, words, spare, filtered) if shared else 0.0
        passed = min(row.first_accesses / steps / record.threads, CHUNK) if filtered else 0.0
        of_neurons = row.neurons / max(1, totals.neurons)
        here = local[:, int(row.rank)]
        there = received * here
        shares = zip(here / max(1, here.sum()), there / (there.sum() or 1.0), strict=True)
        found.append(Delivery(
            steps=steps,
            before=time.warmup_cycles * time.cycle_steps,
            events=int(row.synaptic_events),
            first_accesses=int(row.first_accesses),
            spikes=int(row.spikes),
            neurons=int(row.neurons),
            synapse=synapse,
            synapses=parts["synapses"] * row.synapses / max(1, totals.synapses),
            starts=parts["lists"] / record.ranks,
            ring=parts["ring"] * of_neurons,
            profile=arrivals,
            targets=tuple((float(n), float(s)) for n, s in shares if n > 0),
            routes=parts["routes"] * of_neurons,
            others=parts["neurons"] * of_neurons + 4 * min(BLOCK, largest / record.ranks),
            lines_read=int(row.first_accesses if filtered else lookups) if shared else 0,
            beyond=lines.LINES_BEYOND * beyond,
            filtered=int(lookups) if filtered else 0,
            threads=record.threads,
            buffers=record.threads * (BUFFERS + SPIKE * passed) if shared else 0.0,
            regular=all(p.neuron.model == "ignore_and_fire" for p in populations),
        ))  # fmt: skip
    return found


def arrivals_of(run: Run) -> np.ndarray:
    """Share of the synaptic events by the steps from delivery to use, [slots of the ring].

    A spike of a window of P cycles is delivered L windows after its end, so that between P L + 1 / steps and
    P (L + 1) cycles of its delay have passed, all alike. Projections weigh by their synapses.
    """
    description = run.record.described
    network, steps = description.network, description.time.cycle_steps
    areas = dict(zip(network.numbers, network.area_of, strict=True))
    size = {p.name: p.size for p in network.populations}
    held = lanes.pairs(description, find(description.schedule), description.placement, run.record.ranks)
    delays = [delay_shares(p.delay, description.time.resolution_ms) for p in network.projections]
    shares = np.zeros(max((len(d) for d in delays), default=1))
    for p, delay in zip(network.projections, delays, strict=True):
        for source in p.sources:
            weight = size[source] / max(1, sum(size[s] for s in p.sources))
            weight *= p.synapses * size[p.target]
            lane = next((n for n, pairs in held.items() if pairs[areas[source], areas[p.target]]), None)
            used = next(lane_ for lane_ in run.record.lanes if lane_.name == lane)
            window = used.period * steps
            for age in range(used.lag * window + 1, (used.lag + 1) * window + 1):
                shares[: len(delay) - age] += weight / window * delay[age:]
    return shares / shares.sum() if shares.sum() > 0 else shares


def delay_shares(delay: Delay, step_ms: float) -> np.ndarray:
    """Probability of each delay in steps, [0 … longest] (miniapp/FORMAT.md: redrawn, then rounded)."""
    mean, sd = delay.mean / step_ms, delay.sd / step_ms
    low, high = (ms / step_ms for ms in delay.limits(step_ms))
    first, last = delay.steps(step_ms)
    edges = np.clip(np.arange(first, last + 2) - 0.5, low, high)
    if delay.distribution == "exponential":
        below = -np.exp((low - edges) / mean)
    else:
        below = special.ndtr((edges - mean) / (sd or 1))
    shares = np.ones(1) if first == last else np.diff(below)
    return np.concatenate([np.zeros(first), shares / shares.sum()])


# ---------------------------------------------------------------- for people

READ, WRITTEN = ("lists", "starts", "words"), ("ring", "buffers")


def table(found: SimulatedCaches) -> Table:
    """The misses of delivery by term, and in all: predicted from the counts, and simulated."""
    rows = []
    for what, names, event in ("read", READ, "DLmr"), ("written", WRITTEN, "DLmw"):
        each = {name: found.terms[name] for name in names}
        rows += [
            {"term": n, "visits": round(t.visits), "predicted": round(t.misses)} for n, t in each.items()
        ]
        predicted = round(sum(term.misses for term in each.values()))
        simulated = found.events[event]
        rows.append({"term": f"all that are {what}", "predicted": predicted, "simulated": simulated})
    rows.append({"term": "all", "predicted": round(found.predicted), "simulated": found.misses})
    columns = [
        Column("term", ""), Column("visits", "lines visited", "counted"),
        Column("predicted", "misses", "modelled"), Column("simulated", "misses", "simulated"),
    ]  # fmt: skip
    caches_ = f"D1 {found.d1.option}, last level {found.ll.option} (bytes, ways, line)"
    return Table(columns, rows, f"Delivery in simulated caches: {caches_}; {found.ranks} x {found.threads}")


def sentence(found: SimulatedCaches) -> str:
    """Misses per synaptic event, and how far the prediction is off."""
    if not found.synaptic_events or not found.misses:
        return "No last-level misses: expected a larger network or a smaller --ll."
    each, off = found.misses / found.synaptic_events, 100 * (found.predicted / found.misses - 1)
    return f"{each:.4f} last-level misses per synaptic event (simulated, predicted {off:+.1f} %)"
