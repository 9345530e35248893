"""Arguments and options that several commands share."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from spikemark.core.errors import BadInput

from .output import warn

MOST_RANKS = 64  # numbers of ranks in one question
WHOLE = re.compile(r"[1-9][0-9]{0,8}")

Experiment = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="Name of a file in workflows/experiments, such as demo, or the path of such a file.",
    ),
]
Machine = Annotated[str | None, typer.Option(help="Name of the results folder, instead of the host name.")]
Root = Annotated[
    Path | None, typer.Option(help="Folder of all results, instead of results/ in the checkout.")
]
Folder = Annotated[
    Path, typer.Argument(metavar="RESULTS_DIR", help="A results folder: results/EXPERIMENT/MACHINE.")
]
Where = Annotated[
    str,
    typer.Option(
        help="Where to measure: here (this machine, or the allocation that the command runs in), slurm, or a"
        " folder with slurm.yaml or with a Snakemake profile."
    ),
]
Run = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="Folder of the run, with its record.")]
Runs = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN_DIR…", help="Records of conventional runs of one setup on one machine or cluster."
    ),
]
Assumptions = Annotated[
    bool, typer.Option("--assumptions", help="List every assumption, not only how many there are.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Network = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="NETWORK",
        help="The network: a run description, as JSON or YAML, or the name of a preset.",
    ),
]
PresetName = Annotated[
    str | None, typer.Option("--preset", metavar="NAME", help="The network: a known one; as --run NAME.")
]
Full = Annotated[bool, typer.Option("--full", help="Use the preset at its published size.")]
PresetOptions = Annotated[
    list[str] | None,
    typer.Option("--option", metavar="NAME=VALUE", help="An option of the preset; may be repeated."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Change a field of the description; may be repeated."),
]
Rate = Annotated[
    float | None,
    typer.Option(help="Mean firing rate in Hz, if neither the network nor its publication gives it."),
]
Schedule = Annotated[str | None, typer.Option(help="Schedule [that of the description].")]
Placement = Annotated[
    str | None, typer.Option(help="Which rank holds which neurons [as the schedule needs].")
]
DelayRatio = Annotated[
    str | None,
    typer.Option(
        "--delay-ratio",
        metavar="D|auto",
        help="Cycles between two exchanges of all ranks; auto: the largest D that is exact [that which the"
        " description states, else auto].",
    ),
]
Lag = Annotated[
    int | None,
    typer.Option(min=1, help="L: how many windows an exchange may take [that of the description, else 1]."),
]
Exchange = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[LANE=]NAME",
        help="Exchange of all lanes, or of one; may be repeated [those of the description].",
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of a rank [all cores].")]
RanksPerNode = Annotated[int | None, typer.Option(min=1, help="Ranks that share a node [as many as fit].")]
On = Annotated[
    str | None,
    typer.Option(
        metavar="PART=N,PART=N",
        help="Ranks by part of a machine of parts, such as x86=4,arm=8 [each part filled before the next].",
    ),
]
Whose = Annotated[
    str,
    typer.Option(
        "--simulator",
        help="Program whose times to predict: mini-app or nest. NEST took longer in published runs.",
    ),
]


def machine_profile(name: str, filled: bool = True, accelerators: bool = False):
    """A profile, with what is assumed where it is unknown if `filled`; warns of its odd values.

    Raises BadInput as `machines.load` does, and for nodes with accelerators unless they are wanted.
    """
    from spikemark import machines
    from spikemark.machines.accelerated import refuse

    stated = machines.load(name)
    if not accelerators:
        refuse(stated)
    return _warned(stated, filled)


def any_machine(name: str, filled: bool = True):
    """The same of a profile or a machine of parts. Raises BadInput as `machines.load_any` does."""
    from spikemark import machines

    return _warned(machines.load_any(name), filled)


def _warned(stated, filled: bool):
    from spikemark import machines

    warn(f"{stated.name}: {line}" for line in machines.odd(stated))
    return machines.filled(stated) if filled else stated


def profile_digest(name: str) -> dict[str, str]:
    """The name of a profile or a machine of parts, and the digest of what is stated in it."""
    from spikemark import machines
    from spikemark.machines.digest import digest

    stated = machines.load_any(name)
    return {"name": stated.name, "digest": digest(stated)}


def whole_numbers(text: str, name: str) -> list[int]:
    """The numbers of a text such as '16,32'. Raises BadInput for anything else."""
    parts = text.split(",")
    if len(parts) > MOST_RANKS or not all(WHOLE.fullmatch(part.strip()) for part in parts):
        raise BadInput(f"{name}={text!r}: up to {MOST_RANKS} whole numbers above 0 are needed, such as 16,32")
    return [int(part) for part in parts]


def ranks_by_part(text: str | None) -> dict[str, int] | None:
    """Ranks by part of a text such as 'x86=4,arm=8'. Raises BadInput for anything else."""
    if text is None:
        return None
    pairs = [pair.strip().partition("=") for pair in text.split(",")]
    found = {part: int(ranks) for part, _, ranks in pairs if part and WHOLE.fullmatch(ranks)}
    if len(found) < len(pairs):
        raise BadInput(f"on={text!r}: each part once with its ranks is needed, such as x86=4,arm=8")
    return found


def delay_ratio(text: str | None) -> int | str | None:
    """D as a number or 'auto'. Raises BadInput for anything else."""
    if text is None or text == "auto":
        return text
    if not WHOLE.fullmatch(text):
        raise BadInput(f"delay_ratio={text!r}; allowed: auto, or a whole number above 0")
    return int(text)


def exchanges(texts: list[str] | None) -> str | dict[str, str] | None:
    """An exchange for all lanes, or one for each that is named. Raises BadInput for both together."""
    named = dict(text.split("=", 1) for text in texts or [] if "=" in text)
    if not texts or len(named) == len(texts):
        return named or None
    if len(texts) > 1:
        raise BadInput(f"exchange={', '.join(texts)}: one name for all lanes, or LANE=NAME for each, once")
    return texts[0]


def network(
    given: Iterable[str | Path | None],
    preset: str | None,
    full: bool,
    options: list[str] | None,
    rate: float | None,
):
    """The network that is asked about: a preset or one file.

    `given`: what arguments and --run name, files or presets. Raises BadInput for several and for none.
    """
    from spikemark.prediction import asked

    named = [str(name) for name in given if name is not None]
    if len(named) + (preset is not None) != 1:
        raise BadInput("one network is needed: a file such as run.json, or a preset; allowed: --run NETWORK")
    if preset is None and not is_file(named[0]):
        preset = named[0]
    if preset is None:
        if full or options:
            raise BadInput(f"--{'full' if full else 'option'}: only with a preset")
        return asked.of_file(Path(named[0]), rate)
    return asked.of_preset(preset, full, options, rate)


def is_file(network: str) -> bool:
    """True if a network is named by a file, not as a preset."""
    return has_ending(Path(network)) or Path(network).exists()


def has_ending(path: Path) -> bool:
    """True if the name of a path ends as those of files that hold a network."""
    from spikemark.core.yaml_file import YAML

    return path.suffix in (".json", *YAML)


def read_description(path: Path, settings: list[str]) -> dict[str, Any]:
    """The description in a file, with settings such as schedule=NAME. Raises BadInput for others."""
    from spikemark.core.fields import assign
    from spikemark.core.yaml_file import read_json_or_yaml
    from spikemark.network.named_files import located

    content = read_json_or_yaml(path, "a run description is needed")
    if not isinstance(content, dict):
        raise BadInput(f"{path}: not a run description: one object is needed")
    for field, value in given_settings(settings).items():
        assign(content, field, value)
    return located(content, path.parent)


def given_settings(settings: list[str]) -> dict[str, Any]:
    """Fields and values of settings such as schedule=NAME. Raises BadInput for others."""
    found = {}
    for setting in settings:
        field, equals, value = setting.partition("=")
        if not (field and equals):
            raise BadInput(f"--set {setting}: allowed is FIELD=VALUE")
        try:
            found[field] = json.loads(value)
        except json.JSONDecodeError:
            found[field] = value
    return found


Years = Annotated[float, typer.Option(help="How many years the machine is used.")]
HoursPerYear = Annotated[float, typer.Option(help="How many hours of each year it is used.")]
