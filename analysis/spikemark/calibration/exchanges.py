"""Times of collective exchanges: between the ranks of a node, single ranks of nodes, and full nodes."""

from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.bench import exchange_bench
from spikemark.machines.fields import BETWEEN, FULL, LAYOUTS, WITHIN
from spikemark.machines.profile import Value

from .effort import Effort
from .messages import ALONE, ONE_NODE
from .site import Site
from .values import measured

EXCHANGES = ("alltoall", "allgather")
SELECTORS = {"Open MPI": "ompi", "Intel": "impi", "MPICH": "mpich"}
#: Times by layout (machines/fields.py), see `exchange_times.contract`.
Tables = dict[str, pd.DataFrame]


def one_round(site: Site, effort: Effort, folder: Path) -> Tables:
    """Times of one repetition; nothing on one core alone. Raises BenchFailed."""
    options = {
        "filter": f"^({'|'.join(EXCHANGES)})$",
        "bytes": ",".join(map(str, effort.bytes)),
        "repetitions": 1,
        "min-time": effort.exchange_s,
    }
    ways = {WITHIN: ([n for n in exchange_bench.default_ranks(site.cores) if n > 1], site.cores)}
    ways[BETWEEN] = site.sizes, 1
    ways[FULL] = [n * site.cores for n in site.sizes if site.cores > 1], site.cores
    return {
        layout: exchange_bench.bench(folder / layout, ranks, options, ranks_per_node=each).table
        for layout, (ranks, each) in ways.items()
        if ranks
    }


def values(rounds: list[Tables], site: Site) -> tuple[dict[str, Any], dict[str, str]]:
    """Tables and selector by path, interconnect.…, and what is unknown about it, with reasons."""
    found: dict[str, Any] = {}
    unknown: dict[str, str] = {}
    every = [table for each in rounds for table in each.values()]
    for layout in LAYOUTS:
        parts = [each[layout] for each in rounds if layout in each]
        if parts:
            found |= _tables(layout, pd.concat(parts))
        else:
            alone = layout == WITHIN or site.nodes > 1
            unknown[f"interconnect.{layout}"] = ALONE if alone else ONE_NODE
    if not every:
        return found, unknown | {"interconnect.selector": ALONE}
    library = every[0]["mpi_library"].iloc[0]
    for start, name in SELECTORS.items():
        if library.startswith(start):
            found["interconnect.selector"] = measured(name, None, detail=library.split(",")[0])
    return found, unknown


def _tables(layout: str, table: pd.DataFrame) -> dict[str, Value]:
    found = {}
    for name in EXCHANGES:
        groups = table[table["exchange"] == name].groupby(["ranks", "bytes"])["exchange_s"]
        found[f"interconnect.{layout}.{name}"] = _rows(groups)
    barriers = table.assign(bytes=0).groupby(["ranks", "bytes"])["barrier_s"]
    return found | {f"interconnect.{layout}.barrier": _rows(barriers)}


def _rows(groups) -> Value:
    """A table of medians in us; its reference says how far repetitions are apart."""
    low, high = (groups.min() / groups.median()).min(), (groups.max() / groups.median()).max()
    rows = [(int(ranks), int(size), 1e6 * float(s)) for (ranks, size), s in groups.median().items()]
    detail = f"medians; single repetitions are {low:.2g} to {high:.2g} times as long"
    return measured(rows, "us", detail=detail)
