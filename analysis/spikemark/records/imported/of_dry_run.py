"""The times of a dry run as cycle times of all ranks of the machine, as models of waiting take them."""

from spikemark.network.description import read_time
from spikemark.records.dry_run import DryRun

from .cycle_times import About, CycleTimes
from .found import COMPUTE

READER = "dry-run"


def cycle_times(found: DryRun) -> CycleTimes:
    """Compute times of all R ranks. Raises BadInput for a schedule whose ranks meet at no barrier."""
    times = found.times().sum(axis=2, keepdims=True)
    ranks, cycles, _ = times.shape
    about = About(
        format_version=1, kind="imported", files=[str(found.path)], unit="s", ranks=ranks, cycles=cycles,
        columns=[COMPUTE], skipped=0, cycle_ms=read_time(found.about.description).cycle_ms,
        remarks=found.remarks, reader=READER, meets_every=found.meets_every,
        times_of=found.times_of,
    )  # fmt: skip
    return CycleTimes(found.path, times, about)
