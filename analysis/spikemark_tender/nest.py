"""Runs of NEST in an answer: what a simulator that is used in practice takes on the offered nodes.

`spikemark anchor RUN --machine MACHINE --out FOLDER` writes the folder of such runs, which fill
runs.csv (what predictions start from) and runs.jsonl (what each run says of itself). An answer
holds the folder, and `tender check` whether both agree with each other and with the rules. The
figures of merit stay those of the mini-app.
"""

import json
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked, same
from spikemark.core.reading import read_json, read_text
from spikemark.machines import Profile
from spikemark.prediction import draws, programs, question
from spikemark.prediction.anchor_run import RECORDS, RUNS
from spikemark.prediction.points import OwnRun, own_rows
from spikemark.quantities.words import counted, percent

from .formats import RTF, Bundle
from .schema import NestRule, NestRun, RunRule

#: Folder of an answer, and its files.
FOLDER, NETWORK = "nest", "network.json"
FILES = (NETWORK, "run.sh", RUNS, RECORDS)
#: The program, as predictions know it.
NEST = "nest"
#: Of the rules, where runs of NEST are asked for.
VERSION, REPETITIONS, LARGEST_SPREAD = "3.10", 3, 0.2
#: How far numbers that were written in six digits may differ, as a share.
ROUNDING = 1e-5
#: Spikes that a rate, written in decimals, may be off.
SPIKES = 1.0
#: Processor time of rank 0 beyond that of all its threads in the whole run: as a share, and in s.
CPU_SHARE, CPU_SLACK_S = 0.1, 0.02
#: Share of its time that a thread is busy at least, where runs are not doubtful.
LEAST_BUSY = 0.1
#: Most nodes of a computer that a line of runs.jsonl may name.
MAX_COUNT = 10**12

Amount = Field(ge=0, le=1e18)


class NestRecord(BaseModel):
    """What a run of NEST says of itself: a line of runs.jsonl; times in s."""

    model_config = ConfigDict(
        extra="ignore",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
    )

    program: str
    version: str
    ranks: int = Field(ge=1, le=MAX_COUNT)
    threads: int = Field(ge=1, le=MAX_COUNT)
    neurons: int = Field(ge=1, le=MAX_COUNT)
    synapses: int = Field(ge=0, le=MAX_COUNT)
    create_s: float = Amount
    connect_s: float = Amount
    prepare_s: float = Amount
    build_s: float = Amount
    simulate_s: float = Field(gt=0, le=1e9)
    simulate_cpu_s: float | None = Field(None, ge=0, le=1e18)
    model_s: float = Field(gt=0, le=1e9)
    communicate_s: float | None = Field(None, ge=0, le=1e9)
    spikes: int = Field(ge=0, le=MAX_COUNT)
    mean_rate_hz: float = Amount

    @property
    def real_time_factor(self) -> float:
        """Wall-clock by simulated time."""
        return self.simulate_s / self.model_s

    @property
    def most_cpu_s(self) -> float:
        """Processor time that rank 0, which reports its own, can take in simulate_s at most.

        A library for MPI may have a thread of its own, which waits for messages.
        """
        threads = self.threads + (self.ranks > 1)
        return threads * self.simulate_s

    @property
    def built_s(self) -> float:
        """The parts of the time until the network can be simulated."""
        return self.create_s + self.connect_s + self.prepare_s


class NestPair(NamedTuple):
    """A run in both files."""

    place: str  #: where it stands
    row: OwnRun  #: of runs.csv
    record: NestRecord  #: of runs.jsonl

    @property
    def layout(self) -> tuple[int, int, int]:
        """Nodes, ranks, and threads of a rank."""
        return self.row.nodes, self.record.ranks, self.record.threads


