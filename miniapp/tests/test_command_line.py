"""--list, --explain, --out, and what bad input gets: one line, exit status 2, nothing half-written."""

import json
import re
import subprocess

import numpy as np
import program
import pytest

from spikemark.documents.faults.interposed import Fault

pytestmark = pytest.mark.slow


def test_list_names_what_is_registered():
    sections = program.registered()
    assert set(sections) == {"placement", "schedule", "wire", "exchange", "neuron model", "meter"}
    for names in sections.values():
        assert names
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("how", [("schedule", name) for name in program.registered()["schedule"]])
@pytest.mark.parametrize("ranks", [1, 2])
def test_explain_predicts_what_runs(how, ranks, tmp_path):
    arguments = program.sets(**{how[0]: how[1]})
    done = program.start("--explain", program.EXAMPLE, "--ranks", ranks, "--threads", 2, *arguments)
    assert done.returncode == 0, done.stderr
    assert "2000 neurons" in done.stdout
    assert "200000 synapses" in done.stdout
    record = program.record_of(tmp_path / "run", *arguments, ranks=ranks, threads=2)
    for lane in record["lanes"]:
        assert re.search(
            rf"lane +{lane['name']} .* {lane['exchange']} over {lane['ranks']} rank", done.stdout
        )
    parts = record["memory"]["parts"]
    predicted = float(re.search(r"([\d.]+) MiB in all", done.stdout)[1]) * 2**20
    assert predicted == pytest.approx(sum(parts.values()) - parts["log"], rel=0.1)


def test_explain_tells_the_input():
    population = "network__populations__0__"
    silent = program.start("--explain", program.EXAMPLE)
    assert "input      weights in units of 1, summed in 16 bits\n" in silent.stdout
    external = {f"{population}external": '{"rate_hz": 3, "synapses": 400, "weight": 0.5}'}
    done = program.start("--explain", program.EXAMPLE, *program.sets(**external))
    assert (
        "units of 0.5, summed in 16 bits, and 1.2e+06 events from outside per simulated second" in done.stdout
    )


def test_explain_does_not_run(tmp_path):
    before = set(tmp_path.iterdir())
    program.start("--explain", program.EXAMPLE)
    assert set(tmp_path.iterdir()) == before


BAD = {
    "unknown field": (["--set", "tiem.h=1"], "tiem: unknown field; allowed: format_version"),
    "unknown model": (["--set", "network.populations.0.neuron.model=lf"], "allowed: ignore_and_fire"),
    "unknown schedule": (["--set", "schedule=eager"], 'schedule: "eager"; allowed: conventional'),
    "unknown placement": (["--set", "placement=far"], 'placement: "far"; allowed: round_robin'),
    "unknown exchange": (["--set", "exchange=pigeon"], 'exchange: "pigeon"'),
    "unfit grid": (
        ["--set", 'exchange.far={"name": "multi_level", "dimensions": [3, 2]}'],
        "exchange.far.dimensions: [3,2]; allowed: 1 to 8 integers whose product is",
    ),
    "wrong type": (["--set", "seed=one"], 'seed: "one"; allowed: an integer'),
    "negative size": (["--set", "network.populations.1.size=-3"], "network.populations.1.size: -3"),
    "no sources": (
        ["--set", "network.populations.0.size=0"],
        "network.projections.0.indegree: 50; allowed: 0",
    ),
    "delay too short": (["--set", "time.cycle_ms=0.5"], "time.cycle_ms: 0.5; allowed: at most 0.1"),
    "D too long": (["--set", "delay_ratio=20"], "delay_ratio: 20; allowed: at most 10"),
    "odd D, overlapped": (
        ["--set", "schedule=overlapped", "--set", "delay_ratio=7"],
        "delay_ratio: 7; allowed: a multiple of 2",
    ),
    "no value": (["--set"], "--set: no value"),
    "unknown option": (["--fast"], "--fast: unexpected"),
}


@pytest.mark.parametrize("ranks", [None, 2])
@pytest.mark.parametrize("case", BAD)
def test_bad_input_gets_one_line_and_status_2(case, ranks, tmp_path):
    arguments, message = BAD[case]
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", *arguments, ranks=ranks)
    assert done.returncode == 2
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("miniapp: ")
    assert message in lines[0]
    assert list(tmp_path.iterdir()) == []


