"""`spikemark noise`: what takes time from a program on every core."""

from typing import Annotated

import typer

from .options import AsJson
from .output import fail, print_json, print_tables


def noise(
    seconds: Annotated[float, typer.Option(help="How long to look, in seconds.", min=0.01, max=3600)] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Measure what interrupts programs on every core.

    Looks at this node, or at all nodes of an allocation. Run the command on idle nodes before and after a
    campaign, and whenever you suspect that something disturbs your runs.
    """
    from spikemark.running.noise import NoiseFailed, witness
    from spikemark.running.noise_table import tables

    try:
        found = witness(seconds, longest=200 if as_json else 0)
    except NoiseFailed as reason:
        fail(str(reason))
    if as_json:
        print_json([node.content() for node in found])
    else:
        print_tables(*tables(found))
