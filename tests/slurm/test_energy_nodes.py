"""A sampler of energy on every node of an allocation, by both launchers."""

import json
import sys

import pytest
from checkout import ROOT

SAMPLE = """
import sys, time
from pathlib import Path
from spikemark.running import energy

with energy.sampling(Path(sys.argv[1]), ("n2", "n3"), sys.argv[2], interval_s=0.02):
    time.sleep(0.5)
"""


@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_every_node_is_read_and_no_sampler_is_left(slurm, tmp_path, launcher):
    zone = tmp_path / "sys/class/powercap/intel-rapl:0"
    zone.mkdir(parents=True)
    for file, text in (
        ("name", "package-0"),
        ("energy_uj", "1000"),
        ("max_energy_range_uj", "262143328850"),
    ):
        (zone / file).write_text(f"{text}\n")
    script = tmp_path / "sample.py"
    script.write_text(SAMPLE)
    around = ["salloc", "--quiet", "--nodes=4", "--exclusive", sys.executable, script]
    paths = {"PYTHONPATH": str(ROOT / "analysis"), "SPIKEMARK_SYSFS": str(tmp_path / "sys")}
    done = slurm.run(*around, tmp_path / "read", launcher, **paths)
    assert done.returncode == 0, done.stderr
    told = [json.loads(path.read_text()) for path in sorted((tmp_path / "read").glob("*.json"))]
    assert [one["host"] for one in told] == ["n2", "n3"], (
        tmp_path / "read" / "said.log"
    ).read_text()
    for one in told:
        rows = (tmp_path / "read" / f"{one['host']}.csv").read_text().splitlines()
        assert one["source"] == "powercap" and len(rows) > 10 and one["cost"] > 0
