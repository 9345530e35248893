"""What other programs disturbed is measured again, up to a limit; nothing else ever is."""

import json
import shutil

import pytest
import swept

from spikemark.running import sweeps


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Four runs, of which some ran beside other programs, and a sweep whose measuring is
    replaced.
    """
    results, runs = swept.planned(tmp_path, seeds=[1, 2, 3, 4])
    for run in runs:
        swept.write(results, run, host__foreign_load={1: 0.5, 2: 0.9, 4: 0.7}.get(run.seed, 0.0))
    monkeypatch.setattr(sweeps.places, "program", lambda _: None)
    experiment = swept.Experiment.model_validate(swept.PLAIN | {"seeds": [1, 2, 3, 4]})

    def again(most: int, measure, conclude=lambda _: None) -> sweeps.SweepOutcome:
        def stand_in(experiment, runs, results, *_):
            return sweeps.SweepOutcome(results, len(runs), measure() or {})

        monkeypatch.setattr(sweeps, "_measure", stand_in)
        return sweeps.sweep(experiment, runs, results, conclude, again=most)

    return results, runs, again


def test_the_worst_are_measured_again_until_the_limit(sweep):
    results, runs, again = sweep
    calm = results.run(next(run.id for run in runs if run.seed == 3)) / "record.json"
    kept = json.loads(calm.read_text())
    for most, expected in ((0, []), (2, [2, 4]), (2, []), (3, [2])):
        measured = []

        def measure(measured=measured):
            for run in runs:
                if not results.measured(run.id):
                    measured.append(run.seed)
                    swept.write(results, run, host__foreign_load=0.8 if run.seed == 2 else 0.6)

        again(most, measure)
        assert sorted(measured) == expected
    aside = {path.name for path in (results.path / "runs-disturbed").iterdir()}
    assert aside == {
        f"{run.id}-{n}" for run in runs for n in {2: (1, 2), 4: (1,)}.get(run.seed, ())
    }
    assert json.loads(calm.read_text()) == kept


def test_there_is_a_report_of_all_runs_before_some_are_measured_again(sweep, capsys):
    results, runs, again = sweep
    complete = []

    def conclude(outcome):
        complete.append(sum(results.measured(run.id) for run in runs))
        outcome.headline = "A is faster."

    def measure():
        for run in runs:
            if not results.measured(run.id):
                swept.write(results, run)

    again(1, measure, conclude)
    assert complete == [4, 4]
    lines = capsys.readouterr().out.splitlines()
    (so_far,) = [line for line in lines if "A is faster." in line]
    assert "report.html" in so_far
    assert lines.index(so_far) < len(lines) - 1


def test_more_threads_than_cores_are_not_measured_again(tmp_path):
    results, runs = swept.planned(tmp_path, seeds=[1])
    swept.write(
        results, runs[0], host__foreign_load=0.9, warnings=["oversubscribed: 2 ranks on 1 core"]
    )
    assert sweeps.disturbed(results, runs, 5) == []


def test_a_record_stays_where_measuring_again_fails(sweep):
    results, runs, again = sweep
    reasons = [{}, {"x": "killed"}]
    assert again(4, lambda: reasons.pop(0)).status == 1 and reasons == []
    assert all(results.measured(run.id) for run in runs)


@pytest.mark.parametrize(("disturbed", "expected"), [(3, []), (2, [1, 2])])
def test_a_busy_host_measures_nothing_again_until_the_next_call(disturbed, expected, sweep, capsys):
    results, runs, again = sweep
    for run in runs:
        shutil.rmtree(results.run(run.id))
    measured, ever = [], set()

    def measure():
        for run in runs:
            if not results.measured(run.id):
                is_first = run.seed not in ever
                ever.add(run.seed)
                measured.append(run.seed)
                load = 1.7 if run.seed <= disturbed and is_first else 0.0
                swept.write(results, run, host__foreign_load=load)

    again(4, measure)
    assert sorted(measured[len(runs) :]) == expected
    said = f"{disturbed} of {len(runs)}" in capsys.readouterr().out
    assert said == (not expected)
    del measured[: len(runs)]
    again(4, measure)
    assert sorted(measured) == list(range(1, disturbed + 1))  # at this call, or at the one before
    assert not sweeps.disturbed(results, runs, 4)
