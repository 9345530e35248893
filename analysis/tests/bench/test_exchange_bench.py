"""`spikemark bench --exchange`: what it runs, keeps, prints and refuses."""

import json
from functools import partial

import pytest
from fake_exchanges import calls, content, write_program

from spikemark.bench import exchange_bench, exchange_times
from spikemark.bench.show import exchange_table
from spikemark.core import launch


@pytest.fixture
def spikemark(spikemark):
    """The command of these tests: (status, output, errors)."""
    return partial(spikemark, "bench", "--exchange")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program in place that gives some JSON; returns its folder. Two cores, whatever there are."""

    def put(given=None, **options):
        path = write_program(tmp_path, content() if given is None else given, **options)
        monkeypatch.setenv("SPIKEMARK_BENCH_EXCHANGE", str(path))
        monkeypatch.setattr(launch, "available_cores", lambda: 2)
        return tmp_path

    return put


def test_measures_each_number_of_ranks_and_keeps_the_raw_repetitions(spikemark, program, tmp_path):
    out = tmp_path / "out"
    folder = program()
    status, output, errors = spikemark("--out", out, "--repetitions", 3, "--filter", "a", "--bytes", "4,8")
    assert status == 0
    assert errors.splitlines() == [
        "1 rank: self: left out: serves at most 1 rank(s)",
        "2 ranks: self: left out: serves at most 1 rank(s)",
    ]
    assert [ranks for ranks, _ in calls(folder)] == [1, 2]
    for _, options in calls(folder):
        assert {k: options[k] for k in options if k != "--out"} == {
            "--repetitions": "3",
            "--filter": "a",
            "--bytes": "4,8",
        }
    raws = sorted(out.glob("exchanges-*.json"))
    shown = sorted(p.name for p in out.glob("[!.]*"))
    assert shown == sorted([*(r.name for r in raws), exchange_bench.TABLE])
    table = exchange_times.read(out / exchange_bench.TABLE)
    assert set(table["raw"]) == {r.name for r in raws} and set(table["ranks"]) == {1, 2}
    for raw in raws:
        kept = json.loads(raw.read_text())
        assert kept["measurements"] == content()["measurements"]
    lines = output.splitlines()
    rows = [line.split("│") for line in lines if "│" in line]
    assert [row[1].strip() for row in rows] == ["alltoall", "shared"] * 2
    assert lines[-2:] == [str(r) for r in raws]


def test_the_fit_stands_in_the_table(spikemark, program, tmp_path):
    program(content(noise=0))
    _, output, _ = spikemark("--out", tmp_path / "out", "--ranks", 2)
    assert "4: 1.00 + 2.00 n" in output and "4: 0.300 + 1.00 n" in output


def test_more_ranks_than_cores_are_marked(spikemark, program, tmp_path):
    folder = program()
    status, output, errors = spikemark("--out", tmp_path / "out", "--ranks", "2,3")
    assert status == 0 and [ranks for ranks, _ in calls(folder)] == [2, 3]
    assert "3 ranks: oversubscribed, on 2 cores: the times are no evidence of speed" in errors
    assert "2 ranks: oversubscribed" not in errors
    assert " 3* " in output and " 2* " not in output
    table = exchange_times.read(tmp_path / "out" / exchange_bench.TABLE)
    assert set(table.loc[table["oversubscribed"], "ranks"]) == {3}


def test_json(spikemark, program, tmp_path):
    program()
    status, output, _ = spikemark("--out", tmp_path / "out", "--ranks", 2, "--json")
    printed = json.loads(output)
    assert status == 0 and [c["exchange"] for c in printed["curves"]] == ["alltoall", "shared"]
    curve = printed["curves"][0]
    assert len(curve["bytes"]) == len(curve["exchange_s"]) == 10
    assert curve["fit"][0]["latency_s"]["value"] == pytest.approx(1e-6, rel=0.05)
    assert {r["window"] for r in curve["ratios"]} == {2, 5, 10}


def test_a_filtered_run_leaves_the_other_curves_in_the_table(spikemark, program, tmp_path):
    out = tmp_path / "out"
    program()
    spikemark("--out", out, "--ranks", "2")
    program(content(lines={"shared": (1e-6, 1e-9)}))
    status, output, _ = spikemark("--out", out, "--ranks", "2")
    assert status == 0 and "alltoall" not in output
    table = exchange_times.read(out / exchange_bench.TABLE)
    assert set(table["exchange"]) == {"alltoall", "shared"} and table["raw"].nunique() == 2


def test_without_targets_ranks_of_all_cores_are_measured():
    assert [exchange_bench.default_ranks(n) for n in (1, 2, 3, 6, 8)] == [
        [1],
        [1, 2],
        [1, 2, 3],
        [1, 2, 4, 6],
        [1, 2, 4, 8],
    ]


def test_what_finished_before_a_failure_is_kept(spikemark, program, tmp_path):
    program(action="if ranks == 2: sys.exit(4)")
    assert spikemark("--out", tmp_path / "out")[0] == 1
    assert set(exchange_times.read(tmp_path / "out" / exchange_bench.TABLE)["ranks"]) == {1}


def test_nothing_to_measure(spikemark, program, tmp_path):
    program(content(lines={}))
    status, _, errors = spikemark("--out", tmp_path / "out", "--ranks", 2)
    assert status == 1 and "no exchange gave a time" in errors and "serves at most 1 rank" in errors


def test_interrupted(spikemark, program, tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    program()
    monkeypatch.setattr(exchange_bench, "watch", interrupt)
    status, output, errors = spikemark("--out", tmp_path / "out")
    assert (status, output) == (130, "") and errors.startswith("spikemark: interrupted: ")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_real_program_speaks_this_language(tmp_path, monkeypatch):
    monkeypatch.delenv("SPIKEMARK_BENCH_EXCHANGE", raising=False)
    options = {"repetitions": 2, "min-time": 1e-4, "bytes": "4,40,400", "targets": "all,ring"}
    outcome = exchange_bench.bench(tmp_path, [1, 2], options)
    table = exchange_times.read(tmp_path / exchange_bench.TABLE)
    assert set(table["ranks"]) == {1, 2} and set(table["repetition"]) == {0, 1}
    assert {"alltoall", "alltoallv"} <= set(table["exchange"])
    assert set(table["exchange"]) == {row["exchange"] for row in exchange_table(outcome.table).rows}
    with pytest.raises(exchange_bench.BadInput, match='--bytes: "6"; allowed: multiples of 4'):
        exchange_bench.bench(tmp_path / "bad", [2], {"bytes": "6"})
    assert not (tmp_path / "bad").exists()
