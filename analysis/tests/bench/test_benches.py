"""What both benchmarks do alike: what they keep, what they refuse, and what a failure leaves behind."""

import os
from collections.abc import Callable
from dataclasses import dataclass

import fake_bench
import fake_exchanges
import pandas as pd
import pyarrow
import pytest

from spikemark.bench import exchange_times, kernels
from spikemark.bench.kept import Kept
from spikemark.core import launch, places
from spikemark.core.errors import BadInput
from spikemark.core.lock import locked

pytestmark = pytest.mark.slow

ENTRIES = [
    fake_bench.entry(kernels.BOUND, 8, 2.0),
    fake_bench.entry(kernels.DELIVER, 8, 3.0),
    fake_bench.entry("update_ignore_and_fire", 256, 0.25, unit="ns"),
]
CONTENT = fake_exchanges.content()


@dataclass(frozen=True)
class Bench:
    """`put` writes a stand-in for `program` to a folder; `table` is what is made of its output."""

    options: tuple
    program: str
    put: Callable
    kept: Kept
    table: pd.DataFrame


KERNELS = Bench(
    (), "bench_kernels", lambda folder, action: fake_bench.write_program(folder, *ENTRIES, action=action),
    kernels.KEPT, kernels.aggregate(kernels.repetitions(fake_bench.content(*ENTRIES))[0], "raw.json"),
)  # fmt: skip
EXCHANGES = Bench(
    ("--exchange",), "bench_exchange",
    lambda folder, action: fake_exchanges.write_program(folder, CONTENT, action=action),
    exchange_times.KEPT, exchange_times.repetitions(CONTENT, "raw.json")[0],
)  # fmt: skip
BOTH = pytest.mark.parametrize("bench", [KERNELS, EXCHANGES], ids=["kernels", "exchanges"])


@pytest.fixture
def run(spikemark, tmp_path, monkeypatch):
    """Runs a benchmark on two cores with a stand-in that does `action` first: (status, output, errors)."""

    def run(bench, *arguments, action=""):
        monkeypatch.setenv(f"SPIKEMARK_{bench.program.upper()}", str(bench.put(tmp_path, action)))
        monkeypatch.setattr(launch, "available_cores", lambda: 2)
        return spikemark("bench", *bench.options, "--out", tmp_path / "out", *arguments)

    return run


@BOTH
def test_two_at_once_would_lose_times_of_each_other(run, tmp_path, bench):
    """The table is read, changed and written: the second is refused before it measures."""
    with locked(tmp_path / "out"):
        status, output, errors = run(bench)
    assert (status, output) == (2, "")
    assert errors.startswith(f"spikemark: {tmp_path / 'out'}: ") and errors.count("\n") == 1
    assert " is running here since 2" in errors and f"(process {os.getpid()}); wait for it" in errors
    called = tmp_path / "called"
    assert not called.exists() or 'out"' not in called.read_text()  # it may list the kernels


@BOTH
def test_a_table_that_cannot_be_read_is_replaced(run, tmp_path, bench):
    path = tmp_path / "out" / f"{bench.kept.name}.parquet"
    path.parent.mkdir()
    path.write_text("spoiled")
    status, _, errors = run(bench)
    assert status == 0 and "replaced" in errors
    assert set(bench.kept.read(path)[bench.kept.keys[0]]) == set(bench.table[bench.kept.keys[0]])


FAILURES = [
    (KERNELS, "print('out of memory', file=sys.stderr); sys.exit(3)", ["exit status 3", "out of memory"]),
    (KERNELS, "sys.exit(4)", ["exit status 4 without a message"]),
    (KERNELS, "sys.exit(0)", ["no valid JSON", "not found"]),
    (KERNELS, "open(options['out'], 'w').write('{\"benchmarks\": ['); sys.exit(0)", ["no valid JSON"]),
    (KERNELS, "open(options['out'], 'w').write('{\"benchmarks\": [1]}'); sys.exit(0)", ["no valid JSON"]),
    (EXCHANGES, "print('bench_exchange: no memory', file=sys.stderr); sys.exit(1)", ["no memory"]),
    (EXCHANGES, "sys.exit(4)", ["exit status 4"]),
    (EXCHANGES, "sys.exit(0)", ["no valid JSON"]),
    (EXCHANGES, "open(options['--out'], 'w').write('{'); sys.exit(0)", ["no valid JSON"]),
    (EXCHANGES, "open(options['--out'], 'w').write('{}'); sys.exit(0)", ["kind is not"]),
]


