"""Reads experiment files: what is varied, and the runs that follow.

An experiment takes a run description from a preset (or a file) and varies it over a grid. Every entry of the
grid maps fields to a value or to a list of values and stands for all combinations of its lists. Each
combination runs with every number of ranks and threads and every layout on nodes (its own where it gives
them), with every seed, and as often as the repetitions say. An entry with `preset.name` takes another preset,
without the options of the experiment.
"""

import copy
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spikemark import machines
from spikemark.core import places
from spikemark.core.errors import BadInput, invalid
from spikemark.core.fields import assign
from spikemark.core.fields import checked as valid
from spikemark.core.reading import check_plain
from spikemark.core.yaml_file import YAML, read_json_or_yaml, read_yaml
from spikemark.machines.parts import digest as machine_digest
from spikemark.network import presets
from spikemark.network.named_files import located, with_content
from spikemark.network.placement_file import name_of
from spikemark.records.experiment_fields import (
    LAYOUT,
    MACHINE,
    PLACES,
    PRESET,
    PRESET_NAME,
    Experiment,
    as_list,
)
from spikemark.records.plan import Planned, SimulatedOn

#: Names in labels that differ from the name of the field.
SHORT = {"delay_ratio": "D"}
MOST_RUNS = 100_000  # a sweep of more would last for months
#: `rate_hz` of neurons that fire as the preset expects of each population; of the presets, only `mam` does.
BY_POPULATION, WITH_RATES = "by population", "mam"


class RunSpec(Planned):
    """A run of the plan with its description; `id` is a hash of everything that defines the measurement.

    Runs share their networks: equal ones are one object.
    """

    description: dict[str, Any]
    compute_of: dict[str, Any] | None = None  # description of the network whose compute times are taken

    def without_description(self) -> dict[str, Any]:
        """The run as it stands in the plan; descriptions lie in files of their own."""
        left_out = {name for name in ("machine", *LAYOUT) if getattr(self, name) is None}
        return self.model_dump(exclude={"description", "compute_of"} | left_out)

    @property
    def point(self) -> str:
        """Its label without seed and repetition."""
        words = self.label.split()
        return " ".join(word for word in words if not word.startswith(("seed=", "repetition=")))


def load(name: str | Path) -> Experiment:
    """The experiment in a file, given by its path, or of our own by its name.

    Raises BadInput naming the file, the field and what is expected.
    """
    ours = places.root() / "workflows" / "experiments"
    path = Path(name) if str(name).endswith(YAML) else ours / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in ours.glob("*.yaml")))
        raise BadInput.of(
            "experiment", str(name), f"a .yaml file that exists, or one of {known}", code="file"
        )
    return checked(read_yaml(path), path)


def of_config(config: dict[str, Any], path: Path) -> Experiment:
    """The experiment that Snakemake has read from `path` and changed with --config.

    Raises BadInput as `load`. On the command line, `seeds=[1,2]` is a list of texts.
    """
    fields = {name: value for name, value in config.items() if name != "results"}  # the folder, for the rules
    for name, value in fields.items():
        if isinstance(value, list):
            fields[name] = [int(v) if isinstance(v, str) and v.isdecimal() else v for v in value]
    return checked(fields, path)


def checked(content: Any, path: Path) -> Experiment:
    """The experiment in the content of the file `path`. Raises BadInput as `load`."""
    if not isinstance(content, dict):
        raise BadInput(f"{path}: expected a mapping of fields, {', '.join(Experiment.model_fields)}")
    experiment = valid(Experiment, content, path, "")
    grid = [_located(entry, path.parent) for entry in experiment.grid]
    changes: dict[str, Any] = {"set": _located(experiment.set, path.parent), "grid": grid}
    if experiment.description is not None:
        changes["description"] = (path.parent / experiment.description).resolve()
        if not changes["description"].is_file():
            raise BadInput(f"{path}: description: {changes['description']} is not a file")
    return experiment.model_copy(update=changes)


