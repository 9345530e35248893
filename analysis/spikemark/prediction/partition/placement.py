"""Placements of the mini-app and of files, and how many neurons of a graph they give each rank."""

from pathlib import Path

import numpy as np
from scipy import sparse

from spikemark.core.errors import BadInput
from spikemark.network.description import Description
from spikemark.network.lanes import chosen
from spikemark.network.placement import PLACEMENTS, ranges, spans, without_equal_weights
from spikemark.network.placement_file import ENDINGS, Placement, read, residues
from spikemark.network.placement_weights import split

from .graph import Graph

MOST_COUNTED = 5_000_000  # dealt (unit, rank) pairs up to which neurons are counted one by one


def per_unit(placed: Placement, graph: Graph) -> tuple[sparse.csr_array, np.ndarray]:
    """Neurons of every unit in every class of ranks with equal contents, [U, classes]; class of a rank.

    The numbers are exact unless a graph is so large that dealt neurons are shared evenly.
    """
    which, unit, start, count = placed.cut(graph.first, graph.sizes)
    dealt = placed.over[which] > 1
    if placed.over[which][dealt].sum() <= MOST_COUNTED:
        return _counted(placed, unit, which, start, count, dealt, len(graph.sizes)), np.arange(placed.ranks)
    return _shared(placed, unit, which, count, dealt, len(graph.sizes))


def _counted(placed: Placement, unit, which, start, count, dealt, units) -> sparse.csr_array:
    rows, columns = [unit[~dealt]], [placed.rank[which][~dealt]]
    data = [count[~dealt].astype(float)]
    for i in np.flatnonzero(dealt):
        n, r = placed.over[which[i]], placed.rank[which[i]]
        rows.append(np.full(n, unit[i]))
        columns.append(np.arange(r, r + n))
        data.append(residues(int(start[i] - placed.origin[which[i]]), int(count[i]), int(n)))
    parts = (np.concatenate(rows), np.concatenate(columns))
    found = sparse.csr_array((np.concatenate(data).astype(float), parts), shape=(units, placed.ranks))
    found.sum_duplicates()
    found.eliminate_zeros()
    return found


def _shared(placed: Placement, unit, which, count, dealt, units) -> tuple[sparse.csr_array, np.ndarray]:
    found, span = np.unique(np.c_[placed.rank[which], placed.over[which]][dealt], axis=0, return_inverse=True)
    member = np.zeros((placed.ranks, len(found)), bool)
    for i, (first, n) in enumerate(found):
        member[first : first + n, i] = True
    alone = np.zeros(placed.ranks, np.int64)  # a rank with neurons of its own is a class of its own
    own = np.unique(placed.rank[which][~dealt])
    alone[own] = 1 + own
    kinds, classes = np.unique(np.c_[member, alone], axis=0, return_inverse=True)
    classes = classes.ravel()
    of = kinds[:, :-1].astype(bool)  # [class, span]
    rows, columns = [unit[~dealt]], [classes[placed.rank[which][~dealt]]]
    data = [count[~dealt].astype(float)]
    for i, (_, n) in enumerate(found):
        inside = span.ravel() == i
        share = np.bincount(unit[dealt][inside], count[dealt][inside], units) / n
        (units_in,) = np.nonzero(share)
        for c in np.flatnonzero(of[:, i]):
            rows.append(units_in)
            columns.append(np.full(len(units_in), c))
            data.append(share[units_in])
    parts = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.concatenate(data), parts), shape=(units, len(kinds))), classes


def of_rule(described: Description, rule: str, ranks: int) -> Placement:
    """What a placement of the mini-app, or a file, does with a network. Raises BadInput where it cannot."""
    rule = without_equal_weights(rule, ranks)
    if rule not in PLACEMENTS:
        return ranges(described.network, rule, ranks)
    network = described.network
    of_area = spans(described, rule, ranks)
    end = np.cumsum([p.size for p in network.populations])
    first = np.concatenate([[0], end[:-1]])
    area = np.array(network.area_of)
    begins = {int(a): int(first[np.flatnonzero(area == a)[0]]) for a in np.unique(area)}
    origin = [0 if rule == "round_robin" else begins[int(a)] for a in area]
    return Placement.of(ranks, end, *np.array([of_area[a] for a in area]).T, origin, rule)


def of_run(graph: Graph) -> str:
    """The placement that a run description names or implies; for a coarse graph, round_robin."""
    return "round_robin" if graph.described is None else chosen(graph.described, None, None)[1]


def named(graph: Graph, name: str, ranks: int | None) -> Placement:
    """The placement that a command line names: a file, or a rule of the mini-app with a number of ranks.

    Raises BadInput for neither, for a file of another number of ranks, and for a rule without areas.
    """
    if split(name)[0] not in PLACEMENTS:
        if not name.endswith(ENDINGS):
            raise BadInput(f"placement={name!r}: a file (.json, .npz) or one of {', '.join(PLACEMENTS)}")
        found = read(Path(name), graph.neurons)
        return found.on(found.ranks if ranks is None else ranks, name)
    if ranks is None:
        raise BadInput(f"ranks: missing; placement {name!r} needs their number")
    if graph.described is not None:
        return of_rule(graph.described, name, ranks)
    if name == "round_robin":
        return Placement.of(ranks, [graph.neurons], [0], [ranks], [0], name)
    raise BadInput(f"placement={name!r}: a coarse graph has round_robin, or a file of `spikemark partition`")
