"""Reads experiment files: what is varied, and the runs that follow.

An experiment takes a run description from a preset (or a file) and varies it over a grid. Every
entry of the grid maps fields to a value or to a list of values and stands for all combinations of
its lists. Each combination runs with every number of ranks and threads and every layout on nodes
(its own where it gives them), with every seed, and as often as the repetitions say. An entry with
`preset.name` takes another preset, without the options of the experiment.
"""

import copy
import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from spikemark import machines
from spikemark.core import digests, places
from spikemark.core.errors import BadInput, proposal, unknown_name
from spikemark.core.fields import assign
from spikemark.core.fields import checked as valid
from spikemark.core.reading import check_plain
from spikemark.core.validation import invalid
from spikemark.core.yaml_file import YAML, parsed, read_json_or_yaml, read_yaml
from spikemark.network import placement_text, presets
from spikemark.network.named_files import located, with_content
from spikemark.network.schedules import LANES, SCHEDULES
from spikemark.records.experiment_fields import (
    CONFIG_FIELDS,
    DESCRIPTION_FIELDS,
    LAYOUT,
    MACHINE_PREFIX,
    PLACES,
    PRESET,
    PRESET_NAME,
    Experiment,
    as_list,
    cannot_be_set,
    fields_in_words,
)
from spikemark.records.plan import Planned, SimulatedOn

#: Names in labels that differ from the name of the field.
SHORT_NAMES = {"delay_ratio": "D"}
#: Fields of an experiment that are changed for one sweep, for a complaint.
OFTEN_CHANGED = (*PLACES, "seeds", "repetitions", "grid", "time_limit_s")
#: Runs of a sweep; more would last for months.
MAX_RUNS = 100_000
#: Hexadecimal digits of a digest, and those in the id of a run.
DIGEST_DIGITS = 12
DIGITS_IN_ID = 8
#: Characters of D in the id of a run; more are left out, since a file name has a limit.
MAX_DIGITS_OF_D = 12
#: Fields of RunSpec that plan.json does not have.
NOT_IN_PLAN = {"digest", "digest_as_written", "description", "compute_of", "simulate_guess_s"}
#: `rate_hz` of neurons that fire as the preset expects of each population.
BY_POPULATION = "by population"
#: The preset that expects rates.
PRESET_WITH_RATES = "mam"


class RunSpec(Planned):
    """A run of the plan with its description.

    `id` says what it is and ends with the beginning of `digest`. Runs share their networks: equal
    ones are one object.
    """

    #: A hash of everything that defines the measurement.
    digest: str
    #: The same, of its numbers as they are written: earlier versions named runs by it.
    digest_as_written: str
    description: dict[str, Any]
    #: Description of the network whose compute times are taken.
    compute_of: dict[str, Any] | None = None
    #: How long its measured part may take, see possible.py.
    simulate_guess_s: float | None = None

    def without_description(self) -> dict[str, Any]:
        """The run as it stands in the plan; descriptions lie in files of their own."""
        left_out = {name for name in ("machine", *LAYOUT) if getattr(self, name) is None}
        return self.model_dump(exclude=NOT_IN_PLAN | left_out)

    @property
    def earlier_ids(self) -> tuple[str, str]:
        """The ids that earlier versions gave it, the first one first."""
        start = self.id.removesuffix(self.digest[:DIGITS_IN_ID])
        return self.digest_as_written, f"{start}{self.digest_as_written[:DIGITS_IN_ID]}"

    @property
    def point(self) -> str:
        """Its label without seed and repetition."""
        words = self.label.split()
        return " ".join(word for word in words if not word.startswith(("seed=", "repetition=")))


def load_experiment(name: str | Path, changes: dict[str, Any] | None = None) -> Experiment:
    """The experiment in a file, given by its path, or of our own by its name.

    Args:
        name: path or name.
        changes: fields that replace those of the file, as `merged` does.

    Raises BadInput naming the file, the field and what is expected.

    Example:
        >>> load_experiment("smoke").name
        'smoke'
    """
    folder = places.root() / "workflows" / "experiments"
    path = Path(name) if str(name).endswith(YAML) else folder / f"{name}.yaml"
    if not path.is_file():
        names = sorted(file.stem for file in folder.glob("*.yaml"))
        expected = f"a .yaml file that exists, or one of {', '.join(names)}"
        raise unknown_name("experiment", str(name), names, expected=expected)
    content = read_yaml(path)
    if changes and isinstance(content, dict):
        content = merged(content, changes)
    return checked(content, path)


