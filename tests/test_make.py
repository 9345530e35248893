"""The Makefile: `make test` carries out every part, and fails if one of them did."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Parts that only say that they were carried out; the second and the third fail.
PARTS = """
include Makefile
setup build build/build.ninja:
	@:
first second third last:
	@echo $@ was tested
	@[ $@ != second -a $@ != third ]
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
