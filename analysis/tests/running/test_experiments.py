"""Experiment files: expansion, order, bad input."""

import copy
import itertools
import json
import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.records import experiment_fields
from spikemark.running import experiments
from spikemark.running.experiments import Experiment, expand, load

ROOT = Path(__file__).parents[3]
EXPERIMENTS = sorted(p.stem for p in (ROOT / "workflows" / "experiments").glob("*.yaml"))
SMALL = {"name": "mam-benchmark", "options": {"areas": 2, "neurons_per_area": 50, "indegree": 10}}


def content(**changes) -> dict:
    start = {
        "name": "x",
        "title": "x",
        "preset": SMALL,
        "grid": [
            {"schedule": ["conventional", "placement_only"]},
            {"schedule": "structure_aware", "delay_ratio": [1, 10]},
        ],
        "ranks": [1, 2],
        "seeds": [1, 2],
        "shuffle_seed": 7,
    }  # fmt: skip
    return {name: value for name, value in {**start, **changes}.items() if value is not None}


def experiment(**changes) -> Experiment:
    return Experiment.model_validate(content(**changes))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_expands(name):
    chosen = load(name)
    assert chosen.name == name
    runs = expand(chosen)
    assert len({run.label for run in runs}) == len({run.id for run in runs}) == len(runs)


def test_demo_is_what_it_says():
    """Ranks 1 and 2, every schedule, D = 1, 2, 5, 10, three seeds, twice; one network per seed."""
    runs = expand(load("demo"))
    assert len(runs) == 2 * 3 * 2 * (2 + 4)
    ratios = {r.description["delay_ratio"] for r in runs if r.description["schedule"] == "structure_aware"}
    assert ratios == {1, 2, 5, 10}
    networks = {json.dumps([r.description[part] for part in ("seed", "time", "network")]) for r in runs}
    assert len(networks) == 3


def test_grid_is_the_product_of_its_lists():
    runs = expand(experiment(threads=[1, 3], repetitions=2))
    assert len(runs) == (2 + 2) * 2 * 2 * 2 * 2
    seen = {
        (r.description["schedule"], r.description["delay_ratio"], r.ranks, r.threads, r.seed, r.repetition)
        for r in runs
    }
    assert len(seen) == len(runs)
    assert all(run.description["seed"] == run.seed for run in runs)


def test_ranks_and_threads_of_the_grid_take_the_place_of_the_others():
    runs = expand(experiment(grid=[{}, {"ranks": [4, 8], "threads": 2}], seeds=1))
    assert sorted((r.ranks, r.threads) for r in runs) == [(1, 1), (2, 1), (4, 2), (8, 2)]
    assert all(r.fields == {} for r in runs)


def test_ids_of_runs_without_a_layout_stay_as_they_were():
    """A hash of what defines the measurement; a new field must not change what has been measured."""
    (run,) = expand(experiment(grid=[{}], ranks=2, seeds=1))
    identity = {"description": run.description, "ranks": 2, "threads": 1, "repetition": 1}
    assert run.id == experiments.digest(identity)[:12]
    (given,) = expand(experiment(grid=[{}], ranks=2, seeds=1, ranks_per_node=1))
    assert given.id == experiments.digest({**identity, "ranks_per_node": 1})[:12]


LAYOUTS = {"ranks_per_node": [1, 2], "distribution": ["block", "cyclic"], "binding": ["cores", "none"]}


def test_every_field_of_a_layout_has_its_case():
    assert LAYOUTS.keys() == experiment_fields.LAYOUT.keys()


@pytest.mark.parametrize("field", LAYOUTS)
@pytest.mark.parametrize("place", ["experiment", "grid"])
def test_a_layout_is_part_of_the_run(field, place):
    values = LAYOUTS[field]
    given = {"grid": [{field: values}]} if place == "grid" else {"grid": [{}], field: values}
    runs = expand(experiment(**given, ranks=2, seeds=1))
    assert {getattr(run.layout, field) for run in runs} == set(values)
    assert {run.fields[field] for run in runs} == set(values)  # runs are told apart by what varied
    assert all(f"{field}={getattr(run, field)}" in run.label for run in runs)
    assert all(field not in run.description for run in runs)
    assert len({run.id for run in runs}) == len(runs) == len(values)
    assert all(run.without_description()[field] in values for run in runs)


