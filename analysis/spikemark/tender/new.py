"""Makes a bundle: rules, run descriptions, expected counts and frozen sources, in one folder."""

import hashlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spikemark import __version__
from spikemark.core.errors import BadInput
from spikemark.core.files import whole_folder, write_atomically, write_json
from spikemark.network.description import read as read_description
from spikemark.prediction.rates import Rates

from . import bundle, check, fields, manifest, rules, sizes, source
from .bundle import Bundle
from .check.bundle import TOLERANCES
from .fields import Tender
from .wanted import Wanted

#: Where power must be measured; and what the mini-app does where there is a meter (record.idle_pause_s).
IDLE_S, USUAL_IDLE_S = 60.0, 5.0
LEVELS = ["node", "facility"]
#: Flags of a build as docs/tender.md describes it; patterns, as of file names.
FLAGS = [
    *("-std=c17", "-O3", "-DNDEBUG", "-march=*", "-mcpu=*"),
    *("-ffp-contract=off", "-falign-functions=64", "-falign-loops=64", "-fopenmp*", "-qopenmp*"),
]
OPTIMISED_FLAGS = [*FLAGS, "-O2", "-m*", "-flto*", "-funroll-loops", "-fprofile-use*"]
CHANGES = ["schedule", "placement", "exchange", "wire", "delay_ratio", "lag"]
NEVER = ["network", "seed", "checksum", "timers", "model_time", "warm_up"]


def new(folder: Path, wanted: Wanted, root: Path) -> Bundle:
    """Writes the bundle, whole or not at all; `root` is the checkout whose sources are frozen.

    Raises BadInput for a folder that exists, for what `Wanted` cannot mean, and as `source.commit_of`.
    """
    if folder.exists():
        raise BadInput(f"{folder}: exists already; allowed: the name of a new folder")
    commit = source.commit_of(root, wanted.commit)
    described = descriptions(wanted)
    packed = source.archive(root, commit)
    tender = _tender(wanted, described, commit, hashlib.sha256(packed).hexdigest())
    with whole_folder(folder) as made:
        write_json(made / bundle.TENDER, fields.content(tender))
        write_atomically(made / bundle.RULES, rules.page(tender))
        write_atomically(made / bundle.SOURCE, packed)
        write_atomically(made / bundle.CHECK, check.text())
        for rule in tender.runs:
            write_json(made / rule.description, described[rule.name].description)
            one = described[rule.name]
            known = sizes.expected(one.description, rule.model_ms, one.rates)
            write_json(made / "expected" / f"{rule.name}.json", known)
        manifest.write(made)
    return bundle.read(folder)


@dataclass(frozen=True)
class Described:
    """A run of the bundle: its description, the rule of its size, and the model times that are allowed.

    `rates`: of the target, as the buyer gave them or as they were published; None: those of the description.
    """

    description: dict[str, Any]
    size: str
    scaling: str
    share: float | None
    model_ms: list[float]
    rates: Rates | None = None


def descriptions(wanted: Wanted) -> dict[str, Described]:
    """The runs by name: one for every size, and the target. Raises BadInput as `sizes.bench` does."""
    if isinstance(wanted.target.description.get("placement"), dict):
        raise BadInput("target: placement: a placement file; allowed: the name of a placement")
    target = read_description(wanted.target.description)
    indegree = round(target.network.synapses / target.neurons)
    rate = float(wanted.target.rates.hz @ [p.size for p in target.network.populations]) / target.neurons
    found = {}
    for size, share in sizes.SHARES.items():
        limit = 1e9 * wanted.node_memory_gb * share
        made = sizes.bench(wanted.areas, indegree, rate, limit)
        neurons = made["network"]["populations"][0]["size"]
        scaling = (
            f"mam-benchmark with {wanted.areas} areas, {indegree} synapses per neuron and a rate of"
            f" {rate:g} Hz, as in the target. Its areas have {neurons} neurons: the most, in hundreds, whose"
            f" structures take at most {share:g} of {wanted.node_memory_gb:g} GB with a rank for each area."
        )
        found[f"bench-{size}"] = _described(wanted, made, size, scaling, share)
    scaling = f"The network that the machine is bought for: {wanted.target.title}, at its own size."
    if not sizes.own_rates(wanted.target.description):
        scaling += (
            f" Its neurons fire in response to their input. Projections take {rate:.3g} Hz on average (rates:"
            f" {wanted.target.rates.source}); a measured run has the rates that come out."
        )
    made = _described(wanted, wanted.target.description, "target", scaling, None)
    found["target"] = replace(made, rates=wanted.target.rates)
    return found


def _described(
    wanted: Wanted, made: dict[str, Any], size: str, scaling: str, share: float | None
) -> Described:
    times = sizes.model_times(made, wanted.minimum_s)
    record: dict[str, Any] = {"cycles": True, "barrier": True, "energy": True}
    if wanted.power:
        record["idle_pause_s"] = IDLE_S
    made = {**sizes.with_time(made, times[0]), "record": record}
    if made["time"].get("warmup_ms", 0) <= 0:
        raise BadInput("target: time.warmup_ms is 0; allowed: a network with a warm-up above 0 ms")
    return Described(made, size, scaling, share, times)


def _tender(wanted: Wanted, described: dict[str, Described], commit: str, digest: str) -> Tender:
    runs = [
        {
            "name": name,
            "size": one.size,
            "description": f"runs/{name}.json",
            "scaling": one.scaling,
            "share_of_memory": one.share,
            "measured": one.share is not None,
            "repetitions": wanted.repetitions,
            "counts": "median",
            "minimum_seconds": wanted.minimum_s,
            "warm_up_cycles": read_description(one.description).time.warmup_cycles,
            "model_ms": one.model_ms,
            "nodes": None if one.share is None else 1,
        }
        for name, one in described.items()
    ]
    categories = {
        "base": {"changes": [], "flags": FLAGS, "never": [*NEVER, *CHANGES]},
        "optimised": {"changes": CHANGES, "flags": OPTIMISED_FLAGS, "never": NEVER},
    }
    return Tender.model_validate({
        "kind": fields.KIND,
        "format_version": fields.VERSION,
        "name": wanted.name,
        "quick": wanted.quick,
        "created": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "spikemark_version": __version__,
        "commit": commit,
        "source_sha256": digest,
        "reference_memory_gb": wanted.node_memory_gb,
        "target": {
            "network": wanted.target.title,
            "real_time_factor": wanted.real_time_factor,
            "joules_per_synaptic_event": wanted.joules_per_synaptic_event,
        },
        "figures": list(fields.FIGURES),
        "runs": runs,
        "categories": categories,
        "power": {
            "required": wanted.power,
            "levels": LEVELS,
            "idle_seconds": IDLE_S if wanted.power else USUAL_IDLE_S,
        },
        "plausibility": TOLERANCES,
    })  # fmt: skip
