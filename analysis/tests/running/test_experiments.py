"""Experiment files: expansion and order."""

import itertools
import json
import re
from pathlib import Path

import pytest
import swept
import yaml
from experiment_file import content, experiment
from hypothesis import given, settings
from hypothesis import strategies as st

from spikemark.core import digests
from spikemark.core.errors import BadInput
from spikemark.network import placement_file
from spikemark.network.named_files import with_content
from spikemark.network.placement_file import Placement
from spikemark.records import experiment_fields
from spikemark.records.results import Results
from spikemark.running import experiments, possible, sweeps
from spikemark.running.experiments import Experiment, expand, load_experiment

ROOT = Path(__file__).parents[3]
EXPERIMENTS = sorted(p.stem for p in (ROOT / "workflows" / "experiments").glob("*.yaml"))


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name == "mam" else ()) for name in EXPERIMENTS],
)
def test_every_experiment_is_possible(name):
    chosen = load_experiment(name)
    assert chosen.name == name
    runs = possible.sift(chosen, expand(chosen)).runs
    assert len({run.label for run in runs}) == len({run.id for run in runs}) == len(runs)


def test_ranks_and_threads_of_the_grid_take_the_place_of_the_others():
    runs = expand(experiment(grid=[{}, {"ranks": [4, 8], "threads": 2}], seeds=1))
    assert sorted((r.ranks, r.threads) for r in runs) == [(1, 1), (2, 1), (4, 2), (8, 2)]
    assert all(r.fields == {} for r in runs)


def test_digests_stay_as_they_were():
    """Of what defines the measurement: one that changes would make every user measure again.

    So earlier ids are found by the numbers as they were written.
    """
    (run,) = expand(experiment(grid=[{}], ranks=2, seeds=1))
    identity = {"description": run.description, "ranks": 2, "threads": 1, "repetition": 1}
    assert run.digest == digests.digest(identity)[:12]
    assert run.digest_as_written == digests.digest_as_written(identity)[:12]
    (given,) = expand(experiment(grid=[{}], ranks=2, seeds=1, ranks_per_node=1))
    assert given.digest == digests.digest({**identity, "ranks_per_node": 1})[:12]
    fixed = {
        "description": {"format_version": 1, "network": {"populations": []}},
        "ranks": 2,
        "threads": 1,
    }
    for digest in (digests.digest, digests.digest_as_written):
        assert digest(fixed | {"repetition": 1})[:12] == "be67d120bb7f"


NAMES = {  # by fields of the grid
    "conventional-r2-s3-": {"schedule": "conventional", "ranks": 2},
    "structure_aware-D10-r1-t2-s3-": {"schedule": "structure_aware", "threads": 2, "ranks": 1},
    "overlapped-Dauto-r2-s3-n2-": {
        "schedule": "overlapped",
        "lag": 1,
        "delay_ratio": "auto",
        "ranks": 2,
    },
    "lanes-D10-r2-s3-": {"schedule": [[{"name": "all"}]], "ranks": 2},
}


@pytest.mark.parametrize("name", NAMES)
def test_an_id_says_what_the_run_is(name):
    repetitions = 2 if "-n2-" in name else 1
    changes = {"set": {"delay_ratio": 10}, "seeds": 3, "repetitions": repetitions}
    runs = expand(experiment(grid=[NAMES[name]], ranks=1, **changes))
    run = next(run for run in runs if run.repetition == repetitions)
    assert run.id == f"{name}{run.digest[:8]}"


@pytest.mark.parametrize("name", [0, 1])
def test_a_record_under_an_earlier_name_is_found_and_counts_as_measured(tmp_path, name):
    chosen = Experiment.model_validate({**swept.PLAIN, "repetitions": 2})
    results, (first, second) = Results(tmp_path), expand(chosen)
    earlier = first.earlier_ids[name]
    swept.write(results, first).rename(results.runs / earlier)
    assert earlier not in (first.id, first.digest)
    assert [run.id for run in sweeps.planned(chosen, results).runs] == [earlier, second.id]
    answer = sweeps.dry_run(sweeps.planned(chosen, results).runs, results, [])
    assert answer.table["done"].sum() == 1


