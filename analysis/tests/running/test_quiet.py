"""Load by others: read from the system, waited for, taken from a whole run."""

import subprocess
import sys
import time

import pytest
from fake_peers import BUSY, QUICK, busy_machine, quiet_machine

from spikemark.running import quiet

STAT = "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"


def test_idle_and_waiting_for_disks_are_not_busy(tmp_path, monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    (tmp_path / "stat").write_text(STAT)
    assert quiet.busy_s(tmp_path / "stat") == pytest.approx((100 + 20 + 30 + 6 + 7 + 8) / 100)


@pytest.mark.parametrize("content", [None, "", "cpu 1 2", "memory 1 2 3 4 5 6 7 8", "cpu a b c d e f g h"])
def test_unknown_is_none_and_never_zero(tmp_path, content):
    if content is not None:
        (tmp_path / "stat").write_text(content)
    assert quiet.busy_s(tmp_path / "stat") is None
    assert quiet.Watch(lambda: None).foreign_load() is None


def test_this_system_tells():
    before = quiet.busy_s()
    assert before > 0
    assert quiet.busy_s() >= before


@pytest.mark.parametrize(("machine", "cores"), [(quiet_machine, 0.0), (busy_machine, BUSY)])
def test_foreign_load_is_what_others_take(machine, cores):
    watch = quiet.Watch(machine)
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)  # our own: does not count
    assert watch.foreign_load() == pytest.approx(cores, rel=0.5, abs=0.05)


def test_a_quiet_machine_is_waited_for_one_window():
    wait = quiet.wait(QUICK, quiet_machine)
    assert wait.quiet
    assert QUICK.window_s <= wait.waited_s
    assert wait.foreign_load == pytest.approx(0, abs=QUICK.foreign_limit)


def test_patience_ends():
    wait = quiet.wait(QUICK, busy_machine)
    assert not wait.quiet
    assert wait.foreign_load > QUICK.foreign_limit
    assert wait.waited_s >= QUICK.patience_s


def test_waiting_ends_when_others_do():
    began = time.monotonic()
    ends = began + 0.05

    def machine() -> float:
        return quiet.own_s() + min(time.monotonic(), ends)

    wait = quiet.wait(quiet.Conditions(window_s=0.02, patience_s=20), machine)
    assert wait.quiet
    assert time.monotonic() >= ends


def test_an_unknown_load_is_not_waited_for():
    wait = quiet.wait(quiet.Conditions(window_s=60), lambda: None)
    assert (wait.foreign_load, wait.quiet) == (None, False)
