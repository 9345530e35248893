"""`spikemark predict`: two questions, told apart by --machine."""

import re

import pytest

from spikemark.cli.predict import HEADS


def parts(text: str) -> list[set[str]]:
    """The options under each head of the help."""
    _, rest = text.split(f"{HEADS[0]}:")
    return [set(re.findall(r"^  (--[a-z-]+)", part, re.MULTILINE)) for part in rest.split(f"{HEADS[1]}:")]


@pytest.mark.parametrize("arguments", [["--help"], ["--machine", "grace", "--help"]])
def test_help_explains_both_questions(spikemark, arguments):
    status, output, _ = spikemark("predict", *arguments)
    assert status == 0
    assert output.count("Usage: spikemark predict") == 2
    run, machine = parts(output)
    assert {"--schedule", "--cycles", "--group-period"} <= run and "--threads" not in run
    assert {"--machine", "--threads", "--preset"} <= machine and "--cycles" not in machine


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["run", "--schedule", "conventional", "--preset", "dpsnn"], "--preset: only with --machine"),
        (["run", "--schedule=conventional", "--threads=2"], "--threads: only with --machine"),
        (["--machine", "grace", "--preset", "dpsnn", "--cycles", "9"], "--cycles: only without --machine"),
        (["--machine=grace", "--group-period=9"], "--group-period: only without --machine"),
        (
            ["run", "--ranks", "2,4", "--schedule", "conventional"],
            "ranks='2,4': one number; several only with",
        ),
        (["run"], "schedule: missing; or give --machine"),
        (["run", "--slow"], "--slow"),
    ],
)
def test_an_option_of_the_other_question_is_refused(spikemark, arguments, complaint):
    status, output, errors = spikemark("predict", *arguments)
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1
