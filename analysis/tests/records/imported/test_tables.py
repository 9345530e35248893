"""Files of cycle times that other programs wrote: every layout gives the same times, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from spikemark.records import imported
from spikemark.records.imported.tables import FORMATS, UNITS

TIMES = np.random.default_rng(1).gamma(20, 0.05, (11, 40))  # ms; rank 10 comes after rank 2
SPENT = TIMES.max(axis=0) - TIMES + 0.2


def table(rank=None) -> pd.DataFrame:
    """All ranks with their numbers, in no order, or one rank in the order of its cycles."""
    if rank is not None:
        return pd.DataFrame({"compute": TIMES[rank], "communicate": SPENT[rank]})
    ranks, cycles = np.indices(TIMES.shape)
    columns = {"rank": ranks, "cycle": cycles, "compute": TIMES, "communicate": SPENT}
    flat = pd.DataFrame({name: values.reshape(-1) for name, values in columns.items()})
    return flat.sample(frac=1, random_state=1)


def write(path, rank=None):
    """The same times in the format of the name of the file."""
    part = slice(None) if rank is None else rank
    if path.suffix == ".npy":
        np.save(path, TIMES[part])
    elif path.suffix == ".npz":
        np.savez(path, compute=TIMES[part], communicate=SPENT[part])
    elif path.suffix == ".csv":
        table(rank).to_csv(path, index=False)
    else:
        table(rank).to_parquet(path, index=False)
    return path


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("each", [False, True])
def test_every_layout_gives_the_same_times(tmp_path, suffix, each):
    if each:
        files = [write(tmp_path / f"log_{rank}{suffix}", rank) for rank in range(len(TIMES))]
    else:
        files = [write(tmp_path / f"all{suffix}")]
    found = imported.read(sorted(files, key=str), "ms").columns
    assert list(found) == (["compute"] if suffix == ".npy" else ["compute", "communicate"])
    np.testing.assert_allclose(found["compute"], 1e-3 * TIMES)
    if "communicate" in found:
        np.testing.assert_allclose(found["communicate"], 1e-3 * SPENT)


@pytest.mark.parametrize("unit", UNITS)
def test_units_names_and_cycles_to_skip(tmp_path, unit):
    path = tmp_path / "times.csv"
    pd.DataFrame({"rank": [0, 0, 1, 1], "t": [9.0, 2.0, 9.0, 3.0], "mpi": [4.0, 0.5, 4.0, 1.0]}).to_csv(path)
    found = imported.read([path], unit, {"cycle_time": "t", "communicate": "mpi"}, skip=1).columns
    np.testing.assert_allclose(found["compute"], np.array([[1.5], [2.0]]) * UNITS[unit])


def csv(path, **columns):
    """A file of these columns."""
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


ONE = [1.0, 2.0]


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        ({"a.csv": {"compute": ONE}}, {"unit": "min"}, "unit='min'; allowed: s, ms, us, ns"),
        ({"a.txt": {"compute": ONE}}, {}, "format '.txt'; allowed: .npy, .npz, .csv, .parquet"),
        ({"a.csv": {"time": ONE}}, {}, "columns time; needed: compute, or cycle_time with communicate"),
        (
            {"a.csv": {"1.02": ONE, "0.97": ONE}},
            {},
            "the first line holds numbers, 1.02 first; needed: the names",
        ),
        ({"a.csv": {"cycle_time": ONE}}, {}, "cycle_time without communicate"),
        ({"a.csv": {"compute": ONE}}, {"called": {"compute": "t"}}, "no column 't'; there are compute"),
        ({"a.csv": {"compute": ONE}}, {"called": {"computing": "t"}}, "column 'computing'; allowed: compute"),
        ({"a.csv": {"compute": ["x", "y"]}}, {}, "needed: numbers [rank, cycle] or [cycle]"),
        ({"a.csv": {"compute": ONE}}, {"skip": 2}, "skip=2: there are 2 cycles; allowed: 0 to 1"),
        ({"a.csv": {"compute": ONE}}, {"keep": 3}, "cycles=3: there are 2; allowed: 1 to 2"),
        ({"a.csv": {"compute": ONE}}, {"form": "excel"}, "format='excel'; allowed: nest, structure-aware"),
        ({"a.csv": {"compute": ONE}}, {"unit": None}, "unit: missing; needed for tables: s, ms, us, ns"),
        ({"a.csv": {"rank": [0, 0, 1], "compute": [1.0] * 3}}, {}, "rank or file 1 has 1 cycles, 0 has 2"),
        (
            {"a-0.csv": {"compute": ONE}, "a-1.csv": {"compute": [1.0]}},
            {},
            "rank or file a-1.csv has 1 cycles, a-0.csv has 2",
        ),
        (
            {"a-0.csv": {"compute": ONE}, "a-1.csv": {"compute": ONE, "wait": ONE}},
            {},
            "a-1.csv: columns compute, wait; the first file has compute",
        ),
        (
            {"a.csv": {"rank": [0, 1], "cycle_time": ONE, "communicate": [0.5, 2.5]}},
            {},
            "communicate=2.5 s of rank 1 in cycle 0, more than the whole cycle, 2 s",
        ),
        ({}, {}, "FILE: missing"),
    ],
)
def test_refusals_name_the_file_and_what_is_allowed(refused, tmp_path, files, options, words):
    paths = [csv(tmp_path / name, **columns) for name, columns in files.items()]
    assert words in refused(imported.read, paths, **{"unit": "s"} | options)


@pytest.mark.parametrize("suffix", FORMATS)
def test_damaged_and_missing_files_are_refused(refused, tmp_path, suffix):
    whole = write(tmp_path / f"all{suffix}")
    whole.write_bytes(whole.read_bytes()[:50] if suffix != ".csv" else b"\x00\xff\n")
    assert f"all{suffix}: " in refused(imported.read, [whole], "s")
    assert "none" in refused(imported.read, [tmp_path / f"none{suffix}"], "s")
    assert "given twice" in refused(imported.read, [whole, whole], "s")
