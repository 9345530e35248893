"""Files of cycle times in random layouts around known times: each is read right or refused, never
misread.

A case is a seed. It draws times [rank, cycle], writes them as somebody might (one file or one for
each rank, folders, numbers in names, order of columns and rows, spellings, units, quotes, comments,
indices), and says what reading has to give. About half of the cases have one fault, such as a
missing rank, a stopwatch that is never reset or a row with a field too many; these have to be
refused. `check` runs a case.
"""

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.records import imported

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
SPELLED_UNITS = {
    "s": ("s", "sec", "seconds"),
    "ms": ("ms", "msec", "milliseconds"),
    "us": ("us", "µs", "usec"),
    "ns": ("ns", "nanoseconds"),
}
RANK_NAMES = (
    "rank",
    "Rank",
    "RANK",
    "mpi_rank",
    "MPI rank",
    "rank_id",
    "rank-id",
    "process",
    "mpi.rank",
)
CYCLE_NAMES = ("cycle", "Cycle", "cycle_id", "cycle number", "iteration", "step")
TIME_NAMES = {
    "compute": ("compute", "Compute", "COMPUTE", "compute_time", "compute time", "computation"),
    "communicate": ("communicate", "communication", "Communication time"),
    "cycle_time": ("cycle_time", "cycle time", "CycleTime"),
}
FORMS = ("csv", "csv", "csv", "npy", "npz", "parquet")  # CSV has the most ways of writing
#: Paths of files of one rank each, from the number of the rank, of ranks, and some number.
PATHS: tuple[Callable[[int, int, int], str], ...] = (
    lambda rank, ranks, other: f"times-{rank}",
    lambda rank, ranks, other: f"rank.{rank}/times",
    lambda rank, ranks, other: f"{rank}/times",
    lambda rank, ranks, other: f"{rank:03d}",
    lambda rank, ranks, other: f"out_r{rank:02d}_seed{other}",
    lambda rank, ranks, other: f"seed{other}/rank-{rank:04d}/v2",
    lambda rank, ranks, other: f"run{other}/rank{rank}/times-{rank}",
    lambda rank, ranks, other: f"job.{other}.{rank}",
    lambda rank, ranks, other: f"times_{rank}_of_{ranks}",
    lambda rank, ranks, other: f"node{rank // 2}_rank{rank}",
    lambda rank, ranks, other: f"{'abcdefghijklmnopq'[rank]}.host/rank{rank}/times",
    lambda rank, ranks, other: f"mpi-rank={rank}_pid={4000 + other * rank}",
    lambda rank, ranks, other: f"log.R{rank}",
)


@dataclass
class Layout:
    """How times are written; fields that a form does not have say nothing there."""

    form: str
    each: bool  # a file for each rank
    path: int  # of PATHS
    first_rank: int
    unit: str
    unit_in_names: bool  # of columns
    said_unit: str | None  # --unit
    columns: dict[str, str]  # meaning -> name in the file
    called: dict[str, str]  # --column
    first_cycle: int
    stride: int
    order: str  # of rows: rank, cycle or shuffled
    left_out: int  # lines that are missing
    extra: dict[str, str]  # name -> kind of further columns
    index: bool  # of Parquet: rank and cycle
    structured: bool  # of .npy
    csv: dict[str, str | float | bool] = field(default_factory=dict)


@dataclass
class Case:
    """A case: what it writes and what reading has to give. `fault`: its name, None for a sound
    one.
    """

    seed: int
    layout: Layout
    times: dict[str, np.ndarray]
    fault: str | None = None

    def __str__(self) -> str:
        return f"seed {self.seed}, fault {self.fault}, {self.layout}"


def draw(seed: int) -> Case:
    """The case of a seed."""
    rng = random.Random(seed)
    layout = _layout(rng)
    ranks, cycles = rng.randint(2, 13), rng.randint(4, 40)
    case = Case(seed, layout, _times(seed, ranks, cycles, layout))
    if rng.random() < 0.5:
        possible = [name for name, fault in FAULTS.items() if fault.fits(case)]
        case.fault = rng.choice(possible)
    return case


