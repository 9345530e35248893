"""The history of a machine: one file MACHINE.jsonl in a folder, one line per setup that was
measured once.

An entry holds the time per cycle of every run, by phase and by cause. A history tells the spread of
a machine from run to run and from session to session, and when its times changed.
"""

import functools
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from pydantic import AfterValidator, BaseModel, Field, ValidationError

from spikemark.core import digests, places
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically, write_output
from spikemark.core.lock import locked
from spikemark.core.reading import read_text
from spikemark.core.validation import invalid
from spikemark.models.power import segments
from spikemark.network.named_files import with_content
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.quantity import Quantity, student
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, percent
from spikemark.records.arrays import LARGEST_NUMBER
from spikemark.records.record import Run
from spikemark.report import plots
from spikemark.report.document import Page, html
from spikemark.report.facts import COMMIT_DIGITS, facts, few, network_in_words

from . import sides
from .compare import KnownSpread, disturbed
from .estimate import FEWEST_DEGREES, VarianceComponents
from .show import MICROSECONDS_PER_SECOND, change_in_words, signed
from .times import CYCLE, MEDIAN, times

#: Entries in which a change can be found.
FEWEST_ENTRIES = 4
#: Level of the interval of a change, of which the best place was chosen with the times known.
CHANGE_LEVEL = 0.99
#: Share of simulated histories without a change that show one: a test holds it.
MOST_ALARMS = 0.05
#: Hexadecimal digits of the key of a setup.
KEY_DIGITS = 12
#: The end of the name of a file.
END = ".jsonl"
#: Fields of the provenance that an entry keeps.
VERSIONS = ("version", "commit", "dirty", "compiler", "flags", "mpi_library")

Seconds = Annotated[float, Field(ge=-LARGEST_NUMBER, le=LARGEST_NUMBER)]


def _with_cycle(parts: dict[str, float]) -> dict[str, float]:
    if not parts.get(CYCLE, 0.0) > 0:
        raise ValueError(f"expected {CYCLE}, above 0, among them")
    return parts


class OfRun(BaseModel):
    """One run of an entry."""

    started: str = Field(description="when it began")
    seed: int = Field(description="of the network")
    parts: Annotated[dict[str, Seconds], AfterValidator(_with_cycle)] = Field(
        description="its parts (`RunTimes.parts`), s per cycle"
    )


class Entry(BaseModel):
    """The runs of one setup in one session."""

    format_version: Literal[1] = Field(1, description="version of the format")
    started: str = Field(description="when the first run began")
    experiment: str = Field(description="name of the experiment; empty for a single run")
    setup: str = Field(description="label of the setup")
    key: str = Field(description="the same for all runs of a setup, whatever the seed")
    network: str = Field(
        "", description="the size of the network; empty in entries that were made before it"
    )
    versions: dict[str, str | bool | None] = Field(description="which program made the records")
    runs: list[OfRun] = Field(min_length=1, description="the runs")


@dataclass(frozen=True)
class Change:
    """A change of the times of a setup."""

    #: When the first entry after it was measured.
    since: str
    #: The number of that entry among those of its setup, from 1.
    entry: int
    #: By how much the times are above those before, as a share.
    change: Quantity
    #: Which versions differ from those before.
    differs: list[str]


