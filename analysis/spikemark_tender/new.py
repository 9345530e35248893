"""`spikemark tender new`: rules, run descriptions, frozen sources, and a secret seed beside them.

The target is the network that the machine is bought for; it may be projected. Bench networks, which
must be measured, fill a share of the memory of one node (MEMORY_SHARES). The rules state what every
run counts, for several model times, so that a bidder may choose how long it lasts. The seed of the
acceptance run goes into a file of its own, which the buyer keeps.
"""

import hashlib
import math
import re
import secrets
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from spikemark import __version__
from spikemark.core import fields
from spikemark.core.errors import BadInput
from spikemark.core.files import whole_folder, write_atomically, write_json
from spikemark.network.presets import PRESETS
from spikemark.prediction import memory, program_costs, question
from spikemark.prediction.question import Question
from spikemark.prediction.workload import Loads
from spikemark.quantities.words import integer, number, percent, with_ends

from . import formats, nest, schema, source
from .formats import JOULES, RTF, Bundle
from .schema import NAME, Tender

#: What applies where nothing is stated: usually, and in a quick bundle.
USUAL = {"node_memory_gb": 256.0, "areas": 8, "repetitions": 5, "minimum_s": 60.0}
QUICK = {"node_memory_gb": 0.3, "areas": 2, "repetitions": 2, "minimum_s": 2.0}
#: The program whose figures are asked for.
PROGRAM = "the mini-app of Spikemark"
#: The preset of the bench networks, and of the target where none is named.
PRESET = "mam-benchmark"
QUICK_OPTIONS = ["areas=4", "neurons_per_area=20000", "indegree=500"]
#: Share of a node's memory that the structures of the mini-app take, by size of a bench network.
MEMORY_SHARES = {"small": 0.1, "medium": 0.3, "large": 0.6}
NAME_IN_WORDS = "letters, digits, '.', '_' and '-'"
SIZE_FOR_NEST = "small"  #: of the bench network that NEST simulates, which needs more memory
NEURONS_STEP = 100  #: neurons of an area of a bench network are a multiple of it,
MAX_NEURONS_STEPS = 1_000_000  #: up to so many times
#: The longest model time takes the minimum duration at this real-time factor,
FASTEST_RTF = 0.25
HALVINGS = 5  #: and is halved so many times
TOLERANCE = 0.05  #: of counts that follow from mean rates
#: Power is read so long while nothing runs, s: if energy is required, or not.
IDLE_S, IDLE_S_WITHOUT_ENERGY = 60.0, 5.0
#: Flags of a build as docs/tender.md describes it; patterns, as of file names.
FLAGS = [
    *("-std=c17", "-O3", "-DNDEBUG", "-march=*", "-mcpu=*"),
    *("-ffp-contract=off", "-falign-functions=64", "-falign-loops=64", "-fopenmp*", "-qopenmp*"),
]
OPTIMISED_FLAGS = [*FLAGS, "-O2", "-m*", "-flto*", "-funroll-loops", "-fprofile-use*"]
CATEGORIES = {
    "base": {"changes": [], "flags": FLAGS},
    "optimised": {
        "changes": ["schedule", "placement", "exchange", "wire", "delay_ratio", "lag"],
        "flags": OPTIMISED_FLAGS,
    },
}
#: Of GB of memory, s of a repetition, J per synaptic event, and the real-time factor.
MAX_REQUEST = 1_000_000


