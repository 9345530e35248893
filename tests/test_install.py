"""`cmake --install`: what lies in the prefix works with nothing else, as docs/install.md says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkout import OPEN_MPI, ROOT, checksums, run

pytestmark = pytest.mark.slow

BUILD = ROOT / "build"
PAGE = (ROOT / "docs" / "install.md").read_text()
PROGRAMS = {"miniapp", "bench_exchange", "bench_host", "bench_kernels", "bench_messages"}
SYSTEM = "/usr/bin:/bin"
#: What a module file may say, and what its words do to a variable.
MODULE_LINE = re.compile(r"(set|prepend-path|append-path) (\S+) (.+)")


def installed(prefix: Path, **environment: str) -> list[Path]:
    """Installs the build of this checkout; returns the files that were written."""
    done = run("cmake", "--install", BUILD, "--prefix", prefix, **environment)
    assert done.returncode == 0, done.stderr
    destination = environment.get("DESTDIR", "")
    below = Path(f"{destination}{prefix}")
    return [path for path in below.rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation in a prefix with a blank, moved away from where it was installed."""
    folder = tmp_path_factory.mktemp("installed here")
    installed(folder / "first")
    moved = folder / "prefix"
    (folder / "first").rename(moved)
    return moved


def module_file(prefix: Path) -> str:
    """The module file of the page, for this prefix."""
    text = re.search(r"^```tcl\n(.*?)^```", PAGE, re.M | re.S)[1]
    assert text.count("/opt/spikemark/2.0.0") == 1
    return text.replace("/opt/spikemark/2.0.0", str(prefix))


def loaded(text: str) -> dict[str, str]:
    """The environment that a module file makes of one that has nothing but the system."""
    environment = {"PATH": SYSTEM}
    prefix = ""
    for line in text.splitlines():
        if line.startswith(("#", "module-whatis ")):
            continue
        command, name, value = MODULE_LINE.fullmatch(line).groups()
        if command == "set":
            prefix = value.strip("{}")
            continue
        folder = value.strip("{}").replace("$prefix", prefix)
        folders = environment[name].split(":") if name in environment else []
        folders.insert(0 if command == "prepend-path" else len(folders), folder)
        environment[name] = ":".join(folders)
    return environment


def loaded_by_modules(text: str, folder: Path, reader: str) -> dict[str, str]:
    """The same by a program that reads module files, such as `modulecmd`."""
    (folder / "spikemark").mkdir()
    (folder / "spikemark" / "2.0.0").write_text(text)
    script = (
        f'eval "$({reader} bash load spikemark/2.0.0)"; for name in PATH MANPATH'
        ' CMAKE_PREFIX_PATH PKG_CONFIG_PATH; do echo "$name=${!name}"; done'
    )
    variables = {"PATH": SYSTEM, "MODULEPATH": str(folder)}
    command = ["bash", "-c", script]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=True)
    return dict(line.split("=", 1) for line in done.stdout.splitlines())


def test_the_prefix_holds_programs_pages_and_packages_and_no_path_of_the_build(prefix):
    files = [path for path in prefix.rglob("*") if path.is_file()]
    names = {path.name for path in files}
    machines = {path.name for path in (ROOT / "machines").glob("*.yaml")}
    assert {path.name for path in (prefix / "bin").iterdir()} == PROGRAMS
    assert {path.name for path in (prefix / "share/spikemark/machines").iterdir()} == machines
    assert {"miniapp.1", "spikemark.pc", "spikemark-config.cmake", "LICENSE"} <= names
    for path in files:
        assert os.fsencode(ROOT) not in path.read_bytes(), path


def test_a_folder_for_packagers_stands_before_the_prefix(tmp_path):
    files = installed(Path("/opt/spike mark"), DESTDIR=str(tmp_path / "package here"))
    assert {path.name for path in files} >= PROGRAMS
    assert not Path("/opt/spike mark").exists()


def test_the_man_page_has_every_option(prefix):
    page = (prefix / "share/man/man1/miniapp.1").read_text().replace("\\-", "-")
    printed = run(BUILD / "miniapp", "--help").stdout
    options = r"(?<!\w)--[a-z][a-z-]*"
    assert set(re.findall(options, printed)) <= set(re.findall(options, page))
    assert set(re.findall(options, page)) <= {*re.findall(options, printed), "--help"}


#: Programs that read module files: Environment Modules and Lmod.
READERS = {
    "Environment Modules": shutil.which("modulecmd"),
    "Lmod": shutil.which("lmod", path="/usr/share/lmod/lmod/libexec"),
}


@pytest.mark.parametrize("reader", ["this test", *READERS])
def test_it_runs_from_the_module_file_with_nothing_else(reader, prefix, tmp_path):
    text = module_file(prefix)
    if reader == "this test":
        variables = loaded(text)
    elif READERS[reader] is None:
        pytest.skip(f"{reader} is not installed")
    else:
        variables = loaded_by_modules(text, tmp_path, READERS[reader])
    assert variables["PATH"] == f"{prefix}/bin:{SYSTEM}"
    pages, *others = variables["MANPATH"].split(":")
    assert pages == f"{prefix}/share/man"
    assert set(others) == {""}  # the pages of the system; Lmod names them twice
    commands = re.search(r"^```bash\n(.*?)^```", PAGE, re.M | re.S)[1]
    environment = {**variables, **OPEN_MPI, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    script = ["bash", "-ec", f"{commands}\nbench_host --check 8"]
    done = subprocess.run(
        script, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert len(checksums(done.stdout)) == 1
    assert (tmp_path / "out" / "two-ranks" / "record.json").is_file()


def test_pkg_config_and_cmake_find_programs_and_profiles(prefix, tmp_path):
    variables = loaded(module_file(prefix))
    environment = {"PKG_CONFIG_PATH": variables["PKG_CONFIG_PATH"]}
    for name, expected in (("miniapp", "bin/miniapp"), ("machines", "share/spikemark/machines")):
        found = run("pkg-config", f"--variable={name}", "spikemark", **environment)
        path = Path(found.stdout.strip().replace("\\ ", " "))
        assert path.samefile(prefix / expected)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\n"
        "project(user LANGUAGES NONE)\n"
        "find_package(spikemark 2 REQUIRED)\n"
        "foreach(name miniapp bench_exchange bench_host bench_messages)\n"
        "  get_target_property(place spikemark::${name} IMPORTED_LOCATION_RELEASE)\n"
        "  message(STATUS found=${place})\n"
        "endforeach()\n"
        "message(STATUS found=${SPIKEMARK_MACHINES})\n"
    )
    paths = {"CMAKE_PREFIX_PATH": variables["CMAKE_PREFIX_PATH"]}
    done = run("cmake", "-S", tmp_path, "-B", tmp_path / "build", **paths)
    assert done.returncode == 0, done.stderr
    places = re.findall(r"found=(.*)", done.stdout)
    assert len(places) == 5 and all(Path(place).exists() for place in places)
    assert all(Path(place).is_relative_to(prefix) for place in places)
