"""The profile of this host, or of the nodes of an allocation, measured in minutes: `spikemark calibrate`.

Rounds go through everything that fluctuates, in processes of their own, so that repetitions of each value are
spread over all of the time; every interval is where one more repetition is expected (`values.repeated`).
"""

import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

import yaml

from spikemark.core import memory, places
from spikemark.core.errors import BadInput
from spikemark.core.files import output_file, write_output
from spikemark.machines import of_nodes
from spikemark.machines.profile import Value, checked
from spikemark.records.record_fields import Host
from spikemark.running import quiet
from spikemark.running.durations import Pace

from . import (
    cycle_time,
    exchanges,
    jitter,
    kernel_runs,
    kernel_times,
    messages,
    node,
    node_spread,
    profile_text,
    software,
)
from .effort import FULL, QUICK, Effort
from .parts import FAILURES, Parts
from .site import Site

NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")


@dataclass(frozen=True)
class Outcome:
    """`path`: the profile; `unknown`: what was not measured, and why.

    `warnings`: what disturbed the calibration.
    """

    path: Path
    unknown: dict[str, str]
    warnings: list[str] = field(default_factory=list)


class Measured(NamedTuple):
    """What one round measured."""

    kernels: kernel_runs.Round
    inside: messages.Round | None
    between: messages.Round | None
    run: jitter.Round
    empty: cycle_time.Round


def calibrate(
    name: str | None = None,
    out: Path | None = None,
    effort: Effort = FULL,
    force: bool = False,
    say: Callable[[str], None] = lambda line: None,
    nodes: int | None = None,
) -> Outcome:
    """Measures this host, or `nodes` nodes of the allocation, and writes a profile.

    The file is `out` (machines/NAME.yaml in the checkout). `name` is by default that of the file, or else
    made from the processor's. `say` receives a line per part. Raises BadInput, before anything is measured,
    for a name that is not allowed, a file that exists (unless `force`), missing programs and more nodes than
    there are; BenchFailed or RunFailed if a program fails. The file is written whole at the end or not at
    all.
    """
    name, path = _target(name, out, force)
    for program in ("bench_kernels", "bench_exchange", "bench_messages", "miniapp"):
        places.program(program)
    site = Site.of(nodes)
    conditions, started = quiet.Conditions(patience_s=effort.patience_s), datetime.now(UTC)
    before, watch = quiet.wait(conditions), quiet.Watch()
    rounds: list[Measured] = []
    exchanged: list[exchanges.Tables] = []
    # All nodes have to see the folder of a profile; the one for temporary files may be each node's own.
    say(f"{effort.rounds} rounds of measuring, {effort.about} on a machine that does nothing else")
    pace = Pace(effort.rounds)
    with tempfile.TemporaryDirectory(
        prefix=".spikemark-", dir=path.parent.absolute() if site.allocated else None
    ) as it:
        parts = Parts(Path(it), FAILURES if site.allocated else 0)
        for number in range(effort.rounds):
            left = f"; {pace.left(number)}" if number else ""
            say(f"round {number + 1} of {effort.rounds}: kernels, messages, exchanges, the mini-app{left}")
            if number % effort.exchanges_every == 0:
                exchanged.append(parts(lambda folder: exchanges.one_round(site, effort, folder)))
            rounds.append(_round(number, site, effort, parts, rounds))
    values, unknown = _values(rounds, exchanged, site, effort)
    records = [r.run.record for r in rounds]
    # Ranks that Slurm starts are not children of this process: what is foreign, their own node says.
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    load = (median(loads) if loads else None) if site.allocated else watch.foreign_load()
    warnings = _warnings(before, load, conditions, records[0].host, site)
    warnings += [f"a program failed and was started again: {reason}" for reason in parts.failed]
    if site.nodes > 1:
        warnings += node_spread.slow([r.kernels for r in rounds])
    asked = f" --nodes {nodes}" if nodes is not None else ""
    reference = f"spikemark calibrate{asked}, {started:%Y-%m-%d}, commit {jitter.commit(records[0])}"
    text = profile_text.text(name, title(records[0].host), values, reference, unknown, warnings)
    checked(yaml.safe_load(text), "calibrated")  # what is written can be read
    write_output(path, text)
    return Outcome(path, unknown, warnings)


def _round(number: int, site: Site, effort: Effort, parts: Parts, before: list[Measured]) -> Measured:
    metered = not before or (before[0].run.record.energy is not None and number < effort.metered)
    pattern = kernel_times.pattern(effort.sizes, _far(site))
    return Measured(
        parts(lambda folder: kernel_runs.one_round(number, site, pattern, effort, folder)),
        parts(lambda folder: messages.within(site, effort, not before)),
        parts(lambda folder: messages.between(site, effort, not before)),
        parts(lambda folder: jitter.one_round(site, effort, folder / "run", metered)),
        parts(lambda folder: cycle_time.one_round(site, effort, folder / "empty")),
    )


def _far(site: Site) -> bool:
    """Whether every core of a node like this one has memory for kernels with a gigabyte of synapses."""
    return memory.installed() >= 1e9 * kernel_times.FAR_GB * site.cores


def _values(
    rounds: list[Measured], exchanged: list[exchanges.Tables], site: Site, effort: Effort
) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, and what is unknown, with reasons."""
    kernels = [r.kernels for r in rounds]
    values = kernel_times.values(kernels, effort) | cycle_time.values([r.empty for r in rounds])
    values |= node.measure(rounds[0].run.record.host)
    values["software.scorep"] = software.score_p()
    unknown = dict.fromkeys((of_nodes.PEAK, of_nodes.TDP), "nothing measures what a data sheet says")
    for path in kernel_times.FARS:
        for group in ("one_core", "full_node"):
            if f"kernels.{group}.{path}" not in values:
                unknown[f"kernels.{group}.{path}"] = kernel_times.NO_ROOM
    if site.nodes > 1:
        values["jitter.node_spread"] = node_spread.value(kernels)
    else:
        unknown["jitter.node_spread"] = messages.ONE_NODE
    inside, between = [r.inside for r in rounds if r.inside], [r.between for r in rounds if r.between]
    for found, why in (
        exchanges.values(exchanged, site),
        messages.values(inside, between),
        jitter.values([r.run for r in rounds], site),
    ):
        values, unknown = values | found, unknown | why
    return values, unknown


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
    output_file("--out", path)
    if path.exists() and not force:
        raise BadInput(f"{path}: exists; --force replaces it")
    return name, path


def title(host: Host) -> str:
    """The title of the profile of a host."""
    virtual = ", virtual machine" if host.virtual_machine else ""
    return f"{host.cpu or 'unknown processor'}, {host.cores or '?'} cores{virtual}"


def _warnings(
    before: quiet.Wait, load: float | None, conditions: quiet.Conditions, host: Host, site: Site
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
    if host.cores and host.cores > site.cores:
        found.append(f"only {site.cores} of {host.cores} cores may be used: full_node means these")
    if host.virtual_machine:
        found.append("virtual machine: its neighbours on the host cannot be seen")
    return found


__all__ = ["FULL", "QUICK", "Effort", "Outcome", "calibrate"]
