"""Experiment files that are refused."""

import pytest
import yaml
from experiment_file import SMALL, content, experiment

from spikemark.core.errors import BadInput
from spikemark.network.fields import RULES_BY_OBJECT, FieldRule
from spikemark.network.presets import PRESETS
from spikemark.records.experiment_fields import Experiment
from spikemark.records.plan import SimulatedOn
from spikemark.running import possible
from spikemark.running.experiments import expand, load_experiment


def preset(**options) -> dict:
    return {"preset": {**SMALL, "options": options}}


def grid(**entry) -> dict:
    return {"grid": [{name.replace("__", "."): value for name, value in entry.items()}]}


#: Changes of a good file, and what the line must name. Null leaves a field out.
BAD = {
    "unknown field": ({"rank": 1}, ["rank=1", "unknown", "ranks"]),
    "misspelt field": ({"ranks": None, "rank": 1}, ["rank=1: unknown", "ranks"]),
    "unknown field of the preset": (
        {"preset": {**SMALL, "option": {}}},
        ["preset.option", "options"],
    ),
    "no grid": ({"grid": None}, ["grid: missing"]),
    "empty grid": ({"grid": []}, ["grid", "[]", "at least 1"]),
    "empty axis": (grid(schedule=[]), ["'schedule'", "at least one"]),
    "same run twice": (grid(delay_ratio=[1, 1]), ["same run", "D=1"]),
    "unknown preset": ({"preset": {"name": "brain"}}, ["'brain'", "mam-benchmark"]),
    "unknown preset in the grid": (grid(preset__name="brain"), ["'brain'", "mam-benchmark"]),
    "preset of no name": (grid(preset__name=3), ["preset.name=3", "mam-benchmark"]),
    "option of the other preset": (
        grid(preset__name="music-cells", preset__indegree=3),
        ["indegree=3", "connections"],
    ),
    "unknown option": (preset(area=1), ["area=1", "areas"]),
    "option out of range": (grid(preset__areas=[2, 10**26]), ["areas=1000"]),
    "seed as option": (preset(seed=3), ["'preset.options.seed'", "'seeds'"]),
    "neither preset nor description": ({"preset": None}, ["'preset'", "'description'"]),
    "both": ({"description": "run.json"}, ["'preset'", "'description'"]),
    "no such description": (
        {"preset": None, "description": "none.json"},
        ["none.json", "not a file"],
    ),
    "ranks 0 in the grid": (grid(ranks=[1, 0]), ["ranks", "0", "at least"]),
    "threads true in the grid": (grid(threads=True), ["threads", "True"]),
    "distribution": ({"distribution": "plane"}, ["distribution", "'plane'", "'cyclic'"]),
    "binding in the grid": (grid(binding=["tight"]), ["binding", "'tight'", "'none'"]),
    "layout of a simulated machine": (
        {"machine": {"profile": "supermuc-ng"}, "distribution": "cyclic"},
        ["'distribution'", "machine.ranks_per_node"],
    ),
    "parts of ranks": (grid(ranks__x=1), ["ranks.x", "no parts"]),
    "ranks a word": ({"ranks": "two"}, ["ranks", "'two'", "integer"]),
    "no ranks": ({"ranks": []}, ["ranks", "at least 1"]),
    "too many ranks": ({"ranks": 10**20}, ["ranks", "1000000"]),
    "long value": ({"ranks": ["x" * 10_000]}, ["ranks", "…"]),
    "negative seed": ({"seeds": [-1]}, ["seeds", "-1"]),
    "threads a fraction": ({"threads": [1.5]}, ["threads", "1.5"]),
    "time limit 0": ({"time_limit_s": 0}, ["time_limit_s", "0"]),
    "time limit true": ({"time_limit_s": True}, ["time_limit_s", "True", "number"]),
    "time limit of a month": ({"time_limit_s": 3_000_000}, ["time_limit_s", "3000000", "1000000"]),
    "repetitions": ({"repetitions": 10**9}, ["repetitions", "1000000000", "1000"]),
    "skipping a word": ({"skip_impossible": "yes"}, ["skip_impossible='yes'", "true or false"]),
    "skipping 1": ({"skip_impossible": 1}, ["skip_impossible=1", "true or false"]),
    "option true": (preset(areas=True), ["areas=True", "integer"]),
    "option a text": (preset(simulate_ms="5"), ["simulate_ms='5'", "number"]),
    "option true in the grid": (grid(preset__areas=[2, True]), ["areas=True", "integer"]),
    "name with a slash": ({"name": "a/b"}, ["name", "'a/b'"]),
    "unknown field in the grid": (grid(shedule="conventional"), ["'shedule'", "schedule"]),
    "seed in the grid": (grid(seed=[1, 2]), ["'seed'"]),
    "preset option in set": ({"set": {"preset.areas": 1}}, ["'preset.areas'"]),
    "preset alone": (grid(preset=1), ["'preset'", "preset.areas"]),
    "preset without option": ({"grid": [{"preset.": 1}]}, ["'preset.'"]),
    "seed of the preset in the grid": (grid(preset__seed=[1, 2]), ["'preset.seed'", "'seeds'"]),
    "below a number": ({"set": {"delay_ratio.x": 1}}, ["delay_ratio.x"]),
    "no such item": ({"set": {"network.populations.7.size": 1}}, ["'7'", "list of 2"]),
    "item of another script": ({"grid": [{"network.populations.١.size": 1}]}, ["'١'", "list of 2"]),
    "item with many digits": ({"set": {f"network.populations.{'1' * 5000}": 1}}, ["list of 2"]),
    "path with a hole": ({"set": {"time..x": 1}}, ["'time..x'"]),
    "too many runs": (
        grid(**{f"time__x{i}": [*range(10)] for i in range(400)}),
        ["more than 100000 runs"],
    ),
    "too many together": ({"seeds": [*range(51)], "repetitions": 1000}, ["more than 100000 runs"]),
}


