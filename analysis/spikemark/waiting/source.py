"""What predictors of waiting are fitted on: cycle times of conventional runs, and the cost of a meeting."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.network.meetings import Plan
from spikemark.quantities.quantity import Quantity
from spikemark.records import run_files
from spikemark.records.imported import WAIT, CycleTimes
from spikemark.records.phases import BARRIER
from spikemark.records.record import Run

from .nodes import Nodes
from .several_runs import check_together, nodes_of, on_nodes_of_first
from .usable import (
    FEWEST_WINDOWS,
    cautions,
    check_times,
    check_unit,
    check_waiting,
    compute_times,
    kind_of,
    uneven,
)


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
    node_of_rank: tuple[str, ...] = ()  # on which the times are; empty where nobody knows
    kind: str = "modelled"  # of the waiting of the run: modelled where it follows from other times
    #: How much less and more waiting there may be in a cycle, which is then in the exchange instead, because
    #: waiting was not timed; zeros where it was; None where nothing limits it.
    doubt_s: tuple[float, float] | None = (0.0, 0.0)
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

    @property
    def waited(self) -> Quantity:
        """How long the run waited in s per cycle; with its limits where it was not timed."""
        found = Quantity(self.waited_s, unit="s", kind=self.kind)
        return found.widened(*self.doubt_s) if any(self.doubt_s or ()) else found

    @property
    def exchanged(self) -> Quantity:
        """How long exchanges took in s per cycle; with its limits where waiting was not timed."""
        found = Quantity(self.exchange_s, unit="s", kind=self.kind)
        return found.widened(*reversed(self.doubt_s)) if any(self.doubt_s or ()) else found

    @property
    def cycle(self) -> Quantity:
        """The mean cycle in s: computing, waiting and exchange; measured even where its parts are not."""
        value = float(self.compute.mean(dtype=np.float64)) + self.waited_s + self.exchange_s
        derived = self.kind == "modelled" and any(self.doubt_s or ())
        return Quantity(value, unit="s", kind="measured" if derived else self.kind)

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
    check_times(times, "cycle times")
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
    check_times(times, str(path / run_files.CYCLES))
    implied = times.max(axis=0) - times.mean(axis=0, dtype=np.float64)
    measured = run.phase(BARRIER).mean(axis=0, dtype=np.float64)
    exchanges = run.phase("exchange").mean(axis=0, dtype=np.float64)
    exchange, said = float(exchanges.mean()), (*cautions(run), *uneven(exchanges, path))
    nodes, names = nodes_of([run], [times]), tuple(run.node_of_rank or ())
    return Source(
        times, measured - implied, exchange, said, nodes=nodes, node_of_rank=names, kind=kind_of(run)
    )


def _of_times(times: CycleTimes) -> Source:
    if times.delay_ratio > 1:
        raise BadInput(
            f"{times.path}: ranks meet every {times.delay_ratio} cycles; a fit needs that they meet in each"
        )
    check_times(times.compute, str(times.path / run_files.CYCLES))
    exchange, said = 0.0, times.cautions
    if times.exchange is not None:
        exchange = max(0.0, float(times.exchange.mean()))
        said += uneven(times.exchange, times.path)
    kind = "modelled" if times.column(WAIT) is None else "measured"
    overhead, own = times.waiting - times.implied, tuple(times.about.times_of)
    limits = {"doubt_s": times.doubt_s, "times_of": own}
    return Source(times.compute, overhead, exchange, said, kind=kind, **limits)


def _joined(runs: Sequence[Run]) -> Source:
    check_together(runs)
    parts = [_of_run(run) for run in runs]
    weights = [part.cycles for part in parts]
    times = [part.compute for part in parts]
    nodes = nodes_of(runs, times)
    warnings = tuple(text for part in parts for text in part.warnings)
    if len({tuple(run.node_of_rank or ()) for run in runs}) > 1:
        times, said = on_nodes_of_first(runs, times, nodes)
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
