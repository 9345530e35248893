"""Reads the call-path profile of Score-P, `profile.cubex`, with pycubexr."""

import tarfile
import warnings
from pathlib import Path

from pycubexr import CubexParser

from spikemark.core.errors import BadInput

from .seen import COUNTS, MEASURED, Seen, check_measured, check_ranks

COMPRESSED = b"ZCUBEX"  # how compressed data begin
TUPLES = ("TAU_ATOMIC", "RATE", "NDOUBLES", "HISTOGRAM", "SCALE_FUNC")  # types of several numbers


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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of writers whose check sums of headers are wrong
            with _Cube(path) as cube:
                known = {"time", "visits", *COUNTS}
                _check_types(path, [metric for metric in cube.all_metrics() if metric.name in known])
                groups = _processes(cube)
                check_ranks(path, list(groups), ranks)
                seen = [_seen(cube, groups[rank]) for rank in range(ranks)]
    except BadInput:
        raise
    except Exception as error:  # pycubexr fails as it comes: AssertionError, KeyError, struct.error, …
        if _compressed(path):
            raise BadInput(
                f"{path}: its values are compressed, in a way that is not known here; allowed: a profile as"
                " Score-P writes it unless Cube was told to compress"
            ) from None
        raise BadInput(
            f"{path}: truncated or no profile of Score-P: {error or type(error).__name__}"
        ) from None
    check_measured(path, seen)
    return seen


def _compressed(path: Path) -> bool:
    """True if any part of a profile begins as Cube's compressed data do."""
    try:
        with tarfile.open(path) as archive:
            parts = [archive.extractfile(member) for member in archive if member.isfile()]
            return any(part.read(len(COMPRESSED)) == COMPRESSED for part in parts)
    except (tarfile.TarError, OSError, EOFError):
        return False


def _check_types(path: Path, metrics: list) -> None:
    """Raises BadInput for values that are no plain numbers, such as least, largest and sum in one."""
    for metric in metrics:
        if metric.data_type.split("(")[0].strip() in TUPLES:
            raise BadInput(
                f"{path}: {metric.name} is of type {metric.data_type}, as SCOREP_PROFILING_FORMAT=cube_tuple"
                " writes it; allowed: the default, one number for each call path and thread"
            )


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
    present = {metric.name: metric for metric in cube.all_metrics()}
    time, visits = (cube.get_metric_values(cube.get_metric_by_name(name)) for name in ("time", "visits"))
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
