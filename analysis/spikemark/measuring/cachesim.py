"""Misses of delivery in simulated caches (Valgrind), beside those predicted from the counts of the
run.

Callgrind is told to count only in delivery and to forget the warm-up, which cachegrind 3.19 cannot
do; their misses are within 1 % of each other. Adding a synapse to a cell of the ring is one access,
which it counts as a write. Results of runs in a results folder are kept in
RESULTS/cachesim/ID.json. A run takes up to a hundred times as long as without Valgrind.
"""

import re
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.dataclasses import dataclass

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.launch import CPUS, Launch, available_cores
from spikemark.launch.process import ProgramFailed, output
from spikemark.machines import Profile
from spikemark.models import caches
from spikemark.network.description import read_description
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted
from spikemark.records import record, run_files
from spikemark.running.durations import minutes
from spikemark.running.simulation.smpirun import PROGRESS, Advance, followed

from . import host
from .rank_deliveries import deliveries

#: The functions of the mini-app in which accesses are counted; a run calls one of them.
DELIVERIES = ("deliver_tuned*", "deliver_reference*")
#: What the mini-app calls once, between the warm-up and the measured part.
AFTER_WARMUP = "build_reset_counts"
#: Lines of a set, as in most processors, by the option of a cache.
WAYS = {"d1": 8, "ll": 16}
#: What Callgrind counts, in the order of its totals.
EVENTS = ("Ir", "Dr", "Dw", "I1mr", "D1mr", "D1mw", "ILmr", "DLmr", "DLmw")
#: Files of a record that nobody reads here.
UNWANTED = ("cycles", "spikes", "counters", "energy")
#: Longest time of a build, and of a run under Valgrind, s.
SIMULATION_LIMIT_S = 3600.0
#: Seconds under Valgrind for each synapse that is built, and for each neuron in each step, as one
#: core of a virtual machine took them beside other programs.
SYNAPSE_S = 27e-6
NEURON_STEP_S = 4e-6
#: Terms of `caches.prediction` that are read, and that are written.
READ, WRITTEN = ("lists", "starts", "words"), ("ring", "buffers")


@dataclass(frozen=True)
class Cache:
    """A cache for Valgrind, whose number of sets must be a power of two."""

    size: int  #: bytes
    ways: int  #: lines of a set
    line: int = 64  #: bytes

    @property
    def option(self) -> str:
        """The cache as Valgrind's options and ours write it."""
        return f"{self.size},{self.ways},{self.line}"

    @property
    def possible(self) -> bool:
        """Whether Valgrind accepts it."""
        if self.ways < 1 or self.line < 16:
            return False
        sets, remainder = divmod(self.size, self.ways * self.line)
        return not remainder and self.line.bit_count() == sets.bit_count() == 1


def cache(text: str, field: str) -> Cache:
    """A cache from `SIZE,WAYS,LINE`, in bytes, lines and bytes.

    Raises BadInput, naming `field`, for what Valgrind would refuse.

    >>> cache("32768,8,64", "--d1").size
    32768
    """
    if re.fullmatch(r"[0-9]{1,15}(,[0-9]{1,15}){2}", text):
        size, ways, line = text.split(",")
        stated = Cache(int(size), int(ways), int(line))
        if stated.possible:
            return stated
    form = "SIZE,WAYS,LINE such as 33554432,16,64, with lines of 16 bytes or more"
    expected = f"{form} and SIZE / (WAYS x LINE) a power of two"
    raise BadInput(f"{field}: {text!r}; expected {expected}", field=field)


