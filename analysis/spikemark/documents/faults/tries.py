"""Disturbs a command once, looks at what it leaves, and goes on with it.

The property: each part of a result is absent, as it was before, or whole; the same command then completes it;
what was whole and is not made again keeps its bytes; a program that can still speak says in one line what
failed.
"""

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.process import naming

from .interposed import COUNTED, ERRORS, KILL, Fault
from .server import LIMIT_S, Server, limit
from .subject import QUIET, Subject, digest

#: What a command says whose result is there.
DONE_BEFORE = ("measured already", "exists already")
ENDLESS = -signal.SIGALRM  # how a command ends that takes longer than LIMIT_S
ENDS_S = LIMIT_S  # within which programs of a command that was killed end


@dataclass(frozen=True)
class Said:
    """How a command ended: its status, negative for a signal, and what it printed."""

    status: int
    output: str
    errors: str


@dataclass
class Outcomes:
    """Counts of tries by what they left; each counts once. `wrong`: what was wrong, in words."""

    absent: int = 0
    whole: int = 0
    some: int = 0  # of several parts, some absent and some whole
    faulty: int = 0  # anything else
    wrong: list[str] = field(default_factory=list)

    @property
    def tries(self) -> int:
        return self.absent + self.whole + self.some + self.faulty

    def add(self, left: str, wrong: list[str]) -> None:
        """Takes note of a try that left `left`: absent, whole or some; with anything wrong it is faulty."""
        left = "faulty" if wrong else left
        setattr(self, left, getattr(self, left) + 1)
        self.wrong += wrong

    def only_whole(self, otherwise: str) -> None:
        """Nothing but a whole result is right; `otherwise` says what is wrong."""
        others = self.absent + self.some
        self.absent, self.some, self.faulty = 0, 0, self.faulty + others
        self.wrong += [otherwise] * others