def _records(folder: Path) -> list[NestRecord]:
    """The runs of runs.jsonl, a line each that begins with a brace.

    Other lines are those of NEST or MPI, which scripts of earlier versions kept, too. Raises
    BadInput for an object that no run of NEST wrote.
    """
    path = folder / RECORDS
    measured = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if not line.startswith("{"):
            continue
        try:
            content = json.loads(line)
        except ValueError:
            raise BadInput(file=path, line=number, reason="no JSON", code="file") from None
        measured.append(checked(NestRecord, content, path, f"line {number}"))
    return measured


def _pairs(folder: Path) -> list[NestPair]:
    """The runs of a folder, each as both files have it, in their order.

    Raises BadInput for files that cannot be read, and for another number of runs.
    """
    rows = own_rows(folder / RUNS)
    lines = _records(folder)
    if len(rows) != len(lines) or not rows:
        expected = f"as many as in {RECORDS}, {len(lines)}"
        raise BadInput(field="runs", value=len(rows), expected=expected, file=folder / RUNS)
    by_place = zip(rows.items(), lines, strict=True)
    return [NestPair(place, row, record) for (place, row), record in by_place]


def collected(folder: Path) -> list[dict[str, Any]]:
    """Fields of a schema.NestRun for each layout, from the runs of a folder.

    Example:
        >>> collected(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/runs.csv: not found
    """
    by_layout: dict[tuple[int, int, int], list[float]] = defaultdict(list)
    for pair in _pairs(folder):
        by_layout[pair.layout].append(pair.record.real_time_factor)
    runs = []
    for (nodes, ranks, threads), factors in sorted(by_layout.items()):
        figure = {"value": median(factors), "low": min(factors), "high": max(factors)}
        layout = {"ranks": ranks, "threads": threads, "nodes": nodes}
        runs.append({"layout": layout, "repetitions": len(factors), RTF: figure})
    return runs


def copy(folder: Path, to: Path) -> None:
    """Copies what an answer holds of a folder. Raises BadInput where a file is missing."""
    to.mkdir()
    for name in FILES:
        if not (folder / name).is_file():
            expected = "a folder that `spikemark anchor --out` wrote and its runs filled"
            raise BadInput(file=folder / name, reason="missing", expected=expected, code="file")
        shutil.copyfile(folder / name, to / name)


def findings(
    folder: Path,
    bundle: Bundle,
    rule: NestRule,
    stated: Sequence[NestRun],
    offered_nodes: int,
) -> Iterator[str]:
    """What is wrong with the runs of NEST in an answer, a text each.

    Args:
        folder: of the runs.
        bundle: what the buyer published.
        rule: what it asks for.
        stated: what answer.json says of them.
        offered_nodes: nodes of the offered machine.
    """
    run = bundle.tender.run(rule.run)
    assert run is not None  # schema.Tender has it
    network = read_json(folder / NETWORK).get("network")
    for text in same("network", network, bundle.description(run).get("network")):
        yield f"{NETWORK}: another network than that of {rule.run}: {text}"
    of_layout: dict[tuple[int, int, int], list[NestPair]] = defaultdict(list)
    for pair in _pairs(folder):
        of_layout[pair.layout].append(pair)
        for text in _of_run(pair, rule, run):
            yield f"{pair.place}: {text}"
        if pair.row.nodes > offered_nodes:
            yield f"{pair.place}: nodes={pair.row.nodes}; expected at most {offered_nodes}"
    for repetitions in of_layout.values():
        yield from _of_layout(repetitions, rule)
    if [one.model_dump() for one in stated] != collected(folder):
        yield "nest: figures of answer.json are not those of the runs"


def doubts(folder: Path) -> Iterator[str]:
    """Runs in which not even one thread was busy, whose times may be in another unit.

    Example:
        >>> list(doubts(Path("nowhere")))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/runs.csv: not found
    """
    for pair in _pairs(folder):
        record = pair.record
        busy_s = record.simulate_cpu_s
        if busy_s is not None and busy_s < LEAST_BUSY * record.simulate_s:
            yield (
                f"{pair.place}: simulate_s={record.simulate_s:.4g}, of which the processors took"
                f" {busy_s:.4g} s: another unit, or a machine that was not free"
            )


