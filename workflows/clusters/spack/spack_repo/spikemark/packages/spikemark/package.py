"""Spack recipe of Spikemark: the mini-app with compiler and MPI of a site, and the command `spikemark`."""

import json
from pathlib import Path

from spack.package import (
    depends_on,
    install_tree,
    license,
    mkdirp,
    run_after,
    symlink,
    version,
    which,
    working_dir,
)
from spack_repo.builtin.build_systems.generic import Package

CHECKOUT = Path(__file__).resolve().parents[7]


class Spikemark(Package):
    """Benchmarks and performance models around a compact spiking-network simulator.

    It is built from the branch `main` of the checkout that holds this recipe, and installed as a checkout in
    share/spikemark. Python packages come from PyPI at the versions of setup/constraints.txt, so
    `spack install` needs the network. The simulator for simulated clusters is not built.
    """

    homepage = CHECKOUT.as_uri()
    git = CHECKOUT.as_uri()
    license("Apache-2.0")

    version("main", branch="main")

    # The packages of setup/apt.txt; tests/test_setup.py keeps the lists in step.
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("git", type="build")
    depends_on("mpi@3.1:")
    depends_on("jansson")
    depends_on("random123", type="build")
    depends_on("hwloc")
    depends_on("papi")
    depends_on("benchmark")
    depends_on("cmocka", type="test")
    depends_on("valgrind", type="run")
    depends_on("python@3.11:", type=("build", "run"))

    def install(self, spec, prefix):
        """Builds in the folder of the installation, where `spikemark` looks for its programs."""
        root = prefix.share.spikemark
        install_tree(".", root)
        with working_dir(root):
            # Spack's compilers add the options for the processor themselves.
            cmake = which("cmake", required=True)
            cmake("-S", ".", "-B", "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSPIKEMARK_ARCH=")
            cmake("--build", "build")
            which("python3", required=True)("-m", "venv", ".venv")
            pip = which(".venv/bin/pip", required=True)
            pip("install", "-c", "setup/constraints.txt", "-e", ".[workflow]")
        mkdirp(prefix.bin)
        for program in ("build/miniapp", ".venv/bin/spikemark"):
            symlink(f"{root}/{program}", f"{prefix.bin}/{Path(program).name}")

    @run_after("install")
    def check_install(self):
        """Runs the tests in C, with `spack install --test=root spikemark`."""
        if self.run_tests:
            tests = ("--test-dir", "build", "--label-exclude", "mpi", "--output-on-failure")
            with working_dir(self.prefix.share.spikemark):
                which("ctest", required=True)(*tests)

    def test_smoke(self):
        """Runs the smoke experiment, checks that equal networks found equal spikes, prints the figures."""
        spikemark = which(f"{self.prefix.bin}/spikemark", required=True)
        spikemark("sweep", "smoke", "--machine", "here", "--results", "results")
        figures = spikemark("export", "results/smoke/here", "--format", "figures", output=str.split)
        print(figures)
        lines = [json.loads(line) for line in figures.splitlines()]
        assert all(line["checksums_agree"] for line in lines), "checksums differ"
