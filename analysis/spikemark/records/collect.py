"""What a sweep measured as a whole: its frames as Parquet, and its checksums."""

from spikemark.core.files import write_atomically

from .frames import Frames
from .results import Results


def collect(frames: Frames) -> list[str]:
    """Write `summary.parquet` and `phases.parquet`.

    Returns a line for each record left out, and for each network with two checksums.
    """
    results = Results(frames.path)
    write_atomically(results.summary, frames.runs.to_parquet(index=False))
    write_atomically(results.phases, frames.phases.to_parquet(index=False))
    return frames.left_out + differing_checksums(frames)


def differing_checksums(frames: Frames) -> list[str]:
    """One line for each network of which not all runs have one checksum: a schedule or exchange is wrong."""
    lines = []
    for network, runs in frames.runs.groupby("network"):
        labels = runs.groupby("checksum")["label"].first()
        if len(labels) > 1:
            named = "; ".join(f"{checksum} in runs such as {label}" for checksum, label in labels.items())
            lines.append(f"CHECKSUMS DIFFER for network {network}: {named}")
    return lines