def read_config(file: Path | None, settings: list[str]) -> dict[str, Any]:
    """The configuration of the workflow: the file after --configfile, changed by --config.

    File and values are read here, since Snakemake takes `0100` for 64 in the file and for 100 in a
    setting. A value is YAML: `seeds=[1,2]`, `set={time.simulate_ms: 300}`; what it has of a mapping
    replaces that of the file. Raises BadInput as `read_yaml`.

    Example:
        >>> read_config(None, ["seeds=[1, 2]", "set={time.simulate_ms: 300}"])
        {'seeds': [1, 2], 'set': {'time.simulate_ms': 300}}
    """
    content = {} if file is None else read_yaml(file)
    for setting in settings:
        name, _, text = setting.partition("=")
        content = merged(content, {name: parsed(text, f"--config {name}")})
    return content


def experiment_of_config(config: dict[str, Any], file: Path) -> Experiment:
    """The experiment that the configuration of a workflow asks for.

    Args:
        config: an experiment as in its file; or its name or file in the field `experiment`, with
            the fields to change. The field `results` is for the rules.
        file: where the configuration stands; files that it names lie beside it.

    Raises BadInput as `load_experiment`.

    Example:
        >>> config = {"experiment": "smoke", "seeds": [7]}
        >>> experiment_of_config(config, Path("config.yaml")).seeds
        [7]
    """
    if not isinstance(config, dict):
        return checked(config, file)
    changes = {name: value for name, value in config.items() if name not in CONFIG_FIELDS}
    name = config.get("experiment")
    if name is None:
        return checked(changes, file)
    if not isinstance(name, str):
        raise BadInput(
            field="experiment",
            value=name,
            expected="a name or a file",
            file=file,
        )
    return load_experiment(name, changes)


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """The values in words FIELD=VALUE by their fields; VALUE is YAML.

    Raises BadInput for words without `=`, and a value that is no YAML.

    Example:
        >>> parse_settings(["repetitions=1", "seeds=[1, 2]"])
        {'repetitions': 1, 'seeds': [1, 2]}
    """
    values: dict[str, Any] = {}
    for setting in settings:
        field, separator, text = setting.partition("=")
        if not separator:
            raise BadInput(field="--set", value=setting, expected="FIELD=VALUE")
        values[field] = parsed(text, f"--set {field}")
    return values


def changed(experiment: Experiment, values: Mapping[str, Any]) -> Experiment:
    """An experiment with other values of some fields.

    Args:
        experiment: stays as it is.
        values: by fields: those of the experiment, such as `repetitions`, options of its preset,
            such as `preset.areas`, fields of its machine, such as `machine.cv`, or fields of the
            description, such as `time.simulate_ms`.

    Raises BadInput for a field that entries of the grid have values for, and as `load_experiment`.

    Example:
        >>> values = {"time.simulate_ms": 20, "repetitions": 2}
        >>> experiment = changed(load_experiment("smoke"), values)
        >>> experiment.repetitions, experiment.set["time.simulate_ms"]
        (2, 20)
    """
    if not values:
        return experiment
    changes: dict[str, Any] = {}
    fields_of_grid = {field for entry in experiment.grid for field in entry}
    for field, value in values.items():
        if field in fields_of_grid:
            reason = "entries of the grid have values of it; expected --set grid=[…]"
            raise BadInput(field=field, value=value, reason=reason, code="conflict")
        changes = merged(changes, _change(field, value))
    content = experiment.model_dump(mode="json", exclude_unset=True)
    return checked(merged(content, changes), Path("--set"))


