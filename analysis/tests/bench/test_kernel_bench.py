"""`spikemark bench`: what it runs, keeps, prints and refuses."""

import json
from functools import partial

import pandas as pd
import pytest
from fake_bench import calls, entry, write_program

from spikemark.bench import kernel_bench, kernels
from spikemark.core import places

ENTRIES = [
    entry(kernels.BOUND, 8, 2.0),
    entry(kernels.DELIVER, 8, 3.0),
    entry("update_ignore_and_fire", 256, 0.25, unit="ns"),
]
FAILED = {**entry("collocate", 8, 1.0), "error_occurred": True, "error_message": "no memory"}


@pytest.fixture
def spikemark(spikemark):
    """The command of these tests: (status, output, errors)."""
    return partial(spikemark, "bench")


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Puts a program that gives some entries in place; returns its folder."""

    def put(*entries, **options):
        path = write_program(tmp_path, *entries, **options)
        monkeypatch.setenv("SPIKEMARK_BENCH_KERNELS", str(path))
        return tmp_path

    return put


def test_measures_interleaved_and_keeps_the_raw_repetitions(spikemark, program, tmp_path):
    out = tmp_path / "out"
    folder = program(*ENTRIES, *ENTRIES)
    status, output, errors = spikemark("--out", out, "--repetitions", 2, "--min-time", 0.5)
    assert (status, errors) == (0, "")
    options = calls(folder)[-1]
    assert options["enable_random_interleaving"] == "true" and options["report_aggregates_only"] == "false"
    assert (options["repetitions"], options["min_time"]) == ("2", "0.5")
    (raw,) = out.glob("kernels-*.json")
    assert json.loads(raw.read_text()) == json.loads((folder / "content.json").read_text())
    table = kernels.read(out / kernel_bench.TABLE)
    assert set(table["raw"]) == {raw.name} and set(table["repetitions"]) == {2}
    assert sorted(p.name for p in out.glob("[!.]*")) == sorted([raw.name, kernel_bench.TABLE])
    rows = cells(output)
    assert ["deliver", "synapse", "8", "3.00", "3.00"] in rows
    assert ["8", "3.00", "2.00", "1.50"] in rows  # the multiple of the bound
    assert output.splitlines()[-1] == str(raw)


def cells(output: str) -> list[list[str]]:
    """The rows of the tables on a terminal."""
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in output.splitlines() if "│" in line]


def test_json(spikemark, program, tmp_path):
    program(*ENTRIES)
    status, output, errors = spikemark("--out", tmp_path / "out", "--json")
    assert (status, errors) == (0, "")
    printed = json.loads(output)
    assert [row["kernel"] for row in printed["kernels"]] == [
        kernels.BOUND,
        kernels.DELIVER,
        "update_ignore_and_fire",
    ]
    assert printed["ratios"] == [
        {"size": 8, "deliver_ns": pytest.approx(3), "bound_ns": pytest.approx(2), "ratio": pytest.approx(1.5)}
    ]
    assert printed["dropped"] == printed["notes"] == []


def test_a_filtered_run_leaves_the_other_kernels_in_the_table(spikemark, program, tmp_path):
    out = tmp_path / "out"
    program(*ENTRIES)
    spikemark("--out", out)
    before = pd.read_parquet(out / kernel_bench.TABLE)
    status, output, _ = spikemark("--out", out, "--filter", "^update")
    assert status == 0 and "deliver" not in output and "multiple" not in output
    after = pd.read_parquet(out / kernel_bench.TABLE)
    assert after[["kernel", "size"]].equals(before[["kernel", "size"]])
    assert after["raw"].nunique() == len(list(out.glob("kernels-*.json"))) == 2


def test_what_failed_is_named_and_the_rest_kept(spikemark, program, tmp_path):
    program(*ENTRIES, FAILED)
    status, output, errors = spikemark("--out", tmp_path / "out")
    assert status == 1
    assert errors == "collocate/size:8: 1 repetition dropped: no memory\n"
    assert "collocate" not in output and len(kernels.read(tmp_path / "out" / kernel_bench.TABLE)) == 3


def test_missing_kernels_are_no_ratios(spikemark, program, tmp_path):
    program(entry("random", 1, 2.0))
    status, output, _ = spikemark("--out", tmp_path / "out")
    assert status == 0 and "random" in output and "multiple" not in output


def test_nothing_but_failures(spikemark, program, tmp_path):
    program(FAILED)
    status, output, errors = spikemark("--out", tmp_path / "out")
    assert (status, output) == (1, "")
    (line,) = errors.splitlines()
    assert "no kernel gave a time" in line and "no memory" in line
    assert not (tmp_path / "out" / kernel_bench.TABLE).exists()


def test_a_busy_machine_is_said(spikemark, program, tmp_path):
    program(*(entry("random", n, 2.0, 3.0) for n in (1, 2, 3)))
    status, _, errors = spikemark("--out", tmp_path / "out")
    assert status == 0 and "the machine was busy" in errors and "1.50 times" in errors


def test_interrupted(spikemark, program, tmp_path):
    program(*ENTRIES, action="import os, signal, time; os.kill(os.getppid(), signal.SIGINT); time.sleep(60)")
    status, output, errors = spikemark("--out", tmp_path / "out")
    assert (status, output, errors) == (130, "", "spikemark: interrupted: nothing was kept\n")
    assert not (tmp_path / "out").exists()


def test_results_lie_in_the_folder_of_the_machine(program, monkeypatch, tmp_path, spikemark):
    program(*ENTRIES)
    monkeypatch.setattr(places, "root", lambda: tmp_path)
    assert spikemark()[0] == 0
    assert (tmp_path / "results" / "bench" / places.machine_name() / kernel_bench.TABLE).is_file()


def test_out_that_cannot_be_a_folder_is_refused_before_measuring(spikemark, program, tmp_path):
    folder = program(*ENTRIES)
    (tmp_path / "file").touch()
    status, _, errors = spikemark("--out", tmp_path / "file")
    assert status == 2 and str(tmp_path / "file") in errors and len(errors.splitlines()) == 1
    assert [call for call in calls(folder) if "out" in call] == []


def test_the_real_program_speaks_this_language(tmp_path):
    outcome = kernel_bench.bench(
        tmp_path, repetitions=2, pattern="random|update_|ring_take", min_time_s=0.001
    )
    assert outcome.dropped == []
    assert set(outcome.table["repetitions"]) == {2}
    assert {"random", "ring_take"} < set(outcome.table["kernel"])
    assert set(outcome.table["item"]) == {"synapse", "neuron step"}
