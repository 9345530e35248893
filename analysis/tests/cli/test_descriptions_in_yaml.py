"""Every command that takes a run description takes it as YAML, too, and answers the same."""

import json
import re

import dry_folder
import machine_file
import pytest
import typer
import yaml
from small_network import describe

from spikemark.cli.main import app
from spikemark.measuring import cachesim
from spikemark_tender import source

DESCRIPTION = re.compile("run description|description of a short run", re.IGNORECASE)
#: A command line of each command that takes a description.
COMMANDS = {
    "predict": "predict {file} --machine made-up.yaml --ranks 4",
    "advise": "advise {file} --machine made-up.yaml --nodes 1",
    "compare": "compare made-up.yaml epyc-vm --run {file} --nodes 1",
    "partition": "partition {file} --ranks 2",
    "anchor": "anchor {file} --machine made-up.yaml --nodes 1 --out out-{kind}",
    "simulate": "simulate {file} --machine made-up.yaml --ranks 4 --out out-{kind}",
    "dryrun": "dryrun {file} --of 4 --out out-{kind}",
    "cachesim": "cachesim {file}",
    "tender new": "tender new tender-{kind} --quick --commit HEAD --target {file}",
}


def takes_descriptions() -> set[str]:
    """The commands of which an argument or option is a run description."""
    left = [((), typer.main.get_command(app))]
    found = set()
    while left:
        words, command = left.pop()
        for name, inner in getattr(command, "commands", {}).items():
            left.append(((*words, name), inner))
        for parameter in command.params:
            is_form = parameter.name == "form"
            if not is_form and DESCRIPTION.search(getattr(parameter, "help", "") or ""):
                found.add(" ".join(words))
    return found


def test_all_commands_that_take_a_description_are_tried():
    assert takes_descriptions() == COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_description_is_read_as_yaml_too(name, tmp_path, monkeypatch, spikemark):
    content = describe(areas=4)
    content["time"]["warmup_ms"] = 10
    (tmp_path / "network.json").write_text(json.dumps(content))
    (tmp_path / "network.yaml").write_text(yaml.safe_dump(content))
    machine_file.write(tmp_path / "made-up.yaml")
    monkeypatch.chdir(tmp_path)
    if name == "dryrun":
        dry_folder.in_process(monkeypatch, rank_sd=0.02)
    monkeypatch.setattr(source, "archive", lambda root, commit: b"sources")
    simulated = []

    def simulate(description, *arguments):
        simulated.append(json.loads(description.read_text()))
        raise KeyboardInterrupt

    monkeypatch.setattr(cachesim, "simulate", simulate)
    answers = []
    for kind in ("json", "yaml"):
        words = COMMANDS[name].format(file=f"network.{kind}", kind=kind).split()
        status, output, errors = spikemark(*words)
        assert status == (0 if name != "cachesim" else 130), errors
        output = re.sub(r"python3 -c .*? > network\.yaml\.json && ", "", output)
        output = re.sub(r"sha256 \w+|took .* cycle", "", output)  # of one bundle, one run
        answers.append(re.sub(r"\b(yaml\.json|yaml|json)\b", "FORM", output).split())
    assert answers[0] == answers[1]
    if name == "cachesim":
        assert simulated == [content, content]
