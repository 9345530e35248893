"""Arguments and options that several commands share.

A command is a function; its parameters are declared in its signature, and these aliases stand
there like types, beside a default:

    @app.command(rich_help_panel=RUN_AND_REPORT)
    def dryrun(description: params.RunFile, threads: params.Threads = None) -> None:
        \"""Measure some ranks of a large machine on this node.\"""

What one command alone has is declared there, as `Annotated[int, typer.Option(...)]`. Brackets at
the end of a help text say what is taken where the option is not given; they are needed where the
default is None. Help is ASCII: click writes UTF-8 even to terminals that have only that.

Some options belong together: those that name a network, and those that say how it is to run.
`network_of` and `ways_of` make one thing of each group; a command calls them in its body.
"""

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from spikemark.core.commands import command
from spikemark.core.errors import BadInput, unknown_name

from .options import WHOLE_NUMBER, is_file, machine_of_any_kind, only_with

if TYPE_CHECKING:
    from spikemark.prediction.question import Question


# Completion: names that a shell offers for what has been typed of one


def beginning(names: Iterable[str], incomplete: str) -> list[str]:
    """Names that begin with what has been typed, in their order.

    >>> beginning(["nest", "neighbor", "p2p"], "ne")
    ['nest', 'neighbor']
    """
    return [name for name in names if name.startswith(incomplete)]


def machine_names(incomplete: str) -> list[str]:
    """Names of machine profiles and of machines of parts.

    Example:
        >>> machine_names("jureca")
        ['jureca-dc']
    """
    from spikemark import machines

    return beginning(machines.names(*machines.ALL), incomplete)


def experiment_names(incomplete: str) -> list[str]:
    """Names of the experiments of the checkout, in alphabetical order.

    Example:
        >>> experiment_names("weak")
        ['weak-scaling']
    """
    from spikemark.core import places

    files = (places.root() / "workflows" / "experiments").glob("*.yaml")
    return beginning(sorted(file.stem for file in files), incomplete)


def registered_names(module: str, registry: str, incomplete: str) -> list[str]:
    """Names in a registry (a mapping) of a module, which is loaded only when a shell asks.

    Example:
        >>> registered_names("network.schedules", "SCHEDULES", "struct")
        ['structure_aware']
    """
    names = getattr(importlib.import_module(f"spikemark.{module}"), registry)
    return beginning(names, incomplete)


def preset_names(incomplete: str) -> list[str]:
    """Names of the presets.

    Example:
        >>> preset_names("mam")
        ['mam', 'mam-benchmark']
    """
    return registered_names("network.presets", "PRESETS", incomplete)


def schedule_names(incomplete: str) -> list[str]:
    """Names of the schedules.

    Example:
        >>> schedule_names("conv")
        ['conventional']
    """
    return registered_names("network.schedules", "SCHEDULES", incomplete)


def placement_names(incomplete: str) -> list[str]:
    """Names of the placements that the mini-app makes itself.

    Example:
        >>> placement_names("round")
        ['round_robin']
    """
    return registered_names("network.placement", "PLACEMENTS", incomplete)


# Callbacks: values checked or changed before the command begins


def with_underscores(name: str | None) -> str | None:
    """The name of a schedule as files have it; pages print it with hyphens.

    Example:
        >>> with_underscores("structure-aware")
        'structure_aware'
    """
    return None if name is None else name.replace("-", "_")


def known_machine(context: typer.Context, option: Any, named: Any) -> Any:
    """Names of machines or paths of profiles, one or several, as they are given.

    Raises BadInput for one that cannot be read: a wrong value comes before what is missing.
    """
    if named is not None and not context.resilient_parsing:
        for name in [named] if isinstance(named, str) else named:
            machine_of_any_kind(name, filled=False)
    return named


def writable(context: typer.Context, option: typer.CallbackParam, path: Path | None) -> Path | None:
    """The path of an output file. Raises BadInput, before any work, if it cannot be written."""
    if path is not None and not context.resilient_parsing:
        from spikemark.core.files import output_file

        output_file(option.opts[0], path)
    return path


def _folder_of_results(context: typer.Context, path: Path) -> Path:
    """The path of a results folder. Raises BadInput for a file, such as an experiment."""
    if path.is_file() and not context.resilient_parsing:
        sweep = command("sweep", "EXPERIMENT.yaml")
        expected = f"a results folder, as {sweep} makes it: results/EXPERIMENT/MACHINE"
        raise BadInput(field="RESULTS_DIR", value=str(path), reason="a file", expected=expected)
    return path


# Files and folders

Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name of a file in workflows/experiments, such as demo, or the path of such a file.",
        autocompletion=experiment_names,
    ),
]
ResultsDir = Annotated[
    Path,
    typer.Argument(
        metavar="RESULTS_DIR",
        help="A results folder: results/EXPERIMENT/MACHINE.",
        callback=_folder_of_results,
    ),
]
RunDir = Annotated[
    Path, typer.Argument(metavar="RUN_DIR", help="Folder of the run, with its record.")
]
RunFile = Annotated[Path, typer.Argument(metavar="RUN.json", help="A run description.")]
Results = Annotated[
    Path | None, typer.Option(help="Folder of all results [results in the current folder].")
]
ResultsName = Annotated[
    str | None,
    typer.Option("--machine", help="Name of the results folder, instead of the host name."),
]