class Bench:
    """A subject with its folder, which is made anew for every try; use it as a context manager."""

    def __init__(self, subject: Subject, folder: Path, server: Server):
        self.subject, self.server = subject, server
        folder = folder.resolve()
        self.place, self.template = folder / "place", folder / "template"
        self.said, self.count, self.log = folder / "said", folder / "count", folder / "log"

    def __enter__(self) -> "Bench":
        """Makes what lies there before, and the whole result. Raises BadInput where that fails."""
        self.place.mkdir(parents=True)
        self.subject.prepare(self.place)
        shutil.copytree(self.place, self.template)
        self.before = self.subject.parts(self.place)
        self.names_before = _names(self.place)
        self.calls = self._counted()
        self.after = self.subject.parts(self.place)
        self.names = _names(self.place)
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.place.parent, ignore_errors=True)

    def _counted(self) -> list[str]:
        """The calls of a run that is not disturbed, each as KIND PATH."""
        counting = Fault(COUNTED, str(self.place)).environment(self.count, self.log)
        done = self.run(counting)
        if done.status != 0:
            raise BadInput(f"{self.subject.name}: {done.errors or done.output}")
        return self.log.read_text().splitlines()

    def calls_of(self, kinds: tuple[str, ...]) -> list[str]:
        """The calls of these kinds, or of all, that the command makes, each as KIND PATH."""
        return [call for call in self.calls if not kinds or call.split()[0] in kinds]

    def anew(self) -> None:
        """Puts everything back as it was before the command."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.template, self.place)

    @staticmethod
    def remove(path: Path) -> None:
        """Removes a file or a folder, if there is any."""
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def run(self, environment: dict[str, str] | None = None, **how: Any) -> Said:
        """The command from its beginning to its end; `how` are further arguments of `started`."""
        with self.started(environment, **how) as (_, ended):
            return ended()

    @contextlib.contextmanager
    def started(
        self,
        environment: dict[str, str] | None = None,
        room: int | None = None,
        forked: bool = True,
        words: list[str] | None = None,
    ) -> Iterator[tuple[int, Callable[[], Said]]]:
        """Begins the command; yields its process and a function that waits for its end.

        `room`: bytes that a file may have at most. Without `forked`, Python is started anew. `words`: the
        arguments, instead of the subject's.
        """
        program, *arguments = self.subject.command(self.place)
        arguments = arguments if words is None else words
        environment = QUIET | (environment or {})
        if program == "spikemark" and forked:
            process = self.server.start(arguments, environment, self.place.parent, self.said, room)
            yield process, lambda: self._said(self.server.ended())
            return
        with open(f"{self.said}.out", "w") as output, open(f"{self.said}.err", "w") as errors:
            own = (
                [sys.executable, "-m", program] if program == "spikemark" else [str(places.program(program))]
            )
            running = subprocess.Popen(
                [*own, *arguments],
                env={**os.environ, **environment},
                stdout=output,
                stderr=errors,
                cwd=self.place.parent,
                preexec_fn=lambda: limit(room),
            )
            yield running.pid, lambda: self._said(_status(running))

    def _said(self, status: int) -> Said:
        return Said(
            status, *(Path(f"{self.said}.{end}").read_text(errors="replace") for end in ("out", "err"))
        )

    def tried(self, fault: Fault, outcomes: Outcomes) -> None:
        """Disturbs the command by calls that fail, and adds what came out."""
        self.anew()
        said = self.run(fault.environment(self.count))
        calls = self.calls_of(fault.calls)
        first = calls[fault.first - 1] if fault.first <= len(calls) else "another call"
        cleans = fault.how != KILL and not first.startswith("remove") and fault.last is None
        words = "" if fault.how not in ERRORS else os.strerror(getattr(errno, fault.how))
        self.judge(said, f"{fault.how} at call {fault.first} ({first})", outcomes, cleans, words)

    def judge(self, said: Said, what: str, outcomes: Outcomes, cleans: bool = False, words: str = "") -> None:
        """Adds what a command left that was disturbed by `what`, after which it goes on.

        `cleans`: it could still remove what it had begun. `words`: what it must say where it fails.
        """
        wrong = list(wrong_words(said))
        if said.status == ENDLESS:
            wrong.append(f"has not ended after {LIMIT_S} s")
        if said.status > 0 and words not in said.errors + said.output:
            wrong.append(f"does not say {words!r}: {said.errors.strip()[-200:]}")
        left = self._left(wrong, said.status == 0)
        if cleans and (more := sorted(_names(self.place) - self.names - self.names_before)):
            wrong.append(f"left {more[0]}")
        kept = self._kept()
        wrong += self._resumed(kept)
        outcomes.add(left, [f"{self.subject.name}: {what}: {line}" for line in wrong])

    def _left(self, wrong: list[str], claimed: bool) -> str:
        """What is there: absent (or as before), whole or some; `claimed`: the command said it was done."""
        try:
            found = self.subject.parts(self.place)
        except BadInput as error:
            wrong.append(f"neither absent nor whole: {error}")
            return "some"
        if found == self.after:
            return "whole"
        for name, value in found.items():
            if value not in (self.before.get(name), self.after.get(name)):
                wrong.append(f"{name} is neither as before nor whole")
        for name in self.before.keys() - found.keys():
            wrong.append(f"{name} was there and is lost")
        if claimed:
            wrong.append("status 0, but not whole")
        return "absent" if found == self.before else "some"

    def _kept(self) -> dict[Path, str]:
        """Digests of the folders that must not change any more."""
        return whole_records(self.place) if self.subject.keeps else {}

    def _resumed(self, kept: dict[Path, str]) -> Iterator[str]:
        """Goes on with the same command; says what is wrong then."""
        until = time.monotonic() + ENDS_S
        while time.monotonic() < until and naming(str(self.place)):  # of a command that was killed
            time.sleep(0.1)
        done = self.run()
        if done.status != 0 and not any(words in done.errors for words in DONE_BEFORE):
            yield f"does not go on: {(done.errors or done.output).strip()[-300:]}"
            return
        try:
            found = self.subject.parts(self.place)
        except BadInput as error:
            yield f"not whole after going on: {error}"
            return
        if found != self.after:
            yield f"after going on: {', '.join(sorted(found))} instead of {', '.join(sorted(self.after))}"
        for path, before in kept.items():
            if not path.is_dir() or digest(path) != before:
                yield f"{path.name} was measured, and has changed"


def _status(running: subprocess.Popen) -> int:
    """The exit status of a program, which is killed where it has not ended in time, as a fork is."""
    try:
        return running.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()
        return ENDLESS


def whole_records(folder: Path) -> dict[Path, str]:
    """Digests of the folders of records that are in their places."""
    records = [path.relative_to(folder) for path in folder.rglob("record.json")]
    kept = [path.parent for path in records if not any(map(_passing, path.parts))]
    return {folder / path: digest(folder / path) for path in kept}


def _passing(part: str) -> bool:
    """Says whether a folder of that name is only there while a command runs."""
    return part == "unchecked" or part.startswith(".")


def _names(folder: Path) -> set[str]:
    """All paths below a folder, with logs of failures and locks left out."""
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not name.endswith((".log", ".lock")) and "/failed/" not in name}


def wrong_words(said: Said) -> Iterator[str]:
    """What is wrong with what a program says that failed."""
    if "Traceback" in said.errors + said.output:
        yield f"a traceback: {said.errors.strip().splitlines()[-1] if said.errors.strip() else ''}"
    if said.status > 0:
        lines = [line for line in said.errors.splitlines() if line.startswith(("spikemark:", "miniapp:"))]
        if not said.errors.strip():
            yield "says nothing"
        elif len(lines) > 1:
            yield f"says more than one line: {' / '.join(lines)}"
