"""The profile of this host, or of nodes of an allocation, measured in minutes.

This is `spikemark calibrate`.

Rounds go through everything that fluctuates, in processes of their own, so that repetitions of each
value are spread over all of the time; every interval is where one more repetition is expected
(`site.repeated`). Rounds go on until the time is over. The file is written whole at the end, or not
at all.
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

from spikemark.core import places
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.files import output_file, write_output
from spikemark.core.yaml_file import parsed
from spikemark.launch.process import ProgramFailed
from spikemark.machines.profile import checked
from spikemark.records.schema import Host, Record
from spikemark.running import quiet

from . import exchange_rounds, host, kernel_rounds, kernels_in_runs, messages, runs
from .calibrated_profile import CalibratedProfile, profile_text
from .site import FULL_EFFORT, Effort, Site, ValuesAndUnknown

#: The programs that a calibration starts.
PROGRAMS = ("bench_kernels", "bench_exchange", "bench_messages", "miniapp")
#: Failing starts that a calibration on an allocation survives. (Open MPI 4.1 over TCP crashed in
#: MPI_Init in 8 of 352 starts with two ranks on each of two nodes of a private Slurm; with one rank
#: it does so more rarely.)
MAX_FAILURES = 3
MACHINE_NAME = re.compile(r"[a-z0-9][a-z0-9.-]*")
MIN_ROUNDS, MAX_ROUNDS = 3, 13
#: What measures, in the order of a round, and what it is called. Each has `one_round(site, effort,
#: folder, earlier)`, whose results `values(rounds, site)` turns into values of the profile and
#: reasons for others.
INSTRUMENTS = {
    exchange_rounds: "exchanges",
    kernel_rounds: "kernels",
    messages: "messages",
    runs: "the mini-app",
    kernels_in_runs: "kernels in runs",
}
_DATA_SHEET = "nothing measures what a data sheet says"
_OFFERED = "an offer states it, a calibration does not"
_NOT_NEEDED = "not known to be needed"
#: What is never measured, and why.
UNKNOWN = {
    "node.bandwidth_peak": _DATA_SHEET,
    "node.clock_share": "the clock that is measured is that of all cores at work",
    "node.clock_turbo": _DATA_SHEET,
    "node.memory_channels": _DATA_SHEET,
    "power.core_alone": "not measured apart from other cores",
    "power.socket": "not measured apart from its cores",
    "power.tdp": _DATA_SHEET,
    "offer.nodes": _OFFERED,
    "offer.price": _OFFERED,
    "offer.watts": _OFFERED,
    "price.node_hour": _OFFERED,
    "software.modules": _NOT_NEEDED,
    "software.scorep": _NOT_NEEDED,
    "accelerator": "accelerators are not measured",
}
#: Called with the share of the time that is over, and what is measured now.
Progress = Callable[[float, str], None]


def calibrate(
    name: str | None = None,
    out: Path | None = None,
    effort: Effort = FULL_EFFORT,
    force: bool = False,
    progress: Progress = lambda share, words: None,
    nodes: int | None = None,
) -> CalibratedProfile:
    """Measures this host, or nodes of the allocation, and writes a profile.

    Args:
        name: of the machine; None: that of the file, or else made from the processor's.
        out: the file; None: machines/NAME.yaml in the checkout.
        effort: how long it takes.
        force: whether an existing file is replaced.
        progress: called before each measurement.
        nodes: number of nodes of the allocation; None: one.

    Raises BadInput, before anything is measured, for a name that is not allowed, a file that exists
    (unless `force`), missing programs and more nodes than there are; ProgramFailed if one fails.

    Example:
        >>> calibrate(name="my machine")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: name='my machine'; expected lower-case letters, ...
    """
    if name is None:
        name = out.stem if out else host.default_name()
    path = out or places.profiles_folder() / f"{name}.yaml"
    _check(name, path, force)
    for program in PROGRAMS:
        places.program(program)
    site = Site.at_hand(nodes)
    started = datetime.now(UTC)
    near = path.parent.absolute() if site.allocated else None  # a folder that all nodes see
    with tempfile.TemporaryDirectory(prefix=".spikemark-", dir=near) as folder:
        profile, record = _rounds(site, effort, Path(folder), progress, path)
    commit = (record.provenance.commit or "unknown")[:9]
    if record.provenance.dirty:
        commit = f"{commit} with changes"
    reference = f"{command('calibrate', nodes=nodes)}, {started:%Y-%m-%d}, commit {commit}"
    content = profile_text(name, _title(record.host), reference, profile)
    checked(parsed(content, path), "calibrated")  # what is written can be read
    write_output(path, content)
    return profile


def _check(name: str, path: Path, force: bool) -> None:
    """Raises BadInput for a name or a file of a profile that is not allowed."""
    if not MACHINE_NAME.fullmatch(name):
        expected = "lower-case letters, digits, '.' and '-', a letter or digit first"
        raise BadInput(field="name", value=name, expected=expected)
    if path.name != f"{name}.yaml":
        expected = f"a file called {name}.yaml, after the machine"
        raise BadInput(
            field="out",
            value=str(path),
            expected=expected,
        )
    output_file("--out", path)
    if path.exists() and not force:
        raise BadInput(
            f"out: {path} exists; expected a new file, or --force, which replaces it", field="out"
        )


def _title(host_: Host) -> str:
    """The processor, the number of cores, and whether they are virtual."""
    title = f"{host_.cpu or 'unknown processor'}, {host_.cores or '?'} cores"
    return f"{title}, virtual machine" if host_.virtual_machine else title


@dataclass
class Calibration:
    """Rounds of measurements at a site, in folders of their own below `folder`."""

    site: Site
    effort: Effort
    folder: Path
    progress: Progress
    results: dict[ModuleType, list[Any]] = field(
        default_factory=lambda: {instrument: [] for instrument in INSTRUMENTS}
    )  #: what each instrument has returned, a result per round
    failures: list[str] = field(default_factory=list)  #: starts that failed and were repeated
    began_s: float = field(default_factory=time.monotonic)

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self.began_s

    def run(self) -> None:
        """Rounds until the time is over. Raises ProgramFailed."""
        longest_s = 0.0
        for number in range(MAX_ROUNDS):
            start_s = self.elapsed_s
            if number >= MIN_ROUNDS and start_s + longest_s > self.effort.lasts_s:
                break
            self._round(number)
            longest_s = max(longest_s, self.elapsed_s - start_s)

    def _round(self, number: int) -> None:
        """Has each instrument measure once; exchanges, which take long, not in every round."""
        for instrument, words in INSTRUMENTS.items():
            if instrument is exchange_rounds and number % self.effort.exchanges_every:
                continue
            share_of_time = self.elapsed_s / max(self.effort.lasts_s, 1e-3)
            share = min(0.99, max(share_of_time, number / MAX_ROUNDS))
            self.progress(share, f"round {number + 1}: {words}")
            self._measure(instrument)

    def _measure(self, instrument: ModuleType) -> None:
        """Has an instrument measure; on an allocation, MAX_FAILURES of all starts may fail."""
        earlier = self.results[instrument]
        while True:
            folder = Path(tempfile.mkdtemp(dir=self.folder))
            try:
                result = instrument.one_round(self.site, self.effort, folder, earlier)
            except ProgramFailed as reason:
                if not self.site.allocated or len(self.failures) == MAX_FAILURES:
                    raise
                self.failures.append(f"a program failed and was started again: {reason}")
            else:
                earlier.append(result)
                return

    @property
    def records(self) -> list[Record]:
        """Records of the runs of the mini-app, one per round."""
        return [round_.record for round_ in self.results[runs]]

    def values(self) -> ValuesAndUnknown:
        """Values by path, and what is unknown, with reasons."""
        layout = self.site.one_each(1) if self.site.allocated else None
        values = host.measure(self.records[0].host, layout=layout)
        unknown = dict(UNKNOWN)
        for instrument in (kernel_rounds, exchange_rounds, messages, runs):
            new_values, reasons = instrument.values(self.results[instrument], self.site)
            values.update(new_values)
            unknown.update(reasons)
        timed = self.results[kernels_in_runs]
        values.update(kernels_in_runs.values(timed, self.site, values))
        return values, unknown


def _rounds(
    site: Site,
    effort: Effort,
    folder: Path,
    progress: Progress,
    path: Path,
) -> tuple[CalibratedProfile, Record]:
    """Measures the nodes of a site; also the first record. Raises ProgramFailed."""
    conditions = quiet.Conditions(patience_s=effort.patience_s)
    progress(0.0, "waiting until the machine is quiet")
    load_before = quiet.wait(conditions)
    foreign_load = quiet.watch()
    calibration = Calibration(site, effort, folder, progress)
    calibration.run()
    records = calibration.records
    progress(1.0, f"{len(records)} rounds")
    values, unknown = calibration.values()
    load = _load_of_nodes(records) if site.allocated else foreign_load()
    warnings = _load_warnings(load_before, load, conditions.foreign_limit)
    warnings += _host_warnings(records[0].host, site)
    warnings += calibration.failures
    if site.nodes > 1:
        warnings += kernel_rounds.slow_nodes(calibration.results[kernel_rounds])
    return CalibratedProfile(path, values, unknown, warnings), records[0]


def _load_of_nodes(records: list[Record]) -> float | None:
    """Cores that other programs kept busy while runs were measured, as the nodes themselves say.

    Ranks that Slurm starts are not children of this process, so that it could not tell them from
    others.
    """
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    return median(loads) if loads else None


def _load_warnings(before: float | None, during: float | None, limit: float) -> list[str]:
    """Warns of other programs, from the cores that they kept busy; None: unknown."""
    if during is None:
        return ["whether others used the machine is unknown"]
    if during > limit:
        busy = f"other programs kept {during:.2f} cores busy"
        return [f"{busy}; calibrate again when all is quiet"]
    if before is not None and before > limit:
        return [f"other programs kept {before:.2f} cores busy before"]
    return []


def _host_warnings(host_: Host, site: Site) -> list[str]:
    """Warns of cores that cannot be used, and of neighbours that cannot be seen."""
    warnings = []
    if host_.cores and host_.cores > site.cores:
        usable = f"only {site.cores} of {host_.cores} cores may be used"
        warnings.append(f"{usable}: full_node means these")
    if host_.virtual_machine:
        warnings.append("virtual machine: its neighbours on the host cannot be seen")
    return warnings
