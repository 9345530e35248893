"""Parameters of commands: how they are declared, and those that several commands share.

A command is a function under `verb`. Its docstring has the help, then a line for each parameter: `NAME: help`
for an argument, in their order, and `--name VALUE: help` for an option. An option that may be None needs no
default. A parameter without annotation is shared: SHARED declares it, or GROUPS makes it of several options.
"""

import copy
import functools
import inspect
import json as json_format
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from spikemark.core.errors import BadInput

from .kinds import (
    Count,
    Experiment,
    File,
    Number,
    OutputFile,
    Placement,
    Preset,
    Schedule,
    Text,
    Texts,
    number,
)

MOST_RANKS = 64  # numbers of ranks in one question
WHOLE = re.compile(r"[1-9][0-9]{0,8}")
_PARAMETER = re.compile(r"(--[a-z][\w-]*|[A-Z][A-Z_|… ]*(?:\.[a-z]+)?(?:\[…\])?)(?: (\S+?))?: (.*)")


def _shared(
    experiment: Experiment, folder: Path, run_dir: Path, *,
    anchor: File, details: bool = False, exchange: Texts, full: bool = False, hours_per_year: float = 8000.0,
    html: OutputFile, json: bool = False, machine: Text, nodes: Count, on: Text, option: Texts,
    price_kwh: Number, ranks_per_node: Count, rate: Number, results: File, set: Texts,
    seed: number(0, kind=int) = 1, simulator: str = "mini-app", target_rtf: Number,
    threads: Count, years: float = 5.0,
) -> None:  # fmt: skip
    """The shared ones.

    EXPERIMENT: Name of a file in workflows/experiments, such as demo, or the path of such a file.
    RESULTS_DIR: A results folder: results/EXPERIMENT/MACHINE.
    RUN_DIR: Folder of the run, with its record.
    --anchor RUNS.csv: Your own runs of the simulator: nodes, ranks, threads, real_time_factor.
    --details: Print all tables.
    --full: Use the preset at its published size.
    --hours-per-year: Hours of use in each year.
    --html FILE: Also write a page to this file.
    --json: Print JSON instead of tables.
    --machine: Name of the results folder, instead of the host name.
    --nodes: Number of nodes [as few as are needed].
    --on PART=N,PART=N: Ranks by part of a machine of parts, such as x86=4,arm=8 [fill each part in turn].
    --option NAME=VALUE: An option of the preset; may be repeated.
    --price-kwh AMOUNT: Price of one kWh of energy.
    --ranks-per-node: Ranks that share a node [as many as fit].
    --rate: Mean firing rate in Hz, if neither the network nor its publication gives it.
    --results: Folder of all results [results/ in the checkout].
    --seed: Seed of what is drawn.
    --set FIELD=VALUE: Change a field of the description; may be repeated.
    --simulator: Program to predict: mini-app, nest or dpsnn.
    --target-rtf FACTOR: Real-time factor to reach; 1 is real time.
    --threads: Threads of a rank [all cores].
    --years: Years of use.
    """


def network(
    networks: Annotated[list[str] | None, typer.Argument()] = None, *,
    run: Text, preset: Preset, full, option, rate,
):  # fmt: skip
    """The network that is asked about, a preset or one file; None where none is named.

    Raises BadInput for several, and for options of a preset beside a file.

    NETWORK: A run description, or the name of a preset.
    --run NETWORK: The network: a run description, as JSON or YAML, or the name of a preset.
    --preset NAME: The network: a preset; the same as --run NAME.
    """
    from spikemark.prediction import question

    found = [str(name) for name in (*(networks or []), run) if name is not None]
    if len(found) + (preset is not None) > 1:
        raise BadInput.of("NETWORK", ", ".join(found), "one network: a file such as run.json, or a preset")
    if found and not is_file(found[0]):
        preset = found[0]
    if preset is not None:
        return question.of_preset(preset, full, option, rate)
    only_with("preset", None, full=full, option=option)
    return question.of_file(Path(found[0]), rate) if found else None


