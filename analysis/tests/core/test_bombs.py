"""Short files that stand for very much, and files that would run something: they are refused before
that.
"""

import gzip
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest

import spikemark
from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npz
from spikemark.core.yaml_file import read_yaml
from spikemark.records import imported

SOURCES = sorted(Path(spikemark.__file__).parent.rglob("*.py"))
ROOM = 1_000_000  # bytes that these tests may take


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: ROOM)


def test_a_zip_bomb_is_refused(tmp_path, little_memory):
    path = tmp_path / "times.npz"
    np.savez_compressed(path, compute=np.ones((1, ROOM)), communicate=np.ones((1, ROOM)))
    assert path.stat().st_size < ROOM / 10
    for read in (read_npz, lambda path: imported.read_times([path], "s")):
        with pytest.raises(
            BadInput, match=r"times\.npz: what it holds needs 0\.016 GB of memory; 0\.001 GB"
        ):
            read(path)


def test_an_array_that_claims_more_than_there_is_is_refused(tmp_path):
    path = tmp_path / "times.npz"
    with zipfile.ZipFile(path, "w") as archive, archive.open("compute.npy", "w") as stream:
        head = {"descr": "<f8", "fortran_order": False, "shape": (1, 10**15)}
        np.lib.format.write_array_header_1_0(stream, head)
        stream.write(bytes(80))
    with pytest.raises(BadInput, match=r"times\.npz: truncated or not a \.npz file"):
        imported.read_times([path], "s")


def test_a_table_that_stands_for_many_lines_is_refused(tmp_path, little_memory):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "times.parquet"
    pd.DataFrame({"compute": np.ones(ROOM)}).to_parquet(path)
    assert path.stat().st_size < ROOM / 10
    with pytest.raises(BadInput, match=r"times\.parquet: its table needs 0\.008 GB of memory"):
        imported.read_times([path], "s")


@pytest.mark.parametrize("form", [None, *imported.READERS])
def test_nothing_is_unpacked_that_is_not_expected(form, tmp_path):
    """Of programs that read by name, some unpack a file whose name ends like that of an archive."""
    path = tmp_path / "rank_0.csv.gz"
    path.write_bytes(gzip.compress(b"0.001,0.002\n" * 100_000))
    with pytest.raises(BadInput):
        imported.read_times([path], "s", form=form)


def test_objects_are_not_unpickled(tmp_path):
    class Harmful:
        def __reduce__(self):
            return Path.touch, (tmp_path / "harmed",)

    harmful = np.array([[Harmful()]], dtype=object)
    np.save(tmp_path / "times.npy", harmful, allow_pickle=True)
    np.savez(tmp_path / "times.npz", allow_pickle=True, compute=harmful)
    for name in ("times.npy", "times.npz"):
        with pytest.raises(BadInput, match=name):
            imported.read_times([tmp_path / name], "s")
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize(
    "tag", ["!!python/object/apply:os.system", "!!python/name:os.system", "!include"]
)
def test_tags_of_yaml_make_nothing(tmp_path, tag):
    path = tmp_path / "x.yaml"
    path.write_text(f"name: {tag} ['touch {tmp_path}/harmed']\n")
    with pytest.raises(
        BadInput, match=r"x\.yaml: not YAML at line 1, column 7: could not determine a constructor"
    ):
        read_yaml(path)
    assert not (tmp_path / "harmed").exists()


#: What the package may not contain, and why.
FORBIDDEN = {
    r"\b(import pickle|from pickle|cPickle|marshal|shelve|joblib|read_pickle)\b": (
        "it runs what a file says"
    ),
    r"\bnp\.load\((?![^()]*allow_pickle=False)": (
        "say allow_pickle=False, also where it is the default"
    ),
    r"allow_pickle=True": "it runs what a file says",
    r"\byaml\.(unsafe_load|full_load|load_all|Loader|UnsafeLoader|FullLoader)\b": (
        "tags make objects"
    ),
    r"\byaml\.load\((?![^()]*Loader=_loader)": "only the loader of core/yaml_file.py",
    r"\b(eval|exec)\(": "it runs what a file says",
    r"shell=True|os\.system|os\.popen": "a name would be read by a shell",
    r"\bextractall\b|\.extract\(": "names in an archive can lead out of the folder",
}


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_the_package_never(pattern):
    found = [
        f"{path}: {FORBIDDEN[pattern]}" for path in SOURCES if re.search(pattern, path.read_text())
    ]
    assert len(SOURCES) > 100 and not found, "\n".join(found)
