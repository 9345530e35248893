"""The energy of a run: `spikemark.energy`."""

import os
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Literal

from spikemark import machines
from spikemark.core.arguments import public
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile
from spikemark.measuring import kept_power, meter, modelled_energy
from spikemark.measuring.energy import measured, of_run
from spikemark.measuring.energy_answer import EnergyAnswer
from spikemark.records import record
from spikemark.records.record import Run

FilePath = str | PathLike[str]


@public
def energy(
    run: FilePath | Run,
    *,
    power: FilePath | None = None,
    channel: Sequence[str] = (),
    offset: float | None = None,
    align: Literal["times", "knee"] = "times",
    at_wall: float | None = None,
    keep: bool = False,
    machine: FilePath | Profile | None = None,
    nodes: int | None = None,
) -> EnergyAnswer:
    """The energy of a run, in total and per synaptic event.

    Without `power` and `machine`, it comes from a file that was kept for the run, or else from the
    run's own readings.

    Args:
        run: the run, or its folder.
        power: time and power from a meter, a CSV file as in "time [s],node1 [W]".
        channel: the only columns, nodes, devices or steps of the file that count.
        offset: seconds to add to the times in the file.
        align: how to find the run in the file: by its times, or by its step in power (the knee).
        at_wall: accuracy in per cent, of a meter of the whole machine before power conversion.
        keep: copies the file to the results of the sweep, for its reports.
        machine: models the energy with the power of this machine instead.
        nodes: of that machine; as few as provide the cores by default.

    Returns:
        EnergyAnswer: `table` has a row for each value, `energy` the same as quantities. Where there
        is no energy, they say why.

    Raises:
        BadInput: for a folder without a run, a file that does not cover the run, a machine without
            power, and arguments that exclude or need each other.

    Example:
        >>> answer = energy("tests/golden/analysis/records/aware-4", machine="jureca-dc")
        >>> answer.table.loc[0, ["what", "unit"]].tolist()
        ['gross energy', 'J']
    """
    _check_arguments(
        machine,
        power,
        nodes=nodes,
        channel=channel,
        offset=offset,
        align=align != "times",
        at_wall=at_wall,
        keep=keep,
    )
    if not isinstance(run, Run):
        run = record.load_run(Path(run))
    if machine is not None:
        word = "" if isinstance(machine, Profile) else os.fspath(machine)
        profile = machine if isinstance(machine, Profile) else machines.load(word)
        profile.refuse_accelerators()
        return EnergyAnswer(modelled_energy.on_machine(run, profile, nodes, word))
    if power is None:
        return EnergyAnswer(of_run(run))
    channels = list(channel) or None
    readings = meter.source(run, Path(power), channels, offset, align, at_wall)
    answer = EnergyAnswer(measured(run, readings))
    if not keep:
        return answer
    kept = kept_power.keep(
        run,
        Path(power),
        channels=channels,
        offset_s=offset,
        align=align,
        at_wall_percent=at_wall,
    )
    return replace(answer, kept=kept)


def _check_arguments(
    machine: object,
    power: object,
    nodes: int | None,
    **of_file: object,
) -> None:
    """Raises BadInput for arguments of a machine or of a file without it, and for both at once."""
    if machine is None and nodes is not None:
        raise BadInput(
            field="nodes",
            reason="alone",
            expected="with machine",
            code="conflict",
        )
    if machine is not None and power is not None:
        reason = "beside power"
        raise BadInput(
            field="machine",
            reason=reason,
            expected="one of them",
            code="conflict",
        )
    if power is not None:
        return
    for name, value in of_file.items():
        if value is not None and value is not False and value != ():
            raise BadInput(field=name, reason="alone", expected="with power", code="conflict")
