"""The one list of the files of a run."""

import pytest
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.records import run_files
from spikemark.records.record import load


def test_a_record_holds_nothing_else(tmp_path):
    description = {**write_run_description(tmp_path), "record": {"spikes": True}}
    run = write_run(tmp_path / "run", description=description)
    assert run_files.whole(run)
    assert {path.name for path in run.iterdir()} <= run_files.FILES.keys()
    assert run_files.foreign(run) == []


def write_run_description(tmp_path) -> dict:
    return load(write_run(tmp_path / "first")).record.description


def test_what_belongs_to_no_run_is_named_in_order(tmp_path):
    for name in ("notes.txt", ".hidden", *run_files.FILES):
        (tmp_path / name).touch()
    assert run_files.foreign(tmp_path) == [".hidden", "notes.txt"]
    assert run_files.foreign(tmp_path / "nowhere") == []
    assert not run_files.whole(tmp_path / "nowhere")


@pytest.mark.parametrize(("text", "reason"), [("{", "truncated"), ("[]", "holds list")])
def test_a_damaged_account_of_the_simulation_is_bad_input(tmp_path, text, reason):
    run = write_run(tmp_path / "run")
    assert load(run).simulation is None
    (run / run_files.SIMULATION).write_text('{"machine": "jureca-dc"}')
    assert load(run).simulation == {"machine": "jureca-dc"}
    (run / run_files.SIMULATION).write_text(text)
    with pytest.raises(BadInput, match=rf"simulation\.json.*{reason}"):
        load(run)
