"""docs/nest.md: the scripts there, the answer, and the prediction are those of the present code."""

import re
import textwrap
from pathlib import Path

import pytest

from spikemark.records import imported
from spikemark.waiting import PREDICTORS
from spikemark.waiting.source import source

DATA = Path(__file__).parents[2] / "data"
DOCS = Path(__file__).parents[4] / "docs"
PAGE = (DOCS / "nest.md").read_text(encoding="utf-8")
CHECK = (DOCS / "nest-check.md").read_text(encoding="utf-8")


def blocks(text: str) -> list[str]:
    """Indented blocks, with every stretch of white space as one space."""
    found = re.findall(r"(?:^    .*\n)+", text, re.M)
    return [" ".join(one.split()) for one in found]


def test_the_answer_is_what_advise_prints(spikemark, tmp_path, undrawn):
    files = sorted((DATA / "nest-3.10").glob("*.npz"))
    assert spikemark("import", "cycles", *files, "--out", tmp_path / "mine", "--skip", "100")[0] == 0
    _, output, _ = spikemark("advise", tmp_path / "mine")
    printed = " ".join(output.split())
    first, second = blocks(PAGE[PAGE.index("This is how the answer begins") :])[:2]
    assert first.count("█") > 20 and first in printed
    assert second.startswith("Measure next") and second in printed


def test_the_network_to_try_it_with_is_python():
    indented = re.search(r"put this before them:\n\n((?:    .*\n|\n)+)", PAGE).group(1)
    script = textwrap.dedent(indented)
    compile(script, "docs/nest.md", "exec")
    assert script.count("nest.Simulate(") == 2


def test_the_prediction_on_the_stored_stretch_lies_in_the_range_of_the_table(tmp_path):
    files = sorted((DATA / "nest-3.10-two-ranks").glob("*.npz"))
    about = {"files": ["two"], "unit": "s", "skipped": 0, "cycle_ms": None}
    fitted = source(imported.save(tmp_path / "two", imported.read(files, None), about))
    made = PREDICTORS["replay"].fit(fitted).predict("structure_aware", 10)
    line = next(line for line in CHECK.splitlines() if line.startswith("| NEST, 150 |"))
    low, high = (
        float(x.replace("−", "-")) / 100 for x in re.search(r"\((−[\d.]+) to (−[\d.]+)\)", line).groups()
    )
    change = made.runtime_s / made.cycles / fitted.cycle.value - 1
    assert low - 5e-4 <= change <= high + 5e-4
    assert change == pytest.approx(-0.107, abs=0.001)
