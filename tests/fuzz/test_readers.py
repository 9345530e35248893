"""Readers of changed files: a slice of the fuzzer with fixed seeds, and what it has found."""

import os
import random
import warnings

import mutations
import pytest
import readers
from mutations import Edit
from readers import READERS
from reading import NO_FILES, Files, Reader, plain
from shared import shared
from tender import offered

from spikemark.core.errors import BadInput


@pytest.fixture(scope="module")
def files_of(tmp_path_factory):
    """Gives the real files of a reader, made when they are first asked for."""
    files = {}

    def files_of(name: str) -> Files:
        if readers.offer.folder is None and "tender" in name:  # as the tests of tenders
            readers.offer.folder = shared(tmp_path_factory, "honest", offered.write)
        if name not in files:
            files[name] = Files(name, READERS[name], tmp_path_factory.mktemp("files"))
        return files[name]

    return files_of


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_unchanged_files_are_read_and_edits_change_them_always_the_same(files_of, name):
    files, rng = files_of(name), random.Random(3)
    plain(files.reader.read(files.copy))
    content = (files.originals / files.names[0]).read_bytes()
    changes = 0
    for kind in mutations.kinds_for(files.names[0]):
        edits = [Edit(kind, rng.random(), rng.getrandbits(32))]
        assert mutations.edited(content, edits) == mutations.edited(content, edits)
        changes += mutations.edited(content, edits) != content
    assert changes > 3


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_changed_files_are_refused_in_one_line_or_read(files_of, name):
    files, rng = files_of(name), random.Random(name)
    for _ in range(12 if files.reader.apart else 25):
        assert files.attempt(rng) is None


UNSEALED = [name for name in READERS if "tender" not in name]  # those of tenders seal files first


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", UNSEALED)
def test_what_is_no_file_is_neither_waited_for_nor_read_without_end(files_of, name):
    files = files_of(name)
    for kind in NO_FILES:
        for file in files.names[:3]:
            assert files.replaced(file, kind) is None, (kind, file)


@pytest.mark.parametrize(
    "name", ["run record", "own runs", "experiment", "machine profile", "otf2", "cubex"]
)
def test_a_fifo_and_a_device_are_not_opened(files_of, name):
    files = files_of(name)
    for kind in ("FIFO", "endless"):
        assert files.replaced(files.names[0], kind) is None, kind


#: What was found, with what made it: reader, file, edits.
FINDINGS = [
    ("run record", "record.json", [Edit("json", 0.4479022405332955, 2800363905)]),
    ("imported", "mine/cycles.npy", [Edit("array", 0.22693734602687232, 52834893)]),
    (
        "npy",
        "times.npy",
        [
            Edit("repeat", 0.10773068507771688, 196502184),
            Edit("array", 0.29573793718503216, 2635722309),
        ],
    ),
    (
        "nest of NEST 3.10",
        "nest-cycles-3.npz",
        [Edit("array in zip", 0.23308445025757263, 991564255)],
    ),
    (
        "nest of NEST 3.10",
        "nest-cycles-1.npz",
        [Edit("bytes in zip", 0.003519242097051234, 1671440805)],
    ),
    ("nest", "nest-cycles-2.npz", [Edit("bytes in zip", 0.02077631955593051, 3097892629)]),
    ("table", "times.npz", [Edit("bytes in zip", 0.003519242097051234, 1671440805)]),
    ("bennch", "bennch.csv", [Edit("cell", 0.5124999345029883, 555122063)]),
    ("run description", "run.json", [Edit("json", 0.014559974924812313, 3245220484)]),
    ("run description", "run.json", [Edit("json", 0.00991696335987402, 3224355370)]),
    (
        "machine profile",
        "epyc-vm.yaml",
        [
            Edit("yaml", 0.8022650611681835, 271041745),
            Edit("yaml", 0.47224524357611664, 1630434966),
        ],
    ),
    ("dry rank", "ranks.csv", [Edit("cell", 0.7848712870144318, 35178456)]),
    ("dry run", "dry/work.csv", [Edit("cell", 0.6634699417131158, 2107877843)]),
    ("dry rank", "record.json", [Edit("json", 0.947829137427598, 252430257)]),
    ("dry rank", "cycles.npy", [Edit("set", 0.2867767256061441, 172968367)]),
    ("experiment", "smoke.yaml", [Edit("set", 0.7631943040467181, 2771492679)]),
    ("cubex", "profile.cubex", [Edit("tar", 0.8176678446155757, 1110048202)]),
    (
        "npy",
        "times.npy",
        [
            Edit("array", 0.058969568417563956, 1548081300),
            Edit("number", 0.5118184099973346, 4167312995),
        ],
    ),
    ("voxel graph", "voxels.json", [Edit("json", 0.7242990144823904, 2018730684)]),
    ("network of a question", "run.json", [Edit("json", 0.17978544618064274, 609130884)]),
    ("bench tables", "bench/here/exchanges.csv", [Edit("cell", 0.24383642805204997, 3395846517)]),
    ("simulated caches", "a.json", [Edit("json", 0.8098853310568287, 470059748)]),
    (
        "data of the multi-area model",
        "K_prime_original.npy",
        [Edit("array", 0.7081319627801629, 573124596)],
    ),
    (
        "data of the multi-area model",
        "K_prime_original.npy",
        [Edit("array", 0.13739612663961454, 879329038)],
    ),
    ("plan.json", "plan.json", [Edit("json", 0.15151046078442143, 111532846)]),
    ("cubex", "profile.cubex", [Edit("tar", 0.6860260922969287, 153925172)]),
    (
        "nest",
        "nest-cycles-2.npz",
        [
            Edit("bytes in zip", 0.7949038420117145, 3626461314),
            Edit("array in zip", 0.7966072646731992, 2629255342),
        ],
    ),
    (
        "npy",
        "times.npy",
        [
            Edit("array", 0.9695890766556076, 3009978620),
            Edit("word", 0.9721550949237625, 3750893176),
        ],
    ),
]


@pytest.mark.parametrize(
    ("name", "file", "edits"),
    FINDINGS,
    ids=[f"{name}-{i}" for i, (name, *_) in enumerate(FINDINGS)],
)
def test_what_was_found_stays_mended(files_of, name, file, edits):
    files = files_of(name)
    (path,) = [path for path in files.names if str(path) == file]
    content = (files.originals / path).read_bytes()
    assert mutations.edited(content, edits) != content
    assert files.complaint(path, edits) is None


def test_faults_of_a_reader_are_findings(tmp_path):
    """A traceback, NaN, a refusal of two lines, a warning, and the death of the process."""

    def two_lines(_):
        error = BadInput("a")
        error.args = ("a\nb",)
        raise error

    for word, read in {
        "KeyError": lambda _: {}["x"],
        "JSON": lambda _: float("nan"),
        "one line": two_lines,
        "warning": lambda _: warnings.warn("odd", RuntimeWarning, stacklevel=1),
        "signal 9": lambda _: os.kill(os.getpid(), 9),
    }.items():
        reader = Reader(lambda _: None, "*", read, apart=word.startswith("signal"))
        complaint = reader.complaint(tmp_path)
        assert complaint and word in complaint
