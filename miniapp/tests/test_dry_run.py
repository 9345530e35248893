"""One rank of many alone (--as-rank r --of R): the spikes and counts that it has among all, and refusals."""

import csv
import re

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

RANKS = 2
OTHERS = ("synchronise", "exchange", "overlap_wait")
UNKNOWN = program.sets(network__populations__0__neuron='{"model": "lif_exp"}')
HUGE = program.sets(
    network__populations__0__size=40_000_000,
    network__populations__1__size=40_000_000,
    network__projections__0__indegree=4000,
)
VAST = program.sets(**{f"network__populations__{i}__size": 1_500_000_000 for i in (0, 1)})


def rows(out):
    with open(out / "ranks.csv") as file:
        return list(csv.DictReader(file))


def alone(rank, of=RANKS):
    return ["--as-rank", str(rank), "--of", str(of)]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run on two ranks of two threads, and a dry run of each of these: directories and records."""
    out = tmp_path_factory.mktemp("dry")
    all_of_them = program.record_of(out / "run", ranks=RANKS, threads=2)
    each = [program.record_of(out / f"{r}", *alone(r), threads=2) for r in range(RANKS)]
    return (out / "run", all_of_them), [(out / f"{r}", record) for r, record in enumerate(each)]


def test_each_rank_has_its_part_of_the_checksum(runs):
    (out, record), dry = runs
    parts = [int(row["checksum"], 16) for row in rows(out)]
    assert f"{sum(parts) % 2**64:016x}" == record["checksum"]
    for rank, (folder, own) in enumerate(dry):
        assert own["checksum"] is None
        assert own["spike_checksum"] is None
        assert [int(row["checksum"], 16) for row in rows(folder)] == [parts[rank]]


def test_each_rank_counts_what_it_counts_among_all(runs):
    (out, record), dry = runs
    same = ("rank", "neurons", "synapses", "spikes", "synaptic_events", "external_events")
    for rank, (folder, own) in enumerate(dry):
        (row,) = rows(folder)
        for name in (*same, "first_accesses", "lookups"):
            assert row[name] == rows(out)[rank][name], name
        assert [row[name] for name in ("messages", "bytes_sent", "simulate_s")] == ["", "", ""]
        assert own["ranks"] == RANKS
    for lane, *parts in zip(record["lanes"], *(own["lanes"] for _, own in dry), strict=True):
        for name in ("synapses", "spikes_sent"):
            assert sum(part[name] for part in parts) == lane[name]
        for part in parts:
            assert {part[name] for name in ("messages", "bytes_sent", "connections")} == {None}
            assert [part[name] for name in ("period", "ranks", "exchange", "windows")] == [
                lane[name] for name in ("period", "ranks", "exchange", "windows")
            ]


def test_the_spikes_are_those_of_the_run(runs):
    (out, _), dry = runs
    parts = np.concatenate([np.load(folder / "spikes.npy") for folder, _ in dry])
    assert np.array_equal(parts[np.lexsort((parts[:, 0], parts[:, 1]))], np.load(out / "spikes.npy"))


def test_what_needs_other_ranks_is_null_with_a_reason(runs):
    _, dry = runs
    for folder, own in dry:
        timing = own["timing"]
        assert timing["simulate_s"] is None
        assert timing["real_time_factor"] is None
        cycles = np.load(folder / "cycles.npy")
        assert cycles.shape == (1, timing["cycles"], len(own["phases"]))
        for i, name in enumerate(own["phases"]):
            assert np.isnan(cycles[0, :, i]).all() == (name in OTHERS), name
            assert (timing["phases"][name]["mean_s"] is None) == (name in OTHERS), name
            assert ("dry run" in timing["phases"][name].get("reason", "")) == (name in OTHERS), name


def test_what_was_made_up_is_said(runs):
    (_, record), dry = runs
    assert record["kind"] == "measured"
    assert record["dry_run"] is None
    text = (program.ROOT / "miniapp" / "FORMAT.md").read_text().split("### Dry runs")[1].split("\n## ")[0]
    for rank, (folder, own) in enumerate(dry):
        assert own["kind"] == "dry_run"
        made = own["dry_run"]
        assert set(made) == set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) | {"of"}
        assert [made[k] for k in ("rank", "of", "spikes", "rate_hz", "routes")] == [
            rank,
            2,
            "exact",
            None,
            "exact",
        ]
        computing = np.nansum(np.load(folder / "cycles.npy"))
        assert made["compute_s"] == pytest.approx(computing, rel=1e-3)
        assert min(made["inbox_s"], made["prepare_s"]) > 0
        assert 0 < made["routes_s"] < own["timing"]["build_s"]
        # Between two areas, every spike that is wanted by the other rank or here is a word in the far lane.
        assert made["words"] > 0


def test_drawn_spikes_and_routes_are_said(tmp_path):
    record = program.record_of(tmp_path / "a", *alone(1), "--rate", "12.5", *UNKNOWN)
    assert record["dry_run"]["spikes"] == "drawn"
    assert record["dry_run"]["rate_hz"] == 12.5
    assert any(w.startswith("dry run: neurons of other ranks whose spikes") for w in record["warnings"])
    record = program.record_of(tmp_path / "b", *alone(1), "--routes", "drawn")
    assert record["dry_run"]["routes"] == "drawn"
    assert any(w.startswith("dry run: where the spikes of this rank go") for w in record["warnings"])


def test_the_rate_decides_how_many_words_arrive(tmp_path):
    words = []
    for rate in (0, 50, 100):
        own = program.sets(schedule="conventional")
        for i in (0, 1):
            own += program.sets(**{f"network__populations__{i}__neuron": '{"model": "lif_exp"}'})
        record = program.record_of(tmp_path / str(rate), *alone(0), "--rate", rate, *own)
        assert record["totals"]["spikes"] == 0
        words.append(record["dry_run"]["words"])
    sources = 1000  # of the other rank; all of them have a synapse here
    assert words == [
        0,
        pytest.approx(sources * 50 * 0.2, rel=0.02),
        pytest.approx(sources * 100 * 0.2, rel=0.02),
    ]


def test_the_build_with_checks_gives_the_same_part(runs, tmp_path):
    for arguments in ([], program.sets(exchange="allgatherv", wire="aer12")):
        out = tmp_path / str(len(arguments))
        program.checked(out, *alone(1), *arguments, threads=2)
        assert rows(out)[0]["checksum"] == rows(runs[0][0])[1]["checksum"]


def test_it_may_be_one_of_many_on_few_cores(tmp_path):
    """More threads than cores are allowed: memory and counts are right, and a warning speaks of the times."""
    short = program.sets(schedule="conventional", time__simulate_ms=1)
    record = program.record_of(tmp_path / "run", *alone(3, 5), *short, threads=64)
    assert record["ranks"] == 5
    assert any(w.startswith("oversubscribed: ") for w in record["warnings"])


BAD = {
    "r too large": (alone(2), "--as-rank: 2 of 2 ranks; allowed: 0 to 1"),
    "r negative": (alone(-1), "--as-rank: -1; allowed: a rank, from 0"),
    "R missing": (["--as-rank", "0"], "--of: missing; allowed: how many ranks there are"),
    "r missing": (["--of", "3"], "--as-rank: missing; allowed: a rank from 0 to 2"),
    "R zero": (alone(0, 0), "--of: 0; allowed: an integer from 1"),
    "rate unknown": (
        [*alone(0), *UNKNOWN],
        "--rate: missing, and the rate of population left (lif_exp) is unknown",
    ),
    "rate known": ([*alone(0), "--rate", "2"], "--rate: 2; allowed: none, since the spikes of all neurons"),
    "rate negative": ([*alone(0), "--rate", "-2"], "--rate: -2; allowed: spikes/s"),
    "rate alone": (["--rate", "2"], "--rate, --routes: only with --as-rank and --of"),
    "bad routes": ([*alone(0), "--routes", "some"], "--routes: some; allowed: exact, drawn"),
    "explain": (["--explain", *alone(0)], "--as-rank, --of: only with a run"),
    "too few areas": (alone(0, 3), 'placement: "area" cannot deal 2 area(s) to 3 ranks'),
    "memory": (
        [*alone(0), *HUGE],
        "GiB for rank 0 of 2 while it is built; allowed: at most the memory of this node",
    ),
    "word": ([*alone(1), *VAST], "of which a four-byte spike can name"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_and_status_2(case, tmp_path):
    arguments, message = BAD[case]
    out = [] if "--explain" in arguments else ["--out", tmp_path / "run"]
    done = program.start(program.EXAMPLE, *out, *arguments)
    assert done.returncode == 2, done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert message in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_says_how_many_ranks_would_do(tmp_path):
    for arguments in BAD["memory"][0], BAD["word"][0]:
        done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments)
        assert re.search(r"\(about \d+ would do\)$", done.stderr.strip()), done.stderr


def test_it_is_one_process(tmp_path):
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *alone(0), ranks=2)
    assert done.returncode == 2
    assert "--as-rank: started as 2 processes; allowed: one, without mpirun" in done.stderr
