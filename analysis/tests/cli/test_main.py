"""The command line: presets from the registry, one line and status 2 for bad input."""

import errno
import json
import os
import subprocess
import sys

import pytest

from spikemark.cli import main, options
from spikemark.core.errors import BadInput
from spikemark.network.presets import PRESETS

ISSUE = """--areas 4 --neurons-per-area 5000 --indegree 500 --rate 2.5 --delay-ratio 10
    --delay-intra 0.5 0.25 --delay-inter 1.5 0.75 --delay-max 2 --size-cv 0 --rate-cv 0 --seed 1"""


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_writes_a_description_and_has_its_options(spikemark, name):
    status, output, _ = spikemark("preset", name)
    assert status == 0 and json.loads(output) == json.loads(json.dumps(PRESETS[name].describe()))
    text = spikemark("preset", name, "--help")[1]
    assert all(
        f"--{o.rstrip('_').replace('_', '-')} " in text for o in PRESETS[name].options.model_fields
    )


def test_options_reach_the_preset(spikemark):
    _, spelled_out, _ = spikemark("preset", "mam-benchmark", *ISSUE.split())
    _, plain, _ = spikemark("preset", "mam-benchmark")
    assert json.loads(spelled_out) == json.loads(plain)  # the defaults
    words = "--areas 3 --delay-intra 0.7 0.1 --seed 9"
    description = json.loads(spikemark("preset", "mam-benchmark", *words.split())[1])
    network = description["network"]
    assert (len(network["populations"]), description["seed"]) == (3, 9)
    assert network["projections"][0]["delay"]["mean"] == 0.7


BAD = [
    ("preset mam-benchmark --areas 0", ["areas=0"]),
    ("preset mam-benchmark --area 3", ["--area"]),
    ("preset brain", ["brain", "spikemark preset --help"]),
    ("preset", ["no command given"]),
    ("brain", ["brain", "spikemark --help"]),
    ("", ["no command given"]),
    ("sweep", ["EXPERIMENT"]),
    ("sweep brain", ["'brain'", "demo", "smoke"]),
    ("sweep smoke --machine a/b --dry-run", ["'a/b'"]),
    ("sweep smoke --dry-run --results /dev/null", ["/dev/null", "not a folder"]),
    ("sweep smoke --results /dev/null", ["/dev/null", "not a folder"]),
    ("preset mam-benchmark --size-cv 1e308 --neurons-per-area 5000", ["size-cv=1e+308"]),
    (
        "preset mam-benchmark --areas 99999999999999999999999999",
        ["areas=99999999999999999999999999"],
    ),
    ("preset mam-benchmark --neurons-per-area 1e26", ["--neurons-per-area", "integer"]),
    ("report smoke --results /nowhere", ["plan.json: not found"]),
    ("collect /nowhere", ["/nowhere", "plan.json: not found"]),
    ("run /nowhere 123", ["/nowhere/plan.json"]),
    ("preset dpsnn --state xx", ["--state", "'xx'", "'aw', 'sw'", ": see `"]),
    ("preset mam-benchmark --areas many", ["--areas='many'; ", "integer: see `"]),
    ("cachesim run.json --ranks 0", ["--ranks='0'; ", "1: see `"]),
    ("machine nowhere", ["machine='nowhere'; expected the path", "jureca-dc"]),
    ("machine nowhere.yaml", ["nowhere.yaml: not found"]),
    ("machine --filled", ["--filled"]),
    ("predict run", ["--machine"]),
    ("waiting /nowhere", ["/nowhere"]),
    ("waiting times.npy", ["times.npy: not found"]),
    ("waiting /nowhere --unit s", ["unit"]),
    ("predict run --slow", ["--slow"]),
]


@pytest.mark.parametrize(("line", "words"), BAD)
def test_bad_input_is_one_line_and_status_2(refusal, line, words):
    message = refusal(*line.split())
    assert [word for word in words if word not in message] == [], message


def all_commands():
    """The words and the command of each that the command line has, in groups as well."""
    pending = [([name], command) for name, command in main.commands().items()]
    while pending:
        words, command = pending.pop()
        parts = getattr(command, "commands", {})
        pending += [([*words, name], part) for name, part in parts.items()]
        if not parts:
            yield words, command


def commands_with_a_profile():
    """Words of each command that has an option for the profile of a machine."""
    found = []
    for words, command in all_commands():
        options = [each for each in command.params if "--machine" in each.opts]
        if any("profile" in each.help or "machine" in each.help for each in options):
            found.append(" ".join(words))
    return sorted(found)