# The network that is asked about: see network_of

Networks = Annotated[
    list[str] | None,
    typer.Argument(metavar="NETWORK", help="A run description, or the name of a preset."),
]
Run = Annotated[
    str | None,
    typer.Option(
        metavar="NETWORK",
        help="The network: a run description, as JSON or YAML, or the name of a preset.",
    ),
]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The network: a preset; the same as --run NAME.",
        autocompletion=preset_names,
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Use the preset at its published size.")]
PresetOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--option", metavar="NAME=VALUE", help="An option of the preset; may be repeated."
    ),
]
Rate = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Mean firing rate in Hz, if neither the network nor its publication gives it.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Change a field of the description; may be repeated.",
    ),
]

# How the network is to run: see ways_of

Schedule = Annotated[
    str | None,
    typer.Option(
        help="Schedule [predict: that of the description; else all].",
        callback=with_underscores,
        autocompletion=schedule_names,
    ),
]
Placement = Annotated[
    str | None,
    typer.Option(
        help="Which rank holds which neurons [predict: as the schedule needs; else all].",
        autocompletion=placement_names,
    ),
]
DelayRatio = Annotated[
    str | None,
    typer.Option(
        metavar="D|auto",
        help=(
            "Cycles between two exchanges of all ranks; auto: the largest D that is exact"
            " [that of the description, else auto]."
        ),
    ),
]
Lag = Annotated[
    int | None,
    typer.Option(
        min=1,
        help=(
            "L: how many windows an exchange may take"
            " [predict: that of the description; else 1 to 3]."
        ),
    ),
]
Exchange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[LANE=]NAME",
        help="Exchange of all lanes, or of one; may be repeated [those of the description].",
    ),
]

# The machine, and the ranks on it

MACHINE_HELP = "A profile: its name (`spikemark machine` lists them), or the path of one."

NeededMachine = Annotated[
    str,
    typer.Option(help=MACHINE_HELP, autocompletion=machine_names, callback=known_machine),
]
Nodes = Annotated[int | None, typer.Option(min=1, help="Number of nodes [as few as are needed].")]
RanksPerNode = Annotated[
    int | None, typer.Option(min=1, help="Ranks that share a node [as many as fit].")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of a rank [all cores].")]
RanksByPart = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="PART=N,PART=N",
        help="Ranks by part of a machine of parts, such as x86=4,arm=8 [fill each part in turn].",
    ),
]

# What is predicted, and what it costs

