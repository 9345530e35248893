"""The ways to carry out the missing runs of a plan: here, as jobs of Slurm, or by a Snakemake workflow."""

import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from spikemark.core import places, reasons, slurm
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically, write_json
from spikemark.core.process import started
from spikemark.quantities.words import counted
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from . import jobs, slurm_profile, worker
from .campaign import Campaign
from .progress import Progress
from .watch import Watch

HERE = "here"
LOOK_EVERY_S = 1.0  # looking takes time from the measured run
PATIENCE_S = 15


class Way(Protocol):
    """Carries out the missing ones among `runs`, the plan; returns complaints about itself.

    Every run leaves a record or the reason of its failure, which `progress` finds. Processes started here
    inherit the descriptor `lock`, and so hold the lock of the folder as long as anything measures.
    """

    def cost(self, results: Results, runs: list[Planned]) -> str | None:
        """What the missing runs will use, in a sentence; None where they use only this machine.

        Raises BadInput, before anything is written, if they cannot be carried out in this way.
        """

    def carry_out(self, results: Results, runs: list[Planned], progress: Progress, lock: int) -> list[str]:
        """Carries them out, and comes back when none is left or nothing more can be done."""


class Here:
    """One run after another on this machine, or in the allocation that this process is in."""

    def cost(self, results: Results, runs: list[Planned]) -> None:
        """See Way."""
        _refuse_busy(results)

    def carry_out(self, results: Results, runs: list[Planned], progress: Progress, lock: int) -> list[str]:
        """See Way."""
        if not slurm.inside() and (cluster := slurm.cluster_name()):
            progress.say(f"measuring on this host; --profile slurm would use the nodes of {cluster}")
        command = [sys.executable, "-m", "spikemark", "work", str(results.path)]
        return _not_carried_out(results, progress, _watch(command, results, progress, lock))


@dataclass(frozen=True)
class Slurm:
    """Carries out runs as jobs of Slurm, which go on without the command that submitted them."""

    campaign: Campaign

    def cost(self, results: Results, runs: list[Planned]) -> str | None:
        """See Way. Raises BadInput as Campaign.cost, and where jobs are at work on another plan."""
        if not (found := jobs.active(results)):
            return self.campaign.cost(results, runs)
        if [run.id for run in results.read_plan().runs] != [run.id for run in runs]:
            busy = f"{jobs.named(found)}: at work on another plan"
            raise BadInput(f"{results.plan}: {busy}; {jobs.advice(found)}")
        return None

    def carry_out(self, results: Results, runs: list[Planned], progress: Progress, lock: int) -> list[str]:
        """See Way.

        Raises BadInput for what Slurm refuses. An interruption leaves the jobs as they are.
        """
        found = jobs.active(results)
        if found:
            progress.say(f"in the queue already: {jobs.named(found)}")
        else:
            write_json(results.campaign, self.campaign.content())
        return Watch(self.campaign, results, runs, progress, found).until_done()


@dataclass(frozen=True)
class Snakemake:
    """Carries out runs by Snakemake with a profile of its own, for batch systems that it knows."""

    profile: Path

    def cost(self, results: Results, runs: list[Planned]) -> None:
        """See Way."""
        _refuse_busy(results)

    def carry_out(self, results: Results, runs: list[Planned], progress: Progress, lock: int) -> list[str]:
        """See Way."""
        command = [sys.executable, "-m", "snakemake", "--snakefile", str(places.root() / "Snakefile")]
        command += ["--directory", str(results.path), "--profile", str(self.profile)]
        # Only a missing record is measured. Records appear whole or not at all, and we hold the lock of the
        # folder: Snakemake's own bookkeeping of incomplete files could only stop a sweep that can go on.
        command += ["--workflow-profile", "none", "--nolock", "--ignore-incomplete", "--drop-metadata"]
        command += ["--rerun-triggers", "mtime", "--keep-going", "--scheduler", "greedy", "--nocolor"]
        status = _watch(command, results, progress, lock)
        for run in list(progress.pending):  # the job itself failed, before or instead of the mini-app
            log = results.job_log(run)
            told = log.read_text(errors="replace") if log.is_file() else ""
            if told.strip():
                reason = reasons.of_program(told, None)
                write_atomically(results.failure(run), f"{reason}\n\nid: {run}\n{log}:\n{told}")
                progress.fail(run, reason)
        return _not_carried_out(results, progress, status)


def find(profile: str, one_each: bool = False, budget: float | None = None, limit: str | None = None) -> Way:
    """The way that `profile` names: `here`, or a folder of workflows/profiles or a path with a profile.

    The other arguments are those of a Campaign. Raises BadInput for an unknown profile, for a profile with
    a wrong field, and for arguments of a campaign if the profile is not one for Slurm.
    """
    path = None if profile == HERE else _folder(profile)
    if path is not None and (path / slurm_profile.FILE).is_file():
        if limit is not None:
            _check_limit(limit)
        if budget is not None and not 0 < budget < 1e9:
            raise BadInput(f"budget={budget:g}: allowed are node-hours above 0")
        profile = slurm_profile.read(path / slurm_profile.FILE)
        return Slurm(Campaign(profile, one_each, budget, limit))
    for name, value in (("jobs", one_each), ("budget", budget is not None), ("time", limit is not None)):
        if value:
            raise BadInput(f"--{name}: only with a profile for Slurm, such as --profile slurm")
    return Here() if path is None else Snakemake(path)


def _check_limit(text: str) -> None:
    try:
        slurm_profile.time_limit_s(text)
    except ValueError as wrong:
        raise BadInput(f"time={text!r}: {wrong}") from None


def _folder(name: str) -> Path:
    profiles = places.root() / "workflows" / "profiles"
    path = Path(name) if "/" in name else profiles / name
    kinds = (slurm_profile.FILE, "config.yaml")
    if not any((path / kind).is_file() for kind in kinds):
        known = sorted({p.parent.name for kind in kinds for p in profiles.glob(f"*/{kind}")})
        names = ", ".join([HERE, *known])
        raise BadInput(f"profile {name!r} not found: one of {names}, or a folder with {' or '.join(kinds)}")
    return path.resolve()


def _refuse_busy(results: Results) -> None:
    """Raises BadInput if jobs of a campaign are at work in the folder."""
    if found := jobs.active(results):
        raise BadInput(f"{results.path}: {jobs.named(found)}: at work here; {jobs.advice(found)}")


def _watch(command: list[str], results: Results, progress: Progress, lock: int) -> int:
    """Runs a command of this machine to its end and shows what it has done; returns its status."""
    with (
        open(results.workflow_log, "w") as log,
        started(
            command,
            worker.environment(),
            signs=(signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
            grace_s=PATIENCE_S,
            stdout=log,
            stderr=log,
            pass_fds=(lock,),
        ) as process,
    ):
        while process.poll() is None:
            progress.look()
            time.sleep(LOOK_EVERY_S)
    progress.look()
    return process.returncode


def _not_carried_out(results: Results, progress: Progress, status: int) -> list[str]:
    """A message about runs that a command with this exit status left; negative: a signal ended it."""
    if not progress.pending:
        return []
    left = counted(len(progress.pending), "run")
    if status < 0:
        ended = reasons.of_program("", status)
        return [f"{left} not carried out: the worker was {ended}; the same command continues from here"]
    log = results.workflow_log
    said = reasons.last_line(log.read_text(errors="replace")) if log.is_file() else ""
    return [f"{left} not carried out, see {log}: {said}"]
