"""What a sweep measured as a whole: its frames as Parquet, and its checksums."""

from spikemark.core.files import write_atomically

from .columns import RESULT_TABLES, parquet_bytes
from .frames import Frames
from .results import Results


def collect(frames: Frames) -> list[str]:
    """Write `summary.parquet` and `phases.parquet`, whose columns say their unit and meaning.

    Returns a line for each record left out, and for each network with two checksums.

    Example:
        >>> import shutil
        >>> from tempfile import TemporaryDirectory
        >>> from spikemark.records.frames import load_folder
        >>> sweep = "docs/notebooks/data/waiting/jureca-dc"
        >>> with TemporaryDirectory() as folder:
        ...     copy = shutil.copytree(sweep, f"{folder}/jureca-dc")
        ...     collect(load_folder(copy))  # nothing is left out
        []
    """
    results = Results(frames.path)
    write_atomically(results.summary, parquet_bytes(frames.runs, RESULT_TABLES["runs"]))
    write_atomically(results.phases, parquet_bytes(frames.phases, RESULT_TABLES["phases"]))
    return frames.left_out + differing_checksums(frames)


def differing_checksums(frames: Frames) -> list[str]:
    """One line for each network whose runs differ in their checksum.

    Where they do, a schedule or an exchange is wrong.

    Example:
        >>> from spikemark.records.frames import load_folder
        >>> differing_checksums(load_folder("docs/notebooks/data/waiting/jureca-dc"))
        []
    """
    labels = frames.runs.groupby(["network", "checksum"])["label"].first()
    lines = []
    for network in labels[labels.index.get_level_values(0).duplicated()].index.unique(0):
        checksums = "; ".join(
            f"{checksum} in runs such as {label}" for checksum, label in labels[network].items()
        )
        lines.append(f"CHECKSUMS DIFFER for network {network}: {checksums}")
    return lines