def refused(*arguments, **how):
    done = program.start(*arguments, **how)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_weights_too_far_apart_are_refused(tmp_path):
    """One is out of range by much; the others, too small beside it, say whose input it is."""
    weights = program.sets(network__projections__0__weight=1e9, network__projections__1__weight=0.5)
    message = refused(program.EXAMPLE, "--out", tmp_path / "run", *weights)
    assert "network.projections.1.weight: 0.5; allowed: 0 or at least" in message
    assert "(in population left), is summed in 32-bit fixed point" in message
    assert list(tmp_path.iterdir()) == []


def test_more_ranks_than_areas_are_refused(tmp_path):
    message = refused(program.EXAMPLE, "--out", tmp_path / "run", ranks=3)
    assert 'placement: "area" cannot deal 2 area(s) to 3 ranks; allowed: at most 2 ranks' in message


def test_truncated_and_missing_descriptions_are_refused(tmp_path):
    cut = tmp_path / "cut.json"
    cut.write_text(program.EXAMPLE.read_text()[:300])
    assert "cut.json:" in refused(cut, "--out", tmp_path / "run")
    assert "missing.json" in refused(tmp_path / "missing.json", "--out", tmp_path / "run")
    twice = tmp_path / "twice.json"
    twice.write_text('{"seed": 1, "seed": 2}')
    assert "duplicate" in refused(twice, "--out", tmp_path / "run")
    assert "--out: missing" in refused(program.EXAMPLE)
    assert "RUN.json: missing" in refused("--out", tmp_path / "run")


OCCUPIED = {
    "another file": lambda out: (out / "thesis.tex").write_text("42"),
    "a record and another file": lambda out: [
        (out / n).write_text("42") for n in ("record.json", "notes.txt")
    ],
    "a record and a folder": lambda out: [(out / "record.json").write_text("{}"), (out / "figures").mkdir()],
}


def tree(folder):
    return {str(f.relative_to(folder)): f.is_file() and f.read_bytes() for f in folder.rglob("*")}


@pytest.mark.parametrize("kind", OCCUPIED)
def test_a_directory_of_something_else_is_left_alone(kind, tmp_path):
    out = tmp_path / "precious"
    out.mkdir()
    OCCUPIED[kind](out)
    before = tree(tmp_path)
    assert "earlier run's record and nothing else" in refused(program.EXAMPLE, "--out", out)
    assert tree(tmp_path) == before


def test_links_and_dots_are_not_taken_for_directories(tmp_path):
    program.record_of(tmp_path / "run")
    (tmp_path / "link").symlink_to("run")
    before = tree(tmp_path)
    for out in (tmp_path / "link", f"{tmp_path}/run/.", f"{tmp_path}/run/..", "/", "", "."):
        assert "--out:" in refused(program.EXAMPLE, "--out", out)
    assert tree(tmp_path) == before


def test_a_path_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    assert "Not a directory" in refused(program.EXAMPLE, "--out", tmp_path / "file" / "run")
    assert "--out:" in refused(program.EXAMPLE, "--out", tmp_path / "file")
    assert "--out:" in refused(program.EXAMPLE, "--out", "/proc/run")
    assert "name too long" in refused(program.EXAMPLE, "--out", tmp_path / ("x" * 300))


def test_an_earlier_record_is_replaced_and_nothing_else_is_touched(tmp_path):
    out = tmp_path / "deep" / "run"
    first = program.record_of(out)
    (tmp_path / "deep" / "run.partial").mkdir()
    (tmp_path / "deep" / "run.partial" / "mine.txt").write_text("mine")
    second = program.record_of(f"{out}/", *program.sets(seed=2))
    assert first["checksum"] != second["checksum"]
    assert json.loads((out / "record.json").read_text())["description"]["seed"] == 2
    assert sorted(f.name for f in (tmp_path / "deep").iterdir()) == ["run", "run.partial"]
    assert (tmp_path / "deep" / "run.partial" / "mine.txt").read_text() == "mine"


def test_a_failed_run_leaves_the_earlier_record(tmp_path):
    program.record_of(tmp_path / "run")
    before = tree(tmp_path)
    refused(program.EXAMPLE, "--out", tmp_path / "run", "--set", "schedule=eager")
    refused(program.EXAMPLE, "--out", tmp_path / "run", ranks=3)
    assert tree(tmp_path) == before


THREADS = {
    "no number": ({"OMP_NUM_THREADS": "many"}, 'OMP_NUM_THREADS: "many"; allowed: an integer from 1 to 4096'),
    "none": ({"OMP_NUM_THREADS": "0"}, 'OMP_NUM_THREADS: "0"'),
    "too many": ({"OMP_NUM_THREADS": "100000"}, 'OMP_NUM_THREADS: "100000"'),
    "not granted": (
        {"OMP_NUM_THREADS": "3", "OMP_THREAD_LIMIT": "2"},
        "OMP_NUM_THREADS: 3; allowed: at most 2",
    ),
}


