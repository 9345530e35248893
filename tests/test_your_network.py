"""docs/your-network.md: its examples run, predict and sweep, and its refusals are those of the mini-app."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from pages import blocks

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "your-network.md").read_text(encoding="utf-8")
SCRIPT, NETWORK, EXPERIMENT = (
    re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)[place]
    for kind, place in (("python", 0), ("yaml", 0), ("yaml", 1))
)
REFUSALS = {  # what leads to the messages of the page: arguments, ranks
    "delay_ratio: 20;": (["delay_ratio=20"], 1),
    "delay_ratio: 11;": (["schedule=overlapped", "delay_ratio=11"], 1),
    "placement:": ([], 8),
    "network.projections.1.source:": (["network.projections.1.source=V9"], 1),
    "time.simulate_ms:": (["time.simulate_ms=200.05"], 1),
    "network.projections.0.delay.max:": (["network.projections.0.delay.max=0.05"], 1),
}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess:
    tools = [str(ROOT / "build"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        **os.environ, "PATH": os.pathsep.join(tools), "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "analysis"),
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    return subprocess.run(
        ["bash", "-e", "-c", "\n".join(command)], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=600,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Holds the files of the page, and the network that the script writes."""
    made = tmp_path_factory.mktemp("network")
    for name, text in (("network.py", SCRIPT), ("network.yaml", NETWORK), ("six-areas.yaml", EXPERIMENT)):
        (made / name).write_text(text)
    assert run(["python network.py > network.json"], made).returncode == 0
    return made


def test_both_descriptions_are_of_one_network(folder):
    assert yaml.safe_load(NETWORK) == json.loads((folder / "network.json").read_text())
    assert len(yaml.safe_load(NETWORK)["network"]["populations"]) == 6
    assert len([line for line in SCRIPT.splitlines() if line]) <= 22


@pytest.mark.slow
def test_the_commands_of_the_page_run(folder):
    runs, crowded, turned, asked, beside, swept = blocks(re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    done = run([runs], folder)
    assert done.returncode == 0, done.stderr
    assert "structure_aware, D = 12" in done.stdout
    checksums = re.findall(r"checksum ([0-9a-f]{16})", done.stdout)
    assert len(checksums) == 2 and len(set(checksums)) == 1

    done = run([crowded], folder)
    assert done.returncode == 0, done.stderr
    assert f"checksum {checksums[0]}" in done.stdout

    assert run([turned], folder).returncode == 0
    assert json.loads((folder / "from-yaml.json").read_text()) == yaml.safe_load(NETWORK)

    done = run([asked], folder)
    assert done.returncode == 0, done.stderr
    assert "6 ranks" in done.stdout and "jureca-dc: real-time factor 1.00 is" in done.stdout.replace(
        "\n", " "
    )

    calibrated, *others = beside.splitlines()  # which takes half an hour
    assert "calibrate --name my-machine" in calibrated
    done = run([line.replace("my-machine", "epyc-vm") for line in others], folder)
    assert done.returncode == 0, done.stderr
    assert "run over prediction" in done.stdout

    done = run([f"{swept} --results results"], folder)
    assert done.returncode == 0, done.stderr + done.stdout
    records = list(folder.glob("results/six-areas/*/runs/*/record.json"))
    assert len(records) == 12 and list(folder.glob("results/six-areas/*/report.html"))
    assert {json.loads(path.read_text())["checksum"] for path in records} == set(checksums)


@pytest.mark.slow
def test_an_unread_yaml_description_is_refused_in_one_line(folder):
    (folder / "broken.yaml").write_text("time: {simulate_ms: 1\n")
    done = run(["spikemark predict broken.yaml --machine jureca-dc --ranks 1"], folder)
    assert done.returncode == 2
    assert "broken.yaml: not YAML" in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_refusals_are_those_of_the_page(folder):
    shown = re.findall(r"^\| `(.*?)` \|", PAGE[PAGE.index("## Refusals") :], re.MULTILINE)
    assert [next(start for start in REFUSALS if line.startswith(start)) for line in shown] == list(REFUSALS)
    for line, (settings, ranks) in zip(shown, REFUSALS.values(), strict=True):
        options = " ".join(f"--set {setting}" for setting in settings)
        done = run([f"miniapp --explain network.json --ranks {ranks} {options}"], folder)
        assert (done.returncode, done.stderr) == (2, f"miniapp: {line}\n")
