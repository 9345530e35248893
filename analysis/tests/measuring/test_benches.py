"""`spikemark bench`, of kernels and of exchanges: what is measured, kept, shown and refused."""

import json

import fake_bench
import fake_exchanges
import pandas as pd
import pytest

from spikemark import launch
from spikemark.core.errors import BadInput
from spikemark.core.lock import locked
from spikemark.measuring import exchanges, kernel_rounds, kernels

pytestmark = pytest.mark.slow

ENTRIES = [
    fake_bench.entry(kernels.BOUND, 8, 2.0),
    *(fake_bench.entry(kernels.DELIVER, 8, ns, ns * 1.5) for ns in (3.0, 4.0, 5.0)),
    fake_bench.entry(kernels.REFERENCE, 8, 12.0, 15.0),
    fake_bench.entry("update_ignore_and_fire", 256, 0.25, unit="ns"),
    fake_bench.entry("triad", 64, 0.5, options="/real_time"),
]
PROGRAMS = {
    "kernels": (
        "BENCH_KERNELS",
        [],
        lambda at, act: fake_bench.write_program(at, *ENTRIES, action=act),
    ),
    "exchanges": (
        "BENCH_EXCHANGE",
        ["--exchange"],
        lambda at, act: fake_exchanges.write_program(at, fake_exchanges.content(), action=act),
    ),
}


@pytest.fixture
def run(spikemark, tmp_path, monkeypatch):
    """Runs a bench on two cores with a stand-in that does `action` first: (status, output,
    errors).
    """

    def run(which, *arguments, action=""):
        variable, options, put = PROGRAMS[which]
        monkeypatch.setenv(f"SPIKEMARK_{variable}", str(put(tmp_path, action)))
        monkeypatch.setattr(launch, "available_cores", lambda: 2)
        return spikemark("bench", *options, "--out", tmp_path / "out", *arguments)

    return run


def test_kernels_have_medians_and_delivery_its_bound(run, tmp_path):
    status, output, _ = run("kernels", "--json")
    content = json.loads(output)
    rows = {(row["kernel"], row["size"]): row for row in content["kernels"]}
    assert status == 0 and [*rows][:2] == [(kernels.BOUND, 8), (kernels.DELIVER, 8)]
    deliver = rows[kernels.DELIVER, 8]
    assert (deliver["q1_ns"], deliver["median_ns"], deliver["q3_ns"]) == pytest.approx(
        (3.5, 4, 4.5)
    )
    assert deliver["item"] == "synapse" and deliver["repetitions"] == 3
    assert content["ratios"] == [{"size": 8, "ratio": pytest.approx(2)}]
    assert content["reference_ratios"] == [{"size": 8, "ratio": pytest.approx(3)}]
    assert content["slowdown"] == pytest.approx(1.25)  # median of 1, 1, 1, 1.25, 1.5, 1.5, 1.5
    assert json.loads((tmp_path / "out" / content["raw"].split("/")[-1]).read_text())["benchmarks"]


def test_what_gives_no_time_is_dropped_with_its_reason():
    bad = [
        fake_bench.entry("a", 1, 1.0) | {"error_occurred": True, "error_message": "no memory"},
        fake_bench.entry("b", 1, 1.0) | {"items_per_second": 0},
        fake_bench.entry("c", 1, 1.0) | {"run_name": "c"},
        fake_bench.entry("d", 1, 1.0) | {"cpu_time": 0},
    ]
    rows, dropped = kernels.repetitions(fake_bench.content(*bad, fake_bench.entry("good", 1, 1.0)))
    assert list(rows["kernel"]) == ["good"] and len(dropped) == 4 and "no memory" in dropped[0]


