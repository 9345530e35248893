"""setup/install.sh, in a sandbox without commands that could change this machine; the lists of
packages.
"""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from checkout import MINIAPP, ROOT, script

HARMLESS = ("bash", "sed", "cat", "dirname", "sha256sum", "env", "rm", "python3")
CONDA_TOOLS = ("python", "cmake", "ninja", "mpirun")
# What packages of Debian are called elsewhere, where the names differ.
APT_TO_CONDA = {
    "build-essential": {"c-compiler", "cxx-compiler", "make"},
    "ninja-build": {"ninja"},
    "libopenmpi-dev": {"openmpi"},
    "openmpi-bin": {"openmpi"},
    "libsimgrid-dev": set(),  # neither has it
    "librandom123-dev": set(),  # of conda-forge; setup/install.sh says where it is
    "python3-venv": {"python", "pip"},
    "libhwloc-dev": {"libhwloc"},
}
APT_TO_SPACK = APT_TO_CONDA | {
    "build-essential": {"c", "cxx", "make"},
    "pkg-config": {"pkgconfig"},
    "libopenmpi-dev": {"mpi"},
    "librandom123-dev": {"random123"},
    "openmpi-bin": {"mpi"},
    "python3-venv": {"python"},
    "libhwloc-dev": {"hwloc"},
}
PYPI_TO_CONDA = {
    "arch": "arch-py",
    "kahip": "kahip-python",
    "matplotlib": "matplotlib-base",
    "seaborn": "seaborn-base",
    "snakemake": "snakemake-minimal",
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
EXTRAS = PROJECT["project"]["optional-dependencies"]


@pytest.fixture
def sandbox(tmp_path):
    """A copy of what setup reads, and a `bin` with nothing but harmless commands and an installed
    system.
    """
    shutil.copytree(ROOT / "setup", tmp_path / "setup")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "bin").mkdir()
    for name in HARMLESS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    # A python3 whose `-m venv` makes a folder with a recorder as pip.
    script = rf'#!/bin/sh\necho "$@" >> {tmp_path}/pip.log\nexit ${{PIP_STATUS:-0}}\n'
    recorder = f"printf '{script}'"
    made = f"""case "$*" in
    --version) echo "Python 3" ;;
    "-m venv .venv")
        {shutil.which("mkdir")} -p .venv/bin
        {recorder} > .venv/bin/python
        {shutil.which("chmod")} +x .venv/bin/python ;;
esac"""
    for name, body in {
        "dpkg-query": "printf installed",
        "id": "echo 1000",
        "python3": made,
        "apt-get": f'echo "$DEBIAN_FRONTEND" "$@" >> {tmp_path}/apt.log',
    }.items():
        command(tmp_path, name, body)
    return tmp_path


def command(sandbox: Path, name: str, body: str) -> None:
    (sandbox / "bin" / name).unlink(missing_ok=True)
    script(sandbox / "bin" / name, body)


def without(sandbox: Path, *packages: str) -> None:
    lacking = f'case "${{!#}}" in {"|".join(packages)}) exit 1 ;; esac; printf installed'
    command(sandbox, "dpkg-query", lacking)


