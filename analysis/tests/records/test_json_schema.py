"""The JSON Schemas: what they accept and refuse, beside what Spikemark reads."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dry_folder
import jsonschema
import pytest
from synthetic import write_run

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_json_or_yaml
from spikemark.network import fields
from spikemark.network.description_schema import MEANINGS, PARAMETERS
from spikemark.network.presets import PRESETS
from spikemark.records.json_schema import FILE_FORMATS, json_schema
from spikemark.running import experiments

ROOT = places.root()
EXPERIMENTS = sorted((ROOT / "workflows" / "experiments").glob("*.yaml"))
MACHINES = sorted((ROOT / "machines").glob("*.yaml"))
RECORDS = sorted((ROOT / "tests" / "golden" / "analysis" / "records").glob("*/record.json"))
DESCRIPTIONS = sorted((ROOT / "miniapp" / "examples").glob("*.json"))
EXAMPLE = ROOT / "miniapp" / "examples" / "two_areas.json"


def problems(name: str, content: Any) -> list[str]:
    """What the schema of a kind of file complains about."""
    schema = json.loads(json.dumps(json_schema(name)))
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(content)]


@pytest.mark.parametrize("name", FILE_FORMATS)
def test_schemas_are_schemas(name):
    jsonschema.Draft202012Validator.check_schema(json_schema(name))


def test_an_unknown_name_is_refused():
    with pytest.raises(BadInput, match="NAME='plan'; expected one of description,"):
        json_schema("plan")


def files() -> Iterator[Any]:
    """Name of the schema and file, of all files of the checkout."""
    kinds = {
        "description": DESCRIPTIONS,
        "experiment": EXPERIMENTS,
        "machine": MACHINES,
        "record": RECORDS,
    }
    for name, paths in kinds.items():
        assert paths
        for path in paths:
            yield pytest.param(name, path, id=f"{name}-{path.parent.name}-{path.stem}")


@pytest.mark.parametrize(("name", "path"), list(files()))
def test_files_of_the_checkout_are_accepted(name: str, path: Path):
    assert problems(name, read_json_or_yaml(path)) == []


CONFIGS = {  # what is wrong with each; None if nothing is
    "a name": ({"experiment": "smoke"}, None),
    "a name and changes": ({"experiment": "smoke", "repetitions": 2, "results": "here"}, None),
    "a whole experiment": (read_json_or_yaml(EXPERIMENTS[0]), None),
    "nothing": ({}, "name"),
    "no name": ({"experiment": 3}, "experiment"),
    "another field": ({"experiment": "smoke", "repetition": 2}, "repetition"),
    "another value": ({"experiment": "smoke", "repetitions": "many"}, "repetitions"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_configuration_of_the_workflow_is_judged_by_its_schema_as_by_the_workflow(name):
    config, field = CONFIGS[name]
    assert bool(problems("config", config)) == (field is not None)
    if field is None:
        assert experiments.experiment_of_config(config, Path("config")).name
        return
    with pytest.raises(BadInput) as refused:
        experiments.experiment_of_config(config, Path("config"))
    assert refused.value.field == field


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("full", [False, True])
def test_presets_are_accepted(preset: str, full: bool):
    description = PRESETS[preset].describe(full=full)
    if "kind" in description:  # of another format
        pytest.skip(description["kind"])
    assert problems("description", description) == []


def test_runs_and_dry_runs_are_accepted(tmp_path, monkeypatch):
    run = write_run(tmp_path / "run")
    assert problems("record", json.loads((run / "record.json").read_text())) == []
    dry = dry_folder.write(monkeypatch, tmp_path / "dry", rank_sd=0.05).path
    assert problems("dryrun", json.loads((dry / "dryrun.json").read_text())) == []
    for path in dry.glob("ranks/*/record.json"):
        assert problems("record", json.loads(path.read_text())) == []


#: A path of the example of each kind, and what is planted there; None takes the field away.
PLANTED = {
    "description": [
        ("format_version", 2),
        ("format_version", None),
        ("sead", 1),
        ("seed", -1),
        ("seed", "1"),
        ("seed", 1.5),
        ("delay_ratio", "largest"),
        ("schedule", "structure-aware"),
        ("schedule", [{"name": "a", "group": "node"}]),
        ("schedule", [{"group": "area"}]),
        ("placement", {"file": "a.json"}),
        ("exchange", "alltoalw"),
        ("exchange", {"name": "two_level", "iner": "alltoall"}),
        ("exchange", {"local": {"name": "multi_level", "side": "middle"}}),
        ("wire", {"local": "raw"}),
        ("time.simulate_ms", None),
        ("time.resolution_ms", 0),
        ("record", {"cycle": True}),
        ("record", {"counters": ["instruction"]}),
        ("inject", {"minor_mode": {"share": 2}}),
        ("network.populations.0.size", 0.5),
        ("network.populations.0.neuron.model", "hh"),
        ("network.populations.0.neuron.V_th_mW", 1),
        ("network.projections.0.delay", 1.0),
        ("network.projections.0.delay.mean", None),
        ("network.projections.0.indegree", {"mean": 3, "distribution": "normal"}),
        ("network.projections.0.weight", "strong"),
    ],
    "experiment": [
        ("name", "a/b"),
        ("title", None),
        ("shuffle_seed", None),
        ("shuffle_seed", "first"),
        ("preset", None),
        ("description", "run.json"),
        ("preset.name", None),
        ("grid", []),
        ("grid.0.shedule", "conventional"),
        ("set", {"seed": 3}),
        ("ranks", 0),
        ("ranks", [1, 0]),
        ("threads", [1.5]),
        ("binding", "tight"),
        ("repetitions", 0),
        ("time_limit_s", 0),
        ("skip_impossible", "yes"),
        ("machine", {"profile": ""}),
        ("machine", {"profile": "jureca-dc", "cv": -1}),
        ("rank", 1),
    ],
    "machine": [
        ("format_version", 2),
        ("name", "a/b"),
        ("node.cores.value", 0),
        ("node.cores.kind", "guessed"),
        ("node.cores.reference", None),
        ("node.clock.unit", "MHz"),
        ("node.colour", {"value": 1, "unit": "1", "kind": "assumed", "reference": "x"}),
    ],
    "record": [
        ("format_version", 4),
        ("status", "running"),
        ("kind", "guessed"),
        ("checksum", "12"),
        ("ranks", 0),
        ("ranks", "4"),
        ("totals.spikes", -1),
        ("totals.spikes", None),
        ("timing.model_s", 0),
        ("timing.phases.update", {"mean_s": None, "max_s": None}),
        ("timing.phases.update", {"mean_s": None, "max_s": None, "reason": ""}),
        ("timing.phases.update", {"mean_s": -1.0, "max_s": 1.0}),
        ("lanes", []),
        ("lanes.0.period", 0),
        ("phases", []),
        ("host.name", None),
        ("provenance.started", "yesterday"),
        ("meters", [{"name": "energy", "unit": "J", "source": "powercap", "status": "denied"}]),
        ("meters", [{"name": "energy", "unit": "J", "source": "powercap", "status": "broken"}]),
    ],
}
GOOD = {
    "description": EXAMPLE,
    "experiment": ROOT / "workflows" / "experiments" / "demo.yaml",
    "machine": ROOT / "machines" / "jureca-dc.yaml",
    "record": RECORDS[0],
}


def with_change(content: Any, path: str, value: Any) -> Any:
    """A copy of a file's content with another value at a path."""
    changed = copy.deepcopy(content)
    *steps, last = path.split(".")
    part = changed
    for step in steps:
        part = part[int(step)] if isinstance(part, list) else part[step]
    if value is None:
        del part[last]
    else:
        part[last] = value
    return changed