@pytest.mark.parametrize(("bench", "action", "words"), FAILURES)
def test_a_program_that_fails_leaves_nothing_behind(run, tmp_path, bench, action, words):
    status, output, errors = run(bench, *(["--ranks", 1] if bench is EXCHANGES else []), action=action)
    assert (status, output) == (1, "")
    (line,) = errors.splitlines()
    assert line.startswith("bench failed: ") and [w for w in words if w not in line] == [], line
    assert not (tmp_path / "out").exists()


REFUSE = "print('bench_exchange: --bytes: \"6\"; allowed: multiples', file=sys.stderr); sys.exit(2)"
BAD = [
    (KERNELS, ["--repetitions", 0], "", ["repetitions=0"]),
    (KERNELS, ["--repetitions", "many"], "", ["--repetitions"]),
    (KERNELS, ["--min-time", 0], "", ["min_time=0"]),
    (KERNELS, ["--min-time", "nan"], "", ["min_time=nan"]),
    (KERNELS, ["--filter", "brain"], "", ["'brain'", "deliver_bound_prefetch", "update_ignore_and_fire"]),
    (KERNELS, ["--brain"], "", ["--brain"]),
    (EXCHANGES, ["--ranks", "2,many"], "", ["--ranks: 'many'; allowed: whole numbers from 1"]),
    (EXCHANGES, ["--ranks", "99999999"], "", ["--ranks: '99999999'; allowed: whole numbers"]),
    (EXCHANGES, ["--ranks", "0"], "", ["--ranks: '0'"]),
    (EXCHANGES, ["--bytes", "6", "--ranks", 1], REFUSE, ['--bytes: "6"; allowed: multiples']),
    (EXCHANGES, ["--brain"], "", ["--brain"]),
    *(
        (KERNELS, [n, "2"], "", [f"{n}: only with --exchange"])
        for n in ("--ranks", "--ranks-per-node", "--bytes", "--targets")
    ),
    (KERNELS, ["--skew-us", "2"], "", ["--skew-us: only with --exchange"]),
]


@pytest.mark.parametrize(("bench", "arguments", "action", "words"), BAD)
def test_bad_input_is_one_line_and_status_2(run, tmp_path, bench, arguments, action, words):
    status, output, errors = run(bench, *arguments, action=action)
    assert (status, output) == (2, "")
    (line,) = errors.splitlines()
    assert line.startswith("spikemark: ") and [w for w in words if w not in line] == [], line
    assert not (tmp_path / "out").exists()


@BOTH
def test_a_missing_program_says_how_to_build_it(spikemark, monkeypatch, tmp_path, bench):
    variable = f"SPIKEMARK_{bench.program.upper()}"
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(places, "root", lambda: tmp_path)
    status, _, errors = spikemark("bench", *bench.options)
    (line,) = errors.splitlines()
    assert status == 2 and f"{tmp_path}/build/{bench.program}" in line and "`make build`" in line
    monkeypatch.setenv(variable, str(tmp_path / "elsewhere"))
    assert f"{variable} must name" in spikemark("bench", *bench.options)[2]


@pytest.mark.parametrize(
    ("bench", "spoil"),
    [
        (KERNELS, lambda t: t.drop(columns="raw")),
        (KERNELS, lambda t: t.assign(median_ns=-1.0)),
        (KERNELS, lambda t: t.assign(q1_ns=99.0)),
        (EXCHANGES, lambda t: t.drop(columns="raw")),
        (EXCHANGES, lambda t: t.assign(exchange_s=-1.0)),
        (EXCHANGES, lambda t: pd.concat([t, t])),
    ],
)
def test_a_table_is_read_back_or_refused(tmp_path, monkeypatch, bench, spoil):
    path, kept = tmp_path / "times.parquet", bench.kept
    with pytest.raises(BadInput, match=rf"times\.parquet: not found: run `{kept.measured_by}`"):
        kept.read(path)
    bench.table.to_parquet(path, index=False)
    pd.testing.assert_frame_equal(kept.read(path), bench.table)
    spoil(bench.table).to_parquet(path, index=False)
    with pytest.raises(BadInput, match=rf"times\.parquet: not a table of {kept.name}"):
        kept.read(path)
    path.write_bytes(b"not parquet")
    with pytest.raises(BadInput, match=r"times\.parquet: not a Parquet file"):
        kept.read(path)

    def broken(_: object) -> None:
        raise pyarrow.ArrowKeyError("no such\nfield")  # a KeyError, not a ValueError

    monkeypatch.setattr(pd, "read_parquet", broken)
    with pytest.raises(BadInput, match=r"times\.parquet: not a Parquet file: .*no such field"):
        kept.read(path)
