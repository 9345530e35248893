"""Why a program failed, in one line: its own words, the signal that ended it, or its last line."""

import re
import signal

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


def own(text: str) -> str | None:
    """The first line in which a program of this project says what is wrong, without its name; else None."""
    return next((OWN.sub("", line, count=1) for line in _lines(text) if OWN.match(line)), None)


def of_program(text: str, status: int | None) -> str:
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