def setup(sandbox: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA", "DEBIAN"))}
    variables |= {"PATH": str(sandbox / "bin"), **environment}
    program, streams = (
        [sandbox / "setup" / "install.sh", *arguments],
        {"capture_output": True, "text": True},
    )
    return subprocess.run(program, env=variables, stdin=subprocess.DEVNULL, **streams)


def extras(sandbox: Path) -> list[str]:
    """What pip was asked to install, call by call."""
    return re.findall(r"-c setup/constraints.txt -e \.\[(.*)\]", (sandbox / "pip.log").read_text())


def test_only_what_is_missing_is_installed_by_root_or_sudo(sandbox):
    command(sandbox, "id", "echo 0")
    done = setup(sandbox, "system")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (sandbox / "apt.log").exists()
    without(sandbox, "cmake", "libcmocka-dev")
    assert setup(sandbox, "system").returncode == 0
    update, install = (sandbox / "apt.log").read_text().splitlines()
    assert update.split() == ["update", "-qq"]
    words = "noninteractive install -y -qq --no-install-recommends cmake libcmocka-dev"
    assert install.split() == words.split()
    command(sandbox, "id", "echo 1000")
    command(sandbox, "sudo", f'echo sudo "$@" >> {sandbox}/sudo.log; [[ $1 == -n ]] || "$@"')
    assert setup(sandbox, "system").returncode == 0
    assert "sudo apt-get update -qq" in (sandbox / "sudo.log").read_text()


#: What the system lacks: its commands.
LACKING = {
    "sudo": {},
    "password": {"sudo": "exit 1"},
    "dpkg": {"dpkg-query": "exit 127"},
    "python": {"python3": "exit 1"},
    "apt": {"id": "echo 0", "apt-get": "exit 100"},
}


@pytest.mark.parametrize("lack", LACKING)
def test_what_cannot_be_installed_ends_the_setup_with_one_line(sandbox, lack):
    if lack in ("sudo", "password", "apt"):
        without(sandbox, "cmake", "libjansson-dev")
    for name, body in LACKING[lack].items():
        command(sandbox, name, body)
    if lack == "dpkg":
        (sandbox / "bin" / "dpkg-query").unlink()
    done = setup(sandbox)
    assert done.returncode == (100 if lack == "apt" else 2)
    assert len(done.stderr.splitlines()) == (lack != "apt")
    assert not (sandbox / "apt.log").exists() and not (sandbox / ".venv").exists()
    assert lack not in ("sudo", "password") or "cmake libjansson-dev" in done.stderr


def test_the_environment_is_made_once_and_tests_are_added_to_it(sandbox):
    assert setup(sandbox, PIP_STATUS="1").returncode != 0
    (sandbox / ".venv" / "half").touch()
    for _ in range(2):
        assert setup(sandbox).returncode == 0
    assert not (sandbox / ".venv" / "half").exists()  # an interrupted one is made anew
    assert extras(sandbox) == ["sweep,scorep"] * 2
    (sandbox / ".venv" / "kept").touch()
    for level in ("tests", "tests", "docs", "docs", "tests", "python"):
        assert setup(sandbox, level).returncode == 0
    assert extras(sandbox)[2:] == ["sweep,scorep,test", "sweep,scorep,docs"]
    assert (sandbox / ".venv" / "kept").exists()


def test_the_environment_is_made_anew_when_its_lists_change(sandbox):
    setup(sandbox, "tests")
    for number, changed in enumerate(("setup/constraints.txt", "pyproject.toml"), 2):
        with open(sandbox / changed, "a") as stream:
            stream.write("# changed\n")
        assert setup(sandbox, "tests").returncode == 0
        assert extras(sandbox) == ["sweep,scorep", "sweep,scorep,test"] * number


@pytest.mark.parametrize("lacking", [None, "cmake", "Random123"])
def test_an_active_conda_environment_needs_neither_apt_nor_venv(sandbox, lacking):
    prefix = sandbox / "envs" / "spikemark"
    (prefix / "bin").mkdir(parents=True)
    for tool in CONDA_TOOLS:
        if tool != lacking:
            (prefix / "bin" / tool).symlink_to(shutil.which("true"))
    if lacking != "Random123":
        (prefix / "include" / "Random123").mkdir(parents=True)
        (prefix / "include" / "Random123" / "philox.h").touch()
    without(sandbox, "cmake")
    done = setup(sandbox, CONDA_PREFIX=str(prefix))
    assert lacking is None or lacking in done.stderr
    assert done.returncode == (2 if lacking else 0)
    assert not (sandbox / "apt.log").exists() and not (sandbox / ".venv").exists()


def requirement(line: str) -> tuple[str, str]:
    """Name and version condition of 'name>=1' and of 'name >=1'; on which machines is left out."""
    name, condition = re.fullmatch(r"([A-Za-z0-9_-]+)\s*([^;]*)(?:;.*)?", line).groups()
    return name.lower(), condition


def needed() -> dict[str, str]:
    """Version conditions of what setup/install.sh asks pip for."""
    parts = EXTRAS
    lines = [
        *PROJECT["project"]["dependencies"],
        *parts["sweep"],
        *parts["scorep"],
        *parts["test"],
        *parts["docs"],
    ]
    return dict(map(requirement, lines))


def test_conda_and_spack_offer_what_apt_and_pypi_do():
    apt = re.findall(r"^[a-z0-9.+-]+", (ROOT / "setup" / "apt.txt").read_text(), re.M)
    run, development = (
        yaml.safe_load((ROOT / name).read_text())
        for name in ("environment.yml", "environment-dev.yml")
    )
    assert {**development, "dependencies": []} == {**run, "dependencies": []}
    listed = [*run["dependencies"], *development["dependencies"]]
    (from_pip,) = (line["pip"] for line in listed if isinstance(line, dict))
    *from_pypi, itself = from_pip
    assert itself == "--editable ."
    lines = [*(line for line in listed if isinstance(line, str)), *from_pypi]
    conda = dict(map(requirement, lines))
    assert len(conda) == len(lines)
    # Who only measures and predicts installs nothing that tests alone need.
    tests_alone = {requirement(line)[0] for line in [*EXTRAS["test"], *EXTRAS["docs"]]}
    of_run = {requirement(line)[0] for line in run["dependencies"] if isinstance(line, str)}
    assert of_run & tests_alone <= {"hatchling"}
    wanted = {PYPI_TO_CONDA.get(name, name): condition for name, condition in needed().items()}
    wanted |= dict(map(requirement, PROJECT["build-system"]["requires"]))
    assert conda.items() >= wanted.items()
    assert conda["python"] == PROJECT["project"]["requires-python"]
    plain = {name: {re.sub(r"^lib|-dev$", "", name)} for name in apt}
    assert conda.keys() - wanted.keys() == set().union(
        *(APT_TO_CONDA.get(n, plain[n]) for n in apt)
    )
    (recipe,) = (ROOT / "workflows").rglob("spikemark/package.py")
    spack = re.findall(r'^    depends_on\("([a-z0-9-]+)', recipe.read_text(), re.M)
    of_apt = set().union(*(APT_TO_SPACK.get(n, plain[n]) for n in apt))
    # The package holds the mini-app alone, without its tests.
    assert set(spack) == of_apt - {"git", "make", "cmocka", "valgrind", "python"}


def test_every_requirement_is_pinned():
    pins = re.findall(r"^([\w.-]+)==\S+$", (ROOT / "setup" / "constraints.txt").read_text(), re.M)
    assert needed().keys() <= {name.lower() for name in pins}


def test_there_is_one_version():
    """The package states it and CMake reads it there; the citation agrees."""
    package = (ROOT / "analysis" / "spikemark" / "core" / "version.py").read_text()
    version = re.search(r'^__version__ = "(.*)"$', package, re.M)[1]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version
    built = subprocess.run([MINIAPP, "--version"], capture_output=True, text=True)
    assert built.stdout.startswith(f"miniapp {version}, ")
