"""Tables of kernels and of exchanges beside an experiment, as `spikemark bench` leaves them."""

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
