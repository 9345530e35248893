"""One rank of many alone (--as-rank r --of R): its record. tests/test_dry_run.py compares the
counts.
"""

import json

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

RANKS = 2
OTHERS = ("synchronise", "exchange", "overlap_wait")
PLACED = {
    "kind": "placement",
    "format_version": 1,
    "ranks": 2,
    "method": "by hand",
    "first": [0, 300, 1200, 1500],
    "end": [300, 1200, 1500, 2000],
    "rank": [1, 0, 0, 1],
    "over": [1, 2, 1, 1],
    "origin": [0, 299, 1200, 1500],
}


def alone(rank):
    return ["--as-rank", rank, "--of", RANKS]


def test_ranks_by_a_placement_file_have_their_part_and_what_needs_others_is_null(tmp_path):
    (tmp_path / "placed.json").write_text(json.dumps(PLACED))
    placed = program.sets(placement={"name": "from_file", "file": str(tmp_path / "placed.json")})
    out, spikes, dry = tmp_path / "run", [], []
    record = program.record_of(out, *placed, ranks=RANKS, threads=2)
    assert json.loads((out / "placement.json").read_text()) == PLACED
    assert (record["placement"]["method"], record["placement"]["balance"]) == ("by hand", 1.25)
    for rank in range(RANKS):
        folder = tmp_path / f"{rank}"
        own = program.record_of(folder, *placed, *alone(rank), threads=2)
        (row,), timing, cycles = program.rows(folder), own["timing"], np.load(folder / "cycles.npy")
        assert row["checksum"] == program.rows(out)[rank]["checksum"]
        assert (own["kind"], own["checksum"], own["spike_checksum"]) == ("dry_run", None, None)
        assert [row[name] for name in ("messages", "bytes_sent", "simulate_s")] == ["", "", ""]
        assert timing["simulate_s"] is timing["real_time_factor"] is None
        assert cycles.shape == (1, timing["cycles"], len(own["phases"]))
        for i, name in enumerate(own["phases"]):
            assert np.isnan(cycles[0, :, i]).all() == (name in OTHERS), name
            assert (timing["phases"][name]["mean_s"] is None) == (name in OTHERS), name
        assert own["dry_run"]["compute_s"] == pytest.approx(np.nansum(cycles), rel=1e-3)
        assert own["dry_run"]["words"] > 0
        spikes.append(np.load(folder / "spikes.npy"))
        dry.append(own["lanes"])
    parts = np.concatenate(spikes)
    assert np.array_equal(
        parts[np.lexsort((parts[:, 0], parts[:, 1]))], np.load(out / "spikes.npy")
    )
    for lane, *parts in zip(record["lanes"], *dry, strict=True):
        for name in ("synapses", "spikes_sent"):
            assert sum(part[name] for part in parts) == lane[name]
        for part in parts:
            assert {part[name] for name in ("messages", "bytes_sent", "connections")} == {None}


def test_the_rate_decides_how_many_words_arrive(tmp_path):
    neurons = {f"network__populations__{i}__neuron": {"model": "lif_exp"} for i in (0, 1)}
    own, words = program.sets(schedule="conventional", **neurons), []
    for rate in (0, 100):
        record = program.record_of(tmp_path / str(rate), *alone(0), "--rate", rate, *own)
        assert (record["dry_run"]["spikes"], record["dry_run"]["rate_hz"]) == ("drawn", rate)
        words.append(record["dry_run"]["words"])
    assert words == [0, pytest.approx(1000 * 100 * 0.2, rel=0.02)]  # sources x Hz x s


def test_the_build_with_checks_gives_the_same_part(tmp_path):
    own = [*alone(1), *program.sets(exchange="allgatherv", wire="aer12", time__simulate_ms=20)]
    program.record_of(tmp_path / "plain", *own)
    program.checked(tmp_path / "checked", *own, threads=2)
    first, second = (program.rows(tmp_path / name)[0]["checksum"] for name in ("plain", "checked"))
    assert first == second
