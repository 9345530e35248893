"""`spikemark tender new`: rules, run descriptions and frozen sources, and a secret seed apart from them."""

import hashlib
import math
import re
import secrets
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

from spikemark import __version__
from spikemark.core.errors import BadInput
from spikemark.core.files import whole_folder, write_atomically, write_json
from spikemark.network.presets import PRESETS
from spikemark.prediction import memory, question
from spikemark.prediction.question import Question
from spikemark.prediction.workload import Loads

from . import formats, source
from .formats import JOULES, NAME, RTF, Bundle, Tender

#: What applies where nothing is stated: usually, and in a quick bundle.
USUAL = {"node_memory_gb": 256.0, "areas": 8, "repetitions": 5, "minimum_s": 60.0}
QUICK = {"node_memory_gb": 0.3, "areas": 2, "repetitions": 2, "minimum_s": 2.0}
PRESET, QUICK_OPTIONS = "mam-benchmark", ["areas=4", "neurons_per_area=20000", "indegree=500"]
#: Share of a node's memory that the structures of the mini-app take, by size.
SHARES = {"small": 0.1, "medium": 0.3, "large": 0.6}
#: The longest model time takes the minimum duration at this real-time factor; it is halved so many times.
FASTEST, HALVINGS = 0.25, 5
STEP, MOST = 100, 1_000_000  # neurons of an area: a multiple of STEP, and STEP times at most MOST
TOLERANCE = 0.05  # of counts that follow from mean rates
IDLE_S, USUAL_IDLE_S = 60.0, 5.0  # power is read so long while nothing runs: if energy is required, or not
#: Flags of a build as docs/tender.md describes it; patterns, as of file names.
FLAGS = [
    *("-std=c17", "-O3", "-DNDEBUG", "-march=*", "-mcpu=*"),
    *("-ffp-contract=off", "-falign-functions=64", "-falign-loops=64", "-fopenmp*", "-qopenmp*"),
]
OPTIMISED_FLAGS = [*FLAGS, "-O2", "-m*", "-flto*", "-funroll-loops", "-fprofile-use*"]
CHANGES = ["schedule", "placement", "exchange", "wire", "delay_ratio", "lag"]
CATEGORIES = {
    "base": {"changes": [], "flags": FLAGS},
    "optimised": {"changes": CHANGES, "flags": OPTIMISED_FLAGS},
}


@dataclass(frozen=True)
class Wanted:
    """What a buyer asks for; memory in GB of the node that sizes are made for, `minimum_s` in s.

    Raises BadInput for impossible values.
    """

    name: str
    target: Question
    node_memory_gb: float
    areas: int
    repetitions: int
    minimum_s: float
    real_time_factor: float | None = None
    joules_per_synaptic_event: float | None = None
    power: bool = False
    quick: bool = False

    def __post_init__(self) -> None:
        if not re.fullmatch(NAME, self.name):
            raise BadInput.of("name", self.name, "letters, digits, '.', '_' and '-'")
        for field in ("node_memory_gb", "minimum_s", RTF, JOULES):
            value = getattr(self, field)
            if value is not None and not 0 < value < math.inf:
                raise BadInput.of(field, value, "a number above 0", code="range")
        if isinstance(self.target.description.get("placement"), dict):
            raise BadInput("target: placement: a file; expected the name of a placement")
        if self.target.description["time"].get("warmup_ms", 0) <= 0:
            raise BadInput.of("target: time.warmup_ms", 0, "a warm-up above 0 ms")


def target(
    name: str | None, full: bool, options: list[str] | None, rate: float | None, quick: bool
) -> Question:
    """The target, a preset. Raises BadInput for one without a size: its small default is only for trying."""
    if quick and not full and not options and name in (None, PRESET):
        return question.of_preset(PRESET, False, QUICK_OPTIONS, rate)
    if name in PRESETS and not (full or options or quick):
        raise BadInput(f"target={name}: expected --full, its published size, or --option NAME=VALUE")
    return question.of_preset(name or PRESET, full or name is None, options, rate)


def new(folder: Path, wanted: Wanted, root: Path, commit: str | None) -> tuple[Bundle, Path]:
    """Writes the bundle, whole or not at all, and then the secret of the acceptance run; returns both.

    `root`: the checkout with the sources. Raises BadInput for names that exist, for a target that cannot be
    run, and as `source.commit_of`.
    """
    secret = folder.with_name(f"{folder.name}.secret.json")
    for place in (folder, secret):
        if place.exists():
            raise BadInput(f"{place}: exists already; expected the name of a new folder")
    commit = source.commit_of(root, commit)
    rules, descriptions = _runs(wanted)
    packed = source.archive(root, commit)
    tender = Tender.model_validate({
        "kind": "tender", "format_version": formats.VERSION, "name": wanted.name, "quick": wanted.quick,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"), "spikemark_version": __version__,
        "commit": commit, "source_sha256": hashlib.sha256(packed).hexdigest(),
        "reference_memory_gb": wanted.node_memory_gb, "runs": rules, "categories": CATEGORIES,
        "target": {"network": wanted.target.title, **{name: getattr(wanted, name) for name in (RTF, JOULES)}},
        "power": {"required": wanted.power, "idle_seconds": IDLE_S if wanted.power else USUAL_IDLE_S},
    })  # fmt: skip
    seeds = {description["seed"] for description in descriptions.values()}
    seed = next(n for n in iter(lambda: secrets.randbelow(2**53), None) if n not in seeds)
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    page = environment.from_string(Path(__file__).with_name("RULES.md.j2").read_text(encoding="utf-8"))
    with whole_folder(folder) as place:
        write_json(place / formats.TENDER, tender.model_dump(mode="json"))
        write_atomically(place / formats.RULES, page.render(tender=tender))
        write_atomically(place / formats.SOURCE, packed)
        for name, description in descriptions.items():
            write_json(place / "runs" / f"{name}.json", description)
        formats.write_manifest(place)
    found = formats.read_bundle(folder)
    secret.touch(0o600)  # which the next line keeps
    about = {"kind": "tender_secret", "format_version": formats.VERSION, "bundle_sha256": found.sha256}
    write_json(secret, about | {"seed": seed, "prepared": None})
    return found, secret


