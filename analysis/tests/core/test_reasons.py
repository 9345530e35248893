"""Reasons of failures from what programs, launchers and Slurm really printed: data/reasons.yaml."""

from pathlib import Path

import pytest
import yaml

from spikemark.core import job_end, process, reasons, slurm

FILE = Path(__file__).parents[1] / "data" / "reasons.yaml"
SAID, ENDED = yaml.safe_load(FILE.read_text()).values()
BAD = SAID["srun: bad input on two nodes"]


@pytest.mark.parametrize("case", SAID)
def test_a_reason_is_what_the_program_says_or_how_it_ended(case):
    case = SAID[case]
    assert reasons.of_program(case["said"], case["status"]) == case["reason"]


def test_only_a_refusal_of_a_program_of_this_project_is_bad_input():
    assert process.Finished(2, "", BAD["said"]).refusal == BAD["reason"].removeprefix("miniapp: ")
    assert process.Finished(1, "", BAD["said"]).refusal is None
    case = SAID["srun: no program"]
    assert case["status"] == 2 and process.Finished(2, "", case["said"]).refusal is None


@pytest.mark.parametrize("case", ENDED)
def test_a_job_ends_for_the_reason_that_slurm_knows_or_its_log_tells(case, plant):
    case = ENDED[case]
    plant("scontrol", f"cat <<'END'\n{case['knows']}END")
    job = case["knows"].split("=")[1].split()[0]
    assert job_end.of(job).why(case["log"]) == case["reason"]


def test_a_job_that_slurm_has_forgotten(plant):
    plant("scontrol", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    assert job_end.of("7") == job_end.JobEnd("7")
    assert job_end.of("7").why(BAD["said"]) == f"job 7: {BAD['reason']}"
    assert job_end.of("7").why(None) == "job 7 left the queue and printed nothing"


def test_a_process_knows_why_its_job_ends(plant):
    inside = {"SLURM_JOB_ID": "6"}
    assert job_end.of_this({}) is None
    limit = f"Slurm ended job 6 at its time limit of 01:00:00: {reasons.MORE_TIME}"
    for fields, reason in (
        ("JobState=COMPLETING Reason=TimeLimit TimeLimit=01:00:00", limit),
        ("JobState=TIMEOUT Reason=TimeLimit TimeLimit=01:00:00", limit),
        ("JobState=CANCELLED Reason=None TimeLimit=01:00:00", "job 6 was cancelled"),
        ("JobState=COMPLETING Reason=None TimeLimit=01:00:00", "job 6 was cancelled"),
        ("JobState=RUNNING Reason=None TimeLimit=01:00:00", None),
    ):
        plant("scontrol", f"echo 'JobId=6 {fields}'")
        assert job_end.of_this(inside) == reason


def test_a_refusal_of_slurm_is_told_whole(plant):
    """The last line of sbatch is the same for all refusals of a site."""
    plant(
        "sbatch",
        "echo 'sbatch: error: You must give an account' >&2\n"
        "echo 'sbatch: error: Batch job submission failed: Unspecified error' >&2\nexit 1",
    )
    told = "sbatch: You must give an account; Batch job submission failed: Unspecified error"
    with pytest.raises(slurm.BadInput, match=told):
        slurm.submit([], "#!/bin/sh\n")


def test_lines_that_hold_something():
    assert reasons.lines("\n a \n\n b\n \n") == ["a", "b"]
    assert (reasons.last_line("\n a \n\n b\n \n"), reasons.last_line(" \n")) == ("b", "")
