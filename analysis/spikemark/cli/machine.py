"""`spikemark machine`: lists and shows machine profiles."""

from typing import TYPE_CHECKING, Annotated

import typer

from spikemark.core.errors import BadInput

from . import panels, params
from .options import machine_of_any_kind, one_form
from .output import answer

if TYPE_CHECKING:
    import pandas as pd

    from spikemark.machines import MachineOfParts, Profile

app = typer.Typer()


@app.command(rich_help_panel=panels.DESCRIBE)
def machine(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME...",
            help="Files in machines/, or paths: one, or two to compare.",
            autocompletion=params.machine_names,
        ),
    ] = None,
    filled: Annotated[
        bool,
        typer.Option("--filled", help="Add the values that predictions and simulations assume."),
    ] = False,
    format_: params.TableForm = None,
    json: params.Json = False,
) -> None:
    """List the machine profiles and the machines of parts, show one, or two side by side.

    Shows each value with its kind and its reference, and lists what is unknown. A machine of parts
    has unequal nodes: the values of each part and of each link between parts are shown by their
    paths.

    Example: spikemark machine jureca-dc supermuc-ng

    To write a profile from a data sheet, enter its peak memory bandwidth as node.bandwidth_peak and
    its TDP as power.tdp. From these, --filled assumes what a measurement would give
    (docs/machine-profile.md). `spikemark schema machine` prints the JSON Schema of these files.
    """
    from spikemark import machines
    from spikemark.machines import show
    from spikemark.quantities.answer import frame_of

    one_form(format_, json=json)
    names = names or []
    if not names:
        if filled:
            expected = "with the name of a machine"
            raise BadInput(field="--filled", expected=expected, code="conflict")
        profiles = [machines.load_any(name) for name in machines.names(*machines.ALL)]
        answer(
            "machine",
            json,
            lambda: {"machines": [show.machine_json(profile) for profile in profiles]},
            tables=[show.overview(profiles)],
            format_=format_,
            frame=lambda: frame_of(show.overview(profiles)),
        )
        return
    if len(names) > 2:
        expected = "one machine, or two to compare"
        raise BadInput(field="NAME", value=", ".join(names), expected=expected)
    profiles = [machine_of_any_kind(name, filled) for name in names]
    if len(profiles) == 2:
        answer(
            "machine",
            json,
            lambda: {"machines": [show.machine_json(profile) for profile in profiles]},
            tables=[show.beside(*profiles)],
            format_=format_,
            frame=lambda: _values(profiles),
        )
        return
    profile = profiles[0]
    answer(
        "machine",
        json,
        lambda: {"machines": [show.machine_json(profile)]},
        tables=show.tables(profile),
        more=[show.unknown(profile)],
        warnings=profile.remarks,
        format_=format_,
        frame=lambda: _values(profiles),
    )


def _values(machines: "list[Profile | MachineOfParts]") -> "pd.DataFrame":
    """A row for each value of machines, whose intervals are value_low and value_high."""
    import pandas as pd

    rows = []
    for machine in machines:
        for start, group in machine.groups.items():
            for path, value in group.values.items():
                low, high = value.interval or (None, None)
                rows.append(
                    {
                        "machine": machine.name,
                        "path": f"{start}.{path}" if start else path,
                        "value": value.value,
                        "value_low": low,
                        "value_high": high,
                        "unit": value.unit,
                        "kind": value.kind,
                        "reference": value.reference,
                    }
                )
    return pd.DataFrame(rows).astype({"value": object})
