"""The JUBE benchmark in workflows/clusters, run by JUBE inside an allocation."""

import json

import yaml
from site_programs import CLUSTERS, programs

BENCHMARK = CLUSTERS / "jube" / "smoke.yaml"


def test_its_table_has_every_configuration_and_figure(slurm, tmp_path):
    command = ["jube", "run", BENCHMARK, "--outpath", tmp_path / "bench", "--result"]
    done = slurm.run("salloc", "--exclusive", *command, timeout=300, **programs(tmp_path))
    assert done.returncode == 0, done.stderr
    (lines,) = (tmp_path / "bench").rglob("figures.jsonl")
    expected = [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(expected) == 8
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines()]
    found = {f"{row[0]} ranks={row[1]}": row[2:] for row in rows if len(row) == 7 and row[1].isdigit()}
    names = yaml.safe_load(BENCHMARK.read_text())["result"]["table"]["column"][3:]
    for line in expected:
        agree, *cells = found[line["configuration"]]
        values = [line[name]["value"] for name in names]
        assert agree == "true"
        assert [float(cell) if cell else None for cell in cells] == values