def _times(seed: int, ranks: int, cycles: int, layout: Layout) -> dict[str, np.ndarray]:
    """Times [rank, cycle] in s by what a file says of them."""
    rng = np.random.default_rng(seed)
    compute = rng.gamma(20, 5e-5, (ranks, cycles)) * rng.choice([1e-2, 1, 30])
    communicate = compute.max(axis=0) - compute + 5e-6
    times = {"compute": compute, "communicate": communicate, "cycle_time": compute + communicate}
    return {name: times[name] for name in layout.columns if name in times}


def _layout(rng: random.Random) -> Layout:
    form, each = rng.choice(FORMS), rng.random() < 0.5
    structured = form == "npy" and rng.random() < 0.5
    unit = rng.choice([*SECONDS])
    named = form != "npy" or structured
    in_names = named and rng.random() < 0.5
    said = rng.choice([None, unit]) if in_names else unit
    timed = rng.choice([("compute",), ("compute", "communicate"), ("cycle_time", "communicate")])
    columns = {name: _spelled(rng, name, unit if in_names else None) for name in timed}
    called = {}
    if not named:
        columns = {"compute": "compute"}
    elif rng.random() < 0.2:
        columns[timed[0]] = "t [" + unit + "]" if in_names else "t"
        called = {timed[0]: columns[timed[0]]}
    order = rng.choice(["rank", "cycle", "shuffled"])
    lines = form in ("csv", "parquet") or structured
    left_out = rng.choice([0, 0, 0, 1]) if lines else 0
    if lines and (order == "shuffled" or left_out or rng.random() < 0.6):
        columns["cycle"] = rng.choice(CYCLE_NAMES)
    if lines and (not each or rng.random() < 0.2):
        columns["rank"] = rng.choice(RANK_NAMES)
    kinds = {"spikes": "count", "host": "text", "thread": "zero", "": "index", "note é": "text"}
    extra = {name: kind for name, kind in kinds.items() if rng.random() < 0.15 and lines}
    names = [*columns]
    rng.shuffle(names)
    writing = {
        "quotes": rng.choice([0, 0, 0.5, 1]),
        "blanks": rng.choice([0, 0, 1]),
        "mark": rng.random() < 0.2,
        "end": rng.choice(["\n", "\n", "\r\n", "\r"]),
        "comments": rng.choice([0, 0, 0.1]),
        "header": rng.choice(["", "", "", "# ", "#"]),
        "format": rng.choice(["%.9e", "%.12g", "%r"]),
    }
    return Layout(
        form=form,
        each=each,
        path=rng.randrange(len(PATHS)),
        first_rank=rng.choice([0, 0, 1]),
        unit=unit,
        unit_in_names=in_names,
        said_unit=said,
        columns={name: columns[name] for name in names},
        called=called,
        first_cycle=rng.choice([0, 1, 500]),
        stride=rng.choice([1, 1, 10]),
        order=order,
        left_out=left_out,
        extra=extra,
        index=form == "parquet" and rng.random() < 0.4,
        structured=structured,
        csv=writing,
    )


def _spelled(rng: random.Random, name: str, unit: str | None) -> str:
    spelling = rng.choice(TIME_NAMES[name])
    if unit is None:
        return spelling
    word = rng.choice(SPELLED_UNITS[unit])
    forms = ("{}_{}", "{} [{}]", "{}({})", "{} {}", "{} in {}")
    return rng.choice(forms).format(spelling, word)


# ---------------------------------------------------------------- what is written


def table(case: Case, rng: random.Random) -> pd.DataFrame:
    """A line for each rank and cycle, with the names of the files, and `#rank`: the rank from 0."""
    layout, shape = case.layout, next(iter(case.times.values())).shape
    ranks, cycles = (numbers.ravel() for numbers in np.indices(shape))
    held = {
        "rank": ranks + layout.first_rank,
        "cycle": cycles * layout.stride + layout.first_cycle,
        **{name: times.ravel() / SECONDS[layout.unit] for name, times in case.times.items()},
    }
    lines = pd.DataFrame({name: held[meaning] for meaning, name in layout.columns.items()})
    for name, kind in layout.extra.items():
        numbers = {
            "count": [rng.randrange(100000) for _ in ranks],
            "zero": 0,
            "text": [f"n{rank // 4}" for rank in ranks],
            "index": range(len(ranks)),
        }
        lines[name] = numbers[kind]
    lines["#rank"], lines["#cycle"] = ranks, cycles
    return lines


