"""What other programs disturbed is measured again, up to a limit; nothing else ever is."""

import json

import swept

from spikemark.running import sweeps


def loaded(results, runs, loads):
    """Records of all runs, of which some ran beside other programs."""
    for run in runs:
        swept.write(results, run, host__foreign_load=loads.get(run.seed, 0.0))


def test_the_worst_are_measured_again_until_the_limit(tmp_path, monkeypatch):
    results, runs = swept.planned(tmp_path, seeds=[1, 2, 3, 4])
    loaded(results, runs, {1: 0.5, 2: 0.9, 4: 0.7})
    by_seed = {run.seed: run.id for run in runs}
    kept = {id: json.loads((results.run(id) / "record.json").read_text()) for id in by_seed.values()}
    measured = []

    def measure(experiment, runs, results, stream):
        for run in runs:
            if not results.measured(run.id):
                measured.append(run.id)
                swept.write(results, run, host__foreign_load=0.8 if run.seed == 2 else 0.6)
        return sweeps.Outcome(results, len(runs))

    monkeypatch.setattr(sweeps, "_measure", measure)
    monkeypatch.setattr(sweeps.places, "program", lambda _: None)
    experiment = swept.Experiment.model_validate(swept.PLAIN | {"seeds": [1, 2, 3, 4]})
    for again, expected in ((0, []), (2, [2, 4]), (2, []), (3, [2])):
        measured.clear()
        sweeps.sweep(experiment, runs, results, lambda _: None, again=again)
        assert set(measured) == {by_seed[seed] for seed in expected} or (again == 3 and len(measured) == 1)
        assert results.aside() <= again or again == 0
    aside = sorted(path.name for path in (results.path / "runs-disturbed").iterdir())
    assert len(aside) == 3 and f"{by_seed[2]}-1" in aside and f"{by_seed[4]}-1" in aside
    calm = results.run(by_seed[3]) / "record.json"
    assert json.loads(calm.read_text()) == kept[by_seed[3]]


def test_more_threads_than_cores_are_not_measured_again(tmp_path):
    results, runs = swept.planned(tmp_path, seeds=[1])
    swept.write(results, runs[0], host__foreign_load=0.9, warnings=["oversubscribed: 2 ranks on 1 core"])
    assert sweeps.disturbed(results, runs, 5) == []


def test_a_record_stays_where_measuring_again_fails(tmp_path, monkeypatch):
    results, runs = swept.planned(tmp_path, seeds=[1])
    loaded(results, runs, {1: 0.5})
    monkeypatch.setattr(sweeps.places, "program", lambda _: None)
    outcomes = [sweeps.Outcome(results, 1), sweeps.Outcome(results, 1, {"x": "killed"})]
    monkeypatch.setattr(sweeps, "_measure", lambda *_: outcomes.pop(0))
    experiment = swept.Experiment.model_validate(swept.PLAIN | {"seeds": [1]})
    assert sweeps.sweep(experiment, runs, results, lambda _: None, again=2).status == 1
    assert results.measured(runs[0].id) and outcomes == []
