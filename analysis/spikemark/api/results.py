"""What was measured: results folders, single runs, cycle times of other programs.

The functions are called as `spikemark.load`, `spikemark.load_run` and `spikemark.read_cycles`.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

from spikemark.core.arguments import public
from spikemark.core.errors import BadInput
from spikemark.records import frames, imported, record, run_files
from spikemark.records.frames import Frames
from spikemark.records.imported import CycleTimes, Sums
from spikemark.records.record import Run
from spikemark.records.runs_table import units_of

FilePath = str | PathLike[str]


@public
def load(folder: FilePath) -> Frames:
    """The results of a sweep, as tidy frames.

    Args:
        folder: results/EXPERIMENT/MACHINE, which `spikemark sweep` wrote.

    Returns:
        Frames: `runs` has a row for each complete run, `phases` for each run and phase, `ranks` for
        each run and rank; `cycles(run)` is the memory-mapped array of a run's cycle times, float32
        [rank, cycle, phase] in s. `attrs["units"]` of a frame has the units of its columns, which
        docs/columns.md explains.
        `failed` and `unreadable` say why runs are missing.

    Raises:
        BadInput: for a folder without plan.json, or with another file than a plan.

    Example:
        >>> results = load("docs/notebooks/data/waiting/jureca-dc")
        >>> factors = results.runs.groupby("schedule", observed=True)["real_time_factor"].mean()
        >>> factors.round(2).to_dict()
        {'conventional': 0.07, 'structure_aware': 0.05}
        >>> results.runs.attrs["units"]["simulate_s"]
        's'
    """
    results = frames.load_folder(Path(folder))
    for table in (results.runs, results.phases):
        table.attrs["units"] = units_of(table)
    return results


@public
def load_run(folder: FilePath) -> Run:
    """A run of the mini-app: its record, and the files beside it.

    Args:
        folder: what the mini-app wrote with --out.

    Returns:
        Run: `record` has the fields of record.json as attributes, `cycles` is a memory map, float32
        [rank, cycle, phase] in s (None where cycles were not recorded), `spikes` uint32 [spike,
        (gid, step)], `ranks` a frame, `network` the network that was simulated.

    Raises:
        BadInput: for a file that is missing, truncated, of another version or not consistent.

    Example:
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> run.record.timing.real_time_factor > 0, run.phase("deliver").shape
        (True, (4, 1000))
    """
    return record.load_run(Path(folder))


@public
def read_cycles(
    paths: FilePath | Sequence[FilePath],
    *,
    unit: str | None = None,
    columns: Mapping[str, str] | None = None,
    skip: int = 0,
    cycles: int | None = None,
    format: str | None = None,
) -> CycleTimes | Sums:
    """Cycle times that another program measured.

    Args:
        paths: one file for all ranks, one for each rank, or a folder that `spikemark import` or
            `spikemark dryrun` wrote. Arrays [rank, cycle] in .npy or .npz, tables in .csv or
            .parquet, traces, and logs of NEST; docs/other-simulators.md lists them.
        unit: s, ms, us or ns; needed unless names of columns tell it, as compute_us.
        columns: what the files call compute, communicate or wait.
        skip: cycles to leave out at the start.
        cycles: cycles to keep after these; all by default.
        format: name of the format; the one that fits the files by default.

    Returns:
        CycleTimes: `compute` [rank, cycle], `waiting` and `exchange` [meeting] in s. Sums, where
        the files have no more than sums over whole runs.

    Raises:
        BadInput: for files of no known format, an unknown unit, and impossible times.

    Example:
        >>> times = read_cycles("tests/golden/analysis/inputs/iid-8.npy", unit="s")
        >>> times.compute.shape  # [rank, cycle]
        (8, 2000)
    """
    files = [Path(paths)] if isinstance(paths, str | PathLike) else [Path(path) for path in paths]
    if len(files) == 1 and files[0].is_dir():
        _without_options(files[0], unit=unit, columns=columns, format=format)
        return _of_folder(files[0])
    if not files:
        raise BadInput(
            field="paths",
            reason="missing",
            expected="one file or more",
            code="missing",
        )
    reader = None if format is None else imported.reader_of(files, format).name
    times = imported.read_times(files, unit, dict(columns or {}), skip, cycles, reader)
    if isinstance(times, Sums):
        return times
    return imported.cycle_times(times, files[0])


def run_or_times(
    paths: Sequence[Path], unit: str | None = None, columns: Mapping[str, str] | None = None
) -> Run | CycleTimes | Sums:
    """What `spikemark waiting` and `spikemark.waiting` explain, as paths name it.

    Args:
        paths: the folder of a run, of imported times or of a dry run; or files with cycle times.
        unit: of the times in files.
        columns: what files call compute, communicate or wait.

    Raises BadInput as `read_cycles` and `load_run`, and for a unit or columns beside a folder.

    Example:
        >>> run_or_times([Path("tests/golden/analysis/records/aware-4")]).record.ranks
        4
    """
    first = paths[0] if len(paths) == 1 else None
    is_folder = first is not None and (first.is_dir() or not (first.suffix or first.is_file()))
    if first is None or not (is_folder or first.name == run_files.RECORD):
        return read_cycles(paths, unit=unit, columns=columns)
    _without_options(first, unit=unit, columns=columns or None)
    return imported.sums_in(first) or imported.run_or_times(first)


def _without_options(folder: Path, **options: object) -> None:
    """Raises BadInput for an option of files beside a folder, which has its own units and names."""
    for name, value in options.items():
        if value is not None:
            raise BadInput(field=name, reason=f"beside the folder {folder}", expected="files")


def _of_folder(folder: Path) -> CycleTimes | Sums:
    """Times or sums that were imported. Raises BadInput for any other folder."""
    times = imported.sums_in(folder) or imported.run_or_times(folder)
    if isinstance(times, Run):
        expected = "a folder of imported times or of a dry run; spikemark.load_run reads runs"
        raise BadInput(file=folder, expected=expected, code="file")
    return times
