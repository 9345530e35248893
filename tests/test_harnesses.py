"""Harnesses for benchmarks run the smoke experiment for real, each from an environment of its own.

JUBE and Ramble are not on PyPI, as docs/install.md says: what is asked of Ramble is held against
figures by a stand-in, and Ramble itself runs where it is in the PATH.
"""

import json
import os
import re
import runpy
import shutil
import sys
import types
from pathlib import Path

import pytest
import swept
from checkout import OPEN_MPI, ROOT, run
from peer_tools import installed

from spikemark.records.frames import load_folder
from spikemark.report.export import FIGURES, FORMATS

RAMBLE = ROOT / "workflows" / "clusters" / "ramble"


@pytest.fixture(scope="module")
def reframe(tmp_path_factory) -> Path:
    """The command of ReFrame."""
    return installed(tmp_path_factory.mktemp("reframe"), "ReFrame-HPC>=4.10,<5") / "reframe"


@pytest.mark.slow
@pytest.mark.nightly
def test_reframe_runs_the_experiment_and_reads_every_known_figure(reframe, tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    check = ROOT / "workflows" / "clusters" / "reframe" / "smoke.py"
    options = ["-c", check, "--prefix", tmp_path / "prefix", "-r", "--performance-report"]
    done = run(reframe, *options, cwd=tmp_path, timeout=600, PATH=path, **OPEN_MPI)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert re.search(r"PASSED.* Ran 1/1", done.stdout)
    (figures,) = (tmp_path / "prefix").rglob("output/**/figures.jsonl")
    lines = [json.loads(line) for line in figures.read_text().splitlines()]
    assert len(lines) == 8 and all(line["checksums_agree"] for line in lines)
    for line in lines:
        for name, figure in line.items():
            if isinstance(figure, dict) and figure.get("value") is not None:
                assert f"{line['configuration'].replace(' ', '_')}.{name}" in done.stdout


class RambleWords(types.ModuleType):
    """In place of ramble.appkit: remembers what an application says, [(word, arguments)]."""

    def __init__(self):
        super().__init__("ramble.appkit")
        self.ExecutableApplication = object
        self.said: list[tuple[str, tuple, dict]] = []
        for word in (
            "executable",
            "figure_of_merit",
            "figure_of_merit_context",
            "success_criteria",
            "tags",
            "workload",
            "workload_variable",
        ):
            setattr(self, word, self._remembering(word))

    def _remembering(self, word: str):
        return lambda *names, **options: self.said.append((word, names, options))

    def of(self, word: str) -> dict[str, dict]:
        """Options by name of everything that was said with a word."""
        return {names[0]: options for each, names, options in self.said if each == word}


@pytest.fixture
def application(monkeypatch) -> RambleWords:
    words = RambleWords()
    monkeypatch.setitem(sys.modules, "ramble", types.ModuleType("ramble"))
    monkeypatch.setitem(sys.modules, "ramble.appkit", words)
    runpy.run_path(str(RAMBLE / "applications" / "spikemark" / "application.py"))
    return words


def test_what_is_asked_of_ramble_finds_every_known_figure(application, tmp_path):
    results, runs = swept.planned(tmp_path / "x" / "here", repetitions=2)
    for planned in runs:
        swept.write(results, planned)
    text, _ = FORMATS["figures"](load_folder(results.path))
    (context,) = application.of("figure_of_merit_context").values()
    for line in text.splitlines():
        figures = json.loads(line)
        assert re.match(context["regex"], line)["configuration"] == figures["configuration"]
        assert application.of("figure_of_merit").keys() == FIGURES.keys()
        for name, options in application.of("figure_of_merit").items():
            match = re.match(options["fom_regex"], line)
            value = figures[name]["value"]
            assert value == (None if match is None else float(match[options["group_name"]]))
            assert options["units"] == figures[name].get("unit", "") or value is None


@pytest.mark.parametrize("agree", ["true", "false", "null"])
def test_only_equal_spikes_are_a_success_to_ramble(application, agree):
    line = f'{{"configuration": "conventional", "checksums_agree": {agree}, "runs": 2}}'
    passed = []
    for options in application.of("success_criteria").values():
        if "match" in options:
            passed.append(re.match(options["match"], line) is not None)
        else:
            passed.append(re.match(options["anti_match"], line) is None)
    assert all(passed) == (agree == "true")


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("ramble") is None, reason="no Ramble in the PATH")
def test_ramble_runs_the_experiment(tmp_path):
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    surroundings = {"HOME": str(tmp_path), "PATH": path, **OPEN_MPI}
    workspace = tmp_path / "workspace"
    for words in (
        ["repo", "add", RAMBLE],
        ["workspace", "create", "--dir", workspace, "-c", RAMBLE / "ramble.yaml"],
        ["-D", workspace, "workspace", "setup"],
        ["-D", workspace, "on"],
        ["-D", workspace, "workspace", "analyze"],
    ):
        done = run("ramble", *words, timeout=900, **surroundings)
        assert done.returncode == 0, done.stderr[-2000:]
    report = (workspace / "results.latest.txt").read_text()
    assert "Status = SUCCESS" in report and report.count("real_time_factor = ") == 8
