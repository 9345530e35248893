"""A text that can only be the name of a file is one that is not there, not an unknown name."""

import pytest

COMMANDS = [
    "predict {} --machine jureca-dc",
    "predict {} --machine jureca-dc --nodes 1",
    "predict --run {} --machine jureca-dc --nodes 1",
    "advise {} --machine jureca-dc",
    "compare jureca-dc --run {}",
    "anchor {} --machine jureca-dc",
    "partition {} --ranks 2",
    "simulate {} --machine jureca-dc --ranks 2 --out out",
    "dryrun {} --of 2 --out out",
    "cachesim {}",
    "energy {}",
    "predict microcircuit --machine {} --nodes 1",
    "machine {}",
    "tender new bundle --quick --target {}",
]


@pytest.mark.parametrize("name", ["out/conv", "conv.json", "out/conv.yaml"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_can_only_be_a_file_is_not_found(command, name, refusal, tmp_path, monkeypatch):
    if "machine {}" in command and name.endswith(".json"):
        return  # profiles are YAML
    monkeypatch.chdir(tmp_path)
    line = refusal(*command.format(name).split())
    assert name in line and ("not found" in line or "no such" in line)
    assert "microcircuit, " not in line and list(tmp_path.iterdir()) == []
