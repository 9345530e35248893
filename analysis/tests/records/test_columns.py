"""The data dictionary: every column of results has an entry, and Parquet files say the same."""

import pandas as pd
import pytest
from pyarrow import parquet
from swept import planned, write
from synthetic import ENERGY, job

from spikemark.quantities.quantity import KINDS
from spikemark.quantities.terms import AS_THE_RUN
from spikemark.records.collect import collect
from spikemark.records.columns import RESULT_TABLES, parquet_bytes
from spikemark.records.frames import Frames, load_folder
from spikemark.records.phases import PHASES
from spikemark.records.results import Results
from spikemark.records.runs_table import RUN_COLUMNS, SWEPT

#: Columns of real numbers that have no unit.
RATIOS = {"mean_indegree", "real_time_factor", "timer_overhead"}
COLUMNS = [(table, name) for table in RESULT_TABLES.values() for name in table.dtypes]
#: Attributes of a DataColumn by the key in the metadata of Parquet.
KEYS = {"unit": "unit", "kind": "kind", "meaning": "means", "source": "source"}


@pytest.fixture
def frames(tmp_path) -> Frames:
    """A sweep of two runs, which is collected."""
    grid = [{"schedule": "conventional", "network.populations.0.size": [60, 80]}]
    results, runs = planned(tmp_path, grid=grid)
    for run in runs:
        write(results, run)
    frames = load_folder(results.path)
    collect(frames)
    return frames


@pytest.mark.parametrize(
    ("table", "name"), COLUMNS, ids=[f"{table.name}-{name}" for table, name in COLUMNS]
)
def test_every_column_has_an_entry(table, name):
    column = table.column(name)
    place = f"{name} in quantities/terms.yaml, of which the table {table.name} has"
    assert column.means.endswith("."), f"{place} means={column.means!r}: expected a sentence"
    assert column.source, f"{place} no source: expected a file, and the field in it"
    assert column.dtype
    if column.dtype.lower().startswith("float"):
        has_unit = f"{place} unit={column.unit!r}: expected one, or {name} in RATIOS here"
        assert bool(column.unit) == (name not in RATIOS), has_unit
    if column.dtype.lower().startswith(("float", "int")):
        kinds = (*KINDS, AS_THE_RUN)
        assert column.kind in kinds, f"{place} kind={column.kind!r}: expected kind or origin"


def test_every_column_of_runs_has_a_value_in_at_least_one_record(tmp_path):
    """A column of RUN_COLUMNS that no function fills is empty everywhere."""
    results, (run, *_) = planned(tmp_path)
    folder = write(
        results,
        run,
        launch=job(7),
        energy=ENERGY,
        host__throttled_load=0.01,
        totals__lookups=30,
    )
    ranks = pd.read_csv(folder / "ranks.csv")
    ranks["lookups"] = [10, 20]
    ranks.to_csv(folder / "ranks.csv", index=False)
    runs = load_folder(results.path).runs
    empty = [name for name in RUN_COLUMNS if runs[name].isna().all()]
    assert not empty, f"{empty}: filled by none of the functions of records/runs_table.py"


def test_frames_have_no_other_columns(frames):
    runs = [name for name in frames.runs if not name.startswith(SWEPT)]
    assert runs == list(RESULT_TABLES["runs"].dtypes) and len(runs) < len(frames.runs.columns)
    assert list(frames.phases) == list(RESULT_TABLES["phases"].dtypes)
    assert set(frames.ranks) <= set(RESULT_TABLES["ranks"].dtypes)
    assert tuple(RESULT_TABLES["cycles"].dtypes) == PHASES
    for frame, table in ((frames.runs, "runs"), (frames.phases, "phases")):
        dtypes = {name: str(dtype) for name, dtype in frame.dtypes.items()}
        assert RESULT_TABLES[table].dtypes.items() <= dtypes.items()


def test_columns_of_parquet_files_say_unit_and_meaning(frames):
    results = Results(frames.path)
    for path, name, frame in (
        (results.summary, "runs", frames.runs),
        (results.phases, "phases", frames.phases),
    ):
        schema = parquet.read_schema(path)
        assert schema.names == list(frame)
        for field in schema:
            column = RESULT_TABLES[name].column(field.name)
            said = {key.decode(): text.decode() for key, text in (field.metadata or {}).items()}
            expected = {key: getattr(column, attribute) for key, attribute in KEYS.items()}
            assert {key: said.get(key, "") for key in KEYS} == expected
        pd.testing.assert_frame_equal(pd.read_parquet(path), frame)
    unit = parquet.read_schema(results.summary).field("simulate_s").metadata[b"unit"]
    assert unit == b"s"


def test_a_field_that_is_a_list_in_some_runs_is_text_in_all(tmp_path):
    """As in the recipe for heterogeneity: a delay for each rank, or one for all, or none."""
    grid = [
        {"schedule": "conventional", "inject.per_neuron_ns": [[0, 20]]},
        {"schedule": "conventional", "inject.per_neuron_ns": 0.0},
    ]
    results, runs = planned(tmp_path, grid=grid)
    for run in runs:
        write(results, run)
    frames = load_folder(results.path)
    assert sorted(frames.runs["swept.inject.per_neuron_ns"]) == ["0.0", "[0, 20]"]
    path = tmp_path / "runs.parquet"
    path.write_bytes(parquet_bytes(frames.runs, RESULT_TABLES["runs"]))
    pd.testing.assert_frame_equal(pd.read_parquet(path), frames.runs)
