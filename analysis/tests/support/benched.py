"""Tables of kernels and of exchanges, and simulated caches, beside an experiment, as commands leave them."""

import json
from pathlib import Path

from fake_bench import content, entry

from spikemark.bench import exchange_bench, exchange_times, kernel_bench, kernels


def write_kernels(experiment, lengths=(1, 8, 64), only=(kernels.BOUND_PLAIN, kernels.BOUND, kernels.DELIVER)):
    """Beside the experiment; the bound takes 1 + 10 / L ns, delivery 1.25 times that."""
    factor = {kernels.BOUND_PLAIN: 2, kernels.BOUND: 1, kernels.DELIVER: 1.25}
    entries = [entry(k, n, factor[k] * (1 + 10 / n)) for k in only for n in lengths]
    table = kernels.aggregate(kernels.repetitions(content(*entries))[0], "kernels-1.json")
    path = kernel_bench.folder(experiment.name, experiment.parent.parent) / kernel_bench.TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False)
    return table


def write_exchanges(root, *contents) -> None:
    """`contents`: outputs of bench_exchange, of the machine of `write_experiment`."""
    table = None
    for given in contents:
        table = exchange_times.update(table, exchange_times.repetitions(given, "raw.json")[0])
    path = kernel_bench.folder("here", root) / exchange_bench.TABLE
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_parquet(path, index=False)


CACHE = {"size": 4096, "ways": 8, "line": 64}
CACHES = {
    "kind": "simulated caches", "label": "simulated", "d1": CACHE, "ll": CACHE | {"size": 1048576},
    "threads": 1, "simulate_ms": 20.0, "synaptic_events": 1000, "first_accesses": 200, "misses": 250,
    "predicted": 240.0, "ranks": [{}, {}],
}  # fmt: skip


def write_caches(experiment: Path, run: str, **changes) -> Path:
    """What `spikemark cachesim` has found of a run."""
    path = experiment / "cachesim" / f"{run}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(CACHES | changes))
    return path
