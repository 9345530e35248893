"""Exports, read by the tools that they are for, each from PyPI in an environment of its own.

A tool that PyPI does not have is skipped with the last line of pip.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import swept
from checkout import ROOT, run, spikemark
from peer_tools import installed

from spikemark.records.record import load_run

pytestmark = pytest.mark.nightly

RECORDS = ROOT / "tests" / "golden" / "analysis" / "records"
RUNS = ["aware-4", "conventional-4"]
RANKS = [1, 2, 4, 8, 16]  # Extra-P fits a model to five points or more


@pytest.fixture(scope="module")
def extra_p(tmp_path_factory) -> Path:
    """The command of Extra-P."""
    return installed(tmp_path_factory.mktemp("extra-p"), "extrap>=4.2,<5") / "extrap"


def test_extra_p_reads_every_call_path_metric_and_parameter_and_fits_models(extra_p, tmp_path):
    results, runs = swept.planned(tmp_path / "here", grid=[{}], ranks=RANKS, repetitions=2)
    for planned in runs:
        swept.write(results, planned)
    file = tmp_path / "scaling.jsonl"
    done = spikemark("export", results.path, "--format", "extra-p", "--output", file)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in file.read_text().splitlines()]

    def printed(what: str) -> set[str]:
        done = run(extra_p, "--json", file, "--disable-progress", "--print", what)
        assert done.returncode == 0, done.stderr
        return {line.strip() for line in done.stdout.splitlines() if line.strip()}

    assert printed("parameters") == {"ranks"}
    assert printed("metrics") == {line["metric"] for line in lines}
    assert printed("callpaths") >= {line["callpath"] for line in lines}
    models = printed("{callpath}|{metric}|{model}")
    fitted = {tuple(model.split("|")[:2]) for model in models}
    assert fitted >= {(line["callpath"], line["metric"]) for line in lines}


def exported(folder: Path, form: str) -> list[Path]:
    """A file of each run in RUNS, each in a folder of its own."""
    files = []
    for name in RUNS:
        (folder / name).mkdir(parents=True)
        files.append(folder / name / f"{name}.json")
        done = spikemark("export", RECORDS / name, "--format", form, "--output", files[-1])
        assert done.returncode == 0, done.stderr
    return files


#: Reads profiles as Thicket does, and prints what it then has.
READ_BY_THICKET = """
import json, sys
from hatchet import GraphFrame
from thicket import Thicket
profiles = Thicket.from_caliper(sys.argv[1:], disable_tqdm=True)
times = profiles.dataframe.reset_index()[["name", "rank", "profile", "time"]]
tree = GraphFrame.from_caliper(sys.argv[1]).graph
content = {
    "about": profiles.metadata.to_dict("index"),
    "times": times.to_dict("records"),
    "order": [node.frame["name"] for node in tree.traverse()],
}
json.dump(content, open("read.json", "w"))
"""


def test_thicket_reads_every_phase_of_every_rank_and_what_tells_runs_apart(tmp_path):
    python = installed(tmp_path / "tool", "llnl-thicket>=2026.1,<2027") / "python"
    files = exported(tmp_path / "in", "caliper")
    done = run(python, "-c", READ_BY_THICKET, *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    read = json.loads((tmp_path / "read.json").read_text())
    schedules = {number: about["schedule"] for number, about in read["about"].items()}
    assert sorted(schedules.values()) == ["conventional", "structure_aware"]
    for name in RUNS:
        record = load_run(RECORDS / name)
        assert read["order"] == ["simulate", *record.record.phases]
        schedule = record.record.described.schedule
        (number,) = [key for key, value in schedules.items() if value == schedule]
        rows = [row for row in read["times"] if str(row["profile"]) == number]
        assert len(rows) == record.record.ranks * (1 + len(record.record.phases))
        for row in rows:
            if row["name"] != "simulate":
                times = record.phase(row["name"])[row["rank"]]
                assert row["time"] == pytest.approx(np.sum(times, dtype=float))


#: Reads reports as TALP-Pages does.
READ_BY_TALP_PAGES = """
import sys
from talp_pages.io.dataframe_handling import load_talp_json_df
for name in sys.argv[1:]:
    print(load_talp_json_df(name).iloc[0].to_json())
"""


def test_talp_pages_reads_efficiencies_and_writes_its_report(tmp_path):
    programs = installed(tmp_path / "tool", "talp-pages>=3.8,<3.9")
    files = exported(tmp_path / "in", "talp")
    done = run(programs / "python", "-c", READ_BY_TALP_PAGES, *files)
    assert done.returncode == 0, done.stderr
    for name, line in zip(RUNS, done.stdout.splitlines(), strict=True):
        read = json.loads(line)
        useful_s = load_run(RECORDS / name).compute().sum(axis=1)
        assert read["usefulTime"] == pytest.approx(1e9 * useful_s.sum())
        assert read["mpiLoadBalance"] == pytest.approx(useful_s.mean() / useful_s.max(), abs=1e-3)
        parts = read["mpiLoadBalance"] * read["mpiCommunicationEfficiency"]
        assert read["parallelEfficiency"] == pytest.approx(parts, abs=2e-3)
        assert (read["totalNumMpiRanks"], read["executionMode"]) == (4, "MPI")
    report = ["-i", tmp_path / "in", "-o", tmp_path / "pages", "--no-badge"]
    done = run(programs / "talp", "ci-report", *report)
    assert done.returncode == 0, done.stderr
    assert all((tmp_path / "pages" / name / "scaling.html").is_file() for name in RUNS)
