"""The Makefile carries out every part of the tests, fails if one did, and never passes what it left out."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
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


@pytest.fixture
def make(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "GNUmakefile").write_text(PARTS)
    (tmp_path / "python").symlink_to(shutil.which("false"))
    return lambda *arguments: subprocess.run(
        ["make", "--silent", "SIMULATOR=", *arguments], cwd=tmp_path, capture_output=True, text=True
    )


@pytest.mark.parametrize("target", [("test", "TEST_PARTS"), ("test-nightly", "NIGHTLY_PARTS")])
@pytest.mark.parametrize(
    ("parts", "failed"), [("first last", None), ("third second last", "make: failed: third second")]
)
def test_every_part_is_carried_out_and_those_that_failed_are_named_last(target, parts, failed, make):
    done = make(target[0], f"{target[1]}={parts}")
    assert done.stdout.splitlines() == [f"{part} was tested" for part in parts.split()]
    assert (done.returncode == 0) == (failed is None)
    assert failed is None or failed in done.stderr.splitlines()


def test_without_slurm_its_tests_do_not_pass(make):
    assert make("test-slurm").returncode == 2
