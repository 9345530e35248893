"""Commands that are disturbed while they write: each result is absent, as before, or whole.

A library lets one call on a file fail, or kills the process there (interposed.py). The same command then
completes the result, what was measured keeps its bytes, and a program that can still speak says why.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from faults.interposed import ALL, COUNTED, ERRORS, KILL, KINDS, TAKE_ROOM, Fault
from faults.subjects import SUBJECTS, Parts, Said, Subject, digest, start

from spikemark.launch.process import left_over

pytestmark = pytest.mark.slow

QUICK = {"miniapp", "partition in place of another"}
#: What a command says that finds its result complete.
COMPLETE = ("measured already", "exists already")


class Bench:
    """A subject in a folder that is made again for every try."""

    def __init__(self, subject: Subject, folder: Path):
        self.subject, self.count, log = subject, folder / "count", folder / "log"
        self.place, self.template = folder / "place", folder / "template"
        self.place.mkdir()
        subject.prepare(self.place)  # in place, where what was prepared names its folder
        shutil.copytree(self.place, self.template)
        self.before = subject.parts(self.place)
        assert self.start(Fault(COUNTED, str(self.place)).environment(self.count, log)).status == 0
        self.after = subject.parts(self.place)
        assert self.after and self.after != self.before
        self.calls = log.read_text().splitlines()

    def start(self, environment: dict[str, str] | None = None) -> Said:
        return start(self.subject.command, self.place, environment)

    def disturbed(self, fault: Fault) -> str:
        """What a disturbed command leaves: absent, whole or some."""
        shutil.rmtree(self.place)
        shutil.copytree(self.template, self.place)
        said = self.start(fault.environment(self.count))
        what = (fault.how, fault.first, self.calls[min(fault.first, len(self.calls)) - 1], said)
        assert "Traceback" not in said.errors + said.output, what
        assert said.status != -signal.SIGALRM, what
        if said.status > 0:
            # Of a program that was killed, the one that had started it speaks.
            why = "SIGKILL" if fault.how == KILL else os.strerror(getattr(errno, fault.how))
            assert why in said.errors + said.output, what
            lines = [line for line in said.errors.splitlines() if line.startswith(("spikemark:", "miniapp:"))]
            assert len(lines) <= 1, what
        found = self.subject.parts(self.place)  # neither absent nor whole: BadInput
        assert all(value in (self.before.get(name), self.after[name]) for name, value in found.items()), what
        assert self.before.keys() <= found.keys(), what
        assert said.status != 0 or found == self.after, what
        self._resumed(found, what)
        return "whole" if found == self.after else "absent" if found == self.before else "some"

    def _resumed(self, found: Parts, what: tuple) -> None:
        """Runs the command again; it completes the result and leaves what was measured."""
        until = time.monotonic() + 60
        while time.monotonic() < until and left_over(str(self.place)):  # of a command that was killed
            time.sleep(0.1)
        kept = self._measured()
        again = self.start()
        assert again.status == 0 or any(words in again.errors for words in COMPLETE), (what, again)
        assert self.subject.parts(self.place) == self.after, what
        assert not self.subject.keeps or kept.items() <= self._measured().items(), what

    def _measured(self) -> dict[str, str]:
        """Digests of the records that are in their places."""
        return {
            str(path): digest(path.read_bytes())
            for path in self.place.rglob("record.json")
            if not any(p == "unchecked" or p.startswith(".") or ".partial-" in p for p in path.parts)
        }


def tried(subject: Subject, folder: Path, tries: int) -> set[str]:
    """What was left by as many faults of each kind, at calls that are spread over all."""
    bench, left = Bench(subject, folder), set()
    for kind, how in enumerate(("one fails", KILL, "full")):
        for turn, n in enumerate(np.ceil(len(bench.calls) * (np.arange(tries) + (kind + 1) / 4) / tries)):
            fault = {
                "one fails": Fault(ERRORS[turn % len(ERRORS)], str(bench.place), int(n)),
                KILL: Fault(KILL, str(bench.place), int(n)),
                "full": Fault("ENOSPC", str(bench.place), int(n), ALL, TAKE_ROOM),
            }[how]
            left.add(bench.disturbed(fault))
    return left


@pytest.mark.parametrize("subject", [s for s in SUBJECTS if s.name in QUICK], ids=lambda one: one.name)
def test_a_disturbed_command_leaves_its_result_absent_or_whole(subject, tmp_path):
    assert tried(subject, tmp_path, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda one: one.name)
def test_every_disturbed_command_leaves_its_result_absent_or_whole(subject, tmp_path):
    assert "absent" in tried(subject, tmp_path, subject.tries)


def test_calls_are_counted_and_fail(tmp_path):
    """The negative control: the library reaches the calls of Python, and a failure is seen."""
    script = "f = open('x', 'w'); f.write('0123456789'); f.close(); import os; os.rename('x', 'y')"
    log = tmp_path / "log"
    words = [sys.executable, "-I", "-S", "-c", script]

    def ended(fault: Fault, **how) -> subprocess.CompletedProcess:
        environment = fault.environment(tmp_path / "count", **how)
        return subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert ended(Fault(COUNTED, str(tmp_path)), log=log).returncode == 0
    calls = [line.split()[0] for line in log.read_text().splitlines()]
    assert calls == ["open", "write", "close", "rename"] and set(calls) < set(KINDS)
    for n in range(1, 5):
        assert ended(Fault("EIO", str(tmp_path), n)).returncode == 1
        assert ended(Fault(KILL, str(tmp_path), n)).returncode == -signal.SIGKILL