def way(*, schedule: Schedule, placement: Placement, delay_ratio: Text, lag: Count, exchange: Texts):
    """How the network is to run, by WAYS of prediction/question.py; None: as the description or the best.

    --schedule: Schedule [predict: that of the description; else all].
    --placement: Which rank holds which neurons [predict: as the schedule needs; else all].
    --delay-ratio D|auto: Cycles between two exchanges of all ranks; auto: the largest D that is exact [that
        of the description, else auto].
    --lag: L: how many windows an exchange may take [predict: that of the description; else 1 to 3].
    --exchange [LANE=]NAME: Exchange of all lanes, or of one; may be repeated [those of the description].
    """
    if delay_ratio not in (None, "auto"):
        if not WHOLE.fullmatch(delay_ratio):
            raise BadInput.of("delay_ratio", delay_ratio, "auto, or a whole number above 0")
        delay_ratio = int(delay_ratio)
    lanes = dict(text.split("=", 1) for text in exchange or [] if "=" in text)
    if len(exchange or []) > max(1, len(lanes)):
        expected = "one name for all lanes, or LANE=NAME for each, once"
        raise BadInput.of("exchange", ", ".join(exchange), expected)
    exchange = lanes or (exchange[0] if exchange else None)
    return {"schedule": schedule, "placement": placement, "delay_ratio": delay_ratio, "lag": lag,
            "exchange": exchange}  # fmt: skip


GROUPS = {"asked": network, "named": functools.partial(network, None), "how": way}


