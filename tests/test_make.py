"""The Makefile carries out every part of the tests, fails if one did, and never passes what it left
out.
"""

import shutil
import subprocess

import pytest
from checkout import ROOT

# Parts that only say that they were carried out; the second and the third fail. No Slurm is there.
PARTS = """
include Makefile
BIN := .
system setup setup-tests build openmpi5 build/build.ninja:
	@:
first second third last:
	@echo $@ was tested
	@[ $@ != second -a $@ != third ]
"""


@pytest.mark.parametrize(
    ("target", "named"), [("test", "TEST_PARTS"), ("test-nightly", "NIGHTLY_PARTS")]
)
def test_every_part_is_carried_out_and_those_that_failed_are_named_last(target, named, tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "GNUmakefile").write_text(PARTS)
    (tmp_path / "python").symlink_to(shutil.which("false"))

    def make(*arguments):
        command = ["make", "--silent", "SIMULATOR=", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    for parts, failed in (
        ("first last", None),
        ("third second last", "make: failed: third second"),
    ):
        done = make(target, f"{named}={parts}")
        assert done.stdout.splitlines() == [f"{part} was tested" for part in parts.split()]
        assert (done.returncode == 0) == (failed is None)
        assert failed is None or failed in done.stderr.splitlines()
    assert make("test-slurm").returncode == 2
