"""Every format that is read, from files as its program writes them; the tests loop over the readers."""

import re
import sys
from pathlib import Path
from types import SimpleNamespace

import foreign_logs
import numpy as np
import pytest
from synthetic import compute_times

from spikemark.cli import completion
from spikemark.records import imported
from spikemark.records.imported import READERS, Sums

COMPUTE = compute_times(4, 200, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)
OPTIONS = {"table": {"unit": "s"}, "otf2": {"called": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}}}
SPIKED = {"nest", "structure-aware"}
TIMED = {"structure-aware", "otf2"}


def read(files, name, **more):
    return imported.read(files, **OPTIONS.get(name, {}) | more)


@pytest.mark.parametrize("name", READERS)
def test_what_a_program_wrote_is_recognised_and_read(tmp_path, name):
    files = foreign_logs.WRITERS[name](tmp_path, COMPUTE)
    assert name == imported.reader_of(files).NAME
    found = read(files[::-1], name)
    assert read(files, name, form=name) is not None
    if isinstance(found, Sums):
        assert found.reader == name
        return
    np.testing.assert_allclose(found.columns["compute"], COMPUTE, rtol=1e-4)
    communicate = foreign_logs.exchanged(COMPUTE)
    np.testing.assert_allclose(found.columns["communicate"], communicate, rtol=0.05, atol=2e-6)
    assert ("spikes" in found.columns, "wait" in found.columns) == (name in SPIKED, name in TIMED)
    if name in SPIKED:
        assert found.columns["spikes"][0, 8] == 1 and found.cycle_ms == foreign_logs.CYCLE_MS
    if name in TIMED:
        np.testing.assert_allclose(found.columns["wait"], communicate - 5e-5, atol=1e-8)
    assert found.missing == () and found.meets_every == 1


@pytest.mark.parametrize("name", READERS)
def test_the_command_reads_it_and_a_budget_follows(spikemark, tmp_path, name):
    files, out = foreign_logs.WRITERS[name](tmp_path, COMPUTE), tmp_path / "out"
    options = [("--unit", "s")] if name == "table" else []
    if name == "otf2":
        options = [("--column", "communicate=MPI_Alltoall"), ("--column", "wait=MPI_Barrier")]
    status, output, errors = spikemark("import", "cycles", *files, "--out", out, *sum(options, ()))
    assert status == 0 and str(out) in output, errors
    status, output, _ = spikemark("budget", out)
    assert status == 0 and ("parallel" in output)


def test_help_and_completion_list_all_of_them(spikemark):
    _, output, _ = spikemark("import", "cycles", "--help")
    assert all(f"  {name} " in output for name in READERS)
    assert set(completion.READERS) == set(READERS) == set(foreign_logs.WRITERS)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("left", [0, 0.5])
def test_damaged_files_get_one_line_that_names_them(refused, tmp_path, name, left):
    files = foreign_logs.WRITERS[name](tmp_path, COMPUTE)
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: int(left * len(whole))])
    said = refused(read, files, name, form=name)
    assert files[0].name in said or "cycles" in said
    files[0].unlink()
    assert f"{files[0]}: not found" in refused(read, files, name, form=name)


def test_formats_are_not_mixed_and_options_belong_to_some(refused, tmp_path):
    logs, other = foreign_logs.nest(tmp_path, COMPUTE), foreign_logs.table(tmp_path, COMPUTE)
    assert "format table; " in refused(imported.read, logs + other)
    assert "the format nest states its times in s" in refused(imported.read, logs, "ms")
    assert "--column: only for tables" in refused(imported.read, logs, None, {"compute": "x"})
    sums = foreign_logs.sums(tmp_path, COMPUTE)
    assert "has sums, no cycles" in refused(imported.read, sums, skip=3)


SNIPPET = re.compile(r"```python\n(import nest\n.*?)```", re.S)


def test_the_snippet_of_the_page_writes_what_is_read(tmp_path, monkeypatch):
    """Runs docs/nest.md's lines on every rank, beside a stand-in of NEST's Python interface."""
    page = Path(__file__).parents[4] / "docs" / "nest.md"
    (snippet,) = SNIPPET.findall(page.read_text(encoding="utf-8"))
    assert len(snippet.strip().splitlines()) <= 10
    monkeypatch.chdir(tmp_path)
    communicate = foreign_logs.exchanged(COMPUTE)
    for rank in range(4):
        log = {
            "time_update": COMPUTE[rank] + communicate[rank],
            "time_communicate_spike_data": communicate[rank],
            "local_spike_counter": np.zeros(200, dtype=int),
        }
        status = {"num_processes": 4, "min_delay": 0.1, "biological_time": 20.0, "cycle_time_log": log}
        nest = SimpleNamespace(Rank=lambda rank=rank: rank, GetKernelStatus=lambda status=status: status)
        monkeypatch.setitem(sys.modules, "nest", nest)
        exec(snippet, {})
    found = imported.read(sorted(tmp_path.glob("*.npz")))
    np.testing.assert_allclose(found.columns["compute"], COMPUTE)
    assert found.cycle_ms == 0.1 and found.remarks == () and found.missing == ()


