"""Reads experiment files: what is varied, and the runs that follow.

An experiment takes a run description from a preset (or a file) and varies it over a grid. Every entry of the
grid maps fields to a value or to a list of values and stands for all combinations of its lists. Each
combination runs with every number of ranks and threads and every layout on nodes (its own where it gives
them), with every seed, and as often as the repetitions say. An entry with `preset.name` takes another preset,
without the options of the experiment.
"""

import functools
import hashlib
import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from spikemark.core import places
from spikemark.core.errors import BadInput, invalid
from spikemark.core.fields import assign
from spikemark.core.reading import check_plain
from spikemark.core.yaml_file import YAML, read_json_or_yaml, read_yaml
from spikemark.machines.parts import digest as machine_digest
from spikemark.network import presets
from spikemark.network.named_files import located, with_content
from spikemark.network.placement_field import name_of
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

from . import simulate

#: Names in labels that differ from the name of the field.
SHORT = {"delay_ratio": "D"}

#: A sweep of so many would last for months.
MOST_RUNS = 100_000


class RunSpec(Planned):
    """A run of the plan with its description; `id` is a hash of everything that defines the measurement."""

    description: dict[str, Any]
    compute_of: dict[str, Any] | None = None  # description of the network whose compute times are taken

    def without_description(self) -> dict[str, Any]:
        """The run as it stands in the plan; descriptions lie in files of their own."""
        left_out = {name for name in ("machine", *LAYOUT) if getattr(self, name) is None}
        return self.model_dump(exclude={"description", "compute_of"} | left_out)


def find(name: str) -> Path:
    """The file of an experiment given by path or by name. Raises BadInput naming the existing ones."""
    ours = places.root() / "workflows" / "experiments"
    path = Path(name) if name.endswith(YAML) else ours / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in ours.glob("*.yaml")))
        raise BadInput.of("experiment", name, f"the path of a .yaml file, or one of {known}", code="file")
    return path


def load(name: str | Path) -> Experiment:
    """Read and check an experiment. Raises BadInput naming the file, the field and what is expected."""
    path = find(str(name))
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
    try:
        experiment = Experiment.model_validate(content)
    except ValidationError as error:
        raise invalid(error, f"{path}: ", kind=Experiment, given=content) from None
    if experiment.description is not None:
        description = path.parent / experiment.description
        if not description.is_file():
            raise BadInput(f"{path}: description: {description} is not a file")
        experiment = experiment.model_copy(update={"description": description.resolve()})
    grid = [_located(entry, path.parent) for entry in experiment.grid]
    return experiment.model_copy(update={"set": _located(experiment.set, path.parent), "grid": grid})


