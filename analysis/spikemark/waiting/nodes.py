"""Which nodes compute more slowly than others: the node as a factor of mean compute times.

With y the logarithm of the mean compute time of a rank in a run, the model is additive,

    y = run + rank + node + rest,

so that an effect of 0.05 is a node that takes 5 % longer for the same work. Node effects are fixed effects of
ordinary least squares: there are often too few nodes to estimate a variance well, and people ask about these
very nodes.
What the rest is depends on how the runs were made; the first of these designs that can tell all nodes apart
is taken:

- ranks changed nodes between runs: runs and ranks are fixed effects too. Ranks that always shared a node
  count as one, with one value per run, the mean of their y, since what slows a node slows them all;
- every rank stayed on its node: one value per rank, its mean over runs; the ranks of a node are the rest;
- every run was on a single node: one value per run; the runs on a node are the rest;
- every rank stayed on its node, alone: the rest is how far drift moves the mean of a rank, and the effect of
  a node includes that of the load of its rank.

Intervals are Student's. A node is called slow if its interval excludes 0 after the correction of Bonferroni
for the number of nodes, so that of equal nodes, however many, some node is called slow in at most one of
twenty fits. The spread between nodes is the standard deviation of the effects beyond what their errors give;
effects that are applied to times are shrunk by that (positive-part James-Stein, as rank effects in
`components`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.quantities.quantity import LEVEL, Quantity, missing, student

ALONE = "one rank per node: differences between the loads of ranks are included"
STAYED = "ranks stayed on their nodes: differences between the loads of nodes are included"


@dataclass(frozen=True)
class Nodes:
    """Effects of nodes on mean compute time, relative: 0.05 stands for 5 % longer.

    `slower` compares each node with the mean of the others; missing with a reason if the runs do not tell.
    `applied` are the logarithms of the factors by which nodes differ from their mean, shrunk; 0 if unknown.
    """

    slower: dict[str, Quantity]  # by name
    spread: Quantity  # SD between nodes
    slow: tuple[str, ...]  # names of the nodes that are certainly slower, the slowest first
    applied: dict[str, float]  # by name
    note: str = ""  # what else the effects include


@dataclass(frozen=True)
class Runs:
    """`y[run][rank]`: logarithms of mean compute times; `nodes[run][rank]`: names."""

    y: np.ndarray
    nodes: np.ndarray

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(self.nodes.ravel().tolist()))


@dataclass(frozen=True)
class Design:
    """Values that depend on the node and on other factors. `known`: error of a value and its degrees."""

    y: np.ndarray  # [value]
    node: np.ndarray  # names, [value]
    others: tuple[np.ndarray, ...] = ()  # codes of other factors, [value] each
    known: tuple[float, float] | None = None
    note: str = ""


def effects_of_nodes(
    means: Sequence[np.ndarray],
    nodes: Sequence[Sequence[str]],
    known: tuple[float, float] | None = None,
) -> Nodes | None:
    """The effects of nodes; None if all ranks of all runs were on one node.

    `means`: mean compute time of each rank, [run][rank] in any unit; `nodes`: the name of the node of each.
    `known`: the relative standard error of a single mean and its degrees of freedom, for runs with one rank
    per node.
    """
    runs = Runs(np.log(np.asarray(means, dtype=np.float64)), np.asarray(nodes))
    if len(runs.names) == 1 or not np.isfinite(runs.y).all():
        return None
    for make in DESIGNS:
        design = make(runs, known)
        found = None if design is None else _fitted(design, runs.names)
        if found is not None:
            return found
    reason = "the runs do not tell nodes apart: make several runs, each on several of these nodes"
    unknown = missing(reason)
    return Nodes(dict.fromkeys(runs.names, unknown), unknown, (), dict.fromkeys(runs.names, 0.0))


def _crossed(runs: Runs, known) -> Design | None:
    together: dict[tuple, list[int]] = {}
    for rank, on in enumerate(runs.nodes.T):
        together.setdefault(tuple(on), []).append(rank)
    groups = list(together.values())
    if len(runs.y) == 1 or len(groups) == 1:
        return None
    y = np.stack([runs.y[:, ranks].mean(axis=1) for ranks in groups], axis=1)
    node = np.stack([runs.nodes[:, ranks[0]] for ranks in groups], axis=1)
    run, group = np.indices(y.shape)
    return Design(y.ravel(), node.ravel(), (run.ravel(), group.ravel()))


def _stays(runs: Runs) -> bool:
    return bool((runs.nodes == runs.nodes[0]).all())


def _by_rank(runs: Runs, known) -> Design | None:
    return Design(runs.y.mean(axis=0), runs.nodes[0], note=STAYED) if _stays(runs) else None


def _by_run(runs: Runs, known) -> Design | None:
    single = (runs.nodes == runs.nodes[:, :1]).all()
    return Design(runs.y.mean(axis=1), runs.nodes[:, 0]) if single else None


def _alone(runs: Runs, known) -> Design | None:
    if known is None or not _stays(runs) or len(runs.names) < runs.y.shape[1]:
        return None
    error, degrees = known
    count = len(runs.y)
    return Design(runs.y.mean(axis=0), runs.nodes[0], (), (error / count**0.5, degrees * count), ALONE)


#: In the order in which they are tried.
DESIGNS: tuple[Callable[[Runs, tuple[float, float] | None], Design | None], ...] = (
    _crossed,
    _by_rank,
    _by_run,
    _alone,
)


def _fitted(design: Design, names: list[str]) -> Nodes | None:
    """Least squares; None if some nodes cannot be compared, or nothing tells of the error."""
    columns = [design.node[:, None] == np.array(names)]
    columns += [code[:, None] == np.unique(code) for code in design.others]
    x = np.concatenate(columns, axis=1).astype(float)
    inverse = np.linalg.pinv(x)
    count = len(names)
    centred = np.zeros((count, x.shape[1]))
    centred[:, :count] = np.eye(count) - 1 / count
    if not np.allclose(centred @ inverse @ x, centred, atol=1e-8):
        return None
    found = inverse @ design.y
    error, degrees = design.known or _rest(design.y - x @ found, np.linalg.matrix_rank(x))
    if not degrees >= 1:
        return None
    against = count / (count - 1)  # a node against the mean of the others
    effects = centred @ found
    errors = error * np.linalg.norm(centred @ inverse, axis=1)
    strict = against * student(degrees, 1 - (1 - LEVEL) / count) * errors
    order = np.argsort(-effects)
    variance, chance = float(effects.var(ddof=1)), float(np.mean(errors**2)) * against
    part = (count - 3) / (count - 1) if count > 3 else 1.0
    kept = max(0.0, 1 - part * chance / variance) if variance > 0 else 0.0
    half = student(degrees) * errors
    return Nodes(
        slower={name: _relative(against * effects[n], against * half[n]) for n, name in enumerate(names)},
        spread=Quantity(max(variance - chance, 0.0) ** 0.5, kind="measured"),
        slow=tuple(names[n] for n in order if against * effects[n] > max(strict[n], 0.0)),
        applied={name: kept * float(effects[n]) for n, name in enumerate(names)},
        note=design.note,
    )


def _rest(residuals: np.ndarray, parameters: int) -> tuple[float, float]:
    degrees = len(residuals) - parameters
    return (float(residuals @ residuals) / degrees) ** 0.5 if degrees > 0 else 0.0, degrees


def _relative(effect: float, half: float) -> Quantity:
    ends = (float(np.expm1(x)) for x in (effect, effect - half, effect + half))
    return Quantity(*ends, kind="measured")
