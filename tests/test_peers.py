"""`spikemark peers` and its installer from end to end: the real mini-app beside a stand-in for
NEST.
"""

import io
import json
import os
import shutil

import pandas as pd
import pytest
import yaml
from checkout import EXPERIMENTS, ROOT, run, script
from stand_in import script as python

from spikemark import launch
from spikemark.measuring import peer_programs

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
    "neurons": neurons,
    "synapses": sum(p["indegree"] * sizes[p["target"]] for p in network["projections"]),
    "spikes": round(neurons * model_s * network["populations"][0]["neuron"]["rate_hz"]),
    "build_s": 1.0, "simulate_s": 10 * model_s, "model_s": model_s,
    "peak_bytes": 10**9, "baseline_bytes": 10**8, "foreign_load": None,
}))
"""


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """Stands for .venv-peers."""
    python(tmp_path / "environment" / "bin" / "python", NEST)
    (tmp_path / "environment" / "complete").write_text("1  -\n")
    monkeypatch.setattr(peer_programs, "ENVIRONMENT", str(tmp_path / "environment"))


@pytest.mark.nightly
@pytest.mark.slow
def test_a_comparison_on_the_command_line(spikemark, environment, tmp_path):
    """The experiment of the comparison with the network of `smoke`."""
    smoke, real = (
        yaml.safe_load((EXPERIMENTS / f"{name}.yaml").read_text()) for name in ("smoke", "peers")
    )
    chosen = {name: real[name] for name in ("grid", "ranks", "threads")} | {
        "name": "tiny",
        "repetitions": 1,
    }
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(smoke | chosen))
    where = (tmp_path / "tiny.yaml", "--out", tmp_path / "out", "--patience", "0", "--threads", "1")
    status, output, errors = spikemark("peers", *where, "--json")
    assert status == 0, errors
    content = json.loads(output)
    assert content["complaints"] == []
    rows = {row["what"].split(" (")[0]: row for row in content["table"]["rows"]}
    names = [program.name for program in peer_programs.programs({"ignore_and_fire"})]
    assert all(rows["speed"][name]["value"] > 0 for name in names)
    assert all(rows["speed"][f"ahead of {name}"]["value"] > 0 for name in names[1:])
    table = pd.read_csv(tmp_path / "out" / "peers.csv").set_index("program")
    assert table["synapses"].nunique() == 1 and (table["rate_hz"] == 10).all()
    assert len(table) == 3
    status, output, _ = spikemark("peers", *where)
    assert status == 0 and len(output.splitlines()) <= 24
    status, output, _ = spikemark("peers", *where, "--format", "csv")
    printed = pd.read_csv(io.StringIO(output))
    assert status == 0 and len(printed) == len(rows) and printed["mini-app"].notna().any()


BAD = {
    "--threads 0": "threads",
    "--threads 1,two": "threads",
    "--repetitions 0": "repetitions",
    "--patience -1": "patience",
    "--threads 99": "threads=99",
    "demo": "EXPERIMENT=",
    "nothing": "'nothing'",
}


def test_bad_input_is_one_line_and_status_2(refusal, environment, tmp_path, monkeypatch):
    monkeypatch.setattr(launch, "available_cores", lambda: 4)
    for line, words in BAD.items():
        assert words in refusal("peers", *line.split(), "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def install(tmp_path):
    """Runs a copy of the installer, with a Python that writes down what it is asked for."""
    checkout = tmp_path / "checkout"
    for folder in ("workflows/peers", "setup"):
        shutil.copytree(ROOT / folder, checkout / folder)
    script(
        checkout / ".venv" / "bin" / "python",
        f'echo "$@" >>{tmp_path}/calls',
        "if [[ $1 == --version ]]; then echo Python 3; fi",
        'if [[ $2 == venv ]]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi',
        'if [[ $2 == pip ]]; then exit "${PIP_STATUS:-0}"; fi',
    )
    kept = [f"--unset={name}" for name in os.environ if name.startswith("CONDA")]
    return lambda **more: run("env", *kept, checkout / "workflows" / "peers" / "install.sh", **more)


def test_the_environment_is_made_once_from_the_pinned_list(install, tmp_path):
    failed = install(PIP_STATUS="1")
    assert failed.returncode == 2 and failed.stderr.splitlines()[-1].startswith(
        "peers: pip could not install"
    )
    assert not (tmp_path / "checkout" / ".venv-peers" / "complete").exists()
    assert install().returncode == 0
    again = install()
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    lines = [
        line
        for line in (tmp_path / "calls").read_text().splitlines()
        if " pip install " in f" {line} "
    ]
    assert len(lines) == 2
    assert all(
        "-c setup/constraints.txt -r workflows/peers/requirements.txt" in line for line in lines
    )
    assert "nest-simulator==3.10" in (ROOT / "workflows" / "peers" / "requirements.txt").read_text()
