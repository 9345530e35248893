"""The kernel of delivery on its own, beside the runs of the study of delivery."""

from pathlib import Path

import numpy as np

from spikemark.bench import kernel_bench, kernels
from spikemark.core.errors import BadInput
from spikemark.models import delivery_time
from spikemark.models.delivery_time import Times
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.gather import Sweep

MIN_TIME_S = 0.05  # of a repetition
UNKNOWN = missing("the kernel was not measured on this machine; run `spikemark bench`")
ALIKE = missing(f"{kernels.DELIVER} was not measured for lists of several lengths; run `spikemark bench`")


def _table(sweep: Sweep) -> Path:
    """The file with the times of kernels on the machine of a results folder."""
    return kernel_bench.folder(sweep.path.name, sweep.path.parents[1]) / kernel_bench.TABLE


def prepare(sweep: Sweep) -> list[str]:
    """Measures the kernel unless this machine has its times; returns why that failed, if it did."""
    path = _table(sweep)
    try:
        if not path.is_file() or kernels.DELIVER not in set(kernels.read(path)["kernel"]):
            kernel_bench.bench(path.parent, pattern=f"^{kernels.DELIVER}/", min_time_s=MIN_TIME_S)
    except (BadInput, kernel_bench.BenchFailed) as reason:
        return [f"{kernels.DELIVER} on its own was not measured: {reason}"]
    return []


def times(sweep: Sweep) -> Times | Quantity:
    """The times of the model fitted to the kernel, in which every spike has a list; or why there are none."""
    path = _table(sweep)
    if not path.is_file():
        return UNKNOWN
    table = kernels.read(path)
    alone = table[table["kernel"] == kernels.DELIVER]
    lengths = alone["size"].to_numpy(dtype=float)
    once = np.ones_like(lengths)
    try:
        return delivery_time.fit(
            np.column_stack([once, lengths, once]), 1e-9 * lengths * alone["median_ns"].to_numpy()
        )
    except BadInput:
        return ALIKE
