"""What a sweep measured as a whole: its frames as Parquet, its checksums, the order of its runs."""

from bisect import bisect_right

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


def out_of_order(frames: Frames) -> int:
    """The least number of runs that would have to move for the others to be in the order of the plan."""
    runs = frames.runs[(frames.runs["kind"] == "measured") & frames.runs["began_s"].notna()]
    tails: list[float] = []  # the earliest last begin of a sequence in order, by its length
    for at in runs["began_s"]:
        place = bisect_right(tails, at)
        tails[place : place + 1] = [at]
    return len(runs) - len(tails)


def beside_others(frames: Frames) -> list[str]:
    """The ids of measured runs during which another run of the sweep ran on one of their nodes."""
    runs = frames.runs[(frames.runs["kind"] == "measured") & frames.runs["wall_s"].notna()]
    found: set[str] = set()
    going: list[tuple[float, str, set[str]]] = []  # end, id and nodes of runs that may not be over
    for run in runs.sort_values("began_s").to_dict("records"):
        host = frames.records[run["id"]].record.host
        nodes = set(host.node_names or [host.name])
        going = [one for one in going if one[0] > run["began_s"]]
        others = [id for _, id, held in going if held & nodes]
        if others and run["wall_s"] > 0:
            found |= {run["id"], *others}
        going.append((run["began_s"] + run["wall_s"], run["id"], nodes))
    return [id for id in frames.runs["id"] if id in found]
