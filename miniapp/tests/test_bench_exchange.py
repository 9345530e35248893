"""bench_exchange: what it measures, in which order, what it leaves out, and what it refuses."""

import itertools
import json
import math

import program
import pytest

pytestmark = pytest.mark.slow

BENCH = program.ROOT / "build" / "bench_exchange"
QUICK = ("--repetitions", 2, "--min-time", 1e-4)


def bench(*arguments, ranks=2):
    return program.start(*arguments, ranks=ranks, program=BENCH)


def measured(folder, *arguments, ranks=2):
    done = bench(*QUICK, *arguments, "--out", folder / "raw.json", ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert [p.name for p in folder.iterdir()] == ["raw.json"]
    return json.loads((folder / "raw.json").read_text())


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_exchange_is_measured_or_left_out_with_a_reason(tmp_path, ranks):
    raw = measured(tmp_path, "--bytes", "4,400", "--targets", "all,ring", "--skew-us", "0,10", ranks=ranks)
    assert (raw["kind"], raw["format_version"], raw["ranks"]) == ("exchange times", 1, ranks)
    assert raw["oversubscribed"] == (ranks > raw["host"]["cores"])
    assert raw["provenance"]["mpi_library"] and raw["provenance"]["started"].endswith("Z")
    assert 0 < raw["clock_read_s"] < 1e-3
    timed = {c["exchange"] for c in raw["cases"]}
    skipped = {s["exchange"] for s in raw["skipped"]}
    assert timed | skipped == set(program.registered()["exchange"]) and not timed & skipped
    assert all(s["reason"] and "lost data" not in s["reason"] for s in raw["skipped"])
    assert ("self" in timed) == (ranks == 1) and "alltoallv" in timed
    keys = [(c["exchange"], c["bytes"], c["targets"], c["skew_us"]) for c in raw["cases"]]
    assert sorted(keys) == sorted(itertools.product(timed, (4, 400), ("all", "ring"), (0, 10)))
    found = [(m["case"], m["repetition"]) for m in raw["measurements"]]
    assert sorted(found) == sorted(itertools.product(range(len(keys)), range(2)))
    for m in raw["measurements"]:
        assert m["rounds"] >= 1
        assert all(0 < m[t] < 10 for t in ("barrier_s", "exchange_s", "exchange_mean_s"))


def test_the_order_is_shuffled_within_repetitions_as_the_seed_says(tmp_path):
    def orders(name, seed):
        (tmp_path / name).mkdir()
        raw = measured(tmp_path / name, "--seed", seed, "--filter", "^alltoall", ranks=2)
        assert raw["seed"] == seed
        numbers = [m["case"] for m in raw["measurements"]]
        half = len(numbers) // 2
        assert [m["repetition"] for m in raw["measurements"]] == [0] * half + [1] * half
        return numbers[:half], numbers[half:]

    first, second = orders("one", 7)
    assert sorted(first) == sorted(second) != first != second
    assert orders("same", 7) == (first, second)
    assert orders("other", 8) != (first, second)


def test_targets_are_all_or_neighbours_or_a_fraction(tmp_path):
    names = ("all", "ring", "0.01", "0.5", "1")
    arguments = ("--bytes", 8, "--targets", ",".join(names), "--filter", "^(alltoallv|rma_doubling)$")
    raw = measured(tmp_path, *arguments, ranks=5)
    partners = {(c["exchange"], c["targets"]): c["partners"] for c in raw["cases"]}
    assert [partners["alltoallv", name] for name in names] == [4, 2, 1, 2, 4]
    if "rma_doubling" not in {s["exchange"] for s in raw["skipped"]}:  # a broadcast reaches all
        assert [partners["rma_doubling", name] for name in names] == [4] * len(names)


def test_skew_shows_in_the_barrier_and_not_in_the_exchange(tmp_path):
    arguments = ("--bytes", 4, "--skew-us", "0,20000", "--filter", "^alltoall$")
    raw = measured(tmp_path, *arguments, "--min-time", 0.2, "--repetitions", 3)
    barrier = [
        [m["barrier_s"] for m in raw["measurements"] if raw["cases"][m["case"]]["skew_us"] == skew]
        for skew in (0, 20000)
    ]
    assert max(min(b) for b in barrier) == min(barrier[1]) > 1e-3


def test_the_list_names_the_cases_and_says_what_is_left_out():
    done = bench("--list", "--bytes", 4, "--filter", "^self|^alltoall$")
    assert done.returncode == 0
    assert done.stdout == "alltoall/bytes:4/targets:all/skew_us:0\n"
    assert done.stderr == "self: left out: serves at most 1 rank(s)\n"


def test_by_default_a_size_has_its_double_fivefold_and_tenfold():
    done = bench("--list", "--filter", "^alltoall$", ranks=1)
    sizes = {int(line.split("bytes:")[1].split("/")[0]) for line in done.stdout.splitlines()}
    assert (min(sizes), max(sizes)) == (4, 65536)
    powers = [n for n in sizes if math.log2(n).is_integer()]
    assert len(powers) == 15
    assert {d * n for n in powers for d in (2, 5, 10) if d * n <= 65536} < sizes


def test_without_out_the_json_is_all_there_is_on_standard_output():
    done = bench(*QUICK, "--bytes", 4, "--filter", "^alltoall$")
    assert json.loads(done.stdout)["ranks"] == 2


BAD = {
    "bytes odd": (["--bytes", "6"], '--bytes: "6"; allowed: multiples of 4 from 4 to'),
    "bytes none": (["--bytes", ""], '--bytes: ""'),
    "bytes twice": (["--bytes", "4,8,4.0"], '--bytes: "4.0" twice; allowed: every value once'),
    "targets twice": (["--targets", "ring,all,ring"], '--targets: "ring" twice'),
    "skew twice": (["--skew-us", "0,5,0"], '--skew-us: "0" twice'),
    "bytes many": (["--bytes", ",".join(str(4 * i) for i in range(1, 67))], "--bytes: more than 64 values"),
    "bytes huge": (["--bytes", "4,999999999999"], '--bytes: "999999999999"'),
    "targets": (["--targets", "all,most"], '--targets: "most"; allowed: all, ring, or a fraction'),
    "targets none": (["--targets", "0"], '--targets: "0"'),
    "targets long": (["--targets", "0.0000000000000001"], "--targets"),
    "skew": (["--skew-us", "-1"], '--skew-us: "-1"'),
    "skew nan": (["--skew-us", "nan"], '--skew-us: "nan"'),
    "repetitions": (["--repetitions", "0"], '--repetitions: "0"; allowed: an integer from 1'),
    "half": (["--repetitions", "1.5"], '--repetitions: "1.5"'),
    "min time": (["--min-time", "0"], '--min-time: "0"; allowed: seconds'),
    "seed": (["--seed", "-1"], '--seed: "-1"'),
    "filter": (["--filter", "pigeon"], '--filter: "pigeon" matches no exchange'),
    "expression": (["--filter", "("], '--filter: "("; allowed: a regular expression'),
    "no value": (["--bytes"], "--bytes: no value follows"),
    "unknown": (["--fast"], "--fast: unexpected"),
    "out": (
        ["--out", "/nowhere/raw.json"],
        '--out: "/nowhere/raw.json"; allowed: a file that can be written',
    ),
}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_and_status_2(case, ranks):
    arguments, message = BAD[case]
    done = bench(*arguments, ranks=ranks)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("bench_exchange: ") and message in line