def planted() -> Iterator[Any]:
    for name, changes in PLANTED.items():
        for path, value in changes:
            yield pytest.param(name, path, value, id=f"{name}-{path}-{value}")


@pytest.mark.parametrize(("name", "path", "value"), list(planted()))
def test_planted_faults_are_refused(name: str, path: str, value: Any):
    content = read_json_or_yaml(GOOD[name])
    assert problems(name, content) == []
    assert problems(name, with_change(content, path, value))


def test_a_null_with_its_reason_is_accepted():
    record = read_json_or_yaml(GOOD["record"])
    time = {"mean_s": None, "max_s": None, "reason": "not timed on its own"}
    assert problems("record", with_change(record, "timing.phases.update", time)) == []


def test_only_older_records_hold_warnings():
    record = read_json_or_yaml(GOOD["record"])
    record.pop("warnings", None)
    assert problems("record", record | {"format_version": 3}) == []
    assert problems("record", record | {"format_version": 2})


def fields_of(schema: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and schema of every field; not those of conditions."""
    if isinstance(schema, list):
        for number, part in enumerate(schema):
            yield from fields_of(part, f"{path}/{number}")
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        for name, part in schema.get("properties", {}).items():
            yield f"{path}/{name}", part
    for name, part in schema.items():
        yield from fields_of(part, f"{path}/{name}")


@pytest.mark.parametrize("name", ["description", "experiment", "record", "dryrun"])
def test_every_field_is_described(name: str):
    described = dict(fields_of(json_schema(name)))
    assert len(described) > 10
    assert [path for path, part in described.items() if "description" not in part] == []


def test_the_table_of_the_mini_app_is_described():
    paths = set()
    for rules in fields.RULES_BY_OBJECT.values():
        paths |= {rule.path for rule in rules.values()}
    assert paths == MEANINGS.keys()
    parameters = set()
    for rules in fields.NEURON_RULES.values():
        parameters |= rules.keys()
    assert parameters == PARAMETERS.keys()