@dataclass(frozen=True)
class TenderRequest:
    """What a buyer asks for. Raises BadInput for impossible values."""

    name: str
    target: Question  #: the network that the machine is bought for
    node_memory_gb: float  #: of the node that the bench networks are made for
    areas: int  #: of the bench networks
    repetitions: int
    minimum_s: float  #: shortest repetition, wall-clock
    real_time_factor: float | None = None  #: that must be reached
    joules_per_synaptic_event: float | None = None  #: that must not be exceeded
    power: bool = False  #: whether energy must be measured
    nest: bool = False  #: whether runs of NEST are asked for
    quick: bool = False  #: a bundle to try the procedure

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME, self.name):
            raise BadInput(field="name", value=self.name, expected=NAME_IN_WORDS)
        for field in ("node_memory_gb", "minimum_s", RTF, JOULES):
            value = getattr(self, field)
            if value is not None and not 0 < value <= MAX_REQUEST:
                expected = f"a number above 0, up to {MAX_REQUEST}"
                raise BadInput(field=field, value=value, expected=expected, code="range")
        description = self.target.description
        if isinstance(description.get("placement"), dict):
            expected = "the name of a placement"
            raise BadInput(field="placement", reason="a file", expected=expected, file="target")
        if description["time"].get("warmup_ms", 0) <= 0:
            expected = "a warm-up above 0 ms"
            raise BadInput(field="time.warmup_ms", value=0, expected=expected, file="target")


def target(
    name: str | None,
    full: bool,
    options: list[str] | None,
    rate_hz: float | None,
    quick: bool,
) -> Question:
    """The target, a preset.

    Args:
        name: of a preset; None for mam-benchmark at its published size.
        full: at its published size.
        options: NAME=VALUE each.
        rate_hz: mean firing rate, where neither the preset nor its publication has one.
        quick: whether a small default serves.

    Raises BadInput for a preset without a size: its small default is only for trying.

    Example:
        >>> target(None, full=False, options=None, rate_hz=None, quick=False).title
        'mam-benchmark full size'
        >>> target("microcircuit", full=False, options=None, rate_hz=None, quick=False)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: target=microcircuit: expected --full, its published ...
    """
    has_size = full or bool(options)
    if quick and not has_size and name in (None, PRESET):
        return question.of_preset(PRESET, False, QUICK_OPTIONS, rate_hz)
    if name in PRESETS and not has_size and not quick:
        expected = "--full, its published size, or --option NAME=VALUE"
        raise BadInput(f"target={name}: expected {expected}", field="target")
    return question.of_preset(name or PRESET, full or name is None, options, rate_hz)


def target_in_words(network: Question) -> str:
    """The network that a machine is bought for, with its size.

    Of a preset, also which part of its published size that is, if it is smaller.

    Example:
        >>> target_in_words(question.of_preset("microcircuit"))
        'microcircuit, 7\u202f717 neurons: 10\u202f% of those of its published size, 77\u202f169'
    """
    neurons = network.known.neurons
    words = f"{network.title}, {integer(neurons)} neurons"
    preset = network.options.get("preset")
    if preset is None:
        return words
    try:
        published = question.of_preset(preset, full=True).known.neurons
    except BadInput:
        return words  # the preset has no published size
    if neurons >= published:
        return words
    share = percent(neurons / published)
    return f"{words}: {share} of those of its published size, {integer(published)}"


def new(
    folder: Path,
    request: TenderRequest,
    checkout: Path,
    commit: str | None,
) -> tuple[Bundle, Path]:
    """Writes the bundle, whole or not at all, and then the secret of the acceptance run.

    Args:
        folder: of the bundle; the secret goes beside it.
        request: what the buyer asks for.
        checkout: with the sources.
        commit: of the sources to freeze; None for what is checked out.

    Returns the bundle and the file of the secret. Raises BadInput for names that exist, for new
    folders above it whose names it could not have itself, for a target that cannot be run, and as
    `source.commit_of`.
    """
    _check_new_folders(folder)
    secret_file = folder.with_name(f"{folder.name}.secret.json")
    for path in (folder, secret_file):
        if path.exists():
            expected = "the name of a new folder"
            raise BadInput(file=path, reason="exists already", expected=expected, code="file")
    commit = source.commit_of(checkout, commit)
    runs = _runs(request)
    sources = source.archive(checkout, commit)
    content = _tender(request, runs, commit, sources)
    tender = fields.checked(Tender, content, folder / formats.TENDER, "tender")
    with whole_folder(folder) as place:
        write_json(place / formats.TENDER, tender.model_dump(mode="json"))
        write_atomically(place / formats.RULES, _rules_page(tender))
        write_atomically(place / formats.SOURCE, sources)
        for run in runs:
            write_json(place / "runs" / f"{run.name}.json", run.description)
        formats.write_manifest(place)
    bundle = formats.read_bundle(folder)
    seeds = {run.description["seed"] for run in runs}
    _write_secret(secret_file, bundle, seeds)
    return bundle, secret_file


