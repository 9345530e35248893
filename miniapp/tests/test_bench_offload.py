"""bench_offload: target regions do what plain loops do, here on the host, of which no times are shown."""

import json
import os
import shutil
import subprocess

import program
import pytest

SOURCE = program.ROOT / "miniapp" / "bench" / "bench_offload.c"
TIMES = ("t_next_ns", "update_ns", "step_us", "transfer_latency_us", "transfer_bandwidth_gb_s")


def compiled(source, folder):
    """The program without code for accelerators, as any compiler with OpenMP makes it."""
    made = folder / "bench_offload"
    compiler = shutil.which(os.environ.get("CC", "cc")) or "gcc"
    command = [
        compiler,
        "-std=c17",
        "-O2",
        "-fopenmp",
        "-ffp-contract=off",
        str(source),
        "-o",
        str(made),
        "-lm",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    made = compiled(SOURCE, tmp_path_factory.mktemp("offload"))

    def run(*arguments, threads=1):
        environment = os.environ | {"OMP_NUM_THREADS": str(threads), "OMP_TARGET_OFFLOAD": "disabled"}
        words = [str(made), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60)

    return run


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("neurons", "indegree", "spikes"), [(1, 1, 1), (1000, 30, 5), (37, 500, 40), (5000, 100, 200)]
)
def test_target_regions_agree_with_plain_loops(bench, neurons, indegree, spikes, threads):
    done = bench("--neurons", neurons, "--indegree", indegree, "--spikes", spikes, threads=threads)
    assert done.returncode == 0 and not done.stderr
    content = json.loads(done.stdout)
    assert content["equal"] is True and (content["kind"], content["format_version"]) == ("offload", 1)
    assert (content["neurons"], content["indegree"], content["spikes"]) == (neurons, indegree, spikes)


def test_times_of_a_host_are_null_with_a_reason(bench):
    content = json.loads(bench("--neurons", 100, "--indegree", 10).stdout)
    assert content["on"] == "host" and "host" in content["reason"]
    assert all(content[name] is None for name in TIMES)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("+= added;", "+= added + 1;"),
        ("        ring[first + i] = 0;\n", ""),
        ("advanced(potential[i], ring[first + i])", "advanced(potential[i], ring[i])"),
    ],
)
def test_a_wrong_target_region_is_found(right, wrong, tmp_path):
    text = SOURCE.read_text(encoding="utf-8")
    assert text.count(right) == 1
    (tmp_path / "wrong.c").write_text(text.replace(right, wrong), encoding="utf-8")
    done = subprocess.run([compiled(tmp_path / "wrong.c", tmp_path), "--neurons", "500", "--indegree", "50"],
                          capture_output=True, text=True, timeout=60)  # fmt: skip
    assert done.returncode == 1 and json.loads(done.stdout)["equal"] is False


@pytest.mark.parametrize(
    "arguments",
    [
        ("--neurons", 0), ("--neurons", -3), ("--indegree", 1.5), ("--spikes", "many"), ("--steps",),
        ("--devices", 1), ("--repetitions", 2000), ("--neurons", 1e9), ("--steps", "nan"),
    ],
)  # fmt: skip
def test_bad_options_are_refused_in_one_line(bench, arguments):
    done = bench(*arguments)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"bench_offload: {arguments[0]}") and "allowed: --neurons" in done.stderr
