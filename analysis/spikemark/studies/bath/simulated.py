"""One slow node on SimGrid: the mini-app with real spikes, and the compute times that the model gives it."""

import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.machines.digest import digest
from spikemark.machines.inputs import Inputs
from spikemark.prediction import times
from spikemark.presets import mam_benchmark
from spikemark.quantities.table import Column, Table
from spikemark.records import record
from spikemark.running.simulation import SimulationFailed, simulate

from . import kept, probe, settings
from .settings import LAGGED, SLOW, USUAL, Setting, Variant, Way

FILE, RUNS = "simulated.json", "simulated"
RANKS, FACTORS, CYCLES = 32, (1.0, 1.2, 2.0), 400
WAYS = (Way("conventional"), Way("structure_aware", 10), Way(LAGGED, 10, 1))
#: Areas that are simulated; their compute times are those of areas of full size.
SMALL = {"neurons_per_area": 64, "indegree": 200, "rate": 400.0}
NOTE = (
    f"{CYCLES} cycles on {RANKS} nodes. The ranks send the spikes of small areas; their compute times are"
    " drawn for areas of full size, the same for all rows of a schedule. So the exchange is cheaper than that"
    " of full areas. `predict` is asked about full areas."
)


def setting() -> Setting:
    """The machine with one slow node, with fewer ranks."""
    one = settings.SETTINGS[0]
    variants = {"equal": Variant({USUAL: RANKS})}
    variants |= {f"{f:g}": Variant({USUAL: RANKS - 1, SLOW: 1}, f) for f in FACTORS[1:]}
    return replace(one, ranks=RANKS, ways=WAYS, variants=variants)


def load(folder: Path) -> dict[str, dict[str, Any]]:
    """What has been simulated, by the words of each way."""
    return kept.load(folder / FILE, _digests())


def compute(folder: Path) -> Iterator[str]:
    """Simulate what is missing, and yield what cannot be, such as everything where there is no SimGrid."""
    ways = {way.words: way for way in WAYS}
    yield from kept.compute(folder / FILE, _digests(), lambda words: result(ways[words], folder / RUNS))


def _digests() -> dict[str, str]:
    own = setting()
    variants = {name: asdict(one) for name, one in own.variants.items()}
    about = (digest(own.machine), mam_benchmark.FULL, SMALL, CYCLES, RANKS, variants, probe.numbers())
    return {way.words: kept.digest(*about, asdict(way)) for way in WAYS}


def result(way: Way, folder: Path) -> dict[str, Any]:
    """Run time and waiting in s per simulated s of each variant, simulated and predicted.

    Raises BadInput where a simulation fails.
    """
    own, found = setting(), {}
    loads, inputs = own.loads(way), Inputs(own.machine)
    for name, variant in own.variants.items():
        out = folder / f"{way.words.replace(' ', '')}-{name}"
        shutil.rmtree(out, ignore_errors=True)
        try:
            simulate(
                described(way), own.machine_of(name), RANKS, out, ranks_per_node=1, threads=own.threads,
                on=variant.on, compute_of=mam_benchmark.describe(full=True, areas=RANKS, delay_ratio=10),
            )  # fmt: skip
        except SimulationFailed as reason:
            raise BadInput(f"simulation failed: {reason}") from None
        run = record.load(out)
        parts = times.of_parts(loads, replace(inputs, profile=own.machine_of(name)), own.layout(name))
        found[name] = {
            "simulated_s": run.record.timing.real_time_factor,
            "simulated_waiting_s": run.spent_s("waiting") / run.record.timing.model_s,
            "predicted_s": sum(parts.values()), "predicted_waiting_s": parts["waiting"],
        }  # fmt: skip
    return {"variants": found}


def described(way: Way) -> dict[str, Any]:
    """The run description of the small areas."""
    found = mam_benchmark.describe(
        areas=RANKS, delay_ratio=10, warmup_ms=0.0, simulate_ms=CYCLES / 10, **SMALL
    )
    exchange = "direct" if way.lag else "alltoall"
    used = {"schedule": way.schedule, "delay_ratio": way.delay_ratio, "exchange": exchange}
    return found | used | ({"lag": way.lag} if way.lag else {})


def table(found: dict[str, dict[str, Any]]) -> Table:
    """One row for each schedule and factor: the cost on SimGrid beside that of `predict`."""
    rows = []
    for words, result in found.items():
        variants = result["variants"]
        for name in list(variants)[1:]:
            row: dict[str, Any] = {"schedule": words, "slower": float(name)}
            for method in "simulated", "predicted":
                own, base = variants[name], variants["equal"]
                row[f"{method}_waiting"] = 100 * own[f"{method}_waiting_s"]
                row[f"{method}_cost"] = 100 * (own[f"{method}_s"] / base[f"{method}_s"] - 1)
            row["off"] = row["predicted_cost"] - row["simulated_cost"]
            rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("slower", "slow node takes", "given", words=lambda x: f"{x:g} times"),
        Column("simulated_waiting", "waiting (µs per cycle), SimGrid", "simulated"),
        Column("predicted_waiting", "predict", "modelled"),
        Column("simulated_cost", "cost (%), SimGrid", "simulated"),
        Column("predicted_cost", "predict", "modelled"),
        Column("off", "predict - SimGrid (percentage points)", "modelled", 2),
    ]
    return Table(columns, rows, f"One slow node in {RANKS}, simulated", "simulated", [NOTE])
