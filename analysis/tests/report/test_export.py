"""`spikemark export --format figures`: the figures of merit of a sweep."""

import json

import pytest
import swept

from spikemark.core.errors import BadInput
from spikemark.records.frames import load_folder
from spikemark.records.results import load_planned
from spikemark.report.export import FORMATS, NO_RANK

GRID = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]


@pytest.fixture
def results(tmp_path):
    """Two configurations of two schedules on one and two ranks, three seeds of each."""
    found, runs = swept.planned(tmp_path, grid=GRID, ranks=[1, 2], seeds=[1, 2, 3], repetitions=2)
    for run in runs:
        swept.write(found, run)
    return found


def exported(results, *only):
    text, complaints = FORMATS["figures"](load_folder(results.path), only)
    assert text.endswith("\n")
    return {line["configuration"]: line for line in map(json.loads, text.splitlines())}, complaints


def test_each_configuration_has_a_line_with_means_over_its_runs(results):
    lines, complaints = exported(results)
    schedules = ("conventional", "structure_aware D=5", "structure_aware D=10")
    assert set(lines) == {f"{schedule} ranks={ranks}" for schedule in schedules for ranks in (1, 2)}
    assert complaints == []
    for line in lines.values():
        assert (line["runs"], line["checksums_agree"]) == (6, True)
        own = [
            load_planned(results, planned)
            for planned in results.read_plan().runs
            if planned.label.startswith(line["configuration"] + " ")
        ]
        found = {name: [figure(run) for run in own] for name, figure in PLAIN.items()}
        for name, values in found.items():
            if name == "waiting_share" and line["ranks"] == 1:
                assert (line[name]["value"], line[name]["reason"]) == (None, NO_RANK)
                continue
            assert line[name]["value"] == pytest.approx(sum(values) / len(values))
            low, high = line[name]["interval"]
            assert low <= line[name]["value"] <= high
            assert line[name]["kind"] == "measured"


#: The figures once more, from the files.
PLAIN = {
    "real_time_factor": lambda run: run.record.timing.simulate_s / run.record.timing.model_s,
    "time_per_synaptic_event": lambda run: (
        run.record.timing.simulate_s / run.ranks.synaptic_events.sum() * 1e9
    ),
    "waiting_share": lambda run: (
        run.phase("synchronise").sum(axis=1).mean(dtype=float) / run.record.timing.simulate_s
    ),
}


def test_a_wrong_checksum_shows_in_every_line_of_its_network(results):
    run = next(
        run
        for run in swept.planned(
            results.path, grid=GRID, ranks=[1, 2], seeds=[1, 2, 3], repetitions=2
        )[1]
    )
    swept.write(results, run, checksum="0123456789abcdef")
    lines, complaints = exported(results)
    assert {line["checksums_agree"] for line in lines.values()} == {False}
    assert "CHECKSUMS DIFFER" in complaints[0]


def test_failed_and_missing_runs_are_complaints(tmp_path):
    results, runs = swept.planned(tmp_path, seeds=[1, 2, 3])
    with pytest.raises(BadInput, match=r"no record with figures; conventional.*: not run yet"):
        exported(results)
    swept.write(results, runs[0])
    results.failure(runs[1].id).parent.mkdir(exist_ok=True)
    results.failure(runs[1].id).write_text("killed\n")
    _, complaints = exported(results)
    assert complaints == [f"{runs[1].label}: failed: killed", f"{runs[2].label}: not run yet"]


@pytest.mark.parametrize("form", sorted(FORMATS.keys() - {"csv"}))
def test_every_form_but_a_table_is_lines_of_json_and_ends_with_complaints(results, form):
    text, complaints = FORMATS[form](load_folder(results.path), ("schedule=structure_aware",))
    assert all(isinstance(json.loads(line), dict) for line in text.splitlines())
    assert complaints == []
