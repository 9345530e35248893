"""bench_messages: what it measures, and what it refuses."""

import itertools
import json

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


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--repetitions", "0"), "--repetitions: allowed: an integer from 1 to 10000"),
        (("--min-time", "x"), "--min-time: allowed: seconds from 0.000001 to 10000"),
        (("--min-time",), "--min-time: allowed: seconds from 0.000001 to 10000"),
        (("--bytes", "4"), "unknown option; see bench_messages --help"),
    ],
)
def test_bad_input_is_one_line(arguments, complaint):
    done = bench(*arguments)
    assert done.returncode == 2 and f"bench_messages: {complaint}\n" in done.stderr and not done.stdout


def test_one_rank_has_nobody_to_send_to():
    done = bench(ranks=1)
    assert done.returncode == 2 and "bench_messages: one rank; messages need at least 2\n" in done.stderr
