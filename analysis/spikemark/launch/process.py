"""Starts programs, watches them until they end, and says why they failed."""

import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from spikemark.core.errors import BadInput

from .layout import Launch

GRACE_S, SAID_LIMIT_S = 5.0, 60
BAD_INPUT, NOT_FOUND = 2, 127  # exit statuses of the programs of this project, and of a shell
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


class ProgramFailed(RuntimeError):
    """A program gave no valid result. The message is the reason, in one line; `log`: what else is kept."""

    def __init__(self, reason: str, log: str = ""):
        super().__init__(reason)
        self.log = log


class Finished(NamedTuple):
    """How a program ended. `status` is None if its time was over, which the last line of `errors` says."""

    status: int | None
    output: str
    errors: str

    @property
    def reason(self) -> str:
        """Why a program whose status is not 0 failed, in one line."""
        return why_failed(self.errors or self.output, self.status)

    @property
    def refusal(self) -> str | None:
        """What a program of this project says against its input; None if it does not refuse that."""
        return own_line(f"{self.errors}\n{self.output}") if self.status == BAD_INPUT else None


def watch(start: Launch, limit_s: float, keep: tuple[int, ...] = ()) -> Finished:
    """Runs a program to its end; `keep`: descriptors that it inherits.

    All its processes are ended after `limit_s`, or when this process is interrupted. A command that does not
    exist has the status NOT_FOUND.
    """
    if shutil.which(start.command[0]) is None:
        return Finished(NOT_FOUND, "", f"{start.command[0]}: command not found")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "pass_fds": keep}
    with started(start.command, start.environment, removed=start.removed, **pipes) as program:
        try:
            output, errors = program.communicate(timeout=limit_s)
            return Finished(program.returncode, output, errors)
        except subprocess.TimeoutExpired:
            output, errors = end(program)
            over = f"not finished within the time limit of {limit_s:g} s\n"
            return Finished(None, output, f"{errors.rstrip()}\n{over}".lstrip())


def output(start: Launch, limit_s: float) -> str:
    """What a program prints. Raises BadInput for what it refuses, ProgramFailed if it fails."""
    finished = watch(start, limit_s)
    if finished.refusal is not None:
        raise BadInput(finished.refusal)
    if finished.status != 0:
        raise ProgramFailed(f"{start.command[0]}: {finished.reason}")
    return finished.output


@functools.cache  # it stays as it is while runs are carried out
def said(*command: str) -> str:
    """What a command says about itself; nothing if there is no such program, or no answer."""
    done = watch(Launch([*command]), SAID_LIMIT_S)
    return "" if done.status in (None, NOT_FOUND) else done.output + done.errors


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


# ---------------------------------------------------------------- why a program failed, in one line

#: What the programs of this project say about an error; their warnings are not errors.
OWN = re.compile(r"(?:miniapp|bench_\w+|spikemark): (?!warning: |interrupted: )")
#: Lines that name no reason: blank ones, warnings, and those of launchers around what a program says.
NO_REASON = re.compile(
    r"$|(?:miniapp|bench_\w+): warning: |spikemark: interrupted: "
    r"|(?:srun|slurmstepd\S*|mpirun|mpiexec|prterun): |[-=*]{3,}|\[\S+:\d+[\]:]|\[(?:mpiexec|proxy)\S*\]"
)
#: What Open MPI says, between two rules: a reason where a program printed nothing, unless it is the status.
BLOCK = re.compile(r"^-{20,}$(.*?)^-{20,}$", re.MULTILINE | re.DOTALL)
STATUS_ONLY = re.compile(r"Primary job|detected that one or more processes exited with non-zero\s+status")
#: What Slurm says, and the reason.
SLURM = {
    r"oom[-_]kill|OOM Killed|Out Of Memory": "out of memory: give more with --mem, or take more nodes",
    r"CANCELLED AT \S+ DUE TO TIME LIMIT": "the job reached its time limit: give more with --time",
}
NAMES = {signal.strsignal(number): number for number in signal.Signals}
#: How launchers and shells name the signal that ended a rank, by name or number.
SIGNAL = re.compile(
    rf"(?:tasks? [\d,-]+: |: \d+ )({'|'.join(map(re.escape, filter(None, NAMES)))})"
    r"|exited on\s+signal (\d+)|EXIT STRING: .* \(signal (\d+)\)"
)


def last_line(text: str) -> str:
    """The last line that is not blank; empty if there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def own_line(text: str) -> str | None:
    """The first line in which a program of this project says what is wrong, without its name; else None."""
    return next((OWN.sub("", line, count=1) for line in _lines(text) if OWN.match(line)), None)


def why_failed(text: str, status: int | None) -> str:
    """Why a program failed that printed `text` and ended with `status`, negative for a signal.

    The first of: what a program of this project says, out of memory, the time limit of the job, the signal,
    the last line that no launcher wrote, what Open MPI says, the status. `status` None: the last line.
    """
    if status is None:
        return last_line(text)
    reasons = [line for line in _lines(text) if OWN.match(line)]
    reasons += [reason for pattern, reason in SLURM.items() if re.search(pattern, text)]
    number = max(0, -status) or (status - 128 if 128 < status < 128 + signal.NSIG else 0)
    if found := SIGNAL.search(text):
        number = NAMES[found[1]] if found[1] else int(found[2] or found[3])
    if number:
        name = signal.Signals(number).name if number in NAMES.values() else f"signal {number}"
        hint = ", by somebody or because memory ran out" if number == signal.SIGKILL else ""
        reasons.append(f"ended by {name} ({(signal.strsignal(number) or 'unknown').lower()}{hint})")
    reasons += [line for line in _lines(BLOCK.sub("", text)) if not NO_REASON.match(line)][-1:]
    reasons += [" ".join(block.split()) for block in BLOCK.findall(text) if not STATUS_ONLY.search(block)]
    return next(iter(reasons), f"exit status {status} without a message")


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]
