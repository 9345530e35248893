"""Says why a program failed, in one line, from what it printed and how it ended.

A failed run prints much: launchers write rules and warnings around what the program says, each rank
may complain, Slurm ends what takes too long. The programs of this project say what is wrong in a
line that begins with their name; that comes first.
"""

import re
import signal

#: What the programs of this project say about an error; their warnings are not errors.
OWN_LINE = re.compile(r"(?:miniapp|bench_\w+|spikemark): (?!warning: |interrupted: )")
#: Lines that name no reason: blank ones, warnings, and those of launchers around what a program
#: says.
NO_REASON = re.compile(
    r"$|(?:miniapp|bench_\w+): warning: |spikemark: interrupted: "
    r"|(?:srun|slurmstepd\S*|mpirun|mpiexec|prterun):"
    r" |[-=*]{3,}|\[\S+:\d+[\]:]|\[(?:mpiexec|proxy)\S*\]"
)
#: What Open MPI says, between two rules: a reason where a program printed nothing.
OPEN_MPI_BLOCK = re.compile(r"^-{20,}$(.*?)^-{20,}$", re.MULTILINE | re.DOTALL)
#: Such a block that tells no more than the exit status.
STATUS_ONLY = re.compile(
    r"Primary job|detected that one or more processes exited with non-zero\s+status"
)
#: What Slurm says, and the reason.
SLURM_REASONS = {
    r"oom[-_]kill|OOM Killed|Out Of Memory": (
        "out of memory: give more with --mem, or take more nodes"
    ),
    r"CANCELLED AT \S+ DUE TO TIME LIMIT": "the job reached its time limit: give more with --time",
    r"Slurm job \d+ has expired": "the job has ended: the same command in another one continues",
}
#: Signals by their names in words.
SIGNALS = {signal.strsignal(number): number for number in signal.Signals}
SIGNAL_NAMES = "|".join(re.escape(name) for name in SIGNALS if name)
#: How launchers and shells name the signal that ended a rank, by name or number.
NAMED_SIGNAL = re.compile(
    rf"(?:tasks? [\d,-]+: |: \d+ )({SIGNAL_NAMES})"
    r"|exited on\s+signal (\d+)|EXIT STRING: .* \(signal (\d+)\)"
)


def last_line(text: str) -> str:
    """The last line that is not blank; empty if there is none.

    Example:
        >>> last_line("one\\ntwo\\n\\n")
        'two'
    """
    lines = [line for line in _lines(text) if line]
    return lines[-1] if lines else ""


def own_line(text: str) -> str | None:
    """The first line in which a program of this project says what is wrong, without its name.

    None if there is no such line.

    Example:
        >>> own_line("some warning\\nminiapp: ranks: expected at most 4")
        'ranks: expected at most 4'
    """
    for line in _lines(text):
        if OWN_LINE.match(line):
            return OWN_LINE.sub("", line, count=1)
    return None


def why_failed(text: str, status: int | None) -> str:
    """Why a program failed.

    The first of: what a program of this project says, out of memory, the time limit of the job, the
    signal, the last line that no launcher wrote, what Open MPI says, the status.

    Args:
        text: what the program printed.
        status: the exit status, negative for a signal; None where its time was over, so that the
            last line says why.

    Example:
        >>> why_failed("rank 1\\nminiapp: ranks=0; expected at least 1\\n", 2)
        'miniapp: ranks=0; expected at least 1'
        >>> why_failed("", -15)
        'ended by SIGTERM (terminated)'
    """
    if status is None:
        return last_line(text)
    for line in _lines(text):
        if OWN_LINE.match(line):
            return line
    for pattern, reason in SLURM_REASONS.items():
        if re.search(pattern, text):
            return reason
    number = _signal_number(text, status)
    if number:
        return _ended_by_signal(number)
    lines = [line for line in _lines(OPEN_MPI_BLOCK.sub("", text)) if not NO_REASON.match(line)]
    if lines:
        return lines[-1]
    for block in OPEN_MPI_BLOCK.findall(text):
        if not STATUS_ONLY.search(block):
            return " ".join(block.split())
    return f"exit status {status} without a message"


def _signal_number(text: str, status: int) -> int:
    """The signal that ended a program, as a launcher says or by its status; 0 for none."""
    match = NAMED_SIGNAL.search(text)
    if match is not None:
        return SIGNALS[match[1]] if match[1] else int(match[2] or match[3])
    if status < 0:
        return -status
    if 128 < status < 128 + signal.NSIG:  # as shells say it
        return status - 128
    return 0


def _ended_by_signal(number: int) -> str:
    name = signal.Signals(number).name if number in SIGNALS.values() else f"signal {number}"
    meaning = (signal.strsignal(number) or "unknown").lower()
    if number == signal.SIGKILL:
        meaning += ", by somebody or because memory ran out"
    return f"ended by {name} ({meaning})"


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]