RATE = "network.populations.0.neuron.rate_hz"


def with_rate(rate_hz, **changes):
    """The runs of an experiment that sets a rate, by the values that the grid takes."""
    return expand(experiment(grid=[{RATE: rate_hz}], ranks=2, seeds=1, **changes))


@pytest.mark.parametrize("same", [4.0, float("4e0")])
def test_a_number_in_another_form_is_the_same_run(same):
    (run,), (other,) = with_rate(4), with_rate(same)
    assert (run.id, run.digest) == (other.id, other.digest)
    assert with_rate(4.5)[0].digest != run.digest
    with pytest.raises(BadInput, match="same run"):
        with_rate([4, same])


def test_the_name_of_a_run_has_one_form_of_a_number():
    changes = {"grid": [{"schedule": "structure_aware"}], "ranks": 2, "seeds": 3}
    runs = [expand(experiment(set={"delay_ratio": D}, **changes))[0] for D in (10, 10.0, 1e1)]
    assert len({run.id for run in runs}) == 1
    assert runs[0].id.startswith("structure_aware-D10-r2-s3-")


def test_a_number_in_another_form_of_a_simulated_run_is_the_same_run():
    machine = {"profile": "jureca-dc", "cv": 0.1}
    runs = [with_rate(4, machine={**machine, "correlation": form})[0] for form in (0, 0.0, -0.0)]
    assert len({run.id for run in runs}) == 1


SETTINGS = {  # what they give, of `changed`
    "repetitions=3": lambda changed: changed.repetitions == 3,
    "seeds=[4, 5]": lambda changed: changed.seeds == [4, 5],
    "time.simulate_ms=3e0": lambda changed: changed.set.get("time.simulate_ms") == 3.0,
    "preset.areas=3": lambda changed: changed.preset.options.get("areas") == 3,
    "machine.cv=0.2": lambda changed: changed.machine.cv == 0.2,
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings_change_one_field_and_nothing_else(setting):
    machine = {"machine": {"profile": "jureca-dc"}} if setting.startswith("machine") else {}
    chosen = experiment(**machine)
    changed = experiments.changed(chosen, experiments.parse_settings([setting]))
    assert SETTINGS[setting](changed) and not SETTINGS[setting](chosen)
    field = setting.partition("=")[0].partition(".")[0]
    differing = {
        name for name in Experiment.model_fields if getattr(changed, name) != getattr(chosen, name)
    }
    assert differing == {field if field in Experiment.model_fields else "set"}


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ("repetitions", "set"),
        ("repetitions=many", "repetitions"),
        ("tim.simulate_ms=3", "tim.simulate_ms"),
        ("foo=1", "foo"),
        ("grid.schedule=[conventional]", "grid.schedule"),
        ("repetition=3", "repetition"),
        ("schedule=conventional", "schedule"),  # the grid has it
        ("seeds=[1", None),
    ],
)
def test_settings_that_say_nothing_are_refused(setting, field):
    with pytest.raises(BadInput) as refused:
        values = experiments.parse_settings([setting])
        experiments.changed(experiment(grid=[{"schedule": "overlapped"}]), values)
    assert field is None or refused.value.field == field


@pytest.mark.parametrize("name", experiments.OFTEN_CHANGED)
def test_a_refused_setting_lists_what_a_sweep_is_changed_by(name):
    """Fields of the experiment as well as those of its description and options of its preset."""
    assert name in Experiment.model_fields
    with pytest.raises(BadInput) as refused:
        experiments.changed(experiment(), {"foo": 1})
    words = re.split(r"[ ,;:]+", str(refused.value))
    assert {name, "preset.OPTION", "machine.FIELD", "time"} <= set(words)
    with pytest.raises(BadInput) as refused:
        experiments.changed(experiment(), {name[:-1]: 1})
    assert name in str(refused.value).rpartition("did you mean")[2]


