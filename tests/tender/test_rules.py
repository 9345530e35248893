"""Bundles: what is asked for, what must be counted, which sources, and the secret beside."""

import contextlib
import json
import re
import tarfile

import pytest
from tender import offered

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.network.presets import PRESETS
from spikemark.prediction import question
from spikemark.quantities.words import integer
from spikemark_tender import acceptance, formats, new, source

pytestmark = pytest.mark.slow


def test_the_secret_is_beside_the_bundle_and_another_one_each_time(honest, tmp_path):
    secrets = [honest.folder / "bundle.secret.json"]
    offered.bundle(tmp_path / "other")
    secrets.append(tmp_path / "other.secret.json")
    seeds = [json.loads(path.read_text())["seed"] for path in secrets]
    assert seeds[0] != seeds[1] and all(path.stat().st_mode & 0o077 == 0 for path in secrets)
    inside = b"".join(p.read_bytes() for p in (honest.folder / "bundle").rglob("*") if p.is_file())
    assert str(seeds[0]).encode() not in inside
    assert acceptance._read_secret(secrets[0], honest.bundle).seed == seeds[0]
    with pytest.raises(BadInput) as error:
        acceptance._read_secret(secrets[1], honest.bundle)
    assert error.value.field == "bundle_sha256"


def test_counts_are_those_of_the_runs(honest):
    """Exact, since all neurons fire once in a period: the honest answer counts the same."""
    for run in formats.read_answer(honest.path).runs:
        known = honest.bundle.tender.run(run.name).expected
        counts = next(one for one in known.times if one.model_ms == run.model_ms)
        for one in run.repetitions:
            totals = json.loads((honest.path / one.folder / "record.json").read_text())["totals"]
            assert known.tolerance == 0 and totals["synaptic_events"] == counts.synaptic_events
            assert totals["spikes"] == counts.spikes and totals["synapses"] == known.synapses


def test_networks_without_rates_of_their_own_have_no_counts():
    network = question.of_preset("microcircuit", False, ["scale=0.01"], 4.0)
    known = new._expected(network, 1.0)
    assert all(one["spikes"] is None for one in known["times"]) and known["events_per_s"] > 0
    assert set(known["rates_hz"].values()) == {4.0}


def test_bench_networks_fill_the_memory_and_no_more():
    limit = 2e7
    made = new._bench(2, 100, 10.0, limit, 1e-9 * limit)
    size = made.description["network"]["populations"][0]["size"]
    larger = question.of_description(
        "x",
        new.PRESETS[new.PRESET].describe(
            areas=2, indegree=100, rate=10.0, neurons_per_area=size + new.NEURONS_STEP
        ),
    )
    assert new._needed_bytes(made, 2) <= limit < new._needed_bytes(larger, 2)
    with pytest.raises(BadInput):
        new._bench(2, 100, 10.0, 1000.0, 1e-6)


@pytest.mark.parametrize("with_nest", [False, True])
def test_a_node_that_is_too_small_is_refused_with_a_memory_that_is_enough(with_nest):
    """The networks may take a tenth of the node; with NEST, which needs more than the mini-app."""
    for indegree in (100, 771, 5000):
        share = 0.9 if with_nest else 0.1

        def bench(node_gb, indegree=indegree, share=share):
            return new._bench(2, indegree, 10.0, 1e9 * share * node_gb, node_gb, with_nest)

        too_little = 1e-4
        for _ in range(3):  # of the mini-app, and then of NEST
            with contextlib.suppress(BadInput):
                bench(too_little)
                break
            with pytest.raises(BadInput) as refused:
                bench(too_little)
            assert refused.value.field == "node_memory"
            found = re.search(r"node_memory=(\S+); expected at least (\S+) GB", str(refused.value))
            assert float(found[1]) == too_little < float(found[2])
            too_little = float(found[2])
        bench(too_little)
        with pytest.raises(BadInput):
            bench(0.98 * too_little)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"node_memory_gb": 0.0}, "node_memory_gb"),
        ({"minimum_s": -1.0}, "minimum_s"),
        ({"real_time_factor": float("inf")}, "real_time_factor"),
    ],
)
def test_impossible_rules_are_refused(tmp_path, given, field):
    with pytest.raises(BadInput) as error:
        offered.bundle(tmp_path / "b", **given)
    assert error.value.field == field and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["bad name/x", "x/bad name", "a/b;c/x", "x/.."])
def test_new_folders_have_names_that_a_bundle_can_have(refusal, tmp_path, name):
    line = refusal("tender", "new", tmp_path / name, "--quick", "--commit", "HEAD")
    assert "NAME" in line and list(tmp_path.iterdir()) == []


def test_presets_need_a_size(refusal, tmp_path):
    assert refusal("tender", "new", tmp_path / "b", "--target", "mam-benchmark")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", PRESETS)
def test_the_rules_say_the_size_of_the_target_and_that_it_is_a_part(name):
    """Of the small default of each preset, and of its published size."""
    small = question.of_preset(name)
    text = new.target_in_words(small)
    assert name in text and f"{integer(small.known.neurons)} neurons" in text
    try:
        published = question.of_preset(name, full=True)
    except BadInput:
        return
    size = integer(published.known.neurons)
    is_part = small.known.neurons < published.known.neurons
    assert (size in text and "%" in text) == is_part
    text = new.target_in_words(published)
    assert f"{size} neurons" in text and "%" not in text


def test_the_size_is_in_the_rules_and_in_tender_json(bundle_of_a_part):
    tender = bundle_of_a_part.tender
    neurons = integer(tender.target_rule.expected.neurons)
    rules = (bundle_of_a_part.path / formats.RULES).read_text()
    for text in (tender.target.network, tender.target_rule.scaling, rules):
        assert f"{neurons} neurons" in text and "published size" in text


@pytest.fixture
def bundle_of_a_part(tmp_path):
    return offered.bundle(tmp_path / "part")


def test_the_same_commit_gives_the_same_sources_and_changes_are_named(tmp_path):
    commit = source.commit_of(places.root(), "HEAD")
    packed = source.archive(places.root(), commit)
    assert packed == source.archive(places.root(), commit)
    path = tmp_path / "source.tar.gz"
    path.write_bytes(packed)
    with tarfile.open(path) as archive:
        safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Debian 12 lacks it
        archive.extractall(tmp_path, **safely)
    [root] = [p for p in tmp_path.iterdir() if p.is_dir()]
    assert source.differing(path, root) == []
    changed, added = "miniapp/src/main.c", "miniapp/src/faster.c"
    changed = changed if (root / changed).is_file() else "CMakeLists.txt"
    (root / changed).write_text("int main;")
    (root / added).write_text("int faster;")
    assert source.differing(path, root) == sorted([changed, added])
