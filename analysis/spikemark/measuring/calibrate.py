"""The profile of this host, or of the nodes of an allocation, measured in minutes: `spikemark calibrate`.

Rounds go through everything that fluctuates, in processes of their own, so that repetitions of each value are
spread over all of the time; every interval is where one more repetition is expected (`site.repeated`). Rounds
go on until the time is over. The file is written whole at the end, or not at all.
"""

import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import yaml

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.core.files import output_file, write_output
from spikemark.machines.profile import Value, checked, place
from spikemark.running import quiet
from spikemark.running.measure import RunFailed

from . import exchanges, host, kernels, kernels_in_runs, messages, runs
from .kernels import BenchFailed
from .site import Site, listed

#: The programs that a calibration starts.
PROGRAMS = ("bench_kernels", "bench_exchange", "bench_messages", "miniapp")
#: Failures that a calibration on an allocation survives. (Open MPI 4.1 over TCP crashed in MPI_Init in 8 of
#: 352 starts with two ranks on each of two nodes of a private Slurm; with one rank it does so more rarely.)
FAILURES = 3
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
FEWEST, MOST = 3, 13  # rounds
Work = TypeVar("Work")
#: Told the share of the time that is over, and what is measured now.
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Effort:
    """How long a calibration takes, and how much a round measures. Times in s, simulated times in ms."""

    lasts_s: float = 150.0  # no round starts if it would end later, after FEWEST of them
    metered: int = 4  # rounds with a pause in which power is read, if there is a meter
    kernel_s: float = 0.1  # shortest time of a kernel in a round
    exchanges_every: int = 3  # rounds from one measurement of exchanges to the next
    exchange_s: float = 0.02  # shortest time of an exchange or message in a round
    bytes: tuple[int, ...] = tuple(4 * 4**k for k in range(9))  # from one rank to another
    model_ms: float = 5000
    in_runs_ms: float = 3000  # longest run that shows kernel times
    patience_s: float = 10  # longest wait for a quiet machine


FULL = Effort()
QUICK = Effort(lasts_s=45.0, kernel_s=0.02, exchanges_every=1, exchange_s=0.005, bytes=(4, 64, 1024, 16384),
               model_ms=1000, in_runs_ms=500, patience_s=3)  # fmt: skip


@dataclass
class Outcome:
    """A profile: values by path; `unknown`: what was not measured, and why; `warnings`: what disturbed it."""

    path: Path
    values: dict[str, Value]
    unknown: dict[str, str]
    warnings: list[str] = field(default_factory=list)


class Measured(NamedTuple):
    """What one round measured."""

    kernels: kernels.Round
    messages: tuple[messages.Round | None, messages.Round | None]  # within a node, between nodes
    run: runs.Round
    in_runs: kernels_in_runs.Timed


def calibrate(
    name: str | None = None, out: Path | None = None, effort: Effort = FULL, force: bool = False,
    progress: Progress = lambda share, what: None, nodes: int | None = None,
) -> Outcome:  # fmt: skip
    """Measures this host, or `nodes` nodes of the allocation, and writes a profile.

    The file is `out` (machines/NAME.yaml in the checkout). `name` is by default that of the file, or else
    made from the processor's. Raises BadInput, before anything is measured, for a name that is not allowed, a
    file that exists (unless `force`), missing programs and more nodes than there are; BenchFailed or
    RunFailed if a program fails.
    """
    name = name if name is not None else out.stem if out else host.default_name()
    if not NAME.fullmatch(name):
        raise BadInput.of("name", name, "lower-case letters, digits, '.' and '-', a letter or digit first")
    path = out or places.own("machines") / f"{name}.yaml"
    if path.name != f"{name}.yaml":
        raise BadInput.of("out", str(path), f"a file called {name}.yaml, after the machine")
    output_file("--out", path)
    if path.exists() and not force:
        raise BadInput(f"out: {path} exists; expected a new file, or --force, which replaces it")
    for program in PROGRAMS:
        places.program(program)
    site, started = Site.of(nodes), datetime.now(UTC)
    near = path.parent.absolute() if site.allocated else None  # a folder that all nodes see
    with tempfile.TemporaryDirectory(prefix=".spikemark-", dir=near) as folder:
        made, record = _rounds(site, effort, Path(folder), progress, path)
    built, of = record.provenance, record.host
    commit = (built.commit or "unknown")[:9] + (" with changes" if built.dirty else "")
    options = "" if nodes is None else f" --nodes {nodes}"
    virtual = ", virtual machine" if of.virtual_machine else ""
    title = f"{of.cpu or 'unknown processor'}, {of.cores or '?'} cores{virtual}"
    written = text(name, title, f"spikemark calibrate{options}, {started:%Y-%m-%d}, commit {commit}", made)
    checked(yaml.safe_load(written), "calibrated")  # what is written can be read
    write_output(path, written)
    return made


