"""The Makefile: `make test` compiles beside downloads, carries out every part, and fails if one did."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Parts that only say that they were carried out; the second and the third fail.
PARTS = """
include Makefile
system setup build openmpi5 build/build.ninja:
	@:
first second third last:
	@echo $@ was tested
	@[ $@ != second -a $@ != third ]
"""


# Fetching ends only if compiling begins beside it.
BESIDE = """
include Makefile
system openmpi5 nothing build/build.ninja:
	@:
setup:
	@timeout 60 sh -c 'until [ -e compiled ]; do sleep 0.01; done'
build:
	@touch compiled
"""


@pytest.mark.parametrize(
    ("parts", "failed"),
    [("first last", ""), ("first second last", " second"), ("third second", " third second")],
)
def test_every_part_is_carried_out_and_those_that_failed_are_named_last(parts, failed, tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "GNUmakefile").write_text(PARTS)
    command = ["make", "--silent", "test", "SIMULATOR=", f"TEST_PARTS={parts}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.splitlines() == [f"{part} was tested" for part in parts.split()]
    assert (done.returncode == 0) == (not failed)
    said = [line for line in done.stderr.splitlines() if line.startswith("make: failed:")]
    assert said == ([f"make: failed:{failed}"] if failed else [])


def test_compiling_does_not_wait_for_packages_of_python(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "GNUmakefile").write_text(BESIDE)
    command = ["make", "--silent", "test", "SIMULATOR=", "TEST_PARTS=nothing"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
