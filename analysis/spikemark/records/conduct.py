"""The order in which the runs of a sweep were carried out, and which of them ran beside others."""

from bisect import bisect_right

from .frames import Frames


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
