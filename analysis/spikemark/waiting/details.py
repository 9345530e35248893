"""Tables of an answer about waiting: intervals, eq 12, estimates, ranks and nodes."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import change

from . import theory
from .ladder import Ladder
from .sentences import MICRO
from .theory import Estimates
from .trace import CycleTrace

RANKS_SHOWN = 3  #: at each end
NODES_SHOWN = 6


def tables(run: CycleTrace, ladder: Ladder) -> list[Table]:
    """What `--details` adds to the screen.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> len(tables(run, ladder(run))) > 1
        True
    """
    estimates = theory.estimates(run)
    mean_s = run.compute.mean(axis=1, dtype=np.float64)  # [rank]
    details = [
        _parts(ladder),
        _cycle_times(estimates, ladder),
        _maxima(run, ladder.delay_ratio),
        _ranks(mean_s, estimates.effects_s, run.first_rank),
    ]
    nodes = run.nodes or ("",) * run.ranks
    relative = pd.Series(mean_s / mean_s.mean()).groupby(list(nodes)).mean()
    if len(relative) > 1:
        slowest = relative.sort_values(ascending=False)[:NODES_SHOWN]
        columns = [Column("node", "node", words=change), Column("change", "computes", words=change)]
        rows = [(str(node), float(factor)) for node, factor in slowest.items()]
        details.append(_table(columns, rows))
    return details


def parts_of(ladder: Ladder) -> dict[str, Quantity]:
    """Computing, waiting, its parts, exchange and what all ranks have in common, s per cycle.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> [*parts_of(ladder(run))]
        ['computing', 'waiting', 'imbalance', 'drift', 'jitter', 'all slow at once']
    """
    parts = {"computing": ladder.computing, "waiting": ladder.waiting} | ladder.parts
    if ladder.exchange is not None:
        parts["exchange"] = ladder.exchange
    parts["all slow at once"] = ladder.common
    return {name: part for name, part in parts.items() if part}


def _table(columns: list[Column], rows: Iterable[tuple[Cell, ...]], title: str = "") -> Table:
    """A table of rows whose cells are in the order of the columns."""
    names = [column.name for column in columns]
    cells: list[dict[str, Cell]] = [dict(zip(names, row, strict=True)) for row in rows]
    return Table(columns, cells, title)


def _parts(ladder: Ladder) -> Table:
    """The parts of a cycle with their intervals, and what rare long cycles add to them."""
    columns = [
        Column("part", "µs per cycle"),
        Column("value", "with 95 % interval"),
        Column("rare", "rare long cycles"),
    ]
    rows = []
    for name, part in parts_of(ladder).items():
        rare = ladder.rare.get(name)
        rows.append((name, part.times(MICRO), None if rare is None else rare.times(MICRO)))
    return _table(columns, rows)


def _cycle_times(estimates: Estimates, ladder: Ladder) -> Table:
    """The parameters of the cycle times, and the efficiencies of POP."""
    values: dict[str, Cell] = {
        "mean (µs)": estimates.mean_s.times(MICRO),
        "SD of a rank (µs)": estimates.own_sd_s.times(MICRO),
        "serial correlation": estimates.rho_1,
        "correlation time (cycles)": estimates.correlation_time,
        "variance that all ranks share": estimates.common_share,
        "cycles of a slower mode, share": estimates.minor_share,
        "cycles of a slower mode, times as long": estimates.minor_factor,
        "slow spells, share of the cycles": estimates.spell_share,
        "slow spells, times as long": estimates.spell_factor,
        "slow spells, length": estimates.spell_cycles,
    }
    for name, efficiency in (ladder.efficiency or {}).items():
        values[f"POP {name.replace('_', ' ')}"] = efficiency
    columns = [Column("what", "cycle times"), Column("value", "measured")]
    return _table(columns, values.items())


def _maxima(run: CycleTrace, delay_ratio: int) -> Table:
    """Eq 12 beside what was measured."""
    columns = [
        Column("delay_ratio", "D"),
        Column("nominal", "expected", "modelled"),
        Column("found", "found", "measured"),
    ]
    rows = [
        (share.delay_ratio, share.nominal, share.measured)
        for share in theory.maxima(run, delay_ratio)
    ]
    title = "How often the slowest rank exceeds a quantile of the theory (Lober et al. 2026)"
    return _table(columns, rows, title)


def _ranks(mean_s: np.ndarray, effects_s: list[Quantity], first_rank: int) -> Table:
    """The slowest and the fastest ranks: mean of a cycle in s, [rank], and its lasting effect.

    `first_rank`: what the first one is called.
    """
    columns = [
        Column("rank", "rank"),
        Column("us", "µs per cycle", "measured"),
        Column("effect", "beyond mean (µs)"),
    ]
    slowest_first = [int(rank) for rank in np.argsort(-mean_s)]
    shown = slowest_first
    title = "Ranks, the slowest first"
    if len(shown) > 2 * RANKS_SHOWN:
        shown = slowest_first[:RANKS_SHOWN] + slowest_first[-RANKS_SHOWN:]
        title = f"Ranks: {RANKS_SHOWN} slowest and {RANKS_SHOWN} fastest of {len(slowest_first)}"
    rows = []
    for rank in shown:
        rows.append((first_rank + rank, MICRO * mean_s[rank], effects_s[rank].times(MICRO)))
    return _table(columns, rows, title)
