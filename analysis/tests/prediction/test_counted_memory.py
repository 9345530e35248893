"""The mini-app counts memory as a single process, in a folder of its own."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from spikemark.core.single_process import session_in
from spikemark.network.presets import mam_benchmark
from spikemark.prediction import memory


@pytest.fixture
def sessions(tmp_path, monkeypatch):
    """The folders that processes were given, each of which has to exist at its start."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    memory._explained.cache_clear()
    folders = []
    run = memory.subprocess.run

    def noted(command, **options):
        variables = options["env"]
        [folder] = {variables[name] for name in session_in(Path("any"))}
        assert Path(folder).is_dir() and Path(folder).parent == tmp_path
        folders.append(folder)
        done = run(command, **options)
        made = [entry for entry in Path(folder).iterdir() if entry.name != "run.json"]
        assert all(entry.is_dir() for entry in made)
        return done

    monkeypatch.setattr(memory.subprocess, "run", noted)
    yield folders
    memory._explained.cache_clear()


def test_processes_side_by_side_share_no_folder(sessions, tmp_path):
    description = mam_benchmark.describe(areas=2, neurons_per_area=500, indegree=50)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(memory.of_run, description, ranks, 1) for ranks in range(1, 13)]
        sizes = [len(answer.result().most) for answer in asked]
    assert sizes == list(range(1, 13))
    assert len(set(sessions)) == len(sessions) == 12
    assert not list(tmp_path.iterdir())  # nothing is left
