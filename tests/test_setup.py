"""setup/install.sh in a sandbox: commands that could change this machine are replaced by recorders."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HARMLESS = ("bash", "sed", "cat", "dirname", "sha256sum", "env", "rm", "python3")


@pytest.fixture
def sandbox(tmp_path):
    """A copy of what setup reads, and a `bin` with nothing but harmless commands and an installed system."""
    shutil.copytree(ROOT / "setup", tmp_path / "setup")
    (tmp_path / "analysis").mkdir()
    shutil.copy(ROOT / "analysis" / "pyproject.toml", tmp_path / "analysis")
    (tmp_path / "bin").mkdir()
    for name in HARMLESS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    command(tmp_path, "dpkg-query", "printf installed")
    command(tmp_path, "id", "echo 1000")
    command(tmp_path, "apt-get", f'echo "$DEBIAN_FRONTEND" "$@" >> {tmp_path}/apt.log')
    return tmp_path


def command(sandbox: Path, name: str, body: str) -> None:
    path = sandbox / "bin" / name
    path.unlink(missing_ok=True)
    path.write_text(f"#!{shutil.which('bash')}\n{body}\n")
    path.chmod(0o755)


def without(sandbox: Path, *packages: str) -> None:
    command(
        sandbox, "dpkg-query", f'case "${{!#}}" in {"|".join(packages)}) exit 1 ;; esac; printf installed'
    )


def setup(sandbox: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess:
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("CONDA", "DEBIAN"))}
    return subprocess.run(
        [sandbox / "setup" / "install.sh", *arguments],
        env={**variables, "PATH": str(sandbox / "bin"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_nothing_missing_installs_nothing(sandbox):
    done = setup(sandbox, "system")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (sandbox / "apt.log").exists()


def test_root_installs_only_what_is_missing_and_names_it_first(sandbox):
    without(sandbox, "cmake", "libcmocka-dev")
    command(sandbox, "id", "echo 0")
    done = setup(sandbox, "system")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "setup: installing cmake libcmocka-dev"
    update, install = (sandbox / "apt.log").read_text().splitlines()
    assert update.split() == ["update", "-qq"]
    assert install.split() == [
        "noninteractive",
        *["install", "-y", "-qq", "--no-install-recommends"],
        "cmake",
        "libcmocka-dev",
    ]


def test_sudo_is_used_by_others(sandbox):
    without(sandbox, "cmake")
    command(sandbox, "sudo", f'echo sudo "$@" >> {sandbox}/sudo.log; [[ $1 == -n ]] || "$@"')
    done = setup(sandbox, "system")
    assert done.returncode == 0, done.stderr
    assert "sudo apt-get update -qq" in (sandbox / "sudo.log").read_text()
    assert "cmake" in (sandbox / "apt.log").read_text()


@pytest.mark.parametrize("sudo", [None, "exit 1"])
def test_without_the_right_one_line_names_packages_and_conda(sandbox, sudo):
    without(sandbox, "cmake", "libjansson-dev")
    if sudo:
        command(sandbox, "sudo", sudo)
    done = setup(sandbox)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "cmake libjansson-dev" in line
    assert "conda env create -f environment.yml && conda activate spikemark" in line
    assert not (sandbox / "apt.log").exists()
    assert not (sandbox / ".venv").exists()


def test_other_systems_are_told_about_conda(sandbox):
    (sandbox / "bin" / "dpkg-query").unlink()
    done = setup(sandbox)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "conda env create" in line


def test_failing_apt_stops_the_setup(sandbox):
    without(sandbox, "cmake")
    command(sandbox, "id", "echo 0")
    command(sandbox, "apt-get", "exit 100")
    assert setup(sandbox).returncode == 100
    assert not (sandbox / ".venv").exists()


def fake_python(sandbox: Path) -> None:
    """A python3 whose `-m venv` makes a directory with a recorder as pip."""
    maker = f"""
case "$*" in
    --version) echo "Python 3" ;;
    "-m venv .venv")
        {shutil.which("mkdir")} -p .venv/bin
        printf '#!/bin/sh\\necho "$@" >> {sandbox}/pip.log\\nexit ${{PIP_STATUS:-0}}\\n' > .venv/bin/python
        {shutil.which("chmod")} +x .venv/bin/python ;;
esac"""
    command(sandbox, "python3", maker)


def pip_calls(sandbox: Path) -> int:
    log = sandbox / "pip.log"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_environment_is_made_once(sandbox):
    fake_python(sandbox)
    assert setup(sandbox).returncode == 0
    assert pip_calls(sandbox) == 1
    assert "-c setup/constraints.txt -e analysis[workflow,dev]" in (sandbox / "pip.log").read_text()
    done = setup(sandbox)
    assert (done.returncode, done.stdout) == (0, "")
    assert pip_calls(sandbox) == 1


@pytest.mark.parametrize("changed", ["setup/constraints.txt", "setup/apt.txt", "analysis/pyproject.toml"])
def test_environment_is_made_anew_when_its_lists_change(sandbox, changed):
    fake_python(sandbox)
    setup(sandbox)
    with open(sandbox / changed, "a") as stream:
        stream.write("# changed\n")
    assert setup(sandbox).returncode == 0
    assert pip_calls(sandbox) == 2


def test_interrupted_environment_is_made_anew(sandbox):
    fake_python(sandbox)
    assert setup(sandbox, PIP_STATUS="1").returncode != 0
    (sandbox / ".venv" / "half").touch()
    assert setup(sandbox).returncode == 0
    assert pip_calls(sandbox) == 2
    assert not (sandbox / ".venv" / "half").exists()


def test_old_python_is_refused_in_one_line(sandbox):
    command(sandbox, "python3", "exit 1")
    done = setup(sandbox)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "Python >= 3.11" in line


def test_active_conda_environment_needs_neither_apt_nor_venv(sandbox):
    prefix = sandbox / "envs" / "spikemark"
    (prefix / "bin").mkdir(parents=True)
    for tool in ("python", "cmake", "ninja", "mpirun"):
        (prefix / "bin" / tool).symlink_to(shutil.which("true"))
    without(sandbox, "cmake")
    done = setup(sandbox, CONDA_PREFIX=str(prefix))
    assert (done.returncode, done.stderr) == (0, "")
    assert not (sandbox / "apt.log").exists()
    assert not (sandbox / ".venv").exists()
    (prefix / "bin" / "cmake").unlink()
    done = setup(sandbox, CONDA_PREFIX=str(prefix))
    assert done.returncode == 2
    assert "no cmake" in done.stderr
