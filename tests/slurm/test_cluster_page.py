"""The commands of docs/clusters.md from the first allocation to the figures, on a private Slurm.

Results go elsewhere, and the experiment of the batch job is `smoke` instead of `demo`, which takes
minutes.
"""

import json
import os
import re
import sys
from pathlib import Path

from checkout import ROOT

PAGE = (ROOT / "docs" / "clusters.md").read_text()


def written(heading: str) -> list[str]:
    """The commands below a heading of the page, in order."""
    section = re.search(rf"^## {heading}\n(.*?)^## ", PAGE, re.M | re.S)[1]
    return re.findall(r"^    (.*?)(?: {2,}#.*)?$", section, re.M)


def test_from_the_first_allocation_to_the_figures(slurm, tmp_path):
    results, path = (
        tmp_path / "results",
        f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    )

    def run(command: str) -> str:
        command = command.replace("demo", "smoke").replace("CLUSTER", cluster)
        command = re.sub(r"(spikemark (?:sweep|report) \S+)", rf"\1 --results {results}", command)
        command = re.sub(r"^results/", f"{results}/", command.replace(" results/", f" {results}/"))
        done = slurm.run("bash", "-c", f"cd {ROOT} && {command}", PATH=path, timeout=300)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    cluster = "CLUSTER"
    cluster = re.search(r"ClusterName *= (\S+)", run(written("1. Look around")[2]))[1]
    one, two = written("3. One node, two nodes")
    run(one)
    run(two)
    records = list((results / "two-nodes" / cluster).glob("runs/*/record.json"))
    assert records
    assert max(json.loads(path.read_text())["host"]["nodes"] for path in records) == 2

    dry_run, job, plugin, one_job_per_run = written("4. An experiment")
    assert plugin.startswith("pip install ")
    assert "--executor slurm" in one_job_per_run  # tests/slurm/test_job_per_run.py carries it out
    assert "node-hours" in run(dry_run) or "0 missing" in run(dry_run)
    assert job.startswith("sbatch ")
    words = f"--output={tmp_path}/log --config results={results}/again/{cluster}"
    options, script, arguments = re.fullmatch(
        r"sbatch (.*?) (\S+allocation\.sh) (.*)", job
    ).groups()
    output, config = words.split(" ", 1)
    run(f"sbatch {output} {options} {script} {arguments} {config}")
    slurm.wait_until_empty(300)
    assert (results / "again" / cluster / "report.html").is_file(), (tmp_path / "log").read_text()

    run(written("5. Fetch and report")[1])
    figures = [json.loads(line) for line in run(written("Figures of merit")[0]).splitlines()]
    assert figures and all(line["checksums_agree"] is not False for line in figures)
