"""Starts programs and watches them until they end."""

import contextlib
import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spikemark.core import interrupts
from spikemark.core.errors import BadInput

from .layout import Launch
from .why_failed import own_line, why_failed

#: Seconds that a program has to end after a signal, before the next one.
GRACE_S = 5.0
#: Seconds for a command to say something about itself.
SAID_LIMIT_S = 60
#: Exit status of the programs of this project for bad input.
BAD_INPUT = 2
#: Exit status of a shell for a command that it does not find.
NOT_FOUND = 127
#: Signals that end a program, one after the other.
ENDING = (signal.SIGTERM, signal.SIGKILL)
#: Has the system send a signal to a program when the process that started it ends (util-linux).
SETPRIV = shutil.which("setpriv")


class ProgramFailed(RuntimeError):
    """A program gave no valid result. The message is the reason, in one line.

    Attributes:
        log: what else the program said.
    """

    def __init__(self, reason: str, log: str = ""):
        super().__init__(reason)
        self.log = log


class FinishedProgram(NamedTuple):
    """How a program ended."""

    #: Exit status; None if its time was over, which the last line of `errors` says.
    status: int | None
    output: str  #: what it printed on standard output
    errors: str  #: what it printed on standard error

    @property
    def reason(self) -> str:
        """Why a program whose status is not 0 failed, in one line."""
        return why_failed(self.errors or self.output, self.status)

    @property
    def refusal(self) -> str | None:
        """What a program of this project says against its input; None if it does not refuse it."""
        if self.status != BAD_INPUT:
            return None
        return own_line(f"{self.errors}\n{self.output}")


def watch(start: Launch, limit_s: float, keep: tuple[int, ...] = ()) -> FinishedProgram:
    """Runs a program to its end.

    All its processes are ended after `limit_s` seconds, or when this process is interrupted. A
    command that does not exist has the status NOT_FOUND. `keep`: file descriptors that it inherits.

    Example:
        >>> watch(Launch(["sh", "-c", "exit 3"]), limit_s=10).status
        3
    """
    if shutil.which(start.command[0]) is None:
        return FinishedProgram(NOT_FOUND, "", f"{start.command[0]}: command not found")
    with running_program(
        start.command,
        start.environment,
        removed=start.removed,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=keep,
    ) as program:
        try:
            output, errors = program.communicate(timeout=limit_s)
            return FinishedProgram(program.returncode, output, errors)
        except subprocess.TimeoutExpired:
            output, errors = end(program)
            reason = f"not finished within the time limit of {limit_s:g} s\n"
            return FinishedProgram(None, output, f"{errors.rstrip()}\n{reason}".lstrip())


def output(start: Launch, limit_s: float) -> str:
    """What a program prints. Raises BadInput for what it refuses, ProgramFailed if it fails.

    Example:
        >>> output(Launch(["echo", "4 ranks"]), limit_s=10)
        '4 ranks\\n'
    """
    finished = watch(start, limit_s)
    if finished.refusal is not None:
        raise BadInput(finished.refusal, code="file")
    if finished.status != 0:
        raise ProgramFailed(f"{start.command[0]}: {finished.reason}")
    return finished.output


@functools.cache  # it stays as it is while runs are carried out
def command_output(*command: str) -> str:
    """What a command says about itself; nothing if there is no such program, or no answer.

    Example:
        >>> command_output("no-such-program")
        ''
    """
    finished = watch(Launch([*command]), SAID_LIMIT_S)
    if finished.status in (None, NOT_FOUND):
        return ""
    return finished.output + finished.errors


@contextlib.contextmanager
def running_program(
    command: list[str],
    environment: dict[str, str] | None = None,
    signs: tuple[signal.Signals, ...] = ENDING,
    grace_s: float = GRACE_S,
    removed: tuple[str, ...] = (),
    **streams: Any,
) -> Iterator[subprocess.Popen[str]]:
    """Starts a program in its own session, without input; the block must wait for its end.

    `environment` is added to that of this process, less the variables `removed`; `streams` are
    further arguments of Popen, such as `stdout`. An exception in the block, including an
    interruption, ends the whole group with the signals `signs`, `grace_s` seconds apart, and passes
    on. If this process is killed, Linux sends the first of them to the program, which then ends
    what it has started itself. What a program leaves that did not end well, such as the ranks of
    mpirun, is killed.

    Example:
        >>> with running_program(["sleep", "60"]) as program:
        ...     _ = end(program)
        >>> program.returncode != 0
        True
    """
    with_parent = []
    if SETPRIV:
        with_parent = [SETPRIV, "--pdeathsig", signs[0].name.removeprefix("SIG"), "--"]
    interrupts.hold()
    try:
        program = subprocess.Popen(
            [*with_parent, *command],
            env=Launch(command, environment or {}, removed).applied(os.environ),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            text=True,
            errors="replace",
            **streams,
        )
    except BaseException:
        interrupts.release()
        raise
    with program:
        try:
            interrupts.release()
            yield program
        except BaseException:
            end(program, signs, grace_s)
            raise
        finally:
            if program.returncode:
                for process in left_over(session=program.pid):
                    with contextlib.suppress(OSError):
                        os.kill(process, signal.SIGKILL)


def left_over(naming: str = "", session: int | None = None) -> list[int]:
    """The other processes of this host whose command contains `naming`, or those of a session.

    Example:
        >>> left_over("no program has such an argument")
        []
    """
    processes = set()
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            named = session is None and naming.encode() in (path / "cmdline").read_bytes()
            if named or os.getsid(int(path.name)) == session:
                processes.add(int(path.name))
    return sorted(processes - {os.getpid()})


def end(
    program: subprocess.Popen[str],
    signs: tuple[signal.Signals, ...] = ENDING,
    grace_s: float = GRACE_S,
) -> tuple[str, str]:
    """Ends the process group of a program with one signal after the other.

    Returns what it had printed on standard output and standard error.

    Example:
        >>> with running_program(["echo", "done"], stdout=subprocess.PIPE) as program:
        ...     _ = program.wait()
        ...     output, errors = end(program)
        >>> output
        'done\\n'
    """
    for sign in signs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program.pid, sign)
        with contextlib.suppress(subprocess.TimeoutExpired):
            output, errors = program.communicate(timeout=grace_s)
            return output or "", errors or ""
    return "", ""
