"""Intervals come from a clock that nobody sets; the clock of the system only says when something was."""

import ast
from pathlib import Path

import spikemark

PACKAGE = Path(spikemark.__file__).parent
#: Modules that read the clock of the system, and what for.
DATED = {
    "bench/exchange_bench.py": "a stamp in the name of a file",
    "bench/kernel_bench.py": "a stamp in the name of a file",
    "bench/peers/runner.py": "when a trial began, for readers",
    "calibration/session.py": "when a calibration began, for readers",
    "core/lock.py": "since when a command holds a lock, for readers",
    "documents/keep.py": "the date in a caption",
    "prediction/ledger/entry.py": "when a prediction was frozen; the chain refuses times that run backwards",
    "running/jobs.py": "when a job ended; how long it took comes from another clock",
    "running/measure.py": "when a run began, beside wall_s of another clock",
    "running/noise.py": "when noise was measured, for readers",
    "tender/answer.py": "when an answer was made, for readers",
    "tender/new.py": "when a bundle was made, for readers",
}
CLOCK = {("time", "time"), ("time", "time_ns"), ("time", "strftime"), ("datetime", "now"), ("date", "today")}


def _read(path: Path) -> set[tuple[str, str]]:
    """The calls in a module that read the clock of the system."""
    called = (node.func for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    found = set()
    for function in called:
        if isinstance(function, ast.Attribute):
            of = function.value
            owner = of.attr if isinstance(of, ast.Attribute) else getattr(of, "id", "")
            found |= {(owner, function.attr)} & CLOCK
    return found


def test_the_clock_of_the_system_is_read_only_where_a_date_is_wanted():
    modules = {str(path.relative_to(PACKAGE)): path for path in PACKAGE.rglob("*.py")}
    assert {name for name, path in modules.items() if _read(path)} == DATED.keys()
