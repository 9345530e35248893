"""`spikemark preset NAME`: one command per entry of the registry of presets, with its options."""

import functools
import inspect
import json
import types
import typing
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .groups import Groups

if TYPE_CHECKING:
    from spikemark.presets import Preset


class Presets(Groups):
    """Makes its commands when they are asked for: the registry of presets loads NumPy."""

    def list_commands(self, ctx) -> list[str]:
        """The names of all presets."""
        self.commands.update(_commands())
        return list(self.commands)

    def get_command(self, ctx, cmd_name):
        """The command of that preset; None where there is none."""
        self.commands.update(_commands())
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    cls=Presets,
    help="Write a known network as a run description.\n\nThe description goes to standard output, as in"
    " `spikemark preset mam-benchmark > run.json`.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def _several() -> None:
    """Makes the command line require the name of a preset even if there is only one."""


def command(preset: "Preset") -> typing.Callable[..., None]:
    """A function whose signature has every option of the preset; the preset fills in those not given."""

    def write(**given: Any) -> None:
        described = preset.describe(**given)
        for name, least in (preset.rates.compared_from if preset.rates else {}).items():
            if given[name] is not None and given[name] < least:
                compared = f"rates were compared with the published ones from {least:g} on"
                typer.echo(
                    f"warning: {name}={given[name]:g}: {compared}; below that, they may differ", err=True
                )
        typer.echo(json.dumps(described, indent=1))

    write.__doc__ = _sentence(preset.summary)
    write.__signature__ = inspect.Signature(_options(preset))
    return write


def _options(preset: "Preset") -> list[inspect.Parameter]:
    options = [_parameter("full", bool, False, typer.Option("--full", help="Take the published size."))]
    for name, option in preset.options.model_fields.items():
        default = " ".join(map(str, option.default)) if isinstance(option.default, tuple) else option.default
        text = _sentence(option.description) + ("" if default is None else f" [default: {default}]")
        flag = "--" + name.rstrip("_").replace("_", "-")
        options.append(
            _parameter(
                name,
                _plain(option.annotation) | None,
                None,
                typer.Option(flag, help=text, show_default=False),
            )
        )
    return options


def _sentence(text: str) -> str:
    """A description as a sentence; a symbol at its start, as in 'h, ms', stays as it is."""
    first = text[0] if text[1:2] in (",", ":") else text[0].upper()
    return f"{first}{text[1:]}."


def _parameter(name: str, kind: Any, default: Any, option: Any) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
    )


def _plain(annotation: Any) -> Any:
    """The type without constraints and without `| None`; the preset checks the value."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _plain(parts[0])
    if origin is tuple:
        return tuple[*(_plain(part) for part in parts)]
    if origin in (typing.Union, types.UnionType):
        (one,) = (part for part in parts if part is not type(None))
        return _plain(one)
    return annotation


@functools.cache
def _commands() -> dict[str, Any]:
    """A command for each preset, by name."""
    from spikemark.presets import PRESETS

    every = typer.Typer(add_completion=False, rich_markup_mode=None)
    every.callback()(_several)
    for preset in PRESETS.values():
        every.command(preset.name)(command(preset))
    return typer.main.get_group(every).commands
