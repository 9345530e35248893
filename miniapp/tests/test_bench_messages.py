"""bench_messages: what it measures, and what it refuses."""

import itertools
import json
import platform

import program
import pytest

pytestmark = pytest.mark.slow

BENCH = program.ROOT / "build" / "bench_messages"
SIZES = (0, 4, 64, 512, 4096, 32768, 1 << 18, 1 << 20, 1 << 21, 1 << 22)


def bench(*arguments, ranks=2):
    return program.start(*arguments, ranks=ranks, program=BENCH)


@pytest.mark.parametrize("ranks", [2, 3])
def test_one_message_of_each_size_and_several_empty_ones(ranks):
    done = bench("--repetitions", 2, "--min-time", 1e-4, ranks=ranks)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert (content["kind"], content["format_version"], content["ranks"]) == ("message times", 1, ranks)
    cases = [*((size, 1) for size in SIZES), (0, 4), (0, 16), (0, 64)]
    found = [(m["repetition"], (m["bytes"], m["messages"])) for m in content["measurements"]]
    assert found == list(itertools.product(range(2), cases))
    assert all(m["rounds"] >= 1 and 0 < m["round_s"] < 10 for m in content["measurements"])


def measured(*arguments, ranks, **environment):
    done = program.start(
        "--repetitions", 1, "--min-time", 1e-4, *arguments, ranks=ranks, program=BENCH, **environment
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5])
def test_every_pair_once_and_one_at_a_time(ranks):
    content = measured("--pairs", 10_000, ranks=ranks)
    found = [tuple(m["pair"]) for m in content["measurements"] if (m["bytes"], m["messages"]) == (0, 1)]
    assert sorted(found) == list(itertools.combinations(range(ranks), 2))
    assert {m["at_once"] for m in content["measurements"]} == {1}
    assert content["nodes"] == [platform.node()] * ranks and content["eager_bytes"] is None


def test_a_sample_of_pairs_begins_with_the_ends_and_names_many_ranks():
    content = measured("--pairs", 3, ranks=6)
    pairs = list(dict.fromkeys(tuple(m["pair"]) for m in content["measurements"]))
    assert len(pairs) == 3 and (0, 5) in pairs and len({rank for pair in pairs for rank in pair}) >= 4


@pytest.mark.parametrize("ranks", [4, 5])
def test_halves_send_alone_and_all_at_once(ranks):
    content = measured("--bisection", ranks=ranks)
    large = [m for m in content["measurements"] if m["pair"] != [0, ranks - 1]]
    partners = [(0, ranks - 2), (1, ranks - 1)]
    for size in (1 << 20, 1 << 22):
        found = sorted((tuple(m["pair"]), m["at_once"]) for m in large if m["bytes"] == size)
        assert found == sorted(itertools.product(partners, (1, 2)))


@pytest.mark.parametrize("limit", [8192, 65536])
def test_the_eager_limit_is_the_one_that_the_library_was_given(limit):
    settings = {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_eager_limit": str(limit)}
    found = measured("--eager", ranks=2, **settings)["eager_bytes"]
    assert limit - 128 <= found <= limit  # the limit holds the header


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--repetitions", "0"), "--repetitions: allowed: an integer from 1 to 10000"),
        (("--min-time", "x"), "--min-time: allowed: seconds from 0.000001 to 10000"),
        (("--min-time",), "--min-time: allowed: seconds from 0.000001 to 10000"),
        (("--pairs", "0"), "--pairs: allowed: an integer from 1 to 10000"),
        (("--bytes", "4"), "unknown option; see bench_messages --help"),
    ],
)
def test_bad_input_is_one_line(arguments, complaint):
    done = bench(*arguments)
    assert done.returncode == 2 and f"bench_messages: {complaint}\n" in done.stderr and not done.stdout


def test_one_rank_has_nobody_to_send_to():
    done = bench(ranks=1)
    assert done.returncode == 2 and "bench_messages: one rank; messages need at least 2\n" in done.stderr
