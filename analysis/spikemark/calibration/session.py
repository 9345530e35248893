"""One session of measuring on nodes that are alike: rounds of everything, and the values that follow.

Rounds go through everything that fluctuates, in processes of their own, so that repetitions of each value are
spread over all of the time; every interval is where one more repetition is expected (`values.repeated`).
"""

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import NamedTuple

from spikemark.core import memory
from spikemark.machines import of_nodes
from spikemark.machines.profile import Value
from spikemark.records.record_fields import Host
from spikemark.running import quiet
from spikemark.running.durations import Pace

from . import cycle_time, exchanges, jitter, kernel_runs, kernel_times, messages, node, node_spread, software
from .effort import Effort
from .parts import FAILURES, Parts
from .site import Site

#: The programs that a session starts.
PROGRAMS = ("bench_kernels", "bench_exchange", "bench_messages", "miniapp")


class Measured(NamedTuple):
    """What one round measured."""

    kernels: kernel_runs.Round
    inside: messages.Round | None
    between: messages.Round | None
    run: jitter.Round
    empty: cycle_time.Round


@dataclass(frozen=True)
class Session:
    """Values by path; `unknown`: paths of what was not measured, and why; `warnings`: what disturbed it."""

    title: str
    values: dict[str, Value]
    unknown: dict[str, str]
    warnings: list[str]
    started: datetime
    commit: str

    def reference(self, options: str) -> str:
        """What all references begin with; `options`: those of the command, each after a blank."""
        return f"spikemark calibrate{options}, {self.started:%Y-%m-%d}, commit {self.commit}"


def measure(site: Site, effort: Effort, near: Path, say: Callable[[str], None]) -> Session:
    """Measures the nodes of a site. Raises BenchFailed or RunFailed if a program fails.

    `near`: a folder that all nodes see, where the files of programs lie until the end if there are several;
    the one for temporary files may be each node's own. `say` receives a line per part.
    """
    conditions, started = quiet.Conditions(patience_s=effort.patience_s), datetime.now(UTC)
    before, watch = quiet.wait(conditions), quiet.Watch()
    rounds: list[Measured] = []
    exchanged: list[exchanges.Tables] = []
    say(f"{effort.rounds} rounds of measuring, {effort.about} on a machine that does nothing else")
    pace = Pace(effort.rounds)
    with workspace(site, near) as parts:
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
    warnings = _warnings(before, load, conditions, records[0].host, site) + failures(parts)
    if site.nodes > 1:
        warnings += node_spread.slow([r.kernels for r in rounds])
    return Session(title(records[0].host), values, unknown, warnings, started, jitter.commit(records[0]))


@contextlib.contextmanager
def workspace(site: Site, near: Path) -> Iterator[Parts]:
    """Carries parts out in folders below a hidden one, which is beside the profile on an allocation."""
    with tempfile.TemporaryDirectory(
        prefix=".spikemark-", dir=near.absolute() if site.allocated else None
    ) as folder:
        yield Parts(Path(folder), FAILURES if site.allocated else 0)


def failures(parts: Parts) -> list[str]:
    """A warning for each program that failed and was started again."""
    return [f"a program failed and was started again: {reason}" for reason in parts.failed]


def _round(number: int, site: Site, effort: Effort, parts: Parts, before: list[Measured]) -> Measured:
    metered = not before or (before[0].run.record.energy is not None and number < effort.metered)
    pattern = kernel_times.pattern(effort.sizes, number % effort.far_every == 0 and _far(site))
    return Measured(
        parts(lambda folder: kernel_runs.one_round(number, site, pattern, effort, folder)),
        parts(lambda folder: messages.within(site, effort, not before)),
        parts(lambda folder: messages.between(site, effort, not before)),
        parts(lambda folder: jitter.one_round(site, effort, folder / "run", metered)),
        parts(lambda folder: cycle_time.one_round(site, effort, folder / "empty")),
    )


def _far(site: Site) -> bool:
    """True if every core of a node like this one has memory for kernels with a gigabyte of synapses."""
    return memory.installed() >= 1e9 * kernel_times.FAR_GB * site.cores


def _values(
    rounds: list[Measured], exchanged: list[exchanges.Tables], site: Site, effort: Effort
) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, and what is unknown, with reasons."""
    kernels = [r.kernels for r in rounds]
    values = kernel_times.values(kernels, effort) | cycle_time.values([r.empty for r in rounds])
    values |= node.measure(rounds[0].run.record.host, layout=site.one_each(1) if site.allocated else None)
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