def _change(field: str, value: object) -> dict[str, Any]:
    """A field of an experiment in its place.

    Raises BadInput for one that an experiment does not have, and for a part of one that has none.

    Example:
        >>> _change("preset.areas", 4), _change("time.simulate_ms", 300)
        ({'preset': {'options': {'areas': 4}}}, {'set': {'time.simulate_ms': 300}})
    """
    first, _, rest = field.partition(".")
    if field in Experiment.model_fields:
        return {field: value}
    if first == "preset" and rest:
        return {"preset": {"options": {rest: value}}}
    if first == "machine" and rest:
        return {"machine": {rest: value}}
    if first not in DESCRIPTION_FIELDS:
        raise _unknown_setting(field)
    return {"set": {field: value}}


def _unknown_setting(field: str) -> BadInput:
    """The complaint about a field of `changed` that no experiment has, or none in parts."""
    first, *parts = field.split(".")
    expected = fields_in_words([*DESCRIPTION_FIELDS, "preset", "machine", *OFTEN_CHANGED])
    if first in Experiment.model_fields and parts:
        return cannot_be_set(field, f"{first!r}, which has no parts").within("--set")
    with_parts = [*DESCRIPTION_FIELDS, "preset", "machine"]
    paths = [".".join([name, *parts]) for name in with_parts]
    alike = proposal(field, [*Experiment.model_fields, *paths])
    return cannot_be_set(field, expected + alike).within("--set")


def merged(content: object, changes: object) -> Any:
    """`content` with `changes`; mappings are merged, at any depth.

    Example:
        >>> merged({"set": {"seed": 1, "lag": 0}}, {"set": {"lag": 1}})
        {'set': {'seed': 1, 'lag': 1}}
    """
    if not (isinstance(content, dict) and isinstance(changes, dict)):
        return changes
    result = dict(content)
    for name, value in changes.items():
        result[name] = merged(content.get(name), value)
    return result


def checked(content: object, path: Path) -> Experiment:
    """The experiment in the content of the file `path`. Raises BadInput as `load_experiment`.

    Example:
        >>> checked({"name": "scaling", "rank": [2]}, Path("scaling.yaml"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: scaling.yaml: rank: unknown; expected name, title, ...
    """
    if not isinstance(content, dict):
        fields = ", ".join(Experiment.model_fields)
        message = f"expected a mapping of fields, {fields}"
        raise BadInput(message, file=path, code="file")
    experiment = valid(Experiment, content, path, "")
    grid = [_located(entry, path.parent) for entry in experiment.grid]
    changes: dict[str, Any] = {"set": _located(experiment.set, path.parent), "grid": grid}
    if experiment.description is not None:
        description = (path.parent / experiment.description).resolve()
        if not description.is_file():
            message = f"description: {description} is not a file"
            raise BadInput(message, field="description", file=path)
        changes["description"] = description
    return experiment.model_copy(update=changes)


