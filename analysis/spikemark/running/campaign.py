"""A sweep as jobs of Slurm: one allocation that works through all runs in order, or one job for each run.

The jobs go on without the command that submitted them; the same command finds them again.
"""

import shlex
import sys
from dataclasses import dataclass, field
from typing import Any

from spikemark.core import slurm
from spikemark.core.errors import BadInput
from spikemark.core.layout import Nodes, spread
from spikemark.core.reading import read_json
from spikemark.quantities.words import counted
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from . import jobs, worker
from .durations import Durations, minutes
from .jobs import Submitted
from .slurm_profile import SlurmProfile, time_limit_s

#: The limit of a job: so many times the expected time, and so many s for its beginning and end.
RESERVE, ENDS_S = 1.5, 180.0


@dataclass(frozen=True)
class Campaign:
    """How the missing runs of a plan become jobs.

    `one_each`: a job for every run. `budget`: the most node-hours for all jobs together. `limit`: the limit
    of a job, as Slurm writes times, instead of one computed from the runs.
    """

    profile: SlurmProfile = field(default_factory=SlurmProfile)
    one_each: bool = False
    budget: float | None = None
    limit: str | None = None

    def content(self) -> dict[str, Any]:
        """What the jobs need to know to submit others."""
        own = {"one_each": self.one_each, "budget": self.budget, "limit": self.limit}
        return {"profile": self.profile.model_dump(), **own}

    def cost(self, results: Results, runs: list[Planned]) -> str | None:
        """What the missing runs will take, in a sentence; None if there are none.

        Raises BadInput if the budget does not suffice, or a run fits on no node.
        """
        missing = [run for run in runs if not results.measured(run.id)]  # what failed is tried again
        if not missing:
            return None
        expected = Durations(runs, results)
        cores = self.cores()
        hours = sum(
            self.nodes(group, cores) * expected.total(group) / 3600 for group in self._groups(missing)
        )
        what = f"{counted(len(missing), 'run')} on {self._nodes_in_words(missing, cores)}"
        line = f"{what}: about {minutes(expected.total(missing))}, {hours:.2g} node-hours ({expected.basis})"
        left = self._left(results)
        if left is not None and hours > left:
            raise BadInput(f"budget={self.budget:g}: {line}; {left:.2g} node-hours of the budget are left")
        return line

    def _groups(self, missing: list[Planned]) -> list[list[Planned]]:
        """The runs of each job."""
        return [[run] for run in missing] if self.one_each else [missing]

    def _nodes_in_words(self, missing: list[Planned], cores: int) -> str:
        each = sorted({self.nodes(group, cores) for group in self._groups(missing)})
        words = counted(each[-1], "node")
        return f"{each[0]} to {words}" if len(each) > 1 else words

    def _left(self, results: Results) -> float | None:
        """Node-hours that may still be used by further jobs (jobs.used_h); None without a budget."""
        return None if self.budget is None else self.budget - jobs.used_h(results)

    def cores(self) -> int:
        """Physical cores of a node. Raises BadInput if neither the profile nor Slurm knows them."""
        if self.profile.cores_per_node is not None:
            return self.profile.cores_per_node
        try:
            return slurm.cores_per_node(self.profile.partition)
        except slurm.SlurmFailed as failed:
            raise BadInput(
                f"cores_per_node: give it in the profile, since Slurm does not tell: {failed}"
            ) from None

    def nodes(self, runs: list[Planned], cores: int) -> int:
        """Nodes that hold the largest of `runs`. Raises BadInput for one that does not fit on nodes."""
        return max(nodes_of(run, cores) for run in runs)

    def submit(self, results: Results, runs: list[Planned], ids: list[str] | None = None) -> Submitted:
        """Submits a job for the missing ones among `runs`, the plan, or among the `ids` of it.

        Raises BadInput for what Slurm refuses, and if the budget does not suffice.
        """
        missing, expected = missing_of(results, runs), Durations(runs, results)
        mine = missing if ids is None else [run for run in missing if run.id in ids]
        nodes = self.nodes(mine, self.cores())
        limit_s = self._limit_s(results, expected.total(mine), expected.of(mine[0]), nodes)
        options = [
            f"--job-name={jobs.name(results)}",
            f"--nodes={nodes}",
            f"--time={int(limit_s // 60)}",
            "--no-requeue",
            f"--chdir={results.path}",
            f"--output={jobs.log_pattern(results)}",
            *self.profile.where,
            *self.profile.options,
        ]
        jobs.log(results, "0").parent.mkdir(exist_ok=True)
        job = Submitted(slurm.submit(options, self._script(results, ids)), nodes, limit_s, ids and tuple(ids))
        jobs.keep(results, job)
        return job

    def _limit_s(self, results: Results, expected_s: float, first_s: float, nodes: int) -> float:
        """The limit of a job in whole minutes, s; at most what the site and the budget allow.

        Raises BadInput if the budget does not suffice for the first run.
        """
        computed = RESERVE * expected_s + ENDS_S
        wanted = time_limit_s(self.limit) if self.limit else min(computed, self.profile.time_limit_s)
        left = self._left(results)
        if left is None:
            return 60.0 * max(1, -(-wanted // 60))
        allowed = 60.0 * (3600 * left / nodes // 60)
        if allowed < min(60.0 * -(-wanted // 60), max(60.0, first_s + worker.MARGIN_S)):
            raise BadInput(
                f"budget={self.budget:g}: {max(left, 0):.2g} node-hours are left, too few for the next run"
            )
        return max(60.0, min(allowed, 60.0 * -(-wanted // 60)))

    def _script(self, results: Results, ids: list[str] | None) -> str:
        command = [sys.executable, "-m", "spikemark", "work", str(results.path)]
        command += [part for id in ids or () for part in ("--run", id)]
        variables = [f"export {name}={shlex.quote(value)}" for name, value in worker.environment().items()]
        return "\n".join(["#!/bin/bash", *variables, *self.profile.setup, f"exec {shlex.join(command)}", ""])

    def follow(self, results: Results, runs: list[Planned]) -> str | None:
        """Submits the job after one that ran out of time, from within it, and returns its id.

        Returns None if nothing is missing, or if a job may not or cannot submit another one here; the command
        that watches does so then.
        """
        if self.one_each or not self.profile.follow_up or not missing_of(results, runs):
            return None
        try:
            return self.submit(results, runs).id
        except BadInput as refused:
            print(f"no job follows from here: {refused}", flush=True)
            return None


def of(results: Results) -> Campaign:
    """The campaign that was started in a results folder. Raises BadInput if there is none."""
    content = read_json(results.campaign, "no campaign was started here")
    try:
        return Campaign(**{**content, "profile": SlurmProfile.model_validate(content["profile"])})
    except (KeyError, TypeError, ValueError):
        raise BadInput(f"{results.campaign}: not a campaign; start the sweep again") from None


def nodes_of(run: Planned, cores: int) -> int:
    """Nodes of one run on nodes with that many cores. Raises BadInput if a node is too small."""
    if run.machine is not None:
        return 1
    each = run.layout.ranks_per_node or max(1, cores // run.layout.threads)
    return spread(run.layout, Nodes((cores,) * -(-run.ranks // each), "the cluster")).nodes


def missing_of(results: Results, runs: list[Planned]) -> list[Planned]:
    """The runs among `runs` that have neither a record nor a reason why they failed."""
    return [run for run in runs if not results.measured(run.id) and not results.failure(run.id).is_file()]
