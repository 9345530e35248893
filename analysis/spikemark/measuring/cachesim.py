"""Misses of delivery in simulated caches (Valgrind), beside those predicted from the counts of the run.

Cachegrind 3.19 cannot be told when to count. Callgrind has the same simulation (the same accesses, and misses
within 1 % of cachegrind's when both count a whole run) and can be told to count only in delivery and to
forget the warm-up. Adding a synapse to a cell of the ring is one access, which it counts as a write. Kept
results of a results folder are in RESULTS/cachesim/ID.json.
"""

import re
import shutil
import tempfile
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field
from pydantic.dataclasses import dataclass
from scipy import special

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.lock import open_locked
from spikemark.core.reading import read_json, read_text
from spikemark.launch import CPUS, Launch, reasons
from spikemark.launch.process import watch
from spikemark.machines import Profile
from spikemark.models import caches
from spikemark.models.caches import Delivery
from spikemark.network import lanes, lines, placement
from spikemark.network.description import Delay
from spikemark.network.schedules import find
from spikemark.quantities.table import Column, Table
from spikemark.records import record, run_files
from spikemark.records.record import Run

DELIVER = "synapse_table_deliver*"  # the function of the mini-app in which accesses are counted
MEASURED = "build_reset_counts"  # what the mini-app calls once, between the warm-up and the measured part
LINE, WAYS = 64, {"d1": 8, "ll": 16}  # as in most processors, where nothing says how many
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
UNWANTED = ("cycles", "spikes", "counters", "energy")  # of a record
LIMIT_S = BUILD_LIMIT_S = 3600.0
Count = Annotated[int, Field(ge=0, strict=True)]


class CachesimFailed(RuntimeError):
    """Raised if there are no counts; the message is the reason, in one line."""


# ---------------------------------------------------------------- caches


@dataclass(frozen=True)
class Cache:
    """`size` and `line` in bytes; `ways`: lines of a set. Sets must be a power of two for Valgrind."""

    size: Count
    ways: Count
    line: Count = LINE

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


