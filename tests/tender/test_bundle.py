"""What a buyer hands out: the same bytes from the same commit, whole or nothing, with all rules."""

import io
import json
import subprocess
import tarfile

import pytest

from spikemark.core.errors import BadInput
from spikemark.network.description import read as read_description
from spikemark.prediction import asked
from spikemark.presets import PRESETS
from spikemark.tender import bundle, manifest, new, rules, sizes, source, wanted
from spikemark.tender.check.bundle import TOLERANCES
from spikemark.tender.fields import FIGURES


@pytest.fixture
def checkout(tmp_path):
    """A small checkout of git with a program, a link and a file of text."""
    root = tmp_path / "checkout"
    (root / "miniapp").mkdir(parents=True)
    (root / "miniapp" / "main.c").write_text("int main;\n")
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / "link").symlink_to("tool")
    for words in (
        ["init", "--quiet"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    return root


def test_the_same_commit_gives_the_same_bytes_whatever_the_clock_and_the_files_ages(checkout, monkeypatch):
    first = source.archive(checkout, "HEAD")
    (checkout / "tool").touch()
    (checkout / "untracked").write_text("not part of it\n")
    monkeypatch.setattr("time.time", lambda: 1e9)
    assert source.archive(checkout, "HEAD") == first


def test_an_archive_holds_what_is_tracked_sorted_without_owners_and_times(checkout):
    packed = source.archive(checkout, source.commit_of(checkout, None))
    with tarfile.open(fileobj=io.BytesIO(packed)) as made:
        members = made.getmembers()
        names = [member.name.split("/", 1)[1] for member in members]
        assert names == sorted(names) == [".source-commit", "link", "miniapp/main.c", "tool"]
        assert {(m.mtime, m.uid, m.gid, m.uname, m.gname) for m in members} == {(0, 0, 0, "", "")}
        assert {name: m.mode for name, m in zip(names, members, strict=True)}["tool"] == 0o755
        commit = made.extractfile(members[0]).read().decode().strip()
    assert commit == source.commit_of(checkout, "HEAD")


def test_changes_that_are_not_committed_are_refused_unless_a_commit_is_named(checkout):
    (checkout / "tool").write_text("changed\n")
    with pytest.raises(BadInput, match="commit: tool is changed and not committed; allowed:"):
        source.commit_of(checkout, None)
    assert source.commit_of(checkout, "HEAD")


@pytest.mark.parametrize("name", ["nothing", "--all", ""])
def test_a_commit_that_there_is_not_is_refused(checkout, name):
    with pytest.raises(BadInput, match=r"commit: .*; allowed: a commit of the checkout"):
        source.commit_of(checkout, name)


def test_outside_git_nothing_is_archived(tmp_path):
    with pytest.raises(BadInput, match=r"commit: .*not a git repository.*; allowed:"):
        source.commit_of(tmp_path, None)


def test_what_differs_from_the_archive_is_named(checkout, tmp_path):
    packed = tmp_path / "source.tar.gz"
    packed.write_bytes(source.archive(checkout, "HEAD"))
    assert source.differing(packed, checkout) == []
    (checkout / "tool").unlink()
    (checkout / "miniapp" / "main.c").write_text("int other;\n")
    (checkout / "miniapp" / "more.c").write_text("int more;\n")
    (checkout / "notes").write_text("no source\n")
    found = source.differing(packed, checkout)
    assert found == ["miniapp/main.c", "miniapp/more.c", "tool"]
    assert source.measured(found) == ["miniapp/main.c", "miniapp/more.c"]


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b\x08\x00cut"])
def test_a_damaged_archive_is_bad_input(tmp_path, checkout, content):
    (tmp_path / "bad.tar.gz").write_bytes(content)
    with pytest.raises(BadInput, match="not an archive of sources"):
        source.differing(tmp_path / "bad.tar.gz", checkout)


def test_a_bundle_is_as_its_manifest_says(small):
    listed = manifest.check(small.path)["files"]
    assert set(listed) == set(manifest.files(small.path))
    assert {"tender.json", "RULES.md", "source.tar.gz", "check.py"} <= set(listed)
    assert small.tender.source_sha256 == listed["source.tar.gz"]["sha256"]
    for rule in small.tender.runs:
        assert small.description(rule).is_file() and small.expected(rule).is_file()


def test_every_run_is_described_with_its_longest_model_time(small):
    for rule in small.tender.runs:
        given = read_description(json.loads(small.description(rule).read_text()))
        assert given.time.simulate_ms == rule.model_ms[0]
        assert given.time.warmup_cycles == rule.warm_up_cycles > 0
        assert rule.model_ms == sorted(rule.model_ms, reverse=True)
        assert all(a == 2 * b for a, b in zip(rule.model_ms, rule.model_ms[1:], strict=False))


def test_sizes_take_their_share_and_the_next_larger_network_does_not(small):
    for rule in small.tender.runs:
        if rule.share_of_memory is None:
            continue
        given = json.loads(small.description(rule).read_text())
        areas = len(given["network"]["populations"])
        limit = 1e9 * small.tender.reference_memory_gb * rule.share_of_memory
        assert sizes.needed_bytes(given, areas) <= limit
        for population in given["network"]["populations"]:
            population["size"] += sizes.STEP
        assert sizes.needed_bytes(given, areas) > limit


def test_counts_are_exact_where_all_neurons_fire_at_one_rate(small):
    for rule in small.tender.runs:
        known = small.read_expected(rule)
        assert (known["kind"], known["tolerance"]) == ("counted", 0.0)
        assert [one["model_ms"] for one in known["times"]] == rule.model_ms
        for one in known["times"]:
            assert one["spikes"] == known["neurons"] * round(one["model_ms"] / 400)
            assert one["synaptic_events"] == known["synapses"] * round(one["model_ms"] / 400)
            assert one["checksum"] is None and one["reason"]


def test_counts_follow_from_mean_rates_where_neurons_differ():
    network = asked.of_preset("mam-benchmark", options=["rate_cv=0.5", "neurons_per_area=500"])
    times = sizes.model_times(network.description, 1.0)
    known = sizes.expected(network.description, times)
    assert (known["kind"], known["tolerance"]) == ("modelled", sizes.TOLERANCE)
    hz = float(network.rates.hz.mean())
    assert known["spikes"] == pytest.approx(2000 * hz * 1e-3 * times[0], rel=1e-3)
    assert known["synaptic_events"] == pytest.approx(500 * known["spikes"], rel=1e-3)


def of_preset(name: str):
    """The network of a preset, with a rate where none was published."""
    try:
        return asked.of_preset(name)
    except BadInput as reason:
        assert str(reason).startswith("rate: ")
        return asked.of_preset(name, rate=3.0)


def test_a_quick_bundle_is_for_the_same_network_whether_it_is_named_or_not():
    found = [wanted.preset(name, False, None, None, True) for name in (None, wanted.TARGET)]
    assert found[0].description == found[1].description and "neurons_per_area=20000" in found[0].title


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_bought_for(name):
    """Of neurons that fire in response to their input, nobody knows how often before a run."""
    network = of_preset(name)
    found = new.descriptions(wanted.wanted("x", network, {}, quick=True))
    given = found["target"]
    known = sizes.expected(given.description, given.model_ms, given.rates)
    own = all(p["neuron"]["model"] == "ignore_and_fire" for p in given.description["network"]["populations"])
    assert known["synapses"] > 0 and all((one["spikes"] is not None) == own for one in known["times"])
    if not own:
        assert known["rates_hz"] == dict(zip(known["rates_hz"], network.rates.hz, strict=True))
        assert known["modelled_per_s"]["synaptic_events"] > known["modelled_per_s"]["spikes"] > 0
        assert "fire in response" in known["reason"] and network.rates.source in given.scaling


def test_the_page_says_every_rule_and_nothing_else(small):
    page = (small.path / bundle.RULES).read_text()
    assert page == rules.page(small.tender)
    for rule in small.tender.runs:
        assert f"| {rule.name} |" in page and rule.scaling in page
    for name in small.tender.figures:
        assert f"**{FIGURES[name][0]}**" in page
    for name in small.tender.categories:
        assert f"| {name} |" in page
    assert small.tender.commit in page and small.tender.source_sha256 in page
    assert "quick bundle" in page


def test_every_tolerance_has_a_sentence():
    assert set(TOLERANCES) == set(rules.PLAUSIBLE)


def test_limits_of_the_target_stand_on_the_page(small):
    target = small.tender.target.model_copy(
        update={"real_time_factor": 0.5, "joules_per_synaptic_event": 2e-7}
    )
    page = rules.page(small.tender.model_copy(update={"target": target, "quick": False}))
    assert "real-time factor of at most 0.5." in page
    assert "energy per synaptic event of at most 2e-07 J." in page
    assert "quick bundle" not in page


REFUSED = {
    "name='a b'": ["a b"],
    "node_memory_gb=0": ["x", "--node-memory", "0"],
    "node_memory_gb=nan": ["x", "--node-memory", "nan"],
    "minimum_s=-1": ["x", "--minimum", "-1"],
    "real_time_factor=inf": ["x", "--target-rtf", "inf"],
    "node_memory: 1e-07 GB": ["x", "--node-memory", "1e-6"],
    "preset='nothing'": ["x", "--target", "nothing"],
    "--option: only with a preset": ["x", "--target", "y.json", "--option", "areas=2"],
    "commit: ": ["x", "--commit", "nothing"],
    "y.json: not found": ["x", "--target", "y.json"],
    "time.warmup_ms is 0": ["x", "--target", "mam-benchmark", "--option", "warmup_ms=0"],
}


@pytest.mark.parametrize("said", REFUSED)
def test_bad_input_is_one_line_and_nothing_is_left(refusal, tmp_path, monkeypatch, said):
    monkeypatch.chdir(tmp_path)
    words = ["--quick", *([] if "--commit" in REFUSED[said] else ["--commit", "HEAD"])]
    assert said in refusal("tender", "new", *REFUSED[said], *words)
    assert list(tmp_path.iterdir()) == []


def test_nobody_buys_for_the_small_network_of_a_preset(refusal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = refusal("tender", "new", "x", "--target", "microcircuit", "--commit", "HEAD")
    assert said == "--target microcircuit: needs --full, its published size, or --option NAME=VALUE"
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_never_takes_the_place_of_anything(refusal, tmp_path):
    assert "exists already; allowed:" in refusal("tender", "new", tmp_path, "--quick", "--commit", "HEAD")


DAMAGE = {
    "sha256 is": lambda path: (path / "tender.json").write_text("{}"),
    "missing, although": lambda path: (path / "RULES.md").unlink(),
    "not in manifest.json": lambda path: (path / "runs" / "more.json").write_text("{}"),
    "no tender.json": lambda path: (path / "tender.json").unlink(),
    "not found": lambda path: (path / "manifest.json").unlink(),
    "truncated or not JSON": lambda path: (path / "manifest.json").write_text("{"),
    "of the kind": lambda path: (path / "manifest.json").write_text("[]"),
}


@pytest.mark.parametrize("said", DAMAGE)
def test_a_damaged_bundle_is_refused(refusal, small, tmp_path, said):
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", str(small.path), str(copy)], check=True)
    DAMAGE[said](copy)
    assert said in refusal("tender", "run", copy, "--out", tmp_path / "answer")
    assert not (tmp_path / "answer").exists() and not (tmp_path / "answer-work").exists()


def test_what_is_not_given_is_as_usual():
    network = asked.of_preset("mam-benchmark")
    made = wanted.wanted("x", network, {"areas": 3, "repetitions": None})
    assert (made.areas, made.repetitions, made.minimum_s) == (3, 5, 60.0)