Program = Annotated[str, typer.Option(metavar="NAME", help="Whose times: mini-app, nest or dpsnn.")]
Anchor = Annotated[
    Path | None,
    typer.Option(
        metavar="RUNS.csv",
        help="Your own runs of the program: nodes, ranks, threads, real_time_factor.",
    ),
]
Years = Annotated[float, typer.Option(help="Years of use.")]
HoursPerYear = Annotated[float, typer.Option(help="Hours of use in each year.")]
PriceKwh = Annotated[
    float | None, typer.Option(metavar="AMOUNT", help="Price of one kWh of energy.")
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of what is drawn.")]

# What is read from files with times

Unit = Annotated[
    str | None,
    typer.Option(
        help=(
            "Unit of times in tables: s, ms, us or ns; needed unless their columns name it,"
            " as compute_us."
        )
    ),
]

# How the answer is shown

Details = Annotated[bool, typer.Option("--details", help="Print all tables.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
TableForm = Annotated[
    Literal["csv", "markdown", "latex"] | None,
    typer.Option("--format", help="Print only the table of the answer, in this form."),
]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write a page to this file.", callback=writable),
]


def network_of(
    networks: list[str] | None,
    run: str | None,
    preset: str | None,
    full: bool,
    option: list[str] | None,
    rate: float | None,
) -> "Question | None":
    """The network that is asked about, a preset or one file; None where none is named.

    Args:
        networks: what stands as NETWORK on the command line: files or names of presets.
        run: --run, the same as an option.
        preset: --preset, a name.
        full: whether the preset has its published size.
        option: options of the preset, NAME=VALUE each.
        rate: mean firing rate in Hz.

    Raises BadInput for several networks, and for options of a preset beside a file.

    Example:
        >>> network_of(["microcircuit"], None, None, False, None, None).title
        'microcircuit'
        >>> network_of(["run.json", "microcircuit"], None, None, False, None, None)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: NETWORK='run.json, microcircuit'; expected one ...
    """
    from spikemark.prediction import question

    preset, names, asked_as = _preset_or_files(networks, run, preset)
    if preset is not None:
        return question.of_preset(preset, full, option, rate, asked_as)
    only_with("preset", None, full=full, option=option)
    return question.of_file(Path(names[0]), rate) if names else None


def _preset_or_files(
    networks: list[str] | None, run: str | None, preset: str | None
) -> tuple[str | None, list[str], str]:
    """The preset that is asked about or None, all names on the command line, and the option or
    argument that held the preset, for refusals. Raises BadInput for several networks.
    """
    names = list(networks or [])
    if run is not None:
        names.append(run)
    if len(names) > 1 or (names and preset is not None):
        expected = "one network: a file such as run.json, or a preset"
        raise BadInput(field="NETWORK", value=", ".join(names), expected=expected)
    asked_as = "preset"
    if names and not is_file(names[0]):
        preset = names[0]
        asked_as = "run" if run is not None else "NETWORK"
    return preset, names, asked_as


def check_network(networks: list[str] | None, run: str | None, preset: str | None) -> None:
    """Check the name of the network that is asked about, which takes less time than to describe it.

    Raises BadInput where no network is named, or several, or a file or preset that does not exist.

    Example:
        >>> check_network(["microcircuit"], None, None)
        >>> check_network(["micro"], None, None)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: NETWORK='micro'; expected ...
    """
    from spikemark.network.presets import PRESETS

    preset, names, asked_as = _preset_or_files(networks, run, preset)
    if preset is None and not names:
        raise no_network()
    if names and preset is None and not Path(names[0]).exists():
        raise BadInput(file=names[0], reason="not found", code="file")
    if preset is not None and preset not in PRESETS:
        raise unknown_name(asked_as, preset, PRESETS)


def check_given(ways: dict[str, Any], program: str, **more: Any) -> None:
    """Check values that are given before what is missing is complained about, or a large network is
    described.

    Args:
        ways: as of `ways_of`.
        program: by its name.
        more: other options, by name, that may mean nothing for the program.

    Raises BadInput for an unknown name, and for what means nothing here.

    Example:
        >>> check_given({"schedule": "overlap"}, "mini-app")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: schedule='overlap'; expected ...
    """
    from spikemark.prediction import programs
    from spikemark.prediction.question import fixed_by

    programs.program_named(program).refuse_unused(**ways, **more)
    fixed_by(**ways)


def needed_network(
    networks: list[str] | None,
    run: str | None,
    preset: str | None,
    full: bool,
    option: list[str] | None,
    rate: float | None,
) -> "Question":
    """The same. Raises BadInput where no network is named.

    Example:
        >>> needed_network(None, None, None, False, None, None)
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: NETWORK: missing; expected a file such as run.json, ...
    """
    network = network_of(networks, run, preset, full, option, rate)
    if network is None:
        raise no_network()
    return network


def no_network() -> BadInput:
    """The complaint about a command line that names no network.

    Example:
        >>> str(no_network())
        'NETWORK: missing; expected a file such as run.json, or a preset'
    """
    return _missing("NETWORK", "a file such as run.json, or a preset")


def no_layout() -> BadInput:
    """The complaint about a command line that says neither nodes nor ranks.

    Example:
        >>> str(no_layout())
        '--nodes: missing; expected numbers of nodes (--nodes N,N), or of ranks (--ranks N,N)'
    """
    return _missing("--nodes", "numbers of nodes (--nodes N,N), or of ranks (--ranks N,N)")


def _missing(field: str, expected: str) -> BadInput:
    """The complaint about a command line without a field."""
    return BadInput(field=field, reason="missing", expected=expected, code="missing")


def ways_of(
    schedule: str | None,
    placement: str | None,
    delay_ratio: str | None,
    lag: int | None,
    exchange: list[str] | None,
) -> dict[str, Any]:
    """How the network is to run, as `Question.way` takes it.

    What is None is as the description states, or is searched for. `exchange` becomes one name for
    all lanes, or a mapping from lanes to names.

    >>> ways_of("overlapped", None, "8", None, ["local=shared", "global=p2p"])["exchange"]
    {'local': 'shared', 'global': 'p2p'}

    Raises BadInput for a D that is no number, and for an exchange that is named twice.
    """
    return {
        "schedule": schedule,
        "placement": placement,
        "delay_ratio": _delay_ratio(delay_ratio),
        "lag": lag,
        "exchange": _exchange(exchange or []),
    }


def _delay_ratio(text: str | None) -> int | str | None:
    if text is None or text == "auto":
        return text
    if not WHOLE_NUMBER.fullmatch(text):
        expected = "auto, or a whole number above 0"
        raise BadInput(field="--delay-ratio", value=text, expected=expected)
    return int(text)


def _exchange(texts: list[str]) -> dict[str, str] | str | None:
    by_lane = dict(text.split("=", 1) for text in texts if "=" in text)
    if by_lane and len(by_lane) == len(texts):
        return by_lane
    if len(texts) > 1:
        expected = "one name for all lanes, or LANE=NAME for each, once"
        raise BadInput(field="--exchange", value=", ".join(texts), expected=expected)
    return texts[0] if texts else None