@pytest.mark.parametrize("case", THREADS)
@pytest.mark.parametrize("ranks", [None, 2])
def test_threads_that_cannot_be_had_are_refused(case, ranks, tmp_path):
    environment, message = THREADS[case]
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", ranks=ranks, **environment)
    assert done.returncode == 2
    lines = re.findall(r"miniapp: .*", done.stderr)  # libgomp's, of several ranks, may be mixed
    assert len(lines) == 1, done.stderr
    assert message in lines[0]
    assert list(tmp_path.iterdir()) == []


def test_a_network_larger_than_the_memory_is_refused(tmp_path):
    huge = program.sets(network__populations__0__size=2000000000)
    assert "allowed: at most its memory" in refused(program.EXAMPLE, "--out", tmp_path / "run", *huge)
    wide = program.sets(network__populations__0__size=3000, network__projections__0__delay__max=99999)
    place = "network: 4000 neurons per thread x 999991 delays, 32 bits, and 1 weights, 0 bits, do not fit"
    message = refused(program.EXAMPLE, "--out", tmp_path / "run", *wide)
    assert place in message and "32 in all" in message
    assert list(tmp_path.iterdir()) == []


ODD = {
    "deep": ("--set", ".".join("a" * 3000) + "=1"),
    "not UTF-8 in a value": ("--set", b"schedule=\xff"),
    "not UTF-8 in a name": ("--set", b"time.\xff.b=1"),
    "two lines": ("--set", "time.a\nb=1"),
    "no name": ("--set", "=5"),
}


@pytest.mark.parametrize("case", ODD)
def test_odd_assignments_are_refused_in_one_line(case, tmp_path):
    done = subprocess.run(
        [program.MINIAPP, program.EXAMPLE, "--out", tmp_path / "run", *ODD[case]], capture_output=True
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


def test_explain_takes_the_threads_that_mpirun_would_leave():
    def threads(*how):
        done = program.start("--explain", program.EXAMPLE, *how, threads=4)
        return int(re.search(r"x (\d+) thread", done.stdout)[1])

    assert threads() == 4
    assert threads("--ranks", 2) == 2
    assert threads("--ranks", 2, "--threads", 3) == 3
    assert refused("--explain", program.EXAMPLE, "--ranks", 65536, "--threads", 65536)


def test_help_and_version_name_the_formats_and_the_compiler():
    assert "FORMAT.md" in program.start("--help").stdout
    assert re.match(r"miniapp \d+\.\d+\.\d+, commit \w*, \w+", program.start("--version").stdout)


def test_progress_counts_the_cycles(tmp_path):
    program.record_of(tmp_path / "run", "--progress", tmp_path / "progress", ranks=2)
    done, cycles = np.fromfile(tmp_path / "progress", dtype="u4")
    record = json.loads((tmp_path / "run" / "record.json").read_text())
    time = record["description"]["time"]
    assert done == cycles == record["timing"]["cycles"] + round(time["warmup_ms"] / time["cycle_ms"])


def test_progress_on_a_full_disk_is_refused(tmp_path):
    path = tmp_path / "progress"
    full = Fault("ENOSPC", str(path), calls=("extend",)).environment()
    done = program.start(program.EXAMPLE, "--out", tmp_path / "run", "--progress", path, **full)
    why = "No space left on device; allowed: an ordinary file on a disk with room"
    assert (done.returncode, done.stderr) == (2, f"miniapp: --progress: {path}: {why}\n")
    assert list(tmp_path.iterdir()) == []


def test_progress_overwrites_nothing(tmp_path):
    letter = tmp_path / "letter"
    letter.write_text("dear")
    for path, why in (letter, "File exists"), (tmp_path / "no" / "file", "No such file"):
        done = program.start(program.EXAMPLE, "--out", tmp_path / "run", "--progress", path)
        assert done.returncode == 2
        assert (
            done.stderr
            == f"miniapp: --progress: {path}: {why}{' or directory' * ('No' in why)}; allowed: a new file\n"
        )
    assert letter.read_text() == "dear" and not (tmp_path / "run").exists()
    done = program.start(program.EXAMPLE, "--out", letter, "--progress", tmp_path / "progress")
    assert done.returncode == 2 and not (tmp_path / "progress").exists()
    done = program.start("--explain", program.EXAMPLE, "--progress", tmp_path / "p")
    assert (done.returncode, done.stderr) == (2, "miniapp: --progress: only with a run; see miniapp --help\n")
