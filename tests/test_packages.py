"""Packages of Spack and EasyBuild: their phases, by hand, from an archive of the sources.

Neither program runs here: Spack is not on PyPI, and EasyBuild would build a compiler first. What a
recipe says beyond these phases is untried.
"""

import re
import subprocess
from pathlib import Path

import pytest
from checkout import OPEN_MPI, ROOT, checksums, run

CLUSTERS = ROOT / "workflows" / "clusters"
(SPACK,) = CLUSTERS.rglob("spikemark/package.py")
(EASYBUILD,) = CLUSTERS.rglob("*.eb")
VERSION = re.search(
    r'^__version__ = "(.*)"$',
    (ROOT / "analysis" / "spikemark" / "core" / "version.py").read_text(),
    re.M,
)[1]


def easybuild() -> dict:
    """The parameters in the file of EasyBuild, which is Python."""
    parameters: dict = {}
    exec(EASYBUILD.read_text(), parameters)
    return parameters


def options_of_spack() -> list[str]:
    """The options of CMake in the recipe; those that need Spack's own paths are left out."""
    defined = re.findall(r'self\.define\("(\w+)", ("[^"]*"|True|False)\)', SPACK.read_text())
    values = {"True": "ON", "False": "OFF"}
    return [f"-D{name}={values.get(value, value.strip(chr(34)))}" for name, value in defined]


OPTIONS = {"Spack": options_of_spack(), "EasyBuild": easybuild()["configopts"].split()}


def test_recipes_are_for_this_version_and_for_the_same_build():
    assert f'version("{VERSION}")' in SPACK.read_text() and f"-{VERSION}.tar" in SPACK.read_text()
    assert easybuild()["version"] == VERSION and f"-{VERSION}-" in EASYBUILD.name
    assert set(OPTIONS["Spack"]) == set(OPTIONS["EasyBuild"]) and len(OPTIONS["Spack"]) == 2


@pytest.fixture
def sources(tmp_path_factory) -> Path:
    """The unpacked archive that the recipes name."""
    folder = tmp_path_factory.mktemp("package build")
    archive = folder / f"spikemark-{VERSION}.tar.gz"
    command = ["git", "archive", f"--prefix=spikemark-{VERSION}/", f"--output={archive}", "HEAD"]
    subprocess.run(command, cwd=ROOT, check=True)
    subprocess.run(["tar", "-xf", archive], cwd=folder, check=True)
    return folder / f"spikemark-{VERSION}"


@pytest.mark.slow
@pytest.mark.nightly
def test_an_archive_is_configured_built_installed_and_runs(sources, tmp_path):
    """With the options that both recipes have."""
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    options = [*OPTIONS["Spack"], "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_INSTALL_PREFIX={prefix}"]
    for command in (
        ["cmake", "-S", sources, "-B", build, "-G", "Ninja", *options],
        ["cmake", "--build", build],
        ["cmake", "--install", build],
    ):
        done = run(*command, cwd=tmp_path, timeout=1200)
        assert done.returncode == 0, done.stderr[-2000:]
    assert not (build / "run_layouts").exists()
    parameters = easybuild()
    for name in parameters["sanity_check_paths"]["files"]:
        assert (prefix / name).is_file(), name
    for command in parameters["sanity_check_commands"]:
        done = run(*command.split(), PATH=f"{prefix}/bin:/usr/bin:/bin", **OPEN_MPI)
        assert done.returncode == 0 and VERSION in done.stdout
    example = prefix / "share" / "spikemark" / "examples" / "two_areas.json"
    program = ["mpirun", "-n", "2", prefix / "bin" / "miniapp", example, "--out", "out"]
    done = run(*program, cwd=tmp_path, **OPEN_MPI)
    assert done.returncode == 0 and len(checksums(done.stdout)) == 1