def guessed(size: int, name: str, line: int = LINE) -> Cache | None:
    """A cache of `size` bytes with the usual ways, or the next number that Valgrind accepts."""
    all_ = (Cache(size, n, line) for n in range(WAYS[name], size // max(line, 1) + 1))
    return next((one for one in all_ if one.possible), None)


def host_cache(name: str, cpus: Path = CPUS) -> Cache:
    """`d1` or `ll`, the last one, of this host, as the kernel tells. Raises BadInput where it does not."""
    known = {}
    for index in sorted(cpus.glob("cpu0/cache/index*")):
        names = ("level", "type", "size", "coherency_line_size")
        level, kind, size, line = ((index / file).read_text().strip() for file in names)
        if kind != "Instruction" and size.endswith("K"):
            known[int(level)] = int(size[:-1]) * 1024, name, int(line)
    of = known.get(1 if name == "d1" else max(known, default=0))
    if found := of and guessed(*of):
        return found
    raise BadInput(f"--{name}: this host does not report the size of its cache: give SIZE,WAYS,LINE")


def machine_cache(profile: Profile, name: str) -> Cache:
    """`d1` or `ll`, a slice of the last level, of a machine.

    Raises BadInput where the profile has no size, or one that Valgrind refuses.
    """
    paths = ("node.l1d",) if name == "d1" else ("node.l3", "node.l2")
    size, line = (
        next((known.value for p in of if (known := profile.get(p))), None) for of in (paths, ["node.line"])
    )
    line = LINE if line is None else int(line)
    if size is not None and (found := guessed(round(size * 1024), name, line)):
        return found
    known = "unknown" if size is None else f"{size:g} KiB in lines of {line} B, which Valgrind refuses"
    raise BadInput(f"--{name}: {paths[0]} of {profile.name} is {known}: give SIZE,WAYS,LINE")


# ---------------------------------------------------------------- the simulation


class SimulatedCaches(BaseModel):
    """What was simulated, and predicted, in all and for each rank, which had caches of its own.

    Counts are those of the measured part. `ranks`: `simulated`, by event, and `predicted`, by term of
    `caches.prediction`. Misses are those of the last cache.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    kind: Literal["simulated caches"]
    label: str = "simulated"
    d1: Cache
    ll: Cache
    threads: Annotated[int, Field(ge=1)]
    simulate_ms: Annotated[float, Field(gt=0)]
    synaptic_events: Count
    first_accesses: Count
    misses: Count
    predicted: Annotated[float, Field(ge=0)]
    ranks: Annotated[list[dict], Field(min_length=1)]

    def term(self, name: str) -> caches.Term:
        terms = [rank["predicted"][name] for rank in self.ranks]
        return caches.Term(sum(t["visits"] for t in terms), sum(t["misses"] for t in terms))

    def event(self, name: str) -> int:
        return sum(rank["simulated"][name] for rank in self.ranks)


def read(path: Path) -> SimulatedCaches | None:
    """The content of a file; None where there is none. Raises BadInput for one that cannot be used."""
    if not path.is_file():
        return None
    return checked(SimulatedCaches, read_json(path), path, "result")


def counts(path: Path) -> dict[str, int]:
    """The totals of an output file, by event. Raises BadInput for another file or other events."""
    text = read_text(path, "Valgrind wrote no counts")
    events, totals = (re.search(rf"^{name}: (.*)$", text, re.MULTILINE) for name in ("events", "totals"))
    if not events or not totals or tuple(events[1].split()) != EVENTS:
        raise BadInput(f"{path}: not the output of callgrind with --cache-sim=yes")
    values = [int(value) for value in totals[1].split()]  # zeros at the end are left out
    return dict(zip(EVENTS, values + [0] * (len(EVENTS) - len(values)), strict=True))


def simulate(
    description: Path, ranks: int = 1, threads: int = 1, first: Cache | None = None,
    last: Cache | None = None, simulate_ms: float | None = None,
) -> SimulatedCaches:  # fmt: skip
    """Runs a description under Valgrind, every rank with its own caches, and predicts its misses.

    The caches default to those of this host; `simulate_ms` changes the length of the measured part. Takes up
    to a hundred times as long as the run itself. Raises BadInput if Valgrind is missing or the caches are
    unknown; CachesimFailed if the run fails.
    """
    for name in ("valgrind", "cmake"):
        if not shutil.which(name):
            raise BadInput(f"{name}: command not found: install the package {name} (setup/apt.txt)")
    if not description.is_file():
        raise BadInput(f"{description}: not found: a run description is needed")
    first, last = first or host_cache("d1"), last or host_cache("ll")
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
        done = watch(replace(start, environment=environment), LIMIT_S)
        if done.status != 0 or not run_files.whole(folder / "record"):
            if done.refusal is not None:
                raise BadInput(done.refusal)
            raise CachesimFailed(reasons.of_program(done.errors or done.output, done.status))
        run = record.load(folder / "record")
        made = deliveries(run)
        simulated = [counts(folder / f"{number}.callgrind") for number in range(len(made))]
    predicted = [caches.prediction(delivery, last.size, last.line) for delivery in made]
    each = [{n: asdict(t) for n, t in terms.items()} for terms in predicted]
    return SimulatedCaches(
        kind="simulated caches", d1=first, ll=last,
        threads=threads, simulate_ms=float(run.record.description["time"]["simulate_ms"]),
        synaptic_events=sum(int(d.events) for d in made),
        first_accesses=sum(int(d.first_accesses) for d in made),
        misses=sum(found["DLmr"] + found["DLmw"] for found in simulated),
        predicted=float(sum(term.misses for terms in predicted for term in terms.values())),
        ranks=[{"simulated": s, "predicted": p} for s, p in zip(simulated, each, strict=True)],
    )  # fmt: skip


def build() -> Path:
    """The mini-app with -O2 for any processor of this kind, in build/cachesim: Valgrind lacks AVX-512.

    Builds what is missing or older than its sources, one command at a time: others wait. Raises
    CachesimFailed with the first error.
    """
    root = places.checkout()
    folder = root / "build" / "cachesim"
    folder.mkdir(parents=True, exist_ok=True)
    configure = ["cmake", "-S", str(root), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSPIKEMARK_ARCH="]
    with open_locked(folder / ".building", wait=True):
        steps = [] if (folder / "build.ninja").is_file() else [configure]
        for step in [*steps, ["cmake", "--build", str(folder), "--target", "miniapp"]]:
            done = watch(Launch(step), BUILD_LIMIT_S)
            if done.status != 0:
                told = f"{done.output}\n{done.errors}"  # the last line is that something failed
                first = re.search(r"^.*(\berror: |CMake Error).*$", told, re.MULTILINE)
                why = first and first[0].strip()
                why = why or reasons.of_program(done.errors or done.output, done.status)
                raise CachesimFailed(f"{' '.join(step[:2])} in {folder}: {why}")
    return folder / "miniapp"


# ---------------------------------------------------------------- what each rank delivers


#: Bytes that a thread works with while it delivers from lines: 35 cache lines of 64 bytes, counted with
#: Callgrind where nothing stays in the cache from one step to the next. Spikes that pass a filter are kept,
#: too, up to CHUNK at a time (41 to 51 cache lines in all with 400 spikes in a step).
BUFFERS = 35 * 64
CHUNK, SPIKE = 2048, 4  # spikes that go through the filter at a time; bytes of one
BLOCK = 4096  # neurons updated together, whose input every step touches (block_neurons of the mini-app)


def deliveries(run: Run) -> list[Delivery]:
    """One delivery for each rank. Sizes known for all ranks together are split as their contents are.

    Raises BadInput for a schedule or a placement that this version does not know.
    """
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
    synapse = round(parts["synapses"] / totals.synapses) if totals.synapses else 4
    words, largest = synapse // lines.WORD, max(p.size for p in populations)
    found = []
    for row in run.ranks.itertuples():
        lookups = row.lookups if "lookups" in run.ranks else 0
        filtered = row.synaptic_events < lookups  # lists are mostly empty
        spare = lines.spare_bits(-(-row.neurons // record.threads), len(arrivals), classes)
        shared = bool(lookups) and lines.used(lookups, row.synaptic_events, words, spare)
        beyond = lines.beyond(row.synaptic_events / lookups, words, spare, filtered) if shared else 0.0
        passed = min(row.first_accesses / steps / record.threads, CHUNK) if filtered else 0.0
        of_neurons = row.neurons / totals.neurons if totals.neurons else 0.0
        here = local[:, int(row.rank)]
        found.append(Delivery(
            steps=steps,
            before=time.warmup_cycles * time.cycle_steps,
            events=int(row.synaptic_events),
            first_accesses=int(row.first_accesses),
            spikes=int(row.spikes),
            neurons=int(row.neurons),
            synapse=synapse,
            synapses=parts["synapses"] * (row.synapses / totals.synapses if totals.synapses else 0.0),
            starts=parts["lists"] / record.ranks,
            ring=parts["ring"] * of_neurons,
            profile=arrivals,
            targets=_targets(here, received * here),
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


def _targets(neurons: np.ndarray, synapses: np.ndarray) -> tuple[tuple[float, float], ...]:
    """Shares of a rank's neurons and of its synapses, by population."""
    if not neurons.sum() or not synapses.sum():
        return ((1.0, 1.0),)
    shares = zip(neurons / neurons.sum(), synapses / synapses.sum(), strict=True)
    return tuple((float(n), float(s)) for n, s in shares if n > 0)


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
FITS = 0.5  # fewer predicted misses of a run count as none


def table(found: SimulatedCaches) -> Table:
    """The misses of delivery by term, and in all: predicted from the counts, and simulated."""
    rows = []
    for what, terms, event in ("read", READ, "DLmr"), ("written", WRITTEN, "DLmw"):
        each = {name: found.term(name) for name in terms}
        rows += [
            {"term": n, "visits": round(t.visits), "predicted": round(t.misses)} for n, t in each.items()
        ]
        predicted = round(sum(term.misses for term in each.values()))
        rows.append({"term": f"all that are {what}", "predicted": predicted, "simulated": found.event(event)})
    rows.append({"term": "all", "predicted": round(found.predicted), "simulated": found.misses})
    columns = [
        Column("term", ""), Column("visits", "lines visited", "counted"),
        Column("predicted", "misses", "modelled"), Column("simulated", "misses", "simulated"),
    ]  # fmt: skip
    caches_ = f"D1 {found.d1.option}, last level {found.ll.option} (bytes, ways, line)"
    layout = f"{len(found.ranks)} x {found.threads}"
    return Table(columns, rows, f"Delivery in simulated caches: {caches_}; {layout}")


def remarks(found: SimulatedCaches) -> list[str]:
    """Misses per synaptic event, how far the prediction is off, and whether there are any misses at all."""
    off = "" if not found.misses else f", predicted {100 * (found.predicted / found.misses - 1):+.1f} %"
    each = f"{found.misses / found.synaptic_events:.4f}" if found.synaptic_events else "no"
    said = [f"{each} last-level misses per synaptic event (simulated{off})"]
    if found.synaptic_events and found.predicted < FITS:
        said.append("Everything fits into the last level; expected a larger network or a smaller --ll.")
    return said
