"""Why a job of Slurm ended, from what Slurm remembers of it and what its log says."""

import os
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import NamedTuple

from . import reasons, slurm

#: Ends that are no fault of the job, and what they mean.
LOST = {
    "NODE_FAIL": "a node failed",
    "BOOT_FAIL": "a node did not start",
    "PREEMPTED": "Slurm gave its nodes to another job (preemption)",
    "DEADLINE": "it could not end before its --deadline",
}


class JobEnd(NamedTuple):
    """How a job ended. `state` and `reason` are in the words of Slurm; None if it has forgotten the job."""

    job: str
    state: str | None = None
    reason: str | None = None
    status: int | None = None  # of its script; negative for a signal
    limit: str | None = None
    nodes: str | None = None
    output: str | None = None  # the file that its script prints to

    def why(self, log: str | None) -> str:
        """Why the job failed, or was ended, in one line. `log`: what it printed, None without a file."""
        name, text = f"job {self.job}", log or ""
        if self.at_limit:
            cause = reasons.fault(text)  # the other ranks may have waited for a rank that was gone
            return reasons.at_time_limit(name, self.limit) + (f"; before, {cause}" if cause else "")
        if self.state == "OUT_OF_MEMORY":
            return f"{name} ran out of memory: {reasons.MORE_MEMORY}"
        if self.state in LOST:
            return f"{name}: {LOST[self.state]}"
        if self.cancelled:
            return f"{name} was cancelled"
        if text.strip():
            return f"{name}: {reasons.of_program(text, self.status)}"
        if self.reason == "JobLaunchFailure" and self.output:
            where, folder = f" on {self.nodes}" if self.nodes else "", PurePath(self.output).parent
            return f"{name} could not be started{where}: does the folder {folder} exist there?"
        ended = f"ended as {self.state}" if self.state else "left the queue"
        return f"{name} {ended}{_status(self.status)} and printed nothing"

    @property
    def at_limit(self) -> bool:
        """Says whether Slurm ended the job because its time was over."""
        return self.state == "TIMEOUT" or self.reason == "TimeLimit"

    @property
    def cancelled(self) -> bool:
        """Says whether somebody cancelled the job."""
        return self.state == "CANCELLED"


def of(job: str, limit_s: float = slurm.LIMIT_S) -> JobEnd:
    """How a job ended, or is about to be ended; Slurm answers within `limit_s` or counts as having forgotten.

    A controller remembers a job for MinJobAge, which is 300 s unless the site says otherwise.
    """
    known = slurm.known_of(job, limit_s)
    ended = re.fullmatch(r"(\d+):(\d+)", known.get("ExitCode", ""))
    status, sign = map(int, ended.groups()) if ended else (None, 0)
    return JobEnd(
        job,
        known.get("JobState"),
        known.get("Reason"),
        -sign if sign else status,
        known.get("TimeLimit"),
        known.get("NodeList"),
        known.get("StdOut"),
    )


def of_this(environment: Mapping[str, str] = os.environ) -> str | None:
    """Why the job of this process is being ended, in one line; None outside one, or if it goes on."""
    if not slurm.inside(environment):
        return None
    end = of(environment["SLURM_JOB_ID"], slurm.SHORT_S)
    ending = end.at_limit or end.state in (*LOST, "CANCELLED", "COMPLETING")
    if not ending:
        return None
    return f"job {end.job} was cancelled" if end.state == "COMPLETING" and not end.at_limit else end.why(None)


def _status(status: int | None) -> str:
    return "" if status is None else f" with exit status {status}"
