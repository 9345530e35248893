"""Every module that reads files of others is reached by a reader that is fuzzed."""

import ast
import sys
from pathlib import Path

import changed
import pytest
import readers

import spikemark

PACKAGE = Path(spikemark.__file__).parent
#: What reads files, in `spikemark.core`.
CORE = {"reading": {"read_text", "read_json"}, "npy": {"read_npy"}, "npz": {"read_npz"},
        "yaml_file": {"read_yaml", "read_json_or_yaml"}}  # fmt: skip
#: Modules that read nothing but what they, or programs that they have just started, wrote themselves.
OWN = {
    "bench/kept.py": "reads tables, which are fuzzed; read_json is for the program that it has just run",
    "calibration/kernel_runs.py": "the output of the program that it has just run",
    "caches/callgrind.py": "the output of the program that it has just run",
    "documents/stored.py": "files of the checkout",
    "documents/faults/subjects.py": "records that it has just made",
    "documents/faults/tender_subjects.py": "folders that it has just made",
    "running/dry_run/carry_out.py": "its own folder, which dry_run and dry_rank read, too",
    "running/noise.py": "the output of the program that it has just run",
    "running/simulation/run.py": "whether it has made this run before",
    "studies/bath/kept.py": "what the study has kept",
    "studies/partition_du/placements.py": "what the study has kept",
    "studies/routing/loads.py": "what the study has kept",
    "studies/routing/replays.py": "what the study has kept",
    "tender/answering.py": "its own choices, and a bundle that bundle.py has read",
    "tender/measure.py": "a bundle that bundle.py has read",
    "tender/projection.py": "a bundle that bundle.py has read",
}


def _reading() -> set[str]:
    """Modules that call a reader of `spikemark.core`."""
    found = set()
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text())
        imported = {
            name.asname or name.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("spikemark.core.")
            for name in node.names
            if name.name in CORE.get(node.module.rsplit(".", 1)[1], ())
        }
        called = {
            n.func.id for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        if imported & called:
            found.add(str(path.relative_to(PACKAGE)))
    return found


def _reached(folder: Path) -> set[str]:
    """Modules that call a reader of `spikemark.core` while unchanged files are read."""
    core, callers = str(PACKAGE / "core"), set()
    wanted = {
        (str(PACKAGE / "core" / f"{module}.py"), name) for module, names in CORE.items() for name in names
    }

    def look(frame, event, _) -> None:
        if event == "call" and (frame.f_code.co_filename, frame.f_code.co_name) in wanted:
            while frame is not None and frame.f_code.co_filename.startswith(str(core)):
                frame = frame.f_back
            callers.add(frame.f_code.co_filename)

    for name in readers.READERS:
        files = changed.Files(name, folder)
        sys.setprofile(look)
        try:
            files.reader.read(files.copy)
        finally:
            sys.setprofile(None)
    return {str(Path(name).relative_to(PACKAGE)) for name in callers if name.startswith(f"{PACKAGE}/")}


@pytest.mark.slow
def test_every_module_that_reads_files_is_fuzzed(tmp_path):
    reading, reached = _reading(), _reached(tmp_path)
    assert reading - reached - OWN.keys() == set(), "readers that no entry of READERS reaches"
    assert OWN.keys() - reading == set(), "modules that read nothing (any more)"
