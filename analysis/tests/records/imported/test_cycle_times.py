"""Imported cycle times: what they imply, how they stand beside the record of the same run, and refusals."""

import json
import sys

import numpy as np
import pytest
from synthetic import compute_times, write_run

from spikemark.records import imported, record
from spikemark.records.imported import derived
from spikemark.waiting import PREDICTORS
from spikemark.waiting.budget import PARTS, budget
from spikemark.waiting.source import source

FROM = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": None}


def times(ranks=4, cycles=2000):
    """Compute times of a millisecond."""
    return compute_times(ranks, cycles, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)


def columns(compute, exchange_s=5e-5, **more):
    """Compute times of ranks that wait for the slowest and then exchange."""
    return {"compute": compute, "communicate": compute.max(axis=0) - compute + exchange_s} | more


def save(out, content, **more):
    """The folder of these columns."""
    return imported.save(out, imported.Found(content, **more), FROM)


def test_what_was_written_is_read(tmp_path):
    compute = times()
    made = save(tmp_path / "times", columns(compute))
    found = imported.run_or_times(tmp_path / "times")
    assert found.about == made.about and found.about.ranks == 4 and found.about.cycles == 2000
    np.testing.assert_allclose(found.compute, compute, rtol=1e-6)
    until_last = (compute.max(axis=0) - compute).mean()
    assert found.waiting.mean() == pytest.approx(until_last + derived.SHARE * 5e-5, rel=1e-5)
    assert found.exchange.mean() == pytest.approx((1 - derived.SHARE) * 5e-5, rel=1e-3)
    assert found.column("wait") is None and "waiting was not timed" in found.cautions[0]


@pytest.mark.parametrize("hidden", [("wait",), ("wait", "communicate"), ()])
def test_a_run_without_its_waiting_gives_what_the_run_gives(tmp_path, hidden):
    """Our own record with columns hidden: waiting, its causes and predictions stay within 5 %."""
    run = record.load(write_run(tmp_path / "run", ranks=8, cycles=2000, mean_s=1e-3, ar1=0.5, rank_sd=0.03))
    shown = {
        "compute": run.compute(),
        "communicate": run.waiting() + run.phase("exchange"),
        "wait": run.waiting(),
    }
    kept = {name: values for name, values in shown.items() if name not in hidden}
    found = save(tmp_path / "times", kept)
    whole, part = budget(run), budget(found)
    assert part.waiting_s == pytest.approx(whole.waiting_s, rel=0.05)
    assert part.waiting_kind == ("modelled" if "wait" in hidden else "measured")
    for name in PARTS:
        assert part.parts[name].value == pytest.approx(whole.parts[name].value, abs=0.05 * whole.waiting_s)
    assert (part.transport is None) == ("communicate" in hidden)
    for kind in PREDICTORS.values():
        for schedule in ("conventional", "structure_aware"):
            theirs, ours = (kind.fit(source(x)).predict(schedule, 10) for x in (found, run))
            assert theirs.waiting_s == pytest.approx(ours.waiting_s, rel=0.05)
            if "communicate" not in hidden:
                assert theirs.runtime_s == pytest.approx(ours.runtime_s, rel=0.01)


def test_what_does_not_fit_together_is_said(tmp_path):
    compute = times()
    short = columns(compute) | {"communicate": np.full_like(compute, 1e-5)}
    wrong = save(tmp_path / "wrong", short)
    assert "ranks do not meet in every cycle, or units or cycles do not match" in wrong.about.remarks[0]
    late = compute.copy()
    late[2, :3] *= 20
    (remark,) = save(tmp_path / "late", columns(late)).about.remarks
    assert remark.startswith("the first 3 cycles take") and "--skip 3" in remark
    assert save(tmp_path / "right", columns(compute)).about.remarks == []


def test_more_ranks_than_cycles_are_asked_about(tmp_path):
    compute = times(8, 500)
    remarks = save(tmp_path / "swapped", columns(compute.T)).about.remarks
    assert "500 ranks x 8 cycles: are rows and columns swapped? needed: [rank, cycle]" in remarks
    assert not any("swapped" in line for line in save(tmp_path / "right", columns(compute)).about.remarks)


