"""Starts programs, watches them until they end, and tells what they said last."""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from . import reasons
from .layout import Launch

GRACE_S, SAID_LIMIT_S = 5.0, 60
BAD_INPUT = 2  # exit status of the programs of this project
ENDING = (signal.SIGTERM, signal.SIGKILL)
#: The signals that `interruptible` has received, in their order.
received: list[int] = []
#: Has the system send a signal to a program when the process that started it ends (util-linux).
SETPRIV = shutil.which("setpriv")


def interruptible() -> None:
    """Has the first SIGINT or SIGTERM raise KeyboardInterrupt, also where a shell had them ignored.

    Later ones only count as `received`. Linux sends a child its signal for every thread of a killed parent,
    and a second KeyboardInterrupt would cut short the ending of what the child has started itself.
    """
    for sign in (signal.SIGINT, signal.SIGTERM):
        signal.signal(sign, _interrupt)


def _interrupt(number: int, _: object) -> None:
    first = not received  # before the next one, which may come within this function
    received.append(number)
    if first:
        raise KeyboardInterrupt


class Finished(NamedTuple):
    """How a program ended. `status` is None if its time was over, which the last line of `errors` says."""

    status: int | None
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """Why a program whose status is not 0 failed, in one line."""
        return reasons.of_program(self.errors or self.output, self.status)

    @property
    def refusal(self) -> str | None:
        """What a program of this project says against its input; None if it does not refuse that."""
        return reasons.own(f"{self.errors}\n{self.output}") if self.status == BAD_INPUT else None


def watch(start: Launch, limit_s: float, keep: tuple[int, ...] = ()) -> Finished:
    """Runs a program to its end; `keep`: descriptors that it inherits.

    All its processes are ended after `limit_s`, or when this process is interrupted. A command that does not
    exist has the status 127, as in a shell.
    """
    if shutil.which(start.command[0]) is None:
        return Finished(127, "", f"{start.command[0]}: command not found")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pass_fds": keep}
    with started(start.command, start.environment, removed=start.removed, **pipes) as program:
        try:
            output, errors = program.communicate(timeout=limit_s)
            return Finished(program.returncode, output, errors)
        except subprocess.TimeoutExpired:
            output, errors = end(program)
            over = f"not finished within the time limit of {limit_s:g} s\n"
            return Finished(None, output, f"{errors.rstrip()}\n{over}".lstrip())


@functools.cache  # it stays as it is while runs are carried out
def said(*command: str) -> str:
    """What a command says about itself; nothing if there is no such program, or no answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SAID_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


@contextlib.contextmanager
def started(
    command: list[str],
    environment: dict[str, str] | None = None,
    signs: tuple[signal.Signals, ...] = ENDING,
    grace_s: float = GRACE_S,
    removed: tuple[str, ...] = (),
    **streams: Any,
) -> Iterator[subprocess.Popen]:
    """Starts a program in its own session, without input; the block must wait for its end.

    `environment` is added to that of this process, less the variables `removed`; `streams` are further
    arguments of Popen, such as `stdout`. An exception in the block, including an interruption, ends the
    whole group with the signals `signs`, `grace_s` seconds apart, and passes on. If this process is killed,
    Linux sends the first of them to the program, which then ends what it has started itself. What a program
    leaves that did not end well, such as the ranks of mpirun, is killed.
    """
    with_parent = [SETPRIV, "--pdeathsig", signs[0].name.removeprefix("SIG"), "--"] if SETPRIV else []
    env = Launch(command, environment or {}, removed).applied(os.environ)
    text: dict[str, Any] = {"text": True, "errors": "replace", "stdin": subprocess.DEVNULL}
    program = subprocess.Popen([*with_parent, *command], env=env, start_new_session=True, **text, **streams)
    with program:
        try:
            yield program
        except BaseException:
            end(program, signs, grace_s)
            raise
        finally:
            for process in left_over(session=program.pid) if program.returncode else ():
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)


def left_over(naming: str = "", session: int | None = None) -> list[int]:
    """The other processes of this host whose command contains `naming`, or those of a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            named = session is None and naming.encode() in (path / "cmdline").read_bytes()
            if named or os.getsid(int(path.name)) == session:
                found.append(int(path.name))
    return sorted({*found} - {os.getpid()})


def end(
    program: subprocess.Popen, signs: tuple[signal.Signals, ...] = ENDING, grace_s: float = GRACE_S
) -> tuple[str, str]:
    """Ends the process group of a program with one signal after the other; returns what it had printed."""
    for sign in signs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            output, errors = program.communicate(timeout=grace_s)
            return output or "", errors or ""
    return "", ""
