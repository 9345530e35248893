"""The files in workflows/clusters that need no cluster to be tried."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest
import yaml
from pages import section
from site_programs import CLUSTERS, ROOT, programs

from spikemark.report.export import FIGURES
from spikemark.running.experiments import expand, load

PAGE = (ROOT / "docs" / "clusters-help.md").read_text()
#: What Slurm, Open MPI and the loader say, in the table of what can go wrong.
OF_OTHERS = (
    "Invalid account or account/partition combination",
    "OMPI was not built with SLURM's PMI support",
    "error while loading shared libraries",
    "pending (",
    "(",
)
CONTAINERS = CLUSTERS / "containers"
RECIPE = CLUSTERS / "spack" / "spack_repo" / "spikemark" / "packages" / "spikemark" / "package.py"


def reframe(folder: Path, **environment: str) -> subprocess.CompletedProcess:
    """Runs the ReFrame test on a system that ReFrame knows without configuration: this host."""
    check = ["-c", CLUSTERS / "reframe" / "smoke.py", "--system=generic", "-r", "--nocolor"]
    return subprocess.run(
        ["reframe", *check, f"--prefix={folder}", f"--report-file={folder}/report.json"],
        env={**os.environ, **programs(folder), "HOME": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.slow
def test_reframe_reports_every_known_figure(tmp_path):
    done = reframe(tmp_path)
    assert done.returncode == 0, done.stdout
    (lines,) = (tmp_path / "output").rglob("figures.jsonl")
    known = {
        f"{line['configuration'].replace(' ', '_')}.{name}": line[name]["value"]
        for line in map(json.loads, lines.read_text().splitlines())
        for name in FIGURES
        if line[name]["value"] is not None
    }
    assert len(known) > 8
    ((run,),) = [run["testcases"] for run in json.loads((tmp_path / "report.json").read_text())["runs"]]
    found = {key.rpartition(":")[2]: value[0] for key, value in run["perfvalues"].items()}
    assert found == known


@pytest.mark.slow
def test_reframe_says_why_a_run_failed(tmp_path):
    done = reframe(tmp_path, SPIKEMARK_MINIAPP="/bin/false")
    assert done.returncode != 0
    assert re.search(r"Reason: sanity error: failed: .* ranks=", done.stdout), done.stdout


def test_jube_asks_for_all_configurations_and_figures():
    benchmark = yaml.safe_load((CLUSTERS / "jube" / "smoke.yaml").read_text())
    (ranks, schedules) = (
        field["_"].split(field.get("separator", ",")) for field in benchmark["parameterset"][1]["parameter"]
    )
    asked = {f"{schedule} ranks={number}" for schedule in schedules for number in ranks}
    assert asked == {re.sub(r" seed=.*", "", run.label) for run in expand(load("smoke"))}
    patterns = [pattern["name"] for pattern in benchmark["patternset"]["pattern"]]
    assert patterns == ["checksums_agree", *FIGURES]
    assert benchmark["result"]["table"]["column"] == ["schedule", "ranks", *patterns]


def recipe(monkeypatch, **functions) -> types.ModuleType:
    """The Spack recipe as a module. What it imports from Spack does nothing but for `functions`."""

    class Anything(types.ModuleType):
        def __getattr__(self, name):
            return functions.get(name, lambda *given, **named: lambda function: function)

    base = Anything("spack_repo.builtin.build_systems.generic")
    base.Package = object
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    monkeypatch.setitem(sys.modules, "spack.package", Anything("spack.package"))
    monkeypatch.setitem(sys.modules, base.__name__, base)
    spec = importlib.util.spec_from_file_location("recipe", RECIPE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_spack_recipe_builds_this_checkout_at_its_oldest_versions(monkeypatch):
    asked = []
    module = recipe(monkeypatch, depends_on=lambda spec, **given: asked.append(spec))
    assert ROOT == module.CHECKOUT
    oldest = dict(spec.rstrip(":").split("@") for spec in asked if "@" in spec)
    cmake = (ROOT / "CMakeLists.txt").read_text()
    assert oldest["cmake"] == re.search(r"cmake_minimum_required\(VERSION (\S+)\)", cmake)[1]
    assert oldest["mpi"] == re.search(r"find_package\(MPI (\S+)", cmake)[1]
    assert oldest["python"] == re.search(r"oldest='(\S+)'", (ROOT / "setup" / "install.sh").read_text())[1]
    repository = yaml.safe_load((RECIPE.parents[2] / "repo.yaml").read_text())["repo"]
    assert repository["namespace"] == RECIPE.parents[2].name


@pytest.mark.slow
def test_the_test_of_the_spack_recipe_runs_the_experiment(monkeypatch, tmp_path, capsys):
    environment = {**os.environ, **programs(tmp_path)}

    def which(name, required):
        assert name == f"{tmp_path}/bin/spikemark"
        return lambda *given, output=None: (
            subprocess.run(
                [name, *given], env=environment, cwd=tmp_path, check=True, capture_output=True, text=True
            ).stdout
        )

    package = recipe(monkeypatch, which=which).Spikemark()
    package.prefix = types.SimpleNamespace(bin=f"{tmp_path}/bin")
    package.test_smoke()
    assert len([line for line in capsys.readouterr().out.splitlines() if line.startswith("{")]) == 8


def instructions(text: str) -> list[str]:
    """The commands and copies of a container file, without its syntax."""
    lines = (line.strip() for line in text.splitlines() if not line.startswith("#"))
    words = (re.sub(r"^(RUN|COPY) ", "", line) for line in lines)
    steps = re.compile(r"setup/install\.sh|cmake|git |setup |\.git ")
    return sorted(
        line.replace("/opt/spikemark/", "").replace("{{ ARCH }}", "$ARCH")
        for line in words
        if steps.match(line)
    )


def test_both_container_files_do_the_same_with_the_lists_of_setup():
    docker, apptainer = (
        instructions((CONTAINERS / name).read_text()) for name in ("Dockerfile", "apptainer.def")
    )
    assert docker == apptainer
    assert len(docker) == 5
    for name in ("Dockerfile", "apptainer.def"):
        text = (CONTAINERS / name).read_text()
        assert "apt-get" not in text and "pip " not in text
        assert "debian:bookworm" in text


def test_the_mini_app_of_an_image_is_started_with_all_arguments(tmp_path):
    (tmp_path / "apptainer").write_text('#!/bin/sh\nshift; echo "image $1"; shift; exec "$@"\n')
    (tmp_path / "apptainer").chmod(0o755)
    search = os.pathsep.join([str(tmp_path), str(ROOT / "build"), os.environ["PATH"]])
    command = [CONTAINERS / "miniapp", "--list"]
    environment = {**os.environ, "PATH": search, "SPIKEMARK_IMAGE": "there.sif"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("image there.sif\n")
    plain = subprocess.run([ROOT / "build" / "miniapp", "--list"], capture_output=True, text=True)
    assert done.stdout.endswith(plain.stdout)
    refused = subprocess.run(
        command, env={**environment, "SPIKEMARK_IMAGE": ""}, capture_output=True, text=True
    )
    assert refused.returncode != 0
    assert "SPIKEMARK_IMAGE: names the image" in refused.stderr


@pytest.mark.parametrize("path", sorted((CLUSTERS / "sbatch").iterdir()), ids=lambda path: path.stem)
def test_a_job_is_correct_shell_and_says_how_to_submit_it(path):
    assert subprocess.run(["bash", "-n", path]).returncode == 0
    assert f"sbatch {path.relative_to(ROOT)}" in path.read_text()


def test_the_messages_that_the_page_explains_exist():
    rows = re.findall(r"^\| (`.*?) \|", section(PAGE, "## What can go wrong"), re.M)
    sources = [*(ROOT / "analysis" / "spikemark").rglob("*.py"), *(ROOT / "miniapp" / "src").rglob("*.c")]
    known = re.sub(r'"\n\s*f?"', "", "".join(path.read_text() for path in sources))
    messages = [message for row in rows for message in re.findall("`(.+?)`", row)]
    parts = [part.strip(" ,:)") for message in messages for part in message.split("…")]
    assert len(rows) > 10
    assert [part for part in parts if part not in known and not part.startswith(OF_OTHERS)] == []
