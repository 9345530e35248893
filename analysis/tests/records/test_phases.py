"""The list of phases, and the waiting of threads, which records of format 1 do not tell apart."""

import re

import numpy as np
import pytest
from edited_record import edit
from synthetic import write_run
from synthetic_record import PHASES as WRITTEN

from spikemark.core import places
from spikemark.records import phases, record
from spikemark.records.phases import COMPUTE, HELD, THREADS

MINI_APP = places.root() / "miniapp"


def test_phases_are_those_of_the_mini_app():
    """In its list and in the same order; FORMAT.md says what each is."""
    header = (MINI_APP / "src" / "measurement" / "phases.h").read_text()
    assert tuple(re.findall(r"^ +PHASE\((\w+)\)", header, re.MULTILINE)) == phases.PHASES
    said = re.findall(r"^- `(\w+)`: ", (MINI_APP / "FORMAT.md").read_text(), re.MULTILINE)
    assert [name for name in said if name in phases.PHASES] == [*phases.PHASES]


def test_every_phase_is_in_one_part():
    assert sorted(phases.PHASES) == sorted(name for part in phases.PARTS.values() for name in part)
    assert {*COMPUTE} < {*phases.PARTS} and {*phases.LATER} < {*phases.PHASES}


def old(folder, threads: int):
    """A record as it was written before format 2."""
    write_run(folder, ranks=2, threads=threads, cycles=100)
    times, at = np.load(folder / "cycles.npy"), WRITTEN.index(THREADS)
    np.save(folder / "cycles.npy", np.delete(times, at, axis=2))

    def change(content):
        content["format_version"] = 1
        content["phases"].remove(THREADS)
        del content["timing"]["phases"][THREADS]

    edit(folder, change)
    return record.load(folder)


@pytest.mark.parametrize("threads", [1, 2])
def test_records_of_format_1_compute_as_long_as_before(tmp_path, threads):
    now = record.load(write_run(tmp_path / "now", ranks=2, threads=threads, cycles=100))
    then = old(tmp_path / "then", threads)
    assert np.array_equal(then.compute(), now.compute())
    assert then.spent_s(*COMPUTE) == pytest.approx(now.spent_s(*COMPUTE))
    for part in ("collocate", "waiting", "exchange"):
        assert then.spent_s(part) == now.spent_s(part)


def test_one_thread_of_format_1_waited_for_nobody(tmp_path):
    run = old(tmp_path, 1)
    wait = run.record.timing.phases[THREADS]
    assert (wait.mean_s, wait.max_s, run.spent_s(THREADS)) == (0, 0, 0)
    assert (run.phase(THREADS) == 0).all() and run.phase(THREADS).shape == (2, 100)
    assert run.spent_s("deliver") > 0 and run.record.mixed == ()


def test_several_threads_of_format_1_waited_for_an_unknown_time(tmp_path):
    """So delivery and update without it are unknown, too; their sum with it is not."""
    run = old(tmp_path, 2)
    wait = run.record.timing.phases[THREADS]
    assert (wait.mean_s, wait.max_s, wait.reason) == (None, None, HELD)
    assert np.isnan(run.phase(THREADS)).all()
    for parts in (("deliver",), ("update",), (THREADS,), ("deliver", "update"), ("update", "exchange")):
        assert run.spent_s(*parts) is None, parts
    assert run.spent_s("deliver", "update", THREADS, "exchange") > 0


def test_the_names_of_phases_keep_their_order(tmp_path):
    names = [*old(tmp_path, 1).record.timing.phases]
    assert names == [name for name in phases.PHASES if name in names]
