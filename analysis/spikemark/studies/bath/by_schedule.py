"""What unequal nodes cost each schedule: by the models of `predict`, and by `whatif` from equal nodes.

What nobody knows of a profile is the same for all nodes that have it, slow or not.
"""

from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs
from spikemark.machines.jitter import Jitter
from spikemark.prediction import phases, times, validated, waiting
from spikemark.prediction.intervals import predicted
from spikemark.presets import mam_benchmark
from spikemark.waiting.source import Source
from spikemark.waiting.whatif import TOGETHER, Situation, whatif

from . import kept, probe, settings
from .settings import SLOW, USUAL, Setting, Way

FILE = "by-schedule.json"
CYCLES, SEED = 20_000, 1  # of equal nodes, drawn for `whatif`


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """What has been computed, by setting and the words of each way."""
    known = kept.load(folder / FILE, _digests())
    return {
        setting.key: {way.words: known[key] for way in setting.ways if (key := _key(setting, way)) in known}
        for setting in settings.SETTINGS
    }


def compute(folder: Path) -> Iterator[str]:
    """Compute what is missing, and yield what cannot be."""
    asked = {_key(setting, way): (setting, way) for setting in settings.SETTINGS for way in setting.ways}
    yield from kept.compute(folder / FILE, _digests(), lambda key: result(*asked[key]))


def _key(setting: Setting, way: Way) -> str:
    return f"{setting.key}, {way.words}"


def _digests() -> dict[str, str]:
    found = {}
    for setting in settings.SETTINGS:
        variants = {name: asdict(one) for name, one in setting.variants.items()}
        about = (
            digest(setting.machine),
            mam_benchmark.FULL,
            setting.ranks,
            variants,
            CYCLES,
            probe.numbers(),
        )
        found |= {_key(setting, way): kept.digest(*about, asdict(way)) for way in setting.ways}
    return found


def result(setting: Setting, way: Way) -> dict[str, Any]:
    """Waiting, run time and cost of each variant by both methods; times in s per simulated s.

    The cost is the run time over that of the first variant, minus 1.
    """
    loads, base = setting.loads(way), setting.base
    layouts = {name: setting.layout(name) for name in setting.variants}
    own = {name: setting.machine_of(name) for name in setting.variants}

    def evaluate(inputs: Inputs) -> dict[str, float]:
        found = {}
        for name, layout in layouts.items():
            parts = times.of_parts(loads, replace(inputs, profile=own[name]), layout)
            found[f"waiting {name}"], found[f"runtime {name}"] = parts["waiting"], sum(parts.values())
        for name in setting.others:
            found[f"cost {name}"] = found[f"runtime {name}"] / found[f"runtime {base}"] - 1
        return found

    made, _ = predicted(Inputs(setting.machine), evaluate)
    outside = validated.outside(loads.description, loads.ranks, loads.threads)
    return {"predict": kept.content(made), "whatif": asked(setting, way), "outside": outside}


@lru_cache(maxsize=1)
def equal_nodes(setting: Setting) -> Source:
    """Cycle times of a conventional run on equal nodes, drawn as the profile says that they scatter."""
    loads, layout, inputs = (
        setting.loads(Way("conventional")),
        setting.layout(setting.base),
        Inputs(setting.machine),
    )
    jitter = replace(Jitter.of(inputs.of_part(USUAL), waiting.WHY), node_spread=0.0)
    mean = sum(phases.of_ranks(loads, inputs, layout))
    drawn = jitter.truth().draw(np.random.default_rng(SEED), setting.ranks, CYCLES)
    ((lane, traffic),) = times.meeting(loads, layout)
    nets = times.network_of(loads, inputs, layout)
    times_s = (drawn * mean[:, None]).astype(np.float32)
    after = float(nets.barrier_after(lane, times_s.T[: waiting.DRAWN // setting.ranks]).mean())
    exchange = nets.exchange_s(lane, traffic) + nets.barrier_s(traffic) - after
    return Source(times_s, np.full(CYCLES, after), exchange)


def asked(setting: Setting, way: Way) -> dict[str, Any]:
    """What `whatif` says of the slow nodes, from the cycle times of equal ones under the conventional way.

    The same numbers as `result`; or why it says nothing.
    """
    if SLOW not in setting.machine.parts:
        return {"refused": "whatif has changes for slower ranks only"}
    if way.lag > 1:
        return {"refused": "whatif starts from lag 1"}
    base = Situation(equal_nodes(setting), way.schedule, way.delay_ratio)
    first, *outcomes = whatif(base, [_change(setting, name) for name in setting.others])
    cycle_s, found = setting.loads(way).cycle_s, {}
    for name, one in zip(setting.variants, (first, *outcomes), strict=True):
        if one.refused:
            return {"refused": one.refused}
        for what, q in ("waiting", one.waiting), ("runtime", one.runtime):
            found[f"{what} {name}"] = q.times(1 / CYCLES / cycle_s)
        if one is not first:
            cost = one.runtime.times(1 / first.runtime.value)
            found[f"cost {name}"] = replace(cost, value=cost.value - 1, low=cost.low - 1, high=cost.high - 1)
    return kept.content(found)


def _change(setting: Setting, name: str) -> str:
    """The change of `whatif` that makes the ranks of the slow part slow; these are the last ones."""
    slow = setting.machine_of(name).parts[SLOW].slower.value
    ranks = range(setting.ranks - setting.variants[name].on[SLOW], setting.ranks)
    return TOGETHER.join(f"slow-rank={rank}:{slow:g}" for rank in ranks)
