"""Commands that are disturbed while they write: each result is absent, as before, or whole.

A library lets one call on a file fail, or kills the process there (interposed.py). The same command
then completes the result, what was measured keeps its bytes, and a program that can still speak
says why.
"""

import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from faults.interposed import ALL, COUNTED, ERRORS, KILL, KINDS, TAKE_ROOM, Fault
from faults.subjects import SUBJECTS, Finished, Subject, digest, start

from spikemark.launch.process import left_over

pytestmark = pytest.mark.slow

QUICK = {"miniapp", "partition in place of another"}
#: What a command says that finds its result complete.
COMPLETE = ("measured already", "exists already")


class Bench:
    """A subject in a folder that is made again for every try."""

    def __init__(self, subject: Subject, folder: Path):
        self.subject = subject
        self.count = folder / "count"
        self.place, self.template = folder / "place", folder / "template"
        self.place.mkdir()
        subject.prepare(self.place)  # in place, where what was prepared names its folder
        shutil.copytree(self.place, self.template)
        self.before = subject.parts(self.place)
        log = folder / "log"
        undisturbed = self.start(Fault(COUNTED, str(self.place)).environment(self.count, log))
        assert undisturbed.status == 0
        self.after = subject.parts(self.place)
        assert self.after and self.after != self.before
        self.calls = log.read_text().splitlines()

    def start(self, environment: dict[str, str] | None = None) -> Finished:
        return start(self.subject.command, self.place, environment)

    def disturbed(self, fault: Fault) -> str:
        """What a disturbed command leaves: absent, whole or some."""
        shutil.rmtree(self.place)
        shutil.copytree(self.template, self.place)
        finished = self.start(fault.environment(self.count))
        call = self.calls[min(fault.first, len(self.calls)) - 1]
        case = (fault.how, fault.first, call, finished)
        self._check_words(fault, finished, case)
        parts = self.subject.parts(self.place)  # neither absent nor whole: BadInput
        for name, value in parts.items():
            assert value in (self.before.get(name), self.after[name]), case
        assert self.before.keys() <= parts.keys(), case
        assert finished.status != 0 or parts == self.after, case
        self._resumed(case)
        if parts == self.after:
            return "whole"
        return "absent" if parts == self.before else "some"

    def _check_words(self, fault: Fault, finished: Finished, case: tuple) -> None:
        """A program that can still speak says why it failed, in one line."""
        assert "Traceback" not in finished.errors + finished.output, case
        assert finished.status != -signal.SIGALRM, case
        if finished.status <= 0:
            return
        # Of a program that was killed, the one that had started it speaks.
        reason = "SIGKILL" if fault.how == KILL else os.strerror(getattr(errno, fault.how))
        assert reason in finished.errors + finished.output, case
        programs = ("spikemark:", "miniapp:")
        lines = [line for line in finished.errors.splitlines() if line.startswith(programs)]
        assert len(lines) <= 1, case

    def _resumed(self, case: tuple) -> None:
        """Runs the command again; it completes the result and leaves what was measured."""
        until = time.monotonic() + 60
        # until the processes of a command that was killed have ended
        while time.monotonic() < until and left_over(str(self.place)):
            time.sleep(0.1)
        measured = self._measured()
        again = self.start()
        is_complete = any(words in again.errors for words in COMPLETE)
        assert again.status == 0 or is_complete, (case, again)
        assert self.subject.parts(self.place) == self.after, case
        assert not self.subject.keeps or measured.items() <= self._measured().items(), case

    def _measured(self) -> dict[str, str]:
        """Digests of the records that are in their places."""
        digests = {}
        for path in self.place.rglob("record.json"):
            if not any(_is_unfinished(folder) for folder in path.parts):
                digests[str(path)] = digest(path.read_bytes())
        return digests


def _is_unfinished(folder: str) -> bool:
    """Whether a folder of this name holds what is not in its place yet."""
    return folder == "unchecked" or folder.startswith(".") or ".partial-" in folder


def faults(place: Path, calls: int, tries: int) -> Iterator[Fault]:
    """As many faults of each kind, at calls that are spread over all."""
    for kind, how in enumerate(("one fails", KILL, "full")):
        numbers = np.ceil(calls * (np.arange(tries) + (kind + 1) / 4) / tries).astype(int)
        for turn, number in enumerate(numbers.tolist()):
            if how == "one fails":
                yield Fault(ERRORS[turn % len(ERRORS)], str(place), number)
            elif how == KILL:
                yield Fault(KILL, str(place), number)
            else:
                yield Fault("ENOSPC", str(place), number, ALL, TAKE_ROOM)


def tried(subject: Subject, folder: Path, tries: int) -> set[str]:
    """What was left by as many faults of each kind."""
    bench = Bench(subject, folder)
    return {bench.disturbed(fault) for fault in faults(bench.place, len(bench.calls), tries)}


@pytest.mark.parametrize(
    "subject", [s for s in SUBJECTS if s.name in QUICK], ids=lambda subject: subject.name
)
def test_a_disturbed_command_leaves_its_result_absent_or_whole(subject, tmp_path):
    assert tried(subject, tmp_path, 1)


@pytest.mark.nightly
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
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
    for call in range(1, 5):
        assert ended(Fault("EIO", str(tmp_path), call)).returncode == 1
        assert ended(Fault(KILL, str(tmp_path), call)).returncode == -signal.SIGKILL
