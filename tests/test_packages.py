"""Packages of Spack and EasyBuild: their phases, by hand, from an archive of the sources.

Spack is not on PyPI: what its recipe says beyond these phases is untried. EasyBuild builds for
real, with compiler and libraries of this system in place of those that it would build first.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import OPEN_MPI, ROOT, checksums, run
from peer_tools import installed

CLUSTERS = ROOT / "workflows" / "clusters"
(SPACK,) = CLUSTERS.rglob("spikemark/package.py")
(EASYBUILD,) = CLUSTERS.rglob("Spikemark-*.eb")
(RANDOM123,) = CLUSTERS.rglob("Random123-*.eb")
LMOD = Path("/usr/share/lmod/lmod/libexec/lmod")  # of Debian's package
VERSION = re.search(
    r'^__version__ = "(.*)"$',
    (ROOT / "analysis" / "spikemark" / "core" / "version.py").read_text(),
    re.M,
)[1]


def easybuild() -> dict:
    """The parameters in the file of EasyBuild, which is Python with some constants."""
    parameters: dict = {"SYSTEM": {"name": "system", "version": "system"}}
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


@pytest.fixture(scope="module")
def eb(tmp_path_factory):
    """Carries out `eb` with arguments, in its own environment and below its own prefix."""
    if not LMOD.is_file():
        pytest.skip("no Lmod (Debian: lmod), which EasyBuild writes module files for")
    folder = tmp_path_factory.mktemp("easybuild")
    programs = installed(folder / "environment", "easybuild>=5.4,<6", "pycodestyle")
    variables = {
        "HOME": str(folder),
        "LMOD_CMD": str(LMOD),
        "PATH": f"{programs}:/usr/bin:/bin",
        "EB_PYTHON": str(programs / "python"),
        "EASYBUILD_PREFIX": str(folder / "prefix"),
        "EASYBUILD_ROBOT_PATHS": f"{EASYBUILD.parent}:",
        "EASYBUILD_MODULES_TOOL": "Lmod",
        "EASYBUILD_ALLOW_USE_AS_ROOT_AND_ACCEPT_CONSEQUENCES": "1",
    }

    def carry_out(*arguments):
        done = run(programs / "eb", *arguments, cwd=folder, timeout=1200, **variables, **OPEN_MPI)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        return done.stdout

    carry_out.prefix = folder / "prefix"
    return carry_out


@pytest.mark.slow
@pytest.mark.nightly
def test_easybuild_knows_all_dependencies_and_its_style(eb):
    assert "PASSed" in eb("--check-style", EASYBUILD, RANDOM123)
    planned = eb("--dry-run", "--robot", EASYBUILD)
    parameters = easybuild()
    for name, version, *_ in [*parameters["builddependencies"], *parameters["dependencies"]]:
        assert f"(module: {name}/{version}" in planned, name
    assert f"(module: Spikemark/{VERSION}-gompi-" in planned


@pytest.mark.slow
@pytest.mark.nightly
def test_easybuild_builds_installs_and_writes_a_module(eb, sources, tmp_path):
    """From archives of this checkout and of this system's Random123, with the system's compiler."""
    archives = tmp_path / "archives"
    headers = archives / "random123-1.14.0"
    shutil.copytree("/usr/include/Random123", headers / "include" / "Random123")
    (headers / "LICENSE").touch()
    tar = ["tar", "-C", archives, "-czf", archives / f"{headers.name}.tar.gz", headers.name]
    subprocess.run(tar, check=True)
    shutil.copy(sources.parent / f"spikemark-{VERSION}.tar.gz", archives)
    parameters = easybuild()
    ours = {name for name, *_ in [*parameters["builddependencies"], *parameters["dependencies"]]}
    options = [
        "--robot",
        f"--sourcepath={archives}",
        "--ignore-checksums",  # the archive of Random123 is another one
        "--disable-map-toolchains",
        "--try-toolchain=system,system",
        f"--filter-deps={','.join(sorted(ours - {'Random123'}))}",
        "--parallel=2",
    ]
    assert f"[SUCCESS] Spikemark/{VERSION}" in eb(*options, EASYBUILD)
    assert (eb.prefix / "modules" / "all" / "Spikemark" / f"{VERSION}.lua").is_file()
    software = eb.prefix / "software" / "Spikemark" / VERSION
    example = software / "share" / "spikemark" / "examples" / "two_areas.json"
    program = ["mpirun", "-n", "2", software / "bin" / "miniapp", example, "--out", "out"]
    done = run(*program, cwd=tmp_path, **OPEN_MPI)
    assert done.returncode == 0 and len(checksums(done.stdout)) == 1
