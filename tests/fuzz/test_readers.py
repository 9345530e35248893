"""Readers of changed files: a slice of the fuzzer with fixed seeds, and what it has found so far."""

import random

import changed
import judged
import mutations
import pytest
import readers
import results
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mutations import Edit

NAMES = list(readers.READERS)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The real files of each reader, made when they are first asked for."""
    made = {}

    def of(name: str) -> changed.Files:
        if name not in made:
            made[name] = changed.Files(name, tmp_path_factory.mktemp("files"))
        return made[name]

    return of


@pytest.mark.parametrize("name", NAMES)
def test_unchanged_files_are_read(files, name):
    of = files(name)
    assert of.names
    results.plain(of.reader.read(of.copy))


def edits(kinds):
    """Up to three edits of these kinds."""
    places = st.floats(0, 1, exclude_max=True)
    return st.lists(
        st.builds(Edit, st.sampled_from(kinds), places, st.integers(0, 2**32 - 1)), min_size=1, max_size=3
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_changed_files_are_refused_in_one_line_or_read(files, name):
    of = files(name)

    @settings(
        max_examples=12 if of.reader.apart else 25, derandomize=True, deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(st.data())
    def reads(data):
        file = data.draw(st.sampled_from(of.names))
        chosen = data.draw(edits(mutations.kinds_for(file)))
        assert of.complaint(file, chosen) is None, (str(file), chosen)

    reads()


#: What was found, with what made it: reader, file, edits.
FOUND = [
    ("run record", "record.json", [Edit("json", 0.4479022405332955, 2800363905)]),
    ("imported", "mine/cycles.npy", [Edit("array", 0.22693734602687232, 52834893)]),
    ("npy", "times.npy", [Edit("repeat", 0.10773068507771688, 196502184),
                          Edit("array", 0.29573793718503216, 2635722309)]),
    ("nest of NEST 3.10", "nest-cycles-3.npz", [Edit("array in zip", 0.23308445025757263, 991564255)]),
    ("nest of NEST 3.10", "nest-cycles-1.npz", [Edit("bytes in zip", 0.003519242097051234, 1671440805)]),
    ("nest", "nest-cycles-2.npz", [Edit("bytes in zip", 0.02077631955593051, 3097892629)]),
    ("table", "times.npz", [Edit("bytes in zip", 0.003519242097051234, 1671440805)]),
    ("bennch", "bennch.csv", [Edit("cell", 0.5124999345029883, 555122063)]),
    ("placement.npz", "placement.npz", [Edit("bytes in zip", 0.35327416255423216, 3907368033)]),
    ("placement.npz", "placement.npz", [Edit("set", 0.0846802304164842, 728830787)]),
    ("placement.npz", "placement.npz", [Edit("array in zip", 0.2776724342123893, 1627146234)]),
    ("run description", "run.json", [Edit("json", 0.014559974924812313, 3245220484)]),
    ("run description", "run.json", [Edit("json", 0.00991696335987402, 3224355370)]),
    ("machine profile", "epyc-vm.yaml", [Edit("yaml", 0.8022650611681835, 271041745),
                                         Edit("yaml", 0.47224524357611664, 1630434966)]),
    ("dry rank", "ranks.csv", [Edit("cell", 0.7848712870144318, 35178456)]),
    ("dry run", "dry/work.csv", [Edit("cell", 0.6634699417131158, 2107877843)]),
    ("dry rank", "record.json", [Edit("json", 0.947829137427598, 252430257)]),
    ("dry rank", "cycles.npy", [Edit("set", 0.2867767256061441, 172968367)]),
    ("experiment", "smoke.yaml", [Edit("set", 0.7631943040467181, 2771492679)]),
    ("kernel.npy", "kernel.npy", [Edit("array", 0.9492279489729363, 744069209)]),
    ("state of a partition", "state.npz", [Edit("bytes in zip", 0.5291808061372004, 4201217130)]),
    ("state of a partition", "state.npz", [Edit("bytes in zip", 0.31884350312022447, 1635128670)]),
    ("state of a partition", "state.npz", [Edit("array in zip", 0.9951700162143527, 2883743599)]),
    ("state of a partition", "state.npz", [Edit("array in zip", 0.2942921262194601, 293666491)]),
    ("state of a partition", "state.npz", [Edit("array in zip", 0.7359034794654381, 1909560882)]),
    ("jobs of a campaign", "jobs/7.json", [Edit("json", 0.20550521139573685, 2283848158)]),
    ("jobs of a campaign", "jobs/7.end.json", [Edit("json", 0.4554222001370245, 1247720090)]),
    ("jobs of a campaign", "jobs/7.end.json", [Edit("json", 0.32008187122476994, 381254655)]),
    ("tender answer", "bundle/expected/bench-small.json", [Edit("json", 0.720483791482703, 3895867763)]),
    ("tender answer", "bundle/runs/bench-small.json", [Edit("json", 0.7397758183862886, 2477152552)]),
]  # fmt: skip


@pytest.mark.parametrize("found", FOUND, ids=[f"{name}-{i}" for i, (name, *_) in enumerate(FOUND)])
def test_what_was_found_stays_mended(files, found):
    name, file, made_by = found
    of = files(name)
    path = next(path for path in of.names if str(path) == file)
    assert mutations.edited((of.whole / path).read_bytes(), made_by) != (of.whole / path).read_bytes()
    assert of.complaint(path, made_by) is None


def test_edits_change_files_and_are_always_the_same(files):
    rng = random.Random(3)
    for name in NAMES:
        of = files(name)
        file = of.names[0]
        content, changes = (of.whole / file).read_bytes(), 0
        for kind in mutations.kinds_for(file):
            one = [Edit(kind, rng.random(), rng.getrandbits(32))]
            assert mutations.edited(content, one) == mutations.edited(content, one)
            changes += mutations.edited(content, one) != content
        assert changes > 3


def test_faults_of_a_reader_are_findings(monkeypatch, tmp_path):
    """A traceback, NaN, a refusal of two lines, a warning, and the death of the process."""
    import os
    import warnings

    from spikemark.core.errors import BadInput

    def two_lines(_):
        error = BadInput("a")
        error.args = ("a\nb",)
        raise error

    faults = {
        "KeyError": lambda _: {}["x"],
        "JSON": lambda _: float("nan"),
        "one line": two_lines,
        "warning": lambda _: warnings.warn("odd", RuntimeWarning, stacklevel=1),
        "signal 9": lambda _: os.kill(os.getpid(), 9),
    }
    for word, read in faults.items():
        reader = readers.Reader(lambda _: None, "*", read, apart=word.startswith("signal"))
        said = (judged.apart if reader.apart else judged.complaint)(reader, tmp_path)
        assert said and word in said