def _located(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Fields of a description, or lists of their values, whose files can be found from anywhere."""
    located_fields = {}
    for name, values in fields.items():
        new_values = [located({name: value}, folder)[name] for value in as_list(values)]
        located_fields[name] = new_values if isinstance(values, list) else new_values[0]
    return located_fields


def _axes(experiment: Experiment, entry: dict[str, Any]) -> dict[str, list[Any]]:
    """The values of each field that varies in an entry of the grid."""
    axes = {}
    for name in PLACES:
        values = getattr(experiment, name)
        if values:
            axes[name] = as_list(values)
    for field, values in entry.items():
        axes[field] = as_list(values)
    return axes


def _combinations(experiment: Experiment) -> Iterator[dict[str, Any]]:
    """A value for each field of an entry of the grid, in all combinations."""
    for entry in experiment.grid:
        axes = _axes(experiment, entry)
        for values in itertools.product(*axes.values()):
            yield dict(zip(axes, values, strict=True))


def number(experiment: Experiment) -> int:
    """How many runs an experiment has.

    Example:
        >>> number(load_experiment("smoke"))  # of runs
        8
    """
    combinations = 0
    for entry in experiment.grid:
        axes = _axes(experiment, entry)
        combinations += math.prod(len(values) for values in axes.values())
    return combinations * len(experiment.seeds) * experiment.repetitions


def expand(experiment: Experiment) -> list[RunSpec]:
    """All runs of an experiment in the order of measuring.

    Runs are measured in blocks, one for every repetition of every seed, so that what is compared is
    measured close together; blocks, and runs within a block, are shuffled, so that slow changes of
    the machine do not favour one part of the grid. The order follows from `shuffle_seed`, the seeds
    and the runs as they are written: adding runs does not reorder the others.

    Raises BadInput for more than MAX_RUNS runs, for options the preset refuses and for entries of
    the grid that give the same run twice.

    Example:
        >>> expand(load_experiment("smoke"))[0].label
        'placement_only ranks=2 seed=1'
    """
    if number(experiment) > MAX_RUNS:
        message = f"{experiment.name}: more than {MAX_RUNS} runs; expected fewer"
        raise BadInput(message, field="grid", code="range")
    descriptions = _Descriptions(experiment)
    runs: dict[str, RunSpec] = {}
    for combination in _combinations(experiment):
        for run in _runs(experiment, combination, descriptions):
            if run.id in runs:
                message = f"grid: {run.label!r} and {runs[run.id].label!r} are the same run"
                raise BadInput(message, field="grid")
            runs[run.id] = run

    def place(run: RunSpec) -> tuple[str, str]:
        block = [experiment.shuffle_seed, "block", run.seed, run.repetition]
        run_in_block = [experiment.shuffle_seed, run.digest_as_written]
        return digests.digest_as_written(block), digests.digest_as_written(run_in_block)

    return sorted(runs.values(), key=place)


@dataclass(frozen=True)
class _Form:
    """A form of JSON, and the networks that have been written in it."""

    written: Callable[[object], str]
    text_by_id: dict[int, str]  #: of networks, by id()

    def text(self, value: object) -> str:
        """The value in this form, with the names of fields in order."""
        if id(value) in self.text_by_id:
            return self.text_by_id[id(value)]
        if not isinstance(value, dict):
            return self.written(value)
        members = [f"{json.dumps(name)}: {self.text(value[name])}" for name in sorted(value)]
        return f"{{{', '.join(members)}}}"


class _ProfileDigests(NamedTuple):
    """The digest of a machine, and the same of its numbers as they are written."""

    digest: str
    as_written: str


class _Descriptions:
    """The descriptions of an experiment.

    Each network, of megabytes perhaps, is made and written once.
    """

    def __init__(self, experiment: Experiment):
        self.experiment = experiment
        self._base_by_key: dict[str, dict[str, Any]] = {}
        self._network_by_text: dict[str, Any] = {}
        self._canonical = _Form(digests.canonical_text, {})
        self._as_written = _Form(partial(json.dumps, sort_keys=True), {})
        self._profile_by_name: dict[str, _ProfileDigests] = {}

    def profile(self, name: str) -> _ProfileDigests:
        """Of the values of a machine, assumed ones included, from which simulated times follow."""
        if name not in self._profile_by_name:
            machine = filled(name)
            self._profile_by_name[name] = _ProfileDigests(
                machines.digest(machine), machines.digest_as_written(machine)
            )
        return self._profile_by_name[name]

    def describe(self, fields: dict[str, Any], seed: int) -> dict[str, Any]:
        """The description with these fields of the grid.

        Raises BadInput for fields that do not exist.
        """
        changes = {}
        for field, value in {**self.experiment.set, **fields}.items():
            if not field.startswith((PRESET, MACHINE_PREFIX)):
                changes[field] = value
        description = dict(self._base(fields, seed))
        changed_parts = {field.split(".")[0] for field in changes}
        for part in changed_parts & description.keys():
            description[part] = copy.deepcopy(description[part])
        for field, value in changes.items():
            assign(description, field, copy.deepcopy(value))
        return self._shared(description)

    def _base(self, fields: dict[str, Any], seed: int) -> dict[str, Any]:
        """The description of the preset, or of the file, before fields of the grid are set."""
        preset = self.experiment.preset
        if preset is None:
            name = str(self.experiment.description)
            options: dict[str, Any] = {}
        else:
            grid_options = _without_prefix(fields, PRESET)
            name = grid_options.pop("name", preset.name)
            options = dict(preset.options) if name == preset.name else {}
            options |= grid_options
        key = json.dumps([name, options, seed])
        if key not in self._base_by_key:
            if preset is None:
                description = {**_read_description(Path(name)), "seed": seed}
            else:
                description = _described(name, options, seed)
            self._base_by_key[key] = self._shared(description)
        return self._base_by_key[key]

    def _shared(self, description: dict[str, Any]) -> dict[str, Any]:
        """The description with the one object of its network."""
        network = description.get("network")
        if "network" not in description or id(network) in self._as_written.text_by_id:
            return description
        text = json.dumps(network, sort_keys=True)
        network = self._network_by_text.setdefault(text, network)
        self._as_written.text_by_id[id(network)] = text
        self._canonical.text_by_id[id(network)] = digests.canonical_text(network)
        return {**description, "network": network}

    def digest(self, identity: dict[str, Any]) -> str:
        """The digest of what defines a measurement, with descriptions of `of` in it."""
        return digests.of_text(self._canonical.text(identity))

    def digest_as_written(self, identity: dict[str, Any]) -> str:
        """The same, of the numbers as they are written."""
        return digests.of_text(self._as_written.text(identity))


def _without_prefix(fields: dict[str, Any], prefix: str) -> dict[str, Any]:
    """The fields that begin with a prefix, without it."""
    return {
        field.removeprefix(prefix): value
        for field, value in fields.items()
        if field.startswith(prefix)
    }


def _described(name: object, options: dict[str, Any], seed: int) -> dict[str, Any]:
    """The description that a preset gives, in terms of JSON."""
    if not isinstance(name, str) or name not in presets.PRESETS:
        raise unknown_name("preset.name", name, presets.PRESETS)
    description = presets.PRESETS[name].describe(**{**options, "seed": seed})
    content: dict[str, Any] = json.loads(json.dumps(description))
    return content


def _read_description(path: Path) -> dict[str, Any]:
    """The run description in a file, with files that can be found from anywhere."""
    description = read_json_or_yaml(path)
    if not isinstance(description, dict):
        message = "not a run description: one object is needed"
        raise BadInput(message, file=path, code="file")
    check_plain(description, path)
    result: dict[str, Any] = located(description, path.parent)
    return result


def _runs(
    experiment: Experiment, combination: dict[str, Any], descriptions: _Descriptions
) -> Iterator[RunSpec]:
    """The runs of one combination: every seed, as often as the repetitions say."""
    fields = {field: value for field, value in combination.items() if field not in PLACES}
    layout = {field: combination[field] for field in LAYOUT if field in combination}
    placed = {"ranks": combination["ranks"], "threads": combination["threads"], **layout}
    machine = _machine(experiment, fields)
    for seed in experiment.seeds:
        description = descriptions.describe(fields, seed)
        identity: dict[str, Any] = {"description": with_content(description), **placed}
        identity_as_written = dict(identity)
        compute_of = None
        if machine is not None:
            if machine.compute_of:
                compute_of = descriptions.describe({**fields, **machine.compute_of}, seed)
            profile = descriptions.profile(machine.profile)
            simulated = {
                **machine.identity,
                "compute_of": compute_of and with_content(compute_of),
            }
            identity["machine"] = {**simulated, "profile": profile.digest}
            identity_as_written["machine"] = {**simulated, "profile": profile.as_written}
        for repetition in range(1, experiment.repetitions + 1):
            of_run = descriptions.digest({**identity, "repetition": repetition})[:DIGEST_DIGITS]
            as_written = descriptions.digest_as_written(
                {**identity_as_written, "repetition": repetition}
            )
            yield RunSpec(
                id=_id(description, placed, seed, repetition, of_run),
                digest=of_run,
                digest_as_written=as_written[:DIGEST_DIGITS],
                label=_label(experiment, fields, placed, seed, repetition),
                **placed,
                seed=seed,
                repetition=repetition,
                fields=fields | layout,
                description=description,
                machine=machine,
                compute_of=compute_of,
            )


def _machine(experiment: Experiment, fields: dict[str, Any]) -> SimulatedOn | None:
    """The machine to simulate: that of the experiment, changed by fields `machine.…` of the grid.

    None where runs are measured. Raises BadInput for impossible fields.
    """
    if experiment.machine is None:
        return None
    content = experiment.machine.model_dump(exclude_unset=True)
    content |= _without_prefix(fields, MACHINE_PREFIX)
    try:
        machine = SimulatedOn.model_validate(content)
    except ValidationError as error:
        problem = invalid(error, model=SimulatedOn).within(field="machine")
        raise problem.within(file="grid") from None
    preset = fields.get(PRESET_NAME, experiment.preset and experiment.preset.name)
    if machine.rate_hz == BY_POPULATION and preset != PRESET_WITH_RATES:
        expected = f"expected with the preset {PRESET_WITH_RATES}, not {preset}"
        message = f"machine.rate_hz={BY_POPULATION!r}: {expected}"
        raise BadInput(
            message,
            field="machine.rate_hz",
            code="conflict",
        )
    return machine


def filled(profile: str) -> machines.Profile | machines.MachineOfParts:
    """A profile or machine of parts with assumed values.

    Raises BadInput if it is missing or invalid.

    Example:
        >>> filled("jureca-dc").values["interconnect.gap"].kind
        'literature'
    """
    return machines.filled(machines.load_any(profile))


def _id(
    description: dict[str, Any],
    placed: dict[str, Any],
    seed: int,
    repetition: int,
    digest: str,
) -> str:
    """The id of a run: schedule, D, ranks, threads, seed and repetition, and what tells it apart.

    It names files. The same run has the same id in every experiment.
    """
    name = description.get("schedule", "conventional")
    schedule = SCHEDULES.get(name) if isinstance(name, str) else None
    words = [schedule.name if schedule else LANES]
    delay_ratio = description.get("delay_ratio")
    if delay_ratio is not None and (schedule is None or schedule.uses_delay_ratio):
        words.append(f"D{_as_word(digests.canonical(delay_ratio))}")
    words.append(f"r{placed['ranks']}")
    if placed["threads"] > 1:
        words.append(f"t{placed['threads']}")
    words.append(f"s{seed}")
    if repetition > 1:
        words.append(f"n{repetition}")
    words.append(digest[:DIGITS_IN_ID])
    return "-".join(words)


def _as_word(value: object) -> str:
    """A value in the name of a file, without what has no place there."""
    return re.sub(r"[^0-9A-Za-z]+", "", str(value))[:MAX_DIGITS_OF_D]


def _label(
    experiment: Experiment,
    fields: dict[str, Any],
    placed: dict[str, Any],
    seed: int,
    repetition: int,
) -> str:
    """What a run is called: what distinguishes it from others of the experiment."""
    # Of these, the value says what it is.
    without_name = [field for field in (PRESET_NAME, "schedule") if field in fields]
    words = [str(fields[field]) for field in without_name]
    for field, value in fields.items():
        if field not in without_name:
            name = field.removeprefix(PRESET).removeprefix(MACHINE_PREFIX).split(".")[-1]
            words.append(f"{SHORT_NAMES.get(field, name)}={_shown(field, value)}")
    several_threads = len(experiment.threads) > 1 or placed["threads"] > 1
    for name, value in placed.items():
        if name != "threads" or several_threads:
            words.append(f"{name}={value}")
    words.append(f"seed={seed}")
    if experiment.repetitions > 1:
        words.append(f"repetition={repetition}")
    return " ".join(words)


def _shown(field: str, value: object) -> str:
    """A value in a label.

    Of a placement file, its name; ranks by part in the words of the command line.
    """
    if field == f"{MACHINE_PREFIX}on" and isinstance(value, dict):
        return ",".join(f"{part}={ranks}" for part, ranks in value.items())
    if field != "placement" or not isinstance(value, dict):
        return str(value)
    try:
        placement_text.text_of(value)
    except ValueError as error:
        raise BadInput(f"placement: {error}", field="placement") from None
    return placement_text.name_of(value)