def refused(path) -> str:
    """Why the experiment is refused, in one line."""
    with pytest.raises(BadInput) as error:
        expand(load_experiment(path))
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(case, tmp_path):
    changes, words = BAD[case]
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(content(**changes)))
    message = refused(tmp_path / "bad.yaml")
    assert [word for word in words if word not in message] == [], message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1]", "mapping"),
        ("a: [", "not YAML"),
        ("repetitions: 2\n{}repetitions: 3\n", "'repetitions' is there twice"),
        (
            "set: {{time.simulate_ms: !!timestamp 2024-01-01}}\n{}",
            "set.time.simulate_ms=datetime.date(",
        ),
        ("set: {{network: {{1: 2, a: 3}}}}\n{}", "set.network: key 1"),
        ("time_limit_s: .inf\n{}", "time_limit_s=inf"),
    ],
)
def test_what_only_yaml_can_say_is_refused(text, reason, tmp_path):
    (tmp_path / "bad.yaml").write_text(
        text.format(yaml.safe_dump(content())) if "{}" in text else text
    )
    assert reason in refused(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"time": {', "truncated or not JSON"),
        ("[]", "not a run description"),
        ('{"time": ' + "[" * 400 + "]" * 400 + "}", "nested more than 100"),
        ('{"time": {"simulate_ms": 1e999}}', "time.simulate_ms=inf"),
        ('{"time": 1, "time": 2}', "'time' is there twice"),
    ],
)
def test_bad_descriptions_are_refused(text, reason, tmp_path):
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(content(preset=None, description="run.json")))
    assert reason in refused(tmp_path / "x.yaml").partition("run.json")[2]


def test_unknown_experiment_names_those_that_exist():
    with pytest.raises(BadInput, match=r"'brain'; expected.*demo.*smoke"):
        load_experiment("brain")