def test_exchanges_are_measured_for_each_number_of_ranks_and_kept(run, tmp_path):
    status, output, _ = run("exchanges", "--json", "--ranks", "1,2,3", "--bytes", "4,8")
    content = json.loads(output)
    assert status == 0 and {curve["ranks"] for curve in content["curves"]} == {1, 2, 3}
    assert [ranks for ranks, _ in fake_exchanges.calls(tmp_path)] == [1, 2, 3]
    assert all(options["--bytes"] == "4,8" for _, options in fake_exchanges.calls(tmp_path))
    assert {c["ranks"] for c in content["curves"] if c["oversubscribed"]} == {3}
    latency, per_byte = fake_exchanges.LINES["alltoall"]
    (curve,) = [c for c in content["curves"] if c["exchange"] == "alltoall" and c["ranks"] == 2]
    assert curve["latency_s"] == pytest.approx(latency, rel=0.05)
    assert curve["seconds_per_byte"] == pytest.approx(per_byte, rel=0.05)
    path = tmp_path / "out" / exchanges.FILE
    before = exchanges.read_exchange_times(path)
    assert run("exchanges", "--ranks", "2")[0] == 0
    pd.testing.assert_frame_equal(
        exchanges.read_exchange_times(path), before
    )  # the same times in place of the old ones


def test_what_finished_before_a_failure_is_kept(run, tmp_path):
    assert run("exchanges", action="if ranks == 2: sys.exit(4)")[0] == 1
    assert set(exchanges.read_exchange_times(tmp_path / "out" / exchanges.FILE)["ranks"]) == {1}


@pytest.mark.parametrize("which", PROGRAMS)
def test_two_at_once_would_lose_times_of_each_other(run, tmp_path, which):
    with locked(tmp_path / "out"):
        status, output, errors = run(which)
    assert (status, output, errors.count("\n")) == (2, "", 1) and str(tmp_path / "out") in errors


REFUSE = "print('bench_exchange: --bytes: \"6\"; allowed: multiples', file=sys.stderr); sys.exit(2)"
BAD = [
    ("kernels", ["--repetitions", 0], "repetitions"),
    ("kernels", ["--min-time", "nan"], "min-time"),
    ("kernels", ["--filter", "brain"], "filter"),
    ("exchanges", ["--ranks", "2,many"], "ranks"),
    ("exchanges", ["--ranks", "9999"], "ranks"),
    *(("kernels", [f"--{name}", "2"], name) for name in ("ranks", "ranks-per-node", "bytes")),
]


@pytest.mark.parametrize(("which", "arguments", "field"), BAD)
def test_bad_input_is_one_line_that_names_the_field(run, tmp_path, which, arguments, field):
    status, output, errors = run(which, *arguments)
    assert (status, output, errors.count("\n")) == (2, "", 1) and field in errors
    assert not (tmp_path / "out").exists()
    status, _, errors = run("exchanges", "--bytes", "6", "--ranks", 1, action=REFUSE)
    assert status == 2 and "bytes" in errors


@pytest.mark.parametrize(
    "spoil",
    [
        lambda t: t.drop(columns="bytes"),
        lambda t: t.assign(ranks="x"),
        lambda t: t.assign(exchange=None),
        lambda t: t.assign(mpi_library=[None, *t["mpi_library"][1:]]),
    ],
)
def test_a_spoiled_table_is_refused(tmp_path, spoil):
    path = tmp_path / "out" / exchanges.FILE
    with pytest.raises(BadInput, match=str(path)):
        exchanges.read_exchange_times(path)
    path.parent.mkdir()
    spoil(exchanges.repetitions(fake_exchanges.content())[0]).to_csv(path, index=False)
    with pytest.raises(BadInput, match=str(path)):
        exchanges.read_exchange_times(path)


def test_the_real_programs_speak_this_language(tmp_path):
    times = exchanges.bench(
        tmp_path, [2], {"repetitions": 2, "min-time": 1e-4, "bytes": "4,40,400"}
    )
    assert {"alltoall", "alltoallv"} <= set(times.table["exchange"])
    with pytest.raises(BadInput, match="bytes"):
        exchanges.bench(tmp_path, [2], {"bytes": "6"})
    listed = kernels.matching("build/bench_kernels", kernel_rounds.CALIBRATED)
    names = {name.split("/")[0] for name in listed}
    assert {
        kernel_rounds.DRAWN,
        kernel_rounds.EXTERNAL,
        "clock",
        "triad",
        "update_lif_exp",
    } <= names