def of_machine(name: str, profile: Profile | None = None, cpus: Path = CPUS) -> Cache:
    """The first or the last cache of a machine.

    It has the usual WAYS, or the next number that Valgrind accepts.

    Args:
        name: `d1`, or `ll`, the last cache or a slice of it.
        profile: of the machine; None: this host.
        cpus: the kernel's folder of CPUs, for this host.

    Raises BadInput where no size is known.

    Example:
        >>> from spikemark import machines
        >>> of_machine("ll", machines.load("jureca-dc"))
        Cache(size=16777216, ways=16, line=64)
    """
    if profile is None:
        data_caches = _data_caches(cpus)
        whose = "this host"
    else:
        data_caches = _data_caches_of_profile(profile, first=name == "d1")
        whose = f"machine {profile.name}"
    if data_caches:
        size, line = data_caches[0 if name == "d1" else -1]
        for ways in range(WAYS[name], size // line + 1):
            stated = Cache(size, ways, line)
            if stated.possible:
                return stated
    reason = f"the cache of {whose} is unknown: give SIZE,WAYS,LINE"
    raise BadInput(field=f"--{name}", reason=reason)


def _data_caches(cpus: Path) -> list[tuple[int, int]]:
    """Bytes of each data cache of this host, and of its lines, the first one first."""
    return [
        (1024 * cache.size_kib, cache.line)
        for cache in host.caches(cpus)
        if cache.kind != "Instruction" and cache.size_kib and cache.line
    ]


def _data_caches_of_profile(profile: Profile, first: bool) -> list[tuple[int, int]]:
    """Bytes of the first data cache, or else of the later ones, and of their lines."""
    stated_line = profile.get("node.line")
    line = int(stated_line.value) if stated_line and stated_line.value else 64
    sizes = [profile.get(path) for path in (("node.l1d",) if first else ("node.l2", "node.l3"))]
    return [(round(size.value * 1024), line) for size in sizes if size]


class Totals(BaseModel):
    """Counts of the measured part, simulated and predicted, of all ranks together."""

    model_config = ConfigDict(allow_inf_nan=False)

    synaptic_events: int
    first_accesses: int
    misses: int  #: simulated, of the last cache
    predicted: float  #: misses of the last cache


class SimulatedCaches(Totals):
    """What was simulated and predicted for all ranks, each of which had caches of its own."""

    kind: str = "simulated caches"
    label: str = "simulated"
    d1: Cache
    ll: Cache
    ranks: int
    threads: int
    simulate_ms: float
    events: dict[str, int]  #: what Callgrind counted, by EVENTS
    terms: dict[str, caches.LineVisits]  #: predicted, by term of `caches.prediction`


def read_totals(path: Path) -> Totals | None:
    """The totals in a kept file; None where there is none. Raises BadInput for a bad one.

    Example:
        >>> read_totals(Path("nowhere")) is None
        True
    """
    if not path.is_file():
        return None
    return checked(Totals, read_json(path), path, "result")


def counts(path: Path) -> dict[str, int]:
    """The totals of an output file of Callgrind, by event.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w") as file:
        ...     print("events: Ir Dr Dw", file=file)
        ...     print("totals: 900 300 100", file=file, flush=True)
        ...     by_event = counts(Path(file.name))
        >>> by_event["Ir"], by_event["Dw"], by_event["DLmr"]
        (900, 100, 0)
    """
    text = path.read_text(encoding="utf-8")
    (totals,) = re.findall(r"^totals: (.*)$", text, re.MULTILINE)
    values = dict.fromkeys(EVENTS, 0)  # zeros at the end are left out
    for event, value in zip(EVENTS, totals.split(), strict=False):
        values[event] = int(value)
    return values


def simulate(
    description: Path,
    ranks: int,
    threads: int,
    first: Cache,
    last: Cache,
    simulate_ms: float | None = None,
    advance: Advance | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> SimulatedCaches:
    """Runs a description under Valgrind, every rank with its own caches, and predicts its misses.

    Args:
        description: file of the run.
        ranks: number of ranks.
        threads: of each rank.
        first: first data cache, and instruction cache, of each rank.
        last: last cache of each rank.
        simulate_ms: length of the measured part, instead of that in the description.
        advance: is called with the cycles that are done and those in all.
        say: takes a line on what is done next, and how long it will take.

    Raises BadInput if Valgrind is missing; ProgramFailed if the run fails.
    """
    if not shutil.which("valgrind"):
        reason = "command not found: install the package valgrind (setup/apt.txt)"
        raise BadInput(field="valgrind", reason=reason)
    content = read_json(description)
    say(f"under Valgrind, this takes about {minutes(expected_s(content, ranks, simulate_ms))}")
    program = _build(say)
    with tempfile.TemporaryDirectory(prefix="cachesim-") as workspace:
        folder = Path(workspace)
        command = [
            *_valgrind(folder, first, last),
            str(program),
            str(description.resolve()),
            *_options(folder, simulate_ms),
        ]
        start = launch.launch("mpirun", command, launch.LaunchLayout(ranks, threads))
        # Valgrind has no process_vm_readv from rank to rank
        environment = {**start.environment, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
        with followed(folder / PROGRESS, advance):
            output(replace(start, environment=environment), SIMULATION_LIMIT_S)
        if not run_files.is_complete(folder / "record"):
            raise ProgramFailed(f"{program}: exit status 0, but no record")
        run = record.load_run(folder / "record")
        simulated = [counts(folder / f"{rank}.callgrind") for rank in range(ranks)]
        return _result(run, simulated, first, last)


def _valgrind(folder: Path, first: Cache, last: Cache) -> list[str]:
    """How Valgrind is called; files RANK.callgrind and RANK.log go to `folder`."""
    rank = "%q{OMPI_COMM_WORLD_RANK}"
    return [
        "valgrind",
        "--tool=callgrind",
        "--cache-sim=yes",
        f"--I1={first.option}",
        f"--D1={first.option}",
        f"--LL={last.option}",
        *(f"--toggle-collect={function}" for function in DELIVERIES),
        f"--zero-before={AFTER_WARMUP}",
        f"--callgrind-out-file={folder}/{rank}.callgrind",
        f"--log-file={folder}/{rank}.log",
    ]


def _options(folder: Path, simulate_ms: float | None) -> list[str]:
    """Options of the mini-app: where the record goes, and what is left out of it."""
    options = ["--out", str(folder / "record"), "--progress", str(folder / PROGRESS)]
    settings = [f"record.{name}=false" for name in UNWANTED]
    settings.append("record.idle_pause_s=0")
    if simulate_ms is not None:
        settings.append(f"time.simulate_ms={simulate_ms:g}")
    for setting in settings:
        options += ["--set", setting]
    return options


def _result(
    run: record.Run,
    simulated: list[dict[str, int]],
    first: Cache,
    last: Cache,
) -> SimulatedCaches:
    """What was simulated on each rank, and what is predicted for it, added up."""
    rank_deliveries = deliveries(run)
    predictions = [caches.prediction(each, last.size, last.line) for each in rank_deliveries]
    events = {}
    for name in EVENTS:
        events[name] = sum(totals[name] for totals in simulated)
    terms = {}
    for name in predictions[0]:
        visits = sum(prediction[name].visits for prediction in predictions)
        misses = sum(prediction[name].misses for prediction in predictions)
        terms[name] = caches.LineVisits(visits, misses)
    return SimulatedCaches(
        synaptic_events=sum(int(each.events) for each in rank_deliveries),
        first_accesses=sum(int(each.first_accesses) for each in rank_deliveries),
        misses=events["DLmr"] + events["DLmw"],
        predicted=float(sum(term.misses for term in terms.values())),
        d1=first,
        ll=last,
        ranks=run.record.ranks,
        threads=run.record.threads,
        events=events,
        terms=terms,
        simulate_ms=float(run.record.description["time"]["simulate_ms"]),
    )


def expected_s(
    description: Mapping[str, Any], ranks: int, simulate_ms: float | None = None
) -> float:
    """About how long a run takes under Valgrind: the network first, then the cycles, s.

    Args:
        description: the content of a run description.
        ranks: number of ranks, each on a core while there are cores.
        simulate_ms: length of the measured part, instead of that in the description.

    Raises BadInput for a description that cannot be used.

    Example:
        >>> network = read_json(Path("tests/golden/analysis/networks/equal-4.json"))
        >>> expected_s(network, 1, 200.0) > expected_s(network, 1, 100.0) > 0
        True
    """
    known = read_description(dict(description))
    model_ms = known.time.warmup_ms + (simulate_ms or known.time.simulate_ms)
    steps = model_ms / known.time.resolution_ms
    seconds = SYNAPSE_S * known.network.synapses + NEURON_STEP_S * known.neurons * steps
    return seconds / min(ranks, available_cores())


def _build(say: Callable[[str], None]) -> Path:
    """Builds the mini-app in build/cachesim, with -O2 and for any processor of this kind.

    Valgrind lacks AVX-512. `say`: as of `simulate`. Raises ProgramFailed.
    """
    root = places.checkout()
    folder = root / "build" / "cachesim"
    if not (folder / "miniapp").is_file():
        say("before that, the mini-app is built for Valgrind, about 2 min")
    configure = ["cmake", "-S", str(root), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSPIKEMARK_ARCH="]
    for step in (configure, ["cmake", "--build", str(folder), "--target", "miniapp"]):
        output(Launch(step), SIMULATION_LIMIT_S)
    return folder / "miniapp"


def miss_table(result: SimulatedCaches) -> Table:
    """The misses of delivery by term, and in all: predicted from the counts, and simulated.

    Example:
        >>> cache = Cache(size=32768, ways=8)
        >>> terms = {name: caches.LineVisits(1000, 100) for name in (*READ, *WRITTEN)}
        >>> result = SimulatedCaches.model_construct(
        ...     d1=cache, ll=cache, ranks=1, threads=1, terms=terms, predicted=500.0, misses=510,
        ...     events={"DLmr": 310, "DLmw": 200},
        ... )
        >>> miss_table(result).rows[-1]
        {'term': 'all', 'predicted': 500, 'simulated': 510}
    """
    rows = _rows("read", result, READ, "DLmr") + _rows("written", result, WRITTEN, "DLmw")
    rows.append({"term": "all", "predicted": round(result.predicted), "simulated": result.misses})
    columns = [
        Column("term", ""),
        Column("visits", "lines visited", "counted"),
        Column("predicted", "last-level misses", "modelled"),
        Column("simulated", "last-level misses", "simulated"),
    ]
    sizes = f"D1 {result.d1.option}, last level {result.ll.option} (bytes, ways, line)"
    layout = f"{counted(result.ranks, 'rank')} x {counted(result.threads, 'thread')}"
    return Table(columns, rows, f"Delivery in simulated caches: {sizes}; {layout}")


def _rows(
    verb: str,
    result: SimulatedCaches,
    names: tuple[str, ...],
    event: str,
) -> list[dict[str, Cell]]:
    """A row for each of the terms that are read, or written, and one for all of them.

    `event`: what Callgrind counted of these.
    """
    rows: list[dict[str, Cell]] = []
    for name in names:
        term = result.terms[name]
        rows.append({"term": name, "visits": round(term.visits), "predicted": round(term.misses)})
    rows.append(
        {
            "term": f"all that are {verb}",
            "predicted": round(sum(result.terms[name].misses for name in names)),
            "simulated": result.events[event],
        }
    )
    return rows


def sentence(result: SimulatedCaches) -> str:
    """Misses per synaptic event, and how far the prediction is off.

    Example:
        >>> result = SimulatedCaches.model_construct(
        ...     synaptic_events=1000, misses=200, predicted=210.0
        ... )
        >>> sentence(result)
        '0.2000 last-level misses per synaptic event (simulated, predicted +5.0 %)'
    """
    if not result.synaptic_events or not result.misses:
        return "No last-level misses: expected a larger network or a smaller --ll."
    misses = result.misses / result.synaptic_events
    error = 100 * (result.predicted / result.misses - 1)
    return (
        f"{misses:.4f} last-level misses per synaptic event (simulated, predicted {error:+.1f} %)"
    )
