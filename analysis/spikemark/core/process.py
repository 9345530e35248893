"""Starts programs, watches them until they end, and tells what they said last."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import reasons
from .command import Launch

GRACE_S = 5
BAD_INPUT = 2  # exit status of the programs of this project
ENDING = (signal.SIGTERM, signal.SIGKILL)
SIGNAL_AT_END_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux
#: The C library, where it can have the system send a signal to a process whose parent has ended.
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Finished(NamedTuple):
    """How a program ended. `status` is None if it was ended because its time was over."""

    status: int | None
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """Why a program whose status is not 0 failed, in one line (reasons.of_program)."""
        return reasons.of_program(self.errors, self.status)

    @property
    def refusal(self) -> str | None:
        """What a program of this project says against its input; None if it does not refuse that."""
        return reasons.own(f"{self.errors}\n{self.output}") if self.status == BAD_INPUT else None


def watch(start: Launch, limit_s: float) -> Finished:
    """Runs a program to its end.

    All its processes are ended after `limit_s`, or when this process is interrupted.

    A command that does not exist has the status 127, as in a shell.
    """
    try:
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with started(start.command, start.environment, removed=start.removed, **pipes) as program:
            try:
                output, errors = program.communicate(timeout=limit_s)
            except subprocess.TimeoutExpired:
                end(program)
                return Finished(None, "", f"not finished within the time limit of {limit_s:g} s")
            return Finished(program.returncode, output, errors)
    except FileNotFoundError:
        return Finished(127, "", f"{start.command[0]}: command not found")


@contextlib.contextmanager
def started(
    command: list[str],
    environment: dict[str, str] | None = None,
    signs: tuple[signal.Signals, ...] = ENDING,
    grace_s: float = GRACE_S,
    removed: tuple[str, ...] = (),
    **streams: Any,
) -> Iterator[subprocess.Popen]:
    """Starts a program in its own process group, without input; the block must wait for its end.

    `environment` is added to that of this process, less the variables `removed`; `streams` are further
    arguments of Popen, such as `stdout`. An exception in the block, including an interruption, ends the
    whole group with the signals `signs`, `grace_s` seconds apart, and passes on. If this process is killed,
    Linux sends the first of them to the program, which then ends what it has started itself. If a signal
    ended the program, what it leaves, such as the ranks of mpirun, is killed.
    """
    with _noted() as received:
        program = subprocess.Popen(
            command,
            env=Launch(command, environment or {}, removed).applied(os.environ),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_with_parent(signs[0]),
            text=True,
            errors="replace",
            **streams,
        )
    with program:
        try:
            for sign in received:
                signal.raise_signal(sign)
            yield program
        except BaseException:
            end(program, signs, grace_s)
            raise
        finally:
            if program.returncode is not None and program.returncode < 0:
                _end_session(program.pid)


@contextlib.contextmanager
def _noted() -> Iterator[list[int]]:
    """Notes the signals that arrive in the block and would end this process, for `raise_signal` afterwards.

    What a handler raises while Python forks would be ignored (os.register_at_fork), and the program would run
    on. Handlers can be set in the main thread only; elsewhere nothing is noted, since none runs there.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received
        return
    before = {
        sign: signal.signal(sign, lambda number, _: received.append(number))
        for sign in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield received
    finally:
        for sign, handler in before.items():
            signal.signal(sign, signal.SIG_DFL if handler is None else handler)


def _with_parent(sign: signal.Signals) -> Callable[[], None]:
    """What a new process does first so that `sign` reaches it when this one ends, however it ends."""
    parent = os.getpid()

    def ask() -> None:
        if LIBC is not None:
            LIBC.prctl(SIGNAL_AT_END_OF_PARENT, int(sign))
            if os.getppid() != parent:  # it ended before we could ask
                os._exit(128 + sign)

    return ask


def _end_session(leader: int) -> None:
    """Kills the processes of a session whose leader has ended, if the system lists them."""
    for process in _listed():
        with contextlib.suppress(OSError):
            if os.getsid(process) == leader:
                os.kill(process, signal.SIGKILL)


def naming(text: str) -> list[int]:
    """The other processes of this host, as far as they are listed, whose command contains `text`."""
    found = []
    for process in _listed():
        with contextlib.suppress(OSError):
            if text.encode() in Path(f"/proc/{process}/cmdline").read_bytes():
                found.append(process)
    return sorted({*found} - {os.getpid()})


def _listed() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").glob("[0-9]*"))


def end(
    program: subprocess.Popen, signs: tuple[signal.Signals, ...] = ENDING, grace_s: float = GRACE_S
) -> None:
    """Ends the process group of a program with one signal after the other until it is gone."""
    for sign in signs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            program.communicate(timeout=grace_s)
            return