def options_of_one_value():
    """The words of each command and each of its options that holds one value."""
    for words, command in all_commands():
        for option in command.params:
            name = option.opts[0]
            if name.startswith("--") and not option.is_flag and not option.multiple:
                yield pytest.param(words, option, id=" ".join([*words, name]))


@pytest.mark.parametrize(("words", "option"), list(options_of_one_value()))
def test_an_option_of_one_value_is_given_once(refusal, words, option):
    name, values = option.opts[0], ["1"] * option.nargs
    assert refusal(*words, name, *values, name, *values).startswith(f"{name}: given twice")


RESULTS = {"sweep", "report"}  #: whose --machine names a folder


@pytest.mark.parametrize("command", commands_with_a_profile())
def test_a_missing_option_hides_no_wrong_machine(refusal, command):
    message = refusal(*command.split(), "--machine", "jurecadc")
    assert ("machine='jurecadc'" in message) == (command not in RESULTS), message


@pytest.mark.parametrize(
    "words",
    ["--rate -3", "--schedule foo", "--placement foo", "--exchange foo"],
)
@pytest.mark.parametrize("command", ["predict microcircuit", "predict", "advise"])
def test_what_is_missing_hides_no_wrong_value(refusal, command, words):
    option, value = words.split()
    message = refusal(*command.split(), "--machine", "jureca-dc", option, value)
    assert message.startswith(f"{option}=") and value in message


def test_a_run_that_the_workflow_starts_ends_as_the_command_does(refusal):
    words = [sys.executable, "-m", "spikemark.cli.planned_run", "/nowhere", "123"]
    done = subprocess.run(words, capture_output=True, text=True)
    line = refusal("run", "/nowhere", "123")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"spikemark: {line}\n")


@pytest.mark.parametrize("command", ["sweep smoke --dry-run", "sweep smoke", "report smoke"])
def test_a_machine_without_a_name_is_refused(refusal, command):
    assert refusal(*command.split(), "--machine", "").startswith("--machine")


def test_a_full_disk_is_no_bad_input():
    """Nothing in the command line would mend it: one line, and status 1."""
    command = [sys.executable, "-m", "spikemark", "preset", "mam-benchmark"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "spikemark: No space left on device\n")


@pytest.mark.parametrize(
    ("number", "status"),
    [(errno.ENOSPC, 1), (errno.EDQUOT, 1), (errno.EIO, 1), (errno.EROFS, 2), (errno.EACCES, 2)],
)
def test_what_naming_another_file_mends_is_bad_input(
    number, status, spikemark, tmp_path, monkeypatch
):
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    plan = {"format_version": 1, "experiment": {"name": "x", "title": "x"}, "machine": "here"}
    (tmp_path / "plan.json").write_text(json.dumps(plan | {"shuffle_seed": 1, "runs": []}))
    monkeypatch.setattr(os, "fsync", refuse)
    line = f"spikemark: {tmp_path / 'summary.parquet'}: {os.strerror(number)}\n"
    assert spikemark("collect", tmp_path) == (status, "", line)
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


def test_settings_are_json_or_text():
    texts = [
        "time.simulate_ms=1e2",
        "schedule=conventional",
        'wire={"a": [1]}',
        "seed=0100",
        "lag=NaN",
    ]
    values = {"time.simulate_ms": 100.0, "schedule": "conventional", "wire": {"a": [1]}}
    assert options.settings(texts) == values | {"seed": "0100", "lag": "NaN"}
    for text in ('a={"b": 1, "b": 2}', "a=" + "[" * 5000, "a=[1", "a=[NaN]"):
        with pytest.raises(BadInput, match=r"--set a(, line 1)?: "):
            options.settings([text])


#: Commands that keep what was done before an interruption; their own tests show that they go on.
GO_ON = {"sweep", "study", "dryrun", "tender run", "tender accept"}


@pytest.mark.parametrize("command", [*main.commands(), "tender run", "tender accept"])
def test_only_a_command_that_goes_on_says_so_when_it_is_interrupted(
    command, monkeypatch, spikemark
):
    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(main, "app", interrupted)
    status, output, errors = spikemark(*command.split(), "network.json")
    assert (status, output, errors.count("\n")) == (130, "", 1)
    assert ("continues" in errors) == (command in GO_ON)
