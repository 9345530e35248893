"""Times of exchanges for a calibration: within a node, between nodes, and on full nodes.

A round starts build/bench_exchange for each number of ranks, with one repetition. The profile gets
a table of medians over the rounds for each exchange, and for the barrier beside them.
"""

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from spikemark.launch import LaunchLayout
from spikemark.machines.fields import BETWEEN, FULL, LAYOUTS, WITHIN
from spikemark.machines.profile import Value

from .exchanges import default_ranks, measure
from .site import NO_SECOND_CORE, ONE_NODE, Effort, Site, ValuesAndUnknown, measured

#: Exchanges that models need times of.
CALIBRATED = ("alltoall", "allgather")
#: Starts of the names of MPI libraries, and what profiles call their choice of algorithms.
SELECTORS = {"Open MPI": "ompi", "Intel": "impi", "MPICH": "mpich"}
#: Times by layout of ranks (machines/fields).
LayoutTables = dict[str, pd.DataFrame]


class MeasuredRanks(NamedTuple):
    """Numbers of ranks to measure with in a layout, and how many share a node."""

    numbers: list[int]
    per_node: int


def _layouts(site: Site) -> dict[str, MeasuredRanks]:
    """Numbers of ranks to measure with, by layout; one core alone exchanges nothing."""
    several_cores = [number for number in default_ranks(site.cores) if number > 1]
    full_nodes = []
    if site.cores > 1:
        full_nodes = [nodes * site.cores for nodes in site.sizes]
    return {
        WITHIN: MeasuredRanks(several_cores, site.cores),
        BETWEEN: MeasuredRanks(site.sizes, 1),
        FULL: MeasuredRanks(full_nodes, site.cores),
    }


def one_round(
    site: Site,
    effort: Effort,
    folder: Path,
    earlier: list[LayoutTables],
) -> LayoutTables:
    """One repetition of everything. Raises ProgramFailed."""
    options = {
        "filter": f"^({'|'.join(CALIBRATED)})$",
        "bytes": ",".join(str(size) for size in effort.bytes),
        "repetitions": 1,
        "min-time": effort.exchange_s,
    }
    tables = {}
    for layout, ranks in _layouts(site).items():
        times = []
        for number in ranks.numbers:
            start = LaunchLayout(number, ranks_per_node=ranks.per_node)
            times.append(measure(start, options)[0])
        if times:
            tables[layout] = pd.concat(times)
    return tables


def values(rounds: list[LayoutTables], site: Site) -> ValuesAndUnknown:
    """Tables and selector by path, interconnect.…, and what is unknown about it, with reasons.

    Example:
        >>> values_by_path, unknown = values([{}], Site(nodes=1, cores=1))
        >>> values_by_path, unknown["interconnect.selector"]
        ({}, 'there is one core, so there are no messages between ranks')
    """
    calibrated = {}
    unknown = {}
    for layout in LAYOUTS:
        path = f"interconnect.{layout}"
        tables = [round_[layout] for round_ in rounds if layout in round_]
        if tables:
            times = pd.concat(tables)
            for name in CALIBRATED:
                calibrated[f"{path}.{name}"] = _rows(times[times["exchange"] == name], "exchange_s")
            calibrated[f"{path}.barrier"] = _rows(times.assign(bytes=0), "barrier_s")
        elif layout == WITHIN or site.nodes > 1:
            unknown[path] = NO_SECOND_CORE
        else:
            unknown[path] = ONE_NODE
    library = _mpi_library(rounds)
    if library is None:
        unknown["interconnect.selector"] = NO_SECOND_CORE
        return calibrated, unknown
    for start, name in SELECTORS.items():
        if library.startswith(start):
            detail = library.split(",")[0]
            calibrated["interconnect.selector"] = measured(name, None, detail=detail)
    return calibrated, unknown


def _mpi_library(rounds: list[LayoutTables]) -> str | None:
    """The MPI library that exchanged something; None: nothing was exchanged."""
    for tables in rounds:
        for table in tables.values():
            return str(table["mpi_library"].iloc[0])
    return None


def _rows(times: pd.DataFrame, column: str) -> Value:
    """A table of medians in us; its reference says how far repetitions are apart."""
    groups = times.groupby(["ranks", "bytes"])[column]
    medians = groups.median()
    low, high = (groups.min() / medians).min(), (groups.max() / medians).max()
    sizes = medians.reset_index()
    rows = [
        (int(ranks), int(size), 1e6 * float(seconds))
        for ranks, size, seconds in sizes.itertuples(index=False)
    ]
    detail = f"medians; single repetitions are {low:.2g} to {high:.2g} times as long"
    return measured(rows, "us", detail=detail)
