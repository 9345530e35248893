"""Load by others: read from the system, waited for, taken from a whole run."""

import subprocess
import sys
import time

import pytest
from fake_peers import BUSY, QUICK, busy_machine, quiet_machine

from spikemark.running import quiet

STAT = "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n"


@pytest.mark.parametrize(
    ("content", "busy"),
    [(STAT, 1.71), (None, None), ("", None), ("cpu 1 2", None), ("memory 1 2 3 4 5 6 7 8", None)],
)
def test_idle_and_waiting_for_disks_are_not_busy_and_unknown_is_never_zero(
    tmp_path, monkeypatch, content, busy
):
    monkeypatch.setattr("os.sysconf", lambda name: 100)
    if content is not None:
        (tmp_path / "stat").write_text(content)
    assert quiet.busy_s(tmp_path / "stat") == (busy and pytest.approx(busy))


def test_this_system_tells():
    before = quiet.busy_s()
    assert 0 < before <= quiet.busy_s()


@pytest.mark.parametrize(
    ("machine", "cores"), [(quiet_machine, 0.0), (busy_machine, BUSY), (lambda: None, None)]
)
def test_foreign_load_is_what_others_take(machine, cores):
    watch = quiet.Watch(machine)
    subprocess.run([sys.executable, "-c", "sum(range(10**6))"], check=True)  # our own: does not count
    assert watch.foreign_load() == (cores if cores is None else pytest.approx(cores, rel=0.5, abs=0.05))


def test_a_quiet_window_is_waited_for_until_patience_ends():
    calm, busy, unknown = (quiet.wait(QUICK, one) for one in (quiet_machine, busy_machine, lambda: None))
    assert calm.quiet and QUICK.window_s <= calm.waited_s and calm.foreign_load <= QUICK.foreign_limit
    assert not busy.quiet and busy.foreign_load > QUICK.foreign_limit and busy.waited_s >= QUICK.patience_s
    assert (unknown.foreign_load, unknown.waited_s, unknown.quiet) == (None, 0.0, False)


def test_waiting_ends_when_others_do():
    ends = time.monotonic() + 0.05
    wait = quiet.wait(
        quiet.Conditions(window_s=0.02, patience_s=20), lambda: quiet.own_s() + min(time.monotonic(), ends)
    )
    assert wait.quiet and time.monotonic() >= ends