#: A value of each type, and one that no field of an experiment takes.
VALUES = {
    "boolean": True,
    "integer": 1,
    "number": 1.5,
    "text": "x",
    "null": None,
    "list": [True],
    "mapping": {"x": 1},
    "negative": -1,
    "long": "x" * 10_000,
    "date": ["2026"],
}
#: The values that a field of an experiment takes.
TAKEN = {
    "name": ["text", "long"],
    "title": ["text", "long"],
    "repetitions": ["integer"],
    "ranks": ["integer"],
    "shuffle_seed": ["integer"],
    "skip_impossible": ["boolean"],
    "time_limit_s": ["integer", "number"],
    "threads": ["integer"],
    "ranks_per_node": ["integer"],
    "seeds": ["integer"],
}


@pytest.mark.parametrize("field", Experiment.model_fields)
def test_each_field_of_an_experiment_takes_its_type_only(field, tmp_path):
    for kind, value in VALUES.items():
        if kind in TAKEN.get(field, []) or (
            kind == "null" and field in ("preset", "description", "machine")
        ):
            continue
        changed = content() | {field: value}
        (tmp_path / "bad.yaml").write_text(yaml.safe_dump(changed))
        assert field in refused(tmp_path / "bad.yaml"), (field, value)


@pytest.mark.parametrize("field", SimulatedOn.model_fields)
def test_each_field_of_a_simulated_machine_takes_its_type_only(field, tmp_path):
    number = ["number", "integer", "null"]
    taken = {"profile": ["text", "long"], "on": ["null", "mapping"], "correlation": ["null"]}
    taken["program"] = ["null"]
    taken |= {"ranks_per_node": number[1:], "threads": number[1:], "rate_hz": number, "cv": number}
    for kind, value in VALUES.items():
        if kind in taken.get(field, []):
            continue
        machine = {"profile": "supermuc-ng"} | {field: value}
        (tmp_path / "bad.yaml").write_text(yaml.safe_dump(content(machine=machine)))
        assert f"machine.{field}" in refused(tmp_path / "bad.yaml") or "'x'" in refused(
            tmp_path / "bad.yaml"
        )


#: Fields that an experiment may not set, or that the small one sets in its grid.
OTHERS = ("format_version", "seed", "schedule")
#: Fields of a description that an experiment may set, by their paths in a small network.
SETTABLE = {
    rule.path.replace("*", "0"): rule
    for rules in RULES_BY_OBJECT.values()
    for rule in rules.values()
    if rule.path not in ("format_version", "seed", "schedule")
    and not rule.path.startswith(("schedule.", "exchange."))
}


def wrong_values(rule: FieldRule) -> list:
    """Values that a field does not take, whatever the others are."""
    values = [None] if "boolean" in rule.types else [None, True]
    if "text" not in rule.types or rule.values:
        values.append("no such text")
    if not {"number", "integer"} & {*rule.types}:
        values.append(3)
    elif rule.high is not None:
        values += [10 * rule.high, -2e12]
    return values


@pytest.mark.parametrize("way", ["set", "grid"])
@pytest.mark.parametrize("path", SETTABLE)
def test_what_the_mini_app_refuses_is_refused_before_anything_is_measured(path, way):
    for value in wrong_values(SETTABLE[path]):
        described = experiment(
            **({"set": {path: value}} if way == "set" else {"grid": [{path: [value]}]})
        )
        with pytest.raises(BadInput) as error:
            possible.sift(described, expand(described))
        parent = path.rpartition(".")[0] or path  # which may lack other fields, too
        assert parent in str(error.value) and "\n" not in str(error.value), value


@pytest.mark.parametrize("name", PRESETS)
def test_options_of_presets_take_their_type_only(name):
    for option, about in PRESETS[name].options.model_fields.items():
        numeric = about.annotation in (int, float, int | None, float | None)
        wrong = [True, "1", [1]] if numeric else [{"x": 1}, 1.5]
        for value in wrong if about.annotation is not bool else ["yes", 1, 0.0]:
            with pytest.raises(BadInput) as error:
                PRESETS[name].describe(**{option: value})
            assert option in str(error.value), (option, value)