def _rounds(site: Site, effort: Effort, folder: Path, progress: Progress, path: Path) -> tuple[Outcome, Any]:
    """Measures the nodes of a site; also the first record. Raises BenchFailed or RunFailed."""
    conditions, failed = quiet.Conditions(patience_s=effort.patience_s), []
    progress(0.0, "waiting until the machine is quiet")
    before, watch = quiet.wait(conditions), quiet.Watch()
    rounds: list[Measured] = []
    exchanged: list[exchanges.Tables] = []
    began, longest = time.monotonic(), 0.0

    def work(what: str, of: Callable[..., Work], *given: Any) -> Work:
        """Carries it out; on an allocation, FAILURES of all starts may fail."""
        share = max((time.monotonic() - began) / max(effort.lasts_s, 1e-3), len(rounds) / MOST)
        progress(min(0.99, share), f"round {len(rounds) + 1}: {what}")
        while True:
            try:
                return of(*given)
            except (BenchFailed, RunFailed) as reason:
                if not site.allocated or len(failed) == FAILURES:
                    raise
                failed.append(f"a program failed and was started again: {reason}")

    def new() -> Path:
        return Path(tempfile.mkdtemp(dir=folder))

    while len(rounds) < MOST:
        n, at = len(rounds), time.monotonic() - began
        if n >= FEWEST and at + longest > effort.lasts_s:
            break
        if n % effort.exchanges_every == 0:
            exchanged.append(work("exchanges", exchanges.one_round, site, effort.exchange_s, effort.bytes))
        metered = n == 0 or (rounds[0].run.record.energy is not None and n < effort.metered)
        rounds.append(Measured(
            work("kernels", lambda n=n: kernels.one_round(n, site, effort.kernel_s, new())),
            work("messages", messages.one_round, site, effort.exchange_s, n == 0),
            work("the mini-app", lambda metered=metered: runs.one_round(
                site, effort.model_ms, new(), metered)),
            work("kernels in runs", lambda: kernels_in_runs.one_round(site, effort.in_runs_ms, new())),
        ))  # fmt: skip
        longest = max(longest, time.monotonic() - began - at)
    progress(1.0, f"{len(rounds)} rounds")
    records = [r.run.record for r in rounds]
    values, unknown = _values(rounds, exchanged, site)
    # Ranks that Slurm starts are not children of this process: what is foreign, their own node says.
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    load = (median(loads) if loads else None) if site.allocated else watch.foreign_load()
    of, limit = records[0].host, conditions.foreign_limit
    warnings = []
    if load is None:
        warnings.append("whether others used the machine is unknown")
    elif load > limit:
        warnings.append(f"other programs kept {load:.2f} cores busy; calibrate again when all is quiet")
    elif before.foreign_load is not None and not before.quiet:
        warnings.append(f"other programs kept {before.foreign_load:.2f} cores busy before")
    if of.cores and of.cores > site.cores:
        warnings.append(f"only {site.cores} of {of.cores} cores may be used: full_node means these")
    if of.virtual_machine:
        warnings.append("virtual machine: its neighbours on the host cannot be seen")
    slow = kernels.slow_nodes([r.kernels for r in rounds]) if site.nodes > 1 else []
    return Outcome(path, values, unknown, [*warnings, *failed, *slow]), records[0]


def _values(
    rounds: list[Measured], exchanged: list[exchanges.Tables], site: Site
) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, and what is unknown, with reasons."""
    timed = [r.kernels for r in rounds]
    values = kernels.values(timed)
    values |= host.measure(rounds[0].run.record.host, layout=site.one_each(1) if site.allocated else None)
    unknown = dict.fromkeys(("node.bandwidth_peak", "power.tdp"), "nothing measures what a data sheet says")
    offer = "an offer states it, a calibration does not"
    unknown |= dict.fromkeys(("offer.nodes", "offer.price", "offer.watts", "price.node_hour"), offer)
    unknown |= {"accelerator": "accelerators are not measured", "software.modules": "not known to be needed",
                "software.scorep": "not known to be needed"}  # fmt: skip
    if site.nodes > 1:
        values["jitter.node_spread"] = kernels.node_spread(timed, listed(sorted(timed[0].full_node)))
    else:
        unknown["jitter.node_spread"] = messages.ONE_NODE
    inside, between = ([m for m in each if m] for each in zip(*(r.messages for r in rounds), strict=True))
    for found, why in (
        exchanges.values(exchanged, site),
        messages.values(inside, between),
        runs.values([r.run for r in rounds], site),
    ):
        values, unknown = values | found, unknown | why
    return values | kernels_in_runs.values([r.in_runs for r in rounds], values, site), unknown


# ---------------------------------------------------------------- the file (docs/machine-profile.md)

POSSIBLE = {"jitter.minor_share": (0.0, 1.0), "jitter.minor_factor": (1.0, float("inf"))}


class _Leaf(dict):
    """What has a line of its own."""


class _Lines(yaml.SafeDumper):
    """Groups are indented."""


_Lines.add_representer(_Leaf, lambda to, leaf: to.represent_mapping("tag:yaml.org,2002:map", leaf, True))


def text(name: str, title: str, reference: str, made: Outcome) -> str:
    """The text of a profile; `reference` comes before what is special about each value."""

    def rounded(value: Any) -> Any:
        return float(f"{value:.4g}") if isinstance(value, float) else value

    tree: dict[str, Any] = {"format_version": 1, "name": name, "title": title}
    for path, of in sorted(made.values.items(), key=lambda item: place(item[0])):
        known = {"kind": of.kind, "reference": ": ".join(filter(None, (reference, of.reference)))}
        if isinstance(of.value, list):
            leaf = known | {"rows": [[ranks, size, rounded(us)] for ranks, size, us in of.value]}
        else:
            leaf = {"value": rounded(of.value), **({"unit": of.unit} if of.unit else {}), **known}
            if of.interval:
                low, high = POSSIBLE.get(path, (0.0, float("inf")))
                leaf["interval"] = [rounded(min(max(end, low), high)) for end in of.interval]
        assign(tree, path, _Leaf(leaf))
    lines = [f"# {reference}. Intervals: where one more repetition is expected (95 %)."]
    lines += [f"# Warning: {warning}" for warning in made.warnings]
    lines += [f"# Unknown: {path}: {reason}" for path, reason in sorted(made.unknown.items())]
    plain = yaml.dump(tree, Dumper=_Lines, default_flow_style=False, sort_keys=False, width=float("inf"),
                      allow_unicode=True)  # fmt: skip
    return "\n".join(lines) + "\n" + plain
