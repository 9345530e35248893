"""Reads the call-path profile of Score-P, `profile.cubex`, with pycubexr."""

import warnings
from pathlib import Path

from pycubexr import CubexParser

from spikemark.core.errors import BadInput

from .seen import COUNTS, MEASURED, Seen, check_measured, check_ranks


class _Cube(CubexParser):
    """A parser that also closes its file if it cannot read the beginning."""

    def __enter__(self) -> "_Cube":
        try:
            return super().__enter__()
        except BaseException:
            if (file := getattr(self, "_cubex_file", None)) is not None:
                file.close()
            raise


def read(path: Path, ranks: int) -> list[Seen]:
    """What the profile says about each of the `ranks` ranks, in order.

    Raises BadInput if the file is missing, truncated or no profile, of another number of ranks, or without
    the regions of Spikemark.
    """
    if not path.is_file():
        raise BadInput(f"{path}: not found; Score-P writes it with SCOREP_ENABLE_PROFILING=true")
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            _Cube(path) as cube,
        ):  # a writer's wrong sums of headers
            groups = _processes(cube)
            check_ranks(path, list(groups), ranks)
            seen = [_seen(cube, groups[rank]) for rank in range(ranks)]
    except BadInput:
        raise
    except Exception as error:  # pycubexr fails as it comes: AssertionError, KeyError, struct.error, …
        raise BadInput(
            f"{path}: truncated or no profile of Score-P: {error or type(error).__name__}"
        ) from None
    check_measured(path, seen)
    return seen


def _processes(cube) -> dict[int, list]:
    """Locations by MPI rank, the first thread first: `rank` of a location is the number of its thread."""
    (root,) = cube._anchor_result.system_tree_nodes  # get_locations() does not tell the group
    groups = {}
    for group in root.all_location_groups():
        if threads := [location for location in group.all_locations() if location.type == "thread"]:
            groups[int(group.rank)] = sorted(threads, key=lambda thread: int(thread.rank))
    return groups


def _seen(cube, threads: list) -> Seen:
    """The values of a call path are in the order of the locations' ids."""
    seen, first = Seen(), threads[0].id
    time, visits = (cube.get_metric_values(cube.get_metric_by_name(name)) for name in ("time", "visits"))
    present = {metric.name: metric for metric in cube.all_metrics()}
    counts = {name: cube.get_metric_values(present[name]) for name in COUNTS if name in present}
    for cnode in cube.all_cnodes():
        if not _measured(cnode):
            continue
        name = cnode.region.name
        seen.seconds[name] += float(time.cnode_values(cnode, convert_to_inclusive=True)[first])
        seen.visits[name] += int(visits.cnode_values(cnode)[first])
        for count, values in counts.items():
            of_all = values.cnode_values(cnode)
            seen.counts[count] += sum(int(of_all[thread.id]) for thread in threads)
    return seen


def _measured(cnode) -> bool:
    while cnode is not None:
        if cnode.region.name == MEASURED:
            return True
        cnode = cnode.parent
    return False
