"""The mini-app for Valgrind is built by one command at a time."""

import threading
import time
from types import SimpleNamespace

from spikemark.caches import cachesim

COMMANDS = 4


def test_commands_at_once_build_one_after_the_other(tmp_path, monkeypatch):
    working, most = [], []

    def watched(step, limit_s):
        working.append(step)
        time.sleep(0.02)
        most.append(len(working))
        working.remove(step)
        return SimpleNamespace(status=0)

    monkeypatch.setattr(cachesim.places, "root", lambda: tmp_path)
    monkeypatch.setattr(cachesim, "watch", watched)
    commands = [threading.Thread(target=cachesim.build) for _ in range(COMMANDS)]
    for command in commands:
        command.start()
    for command in commands:
        command.join()
    assert len(most) == 2 * COMMANDS  # configure and build: nothing here writes build.ninja
    assert max(most) == 1
