"""The buyer's own run: the checksum of a secret network, and the time that was promised for it."""

import json

import pytest

SEED = ["--seed", "4711"]


@pytest.fixture(scope="module")
def prepared(small, tmp_path_factory):
    """A file of what must come out, and where it was computed."""
    from spikemark.cli import main

    folder = tmp_path_factory.mktemp("prepared")
    with pytest.raises(SystemExit) as end:
        main.main([
            "tender", "accept", str(small.path), *SEED, "--expect", str(folder / "e.json"), "--prepare",
            "--out", str(folder / "runs"), "--ranks", "1",
        ])  # fmt: skip
    assert end.value.code == 0
    return folder / "e.json"


def promise(folder, value):
    """An answer that commits to a real-time factor."""
    folder.mkdir()
    entry = {"run": "bench-small", "figure": "real_time_factor", "value": value}
    (folder / "commitment.json").write_text(json.dumps({"committed": [entry]}))
    return folder


@pytest.mark.slow
def test_the_same_network_on_other_ranks_is_accepted_and_a_slow_machine_is_not(
    spikemark, small, prepared, tmp_path
):
    given = [
        "tender",
        "accept",
        small.path,
        *SEED,
        "--expect",
        prepared,
        "--out",
        tmp_path / "a",
        "--ranks",
        2,
    ]
    status, output, _ = spikemark(*given, "--answer", promise(tmp_path / "generous", 1e6))
    assert status == 0 and "\nACCEPTED: bench-small" in "\n" + output
    found = json.loads((tmp_path / "a" / "acceptance.json").read_text())
    assert found["checksum"] == json.loads(prepared.read_text())["checksum"]
    assert found["repetitions"] == small.tender.rule("bench-small").repetitions
    status, output, _ = spikemark(*given, "--answer", promise(tmp_path / "bold", 1e-9))
    assert status == 1 and "NOT ACCEPTED" in output and "real_time_factor=" in output


@pytest.mark.slow
def test_what_was_prepared_is_no_repetition_of_the_acceptance(spikemark, small, prepared):
    """The same folder and layout: the run of --prepare may have been on another machine."""
    out = prepared.parent / "runs"
    given = ["tender", "accept", small.path, *SEED, "--expect", prepared, "--out", out, "--ranks", 1]
    status, output, errors = spikemark(*given)
    assert status == 0, output + errors
    records = list((out / "bench-small").glob("*/runs/*/record.json"))
    assert len(records) == small.tender.rule("bench-small").repetitions
    assert all(path.stat().st_mtime_ns > prepared.stat().st_mtime_ns for path in records)


@pytest.mark.slow
def test_other_spikes_are_not_accepted(spikemark, small, prepared, tmp_path):
    wrong = tmp_path / "e.json"
    wrong.write_text(json.dumps(json.loads(prepared.read_text()) | {"checksum": "0" * 16}))
    given = [*SEED, "--expect", wrong, "--out", tmp_path / "a"]
    status, output, _ = spikemark("tender", "accept", small.path, *given)
    assert status == 1 and "expected is 0000000000000000" in output


EXPECTED = {
    "kind": "tender_expected", "format_version": 1, "run": "bench-small", "seed": 4711, "model_ms": 1.0,
    "checksum": "0" * 16, "totals": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "arguments", "words"),
    [
        ({}, ["--seed", "5"], "--seed: 5; allowed: the seed"),
        ({"kind": "x"}, SEED, "kind: one JSON object"),
        ({"totals": 1}, SEED, "totals=1; allowed: as --prepare wrote it"),
        ({"bundle_sha256": "x"}, SEED, "made for another bundle"),
        ({}, [*SEED, "--run", "bench-large"], "--run: bench-large; allowed: bench-small"),
        ({}, [*SEED, "--answer", "nowhere"], "commitment.json: not found"),
        ({}, [*SEED, "--model-ms", "5"], "--model-ms: only with --prepare"),
        ({}, [*SEED, "--prepare"], "exists already"),
    ],
)
def test_what_was_not_prepared_is_refused(refusal, small, tmp_path, change, arguments, words):
    path = tmp_path / "e.json"
    path.write_text(json.dumps(EXPECTED | {"bundle_sha256": small.sha256} | change))
    given = ["--expect", path, "--out", tmp_path / "a"]
    assert words in refusal("tender", "accept", small.path, *arguments, *given)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seed", "1"], "--seed: 1 is that of the tender"),
        ([*SEED, "--model-ms", "5"], "--model-ms: 5; allowed for bench-small"),
        ([*SEED, "--run", "x"], "run='x'; allowed"),
    ],
)
def test_what_cannot_be_prepared_is_refused(refusal, small, tmp_path, arguments, words):
    given = ["--expect", tmp_path / "e.json", "--out", tmp_path / "a", "--prepare"]
    assert words in refusal("tender", "accept", small.path, *arguments, *given)
    assert not (tmp_path / "e.json").exists()
