"""An answer to a tender that is measured by jobs of Slurm."""

import json
import sys
from pathlib import Path

from spikemark.tender import answer, bundle, manifest

SPIKEMARK = (sys.executable, "-m", "spikemark", "tender")
#: Ranks of two nodes share the cores of one host here, so that cycles take milliseconds: there are few.
NETWORK = ("areas=4", "neurons_per_area=100", "indegree=10", "rate=50", "warmup_ms=1")
SMALL = (
    *("--quick", "--commit", "HEAD", "--node-memory", "0.01", "--minimum", "0.01"),
    *("--target", "mam-benchmark", *(word for option in NETWORK for word in ("--option", option))),
)


def test_jobs_measure_the_runs_and_read_the_environment_of_all_their_nodes(slurm, tmp_path: Path):
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "slurm.yaml").write_text("poll_s: 0.3\noptions: [--exclusive]\n")
    rules, out = tmp_path / "rules", tmp_path / "answer"
    profile = ("--out", str(out), "--profile", str(tmp_path / "cluster"))
    made = slurm.run(*SPIKEMARK, "new", str(rules), *SMALL, timeout=100)
    assert made.returncode == 0, made.stderr
    own = ("--run", "target", "--ranks", "4", "--ranks-per-node", "2", "--threads", "1")
    target = slurm.run(*SPIKEMARK, "run", str(rules), *profile, *own, timeout=250)
    assert target.returncode == 1 and "not measured yet: bench-small" in target.stderr, target.stderr
    done = slurm.run(*SPIKEMARK, "run", str(rules), *profile, timeout=250)
    assert done.returncode == 0, done.stderr
    manifest.check(out)
    content = answer.read(out)
    names = [rule.name for rule in bundle.read(rules).tender.runs]
    assert [run["name"] for run in content["runs"]] == names
    assert content["runs"][-1]["layout"] == {"ranks": 4, "threads": 1, "nodes": 2}
    environment = json.loads((out / answer.ENVIRONMENT).read_text())
    nodes = {node["host"]["value"] for node in environment["nodes"]}
    assert len(nodes) >= 2 and all(node["kernel"]["value"] for node in environment["nodes"])
    assert environment["software"]["launcher"]["value"] == "srun"
