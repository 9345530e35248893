"""`spikemark machine`: lists the machine profiles, or shows one."""

from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson, machine_profile
from .output import print_json, print_tables


def machine(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A file in machines/, or a path.")
    ] = None,
    filled: Annotated[
        bool, typer.Option("--filled", help="Add the values that predictions and simulations assume.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of profiles.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the machine profiles, or show one.

    Shows each value with its kind and its reference, and lists what is unknown.

    A profile can be written from a data sheet: node.bandwidth_peak and power.tdp take its peak memory
    bandwidth and its TDP, from which --filled assumes what is measured (docs/machines.md).
    """
    from spikemark import machines
    from spikemark.machines import show

    if schema:
        if name or filled:
            raise BadInput(
                "--schema: the schema is the same for all profiles: allowed without name and --filled"
            )
        print_json(machines.json_schema(), as_written=True)
    elif name is None:
        if filled:
            raise BadInput("--filled: only with the name of a profile")
        every = [*machines.names(), *machines.accelerated_names()]
        profiles = [machines.load(known) for known in every]
        if as_json:
            print_json([show.content(p) for p in profiles], as_written=True)
        else:
            print_tables(show.overview(profiles))
    else:
        profile = machine_profile(name, filled, accelerators=True)
        if as_json:
            print_json(show.content(profile), as_written=True)
        else:
            print_tables(show.table(profile))
            typer.echo(show.unknown(profile))