def predicted(
    bundle: Bundle, rule: NestRule, run: NestRun, machine: Profile
) -> tuple[float, float]:
    """The 95 % interval of NEST's real-time factor on the nodes of a run, by a profile.

    Raises BadInput as a prediction does, and for a run that does not fill its nodes, one thread a
    core: NEST is predicted on whole nodes.
    """
    cores = machine.need("node.cores", "a prediction of NEST").value * run.layout.nodes
    threads = run.layout.ranks * run.layout.threads
    if threads != cores:
        raise BadInput(field="threads", value=threads, expected=f"one for each of {cores:g} cores")
    of_rules = bundle.tender.run(rule.run)
    assert of_rules is not None  # schema.Tender has it
    description = bundle.description(of_rules)
    network = question.of_description(of_rules.name, description, of_rules.expected.rates_hz)
    layout = programs.AskedLayout(nodes=run.layout.nodes)
    option = programs.program_named(NEST).options(network, machine, layout)[0]
    _, low, high = draws.interval(option.rtf)
    return low, high


def _of_run(pair: NestPair, rule: NestRule, run: RunRule) -> Iterator[str]:
    """What is wrong with a run by itself."""
    row, record = pair.row, pair.record
    if record.program != "nest" or record.version.split(".")[:2] != rule.version.split(".")[:2]:
        yield f"version={record.program} {record.version}; expected nest {rule.version}"
    expected = {
        "ranks": (row.ranks, record.ranks, 0.0),
        "threads": (row.threads, record.threads, 0.0),
        RTF: (row.real_time_factor, record.real_time_factor, ROUNDING),
        "neurons": (record.neurons, run.expected.neurons, 0.0),
        "synapses": (record.synapses, run.expected.synapses, run.expected.tolerance),
        "build_s": (
            record.build_s,
            record.create_s + record.connect_s + record.prepare_s,
            ROUNDING,
        ),
    }
    if record.communicate_s:
        expected["communicate"] = (row.communicate or 0.0, record.communicate_s, ROUNDING)
    for name, (value, wanted, share) in expected.items():
        if abs(value - wanted) > share * abs(wanted):
            yield f"{name}={value:g}; expected {wanted:g}"
    fired = record.mean_rate_hz * record.neurons * record.model_s
    if abs(fired - record.spikes) > SPIKES + ROUNDING * fired:
        yield f"spikes={record.spikes}; expected {fired:.0f} by the mean rate"
    limit_s = (1 + CPU_SHARE) * record.most_cpu_s + CPU_SLACK_S
    if record.simulate_cpu_s is not None and record.simulate_cpu_s > limit_s:
        yield (
            f"simulate_cpu_s={record.simulate_cpu_s:.4g}; expected at most {record.most_cpu_s:.4g}:"
            f" simulate_s={record.simulate_s:.4g} on {counted(record.threads, 'thread')}"
        )
    if (record.communicate_s or 0.0) > record.real_time_factor:
        yield "communicate_s: longer than the run"


def _of_layout(repetitions: list[NestPair], rule: NestRule) -> Iterator[str]:
    """What is wrong with the repetitions of one layout together."""
    nodes, ranks, threads = repetitions[0].layout
    where = f"nest on {nodes} nodes, {ranks} ranks x {threads} threads"
    if len(repetitions) < rule.repetitions:
        yield f"{where}: {len(repetitions)} of {rule.repetitions} repetitions"
    times = [pair.record.simulate_s for pair in repetitions]
    if len(set(times)) < len(times):
        yield f"{where}: two repetitions took exactly as long"
    factors = [pair.record.real_time_factor for pair in repetitions]
    spread = max(factors) / min(factors) - 1
    if spread > rule.spread:
        expected = f"expected at most {percent(rule.spread)}"
        yield f"{where}: repetitions differ by {percent(spread)}; {expected}"
    fired = {(pair.record.spikes, pair.record.model_s) for pair in repetitions}
    if len(fired) > 1:
        yield f"{where}: repetitions fired other spikes"