def test_logs_of_nest_say_which_ranks_and_cycles_are_missing(refused, tmp_path):
    files = foreign_logs.nest(tmp_path, COMPUTE, num_processes=6, biological_time=30.0)
    found = imported.read([files[0], *files[2:]])
    assert found.missing == (1, 4, 5)
    assert "has 200 entries, and 30 ms are 300 cycles of 0.1 ms" in found.remarks[0]
    foreign_logs.nest(tmp_path, COMPUTE, num_processes=2)
    assert "rank 3: the program ran with 2 ranks" in refused(imported.read, files)
    np.savez(files[0], time_update=COMPUTE[0])
    assert "no array 'time_communicate_spike_data'" in refused(imported.read, files, form="nest")


@pytest.mark.parametrize("apart", [False, True])
def test_six_columns_tell_whether_communication_includes_waiting(tmp_path, apart):
    found = imported.read(foreign_logs.structure_aware(tmp_path, COMPUTE, apart=apart))
    np.testing.assert_allclose(found.columns["compute"], COMPUTE, rtol=1e-6)
    assert any("beside the communication" in line for line in found.remarks) == apart


def test_ranks_that_meet_every_tenth_cycle_have_a_budget_and_no_fit(spikemark, refusal, tmp_path):
    """A structure-aware run: only in every tenth cycle do all ranks exchange."""
    files = foreign_logs.structure_aware(tmp_path, COMPUTE[:, :198], every=10, log=False)
    found = imported.read(files)
    assert found.meets_every == 10 and "logfile_0 is not beside" in found.remarks[0]
    out = tmp_path / "out"
    status, _, errors = spikemark("import", "cycles", *files, "--out", out, "--cycles", 198)
    assert status == 0 and "last 8 cycles after the last meeting" in errors
    assert "a budget needs at least 200" in refusal("budget", out)
    files = foreign_logs.structure_aware(tmp_path, np.tile(COMPUTE, 2), every=10)
    assert spikemark("import", "cycles", *files, "--out", out)[0] == 0
    steps = np.tile(COMPUTE, 2).reshape(4, -1, 10).sum(axis=2)
    times = imported.load(out)
    assert times.waiting.sum() == pytest.approx((steps.max(axis=0) - steps).mean(axis=0).sum(), rel=1e-4)
    status, output, _ = spikemark("budget", out)
    assert status == 0 and "parallel" in output
    for command in ("fit", "whatif", "report"):
        assert "ranks meet every 10 cycles" in refusal(command, out)
    line = refusal("import", "cycles", *files, "--out", out, "--skip", 3)
    assert line == "skip=3: all ranks meet every 10 cycles; allowed: a multiple of that"


def test_six_columns_that_are_others_are_refused(refused, tmp_path):
    files = foreign_logs.structure_aware(tmp_path, COMPUTE)
    np.savetxt(files[0], COMPUTE[:2].T)
    assert "2 columns; needed: 6, cycle_time, communicate" in refused(imported.read, files)
    foreign_logs.structure_aware(tmp_path, COMPUTE)
    rows = np.loadtxt(files[1])
    rows[[3, 5], 2] = 0
    for path in files:
        np.savetxt(path, rows)
    assert "needed: in every D-th cycle" in refused(imported.read, files)


def test_a_trace_says_which_regions_it_has(refused, tmp_path):
    files = foreign_logs.trace(tmp_path, COMPUTE[:, :5])
    said = refused(imported.read, files)
    assert "communicate=missing; the trace has the regions MPI_Alltoall (6), MPI_Barrier (5), solve" in said
    said = refused(imported.read, files, None, {"communicate": "MPI_Gather"})
    assert "communicate=MPI_Gather; the trace has" in said
    assert "column 'spikes'; allowed for a trace" in refused(imported.read, files, None, {"spikes": "x"})
    assert "allowed: one trace" in refused(imported.read, [*files, tmp_path / "b.otf2"])


@pytest.mark.parametrize("clocks", [0.0, 7.0])
def test_clocks_of_ranks_need_not_agree(tmp_path, clocks):
    found = read(foreign_logs.trace(tmp_path, COMPUTE, clocks), "otf2")
    np.testing.assert_allclose(found.columns["compute"], COMPUTE, rtol=1e-5)
    assert "until the end of its first collective call" in found.remarks[0]
    only = read(foreign_logs.trace(tmp_path / "b", COMPUTE, clocks, barrier=False), "otf2")
    assert not only.columns["wait"].any()


def test_a_trace_may_be_confined_to_a_region(tmp_path):
    called = {"communicate": "MPI_Alltoall,MPI_Barrier", "within": "main"}
    files = foreign_logs.trace(tmp_path, COMPUTE[:, :20], barrier=False)
    found = imported.read(files, None, called)
    assert found.columns["compute"].shape == (4, 21), "the first call is a cycle, too"
    np.testing.assert_allclose(found.columns["compute"][:, 1:], COMPUTE[:, :20], rtol=1e-5)
    assert found.remarks == ("what a rank does after its last collective call is no cycle",)


def test_a_log_of_nest_itself_is_read():
    """Four ranks, 400 cycles of 0.1 ms in two calls of Run; see the README beside it."""
    folder = Path(__file__).parents[2] / "data" / "nest-3.10"
    found = read(sorted(folder.glob("nest-cycles-*.npz")), "nest")
    assert found.columns["compute"].shape == (4, 400) and found.cycle_ms == 0.1
    assert not found.remarks and not found.missing
    assert (found.columns["compute"] > 0).all() and (found.columns["communicate"] > 0).all()
    expected = 4000 * 2.5 * 0.04  # neurons, spikes/s, s; phases are uniform
    assert abs(found.columns["spikes"].sum() - expected) < 3 * np.sqrt(0.9 * expected)
