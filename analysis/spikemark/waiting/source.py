"""What predictors of waiting are fitted on: cycle times of conventional runs, and the cost of a meeting."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.network.meetings import Plan
from spikemark.records import run_files
from spikemark.records.imported import WAIT, CycleTimes
from spikemark.records.record import BARRIER, COMPUTE_PHASES, Run

from .components import Components
from .nodes import Nodes, effects_of_nodes

FEWEST_WINDOWS = 20
LONGEST_CYCLE_S = 10.0  # of no simulation of a brain; times in microseconds nearly always are longer
SETUP = ("network", "inject", "placement")  # fields of a description that determine cycle times


@dataclass(frozen=True)
class Source:
    """Cycle times of ranks that all exchange in every cycle. Times in seconds.

    `overhead_s`: measured waiting beyond what compute times imply. `exchange_s`: mean time of an exchange.
    Both are 0 for plain arrays. `run_cycles` are those of one run of several that were joined; 0: of all.
    """

    compute: np.ndarray  # c[rank, cycle], float32 or float64
    overhead_s: np.ndarray  # [cycle], mean over ranks; may be negative where clocks disagree
    exchange_s: float
    warnings: tuple[str, ...] = ()
    run_cycles: int = 0
    nodes: Nodes | None = None  # their effects; None where all ranks are on one node, or nobody knows
    node_of_rank: tuple[str, ...] = ()  # names of nodes on which the times are; empty where nobody knows
    kind: str = "modelled"  # of the waiting of the run: modelled where it follows from the compute times
    times_of: tuple[int, ...] = ()  # the rank whose times each one has; empty where all have their own

    @property
    def ranks(self) -> int:
        return self.compute.shape[0]

    @property
    def cycles(self) -> int:
        return self.compute.shape[1]

    @property
    def waited_s(self) -> float:
        """How long the run waited per cycle, mean over ranks and cycles."""
        implied = self.compute.max(axis=0).mean(dtype=np.float64) - self.compute.mean(dtype=np.float64)
        return float(implied + self.overhead_s.mean())

    def check(self, plan: Plan) -> None:
        """Raises BadInput if there are too few cycles for the plan, and says how many are needed."""
        needed = FEWEST_WINDOWS * plan.window
        if self.cycles < needed:
            raise BadInput(
                f"cycles={self.cycles}: delay_ratio={plan.delay_ratio} of {plan.schedule} needs"
                f" {needed}, {FEWEST_WINDOWS} windows"
            )
        if 0 < plan.cycles < 2 * (plan.lag + 1) * plan.window:
            raise BadInput(
                f"cycles={plan.cycles}: delay_ratio={plan.delay_ratio} of {plan.schedule} needs at least"
                f" {2 * (plan.lag + 1) * plan.window}"
            )

    def steps(self, plan: Plan) -> np.ndarray:
        """Compute times summed over the steps of a plan, [rank, step]; only whole windows."""
        return lump(self.compute[:, : self.windows(plan) * plan.window], plan.step)

    def length(self, plan: Plan) -> int:
        """Cycles of a run under the plan."""
        return plan.cycles or self.run_cycles or self.cycles

    def stretch(self, plan: Plan) -> int:
        """Windows after which the fitted ranks are assumed to begin level again, which matters with a lag.

        These are as many as a run under the plan has, but no more than a fitted run has.
        """
        if not plan.lag:
            return self.windows(plan)
        return min(self.length(plan), self.run_cycles or self.cycles) // plan.window

    def windows(self, plan: Plan) -> int:
        return self.cycles // plan.window

    def overhead(self, plan: Plan) -> np.ndarray:
        """What one meeting costs, from the cycles of each window, [window].

        0 with a lag, since there is no barrier.
        """
        if plan.lag:
            return np.zeros(self.windows(plan))
        return lump(self.overhead_s, plan.window) / plan.window

    def transport_s(self, plan: Plan) -> float:
        """Time in exchanges over the run, each as long as in the fitted run.

        0 with a lag, since it is hidden.
        """
        return 0.0 if plan.lag else self.exchange_s * self.cycles / plan.window


def source(given: "Run | CycleTimes | np.ndarray | Sequence[Run | CycleTimes] | Source") -> Source:
    """The source in compute times [rank, cycle] in s, imported ones, a run, or several runs of one setup on
    one machine.

    Runs on one cluster with one model of processors count as runs on one machine, whichever nodes they got.
    Their times are then as on the nodes of the first run: every rank is scaled by the effects of the nodes
    that it ran on (`nodes.Nodes.applied`), so that a slow node of one run is not taken for noise of the
    ranks.

    Raises BadInput for runs that do not exchange among all ranks in every cycle, whose waiting was not timed
    (`record.barrier` false) or that come from different machines, numbers of ranks or setups, for a run given
    twice, and for times that are not finite numbers >= 0 or cannot be meant in seconds (`check_unit`).
    """
    if isinstance(given, Source):
        return given
    if isinstance(given, list | tuple) and len(given) == 1 and isinstance(given[0], CycleTimes):
        given = given[0]
    if isinstance(given, Run):
        return _of_run(given)
    if isinstance(given, CycleTimes):
        return _of_times(given)
    if isinstance(given, list | tuple) and any(isinstance(one, CycleTimes) for one in given):
        raise BadInput(f"{given[0].path}: imported times of one program run are needed, with no other run")
    if isinstance(given, list | tuple) and given and all(isinstance(run, Run) for run in given):
        return _joined(given)
    times = np.asarray(given)
    times = times if times.dtype == np.float32 else times.astype(np.float64, copy=False)
    _check(times, "cycle times")
    check_unit(times, "cycle times")
    return Source(times, np.zeros(times.shape[1]), 0.0)


def _of_run(run: Run) -> Source:
    ranks, path = run.record.ranks, run.path
    if not any(lane.ranks == ranks and lane.period == 1 and lane.lag == 0 for lane in run.record.lanes):
        raise BadInput(
            f"{path}: schedule={run.schedule}: a fit needs a run in which all ranks exchange in every cycle,"
            " as conventional or placement_only do"
        )
    check_waiting(run, "a fit")
    times = compute_times(run)
    _check(times, str(path / run_files.CYCLES))
    implied = times.max(axis=0) - times.mean(axis=0, dtype=np.float64)
    measured = run.phase(BARRIER).mean(axis=0, dtype=np.float64)
    exchange = float(run.phase("exchange").mean(dtype=np.float64))
    nodes, names = _nodes([run], [times]), tuple(run.node_of_rank or ())
    return Source(
        times, measured - implied, exchange, cautions(run), nodes=nodes, node_of_rank=names, kind=kind_of(run)
    )


def _of_times(times: CycleTimes) -> Source:
    """Where waiting was not timed, it is what compute times imply, and a barrier takes no time of its own."""
    if times.delay_ratio > 1:
        raise BadInput(
            f"{times.path}: ranks meet every {times.delay_ratio} cycles; a fit needs that they meet in each"
        )
    _check(times.compute, str(times.path / run_files.CYCLES))
    exchange = 0.0 if times.exchange is None else max(0.0, float(times.exchange.mean()))
    kind = "modelled" if times.column(WAIT) is None else "measured"
    overhead, own = times.waiting - times.implied, tuple(times.about.times_of)
    return Source(times.compute, overhead, exchange, times.cautions, kind=kind, times_of=own)


def check_waiting(run: Run, what: str) -> None:
    """Raises BadInput, naming what needs it, where waiting at the barrier was not timed."""
    if run.record.timing.phases[BARRIER].mean_s is None:
        raise BadInput(
            f"{run.path}: record.barrier=false: waiting was not timed; {what} needs record.barrier=true"
        )


def kind_of(run: Run) -> str:
    """Of what a record says of times: measured or simulated."""
    return "simulated" if run.record.kind == "simulated" else "measured"


def compute_times(run: Run) -> np.ndarray:
    """[rank, cycle] in s, float32 as recorded."""
    return sum(run.phase(name) for name in COMPUTE_PHASES if name in run.record.phases)


def cautions(run: Run) -> tuple[str, ...]:
    """Warnings of the record that concern everything computed from its times."""
    if run.record.kind == "simulated":
        dry = "; compute times were measured by a dry run" * ("dry_run" in (run.simulation or {}))
        return (f"{run.path}: simulated: its times are those of a machine that SimGrid simulates{dry}",)
    return tuple(f"{run.path}: {text}" for text in run.record.warnings if text.startswith("oversubscribed"))


def _joined(runs: Sequence[Run]) -> Source:
    paths = [run.path.resolve() for run in runs]
    twice = next((run.path for i, run in enumerate(runs) if paths[i] in paths[:i]), None)
    if twice is not None:
        raise BadInput(f"{twice}: given twice; each run counts once")
    first = runs[0]
    for field, value in (
        ("kind", lambda run: run.record.kind),
        (("cluster", _cluster) if any(map(_cluster, runs)) else ("host.name", _host_name)),
        ("host.cpu", lambda run: ", ".join(map(str, run.cpus))),
        ("host.nodes", lambda run: run.record.host.nodes),
        ("ranks", lambda run: run.record.ranks),
        ("threads", lambda run: run.record.threads),
    ):
        for run in runs[1:]:
            if value(run) != value(first):
                raise BadInput(
                    f"{field}={value(run)} of {run.path}: {value(first)} elsewhere; one fit, one machine"
                )
    for run, field in ((run, field) for run in runs[1:] for field in SETUP):
        if run.record.description.get(field) != first.record.description.get(field):
            raise BadInput(f"{field} of {run.path}: not that of {first.path}; one fit, one setup")
    parts = [_of_run(run) for run in runs]
    weights = [part.cycles for part in parts]
    times = [part.compute for part in parts]
    nodes = _nodes(runs, times)
    warnings = tuple(text for part in parts for text in part.warnings)
    if len({tuple(run.node_of_rank or ()) for run in runs}) > 1:
        times, said = _on_nodes_of_first(runs, times, nodes)
        warnings += said
    return Source(
        np.concatenate(times, axis=1),
        np.concatenate([part.overhead_s for part in parts]),
        float(np.average([part.exchange_s for part in parts], weights=weights)),
        warnings,
        min(part.cycles for part in parts),
        nodes,
        parts[0].node_of_rank,
        parts[0].kind,
    )


def _cluster(run: Run) -> str | None:
    return run.cluster


def _host_name(run: Run) -> str:
    return run.record.host.name


def _nodes(runs: Sequence[Run], times: Sequence[np.ndarray]) -> Nodes | None:
    """The effects of the nodes of runs with these compute times, [rank, cycle] in s each."""
    names = [run.node_of_rank for run in runs]
    if None in names or len({name for each in names for name in each}) == 1:
        return None
    first = Components(times[0])
    error, degrees = first.rank_mean_known
    known = (error / first.mean, degrees) if first.mean > 0 else None
    return effects_of_nodes([each.mean(axis=1, dtype=np.float64) for each in times], names, known)


def _on_nodes_of_first(
    runs: Sequence[Run], times: Sequence[np.ndarray], nodes: Nodes | None
) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """The times as they would be on the nodes of the first run, and what is to be said about that."""
    if nodes is None or not nodes.spread:
        reason = "not all of them say where their ranks ran" if nodes is None else nodes.spread.reason
        return list(times), (f"the runs were made on different nodes, whose effect is unknown: {reason}",)
    found = []
    for run, each in zip(runs, times, strict=True):
        pairs = zip(runs[0].node_of_rank, run.node_of_rank, strict=True)
        logarithms = np.array([nodes.applied[wanted] - nodes.applied[own] for wanted, own in pairs])
        found.append((each * np.exp(logarithms)[:, None]).astype(each.dtype))
    return found, (f"the runs were made on different nodes: times are as on those of {runs[0].path}",)


def _check(times: np.ndarray, what: str) -> None:
    if times.ndim != 2 or times.size == 0:
        raise BadInput(f"{what}: shape {list(times.shape)}; expected [rank, cycle], neither of them empty")
    if len(times) < 2:
        raise BadInput(f"{what}: ranks=1: there is nobody to wait for; a fit needs at least 2")
    if times.shape[1] < FEWEST_WINDOWS:
        raise BadInput(f"{what}: cycles={times.shape[1]}: a fit needs at least {FEWEST_WINDOWS}")
    check_range(times, what)


def check_unit(times: np.ndarray, what: str) -> None:
    """Raises BadInput for compute times that cannot be meant in seconds, since a cycle would take too long.

    For times that somebody hands over as plain arrays; records state their unit. Who does have such times
    makes a `Source` or an `Observed` of them.
    """
    mean = float(times.mean())
    if mean > LONGEST_CYCLE_S:
        raise BadInput(
            f"{what}: {mean:.4g} s on average; allowed are seconds, at most {LONGEST_CYCLE_S:g} per cycle. If"
            " these are microseconds, multiply them by 1e-6"
        )


def check_range(times: np.ndarray, what: str) -> None:
    """Raises BadInput for compute times that are not finite numbers >= 0."""
    lowest, highest = times.min(), times.max()
    if not (lowest >= 0 and highest < np.inf):
        raise BadInput(f"{what}: a compute time of {highest if lowest >= 0 else lowest} s; allowed is >= 0")
