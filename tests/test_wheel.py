"""A wheel works without a checkout, but for the programs of the mini-app."""

import email
import json
import os
import subprocess
import sys
import tarfile

import pytest
from checkout import ROOT

PIP = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package as pip installs it from a wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    build = ["wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT]
    subprocess.run([*PIP, *build], check=True)
    (wheel,) = folder.glob("spikemark-*.whl")
    target = ["--no-deps", "--no-index", "--target", folder / "site"]
    subprocess.run([*PIP, "install", *target, wheel], check=True)
    return folder / "site"


@pytest.fixture
def command(installed, tmp_path):
    """Runs the installed `spikemark` in an empty folder."""
    kept = "SPIKEMARK_LOCK"  # so that no run waits for those of other people
    known = {k: v for k, v in os.environ.items() if k == kept or not k.startswith("SPIKEMARK_")}

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
        variables = {**known, "PYTHONPATH": str(installed), **environment}
        started = [sys.executable, "-m", "spikemark", *arguments]
        return subprocess.run(started, cwd=tmp_path, env=variables, capture_output=True, text=True)

    return run


@pytest.mark.slow
def test_the_wheel_says_what_it_is_and_has_types(installed):
    (about,) = installed.glob("spikemark-*.dist-info")
    metadata = email.message_from_string((about / "METADATA").read_text())
    assert metadata["Author"] == "The Spikemark developers"
    assert metadata["License-Expression"] == "Apache-2.0" and metadata["Summary"]
    assert set(metadata.get_all("Provides-Extra")) == {
        "docs",
        "partition",
        "scorep",
        "sweep",
        "test",
    }
    assert metadata.get_all("Project-URL") is None and metadata["Home-page"] is None
    assert list(about.rglob("LICENSE"))
    for package in ("spikemark", "spikemark_studies", "spikemark_tender"):
        assert (installed / package / "py.typed").is_file()


@pytest.mark.slow
def test_the_archive_of_sources_has_those_of_the_miniapp(tmp_path):
    """An sdist, as `pip download` or a packager gets it: with C sources and tests."""
    script = "import sys; from hatchling.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", script, tmp_path], cwd=ROOT, check=True)
    (archive,) = tmp_path.glob("spikemark-*.tar.gz")
    with tarfile.open(archive) as sources:
        names = {name.partition("/")[2] for name in sources.getnames()}
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    needed = [
        name
        for name in tracked.stdout.splitlines()
        if name.startswith(("miniapp/", "analysis/spikemark", "machines/", "setup/"))
    ]
    assert set(needed) | {"CMakeLists.txt", "Snakefile", "LICENSE"} <= names
    assert not any(name.startswith((".venv", "build", "results/smoke")) for name in names)


@pytest.mark.slow
def test_the_command_begins_without_what_few_need(command):
    """The help needs none of the large libraries; so it appears at once."""
    large = ("arch", "matplotlib", "numpy", "pandas", "pyarrow", "scipy", "snakemake")
    shown = command("--help", PYTHONPROFILEIMPORTTIME="1")
    imported = {line.rpartition("|")[2].strip() for line in shown.stderr.splitlines()}
    assert shown.returncode == 0 and "spikemark.cli.main" in imported
    assert not imported & set(large)


@pytest.mark.slow
def test_the_commands_find_their_files(command, installed, tmp_path):
    shown = command("machine", "two-generations")
    assert shown.returncode == 0, shown.stderr
    stored = {path.stem for path in (ROOT / "machines").glob("*.yaml")}
    assert stored == {
        path.stem for path in (installed / "spikemark" / "share" / "machines").glob("*.yaml")
    }
    assert "network" in json.loads(command("preset", "mam-benchmark", "--areas", "2").stdout)
    question = ["jureca-dc", "supermuc-ng", "--preset", "mam", "--full", "--program", "nest"]
    compared = command("compare", *question)
    assert compared.returncode == 0, compared.stderr
    for name in ("terms.yaml", "spreads.yaml", "document.html.j2", "points.csv", "networks.csv"):
        assert list(installed.rglob(name)), name
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_sweep_needs_only_the_programs(command, tmp_path):
    missing = command("sweep", "smoke", PATH="/usr/bin:/bin")
    assert missing.returncode == 2 and len(missing.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
    few = ("--set", "ranks=[1]", "--set", "grid=[{schedule: conventional}]", "--again", "0")
    path = f"{ROOT / 'build'}:{os.environ['PATH']}"
    done = command("sweep", "smoke", "--machine", "here", *few, PATH=path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "results" / "smoke" / "here" / "report.html").is_file()
