"""Watches the jobs of a campaign: submits what is missing, and follows every job to its end."""

import time
from dataclasses import replace
from typing import Any

from spikemark.core import job_end, slurm
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.quantities.words import counted
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from . import jobs, worker
from .campaign import Campaign, missing_of
from .durations import minutes
from .jobs import Submitted
from .progress import Progress

#: Seconds that a file may need to be seen on another node.
LATENCY_S = 60.0
#: Seconds that the queue may be silent before the watch ends; the jobs go on.
SILENCE_S = 3600.0
#: Ends of jobs for which the runs are not to blame, and how often in a row that is put up with.
LOST, PATIENCE = ("NODE_FAIL", "BOOT_FAIL", "PREEMPTED"), 3


class Watch:
    """Keeps jobs in the queue until no run is missing."""

    def __init__(
        self,
        campaign: Campaign,
        results: Results,
        runs: list[Planned],
        progress: Progress,
        found: list[Submitted],
    ):
        self.campaign, self.results, self.runs, self.progress = campaign, results, runs, progress
        self.active = {job.id: job for job in found}
        self.begun, self.refused = bool(found), ""
        self.silent_since: float | None = None  # when the queue stopped to answer
        self.complaints: list[str] = []
        self.lost: list[int] = []  # how many runs were missing when a job was lost

    def until_done(self) -> list[str]:
        """Submits and watches; returns complaints."""
        try:
            while True:
                self.progress.look()
                if not self.complaints:
                    self._submit_missing()
                if not self.active or not self.progress.pending:
                    return self._left()
                self._look_at_queue()
                time.sleep(self.campaign.profile.poll_s)
        except KeyboardInterrupt:
            if self.active:
                left = jobs.named([*self.active.values()])
                self.progress.say(f"still in the queue: {left}; the same command watches again")
            raise

    def _submit_missing(self) -> None:
        """Submits as `_submit`. A refusal later than the first one is a complaint if no job is left.

        While one is left, it may be that the queue is full, or that part of a budget is only reserved.
        """
        try:
            self._submit()
        except BadInput as refused:
            if not self.begun:
                raise
            if not self.active:
                self.complaints.append(str(refused))
            elif str(refused) != self.refused:
                self.refused = str(refused)
                self.progress.say(f"no further job for now: {refused}")

    def _submit(self) -> None:
        """Submits what is neither done nor in the queue, in the order of the plan."""
        if any(job.runs is None for job in self.active.values()):
            return
        queued = {run for job in self.active.values() for run in job.runs or ()}
        missing = [run.id for run in missing_of(self.results, self.runs) if run.id not in queued]
        if not self.campaign.one_each:
            groups = [None] if missing and not self.active else []
        else:
            groups = [[run] for run in missing[: self.campaign.profile.most_jobs - len(self.active)]]
        for group in groups:
            job = self.campaign.submit(self.results, self.runs, group)
            self.active[job.id], self.begun = job, True
            what = "all missing runs" if group is None else self.progress.pending.get(group[0], group[0])
            limit = f"{counted(job.nodes, 'node')}, limit {minutes(job.limit_s)}"
            self.progress.say(f"job {job.id} submitted: {what}, {limit}")

    def _look_at_queue(self) -> None:
        try:
            queue = slurm.queue([*self.active])
        except slurm.SlurmFailed as failed:  # the controller is busy or restarts; the jobs go on
            if self.silent_since is None:
                self.silent_since = time.monotonic()
                self.progress.say(f"the queue is not known: {failed}")
            elif time.monotonic() > self.silent_since + SILENCE_S:
                self.complaints.append(f"{jobs.named([*self.active.values()])}: no longer watched: {failed}")
                self.active = {}
            return
        self.silent_since = None
        self.progress.show_queue([*queue.values()], self._node_hours(queue))
        for id in [id for id in self.active if id not in queue]:
            self._ended(self.active.pop(id))

    def _node_hours(self, queue: dict[str, slurm.Job]) -> float:
        """Node-hours of all jobs of this folder so far."""
        over = sum(job.node_hours or 0.0 for job in jobs.all_of(self.results))
        return over + sum(job.nodes * job.elapsed_s for job in queue.values()) / 3600

    def _ended(self, job: Submitted) -> None:
        """Takes note of the end of a job, and of the one that it has submitted itself."""
        self.progress.look()
        end = job_end.of(job.id)
        until = time.monotonic() + (LATENCY_S if end.state in (None, "COMPLETED", "TIMEOUT") else 0)
        while (job := jobs.ended(self.results, job)).end is None and time.monotonic() < until:
            time.sleep(min(1.0, self.campaign.profile.poll_s))
        self.progress.look()
        if job.end is not None:
            self._follow(job, job.end)
            return
        if end.state is not None and (seconds := slurm.run_time_s(job.id)) is not None:
            jobs.keep_end(self.results, job.id, seconds, end.state, None)  # for the budget
        log = jobs.log(self.results, job.id)
        told = log.read_text(errors="replace") if log.is_file() else None
        reason = end.why(told) + (f"; see {log}" if told else "")
        if end.state in LOST and self.lost.count(len(self.progress.pending)) < PATIENCE:
            self.lost.append(len(self.progress.pending))
            self.progress.say(reason)
        elif job.runs is None:
            self.complaints.append(reason)
        else:
            for run in job.runs:
                self._fail(run, reason)

    def _follow(self, job: Submitted, end: dict[str, Any]) -> None:
        """Goes on after a job that has said how it ended."""
        if following := end["next"]:
            self.active[following] = jobs.ended(self.results, replace(job, id=following, end=None))
            self.progress.say(f"job {job.id} ran out of time; job {following} continues")
        elif end["why"] == worker.DONE:
            until = time.monotonic() + LATENCY_S
            while self._mine(job) and time.monotonic() < until:
                time.sleep(min(1.0, self.campaign.profile.poll_s))
                self.progress.look()
            if left := self._mine(job):
                self.complaints.append(f"job {job.id} has ended, but {counted(left, 'run')} left no record")

    def _mine(self, job: Submitted) -> int:
        """How many runs of a job are still missing."""
        return len([run for run in self.progress.pending if job.runs is None or run in job.runs])

    def _fail(self, run: str, reason: str) -> None:
        if run in self.progress.pending:
            write_atomically(self.results.failure(run), f"{reason}\n\nid: {run}\n")
            self.progress.look()

    def _left(self) -> list[str]:
        if self.progress.pending and not self.complaints:
            return [
                f"{counted(len(self.progress.pending), 'run')} not carried out; the same command continues"
            ]
        if self.complaints and self.progress.pending:
            left = counted(len(self.progress.pending), "run")
            return [*self.complaints, f"{left} not carried out; the same command continues"]
        return self.complaints
