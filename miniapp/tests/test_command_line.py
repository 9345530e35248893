"""--list, --explain and --out: true of what runs."""

import json
import os
import re
import signal
import subprocess

import numpy as np
import program
import pytest

pytestmark = pytest.mark.slow

OUTSIDE = program.sets(
    network__populations__0__external={"rate_hz": 3, "synapses": 400, "weight": 0.5},
    network__projections__0__indegree={"mean": 40.5},
)
FINE = program.sets(network__projections__0__weight=1.2345678, network__projections__1__weight=-0.1)


def printed(*arguments, **how):
    done = program.start(*arguments, **how)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def listed():
    return printed("--list")


def test_the_list_has_each_name_once_and_schedules_as_lanes(listed):
    for section in program.SECTIONS:
        names = [member["name"] for member in listed[section]]
        assert names == list(dict.fromkeys(names)) != []
    assert set(listed) == {"kind", "format_version", "fields", *program.SECTIONS}
    schedules = {schedule["name"]: schedule for schedule in listed["schedules"]}
    assert schedules["overlapped"]["lanes"] == [
        {"name": "near", "group": "area", "period": 1, "lag": 0},
        {"name": "far", "group": "world", "period": "D", "lag": "lag"},
    ]
    hierarchical = [(lane["group"], lane["period"]) for lane in schedules["hierarchical"]["lanes"]]
    assert hierarchical == [("area", 1), ("square", "auto"), ("world", "D")]


def test_a_record_with_any_listed_file_is_replaced_and_nothing_else(listed, tmp_path):
    out, short = tmp_path / "deep" / "run", program.sets(time__simulate_ms=1)
    program.record_of(out, *short)
    (tmp_path / "deep" / "run.partial").mkdir()
    for file in listed["run_files"]:
        if file["writer"] != "miniapp":
            (out / file["name"]).write_text("{}")
    record = program.record_of(f"{out}/", *short, *program.sets(seed=2))
    assert record["description"]["seed"] == 2
    assert {path.name for path in out.iterdir()} == {
        "activity.npy",
        "cycles.npy",
        "ranks.csv",
        "record.json",
        "spikes.npy",
    }
    program.record_of(out, *short, *program.sets(record__cycles=False, record__spikes=False))
    assert {path.name for path in out.iterdir()} == {"ranks.csv", "record.json"}
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"run", "run.partial"}


@pytest.mark.parametrize("more", [[], OUTSIDE, FINE], ids=["plain", "outside", "fine"])
def test_what_is_explained_is_what_runs(more, listed, tmp_path):
    for schedule in (one["name"] for one in listed["schedules"]):
        arguments = [*program.sets(schedule=schedule, time__simulate_ms=10), *more]
        told = printed("--explain", program.EXAMPLE, "--ranks", 2, "--threads", 2, *arguments)
        record = program.record_of(tmp_path / schedule, *arguments, ranks=2, threads=2)
        sent = sum(lane["spikes_sent"] for lane in record["lanes"])
        assert record["totals"]["first_accesses"] <= record["totals"]["lookups"] <= 2 * sent
        for lane, ran in zip(told["lanes"], record["lanes"], strict=True):
            assert lane["synapses"] == pytest.approx(ran["synapses"], rel=0.02)
            same = set(lane) - {"synapses"}
            assert {key: lane[key] for key in same} == {key: ran[key] for key in same}
        assert told["time"]["cycles"] == record["timing"]["cycles"]
        ranks = program.rows(tmp_path / schedule)
        assert [rank["neurons"] for rank in told["per_rank"]] == [
            int(rank["neurons"]) for rank in ranks
        ]
        parts = record["memory"]["parts"]
        for part in ("neurons", "ring", "synapses", "lists", "routes"):
            explained = sum(rank["memory_parts"][part] for rank in told["per_rank"])
            assert explained == pytest.approx(parts[part], rel=0.02), (schedule, part)
        in_all = sum(rank["memory_bytes"] for rank in told["per_rank"])
        assert in_all == pytest.approx(sum(parts.values()) - parts["log"], rel=0.1)


def test_numbers_are_told_in_the_fewest_digits_that_read_back_the_same():
    """Words keep their digits, whatever stands beside them."""
    name = 'a"0.10000000000000001\\'
    lanes = [{"name": name, "group": "world", "period": 1}]
    fine = program.sets(schedule=lanes, time__cycle_ms=0.1)
    for arguments in (["--list"], ["--explain", program.EXAMPLE, *fine]):
        text = program.start(*arguments).stdout
        told = json.loads(text)
        without_words = re.sub(r'"(\\.|[^"\\])*"', "", text)
        numbers = re.findall(r"-?\d+\.?\d*(?:e[-+]?\d+)?", without_words)
        longer = [number for number in numbers if len(number) > 1 + len(repr(float(number)))]
        assert numbers and longer == []
    assert told["time"]["cycle_ms"] == 0.1
    assert [lane["name"] for lane in told["lanes"]] == [name]