def test_nobody_is_told_to_run_another_program_with_our_settings(tmp_path, spikemark):
    compute = times()
    compute[1, ::97] += 5e-3
    made = save(tmp_path / "rare", columns(compute))
    assert budget(made).parts["rare"].value > 0
    for command in ("budget", "advise"):
        status, output, _ = spikemark(command, made.path)
        output = " ".join(output.split())
        assert status == 0 and "record.kernel" not in output
        assert "what made cycles long is not known" in output and "spikemark noise" in output


@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf])
def test_impossible_times_are_refused_and_nothing_is_written(refused, tmp_path, value):
    compute = times()
    spoilt = columns(compute)
    spoilt["communicate"][1, 5] = value
    said = refused(save, tmp_path / "a", spoilt)
    assert "of rank 1 in cycle 5; allowed is a number >= 0" in said
    more = columns(compute, wait=np.full_like(compute, 1.0))
    assert "allowed: communicate includes wait" in refused(save, tmp_path / "a", more)
    assert not (tmp_path / "a").exists()


def test_a_folder_of_something_else_is_left_alone(refused, tmp_path):
    (tmp_path / "letter").write_text("dear")
    assert "contains 'letter'" in refused(save, tmp_path, columns(times()))
    assert "is not a folder" in refused(save, tmp_path / "letter", columns(times()))
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_damaged_imports_are_refused(refused, tmp_path):
    save(tmp_path, columns(times()))
    about = json.loads((tmp_path / imported.ABOUT).read_text())
    (tmp_path / imported.ABOUT).write_text(json.dumps(about | {"ranks": 5}))
    assert "cycles.npy: holds float32 [4, 2000, 2]" in refused(imported.load, tmp_path)
    (tmp_path / imported.ABOUT).write_text(json.dumps(about | {"columns": ["communicate"]}))
    assert "allowed: compute and others" in refused(imported.load, tmp_path)


def test_imported_times_are_not_joined_with_others(refused, tmp_path):
    one, two = (save(tmp_path / name, columns(times())) for name in "ab")
    assert "with no other run" in refused(source, [one, two])


def test_the_command_answers_for_another_program(spikemark, tmp_path, undrawn):
    compute = 1e3 * times()
    for rank, row in enumerate(compute):
        (tmp_path / f"rank-{rank}.csv").write_text("mine\n" + "".join(f"{t:.6f}\n" for t in row))
    files, out = sorted(tmp_path.glob("rank-*.csv")), tmp_path / "out"
    options = ("--unit", "ms", "--column", "compute=mine", "--out", out)
    status, output, errors = spikemark("import", "cycles", *files, *options)
    assert status == 0 and "4 x 2000 (ranks x cycles), compute; " in output and "was not timed" in errors
    for command in (
        ("fit", out),
        ("budget", out),
        ("whatif", out),
        ("predict", out, "--schedule", "overlapped", "--delay-ratio", 10),
        ("report", out),
    ):
        status, output, errors = spikemark(*command)
        assert status == 0 and output and "was not timed" in errors
    status, _, errors = spikemark(
        "import", "cycles", *files, "--unit", "ms", "--column", "mine", "--out", out
    )
    assert (status, errors) == (2, "spikemark: --column 'mine'; allowed: NAME=THEIRS, each name once\n")
    assert spikemark("import", "cycles", *files, *options, "--cycle-ms", 0)[0] == 2


def test_earlier_times_stay_until_new_ones_are_whole(tmp_path, monkeypatch):
    def slower(times):
        return columns(times * np.ones((2, 10)))

    out = tmp_path / "out"
    save(out, slower(1.0))
    (out / "report.html").write_text("a page of these times")
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    for broken in ("write_atomically", "write_json"):
        with monkeypatch.context() as inside:
            inside.setattr(sys.modules[imported.CycleTimes.__module__], broken, full)
            with pytest.raises(OSError, match="No space left") as failed:
                save(out, slower(2.0))
        assert failed.value.filename.startswith(str(out))
        assert before == {path.name: path.read_bytes() for path in out.iterdir()}
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (save(out, slower(2.0)).compute == 2).all()
    assert sorted(path.name for path in out.iterdir()) == ["cycles.npy", "imported.json"]
