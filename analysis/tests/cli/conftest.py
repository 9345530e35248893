"""A run and a dry run that several commands are asked about."""

import json

import dry_folder
import machine_file
import pytest
from synthetic import write_run


@pytest.fixture(scope="module")
def conventional(tmp_path_factory):
    return str(
        write_run(tmp_path_factory.mktemp("run"), ranks=4, cycles=2000, ar1=0.5, rank_sd=0.02)
    )


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A network, a machine whose every value is known, and the dry run of three of eight ranks."""
    run, profile = tmp_path / "run.json", tmp_path / "made-up.yaml"
    run.write_text(json.dumps(dry_folder.description()))
    machine_file.write(profile)
    dry_folder.in_process(monkeypatch, rank_sd=0.02)
    return {"run": run, "machine": profile, "out": tmp_path / "out"}


@pytest.fixture
def done(files, spikemark):
    assert (
        spikemark("dryrun", files["run"], "--of", 8, "--sample", 3, "--out", files["out"])[0] == 0
    )
    return files
