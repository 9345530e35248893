"""Verbs that describe: preset writes known networks, machine lists and shows machine profiles."""

import functools
import inspect
import json as json_format
import types
import typing
from typing import Annotated, Any

import typer

from spikemark.core.errors import BadInput

from .groups import Groups
from .kinds import ProfileName
from .options import machine_profile, verb
from .output import answer


@verb
def machine(
    name: ProfileName, *, filled: bool = False,
    schema: bool = False, json,
) -> None:  # fmt: skip
    """List the machine profiles and the machines of parts, or show one.

    Shows each value with its kind and its reference, and lists what is unknown. A machine of parts has
    unequal nodes: the values of each part and of each link between parts are shown by their paths.

    To write a profile from a data sheet, enter its peak memory bandwidth as node.bandwidth_peak and its TDP
    as power.tdp. From these, --filled assumes what a measurement would give (docs/machine-profile.md).

    NAME: A file in machines/, or a path.
    --filled: Add the values that predictions and simulations assume.
    --schema: Print the JSON Schema of these files.
    """
    from spikemark import machines
    from spikemark.machines import show

    if schema and (name or filled):
        raise BadInput("--schema: expected alone; all machines have the same", code="conflict")
    if filled and name is None:
        raise BadInput("--filled: expected with the name of a machine", code="conflict")
    if schema:
        return answer(True, show.json_schema)
    if name is None:
        known = [machines.load_any(one) for one in machines.names(*machines.ALL)]
        return answer(json, lambda: [show.content(one) for one in known], tables=[show.overview(known)])
    found = machine_profile(name, filled, parts=True)
    return answer(json, lambda: show.content(found), tables=show.tables(found), more=[show.unknown(found)])


class Presets(Groups):
    """Makes its commands when they are asked for: the registry of presets loads NumPy."""

    commands = property(lambda self: _commands(), lambda self, none: None)


presets = typer.Typer(
    cls=Presets,
    help="Write a known network as a run description.\n\nThe description goes to standard output, as in"
    " `spikemark preset mam-benchmark > run.json`.",
    rich_markup_mode=None,
    no_args_is_help=True,
)


@presets.callback()
def _several() -> None:
    """Makes the command line require the name of a preset even if there is only one."""


@functools.cache
def _commands() -> dict[str, Any]:
    """A command for each preset, by name."""
    from spikemark.network.presets import PRESETS

    every = typer.Typer(add_completion=False, rich_markup_mode=None)
    every.callback()(_several)
    for preset in PRESETS.values():
        every.command(preset.name)(_command(preset))
    return typer.main.get_group(every).commands


def _command(preset) -> typing.Callable[..., None]:
    """A function with every option of the preset in its signature; the preset fills in those not given."""

    def write(**given: Any) -> None:
        typer.echo(json_format.dumps(preset.describe(**given), indent=1))

    options = {"full": (bool, False, "Take the published size.")}
    for name, option in preset.options.model_fields.items():
        default = " ".join(map(str, option.default)) if isinstance(option.default, tuple) else option.default
        text = _sentence(option.description) + ("" if default is None else f" [default: {default}]")
        options[name] = _plain(option.annotation) | None, None, text
    write.__doc__ = _sentence(preset.summary)
    write.__signature__ = inspect.Signature([
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[
            kind, typer.Option("--" + name.rstrip("_").replace("_", "-"), help=text, show_default=False)])
        for name, (kind, default, text) in options.items()
    ])  # fmt: skip
    return write


def _sentence(text: str) -> str:
    """A description as a sentence; a symbol at its start, as in 'h, ms', stays as it is."""
    first = text[0] if text[1:2] in (",", ":") else text[0].upper()
    return f"{first}{text[1:]}."


def _plain(annotation: Any) -> Any:
    """The type without constraints and without `| None`; the preset checks the value."""
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Annotated:
        return _plain(parts[0])
    if origin is tuple:
        return tuple[*(_plain(part) for part in parts)]
    if origin in (typing.Union, types.UnionType):
        return _plain(next(part for part in parts if part is not type(None)))
    return annotation