def test_a_refused_field_of_the_grid_lists_ranks_and_options_of_the_preset():
    with pytest.raises(BadInput) as refused:
        experiments.changed(experiment(), {"grid": [{"foo": [1]}]})
    words = re.split(r"[ ,;:]+", str(refused.value))
    assert {"ranks", "threads", "preset.OPTION"} <= set(words)


LAYOUTS = {
    "ranks_per_node": [1, 2],
    "distribution": ["block", "cyclic"],
    "binding": ["cores", "none"],
}


@pytest.mark.parametrize("field", experiment_fields.LAYOUT)
@pytest.mark.parametrize("place", ["experiment", "grid"])
def test_a_layout_is_part_of_the_run_where_it_is_given(field, place):
    values = LAYOUTS[field]
    given = {"grid": [{field: values}]} if place == "grid" else {"grid": [{}], field: values}
    runs = expand(experiment(**given, ranks=2, seeds=1))
    assert {getattr(run.layout, field) for run in runs} == set(values)
    assert {run.fields[field] for run in runs} == set(values)  # runs are told apart by what varied
    assert all(f"{field}={getattr(run, field)}" in run.label for run in runs)
    assert all(field not in run.description for run in runs)
    assert len({run.id for run in runs}) == len(runs) == len(values)
    assert all(run.without_description().keys() & LAYOUTS.keys() == {field} for run in runs)


def test_set_and_grid_reach_into_the_description_of_their_own_run():
    """A value that `set` gives as a whole is not changed by the fields of another run."""
    changes = {"time.simulate_ms": 40, "network.populations.1.size": 60, "record": {"cycles": True}}
    entry = {"network.populations.0.neuron.rate_hz": [7, 8], "preset.indegree": 20}
    grid = [entry | {"record.spikes": True}, {}]
    runs = expand(experiment(set=changes, grid=grid, ranks=1, seeds=1))
    (run,) = (run for run in runs if "rate_hz=7" in run.label)
    (plain,) = (run for run in runs if run.fields == {})
    description = run.description
    assert description["time"]["simulate_ms"] == 40
    assert [p["size"] for p in description["network"]["populations"]] == [50, 60]
    assert description["network"]["populations"][0]["neuron"]["rate_hz"] == 7
    assert description["record"] == {"cycles": True, "spikes": True}
    assert plain.description["record"] == {"cycles": True}
    assert sum(p["indegree"] for p in description["network"]["projections"]) == 2 * 20


def test_an_entry_may_take_another_preset():
    """The experiment's options are those of its own preset; what is set goes for all."""
    grid = [{"preset.name": "music-cells", "preset.rate": 7}, {"preset.name": "mam-benchmark"}, {}]
    runs = expand(experiment(grid=grid[:2], set={"record.spikes": True}, ranks=1, seeds=1))
    names = {run.label.split()[0]: run for run in runs}
    music, mam = names["music-cells"], names["mam-benchmark"]
    assert {p["neuron"]["rate_hz"] for p in music.description["network"]["populations"]} == {7}
    assert [p["size"] for p in mam.description["network"]["populations"]] == [50] * 2
    assert all(run.description["record"] == {"spikes": True} for run in runs)
    assert (music.label, mam.label) == (
        "music-cells rate=7 ranks=1 seed=1",
        "mam-benchmark ranks=1 seed=1",
    )
    (own,) = expand(experiment(grid=grid[2:], set={"record.spikes": True}, ranks=1, seeds=1))
    assert own.id == mam.id


def test_description_of_a_file(tmp_path):
    (tmp_path / "run.json").write_text(
        json.dumps({"format_version": 1, "time": {"simulate_ms": 1}})
    )
    (tmp_path / "x.yaml").write_text(
        yaml.safe_dump(content(preset=None, description="run.json", seeds=[4]))
    )
    runs = expand(load_experiment(tmp_path / "x.yaml"))
    assert {run.description["seed"] for run in runs} == {4}
    assert {run.description["time"]["simulate_ms"] for run in runs} == {1}


