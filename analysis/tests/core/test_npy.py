"""Arrays from files that may contain anything."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy, read_npz

ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def saved(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def zipped() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("arr_0.npy", saved(ARRAY))
    return stream.getvalue()


def header(text: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode() + data


SHAPED = "{{'descr': '<f4', 'fortran_order': False, 'shape': {}, }}\n"
DAMAGED = {
    "nothing": b"",
    "text": b"something else",
    "zip": zipped(),
    "cut off": saved(ARRAY)[:-1],
    "goes on": saved(ARRAY) + b"x",
    "lost brace": saved(ARRAY).replace(b"}", b" "),
    "lost parenthesis": saved(ARRAY).replace(b")", b" "),
    "shape -1": header(SHAPED.format("(-1,)"), b"1234"),
    "shapes -1": header(SHAPED.format("(-1, -1)"), b"1234"),
    "huge shape": header(SHAPED.format("(1000000000000000000000,)"), b"1234"),
    "shape of text": header(SHAPED.format("('a',)"), b"1234"),
    "unknown type": header(SHAPED.replace("<f4", "<q99").format("(1,)"), b"1234"),
    "huge header": header(SHAPED.format("(1,)") + " " * 60_000, b"1234"),
    "nested header": header("(" * 5000 + ")" * 5000),
    "version 9": b"\x93NUMPY\x09\x00" + saved(ARRAY)[8:],
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_damaged_files_are_refused_in_a_line(tmp_path, content):
    path = tmp_path / "times.npy"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"^.*times\.npy: truncated or not a \.npy file: .+$"):
        read_npy(path)


@pytest.mark.parametrize("name", ["rows.npy", "rows.npz"])
def test_objects_are_no_numbers_and_never_unpickled(tmp_path, name):
    """As numpy.save writes rows of several lengths, and numpy.savez a dictionary with lists in
    it.
    """
    rows = np.array([[1.0, 2.0], [3.0]], dtype=object)
    with (tmp_path / name).open("wb") as file:
        np.save(file, rows) if name.endswith("npy") else np.savez(file, log=rows)
    read = read_npy if name.endswith("npy") else read_npz
    with pytest.raises(BadInput, match="Python objects") as refused:
        read(tmp_path / name)
    assert "truncated" not in str(refused.value)


@pytest.mark.parametrize(
    "array", [ARRAY, np.asfortranarray(ARRAY), ARRAY[:0], np.float64(3), ARRAY > 3]
)
def test_what_numpy_writes_is_read(tmp_path, array):
    np.save(tmp_path / "it.npy", array)
    found = read_npy(tmp_path / "it.npy")
    assert found.dtype == np.asarray(array).dtype and np.array_equal(found, array)


@given(st.integers(0, len(saved(ARRAY)) - 1), st.integers(1, 255))
def test_one_changed_byte_is_refused_or_changes_numbers(tmp_path_factory, place, by):
    content = bytearray(saved(ARRAY))
    content[place] = (content[place] + by) % 256
    path = tmp_path_factory.mktemp("changed") / "times.npy"
    path.write_bytes(content)
    try:
        found = read_npy(path)
    except BadInput as error:
        assert "\n" not in str(error)
    else:
        assert found.nbytes == ARRAY.nbytes


def test_a_missing_file_is_told_apart(tmp_path):
    with pytest.raises(BadInput, match=r"times\.npy: not found; it was recorded"):
        read_npy(tmp_path / "times.npy", "it was recorded")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_arrays_of_one_name_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("compute.npy", saved(ARRAY))
        archive.writestr("compute.npy", saved(2 * ARRAY))
    with pytest.raises(BadInput, match="two arrays 'compute'"):
        read_npz(path)