def _flag(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _documented(function: Callable) -> tuple[str, list[list[str]]]:
    """The help of a command, and [name, value, help] of each parameter that its docstring lists."""
    prose, listed = [], []
    for line in inspect.cleandoc(getattr(function, "func", function).__doc__ or "").splitlines():
        if found := _PARAMETER.fullmatch(line):
            listed.append([found[1], found[2], found[3]])
        elif listed:
            listed[-1][2] += f" {line.strip()}"
        else:
            prose.append(line)
    return "\n".join(prose).strip(), listed


def _declared(function: Callable) -> dict[str, inspect.Parameter]:
    """The parameters of a function as Typer reads them."""
    listed = _documented(function)[1]
    arguments = iter([one for one in listed if not one[0].startswith("--")])
    options, found = {one[0]: one for one in listed}, {}
    for name, given in inspect.signature(function).parameters.items():
        if name in GROUPS:
            found |= _declared(GROUPS[name])
            continue
        option, shared = given.kind is given.KEYWORD_ONLY, given.annotation is given.empty
        annotation, default = given.annotation, given.default
        if shared:
            annotation = SHARED[name].annotation
            default = SHARED[name].default if default is given.empty else default
        kind, *info = typing.get_args(annotation) if hasattr(annotation, "__metadata__") else [annotation]
        info = copy.copy(info[0]) if info else (typer.Option if option else typer.Argument)()
        if option:
            flag = f"--{_flag(name)}"
            info.param_decls = (flag,)
            _, info.metavar, info.help = options.get(flag, (flag, info.metavar, info.help))
        elif not shared:
            info.metavar, _, info.help = next(arguments)
        if default is given.empty and type(None) in typing.get_args(kind):
            default = None
        found[name] = given.replace(
            default=default, annotation=Annotated[kind, info], kind=given.KEYWORD_ONLY
        )
    return found


SHARED = _declared(_shared)


def verb(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command for Typer: what its docstring and signature declare, and all options of its groups."""
    parameters = _declared(command)
    groups = [(name, GROUPS[name], list(_declared(GROUPS[name])))
              for name in inspect.signature(command).parameters if name in GROUPS]  # fmt: skip

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        for name, group, names in groups:
            given[name] = group(**{one: given.pop(one) for one in names})
        return command(**given)

    run.__doc__ = _documented(command)[0]
    run.__signature__ = inspect.Signature(list(parameters.values()))
    run.__annotations__ = {name: one.annotation for name, one in parameters.items()}
    del run.__wrapped__
    return run


# What options mean, and which of them go together


def _given(options: dict[str, Any]) -> list[str]:
    return [name for name, value in options.items() if value not in (None, False, []) and value != ()]


def only_with(other: str, there: Any, **options: Any) -> None:
    """Raises BadInput for an option that needs `other`, which is not `there`."""
    for name in _given(options) if there in (None, False) else ():
        raise BadInput(f"--{_flag(name)}: alone; expected with {other}", field=_flag(name), code="conflict")


def one_of(**options: Any) -> None:
    """Raises BadInput for more than one of these options."""
    first, *others = _given(options) or [""]
    for name in others:
        said = f"--{_flag(name)}={options[name]}: beside --{_flag(first)}; expected one of them"
        raise BadInput(said, field=_flag(name), code="conflict")


def needed(question):
    """The network. Raises BadInput where none is named."""
    if question is None:
        raise BadInput("NETWORK: missing; expected a file such as run.json, or a preset", code="missing")
    return question


def machine_profile(name: str, filled: bool = True, parts: bool = False):
    """A profile, or, with `parts`, also a machine of parts; unknown values are assumed if `filled`.

    Raises BadInput as `machines.load_any`, and for nodes with accelerators without `parts`.
    """
    from spikemark import machines

    stated = machines.load_any(name) if parts else machines.load(name)
    if not parts:
        stated.refuse_accelerators()
    return machines.filled(stated) if filled else stated


def whole_numbers(text: str, name: str, most: int | None = None) -> list[int]:
    """The numbers of a text such as '16,32'. Raises BadInput for anything else."""
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > MOST_RANKS or not all(map(WHOLE.fullmatch, parts)):
        raise BadInput.of(name, text, f"up to {MOST_RANKS} whole numbers above 0, such as 16,32")
    if most is not None and max(map(int, parts)) > most:
        raise BadInput.of(name, text, f"numbers up to {most}", code="range")
    return [int(part) for part in parts]


def ranks_by_part(text: str | None) -> dict[str, int] | None:
    """Ranks by part of a text such as 'x86=4,arm=8'. Raises BadInput for anything else."""
    from spikemark.launch.layout import by_part

    try:
        return None if text is None else by_part(text)
    except BadInput as why:
        raise BadInput(f"on={text!r}: {why}") from None


def pairs(texts: list[str] | None, name: str, form: str, once: bool = True) -> dict[str, str]:
    """'compute=update' as {'compute': 'update'}. Raises BadInput for another form."""
    found: dict[str, str] = {}
    for text in texts or []:
        left, _, right = text.partition("=")
        if not (left and right) or (once and left in found):
            raise BadInput.of(name, text, form + ", each name once" * once)
        found[left] = right
    return found


def settings(texts: list[str] | None) -> dict[str, Any]:
    """Fields and values of settings such as schedule=NAME. Raises BadInput for others."""
    found: dict[str, Any] = {}
    for field, value in pairs(texts, "set", "FIELD=VALUE", once=False).items():
        try:
            found[field] = json_format.loads(value)
        except ValueError:
            found[field] = value
    return found


def is_file(network: str) -> bool:
    """True if a network is named by a file, not as a preset."""
    from spikemark.core.yaml_file import YAML

    return Path(network).suffix in (".json", *YAML) or Path(network).exists()


def read_description(path: Path, texts: list[str] | None = None) -> dict[str, Any]:
    """The description in a file, with settings such as schedule=NAME. Raises BadInput for others."""
    from spikemark.core.fields import assign
    from spikemark.core.yaml_file import read_json_or_yaml
    from spikemark.network.named_files import located

    content = read_json_or_yaml(path, "a run description is needed")
    if not isinstance(content, dict):
        raise BadInput(f"{path}: not a run description: one object is needed")
    for field, value in settings(texts).items():
        assign(content, field, value)
    return located(content, path.parent)