def _check_new_folders(folder: Path) -> None:
    """Raises BadInput where a folder that would be made has a name that a bundle cannot have."""
    for new_folder in (folder, *folder.parents):
        if new_folder.exists():
            return
        if not re.fullmatch(NAME, new_folder.name):
            raise BadInput(field="name", value=str(folder), expected=NAME_IN_WORDS)


@dataclass(frozen=True)
class _NewRun:
    """A run of a new bundle."""

    name: str
    description: dict[str, Any]  #: its run description
    rule: dict[str, Any]  #: fields of schema.RunRule


def _tender(
    request: TenderRequest,
    runs: list[_NewRun],
    commit: str,
    sources: bytes,
) -> dict[str, Any]:
    """Fields of schema.Tender."""
    return {
        "kind": "tender",
        "format_version": schema.VERSION,
        "name": request.name,
        "quick": request.quick,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "spikemark_version": __version__,
        "commit": commit,
        "source_sha256": hashlib.sha256(sources).hexdigest(),
        "program": PROGRAM,
        "reference_memory_gb": request.node_memory_gb,
        "runs": [run.rule for run in runs],
        "categories": CATEGORIES,
        "target": {
            "network": target_in_words(request.target),
            RTF: request.real_time_factor,
            JOULES: request.joules_per_synaptic_event,
        },
        "power": {
            "required": request.power,
            "idle_seconds": IDLE_S if request.power else IDLE_S_WITHOUT_ENERGY,
        },
        "nest": _nest_rule() if request.nest else None,
    }


def _nest_rule() -> dict[str, Any]:
    """Fields of schema.NestRule: the bench network that a node has room for with NEST, too."""
    return {
        "run": f"bench-{SIZE_FOR_NEST}",
        "version": nest.VERSION,
        "repetitions": nest.REPETITIONS,
        "spread": nest.LARGEST_SPREAD,
    }


def _rules_page(tender: Tender) -> str:
    """RULES.md: tender.json in words."""
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    template = Path(__file__).with_name("RULES.md.j2").read_text(encoding="utf-8")
    return environment.from_string(template).render(tender=tender)


def _write_secret(path: Path, bundle: Bundle, known_seeds: set[int]) -> None:
    """Writes a seed that is none of those known, into a file that only the buyer can read."""
    seed = secrets.randbelow(2**53)
    while seed in known_seeds:
        seed = secrets.randbelow(2**53)
    path.touch(0o600)  # which write_json keeps
    content = {
        "kind": "tender_secret",
        "format_version": schema.VERSION,
        "bundle_sha256": bundle.sha256,
        "seed": seed,
        "prepared": None,
    }
    write_json(path, content)


def _runs(request: TenderRequest) -> list[_NewRun]:
    """The bench networks by size, and then the target."""
    return [*_bench_runs(request), _target_run(request)]


def _bench_runs(request: TenderRequest) -> Iterator[_NewRun]:
    """Runs that must be measured on one node, with the in-degree and the rate of the target."""
    network = request.target.known
    sizes = [population.size for population in network.network.populations]
    indegree = round(network.network.synapses / network.neurons)
    rate_hz = float(request.target.rates.hz @ sizes) / network.neurons
    for size, share in MEMORY_SHARES.items():
        limit_bytes = 1e9 * request.node_memory_gb * share
        with_nest = request.nest and size == SIZE_FOR_NEST
        node_gb = request.node_memory_gb
        bench_network = _bench(request.areas, indegree, rate_hz, limit_bytes, node_gb, with_nest)
        neurons = bench_network.known.network.populations[0].size
        area = f"{neurons} neurons, {indegree} synapses per neuron, {rate_hz:.3g} Hz"
        limit = f"at most {share:g} of {request.node_memory_gb:g} GB"
        if with_nest:
            need = [number(gigabytes, 2) for gigabytes in nest_need_gb(bench_network)]
            limit = f"{limit}; NEST needs {with_ends(*need)} GB"
        scaling = f"{request.areas} areas of {area}: {limit}."
        name = f"bench-{size}"
        yield _run(request, name, size, bench_network, scaling, measured=True, nodes=1)


