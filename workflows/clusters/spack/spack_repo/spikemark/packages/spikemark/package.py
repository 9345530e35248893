"""Spack recipe: the mini-app and its benchmarks, with compiler and MPI of a site.

It builds from an archive of the sources beside the checkout's README, which this makes:

    git archive --prefix=spikemark-2.0.0/ --output=spikemark-2.0.0.tar.gz HEAD
"""

from pathlib import Path

from spack.package import depends_on, generator, license, variant, version
from spack_repo.builtin.build_systems.cmake import CMakePackage

CHECKOUT = Path(__file__).resolve().parents[7]


class Spikemark(CMakePackage):
    """A spiking network that times every phase of every cycle on every rank.

    Also installs benchmarks of its kernels and exchanges, machine profiles and a man page. The
    command `spikemark` is a Python package of its own: `pip install` the same archive.
    """

    homepage = CHECKOUT.as_uri()
    url = (CHECKOUT / "spikemark-2.0.0.tar.gz").as_uri()
    license("Apache-2.0")

    version("2.0.0")

    variant("papi", default=True, description="Hardware counters")
    variant("kernels", default=True, description="Benchmark of the kernels (Google Benchmark)")

    # The packages of setup/apt.txt that the mini-app needs; tests/test_setup.py compares the lists.
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi@3.1:")
    depends_on("jansson")
    depends_on("random123", type="build")
    depends_on("hwloc")
    depends_on("papi", when="+papi")
    depends_on("benchmark", when="+kernels")

    generator("ninja")

    def cmake_args(self):
        """Spack's compilers add the options for the processor themselves."""
        return [
            self.define("SPIKEMARK_ARCH", ""),
            self.define("BUILD_TESTING", False),
            self.define("RANDOM123_INCLUDE", self.spec["random123"].prefix.include),
        ]