def test_the_ring_is_told_exactly():
    told = {
        name: printed("--explain", program.EXAMPLE, *more)["input"]
        for name, more in (("plain", []), ("outside", OUTSIDE), ("fine", FINE))
    }
    assert told["plain"]["ring"] == {"slots": 21, "bits": 16, "unit": 1}
    assert told["outside"]["ring"]["unit"] == 0.5
    assert told["outside"]["external_events_per_s"] == pytest.approx(1.2e6)
    assert told["fine"]["ring"]["bits"] == 32
    assert told["fine"]["ring"]["unit"].hex().startswith("0x1.0000000000000p-")  # a power of two


def test_explain_takes_the_threads_that_mpirun_would_leave():
    def threads(*how):
        return printed("--explain", program.EXAMPLE, *how, threads=4)["threads"]

    assert (threads(), threads("--ranks", 2), threads("--ranks", 2, "--threads", 3)) == (4, 2, 3)


def test_progress_counts_the_cycles(tmp_path):
    record = program.record_of(tmp_path / "run", "--progress", tmp_path / "progress", ranks=2)
    done, cycles = np.fromfile(tmp_path / "progress", dtype="u4")
    time = record["description"]["time"]
    assert (
        done == cycles == record["timing"]["cycles"] + round(time["warmup_ms"] / time["cycle_ms"])
    )


#: Command lines whose words mean nothing together, and the word that the line names.
REFUSED = {
    "--list --set a=b": "--set",
    "--list --out x": "--out",
    "--list run.json": "run.json",
    "--version run.json": "run.json",
    "--version --set a=b": "--set",
    "--version --json": "--json",
    "--explain run.json --out x": "--out",
    "--explain run.json --progress x": "--progress",
    "run.json --out x --ranks 2": "--ranks",
    "run.json --out x --json": "--json",
    "--list --explain run.json": "--explain",
    "--explain run.json --list": "--list",
    "--version --list": "--list",
    "run.json --out --explain": "--out",
    "run.json --out x --set --progress": "--set",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_means_nothing_is_refused(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.json").write_bytes(program.EXAMPLE.read_bytes())
    done = program.start(*words.split())
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith(f"miniapp: {REFUSED[words]}: ")
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["run.json"]


def test_help_answers_beside_anything():
    told = program.start("--help")
    assert told.returncode == 0
    for words in ("--list --help", "-h --explain", "run.json --out x --help"):
        done = program.start(*words.split())
        assert (done.returncode, done.stdout) == (0, told.stdout)


@pytest.mark.parametrize("words", ["--list", f"--explain {program.EXAMPLE}", "--help", "--version"])
def test_output_that_cannot_be_written_is_no_success(words):
    command, environment = [str(program.MINIAPP), *words.split()], os.environ | program.ENVIRONMENT
    how = {"env": environment, "stderr": subprocess.PIPE, "text": True}
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, **how)
    assert (done.returncode, done.stderr) == (
        1,
        "miniapp: standard output: No space left on device\n",
    )
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", *command], **how)
    assert (done.returncode, done.stderr) == (1, "miniapp: standard output: closed\n")
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, stdout=writing, **how)
    os.close(writing)
    assert done.returncode == -signal.SIGPIPE


def test_a_byte_order_mark_is_skipped_and_what_is_no_file_is_not_opened(tmp_path):
    text = program.EXAMPLE.read_bytes()
    (tmp_path / "mark.json").write_bytes(b"\xef\xbb\xbf" + text)
    assert printed("--explain", tmp_path / "mark.json") == printed("--explain", program.EXAMPLE)
    for path in ("/dev/stdin", "/dev/fd/0"):
        done = subprocess.run(
            [program.MINIAPP, "--explain", path],
            env=os.environ | program.ENVIRONMENT | {"OMP_NUM_THREADS": "1"},
            input=text,
            capture_output=True,
        )
        assert json.loads(done.stdout) == printed("--explain", program.EXAMPLE)

    others = {"FIFO": tmp_path / "fifo", "device": tmp_path / "zero", "folder": tmp_path}
    os.mkfifo(others["FIFO"])
    others["device"].symlink_to("/dev/zero")
    others["UTF-16"], others["bytes"] = tmp_path / "utf-16.json", tmp_path / "long.json"
    others["UTF-16"].write_bytes(text.decode().encode("utf-16"))
    with open(others["bytes"], "wb") as sparse:
        sparse.truncate(2**41)
    for kind, path in others.items():
        done = program.start("--explain", path)
        assert done.returncode == 2 and kind in done.stderr and done.stderr.count("\n") == 1, (
            done.stderr
        )


@pytest.mark.parametrize(("mean_us", "said"), [(0, True), (1000, False)])
def test_waits_that_are_cut_are_said_once(mean_us, said, tmp_path):
    """With a mean of 0, some of four ranks draw a mean wait below it, whatever the seed of this
    network.
    """
    given = {"inject__rank_sd_us": 20, "inject__mean_us": mean_us, "time__simulate_ms": 2}
    given |= {"schedule": "conventional", "placement": "round_robin", "time__warmup_ms": 0}
    words = program.sets(**given, inject__wait="sleep")
    done = program.start(program.EXAMPLE, "--out", tmp_path / "out", *words, ranks=4)
    assert done.returncode == 0
    assert done.stderr.count("inject.rank_sd_us: ") == said
