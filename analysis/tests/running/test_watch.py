"""The watch over a campaign, with a Slurm that does what the test says."""

import io
import itertools
import json
from pathlib import Path

import pytest
from four_runs import IDS, finish, plan

from spikemark.core import job_end, slurm
from spikemark.core.errors import BadInput
from spikemark.core.job_end import JobEnd
from spikemark.records.results import Results
from spikemark.running import jobs, watch, worker
from spikemark.running.campaign import Campaign
from spikemark.running.progress import Progress
from spikemark.running.slurm_profile import SlurmProfile
from spikemark.running.ways import Slurm

PROFILE = SlurmProfile(cores_per_node=2, poll_s=0.1)


class FakeSlurm:
    """Each job is over when it is first looked for; `ends` says what it did, one function for each job."""

    def __init__(self, results: Results, ends):
        self.results, self.ends = results, iter(ends)
        self.numbers = itertools.count(1)
        self.states: dict[str, str | None] = {}
        self.options: list[list[str]] = []
        self.scripts: list[str] = []

    def submit(self, options, script) -> str:
        self.options.append(list(options))
        self.scripts.append(script)
        return str(next(self.numbers))

    def queue(self, ids) -> dict:
        for id in ids:
            self.states[id] = next(self.ends)(self.results, id)
        return {}

    def called(self, name) -> list:
        return []

    def run_time_s(self, id) -> float:
        return 30.0

    def of(self, id) -> JobEnd:
        return JobEnd(id, self.states[id])


def done(*runs: str, why: str = worker.DONE, following: str | None = None):
    """A job that has carried out `runs` and says how it ended, as `spikemark work` does."""

    def end(results: Results, id: str) -> str:
        for run in runs:
            finish(results, run)
        jobs.keep_end(results, id, 1e9, why, following)
        return "COMPLETED"

    return end