def test_a_plan_holds_only_the_layout_that_was_given():
    (run,) = expand(experiment(grid=[{"distribution": "cyclic"}], ranks=2, seeds=1))
    assert run.without_description().keys() & LAYOUTS.keys() == {"distribution"}


def test_set_and_grid_reach_into_the_description():
    (run,) = expand(
        experiment(
            set={"time.simulate_ms": 40, "network.populations.1.size": 60},
            grid=[{"network.populations.0.neuron.rate_hz": 7, "record.spikes": True, "preset.indegree": 20}],
            ranks=1,
            seeds=1,
        )
    )
    description = run.description
    assert description["time"]["simulate_ms"] == 40
    assert [p["size"] for p in description["network"]["populations"]] == [50, 60]
    assert description["network"]["populations"][0]["neuron"]["rate_hz"] == 7
    assert description["record"] == {"spikes": True}
    assert sum(p["indegree"] for p in description["network"]["projections"]) == 2 * 20
    assert "rate_hz=7" in run.label


def test_an_entry_may_take_another_preset():
    """The experiment's options are those of its own preset; what is set goes for all."""
    grid = [{"preset.name": "music-cells", "preset.rate": 7}, {"preset.name": "mam-benchmark"}, {}]
    runs = expand(experiment(grid=grid[:2], set={"record.spikes": True}, ranks=1, seeds=1))
    names = {run.label.split()[0]: run for run in runs}
    music, mam = names["music-cells"], names["mam-benchmark"]
    assert {p["neuron"]["rate_hz"] for p in music.description["network"]["populations"]} == {7}
    assert [p["size"] for p in mam.description["network"]["populations"]] == [50] * 2
    assert all(run.description["record"] == {"spikes": True} for run in runs)
    assert (music.label, mam.label) == ("music-cells rate=7 ranks=1 seed=1", "mam-benchmark ranks=1 seed=1")
    (own,) = expand(experiment(grid=grid[2:], set={"record.spikes": True}, ranks=1, seeds=1))
    assert own.id == mam.id


def test_description_of_a_file(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"format_version": 1, "time": {"simulate_ms": 1}}))
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(content(preset=None, description="run.json", seeds=[4])))
    runs = expand(load(tmp_path / "x.yaml"))
    assert {run.description["seed"] for run in runs} == {4}
    assert {run.description["time"]["simulate_ms"] for run in runs} == {1}


def test_ids_do_not_depend_on_anything_else():
    """A fixed point: an id that changes would make every user measure again."""
    fixed = {"format_version": 1, "network": {"populations": []}}
    run = {"description": fixed, "ranks": 2, "threads": 1, "repetition": 1}
    assert experiments.digest(run)[:12] == "be67d120bb7f"


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


def test_another_seed_gives_another_order():
    orders = {tuple(run.id for run in expand(experiment(shuffle_seed=seed))) for seed in range(5)}
    assert len(orders) == 5
    assert len({tuple(sorted(order)) for order in orders}) == 1


def test_what_is_compared_is_measured_together():
    runs = expand(experiment(seeds=[1, 2, 3], repetitions=2))
    blocks = [(run.seed, run.repetition) for run in runs]
    changes = sum(before != after for before, after in itertools.pairwise(blocks))
    assert changes == len(set(blocks)) - 1 == 5
    assert list(dict.fromkeys(blocks)) != sorted(set(blocks))


def test_runs_are_not_in_the_order_of_the_grid():
    schedules = [run.description["schedule"] for run in expand(load("demo"))]
    assert schedules != sorted(schedules, key=["conventional", "placement_only", "structure_aware"].index)


def test_settable_fields_are_those_of_the_format():
    table = (
        (ROOT / "miniapp" / "FORMAT.md").read_text().split("## Run description")[1].split("Population:")[0]
    )
    fields = set(re.findall(r"^\| `([a-z_]+)", table, re.M))
    assert fields == {"format_version", "seed", *experiment_fields.DESCRIPTION_FIELDS}


