"""`spikemark machine`: lists the machine profiles and the machines of parts, or shows one."""

from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson, any_machine
from .output import print_json, print_tables


def machine(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A file in machines/, or a path.")
    ] = None,
    filled: Annotated[
        bool, typer.Option("--filled", help="Add the values that predictions and simulations assume.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of these files.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the machine profiles and the machines of parts, or show one.

    Shows each value with its kind and its reference, and lists what is unknown. A machine of parts has
    unequal nodes: the values of each part and of each link between parts are shown by their paths.

    To write a profile from a data sheet, enter its peak memory bandwidth as node.bandwidth_peak and its TDP
    as power.tdp. From these, --filled assumes the values that a measurement would give (docs/own-machine.md).
    """
    from spikemark import machines
    from spikemark.machines import show

    if schema:
        if name or filled:
            raise BadInput(
                "--schema: the schema is the same for all machines: allowed without name and --filled"
            )
        print_json(machines.json_schema(), as_written=True)
    elif name is None:
        if filled:
            raise BadInput("--filled: only with the name of a machine")
        profiles = [machines.load(known) for known in machines.profile_names()]
        parted = [machines.load_any(known) for known in machines.names_of_parted()]
        if as_json:
            print_json([show.content(m) for m in (*profiles, *parted)], as_written=True)
        else:
            print_tables(show.overview(profiles), *([show.of_parts(parted)] if parted else []))
    else:
        found = any_machine(name, filled)
        if as_json:
            print_json(show.content(found), as_written=True)
        else:
            print_tables(*show.tables(found))
            typer.echo(show.unknown(found))
