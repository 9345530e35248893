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
from types import ModuleType
from typing import Any

import yaml

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.core.files import output_file, write_output
from spikemark.launch.process import ProgramFailed
from spikemark.machines.profile import Value, checked, place
from spikemark.records.record_fields import Host
from spikemark.running import quiet

from . import exchanges, host, kernels, kernels_in_runs, messages, runs
from .site import FULL, Effort, Site

#: The programs that a calibration starts.
PROGRAMS = ("bench_kernels", "bench_exchange", "bench_messages", "miniapp")
#: Failures that a calibration on an allocation survives. (Open MPI 4.1 over TCP crashed in MPI_Init in 8 of
#: 352 starts with two ranks on each of two nodes of a private Slurm; with one rank it does so more rarely.)
FAILURES = 3
NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
FEWEST, MOST = 3, 13  # rounds
#: What measures, in the order of a round, and what it is called. Each has `one_round(site, effort, folder,
#: earlier)`, whose results `values(rounds, site)` turns into values of the profile and reasons for others.
INSTRUMENTS = {
    exchanges: "exchanges", kernels: "kernels", messages: "messages", runs: "the mini-app",
    kernels_in_runs: "kernels in runs",
}  # fmt: skip
OFFERED, UNNEEDED = "an offer states it, a calibration does not", "not known to be needed"
#: What is never measured, and why.
UNKNOWN = {
    **dict.fromkeys(("node.bandwidth_peak", "power.tdp"), "nothing measures what a data sheet says"),
    **dict.fromkeys(("offer.nodes", "offer.price", "offer.watts", "price.node_hour"), OFFERED),
    **dict.fromkeys(("software.modules", "software.scorep"), UNNEEDED),
    "accelerator": "accelerators are not measured",
}
#: Told the share of the time that is over, and what is measured now.
Progress = Callable[[float, str], None]


@dataclass
class Outcome:
    """A profile: values by path; `unknown`: what was not measured, and why; `warnings`: what disturbed it."""

    path: Path
    values: dict[str, Value]
    unknown: dict[str, str]
    warnings: list[str] = field(default_factory=list)


def calibrate(
    name: str | None = None, out: Path | None = None, effort: Effort = FULL, force: bool = False,
    progress: Progress = lambda share, what: None, nodes: int | None = None,
) -> Outcome:  # fmt: skip
    """Measures this host, or `nodes` nodes of the allocation, and writes a profile.

    The file is `out` (machines/NAME.yaml in the checkout). `name` is by default that of the file, or else
    made from the processor's. Raises BadInput, before anything is measured, for a name that is not allowed, a
    file that exists (unless `force`), missing programs and more nodes than there are; ProgramFailed
    if one fails.
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
    """Measures the nodes of a site; also the first record. Raises ProgramFailed."""
    conditions, failed = quiet.Conditions(patience_s=effort.patience_s), []
    progress(0.0, "waiting until the machine is quiet")
    before, foreign_load = quiet.wait(conditions), quiet.watch()
    made: dict[ModuleType, list] = {instrument: [] for instrument in INSTRUMENTS}
    began, longest = time.monotonic(), 0.0

    def measure(instrument: ModuleType) -> None:
        """Has an instrument measure a round; on an allocation, FAILURES of all starts may fail."""
        share = max((time.monotonic() - began) / max(effort.lasts_s, 1e-3), n / MOST)
        progress(min(0.99, share), f"round {n + 1}: {INSTRUMENTS[instrument]}")
        while True:
            new = Path(tempfile.mkdtemp(dir=folder))
            try:
                return made[instrument].append(instrument.one_round(site, effort, new, made[instrument]))
            except ProgramFailed as reason:
                if not site.allocated or len(failed) == FAILURES:
                    raise
                failed.append(f"a program failed and was started again: {reason}")

    for n in range(MOST):
        at = time.monotonic() - began
        if n >= FEWEST and at + longest > effort.lasts_s:
            break
        for instrument in INSTRUMENTS:
            if instrument is not exchanges or n % effort.exchanges_every == 0:
                measure(instrument)
        longest = max(longest, time.monotonic() - began - at)
    progress(1.0, f"{len(made[runs])} rounds")
    records = [r.record for r in made[runs]]
    values, unknown = _values(made, site, records[0].host)
    # Ranks that Slurm starts are not children of this process: what is foreign, their own node says.
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    load = (median(loads) if loads else None) if site.allocated else foreign_load()
    of, limit = records[0].host, conditions.foreign_limit
    warnings = []
    if load is None:
        warnings.append("whether others used the machine is unknown")
    elif load > limit:
        warnings.append(f"other programs kept {load:.2f} cores busy; calibrate again when all is quiet")
    elif before is not None and before > limit:
        warnings.append(f"other programs kept {before:.2f} cores busy before")
    if of.cores and of.cores > site.cores:
        warnings.append(f"only {site.cores} of {of.cores} cores may be used: full_node means these")
    if of.virtual_machine:
        warnings.append("virtual machine: its neighbours on the host cannot be seen")
    slow = kernels.slow_nodes(made[kernels]) if site.nodes > 1 else []
    return Outcome(path, values, unknown, [*warnings, *failed, *slow]), records[0]


def _values(made: dict[ModuleType, list], site: Site, of: Host) -> tuple[dict[str, Value], dict[str, str]]:
    """Values by path, and what is unknown, with reasons."""
    values = host.measure(of, layout=site.one_each(1) if site.allocated else None)
    unknown = dict(UNKNOWN)
    for instrument in (kernels, exchanges, messages, runs):
        found, why = instrument.values(made[instrument], site)
        values, unknown = values | found, unknown | why
    return values | kernels_in_runs.values(made[kernels_in_runs], site, values), unknown


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