BAD = {
    "unknown field": (content(rank=1), ["'rank'", "unknown", "ranks"]),
    "unknown field of the preset": (content(preset={**SMALL, "option": {}}), ["preset.option", "options"]),
    "no grid": (content(grid=None), ["'grid'", "missing"]),
    "empty grid": (content(grid=[]), ["grid", "[]", "at least 1"]),
    "empty axis": (content(grid=[{"schedule": []}]), ["'schedule'", "at least one"]),
    "same run twice": (content(grid=[{"delay_ratio": [1, 1]}]), ["same run", "D=1"]),
    "unknown preset": (content(preset={"name": "brain"}), ["'brain'", "mam-benchmark"]),
    "unknown preset in the grid": (content(grid=[{"preset.name": "brain"}]), ["'brain'", "mam-benchmark"]),
    "preset of no name": (content(grid=[{"preset.name": 3}]), ["3 is not allowed", "mam-benchmark"]),
    "option of the other preset": (
        content(grid=[{"preset.name": "music-cells", "preset.indegree": 3}]),
        ["indegree=3", "connections"],
    ),
    "unknown option": (content(preset={**SMALL, "options": {"area": 1}}), ["area=1", "areas"]),
    "bad option": (content(preset={**SMALL, "options": {"areas": 0}}), ["areas=0"]),
    "neither preset nor description": (content(preset=None), ["'preset'", "'description'"]),
    "both": (content(description="run.json"), ["'preset'", "'description'"]),
    "no such description": (content(preset=None, description="none.json"), ["none.json", "not a file"]),
    "ranks 0 in the grid": (content(grid=[{"ranks": [1, 0]}]), ["ranks", "0", "greater than or equal"]),
    "threads true in the grid": (content(grid=[{"threads": True}]), ["threads", "True"]),
    "distribution unknown": (content(distribution="plane"), ["distribution", "'plane'", "'cyclic'"]),
    "binding in the grid": (content(grid=[{"binding": ["tight"]}]), ["binding", "'tight'", "'none'"]),
    "no ranks on a node": (content(ranks_per_node=0), ["ranks_per_node", "0", "greater than or equal to 1"]),
    "parts of binding": (content(grid=[{"binding.x": 1}]), ["binding.x", "no parts"]),
    "layout of a simulated machine": (
        content(machine={"profile": "supermuc-ng"}, distribution="cyclic"),
        ["'distribution'", "machine.ranks_per_node"],
    ),
    "parts of ranks": (content(grid=[{"ranks.x": 1}]), ["ranks.x", "no parts"]),
    "ranks 0": (content(ranks=0), ["ranks", "0", "greater than or equal to 1"]),
    "ranks a word": (content(ranks="two"), ["ranks", "'two'", "integer"]),
    "no ranks": (content(ranks=[]), ["ranks", "at least 1"]),
    "negative seed": (content(seeds=[-1]), ["seeds", "-1"]),
    "threads a fraction": (content(threads=[1.5]), ["threads", "1.5"]),
    "time limit 0": (content(time_limit_s=0), ["time_limit_s", "0"]),
    "name with a slash": (content(name="a/b"), ["name", "'a/b'"]),
    "unknown field in the grid": (content(grid=[{"shedule": "conventional"}]), ["'shedule'", "schedule"]),
    "seed in the grid": (content(grid=[{"seed": [1, 2]}]), ["'seed'"]),
    "preset option in set": (content(set={"preset.areas": 1}), ["'preset.areas'"]),
    "below a number": (content(set={"delay_ratio.x": 1}), ["delay_ratio.x"]),
    "no such item": (content(set={"network.populations.7.size": 1}), ["'7'", "list of 2"]),
    "not a mapping": ([1], ["mapping"]),
    "item by another digit": (content(grid=[{"network.populations.²": 1}]), ["'²'", "list of 2"]),
    "item of another script": (content(grid=[{"network.populations.١.size": 1}]), ["'١'", "list of 2"]),
    "item with many digits": (content(set={f"network.populations.{'1' * 5000}": 1}), ["list of 2"]),
    "endless path": (content(set={"time" + ".x" * 2000: 1}), ["time.x.x", "up to 20"]),
    "path with a hole": (content(set={"time..x": 1}), ["'time..x'"]),
    "preset alone": (content(grid=[{"preset": 1}]), ["'preset'", "preset.areas"]),
    "preset without option": (content(grid=[{"preset.": 1}]), ["'preset.'"]),
    "seed of the preset in the grid": (content(grid=[{"preset.seed": [1, 2]}]), ["'preset.seed'", "'seeds'"]),
    "seed as option": (
        content(preset={**SMALL, "options": {"seed": 3}}),
        ["'preset.options.seed'", "'seeds'"],
    ),
    "full is no truth": (content(preset={**SMALL, "options": {"full": "nonsense"}}), ["full='nonsense'"]),
    "full in the grid": (content(grid=[{"preset.full": 1}]), ["full=1", "true or false"]),
    "areas true": (content(preset={**SMALL, "options": {"areas": True}}), ["areas=True"]),
    "delay true": (content(preset={**SMALL, "options": {"delay_intra": [True, 0.1]}}), ["delay_intra=[True"]),
    "time limit true": (content(time_limit_s=True), ["time_limit_s", "True", "a number"]),
    "time limit of a month": (content(time_limit_s=3_000_000), ["time_limit_s", "3000000", "1000000"]),
    "ranks true": (content(ranks=[True]), ["ranks.0", "True"]),
    "too many ranks": (content(ranks=10**20), ["ranks", "1000000"]),
    "repetitions": (content(repetitions=1_000_000_000), ["repetitions", "1000000000", "1000"]),
    "too many areas": (content(preset={**SMALL, "options": {"areas": 10**26}}), ["areas=1000"]),
    "too many areas in the grid": (content(grid=[{"preset.areas": [2, 10**26]}]), ["areas=1000"]),
    "too many runs": (
        content(grid=[{f"time.x{i}": list(range(10)) for i in range(400)}]),
        ["more than 100000 runs"],
    ),
    "too many together": (content(seeds=list(range(20)), repetitions=1000), ["more than 100000 runs"]),
    "long value": (content(ranks=["x" * 10_000]), ["ranks", "…"]),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(case, tmp_path):
    bad, words = BAD[case]
    path = tmp_path / "bad.yaml"
    path.write_text(yaml.safe_dump(bad))
    with pytest.raises(BadInput) as error:
        expand(load(path))
    message = str(error.value)
    assert "\n" not in message
    assert [word for word in words if word not in message] == [], message


RAW = {
    "not YAML": ("a: [", "not YAML"),
    "key twice": ("repetitions: 2\n{}repetitions: 3\n", "'repetitions' stands twice"),
    "date": ("set: {{time.simulate_ms: 2024-01-01}}\n{}", "set.time.simulate_ms: a value of the type date"),
    "mixed keys": ("set: {{network: {{1: 2, a: 3}}}}\n{}", "set.network: the key 1"),
    "infinite time limit": ("time_limit_s: .inf\n{}", "time_limit_s: inf"),
}


@pytest.mark.parametrize("case", RAW)
def test_what_only_yaml_can_say_is_refused(case, tmp_path):
    text, reason = RAW[case]
    rest = yaml.safe_dump({**content(), "preset": copy.deepcopy(SMALL)})
    (tmp_path / "bad.yaml").write_text(text.format(rest) if "{}" in text else text)
    with pytest.raises(BadInput, match=reason) as error:
        expand(load(tmp_path / "bad.yaml"))
    assert "\n" not in str(error.value)


BAD_DESCRIPTIONS = {
    "cut": ('{"time": {', "truncated or not JSON"),
    "list": ("[]", "not a run description"),
    "deep": ('{"time": ' + "[" * 400 + "]" * 400 + "}", "nested more than 100"),
    "endless": ('{"time": ' + "[" * 100_000, "nested more than 100"),
    "infinite": ('{"time": {"simulate_ms": 1e999}}', "time.simulate_ms: inf"),
    "not a number": ('{"time": {"simulate_ms": NaN}}', "time.simulate_ms: nan"),
    "key twice": ('{"time": 1, "time": 2}', "'time' stands twice"),
}


@pytest.mark.parametrize("case", BAD_DESCRIPTIONS)
def test_bad_descriptions_are_refused(case, tmp_path):
    text, reason = BAD_DESCRIPTIONS[case]
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(content(preset=None, description="run.json")))
    with pytest.raises(BadInput, match=rf"run\.json: .*{reason}"):
        expand(load(tmp_path / "x.yaml"))


def test_as_many_runs_as_allowed():
    most = experiment(grid=[{}], ranks=list(range(1, 101)), seeds=1, repetitions=1000)
    assert experiments._number(most) == experiments.MOST_RUNS
    more = experiment(grid=[{}, {"delay_ratio": 2}], ranks=list(range(1, 101)), seeds=1, repetitions=1000)
    assert experiments._number(more) == 2 * experiments.MOST_RUNS
    few = experiment(threads=[1, 3], repetitions=2)
    assert experiments._number(few) == len(expand(few))


def test_unknown_experiment_names_those_that_exist():
    with pytest.raises(BadInput, match=r"'brain' not found.*demo.*smoke"):
        load("brain")
