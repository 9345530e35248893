"""`spikemark preset`: known networks as run descriptions, a command for each.

What a preset accepts stands in its own class of options (network/presets/), where `describe` checks
it. The options of its command are made from that class, so that they cannot differ from it.
"""

import inspect
import json
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

import typer

from . import panels
from .groups import CommandsOnDemand, Groups, commands_of
from .options import flag_of

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

    from spikemark.network.presets import Preset

app = typer.Typer()


class PresetCommands(CommandsOnDemand):
    """The commands by the names of their presets. The registry of presets loads NumPy."""

    def names(self) -> list[str]:
        from spikemark.network.presets import PRESETS

        return list(PRESETS)

    def make(self, name: str) -> Any:
        from spikemark.network.presets import PRESETS

        preset = PRESETS[name]
        commands = typer.Typer()
        commands.command(name, help=sentence(preset.summary))(_command_of(preset))
        return commands_of(commands)[name]


class PresetGroup(Groups):
    """The group whose commands are those of PresetCommands."""

    def __init__(self, **attributes: Any):
        super().__init__(**attributes | {"commands": PresetCommands()})


presets = typer.Typer(
    cls=PresetGroup,
    help=(
        "Write a known network as a run description.\n\nThe description goes to standard output,"
        " as in `spikemark preset mam-benchmark > run.json`."
    ),
    no_args_is_help=True,
)
app.add_typer(presets, name="preset", rich_help_panel=panels.DESCRIBE)


def _command_of(preset: "Preset") -> Callable[..., None]:
    """The function behind the command of a preset.

    Typer reads options from the signature of a function. This one's has a parameter for each option
    of the preset, all of them None by default, so that the preset fills in its own defaults.
    """

    def write(**options: Any) -> None:
        print(json.dumps(preset.describe(**options), indent=1))

    full = typer.Option("--full", help="Take the published size.", show_default=False)
    parameters = [_keyword("full", Annotated[bool, full], default=False)]
    for name, field in preset.options.model_fields.items():
        option = typer.Option(flag_of(name), help=_help_of(field), show_default=False)
        kind = without_constraints(field.annotation) | None
        parameters.append(_keyword(name, Annotated[kind, option], default=None))
    # mypy knows no such attribute of functions, which Typer reads.
    write.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return write


def _keyword(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter of a signature that is given by its name."""
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def _help_of(field: "FieldInfo") -> str:
    """The help of an option: its description and its default, if it has one."""
    text = sentence(field.description or "")
    default = field.default
    if isinstance(default, tuple):
        default = " ".join(str(part) for part in default)
    return text if default is None else f"{text} [default: {default}]"


def sentence(text: str) -> str:
    """A description as a sentence; a symbol at its start, as in 'h, ms', stays as it is.

    >>> sentence("number of areas"), sentence("h, ms")
    ('Number of areas.', 'h, ms.')
    """
    is_symbol = text[1:2] in (",", ":")
    first = text[0] if is_symbol else text[0].upper()
    return f"{first}{text[1:]}."


def without_constraints(annotation: Any) -> Any:
    """The type of an option without limits and without `| None`; the preset checks the value.

    >>> without_constraints(float | None)
    <class 'float'>
    """
    origin = get_origin(annotation)
    parts = get_args(annotation)
    if origin is Annotated:
        return without_constraints(parts[0])
    if origin is tuple:
        # A type of parts that are known at run time only.
        return tuple[tuple(without_constraints(part) for part in parts)]  # type: ignore[misc]
    if origin in (Union, types.UnionType):
        kinds = [part for part in parts if part is not type(None)]
        return without_constraints(kinds[0])
    return annotation