axes = st.fixed_dictionaries(
    {
        "ratios": st.lists(st.sampled_from([1, 2, 5, 10]), min_size=1, unique=True),
        "ranks": st.lists(st.integers(1, 8), min_size=1, max_size=3, unique=True),
        "seeds": st.lists(st.integers(0, 99), min_size=1, max_size=3, unique=True),
        "repetitions": st.integers(1, 3),
        "shuffle_seed": st.integers(0, 2**53),
    }
)


@settings(max_examples=25)
@given(axes, st.randoms())
def test_ids_are_unique_and_order_depends_only_on_the_seed(axes, random):
    ratios, rest = axes["ratios"], {k: v for k, v in axes.items() if k != "ratios"}
    entries = [{"schedule": "structure_aware", "delay_ratio": ratio} for ratio in ratios]
    runs = expand(experiment(grid=entries, **rest))
    assert (
        len({run.id for run in runs})
        == len(runs)
        == (len(ratios) * len(axes["ranks"]) * len(axes["seeds"]) * axes["repetitions"])
    )
    random.shuffle(entries)
    mixed = {**rest, "ranks": random.sample(axes["ranks"], len(axes["ranks"])), "title": "other"}
    again = expand(experiment(grid=entries, **mixed))
    assert [run.id for run in again] == [run.id for run in runs]
    fewer = expand(experiment(grid=entries[:1], **mixed))
    kept = {run.id for run in fewer}
    assert [run.id for run in runs if run.id in kept] == [run.id for run in fewer]


def test_what_is_compared_is_measured_together():
    runs = expand(experiment(seeds=[1, 2, 3], repetitions=2))
    blocks = [(run.seed, run.repetition) for run in runs]
    changes = sum(before != after for before, after in itertools.pairwise(blocks))
    assert changes == len(set(blocks)) - 1 == 5
    assert list(dict.fromkeys(blocks)) != sorted(set(blocks))


def test_a_placement_file_is_part_of_the_run_by_its_content(tmp_path):
    """Runs are told apart by what the file says, wherever it lies; the results folder keeps a
    copy.
    """
    files = {"one": [0, 1], "two": [1, 0]}
    grid = [{"placement": [{"name": "from_file", "file": f"placed/{name}.json"} for name in files]}]
    found = []
    for place in ("here", "there"):
        (tmp_path / place / "placed").mkdir(parents=True)
        for name, rank in files.items():
            file = tmp_path / place / "placed" / f"{name}.json"
            placement_file.write(file, Placement.from_ranges(2, [50, 100], rank))
        path = tmp_path / place / "x.yaml"
        path.write_text(yaml.safe_dump(content(grid=grid, ranks=[2], seeds=[1])))
        found.append(expand(load_experiment(path)))
    here, there = found
    assert [run.id for run in here] == [run.id for run in there] and len(
        {run.id for run in here}
    ) == 2
    assert {run.label for run in here} == {
        f"placement=from_file {name} ranks=2 seed=1" for name in files
    }
    results = Results(tmp_path / "results")
    for runs in found:  # plans alike
        sweeps.plan(experiment(grid=grid), runs, results)
    assert len(list(results.path.glob("placements/*.json"))) == 2
    for run in here:
        kept = json.loads(results.description(run.id).read_text())
        assert kept["placement"]["file"].startswith("../placements/")
        assert with_content(results.read_description(run.id)) == with_content(run.description)
    placement_file.write(
        tmp_path / "here" / "placed" / "two.json", Placement.from_ranges(2, [60, 100], [1, 0])
    )
    again = expand(load_experiment(tmp_path / "here" / "x.yaml"))
    assert len({run.id for run in [*here, *again]}) == 3
