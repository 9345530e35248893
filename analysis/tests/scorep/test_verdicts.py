"""What `spikemark scorep` says where there is less to compare, and where a comparison tells little."""

import json
import re
import shutil
import tarfile

import fake_scorep
import numpy as np
import pytest
from edited_record import edit
from synthetic import write_run
from synthetic_record import PHASES

from spikemark.records import record
from spikemark.scorep.check import AGREES, DIFFERS, SHORT, UNSEEN, UNTIMED, check


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return record.load(write_run(tmp_path_factory.mktemp("run"), ranks=2, cycles=100, rank_sd=0.3))


def measured(run, folder, **faults):
    """A folder as the workflow leaves it."""
    shutil.copytree(run.path, folder / "record")
    return fake_scorep.write(run, folder, **faults)


def verdicts(found, rank=0):
    return {name: time.verdict for name, time in found.ranks[rank].phases.items()}


def test_a_phase_shorter_than_what_a_visit_may_differ_cannot_be_checked(tmp_path, spikemark):
    """Of cycles of 2 us, delivery and update can be checked, and collocation of 0.2 us cannot."""
    run = record.load(write_run(tmp_path / "run", ranks=2, cycles=100, mean_s=2e-6))
    found = check(measured(run, tmp_path / "scorep"))
    assert verdicts(found)["deliver"] == AGREES and verdicts(found)["collocate"] == SHORT
    status, output, errors = spikemark("scorep", tmp_path / "scorep")
    assert (status, errors) == (0, "")
    assert re.search(r"  collocate: too short to check, 0\.[12]\d* µs a visit", output)
    content = json.loads(spikemark("scorep", tmp_path / "scorep", "--json")[1])
    assert content["ranks"][0]["phases"]["collocate"]["agrees"] is None


def test_a_difference_of_a_microsecond_a_visit_is_found(tmp_path):
    """In cycles of 4 us, delivery that takes 0.9 us longer is no instrument's error."""
    run = record.load(write_run(tmp_path / "run", ranks=2, cycles=100, mean_s=4e-6))
    slower = 1 + 0.9e-6 * 100 / float(run.phase("deliver")[0].sum())
    found = check(measured(run, tmp_path / "scorep", slower=slower))
    assert verdicts(found)["deliver"] == DIFFERS
    assert len(found.complaints) == 1


def test_a_busy_host_is_warned_of(run, tmp_path, spikemark):
    folder = measured(run, tmp_path / "scorep")
    assert "busy host" not in spikemark("scorep", folder)[1]
    edit(
        folder / "record", lambda r: r["warnings"].append("foreign load: other processes kept 1.2 cores busy")
    )
    output = spikemark("scorep", folder)[1]
    assert "warning: busy host, so times may differ for that reason: foreign load: other" in output


def test_a_full_trace_buffer_is_reported(run, tmp_path, spikemark):
    folder = measured(run, tmp_path / "scorep", flush_s=1e-6)
    flushes = [one.flushes for one in check(folder).ranks]
    assert [one.number for one in flushes] == [1, 0]
    assert flushes[0].seconds == pytest.approx(1e-6, rel=0.01)
    output = spikemark("scorep", folder)[1]
    assert "warning: rank 0: trace buffers were full and written out 1 time in the measured part" in output
    assert "SCOREP_TOTAL_MEMORY" in output and "rank 1: trace buffers" not in output


@pytest.mark.parametrize("missing", ["profile.cubex", "traces.otf2"])
def test_one_of_profile_and_trace_is_enough(run, tmp_path, spikemark, missing):
    folder = measured(run, tmp_path / "scorep")
    (folder / missing).unlink()
    (folder / "scorep.cfg").unlink()
    found = check(folder)
    assert found.complaints == []
    for rank, one in enumerate(found.ranks):
        assert one.phases["deliver"].seen_s == pytest.approx(run.phase("deliver")[rank].sum(), rel=1e-3)
        assert (one.waited_s is None) == (one.flushes is None) == (missing == "traces.otf2")
    status, output, errors = spikemark("scorep", folder)
    assert (status, errors) == (0, "")
    assert f"warning: no {missing}" in output
    assert json.loads(spikemark("scorep", folder, "--json")[1])["agrees"] is True


