"""A misspelt name of any registry is proposed as it should be."""

from pathlib import Path

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.places import root
from spikemark.launch import LAUNCHERS, LaunchLayout, launch
from spikemark.machines.loader import names as machine_names
from spikemark.models import mpi_rules
from spikemark.network import fields
from spikemark.network.description import read_description
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.placement import PLACEMENTS, check_name
from spikemark.network.presets import PRESETS
from spikemark.network.schedules import SCHEDULES, plan
from spikemark.prediction.question import of_preset
from spikemark.records.json_schema import FILE_FORMATS, json_schema
from spikemark.running import experiments
from spikemark_studies.study import answer_functions, study_names

BENCHMARK = PRESETS["mam-benchmark"].describe()


def describe(field: str, name: str) -> None:
    """Reads a run description in which one field has a name."""
    read_description({**BENCHMARK, field: name})


#: By registry: its names, and what looks one up.
REGISTRIES = {
    "preset": (PRESETS, of_preset),
    "preset of an experiment": (PRESETS, lambda name: experiment(name)),
    "machine": (machine_names(), machines.load),
    "experiment": (
        [path.stem for path in Path(root() / "workflows/experiments").glob("*.yaml")],
        experiments.load_experiment,
    ),
    "schedule": (SCHEDULES, lambda name: plan(name, 10, 4)),
    "schedule of a description": (SCHEDULES, lambda name: describe("schedule", name)),
    "exchange of a description": (EXCHANGES, lambda name: describe("exchange", name)),
    "field of a description": (fields.RULES_BY_OBJECT[""], lambda name: describe(name, 1)),
    "placement": (PLACEMENTS, check_name),
    "study": (study_names(), answer_functions),
    "launcher": (LAUNCHERS, lambda name: launch(name, ["true"], LaunchLayout(1))),
    "MPI library": (mpi_rules.RULES, mpi_rules.rules),
    "JSON Schema": (FILE_FORMATS, json_schema),
}


def experiment(preset: str) -> None:
    content = {"name": "x", "title": "x", "ranks": [1], "shuffle_seed": 1}
    content |= {"preset": {"name": preset}, "grid": [{"schedule": "conventional"}]}
    experiments.expand(experiments.checked(content, Path("x.yaml")))


def misspelt(name: str) -> str:
    """The name with its last letter twice, which is still more like it than like any other."""
    return name + name[-1]


@pytest.mark.parametrize("registry", REGISTRIES)
def test_a_misspelt_name_is_proposed(registry):
    names, look_up = REGISTRIES[registry]
    assert names
    for name in names:
        with pytest.raises(BadInput) as caught:
            look_up(misspelt(name))
        assert f"; did you mean {name!r}?" in str(caught.value), name
        assert caught.value.code == "unknown" and caught.value.field is not None


def test_a_name_like_no_other_is_not_replaced():
    for _, look_up in REGISTRIES.values():
        with pytest.raises(BadInput) as caught:
            look_up("xxxxxxxxxxxx")
        assert "did you mean" not in str(caught.value)
