"""Starts programs, watches them until they end, and tells what they said last."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from typing import Any, NamedTuple

from .command import Launch

GRACE_S = 5
ENDING = (signal.SIGTERM, signal.SIGKILL)


class Finished(NamedTuple):
    """How a program ended. `status` is None if it was ended because its time was over."""

    status: int | None
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """Why a program whose status is not 0 failed, in one line: what it said last, or how it ended."""
        return last_line(self.errors) or _without_message(self.status)


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
    whole group with the signals `signs`, `grace_s` seconds apart, and passes on.
    """
    program = subprocess.Popen(
        command,
        env=Launch(command, environment or {}, removed).applied(os.environ),
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        text=True,
        errors="replace",
        **streams,
    )
    with program:
        try:
            yield program
        except BaseException:
            end(program, signs, grace_s)
            raise


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


def lines(text: str) -> list[str]:
    """The lines that are not blank, without surrounding blanks."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def last_line(text: str) -> str:
    """The last line that is not blank; empty if there is none."""
    return next(reversed(lines(text)), "")


def _without_message(status: int | None) -> str:
    signals = () if status is None else (-status, status - 128)  # as the system and as a shell tell it
    for number in signals:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(number).name}"
    return f"exit status {status} without a message"