def _located(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Fields of a description, or lists of their values, whose files can be found from anywhere."""
    found = {}
    for name, values in fields.items():
        each = [located({name: value}, folder)[name] for value in as_list(values)]
        found[name] = each if isinstance(values, list) else each[0]
    return found


def expand(experiment: Experiment) -> list[RunSpec]:
    """All runs of an experiment in the order of measuring.

    Runs are measured in blocks, one for every repetition of every seed, so that what is compared is measured
    close together; blocks, and runs within a block, are shuffled, so that slow changes of the machine do not
    favour one part of the grid. The order follows from `shuffle_seed`, the seeds and the run ids alone:
    adding runs does not reorder the others. Raises BadInput for more than 100000 runs,
    for options the preset refuses and for entries of the grid that give the same run twice.
    """
    if _number(experiment) > MOST_RUNS:
        raise BadInput(f"{experiment.name}: more than {MOST_RUNS} runs; expected fewer")
    #: Of the values of a machine, assumed ones included, from which simulated times follow.
    profile_digest = functools.cache(lambda profile: machine_digest(simulate.filled(profile)))
    runs: dict[str, RunSpec] = {}
    for entry in experiment.grid:
        varied = _varied(experiment, entry).items()
        axes = [[(field, value) for value in as_list(values)] for field, values in varied]
        for combination in itertools.product(*axes):
            for run in _runs(experiment, dict(combination), profile_digest):
                if run.id in runs:
                    raise BadInput(f"grid: {run.label!r} and {runs[run.id].label!r} are the same run")
                runs[run.id] = run

    def place(run: RunSpec) -> tuple[str, str]:
        block = [experiment.shuffle_seed, "block", run.seed, run.repetition]
        return digest(block), digest([experiment.shuffle_seed, run.id])

    return sorted(runs.values(), key=place)


def _number(experiment: Experiment) -> int:
    combinations = sum(
        math.prod(len(as_list(values)) for values in _varied(experiment, entry).values())
        for entry in experiment.grid
    )
    return combinations * len(experiment.seeds) * experiment.repetitions


def _varied(experiment: Experiment, entry: dict[str, Any]) -> dict[str, Any]:
    """An entry of the grid, with the experiment's PLACES where it has none of its own."""
    return {**{name: values for name in PLACES if (values := getattr(experiment, name))}, **entry}


def _runs(
    experiment: Experiment, combination: dict[str, Any], profile_digest: Callable[[str], str]
) -> list[RunSpec]:
    fields = {field: value for field, value in combination.items() if field not in PLACES}
    ranks, threads = combination["ranks"], combination["threads"]
    layout = {field: combination[field] for field in LAYOUT if field in combination}
    machine = _machine(experiment, fields)
    runs = []
    for seed in experiment.seeds:
        description = _describe(experiment, fields, seed)
        simulated, of = {}, None
        if machine is not None:
            of = _describe(experiment, {**fields, **machine.compute_of}, seed) if machine.compute_of else None
            named = None if of is None else with_content(of)
            profile = profile_digest(machine.profile)
            simulated = {"machine": {**machine.identity, "profile": profile, "compute_of": named}}
        for repetition in range(1, experiment.repetitions + 1):
            identity = {
                "description": with_content(description),
                "ranks": ranks,
                "threads": threads,
                "repetition": repetition,
                **layout,
                **simulated,
            }
            runs.append(
                RunSpec(
                    id=digest(identity)[:12],
                    label=_label(experiment, fields, layout, seed, ranks, threads, repetition),
                    ranks=ranks,
                    threads=threads,
                    seed=seed,
                    repetition=repetition,
                    fields=fields | layout,
                    **layout,
                    description=description,
                    machine=machine,
                    compute_of=of,
                )
            )
    return runs


def _machine(experiment: Experiment, fields: dict[str, Any]) -> SimulatedOn | None:
    """The machine to simulate: that of the experiment, changed by the fields `machine.…` of the grid."""
    if experiment.machine is None:
        return None
    own = {field.removeprefix(MACHINE): value for field, value in fields.items() if field.startswith(MACHINE)}
    try:
        asked = SimulatedOn.model_validate({**experiment.machine.model_dump(exclude_unset=True), **own})
    except ValidationError as error:
        raise invalid(error, "grid: machine.", kind=SimulatedOn) from None
    simulate.check_rates(asked, fields.get(PRESET_NAME, experiment.preset and experiment.preset.name))
    return asked


def _describe(experiment: Experiment, fields: dict[str, Any], seed: int) -> dict[str, Any]:
    options = {f.removeprefix(PRESET): v for f, v in fields.items() if f.startswith(PRESET)}
    if experiment.preset is not None:
        source = experiment.preset
        name = options.pop("name", source.name)
        given = source.options if name == source.name else {}
        _preset(name)
        description = json.loads(_described(name, json.dumps({**given, **options, "seed": seed})))
    else:
        description = _read_description(experiment.description)
        description["seed"] = seed
    for field, value in {**experiment.set, **fields}.items():
        if not field.startswith((PRESET, MACHINE)):
            assign(description, field, value)
    return description


@functools.lru_cache(maxsize=16)  # most runs of a plan differ only in how they are run
def _described(name: str, options: str) -> str:
    """Copies by way of JSON, which changes no preset and is faster than `copy.deepcopy`."""
    return json.dumps(_preset(name).describe(**json.loads(options)))


def _preset(name: str) -> Any:
    if not isinstance(name, str) or name not in presets.PRESETS:
        raise BadInput.of("preset.name", name, f"one of {', '.join(presets.PRESETS)}", code="unknown")
    return presets.PRESETS[name]


def _read_description(path: Path) -> dict[str, Any]:
    description = read_json_or_yaml(path)
    if not isinstance(description, dict):
        raise BadInput(f"{path}: not a run description: one object is needed")
    check_plain(description, path)
    return located(description, path.parent)


def _label(experiment, fields, layout, seed, ranks, threads, repetition) -> str:
    alone = [field for field in (PRESET_NAME, "schedule") if field in fields]  # the value says what it is
    words = [str(fields[field]) for field in alone]
    words += [
        f"{SHORT.get(f, f.removeprefix(PRESET).removeprefix(MACHINE).split('.')[-1])}={_shown(f, v)}"
        for f, v in fields.items()
        if f not in alone
    ]
    words.append(f"ranks={ranks}")
    if len(experiment.threads) > 1 or threads > 1:
        words.append(f"threads={threads}")
    words += [f"{field}={value}" for field, value in layout.items()]
    words.append(f"seed={seed}")
    if experiment.repetitions > 1:
        words.append(f"repetition={repetition}")
    return " ".join(words)


def _shown(field: str, value: Any) -> str:
    """A value in a label; of a placement file, its name; ranks by part in the words of the command line."""
    if field == f"{MACHINE}on" and isinstance(value, dict):
        return ",".join(f"{part}={ranks}" for part, ranks in value.items())
    return name_of(value) if field == "placement" and isinstance(value, dict) else str(value)


def digest(value: Any) -> str:
    """A hash of a value that JSON can hold."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