@dataclass(frozen=True, repr=False)
class HistoryAnswer(Answer):
    """The history of machines: what their times spread by, and when they changed.

    `table` has a row for each setup: its entries, the latest time, and the latest change.
    """

    verb = "diff"

    entries: pd.DataFrame  #: of `_read_all`
    appended: dict[Path, int] = field(default_factory=dict)  #: number of new entries by file
    added: bool = False  #: whether results were to be added
    disturbed_runs: int = 0  #: that were left out

    @property
    def table(self) -> pd.DataFrame:
        """The setups; `cycle` in µs."""
        return frame_of(_history_table(self.entries), {"cycle": "µs per cycle"})

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark diff --history` prints."""
        sentences = []
        for path, number in self.appended.items():
            sentences.append(f"{path}: {counted(number, 'entry', 'entries')} appended")
        if self.added and not sentences:
            sentences.append("nothing appended: all entries are there already")
        sentences.append(_history_sentence(self.entries))
        warnings = []
        if self.disturbed_runs:
            warnings.append(f"left out: {counted(self.disturbed_runs, 'disturbed run')}")
        return Screen(sentences, [_history_table(self.entries)], warnings=warnings)

    def sections(self) -> list[Section]:
        """The course of each setup as a figure, and all changes as a table."""
        table = _changes_table(self.entries)
        tables = [table] if table.rows else []
        text = _change_sentences(self.entries)
        return [Section("course", "Changes", text, figures=[_course(self.entries)], tables=tables)]

    def write_page(self, path: Path, made_by: str = "") -> None:
        """Write the page, whole or not at all; `made_by`: the command that makes it."""
        screen = self.screen()
        *appended, sentence = screen.lines
        (course,) = self.sections()
        boxes = [Box("wary", warning) for warning in screen.warnings]
        machines = few(self.entries["machine"])
        page = Page(
            f"history of {machines}",
            f"Times of a cycle on {machines}, session by session",
            sentence,
            facts=_facts(self.entries, made_by),
            picture=course.figures[0],
            table=_history_table(self.entries),
            notes=appended,
            sections=[replace(course, figures=[], boxes=boxes)],
        )
        write_output(path, html(page))

    def content(self) -> dict[str, Any]:
        """The setups by machine, with their entries and changes; times in s per cycle."""
        content = _history_content(self.entries)
        if self.added:
            content["appended"] = {str(path): number for path, number in self.appended.items()}
            content["left_out"] = self.disturbed_runs
        return content


def history_answer(folder: Path, results: list[Path]) -> HistoryAnswer:
    """What the history in a folder tells, after `results` have been appended.

    Raises BadInput as `add` and `_read_all`; of a line that is no entry before anything is
    appended.

    Example:
        >>> history_answer(Path("nowhere"), results=[])
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere: no history is there; `spikemark diff ...
    """
    if not results:
        return HistoryAnswer(_read_all(folder))
    for path in sorted(folder.glob(f"*{END}")):
        entries(path)
    appended, disturbed_runs = add(folder, results)
    return HistoryAnswer(_read_all(folder), appended, True, disturbed_runs)


def _file_of(folder: Path, run: Run) -> Path:
    """The file of the machine of a run: of its cluster, or else of its host."""
    name = run.record.host.name.split(".")[0]
    allocation = run.launched.allocation if run.launched else None
    if allocation and allocation.cluster:
        name = allocation.cluster
    return Path(folder) / f"{places.as_name(name)}{END}"


def key_of(run: Run) -> str:
    """A hash of all that makes a setup.

    Its description but for the seed, ranks, threads and nodes.

    Example:
        >>> from spikemark.records.record import load_run
        >>> aware = load_run("tests/golden/analysis/records/aware-4")
        >>> conventional = load_run("tests/golden/analysis/records/conventional-4")
        >>> key_of(aware) == key_of(conventional)  # another schedule is another setup
        False
    """
    return digests.digest(_setup_of(run))[:KEY_DIGITS]


def _setup_of(run: Run) -> list[Any]:
    """What the key of its setup is made of."""
    description = with_content(run.record.description)
    without_seed = {name: value for name, value in description.items() if name != "seed"}
    return [without_seed, run.record.ranks, run.record.threads, run.record.host.nodes]


def _key_in(keys: set[str], run: Run) -> str:
    """The key of a run's setup in a history that has these keys.

    A setup whose entries begin with those of earlier versions, for which 4 and 4.0 differed, goes
    on under their key.
    """
    earlier = digests.digest_as_written(_setup_of(run))[:KEY_DIGITS]
    return earlier if earlier in keys else key_of(run)


def entries(path: Path) -> list[Entry]:
    """The entries of a file, the oldest first. Raises BadInput naming the line that is none.

    Example:
        >>> entries(Path("nowhere.jsonl"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere.jsonl: not found
    """
    entries_of_file = []
    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            entries_of_file.append(Entry.model_validate_json(line))
        except ValidationError as error:
            raise invalid(error, "entry").within(file=path, line=number) from None
    return sorted(entries_of_file, key=lambda entry: entry.started)


def frame(machine_entries: list[Entry], machine: str = "") -> pd.DataFrame:
    """A row per entry, setup by setup.

    Besides the fields of an entry: `machine`; `cycle_s`, the time of a cycle in s, mean over runs;
    `level` as `levels`.

    Example:
        >>> run = OfRun(started="2026-01-01T10:00", seed=1, parts={CYCLE: 0.01})
        >>> about = {"started": run.started, "experiment": "demo", "setup": "D=10"}
        >>> entry = Entry(**about, key="1a2b3c", versions={}, runs=[run])
        >>> table = frame([entry], machine="my-cluster")
        >>> table[["machine", "setup", "cycle_s", "level"]].to_dict("records")
        [{'machine': 'my-cluster', 'setup': 'D=10', 'cycle_s': 0.01, 'level': 0}]
    """
    rows = []
    for entry in machine_entries:
        cycle_s = np.mean([run.parts[CYCLE] for run in entry.runs])
        rows.append(vars(entry) | {"cycle_s": cycle_s})
    table = pd.DataFrame(rows, columns=[*Entry.model_fields, "cycle_s"])
    table["machine"] = machine
    setups = []
    for _, setup in table.groupby("key", sort=False):
        setups.append(setup.assign(level=levels(setup["cycle_s"].tolist())))
    if not setups:
        return table.assign(level=0)
    return pd.concat(setups, ignore_index=True)


def _read_all(folder: Path) -> pd.DataFrame:
    """The entries of all machines, as `frame`. Raises BadInput for a folder without a history."""
    machines = []
    for path in sorted(Path(folder).glob(f"*{END}")):
        machine = frame(entries(path), path.stem)
        if len(machine):
            machines.append(machine)
    if not machines:
        first = command("diff", history=folder, add="RESULTS")
        raise BadInput(reason=f"no history is there; `{first}`", file=folder, code="file")
    return pd.concat(machines, ignore_index=True)


def add(folder: Path, results: list[Path]) -> tuple[dict[Path, int], int]:
    """Append runs, sweeps or whole results to the history in a folder.

    Disturbed runs are left out, as by `compare`, and so are entries that are there already. Raises
    BadInput as `sides.read`, for simulated times, and where every run was disturbed.

    Returns:
        How many entries were appended to which file, and how many runs were left out.

    Example:
        >>> add(Path("history"), [Path("tests/golden/analysis/records/aware-4")])
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: tests/golden/analysis/records/aware-4: nothing was ...
    """
    runs = _runs_with_session(results)
    for run in runs["run"]:
        if run.record.kind != "measured":
            expected = "measured times for a history"
            raise BadInput(field="kind", value=run.record.kind, expected=expected, file=run.path)
    calm = runs[runs["run"].map(disturbed) == ""]
    if calm.empty:
        reason = "nothing was appended"
        expected = "a run that nothing disturbed"
        raise BadInput(reason=reason, expected=expected, file=results[0], code="file")
    calm = calm.assign(file=calm["run"].map(functools.partial(_file_of, folder)))
    appended: dict[Path, int] = defaultdict(int)
    with locked(Path(folder)):
        keys_of_file = {path: _keys(path) for path in set(calm["file"])}
        calm["key"] = [
            _key_in(keys_of_file[path], run)
            for path, run in zip(calm["file"], calm["run"], strict=True)
        ]
        groups = calm.groupby(["file", "session", "key", "experiment", "setup"], sort=False)
        for _, runs_of_entry in groups:
            path = runs_of_entry["file"].iloc[0]
            if _append(path, _entry(runs_of_entry)):
                appended[path] += 1
    return appended, len(runs) - len(calm)


def _keys(path: Path) -> set[str]:
    """The keys of the setups in a file, which may not exist yet."""
    if not path.is_file():
        return set()
    return {entry.key for entry in entries(path)}


def _runs_with_session(results: list[Path]) -> pd.DataFrame:
    """The runs of several results as in `Side.runs`, and `session`; single runs are one session."""
    tables = []
    for path in results:
        side = sides.read(path)
        session = "" if side.kind == sides.RUN else str(side.path)
        tables.append(side.runs.assign(session=session))
    return pd.concat(tables)


def _append(path: Path, entry: Entry) -> bool:
    """Appends an entry to a file; False where it is there already."""
    before = b""
    if path.is_file():
        known = {kept.model_dump_json(exclude={"network"}) for kept in entries(path)}
        if entry.model_dump_json(exclude={"network"}) in known:
            return False
        before = path.read_bytes()
    write_atomically(path, before + f"{entry.model_dump_json()}\n".encode())
    return True


def _entry(rows: pd.DataFrame) -> Entry:
    """The entry of the runs of one setup in one session."""
    runs = []
    for run, seed in zip(rows["run"], rows["seed"], strict=True):
        parts = {name: part.value for name, part in times(run).parts.items() if name != MEDIAN}
        runs.append(OfRun(started=run.record.provenance.started, seed=seed, parts=parts))
    first = rows.iloc[0]
    provenance = first["run"].record.provenance
    return Entry(
        started=min(run.started for run in runs),
        experiment=first["experiment"],
        setup=first["setup"],
        key=first["key"],
        network=network_in_words(first["run"]),
        versions={name: getattr(provenance, name) for name in VERSIONS},
        runs=runs,
    )


def levels(cycle_s: Sequence[float]) -> np.ndarray:
    """[entry of a setup], the number of its level; a level begins where times change for good.

    The places are those of penalised least squares on logarithms (`models.power`). A change counts
    if there are two entries before and after it, and the interval of CHANGE_LEVEL of the difference
    of the two levels excludes 0 (`change`). The least certain change goes first.

    Example:
        >>> levels([50.0, 50.1, 49.9, 50.0, 60.1, 60.0, 59.9, 60.0]).tolist()
        [0, 0, 0, 0, 1, 1, 1, 1]
    """
    times_s = np.array(cycle_s, dtype=float)
    firsts = []
    if len(times_s) >= FEWEST_ENTRIES:
        firsts = [segment.first for segment in segments(np.log(times_s))[1:]]
    while True:
        parts = np.split(times_s, firsts)
        uncertain = []
        for number, (before, after) in enumerate(pairwise(parts)):
            step = change(before, after)
            if step.low is None or step.high is None or step.low <= 0 <= step.high:
                uncertain.append((abs(step.value or 0.0), number))
        if not uncertain:
            return np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        _, number = min(uncertain)
        del firsts[number]


def change(
    before_s: Sequence[float] | np.ndarray, after_s: Sequence[float] | np.ndarray
) -> Quantity:
    """Share by which times are above those before.

    With Student's interval, of their common variance.

    Example:
        >>> step = change([50.0, 50.2, 49.8], [60.0, 60.2, 59.8])
        >>> round(step.value, 3), round(step.low, 3), round(step.high, 3)
        (0.2, 0.184, 0.217)
    """
    before = np.log(np.asarray(before_s, dtype=float))
    after = np.log(np.asarray(after_s, dtype=float))
    degrees = len(before) + len(after) - 2
    squares = 0.0
    for level in (before, after):
        squares += float(np.square(level - level.mean()).sum())
    error = (squares / degrees * (1 / len(before) + 1 / len(after))) ** 0.5
    middle = float(after.mean() - before.mean())
    half = student(degrees, CHANGE_LEVEL) * error
    low = float(np.expm1(middle - half))
    high = float(np.expm1(middle + half))
    return Quantity(float(np.expm1(middle)), low, high, kind="measured")


def changes(setup: pd.DataFrame) -> list[Change]:
    """The changes of a setup, from its rows of `frame`.

    Example:
        >>> columns = {"level": [0, 0, 1, 1], "cycle_s": [0.0100, 0.0101, 0.0120, 0.0121]}
        >>> columns["started"] = ["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-04"]
        >>> columns["versions"] = [{"mpi_library": name} for name in ("4.1", "4.1", "5.0", "5.0")]
        >>> (step,) = changes(pd.DataFrame(columns))
        >>> step.since, step.entry, round(step.change.value, 2), step.differs
        ('2026-01-03', 3, 0.2, ['mpi_library'])
    """
    changes_of_setup = []
    entry = 1
    levels_of_setup = [level for _, level in setup.groupby("level")]
    for before, after in pairwise(levels_of_setup):
        old = before["versions"].iloc[-1]
        new = after["versions"].iloc[0]
        differs = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        step = change(before["cycle_s"].to_numpy(), after["cycle_s"].to_numpy())
        entry += len(before)
        changes_of_setup.append(Change(after["started"].iloc[0], entry, step, differs))
    return changes_of_setup


def known_of(folder: Path) -> Callable[[Run], KnownSpread]:
    """A function that tells the spread of the setup of a run on its machine.

    That of all setups there where its own entries are too few. The function raises BadInput where
    the folder has no history of the machine.

    Example:
        >>> from spikemark.records.record import load_run
        >>> spread_of = known_of(Path("nowhere"))
        >>> spread_of(load_run("tests/golden/analysis/records/aware-4"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: history=nowhere: no vm.jsonl; expected a history of ...
    """

    @functools.cache
    def frame_of(path: Path) -> pd.DataFrame:
        return frame(entries(path))

    def spread_of(run: Run) -> KnownSpread:
        path = _file_of(folder, run)
        if not path.is_file():
            raise BadInput(
                f"history={folder}: no {path.name}; expected a history of the machine of A",
                field="history",
            )
        all_entries = frame_of(path)
        spread = spreads(all_entries[all_entries["key"] == _key_in(set(all_entries["key"]), run)])
        if CYCLE in spread and spread[CYCLE].runs_degrees >= FEWEST_DEGREES:
            return spread
        return spreads(all_entries)

    return spread_of


def spreads(history: pd.DataFrame) -> KnownSpread:
    """The spread of every part within and between entries, as shares of the time of a cycle.

    Between entries: what the means of entries of one level vary beyond what their runs explain.

    Args:
        history: rows of `frame`.

    Example:
        >>> runs = [OfRun(started="", seed=1, parts={CYCLE: cycle_s}) for cycle_s in (0.01, 0.0102)]
        >>> entry = {"machine": "my-cluster", "key": "1a2b3c", "level": 0, "cycle_s": 0.0101}
        >>> spread = spreads(pd.DataFrame([entry | {"runs": runs}]))[CYCLE]
        >>> spread.runs_degrees, round(spread.runs**0.5, 3)
        (1, 0.014)
    """
    rows = []
    for number, (_, level) in enumerate(history.groupby(["machine", "key", "level"], sort=False)):
        first_s = level["cycle_s"].iloc[0]
        for index, cycle_s, runs in zip(level.index, level["cycle_s"], level["runs"], strict=True):
            for run in runs:
                row = {
                    "level": number,
                    "entry": index,
                    "drift": cycle_s / first_s,
                    "seed": run.seed,
                }
                for part, seconds in run.parts.items():
                    row[part] = seconds / cycle_s
                rows.append(row)
    shares = pd.DataFrame(rows).fillna(0.0)
    return {str(part): _spread(shares, str(part)) for part in shares.columns[4:]}


def _spread(shares: pd.DataFrame, part: str) -> VarianceComponents:
    """The spread of one part.

    Args:
        shares: a row per run: its `level`, `entry` and `seed`, `drift`: the cycle of the entry over
            the first one of the level, and the share of each part in the cycle of the entry.
        part: a column.
    """
    runs, degrees = _squares(shares.groupby(["entry", "seed"])[part])
    variance = runs / degrees if degrees else 0.0
    drifting = shares[part].mul(shares["drift"])
    means = drifting.groupby([shares["level"], shares["entry"]]).agg(["mean", "size"])
    sessions, sessions_degrees = _squares(means.groupby("level")["mean"])
    explained = 0.0
    for _, sizes in means.groupby("level")["size"]:
        explained += (len(sizes) - 1) / sizes.mean()
    beyond = 0.0
    if sessions_degrees:
        beyond = max(sessions - explained * variance, 0.0) / sessions_degrees
    return VarianceComponents(variance, degrees, beyond, sessions_degrees)


def _squares(groups: Any) -> tuple[float, int]:
    """Sum of squares about the means of groups (of pandas), and its degrees of freedom."""
    deviation = groups.transform(lambda values: values - values.mean())
    return float((deviation**2).sum()), len(deviation) - groups.ngroups


def _history_sentence(history: pd.DataFrame) -> str:
    """How many changes there are, and how much the times spread; `history`: of `_read_all`."""
    levels_of_setups = history.groupby(["machine", "key"])["level"].nunique()
    changes_of_all = int((levels_of_setups - 1).sum())
    words = (
        f"{counted(changes_of_all, 'change')} in {counted(len(history), 'entry', 'entries')} of"
        f" {counted(history['machine'].nunique(), 'machine')}"
    )
    spread = spreads(history)[CYCLE]
    known = []
    if spread.runs_degrees:
        known.append(f"runs of a session spread by {percent(spread.runs**0.5, 1)}")
    if spread.sessions_degrees:
        further = "by further" if known else "spread by"
        known.append(f"sessions {further} {percent(spread.sessions**0.5, 1)}")
    if not known:
        return f"{words}."
    return f"{words}; {', '.join(known)} (standard deviations)."


def _setup_names(history: pd.DataFrame) -> pd.Series:
    """The setup of each entry, without the D of schedules that have none, as long as setups differ.

    Entries keep the label that the run had in its sweep, whose grid may vary D for all schedules.
    """
    plain = history["setup"].map(_without_idle_delay_ratio)
    if plain.nunique() < history["setup"].nunique():
        return history["setup"]
    return plain


def _without_idle_delay_ratio(label: str) -> str:
    """A label without D, where its schedule does not use D.

    Example:
        >>> _without_idle_delay_ratio("conventional D=10 ranks=2")
        'conventional ranks=2'
        >>> _without_idle_delay_ratio("structure_aware D=10 ranks=2")
        'structure_aware D=10 ranks=2'
    """
    schedule = SCHEDULES.get(label.split(" ")[0])
    if schedule is None or schedule.uses_delay_ratio:
        return label
    return re.sub(r" D=\d+\b", "", label)


def _facts(history: pd.DataFrame, made_by: str) -> dict[str, str]:
    """Where the entries come from; `made_by`: the command that makes the page."""
    versions = history["versions"]
    days = [started[:10] for started in sorted(history["started"])]
    unknown = "of experiment " + history["experiment"] + " (entries do not tell its size)"
    return facts(
        network=few(history["network"].where(history["network"] != "", unknown)),
        program=f"mini-app {few(each.get('version') or 'unknown' for each in versions)}",
        machine=few(history["machine"]),
        day=" to ".join(dict.fromkeys([days[0], days[-1]])),
        commit=few(_commit(each) for each in versions),
        command=made_by,
    )


def _change_sentences(history: pd.DataFrame) -> list[str]:
    """Each change in a sentence, and how surely it is one; nothing where there is none."""
    names = _setup_names(history)
    sentences = []
    for _, setup in history.groupby(["machine", "key"], sort=False):
        place = f"{names[setup.index[0]]} on {setup['machine'].iloc[0]}"
        sentences += [
            f"{place}: {change_in_words(step.change)} from entry {step.entry} on"
            f" ({_minute(step.since)}). The interval of {percent(CHANGE_LEVEL)} excludes 0."
            for step in changes(setup)
        ]
    if sentences:
        sentences.append(
            "A change counts if its interval excludes 0. Of histories that were simulated without"
            f" a change, at most {percent(MOST_ALARMS)} show one."
        )
    return sentences


def _minute(started: str) -> str:
    """A time of ISO 8601 to the minute, as people read it.

    Example:
        >>> _minute("2026-11-29T11:22:46Z"), _minute("2026-01-05")
        ('2026-11-29 11:22 UTC', '2026-01-05')
    """
    minute = started[:16].replace("T", " ")
    return f"{minute} UTC" if started.endswith("Z") else minute


def _history_table(history: pd.DataFrame) -> Table:
    """A row per setup: entries, the latest time, and the latest change with what differs since."""
    columns = [
        Column("machine", "machine"),
        Column("setup", "setup"),
        Column("entries", "entries", "counted"),
        Column("latest", "latest"),
        Column("cycle", "µs per cycle", "measured", digits=4),
        Column("change", "latest change"),
    ]
    names = _setup_names(history)
    rows = []
    for _, setup in history.groupby(["machine", "key"], sort=False):
        latest = setup.iloc[-1]
        rows.append(
            {
                "machine": latest["machine"],
                "setup": f"{latest['experiment']}: {names[setup.index[0]]}",
                "entries": len(setup),
                "latest": latest["started"][:10],
                "cycle": MICROSECONDS_PER_SECOND * float(latest["cycle_s"]),
                "change": _latest_change(setup),
            }
        )
    return Table(columns, rows)


def _course(history: pd.DataFrame) -> Figure:
    """The time of a cycle in each entry, in the colour of its setup.

    `history`: of `_read_all`.
    """
    numbers = history.groupby(["machine", "key"], sort=False).cumcount() + 1
    names = _setup_names(history)
    if history["machine"].nunique() > 1:
        names = history["machine"] + ", " + names
    times_us = [
        [MICROSECONDS_PER_SECOND * run.parts[CYCLE] for run in runs] for runs in history["runs"]
    ]
    drawn = history.assign(
        entry=numbers,
        cycle_us=MICROSECONDS_PER_SECOND * history["cycle_s"],
        low=[min(times) for times in times_us],
        high=[max(times) for times in times_us],
        setup=names,
    )
    return plots.lines(
        drawn,
        "entry",
        "cycle_us",
        "course-of-setups",
        "Time of a cycle, entry by entry",
        "Means over the runs of an entry; whiskers: smallest to largest run. The table lists"
        " where a time has changed.",
        hue="setup",
        low="low",
        high="high",
        xlabel="entry",
        ylabel="µs per cycle (lower is better)",
    )


def _changes_table(history: pd.DataFrame) -> Table:
    """A row per change of a setup: since when, by how much, and which versions differ."""
    columns = [
        Column("setup", "setup"),
        Column("entry", "first entry", digits=0),
        Column("since", "since"),
        Column("commit", "commit"),
        Column("change", "change", words=signed),
        Column("differs", "differs"),
    ]
    names = _setup_names(history)
    rows: list[dict[str, Cell]] = []
    for _, setup in history.groupby(["machine", "key"], sort=False):
        latest = setup.iloc[-1]
        for step in changes(setup):
            rows.append(
                {
                    "setup": f"{latest['machine']}, {names[setup.index[0]]}",
                    "entry": step.entry,
                    "since": _minute(step.since),
                    "commit": _commit(setup.iloc[step.entry - 1]["versions"]),
                    "change": step.change,
                    "differs": ", ".join(step.differs) or "nothing that entries tell",
                }
            )
    note = f"Intervals of {percent(CHANGE_LEVEL)}, since the place of a change was looked for."
    return Table(columns, rows, "Changes", notes=[note])


def _commit(versions: dict[str, str | bool | None]) -> str:
    """The commit that made an entry, in few digits."""
    return str(versions.get("commit") or "unknown")[:COMMIT_DIGITS]


def _latest_change(setup: pd.DataFrame) -> str:
    """The latest change of a setup in words."""
    changes_of_setup = changes(setup)
    if not changes_of_setup:
        return "none"
    latest = changes_of_setup[-1]
    names = ", ".join(latest.differs) or "nothing that entries tell"
    return f"{change_in_words(latest.change)} since {latest.since[:10]}; differs: {names}"


def _history_content(history: pd.DataFrame) -> dict[str, Any]:
    """The content for JSON, by machine and setup; times in s per cycle."""
    machines: dict[str, list[dict[str, Any]]] = {}
    for _, setup in history.groupby(["machine", "key"], sort=False):
        latest = setup.iloc[-1]
        with_counts = setup.assign(runs=setup["runs"].map(len))
        steps = [
            {"since": step.since, "change": step.change.content(), "differs": step.differs}
            for step in changes(setup)
        ]
        setup_content: dict[str, Any] = {
            name: latest[name] for name in ("experiment", "setup", "key")
        }
        setup_content["entries"] = with_counts[["started", "cycle_s", "runs"]].to_dict("records")
        setup_content["changes"] = steps
        machines.setdefault(latest["machine"], []).append(setup_content)
    return {"kind": "history_summary", "format_version": 1, "machines": machines}
