"""The Makefile: `make test` carries out every part in its order, and fails if one of them did."""

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


# Each part says when it begins and ends; the one beside the others ends only when one of those has begun.
LASTING = """
include Makefile
setup build build/build.ninja:
	@:
first second:
	@echo $@ begins >>order; touch $@-began; sleep 0.1; echo $@ ends >>order
last:
	@echo $@ begins >>order; echo $@ ends >>order
beside:
	@echo $@ begins >>order; until [ -e first-began ]; do sleep 0.01; done; echo $@ ends >>order
	@echo said; false
"""


def test_one_part_runs_beside_the_others_and_one_alone_after_all(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "GNUmakefile").write_text(LASTING)
    given = ["TEST_PARTS=first second beside last", "BESIDE=beside", "AT_THE_END=last", "SIMULATOR="]
    command = ["make", "--silent", "test", *given]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    order = (tmp_path / "order").read_text().splitlines()
    others = [line for line in order if "beside" not in line]
    assert others == [f"{part} {does}" for part in ("first", "second", "last") for does in ("begins", "ends")]
    assert order[-2:] == others[-2:]  # nothing is beside the last one
    assert order.index("beside ends") > order.index("first begins")
    assert "said" in done.stdout.splitlines()
    assert done.returncode != 0 and "make: failed: beside" in done.stderr
