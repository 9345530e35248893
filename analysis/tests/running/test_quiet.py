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


@pytest.mark.parametrize(
    ("machine", "cores"), [(quiet_machine, 0.0), (busy_machine, BUSY), (lambda: None, None)]
)
def test_foreign_load_is_what_others_take(machine, cores):
    foreign_load = quiet.watch(machine)
    subprocess.run(
        [sys.executable, "-c", "sum(range(10**6))"], check=True
    )  # our own: does not count
    assert foreign_load() == (cores if cores is None else pytest.approx(cores, rel=0.5, abs=0.05))


def test_a_quiet_window_is_waited_for_until_patience_ends():
    began = time.monotonic()
    assert quiet.wait(QUICK, quiet_machine) <= QUICK.foreign_limit
    waited = time.monotonic()
    assert quiet.wait(QUICK, busy_machine) > QUICK.foreign_limit
    assert waited - began >= QUICK.window_s and time.monotonic() - waited >= QUICK.patience_s
    assert quiet.wait(QUICK, lambda: None) is None


def test_waiting_ends_when_others_do():
    ends = time.monotonic() + 0.05
    patient = quiet.Conditions(window_s=0.02, patience_s=20)
    load = quiet.wait(patient, lambda: quiet.own_s() + min(time.monotonic(), ends))
    assert load <= patient.foreign_limit and time.monotonic() >= ends