def arranged(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    """The lines in the order of the layout, without those that are missing."""
    layout = case.layout
    if layout.left_out:
        lines = lines.drop(index=rng.sample(list(lines.index), layout.left_out))
    if layout.order == "cycle":
        return lines.sort_values(["#cycle", "#rank"])
    if layout.order == "shuffled":
        return lines.sample(frac=1, random_state=rng.randrange(2**31))
    return lines


def write(case: Case, folder: Path) -> tuple[list[Path], dict[str, np.ndarray]]:
    """Writes the files of a case. Returns them, in random order, and what they hold in s, [rank,
    cycle].
    """
    rng = random.Random(-case.seed - 1)
    layout, ranks = case.layout, len(next(iter(case.times.values())))
    other = rng.randint(20, 90)
    lines = arranged(case, table(case, rng), rng)
    if case.fault:
        lines = FAULTS[case.fault].change(case, lines, rng)
    files = []
    if not layout.each:
        path = folder / f"all-{other}.{layout.form}"
        _write(case, lines, path, rng)
        files.append(path)
    else:
        for rank, part in lines.groupby("#rank", sort=True):
            name = PATHS[layout.path](int(rank) + layout.first_rank, ranks, other)
            path = folder / f"{name}.{layout.form}"
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(case, part, path, rng)
            files.append(path)
    if case.fault:
        files = FAULTS[case.fault].files(files, rng)
    rng.shuffle(files)
    return files, _truth(case, lines)


def _truth(case: Case, lines: pd.DataFrame) -> dict[str, np.ndarray]:
    """Times in s of the cycles that all ranks have."""
    ranks, cycles = next(iter(case.times.values())).shape
    there = np.zeros((ranks, cycles), dtype=bool)
    there[lines["#rank"], lines["#cycle"]] = True
    times = {name: of[:, there.all(axis=0)] for name, of in case.times.items()}
    if "cycle_time" in times:
        times["compute"] = times.pop("cycle_time") - times["communicate"]
    return times


def _write(case: Case, lines: pd.DataFrame, path: Path, rng: random.Random) -> None:
    layout, names = case.layout, [name for name in lines if name not in ("#rank", "#cycle")]
    if layout.form == "csv":
        path.write_bytes(_csv(case, lines[names], rng).encode())
    elif layout.form == "parquet":
        _parquet(layout, lines[names], path)
    elif layout.structured:
        array = lines[[name for name in names if name]].to_records(index=False)
        kinds = [
            (name, "U20" if kind == "O" else kind) for name, (kind, _) in array.dtype.fields.items()
        ]
        np.save(path, np.array([tuple(row) for row in array], dtype=kinds))
    else:
        shape = (lines["#rank"].nunique(), -1)
        ordered = lines.sort_values(["#rank", "#cycle"])
        arrays = {name: ordered[name].to_numpy().reshape(shape) for name in names}
        if layout.each:
            arrays = {name: array[0] for name, array in arrays.items()}
        if layout.form == "npy":
            (array,) = arrays.values()
            np.save(path, np.asfortranarray(array) if rng.random() < 0.3 else array)
        else:
            np.savez(path, **arrays)


def _parquet(layout: Layout, lines: pd.DataFrame, path: Path) -> None:
    index = [layout.columns[name] for name in ("rank", "cycle") if name in layout.columns]
    if layout.index and index:
        lines = lines.set_index(index)
    lines.to_parquet(path)


def _csv(case: Case, lines: pd.DataFrame, rng: random.Random) -> str:
    writing = case.layout.csv
    separator = writing.get("separator", ",")

    def field(value) -> str:
        text = value if isinstance(value, str) else _number(value, writing["format"])
        text = text.replace(".", writing["point"]) if "point" in writing else text
        if rng.random() < writing["quotes"] or "," in text.replace(separator, ","):
            text = f'"{text}"'
        return " " * rng.randint(0, writing["blanks"]) + text

    header = writing["header"]
    if len(lines.columns) == 1 or any(_no_number(value) for value in lines.iloc[0]):
        header = ""
    rows = [header + separator.join(field(name) for name in lines)]
    rows += [separator.join(map(field, row)) for row in lines.itertuples(index=False, name=None)]
    for number, change in writing.get("rows", {}).items():
        place = 1 + number % (len(rows) - 1)
        rows[place] = change(rows[place])
    written = rows[:2]
    for row in rows[2:]:
        if rng.random() < writing["comments"]:
            written.append("# by hand, perhaps")
        written.append(row)
    start = "# times of a run\n" if rng.random() < writing["comments"] else ""
    text = start + "\n".join(written) + "\n"
    return ("\ufeff" if writing["mark"] else "") + text.replace("\n", writing["end"])


def _number(value: float, form: str) -> str:
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    return repr(float(value)) if form == "%r" else form % value


def _no_number(value) -> bool:
    return isinstance(value, str)


# ---------------------------------------------------------------- faults


@dataclass(frozen=True)
class Fault:
    """One fault: the cases that can have it, and how their lines and files change."""

    fits: Callable[[Case], bool]
    change: Callable[[Case, pd.DataFrame, random.Random], pd.DataFrame] = lambda case, lines, rng: (
        lines
    )
    files: Callable[[list[Path], random.Random], list[Path]] = lambda files, rng: files


def has_lines(case: Case) -> bool:
    return case.layout.form in ("csv", "parquet") or case.layout.structured


def has_lines_without_gaps(case: Case) -> bool:
    """Where the line with a fault is in a cycle that all ranks have."""
    return has_lines(case) and not case.layout.left_out


def of_csv(case: Case) -> bool:
    return case.layout.form == "csv"


def number_of_ranks(case: Case) -> int:
    return len(next(iter(case.times.values())))


def number_of_cycles(case: Case) -> int:
    return next(iter(case.times.values())).shape[1]


def by_files(case: Case) -> bool:
    return case.layout.each and "rank" not in case.layout.columns


def by_column(case: Case) -> bool:
    return "rank" in case.layout.columns


def several_columns(case: Case) -> bool:
    return of_csv(case) and len(case.layout.columns) > 1


def main_time(case: Case) -> str:
    """The name in the file of compute times, or those of whole cycles."""
    columns = case.layout.columns
    return columns.get("compute") or columns["cycle_time"]


def without_a_rank(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    """Without one in the middle: ranks without the first may be numbered from 1, those without the
    last.
    """
    ranks = lines["#rank"].nunique()
    return lines[lines["#rank"] != rng.randrange(1, ranks - 1)]


def without_a_file(files: list[Path], rng: random.Random) -> list[Path]:
    left_out = rng.choice(files[1:-1])
    return [path for path in files if path != left_out]


def a_file_twice(files: list[Path], rng: random.Random) -> list[Path]:
    path = rng.choice(files)
    digits = next(part for part in path.stem.split("-") if part.isdigit())
    other = path.with_name(path.name.replace(digits, "0" + digits))
    shutil.copy(path, other)
    return [*files, other]


def renamed(pattern: Callable[[int], str]) -> Callable[[list[Path], random.Random], list[Path]]:
    """Other names of the files, from their number."""

    def change(files: list[Path], rng: random.Random) -> list[Path]:
        folder, others = Path(os.path.commonpath([path.parent for path in files])), []
        for number, path in enumerate(files):
            other = folder / (pattern(number) + path.suffix)
            path.rename(other)
            others.append(other)
        return others

    return change


def with_times(change: Callable[[np.ndarray], np.ndarray]) -> Callable:
    """Other times [cycle] of each rank."""

    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        lines, name = lines.copy(), main_time(case)
        in_order = lines.sort_values(["#rank", "#cycle"])
        parts = [change(of.to_numpy()) for _, of in in_order.groupby("#rank")[name]]
        lines.loc[in_order.index, name] = np.concatenate(parts)
        return lines

    return changed


def with_cell(value: float | str) -> Callable:
    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        lines, name = lines.copy(), main_time(case)
        lines[name] = lines[name].astype(object if isinstance(value, str) else float)
        lines.loc[rng.choice(list(lines.index)), name] = value
        return lines

    return changed


def with_row(change: Callable[[str], str]) -> Callable:
    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        case.layout.csv["rows"] = {rng.randrange(1000): change}
        return lines

    return changed


def with_writing(**writing: str | float) -> Callable:
    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        case.layout.csv |= {"quotes": 0, "format": "%.9e", **writing}
        return lines

    return changed


def with_name(meaning: str, other: str) -> Callable:
    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        case.layout.index = False
        return lines.rename(columns={case.layout.columns[meaning]: other})

    return changed


def without_ranks(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    return lines.drop(columns=case.layout.columns.pop("rank"))


def with_column(name: Callable[[Case], str]) -> Callable:
    """One more column of random numbers; a CSV takes a name that is there."""

    def changed(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
        values = [rng.random() for _ in range(len(lines))]
        lines = lines.copy()
        lines.insert(rng.randrange(len(lines.columns)), name(case), values, allow_duplicates=True)
        return lines

    return changed


def with_unit(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    case.layout.said_unit = rng.choice([unit for unit in SECONDS if unit != case.layout.unit])
    return lines


def without_unit(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    case.layout.said_unit = None
    return lines


def unknown_unit(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    return lines.rename(columns={main_time(case): "compute [ticks]"})


def local_ranks(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    name = case.layout.columns["rank"]
    return lines.assign(**{name: lines["#rank"] % 2})


def other_ranks(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    name = case.layout.columns["rank"]
    return lines.assign(**{name: 4000 + 3 * lines["#rank"]})


def many_cycles(case: Case) -> bool:
    """Says whether order can be no chance."""
    ranks, cycles = number_of_ranks(case), number_of_cycles(case)
    in_order = case.layout.order != "shuffled" or "cycle" in case.layout.columns
    return in_order and (ranks * cycles > 40 and cycles > 14)


def shorter(case: Case, lines: pd.DataFrame, rng: random.Random) -> pd.DataFrame:
    return lines[(lines["#rank"] != 0) | (lines["#cycle"] > 0)]


def has_files_of_three(case: Case) -> bool:
    return by_files(case) and number_of_ranks(case) > 2


def has_column_of_three(case: Case) -> bool:
    return by_column(case) and number_of_ranks(case) > 2


def has_ranks_that_repeat(case: Case) -> bool:
    """Where ranks within a node show: lines that alternate between two of them may be those of two
    ranks.
    """
    return has_column_of_three(case) and (
        "cycle" in case.layout.columns or case.layout.order == "rank"
    )


def numbered_files(case: Case) -> bool:
    return by_files(case) and case.layout.path == 0


def all_in_one(case: Case) -> bool:
    return by_column(case) and not case.layout.each


def all_in_one_with_cycles(case: Case) -> bool:
    return all_in_one(case) and "cycle" in case.layout.columns


def all_in_one_without_gaps(case: Case) -> bool:
    return all_in_one(case) and not case.layout.left_out


def shuffled_with_cycles(case: Case) -> bool:
    return case.layout.order == "shuffled" and "cycle" in case.layout.columns


def without_cycles(case: Case) -> bool:
    return has_lines(case) and "cycle" not in case.layout.columns


def found_by_its_name(case: Case) -> bool:
    return has_lines(case) and "compute" in case.layout.columns and not case.layout.called


def long_without_gaps(case: Case) -> bool:
    return many_cycles(case) and number_of_cycles(case) > 30 and not case.layout.left_out


def unit_in_names(case: Case) -> bool:
    return case.layout.unit_in_names and case.layout.said_unit is None


def unit_not_in_names(case: Case) -> bool:
    return not case.layout.unit_in_names


def always(case: Case) -> bool:
    return True


def with_a_reset(times: np.ndarray) -> np.ndarray:
    return np.concatenate([np.cumsum(times[:4]), np.cumsum(times[4:])])


FAULTS = {
    "no file of a rank": Fault(has_files_of_three, files=without_a_file),
    "a file of a rank twice": Fault(numbered_files, files=a_file_twice),
    "files by seeds": Fault(by_files, files=renamed(lambda n: f"seed{n}")),
    "files by words": Fault(by_files, files=renamed(lambda n: f"times-{'abcdefghijklmno'[n]}")),
    "two numbers differ": Fault(by_files, files=renamed(lambda n: f"{n}-{(5 * n) % 17}")),
    "local ranks": Fault(by_files, files=renamed(lambda n: f"node{n // 2}-local_rank{n % 2}")),
    "no lines of a rank": Fault(has_column_of_three, without_a_rank),
    "local ranks in a column": Fault(has_ranks_that_repeat, local_ranks),
    "numbers of processes": Fault(by_column, other_ranks),
    "no column of ranks": Fault(all_in_one_with_cycles, without_ranks),
    "another name of ranks": Fault(all_in_one_without_gaps, with_name("rank", "worker")),
    "another name of cycles": Fault(shuffled_with_cycles, with_name("cycle", "window")),
    "a cycle less on a rank": Fault(without_cycles, shorter),
    "a name twice": Fault(of_csv, with_column(main_time)),
    "two columns of computing": Fault(found_by_its_name, with_column(lambda case: "ComputeTime")),
    "a field too many": Fault(of_csv, with_row(lambda row: row + ",1")),
    "a field less": Fault(several_columns, with_row(lambda row: row.rpartition(",")[0])),
    "an open quote": Fault(several_columns, with_row(lambda row: row + '"')),
    "semicolons": Fault(several_columns, with_writing(separator=";")),
    "semicolons and decimal commas": Fault(several_columns, with_writing(separator=";", point=",")),
    "tabs": Fault(several_columns, with_writing(separator="\t")),
    "not a number": Fault(has_lines_without_gaps, with_cell(float("nan"))),
    "infinity": Fault(has_lines_without_gaps, with_cell(float("inf"))),
    "less than zero": Fault(has_lines_without_gaps, with_cell(-1e-3)),
    "a word": Fault(of_csv, with_cell("about 3")),
    "an empty cell": Fault(several_columns, with_cell("")),
    "a decimal comma": Fault(of_csv, with_cell("1,5")),
    "a stopwatch": Fault(many_cycles, with_times(np.cumsum)),
    "a clock": Fault(many_cycles, with_times(lambda times: 1.7e9 + np.cumsum(times))),
    "a stopwatch with a reset": Fault(long_without_gaps, with_times(with_a_reset)),
    "zeros": Fault(always, with_times(lambda times: 0 * times)),
    "next to zero": Fault(always, with_times(lambda times: times * 0 + 5e-324)),
    "another unit": Fault(unit_in_names, with_unit),
    "no unit": Fault(unit_not_in_names, without_unit),
    "an unknown unit": Fault(found_by_its_name, unknown_unit),
}


# ---------------------------------------------------------------- reading


@dataclass(frozen=True)
class Outcome:
    """`kind`: read or refused; `why`: the fault or refusal; `finding`: what is wrong, None if
    nothing is.
    """

    kind: str
    why: str = ""
    finding: str | None = None


def check(seed: int, folder: Path) -> Outcome:
    """Writes and reads the case of a seed."""
    case = draw(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    files, truth = write(case, folder)
    layout = case.layout
    try:
        found = imported.read_times(files, layout.said_unit, layout.called)
        imported.cycle_times(found, files[0])
    except BadInput as error:
        line = str(error)
        if "\n" in line or not (error.field or any(str(path) in line for path in files)):
            return Outcome("refused", line, f"{case}: names no file or field: {line}")
        if case.fault is None:
            return Outcome("refused", line, f"{case}: sound, but refused: {line}")
        return Outcome("refused", case.fault)
    except Exception as error:
        return Outcome("broken", "", f"{case}: {type(error).__name__}: {error}")
    if case.fault:
        return Outcome("read", case.fault, f"{case}: was read, {found.columns['compute'].shape}")
    if found.columns.keys() != truth.keys():
        return Outcome("read", "", f"{case}: columns {[*found.columns]}")
    for name, times in truth.items():
        there = found.columns[name]
        if there.shape != times.shape or not np.allclose(
            there, times, rtol=1e-6, atol=1e-6 * times.mean()
        ):
            return Outcome("read", "", f"{case}: {name} is wrong")
    return Outcome("read")
