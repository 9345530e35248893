"""The profile of this host, measured in minutes: `spikemark calibrate`.

Rounds go through everything that fluctuates, in processes of their own, so that repetitions of each value are
spread over all of the time; every interval is where one more repetition is expected (`values.repeated`).
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import yaml

from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.machines.profile import checked
from spikemark.records.record_fields import Host
from spikemark.running import quiet

from . import cycle_time, jitter, kernel_times, messages, node, profile_text, software
from .effort import FULL, QUICK, Effort

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class Outcome:
    """`path`: the profile; `unknown`: what was not measured, and why.

    `warnings`: what disturbed the calibration.
    """

    path: Path
    unknown: dict[str, str]
    warnings: list[str] = field(default_factory=list)


def calibrate(
    name: str | None = None,
    out: Path | None = None,
    effort: Effort = FULL,
    force: bool = False,
    say: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Measures this host and writes its profile to `out` (machines/NAME.yaml in the checkout).

    `name` is by default that of the file, or else made from the processor's. `say` receives a line per part.
    Raises BadInput, before anything is measured, for a name that is not allowed, a file that exists (unless
    `force`) and missing programs; BenchFailed or RunFailed if a program fails. The file is written whole at
    the end or not at all.
    """
    name, path = _target(name, out, force)
    for program in ("bench_kernels", "bench_exchange", "bench_messages", "miniapp"):
        places.program(program)
    conditions, started = quiet.Conditions(patience_s=effort.patience_s), datetime.now(UTC)
    before, watch = quiet.wait(conditions), quiet.Watch()
    cpus = launch.core_threads()
    with tempfile.TemporaryDirectory(prefix="spikemark-") as workspace:
        folder = Path(workspace)
        exchanged: list[pd.DataFrame] = []
        done: list[tuple[kernel_times.Round, messages.Times, jitter.Round, cycle_time.Round]] = []
        for number in range(effort.rounds):
            say(f"round {number + 1} of {effort.rounds}: kernels, exchanges, the mini-app")
            if number % effort.exchanges_every == 0:
                table = messages.exchanges(len(cpus), effort, folder / f"exchanges{number}")
                exchanged += [] if table is None else [table]
            metered = not done or (done[0][2].record.energy is not None and number < effort.metered)
            done.append((
                kernel_times.one_round(number, cpus, effort, folder),
                messages.one_round(len(cpus), effort),
                jitter.one_round(len(cpus), effort, folder / f"run{number}", metered),
                cycle_time.one_round(len(cpus), effort, folder / f"empty{number}"),
            ))  # fmt: skip
    kernel_rounds, message_rounds, runs, empty = (list(each) for each in zip(*done, strict=True))
    host = runs[0].record.host
    values = kernel_times.values(kernel_rounds, effort) | cycle_time.values(empty) | node.measure(host)
    values["software.scorep"] = software.score_p()
    unknown: dict[str, str] = {}
    for found, why in (
        messages.tables(exchanged),
        messages.derived(message_rounds),
        jitter.values(runs, len(cpus)),
    ):
        values, unknown = values | found, unknown | why
    warnings = _warnings(before, watch.foreign_load(), conditions, host, len(cpus))
    reference = f"spikemark calibrate, {started:%Y-%m-%d}, commit {jitter.commit(runs[0].record)}"
    text = profile_text.text(name, title(host), values, reference, unknown, warnings)
    checked(yaml.safe_load(text), "calibrated")  # what is written can be read
    write_atomically(path, text)
    return Outcome(path, unknown, warnings)


def _target(name: str | None, out: Path | None, force: bool) -> tuple[str, Path]:
    if name is None:
        name = out.stem if out else node.default_name()
    if not NAME.fullmatch(name):
        raise BadInput(
            f"--name: {name!r}; allowed: lower-case letters, digits, '.' and '-', starting with "
            "a letter or digit"
        )
    path = out or places.root() / "machines" / f"{name}.yaml"
    if path.name != f"{name}.yaml":
        raise BadInput(f"--out: {path}; the file of machine {name} is called {name}.yaml")
    if path.exists() and not force:
        raise BadInput(f"{path}: exists; --force replaces it")
    return name, path


def title(host: Host) -> str:
    """The title of the profile of a host."""
    virtual = ", virtual machine" if host.virtual_machine else ""
    return f"{host.cpu or 'unknown processor'}, {host.cores or '?'} cores{virtual}"


def _warnings(
    before: quiet.Wait, load: float | None, conditions: quiet.Conditions, host: Host, cores: int
) -> list[str]:
    found = []
    if load is None:
        found.append("whether others used the machine is unknown")
    elif load > conditions.foreign_limit:
        found.append(
            f"others kept {load:.2f} cores busy meanwhile; calibrate again when the machine is quiet"
        )
    elif before.foreign_load is not None and not before.quiet:
        found.append(f"others kept {before.foreign_load:.2f} cores busy before")
    if host.cores and host.cores > cores:
        found.append(f"this process may use {cores} of {host.cores} cores: full_node means these")
    if host.virtual_machine:
        found.append("virtual machine: its neighbours on the host cannot be seen")
    return found


__all__ = ["FULL", "QUICK", "Effort", "Outcome", "calibrate"]