def _target_run(request: TenderRequest) -> _NewRun:
    """The run of the target, which may be projected, on any number of nodes."""
    network = request.target
    bought_for = f"The network that the machine is bought for: {target_in_words(network)}."
    scaling = f"{bought_for} Rates: {network.rates.source}."
    return _run(request, "target", "target", network, scaling, measured=False, nodes=None)


def _run(
    request: TenderRequest,
    name: str,
    size: str,
    network: Question,
    scaling: str,
    *,
    measured: bool,
    nodes: int | None,
) -> _NewRun:
    counts = _expected(network, request.minimum_s)
    longest_ms = counts["times"][0]["model_ms"]
    recorded: dict[str, bool | float] = {"cycles": True, "barrier": True, "energy": True}
    if request.power:
        recorded["idle_pause_s"] = IDLE_S
    description = {
        "seed": 1,
        **network.description,
        "record": recorded,
        "time": network.description["time"] | {"simulate_ms": longest_ms},
    }
    rule = {
        "name": name,
        "size": size,
        "scaling": scaling,
        "measured": measured,
        "repetitions": request.repetitions,
        "minimum_seconds": request.minimum_s,
        "nodes": nodes,
        "expected": counts,
    }
    return _NewRun(name, description, rule)


def _needed_bytes(network: Question, ranks: int) -> float:
    """Bytes of the mini-app's structures on so many ranks of one thread, all together."""
    return float(memory.of_run(network.description, ranks, 1).stays.sum())


def nest_need_gb(network: Question) -> tuple[float, float, float]:
    """Memory of a network in NEST in GB, with its 95 % interval, as predictions take it.

    Example:
        >>> middle, low, high = nest_need_gb(question.of_preset(PRESET))
        >>> low < middle < high
        True
    """
    needed = program_costs.MEMORY_OF_NEST
    known = network.known
    return needed.gigabytes(known.neurons, known.network.synapses)


def _bench(
    areas: int,
    indegree: int,
    rate_hz: float,
    limit_bytes: float,
    node_gb: float,
    with_nest: bool = False,
) -> Question:
    """The mam-benchmark with areas as large as the memory allows, with one rank for each area.

    Args:
        areas: of the network.
        indegree: synapses per neuron.
        rate_hz: of all neurons.
        limit_bytes: that the structures of the mini-app may take.
        node_gb: memory of the node.
        with_nest: whether NEST must surely fit on the node, too, with 65 B for each synapse.

    Raises BadInput where the smallest areas need more.
    """

    def of_steps(steps: int) -> Question:
        description = PRESETS[PRESET].describe(
            areas=areas,
            indegree=indegree,
            rate=rate_hz,
            neurons_per_area=NEURONS_STEP * steps,
        )
        return question.of_description("bench", description)

    def bytes_of_steps(steps: int) -> float:
        return _needed_bytes(of_steps(steps), areas)

    def most_with_nest(steps: int) -> float:
        return nest_need_gb(of_steps(steps))[2]

    steps = bisect_right(range(1, MAX_NEURONS_STEPS), limit_bytes, key=bytes_of_steps)
    if steps == 0:
        smallest_gb = node_gb * bytes_of_steps(1) / limit_bytes
        raise _too_small(node_gb, smallest_gb, "the smallest bench network")
    if with_nest:
        steps = bisect_right(range(1, steps + 1), node_gb, key=most_with_nest)
        if steps == 0:
            raise _too_small(node_gb, most_with_nest(1), "the smallest bench network in NEST")
    return of_steps(steps)


