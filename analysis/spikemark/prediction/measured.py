"""Compute times of all ranks as a dry run measured them, in place of those that kernel times predict.

Computing is measured on one node. What no single node shows is modelled: waiting, by sending the measured
cycles through the lanes of the run (models/recursion.py), with the profile's spread between nodes on top; and
the exchange, from the profile.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.machines.inputs import WITHIN, Inputs
from spikemark.machines.jitter import Jitter
from spikemark.models import recursion
from spikemark.models.statistics import lump
from spikemark.network import lanes
from spikemark.network.description import Description, read
from spikemark.network.placement_field import same
from spikemark.network.schedules import Schedule
from spikemark.quantities.quantity import Quantity
from spikemark.records.dry_run import DryRun

from . import waiting
from .loads import Loads

#: What numbers depend on besides values of the profile: how well times are known, and which ranks ran.
PATHS = TIMES, DRAWN = "dry_run.times", "dry_run.sample"
NODES_SEED, SPREAD, SETTLED = 1, "jitter.node_spread", 0.3
#: How much longer ranks may compute together than alone if other programs run (docs/dryrun.md: alone they
#: took 0.78 to 0.92 of that time, and 0.57 in one pair). On a quiet machine they took 0.99 to 1.03 of it.
ALONE = 0.3
OTHERWISE = 0.15  # how much they may differ on a quiet machine; one of six took 0.88 of it
WINDOWS = 20_000  # rank x window whose ends are used for barriers
MOST = 200_000  # rank x cycle of a course; longer runs are modelled from their first cycles
#: Fields that decide which synapses a rank has, and when spikes arrive.
SAME = ("network", "seed", "inject", "delay_ratio", "lag")
SAME_TIME = ("resolution_ms", "cycle_ms")
MEASURED, MODELLED = "measured", "modelled"
ALLOWED = "allowed: the same, or another dry run"


@dataclass(frozen=True)
class Measured:
    """What a prediction takes from a dry run."""

    run: DryRun

    @classmethod
    def of(cls, run: DryRun, loads: Loads) -> "Measured":
        """The times of a dry run for a question. Raises BadInput unless it is one of these loads."""
        check(run, loads)
        return cls(run)

    @cached_property
    def means(self) -> np.ndarray:
        """[rank, part of COMPUTE] in s, of all ranks."""
        return self.run.means()

    @cached_property
    def compute(self) -> dict[str, np.ndarray]:
        """[rank, cycle] in s, by how the sample might have come out: value, low and high.

        low and high are the bootstrap samples with the least and the most waiting for the slowest rank. Of
        long runs, these are the first cycles.
        """
        longest = max((lane.period * (lane.lag + 1) for lane in self.run.lanes), default=1)
        cycles = max(20 * longest, MOST // self.run.ranks)
        found = {"value": self.run.times(cycles=cycles).sum(axis=2)}
        if not (pools := self.run.pools()):
            return found
        drawn = (self.run.times(seed, pool, cycles).sum(axis=2) for seed, pool in enumerate(pools))
        ordered = sorted(drawn, key=lambda times: _waiting(times, self.run.window))
        return found | {"low": ordered[0], "high": ordered[-1]}

    def mean_s(self, inputs: Inputs) -> tuple[np.ndarray, ...]:
        """Mean seconds per cycle in each part of COMPUTE, [rank]."""
        return tuple((self.means * self._factor(inputs)).T)

    def waited_s(self, meetings: list[recursion.Lane], inputs: Inputs, ranks_per_node: int) -> float:
        """Mean waiting per cycle in s of ranks that meet in these lanes, after the start."""
        spread = Jitter(0.0, node_spread=inputs.need(SPREAD, "waiting for the slowest rank"))
        which, factor = self._sampled(inputs), self._factor(inputs)
        period = max(lane.period for lane in meetings)
        longest = max(lane.period * (lane.lag + 1) for lane in meetings)
        compute = self.compute[which]
        cycles = compute.shape[1] // period * period
        if cycles <= longest:
            raise BadInput(
                f"compute_from={self.run.path}: {compute.shape[1]} cycles; allowed with this schedule: more"
                f" than {longest}"
            )
        node = np.arange(len(compute)) // ranks_per_node
        normal = np.random.default_rng(NODES_SEED).standard_normal(node[-1] + 1)
        level = spread.level(normal - normal.mean() if len(normal) > 1 else 0 * normal)[node]
        course = recursion.evaluate(factor * level[:, None] * compute[:, :cycles], meetings)
        lagged = longest > period
        settled = slice(int(SETTLED * cycles) if lagged else 0, cycles - longest if lagged else cycles)
        # A rank that is slower than all that ran would let the others wait for it in every cycle.
        beyond = self.run.slower * factor * float(compute.mean()) if which == "high" else 0.0
        return float(course.waiting_s[..., settled].mean()) + beyond

    def arrivals(self, inputs: Inputs, met: list[waiting.Met]) -> np.ndarray:
        """When ranks come to the last of these meetings, after a window that all of them began together,
        [draw, rank] in s.
        """
        met = waiting.nested(met)
        compute = self.compute[self._sampled(inputs)]
        if met[-1][0] > compute.shape[1]:  # such a window is not there
            met = [(compute.shape[1], met[-1][1])]
        most = max(1, WINDOWS // len(compute)) * met[-1][0]
        cycles = min(most, compute.shape[1]) // met[-1][0] * met[-1][0]
        took = lump(compute[:, :cycles], met[0][0]).T
        return self._factor(inputs) * waiting.through_meetings(np.array(took), met)

    def _factor(self, inputs: Inputs) -> float:
        """1, moved by how well times were measured and by how well the sample stands for all ranks."""
        doubt = self.run.doubt
        if doubt is None:
            most = WITHIN["assumed"]
            found = Quantity(1.0, 1 / most, most, kind="assumed")
        else:
            low, high = within(self.run, doubt)
            found = Quantity(1.0, max(0.0, 1 - low), 1 + high, kind=MEASURED)
        inputs.used[TIMES] = found
        return getattr(found, inputs.moved.get(TIMES, "value"))

    def _sampled(self, inputs: Inputs) -> str:
        if "low" not in self.compute:
            return "value"
        inputs.used[DRAWN] = Quantity(1.0, 0.0, 2.0, kind=MEASURED)
        return inputs.moved.get(DRAWN, "value")

    def content(self) -> dict[str, Any]:
        """The content for JSON: which dry run, what was measured, and what was not."""
        return {**self.run.content, "modelled": ["waiting", "exchange"], "lines": self.lines}

    @property
    def lines(self) -> list[str]:
        """Which of the numbers were measured, and on what they rest."""
        about = self.run.about
        return [
            *(f"{line[0].upper()}{line[1:]}." for line in self.run.remarks),
            "Delivery, update and collocation are measured. Waiting is modelled: the measured cycle times go"
            " through the lanes of the run, with the profile's spread between nodes. Exchange is modelled"
            " from the profile."
            f" {_together(about.ranks_here)}",
            *([] if self.run.doubt is not None else [ONE]),
        ]


ONE = (
    "One rank does not show how ranks differ: its times count as known within a factor of"
    f" {WITHIN['assumed']:g}; `spikemark dryrun --sample 2` or more narrows that."
)


def within(run: DryRun, doubt: float) -> tuple[float, float]:
    """Shares by which real ranks may compute for less and for longer than a dry run says.

    `doubt` is the share that the sampling of ranks leaves open.
    """
    own = OTHERWISE
    return float(np.hypot(own, doubt)), float(np.hypot(ALONE if run.disturbed else own, doubt))


def _together(here: int) -> str:
    return f"On the node that measured, {here} rank{'s' * (here > 1)} shared caches and memory."


def _waiting(times: np.ndarray, window: int) -> float:
    """Mean waiting at a barrier every `window` cycles."""
    whole = times[:, : times.shape[1] // window * window].reshape(len(times), -1, window).sum(axis=2)
    return float(whole.max(axis=0).mean() - whole.mean())


def check(run: DryRun, loads: Loads) -> None:
    """Raises BadInput unless a dry run is one of these ranks, threads and this network, run in this way."""
    for name, asked, own in (
        ("ranks", loads.ranks, run.ranks),
        ("threads", loads.threads, run.about.threads),
    ):
        if asked != own:
            raise BadInput(f"{name}={asked}: the dry run in {run.path} has {own}; {ALLOWED}")
    check_description(run, loads.description, loads.schedule, loads.placement)


def check_description(
    run: DryRun,
    asked: dict | Description,
    schedule: Schedule | None = None,
    placement: str | None = None,
) -> None:
    """Raises BadInput unless compute times of a dry run are those of this network, run in this way.

    `schedule` and `placement` are those of the description where they are not given.
    """
    ran, wanted = read(run.about.description), read(asked)
    owns, others = lanes.chosen(ran, None, None), lanes.chosen(wanted, schedule, placement)
    if owns[0] != others[0]:
        raise BadInput(f"schedule={others[0].name}: the dry run in {run.path} has {owns[0].name}; {ALLOWED}")
    if not same(owns[1], others[1]):
        raise BadInput(f"placement={others[1]}: the dry run in {run.path} has {owns[1]}; {ALLOWED}")
    if name := differing(ran, wanted):
        raise BadInput(f"{name}: not that of the dry run in {run.path}; {ALLOWED}")


def differing(one: dict | Description, two: dict | Description) -> str | None:
    """The first field in which descriptions differ that compute times depend on; None if there is none."""
    first, second = read(one), read(two)
    for name in SAME:
        if getattr(first, name) != getattr(second, name):
            own, asked = shown(getattr(first, name)), shown(getattr(second, name))
            return f"{name}={asked} (there {own})" if len(own + asked) < 80 else name
    for name in SAME_TIME:
        if getattr(first.time, name) != getattr(second.time, name):
            return f"time.{name}={getattr(second.time, name)}"
    return None
