"""The lists of required packages (apt, PyPI, conda, Spack) agree."""

import re
import subprocess
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]

# What one package of Debian is called on conda-forge, where the name differs or the contents are spread.
APT_TO_CONDA = {
    "build-essential": {"c-compiler", "cxx-compiler", "make"},
    "ninja-build": {"ninja"},
    "libopenmpi-dev": {"openmpi"},
    "openmpi-bin": {"openmpi"},
    "libjansson-dev": {"jansson"},
    "librandom123-dev": {"random123"},
    "libhwloc-dev": {"libhwloc"},
    "libpapi-dev": {"papi"},
    "libbenchmark-dev": {"benchmark"},
    "libcmocka-dev": {"cmocka"},
    "libsimgrid-dev": set(),  # not there: simulated clusters need Debian's, or one of simgrid.org
    "python3-venv": {"python", "pip"},
}
# The same in the Spack recipe; its compilers bring a make.
APT_TO_SPACK = {
    "build-essential": {"c", "cxx"},
    "ninja-build": {"ninja"},
    "pkg-config": {"pkgconfig"},
    "libopenmpi-dev": {"mpi"},
    "openmpi-bin": {"mpi"},
    "libjansson-dev": {"jansson"},
    "librandom123-dev": {"random123"},
    "libhwloc-dev": {"hwloc"},
    "libpapi-dev": {"papi"},
    "libbenchmark-dev": {"benchmark"},
    "libcmocka-dev": {"cmocka"},
    "libsimgrid-dev": set(),  # the recipe builds no simulated clusters
    "python3-venv": {"python"},
}
SPACK = ROOT / "workflows" / "clusters" / "spack" / "spack_repo" / "spikemark" / "packages" / "spikemark"
# Packages with fewer dependencies of their own, and `arch`, which conda-forge calls otherwise.
PYPI_TO_CONDA = {
    "arch": "arch-py",
    "matplotlib": "matplotlib-base",
    "seaborn": "seaborn-base",
    "snakemake": "snakemake-minimal",
}


def requirement(line: str) -> tuple[str, str]:
    """Name and version condition of 'name>=1' and of 'name >=1'."""
    name, condition = re.fullmatch(r"([A-Za-z0-9_-]+)\s*(.*)", line).groups()
    return name.lower(), condition


def apt() -> list[str]:
    lines = (ROOT / "setup" / "apt.txt").read_text().splitlines()
    return [name for line in lines if (name := line.split("#")[0].strip())]


def project() -> dict:
    return tomllib.loads((ROOT / "analysis" / "pyproject.toml").read_text())


def pypi() -> dict[str, str]:
    """What setup/install.sh asks pip for: the package, its extras workflow and dev, and the build system."""
    extras = project()["project"]["optional-dependencies"]
    lines = [*project()["project"]["dependencies"], *extras["workflow"], *extras["dev"]]
    return dict(requirement(line) for line in [*lines, *project()["build-system"]["requires"]])


def conda() -> dict[str, str]:
    lines = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    (from_pypi,) = (line["pip"] for line in lines if isinstance(line, dict))
    return dict(
        requirement(line) for line in [*(line for line in lines if isinstance(line, str)), *from_pypi]
    )


def test_conda_offers_what_apt_and_pypi_do_and_nothing_else():
    system = set().union(*(APT_TO_CONDA.get(name, {name}) for name in apt()))
    python = {PYPI_TO_CONDA.get(name, name) for name in pypi()}
    assert set(conda()) == system | python


def test_spack_offers_what_apt_does_and_nothing_else():
    recipe = (SPACK / "package.py").read_text()
    asked = re.findall(r'^    depends_on\("([a-z0-9-]+)', recipe, re.M)
    assert len(asked) == len(set(asked)) == recipe.count(" depends_on(")
    assert set(asked) == set().union(*(APT_TO_SPACK.get(name, {name}) for name in apt()))


def test_conda_and_pypi_ask_for_the_same_versions():
    offered = conda()
    wanted = {PYPI_TO_CONDA.get(name, name): condition for name, condition in pypi().items()}
    assert {name: offered[name] for name in wanted} == wanted
    assert offered["python"] == project()["project"]["requires-python"]


def test_every_requirement_is_pinned():
    pins = dict(
        re.findall(r"^([A-Za-z0-9_.-]+)==(\S+)$", (ROOT / "setup" / "constraints.txt").read_text(), re.M)
    )
    pinned = {name.lower() for name in pins}
    build_only = {requirement(line)[0] for line in project()["build-system"]["requires"]}
    assert set(pypi()) - build_only <= pinned


def test_every_apt_package_says_what_for():
    lines = [
        line for line in (ROOT / "setup" / "apt.txt").read_text().splitlines() if not line.startswith("#")
    ]
    assert [line for line in lines if line and not re.fullmatch(r"[a-z0-9.+-]+\s+# \S.*", line)] == []


def test_setup_and_project_name_one_oldest_python():
    named = re.search(r"oldest='([\d.]+)'", (ROOT / "setup" / "install.sh").read_text()).group(1)
    assert project()["project"]["requires-python"] == f">={named}"


def test_there_is_one_version():
    """The package states it and CMake reads it there; the citation and the changelog agree."""
    version = re.search(
        r'^__version__ = "(.*)"$', (ROOT / "analysis" / "spikemark" / "__init__.py").read_text(), re.M
    ).group(1)
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.M).group(1)
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == version == newest
    built = subprocess.run(
        [ROOT / "build" / "miniapp", "--version"], capture_output=True, text=True, check=True
    )
    assert built.stdout.startswith(f"miniapp {version}, ")
