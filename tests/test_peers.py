"""`spikemark peers` and its installer from end to end: the real mini-app beside a stand-in for NEST."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml
from stand_in import script

from spikemark.bench.peers import programs
from spikemark.cli import main
from spikemark.core import launch

ROOT = Path(__file__).parents[1]

# Knows the counts of the network it is given, at a tenth of the speed of time.
NEST = """
import json, sys
description = json.load(open(sys.argv[2]))
network, threads = description["network"], int(sys.argv[-1])
sizes = {p["name"]: p["size"] for p in network["populations"]}
model_s = description["time"]["simulate_ms"] / 1000
neurons = sum(sizes.values())
print(json.dumps({
    "version": "0", "model": sys.argv[4], "note": "a stand-in", "threads": threads, "ranks": 1,
    "neurons": neurons, "synapses": sum(p["indegree"] * sizes[p["target"]] for p in network["projections"]),
    "spikes": round(neurons * model_s * network["populations"][0]["neuron"]["rate_hz"]),
    "build_s": 1.0, "simulate_s": 10 * model_s, "model_s": model_s,
    "peak_bytes": 10**9, "baseline_bytes": 10**8, "foreign_load": None,
}))
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Stands for .venv-peers."""
    script(tmp_path / "environment" / "bin" / "python", NEST)
    (tmp_path / "environment" / "complete").write_text("1  -\n")
    monkeypatch.setattr(programs, "ENVIRONMENT", str(tmp_path / "environment"))
    return tmp_path / "environment"


@pytest.fixture
def tiny(tmp_path):
    """The experiment of the comparison with the network of `smoke`."""
    folder = ROOT / "workflows" / "experiments"
    content = yaml.safe_load((folder / "smoke.yaml").read_text())
    real = yaml.safe_load((folder / "peers.yaml").read_text())
    content.update({name: real[name] for name in ("grid", "ranks", "threads")}, name="tiny", repetitions=1)
    path = tmp_path / "tiny.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def spikemark(capsys, *arguments) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main.main([str(a) for a in arguments])
    said = capsys.readouterr()
    return end.value.code, said.out, said.err


@pytest.mark.slow
def test_a_comparison_on_the_command_line(capsys, environment, tiny, tmp_path):
    where = ("--out", tmp_path / "out", "--patience", "0", "--threads", "1")
    status, output, errors = spikemark(capsys, "peers", tiny, *where, "--json")
    assert status == 0, errors
    content = json.loads(output)
    assert content == json.loads((tmp_path / "out" / "peers.json").read_text())
    assert content["complaints"] == []
    speeds = [e for e in content["factors"] if e["quantity"] == "speed"]
    takers = [program.name for program in programs.PROGRAMS if program.takes({"ignore_and_fire"})]
    assert {e["peer"] for e in speeds} == set(takers[1:])
    assert all(e["median"] > 0 and e["rounds"] == 1 for e in speeds)
    table = pd.read_parquet(tmp_path / "out" / "peers.parquet").set_index("program")
    assert table["synapses"].nunique() == table["mean_rate_hz"].nunique() == 1
    assert (table["mean_rate_hz"] == 10).all()
    status, output, _ = spikemark(capsys, "peers", tiny, *where)  # nothing is measured again
    assert status == 0
    assert "3 runs, 0 to measure" in output
    assert [name for name in ("mini-app", "NEST") if name not in output] == []
    assert output.splitlines()[-1] == str(tmp_path / "out" / "peers.parquet")


def test_without_the_environment_nothing_runs(capsys, environment, tiny, tmp_path):
    shutil.rmtree(environment)
    status, output, errors = spikemark(capsys, "peers", tiny, "--threads", "1", "--out", tmp_path / "out")
    assert (status, output) == (2, "")
    (line,) = errors.splitlines()
    assert line.startswith("spikemark: peers: ") and "workflows/peers/install.sh" in line
    assert not (tmp_path / "out").exists()


BAD = [
    ("--threads 0", "--threads: '0'; allowed: whole numbers from 1"),
    ("--threads 1,two", "--threads: 'two'"),
    ("--repetitions 0", "--repetitions: '0'"),
    ("--patience -1", "--patience: -1"),
    ("--threads 99", "threads: 99; allowed: at most 4"),
    ("demo", "allowed here: one description on one rank"),
    ("nothing", "'nothing'"),
]


@pytest.mark.parametrize(("line", "words"), BAD)
def test_bad_input_is_one_line_and_status_2(capsys, environment, tmp_path, monkeypatch, line, words):
    monkeypatch.setattr(launch, "available_cores", lambda: 4)
    status, output, errors = spikemark(capsys, "peers", *line.split(), "--out", tmp_path / "out")
    assert (status, output) == (2, "")
    (message,) = errors.splitlines()
    assert words in message
    assert not (tmp_path / "out").exists()


@pytest.fixture
def sandbox(tmp_path):
    """A copy of what the installer reads, with a Python that writes down what it is asked for."""
    (tmp_path / "checkout" / "workflows").mkdir(parents=True)
    shutil.copytree(ROOT / "workflows" / "peers", tmp_path / "checkout" / "workflows" / "peers")
    shutil.copytree(ROOT / "setup", tmp_path / "checkout" / "setup")
    python = tmp_path / "checkout" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"""#!{shutil.which("bash")}
echo "$@" >>{tmp_path}/calls
if [[ $1 == --version ]]; then echo Python 3; fi
if [[ $2 == venv ]]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
if [[ $2 == pip ]]; then exit "${{PIP_STATUS:-0}}"; fi
""")
    python.chmod(0o755)
    return tmp_path / "checkout"


def install(sandbox: Path, **environment: str) -> subprocess.CompletedProcess:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CONDA")}
    command = [sandbox / "workflows" / "peers" / "install.sh"]
    return subprocess.run(command, env={**kept, **environment}, capture_output=True, text=True)


def installations(sandbox: Path) -> list[str]:
    lines = (sandbox.parent / "calls").read_text().splitlines()
    return [line for line in lines if " pip install " in f" {line} "]


def test_the_environment_is_made_once_from_the_pinned_list(sandbox):
    assert install(sandbox).returncode == 0
    (line,) = installations(sandbox)
    assert "-c setup/constraints.txt -r workflows/peers/requirements.txt" in line
    assert "nest-simulator==3.10" in (sandbox / "workflows" / "peers" / "requirements.txt").read_text()
    again = install(sandbox)
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(installations(sandbox)) == 1


@pytest.mark.parametrize("changed", ["workflows/peers/requirements.txt", "setup/constraints.txt"])
def test_the_environment_is_made_anew_when_its_lists_change(sandbox, changed):
    install(sandbox)
    with open(sandbox / changed, "a") as stream:
        stream.write("# changed\n")
    assert install(sandbox).returncode == 0
    assert len(installations(sandbox)) == 2


def test_a_failed_installation_says_so_and_is_not_complete(sandbox):
    done = install(sandbox, PIP_STATUS="1")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("peers: pip could not install")
    assert not (sandbox / ".venv-peers" / "complete").exists()
    assert install(sandbox).returncode == 0


def test_the_peers_are_no_dependency_of_the_project():
    lists = ("analysis/pyproject.toml", "setup/constraints.txt", "environment.yml", "setup/apt.txt")
    assert [name for name in lists if "nest" in (ROOT / name).read_text().lower().replace("nested", "")] == []
