"""Experiment files that are refused."""

import copy

import pytest
import yaml
from experiment_file import SMALL, content

from spikemark.core.errors import BadInput
from spikemark.running.experiments import expand, load

BAD = {
    "unknown field": (content(rank=1), ["rank=1", "unknown", "ranks"]),
    "misspelt field": (
        {"rank" if name == "ranks" else name: value for name, value in content().items()},
        ["rank: unknown", "ranks"],
    ),
    "unknown field of the preset": (content(preset={**SMALL, "option": {}}), ["preset.option", "options"]),
    "no grid": (content(grid=None), ["grid: missing"]),
    "empty grid": (content(grid=[]), ["grid", "[]", "at least 1"]),
    "empty axis": (content(grid=[{"schedule": []}]), ["'schedule'", "at least one"]),
    "same run twice": (content(grid=[{"delay_ratio": [1, 1]}]), ["same run", "D=1"]),
    "unknown preset": (content(preset={"name": "brain"}), ["'brain'", "mam-benchmark"]),
    "unknown preset in the grid": (content(grid=[{"preset.name": "brain"}]), ["'brain'", "mam-benchmark"]),
    "preset of no name": (content(grid=[{"preset.name": 3}]), ["preset.name=3", "mam-benchmark"]),
    "option of the other preset": (
        content(grid=[{"preset.name": "music-cells", "preset.indegree": 3}]),
        ["indegree=3", "connections"],
    ),
    "unknown option": (content(preset={**SMALL, "options": {"area": 1}}), ["area=1", "areas"]),
    "bad option": (content(preset={**SMALL, "options": {"areas": 0}}), ["areas=0"]),
    "neither preset nor description": (content(preset=None), ["'preset'", "'description'"]),
    "both": (content(description="run.json"), ["'preset'", "'description'"]),
    "no such description": (content(preset=None, description="none.json"), ["none.json", "not a file"]),
    "ranks 0 in the grid": (content(grid=[{"ranks": [1, 0]}]), ["ranks", "0", "at least"]),
    "threads true in the grid": (content(grid=[{"threads": True}]), ["threads", "True"]),
    "distribution unknown": (content(distribution="plane"), ["distribution", "'plane'", "'cyclic'"]),
    "binding in the grid": (content(grid=[{"binding": ["tight"]}]), ["binding", "'tight'", "'none'"]),
    "no ranks on a node": (content(ranks_per_node=0), ["ranks_per_node", "0", "at least 1"]),
    "parts of binding": (content(grid=[{"binding.x": 1}]), ["binding.x", "no parts"]),
    "layout of a simulated machine": (
        content(machine={"profile": "supermuc-ng"}, distribution="cyclic"),
        ["'distribution'", "machine.ranks_per_node"],
    ),
    "parts of ranks": (content(grid=[{"ranks.x": 1}]), ["ranks.x", "no parts"]),
    "ranks 0": (content(ranks=0), ["ranks", "0", "at least 1"]),
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


def refused(path) -> str:
    """Why the experiment is refused, in one line."""
    with pytest.raises(BadInput) as error:
        expand(load(path))
    message = str(error.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("case", BAD)
def test_bad_files_get_one_clear_line(case, tmp_path):
    bad, words = BAD[case]
    (tmp_path / "bad.yaml").write_text(yaml.safe_dump(bad))
    message = refused(tmp_path / "bad.yaml")
    assert [word for word in words if word not in message] == [], message


RAW = {
    "not YAML": ("a: [", "not YAML"),
    "key twice": ("repetitions: 2\n{}repetitions: 3\n", "'repetitions' is there twice"),
    "date": ("set: {{time.simulate_ms: 2024-01-01}}\n{}", "set.time.simulate_ms=datetime.date("),
    "mixed keys": ("set: {{network: {{1: 2, a: 3}}}}\n{}", "set.network: key 1"),
    "infinite time limit": ("time_limit_s: .inf\n{}", "time_limit_s=inf"),
}


@pytest.mark.parametrize("case", RAW)
def test_what_only_yaml_can_say_is_refused(case, tmp_path):
    text, reason = RAW[case]
    rest = yaml.safe_dump({**content(), "preset": copy.deepcopy(SMALL)})
    (tmp_path / "bad.yaml").write_text(text.format(rest) if "{}" in text else text)
    assert reason in refused(tmp_path / "bad.yaml")


BAD_DESCRIPTIONS = {
    "cut": ('{"time": {', "truncated or not JSON"),
    "list": ("[]", "not a run description"),
    "deep": ('{"time": ' + "[" * 400 + "]" * 400 + "}", "nested more than 100"),
    "endless": ('{"time": ' + "[" * 100_000, "nested more than 100"),
    "infinite": ('{"time": {"simulate_ms": 1e999}}', "time.simulate_ms=inf"),
    "not a number": ('{"time": {"simulate_ms": NaN}}', "time.simulate_ms=nan"),
    "key twice": ('{"time": 1, "time": 2}', "'time' is there twice"),
}


@pytest.mark.parametrize("case", BAD_DESCRIPTIONS)
def test_bad_descriptions_are_refused(case, tmp_path):
    text, reason = BAD_DESCRIPTIONS[case]
    (tmp_path / "run.json").write_text(text)
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(content(preset=None, description="run.json")))
    assert reason in refused(tmp_path / "x.yaml").partition("run.json: ")[2]


def test_unknown_experiment_names_those_that_exist():
    with pytest.raises(BadInput, match=r"'brain'; expected.*demo.*smoke"):
        load("brain")
