"""`spikemark machine`: the machine profiles there are, and what one of them says."""

import json
from typing import Annotated

import typer

from .waiting import AsJson


def machine(
    name: Annotated[
        str | None, typer.Argument(help="A file in machines/, or a path.", show_default="all of them")
    ] = None,
    filled: Annotated[
        bool, typer.Option("--filled", help="With what predictions and simulations assume.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of profiles.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the machine profiles, or show one: each value with its kind and reference, and what is unknown."""
    from spikemark import machines
    from spikemark.core.errors import BadInput
    from spikemark.machines import show
    from spikemark.quantities import terminal

    if schema:
        if name or filled:
            raise BadInput("--schema: the schema is the same for all profiles: give it alone")
        typer.echo(json.dumps(machines.json_schema(), indent=1, ensure_ascii=False))
    elif name is None:
        if filled:
            raise BadInput("--filled: only with the name of a profile")
        profiles = [machines.load(known) for known in machines.names()]
        if as_json:
            typer.echo(json.dumps([show.content(p) for p in profiles], indent=1, ensure_ascii=False))
        else:
            terminal.show(show.overview(profiles))
    else:
        profile = machines.filled(machines.load(name)) if filled else machines.load(name)
        if as_json:
            typer.echo(json.dumps(show.content(profile), indent=1, ensure_ascii=False))
        else:
            terminal.show(show.table(profile))
            typer.echo(show.unknown(profile))