def lost(state: str | None):
    """A job that ended without a word of its own."""
    return lambda results, id: state


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Carries a campaign out; returns complaints, what was printed, and the fake."""

    def carry_out(ends, way: Campaign | None = None):
        results = plan(tmp_path)
        fake = FakeSlurm(results, ends)
        for name in ("submit", "queue", "called", "run_time_s"):
            monkeypatch.setattr(slurm, name, getattr(fake, name))
        monkeypatch.setattr(slurm, "available", lambda: True)
        monkeypatch.setattr(job_end, "of", fake.of)
        monkeypatch.setattr(watch, "LATENCY_S", 0.0)
        monkeypatch.setattr(watch.time, "sleep", lambda seconds: None)
        stream = io.StringIO()
        runs = results.read_plan().runs
        with Progress(results, runs, stream) as progress:
            way = Slurm(way or Campaign(PROFILE))
            complaints = way.carry_out(results, runs, progress, -1)
        return complaints, stream.getvalue(), fake

    return carry_out


def test_one_job_for_all(campaign):
    complaints, said, fake = campaign([done(*IDS)])
    assert complaints == []
    assert len(fake.options) == 1
    assert "--nodes=1" in fake.options[0] and "--exclusive" in fake.options[0]
    assert "spikemark work" in fake.scripts[0] and "--run" not in fake.scripts[0]
    assert "job 1 submitted: all missing runs, 1 node" in said


def test_the_job_after_one_that_ran_out_of_time(campaign):
    def submitted_itself(results: Results, id: str) -> str:
        jobs.keep(results, jobs.Submitted("77", 1, 60.0, None))
        return done("a", why=worker.TIME, following="77")(results, id)

    complaints, said, fake = campaign([submitted_itself, done("b", why=worker.TIME), done("c", "d")])
    assert complaints == []
    assert "job 1 ran out of time; job 77 continues" in said
    assert len(fake.options) == 2  # after 77, which could not submit another


@pytest.mark.parametrize(
    ("state", "words"), [("CANCELLED", "was cancelled"), (None, "left the queue and printed nothing")]
)
def test_a_job_that_is_gone_ends_the_campaign(campaign, state, words):
    complaints, _, fake = campaign([lost(state)])
    assert words in complaints[0]
    assert complaints[1] == "4 runs not carried out; the same command continues"
    assert len(fake.options) == 1


def test_lost_nodes_are_put_up_with_while_there_is_progress(campaign):
    complaints, _, fake = campaign([lost("NODE_FAIL"), lost("NODE_FAIL"), done(*IDS)])
    assert complaints == []
    assert len(fake.options) == 3


def test_nodes_that_fail_again_and_again_end_it(campaign):
    complaints, _, fake = campaign([lost("NODE_FAIL")] * 10)
    assert "a node failed" in complaints[0]
    assert len(fake.options) == watch.PATIENCE + 1


def test_a_job_that_says_done_but_left_no_record(campaign):
    complaints, _, _ = campaign([done("a")])
    assert complaints[0] == "job 1 has ended, but 3 runs left no record"


def test_a_lost_job_of_one_run_fails_that_run_alone(campaign, tmp_path):
    ends = [done("a"), lost("CANCELLED"), done("c"), done("d")]
    complaints, said, fake = campaign(ends, Campaign(PROFILE, one_each=True))
    assert complaints == []
    assert [script.split("--run ")[1].split()[0] for script in fake.scripts] == IDS
    assert "run b  FAILED: job 2 was cancelled" in said
    assert (tmp_path / "failed" / "b.log").is_file()


def test_no_more_jobs_than_wanted_are_in_the_queue(campaign):
    profile = PROFILE.model_copy(update={"most_jobs": 3})
    counts = []

    def counting(run):
        def end(results, id):
            counts.append(len(jobs.all_of(results)))
            return done(run)(results, id)

        return end

    complaints, _, _ = campaign([counting(run) for run in IDS], Campaign(profile, one_each=True))
    assert (complaints, counts) == ([], [3, 3, 3, 4])


def test_a_budget_that_is_used_up_is_a_complaint_and_not_bad_input(campaign):
    limit = 60.0 / 3600  # node-hours of a job of a minute
    way = Campaign(PROFILE, budget=1.1 * limit, limit="1")
    complaints, _, fake = campaign([done("a", why=worker.TIME)] * 2 + [lost("CANCELLED")], way)
    assert len(fake.options) == 1
    assert complaints[0].startswith("budget=0.018")
    assert complaints[1] == "3 runs not carried out; the same command continues"


def test_what_slurm_refuses_at_first_is_bad_input(campaign, monkeypatch, tmp_path):
    results = plan(tmp_path)
    runs = results.read_plan().runs

    def refuse(options, script):
        raise BadInput("sbatch: no")

    monkeypatch.setattr(slurm, "submit", refuse)
    with Progress(results, runs, io.StringIO()) as progress, pytest.raises(BadInput, match="sbatch: no"):
        Slurm(Campaign(PROFILE)).carry_out(results, runs, progress, -1)


@pytest.mark.parametrize(("seconds", "fits"), [(None, False), (0.0, True)])
def test_the_budget_counts_what_is_not_known_with_its_limit(tmp_path, monkeypatch, seconds, fits):
    monkeypatch.setattr(slurm, "available", lambda: False)
    monkeypatch.setattr(slurm, "run_time_s", lambda job: seconds)  # None: forgotten; 0: it never started
    results = plan(tmp_path)
    way = Campaign(PROFILE, budget=1.0)
    jobs.keep(results, jobs.Submitted("1", 2, 1800.0, None))  # never said how it ended
    if fits:
        assert way.cost(results, results.read_plan().runs).startswith("4 runs on 1 node")
    else:
        with pytest.raises(BadInput, match="0 node-hours of the budget are left"):
            way.cost(results, results.read_plan().runs)


def test_a_job_in_the_queue_that_nobody_wrote_down_is_found(tmp_path, monkeypatch):
    results = plan(tmp_path)
    jobs.keep(results, jobs.Submitted("1", 1, 60.0, ("a",)))
    queue = [slurm.Job(id, "PENDING", "", 1, 0.0) for id in ("1", "2")]
    monkeypatch.setattr(slurm, "available", lambda: True)
    monkeypatch.setattr(slurm, "called", lambda name: queue if name == jobs.name(results) else [])
    assert [(job.id, job.runs) for job in jobs.active(results)] == [("1", ("a",)), ("2", None)]


def test_a_refusal_while_jobs_are_left_is_tried_again(campaign, monkeypatch):
    """A full queue, or a part of the budget that is only reserved."""
    plain, refused = FakeSlurm.submit, []

    def submit(self, options, script):
        if len(self.options) == 1 and not refused:
            refused.append(True)
            raise BadInput("sbatch: too many jobs")
        return plain(self, options, script)

    monkeypatch.setattr(FakeSlurm, "submit", submit)
    complaints, said, fake = campaign([done(run) for run in IDS], Campaign(PROFILE, one_each=True))
    assert (complaints, len(fake.options)) == ([], 4)
    assert said.count("no further job for now: sbatch: too many jobs") == 1


def test_a_queue_that_stays_silent_is_not_watched_for_ever(campaign, monkeypatch):
    def silent(self, ids):
        raise slurm.SlurmFailed("squeue: no answer")

    monkeypatch.setattr(FakeSlurm, "queue", silent)
    monkeypatch.setattr(watch, "SILENCE_S", 0.0)
    complaints, said, _ = campaign([])
    assert complaints[0] == "job 1: no longer watched: squeue: no answer"
    assert "the queue is not known: squeue: no answer" in said


def test_files_of_jobs_that_say_nothing_are_left_out(tmp_path):
    results = plan(tmp_path)
    jobs.keep(results, jobs.Submitted("2", 1, 60.0, ("a",)))
    for id, content in (("3", "{"), ("4", "[]"), ("5", json.dumps({"nodes": 1}))):
        (Path(tmp_path) / "jobs" / f"{id}.json").write_text(content)
    assert [job.id for job in jobs.all_of(results)] == ["2"]