def _too_small(node_gb: float, smallest_gb: float, what: str) -> BadInput:
    """A node without the memory that something takes, with the least that is enough."""
    unit = 10.0 ** (math.floor(math.log10(smallest_gb)) - 2)  # of the third digit
    enough = f"{math.ceil((1 + 1e-9) * smallest_gb / unit) * unit:.3g}"
    expected = f"at least {enough} GB, which {what} takes"
    return BadInput(field="node_memory", value=node_gb, expected=expected, code="range")


def _expected(network: Question, minimum_s: float) -> dict[str, Any]:
    """What a run counts for each model time that may be chosen: fields of schema.ExpectedNetwork.

    Model times are whole cycles and whole periods of the neurons, so that counts are exact where
    all neurons fire once in the same period and projections have fixed in-degrees.
    """
    description = network.known
    neurons = description.neurons
    synapses = round(description.network.synapses)
    populations = description.network.populations
    resolution_ms = description.time.resolution_ms
    period = _common_period(network)  # in steps
    fixed_indegrees = all(edge.poisson is False for edge in description.network.projections)
    exact_period = period if fixed_indegrees else None
    have_rates = all(p.neuron.model == "ignore_and_fire" for p in populations)
    loads = Loads.count(network.description, 1, 1, network.rates.hz)
    cycles_per_s = 1e3 / description.time.cycle_ms
    spikes_per_s = float(loads.spikes.sum()) * cycles_per_s
    events_per_s = float(loads.total_events) * cycles_per_s
    if exact_period is not None:
        events_per_s = float(synapses) * 1e3 / (exact_period * resolution_ms)
    times = []
    for model_ms in _model_times(network, period, minimum_s):
        counts: dict[str, float | None] = {"model_ms": model_ms}
        if exact_period is not None:
            periods = round(model_ms / resolution_ms / exact_period)
            counts |= {"spikes": neurons * periods, "synaptic_events": synapses * periods}
        elif have_rates:
            counts["spikes"] = round(1e-3 * model_ms * spikes_per_s)
            counts["synaptic_events"] = round(1e-3 * model_ms * events_per_s)
        else:
            counts |= {"spikes": None, "synaptic_events": None}
        times.append(counts)
    names = [population.name for population in populations]
    rates_hz = np.asarray(network.rates.hz).tolist()
    return {
        "neurons": neurons,
        "synapses": synapses,
        "tolerance": TOLERANCE if exact_period is None else 0.0,
        "times": times,
        "rates_hz": dict(zip(names, rates_hz, strict=True)),
        "rates_source": network.rates.source,
        "events_per_s": events_per_s,
    }


def _common_period(network: Question) -> int | None:
    """Steps between two spikes of every neuron; None where neurons differ or are not regular."""
    resolution_ms = network.known.time.resolution_ms
    periods = set()
    for population in network.known.network.populations:
        neuron = population.neuron
        if neuron.model != "ignore_and_fire" or not neuron.hz or neuron.rate_cv:
            return None
        periods.add(round(1000 / (neuron.hz * resolution_ms)))
    return periods.pop() if len(periods) == 1 else None


def _model_times(network: Question, period: int | None, minimum_s: float) -> list[float]:
    """Model times that may be chosen, ms, the longest first: each is twice the next one."""
    time = network.known.time
    period_steps = period or round(100.0 / time.resolution_ms)
    cycle_steps = round(time.cycle_ms / time.resolution_ms)
    unit_ms = math.lcm(period_steps, cycle_steps) * time.resolution_ms
    longest_ms = 1e3 * minimum_s / FASTEST_RTF
    shortest_ms = unit_ms * max(1, math.ceil(longest_ms / unit_ms / 2**HALVINGS))
    return [round(shortest_ms * 2**doubling, 9) for doubling in range(HALVINGS, -1, -1)]