def _located(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Fields of a description, or lists of their values, whose files can be found from anywhere."""
    found = {}
    for name, values in fields.items():
        each = [located({name: value}, folder)[name] for value in as_list(values)]
        found[name] = each if isinstance(values, list) else each[0]
    return found


def _axes(experiment: Experiment) -> list[list[list[tuple[str, Any]]]]:
    """Of each entry of the grid, the values of each field."""
    given = {name: values for name in PLACES if (values := getattr(experiment, name))}
    return [
        [[(field, value) for value in as_list(values)] for field, values in {**given, **entry}.items()]
        for entry in experiment.grid
    ]


def number(experiment: Experiment) -> int:
    """How many runs an experiment has."""
    points = sum(math.prod(map(len, each)) for each in _axes(experiment))
    return points * len(experiment.seeds) * experiment.repetitions


def expand(experiment: Experiment) -> list[RunSpec]:
    """All runs of an experiment in the order of measuring.

    Runs are measured in blocks, one for every repetition of every seed, so that what is compared is measured
    close together; blocks, and runs within a block, are shuffled, so that slow changes of the machine do not
    favour one part of the grid. The order follows from `shuffle_seed`, the seeds and the run ids alone:
    adding runs does not reorder the others. Raises BadInput for more than 100000 runs,
    for options the preset refuses and for entries of the grid that give the same run twice.
    """
    if number(experiment) > MOST_RUNS:
        raise BadInput(f"{experiment.name}: more than {MOST_RUNS} runs; expected fewer")
    described, runs = _Descriptions(experiment), {}
    for combination in itertools.chain.from_iterable(itertools.product(*each) for each in _axes(experiment)):
        for run in _runs(experiment, dict(combination), described):
            if run.id in runs:
                raise BadInput(f"grid: {run.label!r} and {runs[run.id].label!r} are the same run")
            runs[run.id] = run

    def place(run: RunSpec) -> tuple[str, str]:
        block = [experiment.shuffle_seed, "block", run.seed, run.repetition]
        return digest(block), digest([experiment.shuffle_seed, run.id])

    return sorted(runs.values(), key=place)


class _Descriptions:
    """The descriptions of an experiment. Each network, of megabytes perhaps, is made and written once."""

    def __init__(self, experiment: Experiment):
        self.experiment = experiment
        self._made: dict[str, dict[str, Any]] = {}
        self._networks: dict[str, Any] = {}  # by their texts
        self._texts: dict[int, str] = {}  # by their ids
        #: Of the values of a machine, assumed ones included, from which simulated times follow.
        self.profile_digest = functools.cache(lambda name: machine_digest(filled(name)))

    def of(self, fields: dict[str, Any], seed: int) -> dict[str, Any]:
        """The description with these fields of the grid. Raises BadInput for fields that do not exist."""
        changes = {**self.experiment.set, **fields}
        changes = {field: v for field, v in changes.items() if not field.startswith((PRESET, MACHINE))}
        found = dict(self._base(fields, seed))
        for part in {field.split(".")[0] for field in changes} & found.keys():
            found[part] = copy.deepcopy(found[part])
        for field, value in changes.items():
            assign(found, field, copy.deepcopy(value))
        return self._shared(found)

    def _base(self, fields: dict[str, Any], seed: int) -> dict[str, Any]:
        options = {f.removeprefix(PRESET): v for f, v in fields.items() if f.startswith(PRESET)}
        source = self.experiment.preset
        if source is None:
            name, given = str(self.experiment.description), {}
        else:
            name = options.pop("name", source.name)
            given = {**(source.options if name == source.name else {}), **options}
        key = json.dumps([name, given, seed])
        if key not in self._made:
            made = _read(Path(name)) | {"seed": seed} if source is None else _described(name, given, seed)
            self._made[key] = self._shared(made)
        return self._made[key]

    def _shared(self, description: dict[str, Any]) -> dict[str, Any]:
        """The description with the one object of its network."""
        network = description.get("network")
        if "network" not in description or id(network) in self._texts:
            return description
        text = json.dumps(network, sort_keys=True)
        network = self._networks.setdefault(text, network)
        self._texts[id(network)] = text
        return {**description, "network": network}

    def digest(self, identity: dict[str, Any]) -> str:
        """The digest of what defines a measurement, with descriptions of `of` in it."""
        return hashlib.sha256(self._text(identity).encode()).hexdigest()

    def _text(self, value: Any) -> str:
        """As json.dumps with sorted keys."""
        if id(value) in self._texts:
            return self._texts[id(value)]
        if not isinstance(value, dict):
            return json.dumps(value, sort_keys=True)
        return (
            "{" + ", ".join(f"{json.dumps(name)}: {self._text(value[name])}" for name in sorted(value)) + "}"
        )


def _described(name: Any, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """The description that a preset gives, in terms of JSON."""
    if not isinstance(name, str) or name not in presets.PRESETS:
        raise BadInput.of("preset.name", name, f"one of {', '.join(presets.PRESETS)}", code="unknown")
    return json.loads(json.dumps(presets.PRESETS[name].describe(**{**options, "seed": seed})))


def _read(path: Path) -> dict[str, Any]:
    description = read_json_or_yaml(path)
    if not isinstance(description, dict):
        raise BadInput(f"{path}: not a run description: one object is needed")
    check_plain(description, path)
    return located(description, path.parent)


def _runs(experiment: Experiment, combination: dict[str, Any], described: _Descriptions) -> Iterator[RunSpec]:
    """The runs of one combination: every seed, as often as the repetitions say."""
    fields = {field: value for field, value in combination.items() if field not in PLACES}
    layout = {field: combination[field] for field in LAYOUT if field in combination}
    placed = {"ranks": combination["ranks"], "threads": combination["threads"], **layout}
    machine = _machine(experiment, fields)
    for seed in experiment.seeds:
        description, of = described.of(fields, seed), None
        identity = {"description": with_content(description), **placed}
        if machine is not None:
            of = described.of({**fields, **machine.compute_of}, seed) if machine.compute_of else None
            named, profile = of and with_content(of), described.profile_digest(machine.profile)
            identity["machine"] = {**machine.identity, "profile": profile, "compute_of": named}
        for repetition in range(1, experiment.repetitions + 1):
            yield RunSpec(
                id=described.digest({**identity, "repetition": repetition})[:12],
                label=_label(experiment, fields, placed, seed, repetition),
                **placed, seed=seed, repetition=repetition, fields=fields | layout,
                description=description, machine=machine, compute_of=of,
            )  # fmt: skip


def _machine(experiment: Experiment, fields: dict[str, Any]) -> SimulatedOn | None:
    """The machine to simulate: that of the experiment, changed by the fields `machine.…` of the grid."""
    if experiment.machine is None:
        return None
    own = {field.removeprefix(MACHINE): value for field, value in fields.items() if field.startswith(MACHINE)}
    try:
        asked = SimulatedOn.model_validate({**experiment.machine.model_dump(exclude_unset=True), **own})
    except ValidationError as error:
        raise invalid(error, "grid: machine.", kind=SimulatedOn) from None
    preset = fields.get(PRESET_NAME, experiment.preset and experiment.preset.name)
    if asked.rate_hz == BY_POPULATION and preset != WITH_RATES:
        raise BadInput(f"machine.rate_hz={BY_POPULATION!r}: expected with the preset mam, not {preset}")
    return asked


def filled(profile: str) -> machines.Profile | machines.Machine:
    """A profile or machine of parts with assumed values. Raises BadInput if it is missing or invalid."""
    return machines.filled(machines.load_any(profile))


def _label(
    experiment: Experiment, fields: dict[str, Any], placed: dict[str, Any], seed: int, repetition: int
) -> str:
    alone = [field for field in (PRESET_NAME, "schedule") if field in fields]  # the value says what it is
    words = [str(fields[field]) for field in alone]
    for field, value in fields.items():
        if field not in alone:
            name = field.removeprefix(PRESET).removeprefix(MACHINE).split(".")[-1]
            words.append(f"{SHORT.get(field, name)}={_shown(field, value)}")
    several = {"threads": len(experiment.threads) > 1 or placed["threads"] > 1}
    words += [f"{name}={value}" for name, value in placed.items() if several.get(name, True)]
    words.append(f"seed={seed}")
    return " ".join([*words, f"repetition={repetition}"] if experiment.repetitions > 1 else words)


def _shown(field: str, value: Any) -> str:
    """A value in a label; of a placement file, its name; ranks by part in the words of the command line."""
    if field == f"{MACHINE}on" and isinstance(value, dict):
        return ",".join(f"{part}={ranks}" for part, ranks in value.items())
    return name_of(value) if field == "placement" and isinstance(value, dict) else str(value)


def digest(value: Any) -> str:
    """A hash of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
