"""One rank of many alone (--as-rank r --of R): the spikes and counts that it has among all."""

import json

import numpy as np
import program
import pytest
from program import rows

pytestmark = pytest.mark.slow

RANKS = 2
OTHERS = ("synchronise", "exchange", "overlap_wait")
PLACED = {"kind": "placement", "format_version": 1, "ranks": 2, "method": "by hand"}
PLACED |= {"first": [0, 300, 1200, 1500], "end": [300, 1200, 1500, 2000], "rank": [1, 0, 0, 1]}
PLACED |= {"over": [1, 2, 1, 1], "origin": [0, 299, 1200, 1500]}


def alone(rank, of=RANKS):
    return ["--as-rank", str(rank), "--of", str(of)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run on two ranks of two threads by a placement file, and a dry run of each: folders and records."""
    out = tmp_path_factory.mktemp("dry")
    (out / "placed.json").write_text(json.dumps(PLACED))
    placed = program.sets(placement=json.dumps({"name": "from_file", "file": str(out / "placed.json")}))
    record = program.record_of(out / "run", *placed, ranks=RANKS, threads=2)
    each = [program.record_of(out / f"{r}", *placed, *alone(r), threads=2) for r in range(RANKS)]
    return (out / "run", record), [(out / f"{r}", record) for r, record in enumerate(each)]


def test_each_rank_has_its_part_of_the_checksum_and_the_counts(runs):
    (out, record), dry = runs
    assert f"{sum(int(row['checksum'], 16) for row in rows(out)) % 2**64:016x}" == record["checksum"]
    for rank, (folder, own) in enumerate(dry):
        (row,) = rows(folder)
        assert own["checksum"] is own["spike_checksum"] is None and own["kind"] == "dry_run"
        for name in ("rank", "neurons", "checksum", *own["totals"].keys() - {"messages", "bytes_sent"}):
            assert row[name] == rows(out)[rank][name], name
        assert [row[name] for name in ("messages", "bytes_sent", "simulate_s")] == ["", "", ""]
    for lane, *parts in zip(record["lanes"], *(own["lanes"] for _, own in dry), strict=True):
        for name in ("synapses", "spikes_sent"):
            assert sum(part[name] for part in parts) == lane[name]
        for part in parts:
            assert {part[name] for name in ("messages", "bytes_sent", "connections")} == {None}


def test_the_spikes_are_those_of_the_run_and_of_any_placement(runs, tmp_path):
    (out, record), dry = runs
    parts = np.concatenate([np.load(folder / "spikes.npy") for folder, _ in dry])
    assert np.array_equal(parts[np.lexsort((parts[:, 0], parts[:, 1]))], np.load(out / "spikes.npy"))
    assert program.record_of(tmp_path / "run")["checksum"] == record["checksum"]


def test_the_record_holds_the_placement(runs):
    out, record = runs[0]
    assert json.loads((out / "placement.json").read_text()) == PLACED
    assert (record["placement"]["method"], record["placement"]["balance"]) == ("by hand", 1.25)


def test_what_needs_other_ranks_is_null_with_a_reason(runs):
    for folder, own in runs[1]:
        timing, cycles = own["timing"], np.load(folder / "cycles.npy")
        assert timing["simulate_s"] is timing["real_time_factor"] is None
        assert cycles.shape == (1, timing["cycles"], len(own["phases"]))
        for i, name in enumerate(own["phases"]):
            assert np.isnan(cycles[0, :, i]).all() == (name in OTHERS), name
            assert (timing["phases"][name]["mean_s"] is None) == (name in OTHERS), name
        assert own["dry_run"]["compute_s"] == pytest.approx(np.nansum(cycles), rel=1e-3)
        assert own["dry_run"]["words"] > 0


def test_the_rate_decides_how_many_words_arrive(tmp_path):
    words, own = [], program.sets(schedule="conventional")
    for i in (0, 1):
        own += program.sets(**{f"network__populations__{i}__neuron": '{"model": "lif_exp"}'})
    for rate in (0, 100):
        record = program.record_of(tmp_path / str(rate), *alone(0), "--rate", rate, *own)
        assert (record["dry_run"]["spikes"], record["dry_run"]["rate_hz"]) == ("drawn", rate)
        words.append(record["dry_run"]["words"])
    assert words == [0, pytest.approx(1000 * 100 * 0.2, rel=0.02)]  # sources x Hz x s


def test_the_build_with_checks_gives_the_same_part(tmp_path):
    own = [*alone(1), *program.sets(exchange="allgatherv", wire="aer12", time__simulate_ms=20)]
    program.record_of(tmp_path / "plain", *own)
    program.checked(tmp_path / "checked", *own, threads=2)
    assert rows(tmp_path / "checked")[0]["checksum"] == rows(tmp_path / "plain")[0]["checksum"]