def _runs(wanted: Wanted) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """Rules, and descriptions by name: the bench networks by size, and the target."""
    network, given, gb = wanted.target, wanted.target.known, wanted.node_memory_gb
    indegree = round(given.network.synapses / given.neurons)
    rate = float(network.rates.hz @ [p.size for p in given.network.populations]) / given.neurons
    networks, rules, descriptions = [], [], {}
    for size, share in SHARES.items():
        made = bench(wanted.areas, indegree, rate, 1e9 * gb * share)
        neurons = made.known.network.populations[0].size
        each = f"{neurons} neurons, {indegree} synapses per neuron, {rate:.3g} Hz"
        networks.append((size, made, f"{wanted.areas} areas of {each}: at most {share:g} of {gb:g} GB."))
    bought_for = f"The network that the machine is bought for: {network.title}."
    networks.append(("target", network, f"{bought_for} Rates: {network.rates.source}."))
    idle = {"idle_pause_s": IDLE_S} if wanted.power else {}
    for size, one, words in networks:
        known, of_node = expected(one, wanted.minimum_s), size != "target"
        name = f"bench-{size}" if of_node else size
        descriptions[name] = {"seed": 1} | one.description | {
            "record": {"cycles": True, "barrier": True, "energy": True} | idle,
            "time": one.description["time"] | {"simulate_ms": known["times"][0]["model_ms"]},
        }  # fmt: skip
        rules.append({
            "name": name, "size": size, "scaling": words, "measured": of_node,
            "repetitions": wanted.repetitions, "minimum_seconds": wanted.minimum_s,
            "nodes": 1 if of_node else None, "expected": known,
        })  # fmt: skip
    return rules, descriptions


def needed_bytes(network: Question, ranks: int) -> float:
    """Bytes of the mini-app's structures on so many ranks of one thread, all together."""
    return float(memory.of_run(network.description, ranks, 1).stays.sum())


def bench(areas: int, indegree: int, rate_hz: float, limit_bytes: float) -> Question:
    """The mam-benchmark with areas as large as the memory allows, with one rank for each area.

    Raises BadInput where the smallest areas need more than `limit_bytes`.
    """

    def described(steps: int) -> Question:
        given = {"areas": areas, "indegree": indegree, "rate": rate_hz, "neurons_per_area": STEP * steps}
        return question.of_description("bench", PRESETS[PRESET].describe(**given))

    def needed(steps: int) -> float:
        return needed_bytes(described(steps), areas)

    if (steps := bisect_right(range(1, MOST), limit_bytes, key=needed)) == 0:
        given = f"{limit_bytes / 1e9:.3g} GB for the network"
        raise BadInput.of("node_memory", given, f"{needed(1) / 1e9:.3g} GB")
    return described(steps)


def expected(network: Question, minimum_s: float) -> dict[str, Any]:
    """Counts of a run for each model time that may be chosen, in ms, the longest first.

    Times are whole cycles and whole periods of the neurons, so that counts are exact where all neurons fire
    once in the same period and projections have fixed in-degrees.
    """
    given, rates = network.known, network.rates
    step, populations = given.time.resolution_ms, given.network.populations
    own = all(p.neuron.model == "ignore_and_fire" for p in populations)
    regular = own and all(p.neuron.hz and not p.neuron.rate_cv for p in populations)
    periods = {round(1000 / (p.neuron.hz * step)) for p in populations} if regular else set()
    period = periods.pop() if len(periods) == 1 else None  # in steps
    exact = period is not None and all(p.poisson is False for p in given.network.projections)
    neurons, synapses, cycles = given.neurons, round(given.network.synapses), 1e3 / given.time.cycle_ms
    loads = Loads.of(network.description, 1, 1, rates.hz)
    spikes, events = float(loads.spikes.sum()) * cycles, float(loads.total_events) * cycles  # per second
    unit = math.lcm(period or round(100.0 / step), round(given.time.cycle_ms / step)) * step
    shortest = unit * max(1, math.ceil(1e3 * minimum_s / FASTEST / unit / 2**HALVINGS))
    times = []
    for ms in (round(shortest * 2**halving, 9) for halving in range(HALVINGS, -1, -1)):
        counts = [round(1e-3 * ms * each) if own else None for each in (spikes, events)]
        if exact:
            counts = [each * round(ms / step / period) for each in (neurons, synapses)]
        times.append({"model_ms": ms, "spikes": counts[0], "synaptic_events": counts[1]})
    return {
        "neurons": neurons, "synapses": synapses, "tolerance": 0.0 if exact else TOLERANCE, "times": times,
        "rates_hz": dict(zip((p.name for p in populations), np.asarray(rates.hz).tolist(), strict=True)),
        "rates_source": rates.source,
        "events_per_s": float(synapses) * 1e3 / (period * step) if exact else events,
    }  # fmt: skip