def test_a_file_that_score_p_was_to_write_must_be_there(run, tmp_path, refusal):
    folder = measured(run, tmp_path / "scorep")
    (folder / "traces.otf2").unlink()
    line = refusal("scorep", folder)
    assert line == f"{folder / 'traces.otf2'}: not found; by scorep.cfg, Score-P was to write it"
    (folder / "scorep.cfg").write_text("SCOREP_ENABLE_PROFILING=true\nSCOREP_ENABLE_TRACING=false\n")
    assert check(folder).found == ("profile.cubex",)
    (folder / "profile.cubex").unlink()
    (folder / "scorep.cfg").unlink()
    assert "profile.cubex: not found, nor is traces.otf2" in refusal("scorep", folder)


def test_barriers_that_were_not_recorded_took_an_unknown_time(run, tmp_path, spikemark):
    folder = measured(run, tmp_path / "scorep", barriers=False)
    for one in check(folder).ranks:
        assert (one.barrier.profile_s, one.barrier.trace_s, one.waited_s) == (None, None, None)
        assert one.phases["synchronise"].verdict == AGREES
    status, output, errors = spikemark("scorep", folder)
    assert (status, errors, output.count("not recorded")) == (0, "", 4)
    one = json.loads(spikemark("scorep", folder, "--json")[1])["ranks"][0]
    assert (one["barrier"]["profile_s"], one["waited_s"]) == (None, None)


def test_a_region_that_a_filter_excludes_is_not_recorded(run, tmp_path, monkeypatch, spikemark):
    """A region that was never entered took no time by Score-P; that says nothing about the log."""
    times = np.array(run.cycles)
    times[:, :, PHASES.index("update")] = 0
    less = record.Run(run.path, run.record, run.ranks, times, None)
    folder = measured(less, tmp_path / "scorep")
    assert verdicts(check(folder))["update"] == UNSEEN
    assert "  update: not recorded by Score-P" in spikemark("scorep", folder)[1]


@pytest.mark.parametrize("threads", [1, 2])
def test_records_that_mix_waiting_for_threads_into_phases_are_not_compared(tmp_path, threads, spikemark):
    folder = write_run(tmp_path / "run", ranks=2, threads=threads, cycles=100)
    times = np.load(folder / "cycles.npy")
    np.save(folder / "cycles.npy", np.delete(times, PHASES.index("thread_wait"), axis=2))

    def older(content):
        content["format_version"] = 1
        content["phases"].remove("thread_wait")
        del content["timing"]["phases"]["thread_wait"]

    edit(folder, older)
    found = check(measured(record.load(folder), tmp_path / "scorep"))
    expected = AGREES if threads == 1 else UNTIMED
    assert [verdicts(found)[name] for name in ("deliver", "update", "collocate")] == [expected] * 2 + [AGREES]
    said = "  deliver: not timed by the run: counted as delivery and update before format 2"
    assert (said in spikemark("scorep", tmp_path / "scorep")[1]) == (threads == 2)


def test_other_forms_of_profiles_are_named(run, tmp_path, refusal):
    folder = measured(run, tmp_path / "tuple", kind="TAU_ATOMIC")
    assert "time is of type TAU_ATOMIC, as SCOREP_PROFILING_FORMAT=cube_tuple writes" in refusal(
        "scorep", folder
    )
    folder = measured(run, tmp_path / "compressed")
    path, whole = folder / "profile.cubex", tmp_path / "whole"
    with tarfile.open(path) as archive:
        archive.extractall(whole, filter="data")
    for file in whole.glob("*.data"):
        file.write_bytes(b"ZCUBEX.DATA" + b"\0\1\2\3")
    with tarfile.open(path, "w") as archive:
        for file in sorted(whole.iterdir()):
            archive.add(file, file.name)
    assert "profile.cubex: its values are compressed" in refusal("scorep", folder)


def test_a_profile_without_our_regions_names_the_filter_too(run, tmp_path, monkeypatch, refusal):
    folder = measured(run, tmp_path / "scorep")
    monkeypatch.setattr("spikemark.scorep.profile.MEASURED", "main_loop")
    monkeypatch.setattr("spikemark.scorep.seen.MEASURED", "main_loop")
    line = refusal("scorep", folder)
    assert "SPIKEMARK_SCOREP" in line and "SCOREP_FILTERING_FILE" in line


def test_it_says_which_run_it_reads(run, tmp_path, spikemark):
    folder = measured(run, tmp_path / "scorep")
    said = "conventional, placement round_robin, D = 10, 2 ranks with 1 thread, seed 1"
    assert json.loads(spikemark("scorep", folder, "--json")[1])["run"] == said
    assert said in " ".join(spikemark("scorep", folder)[1].split())
