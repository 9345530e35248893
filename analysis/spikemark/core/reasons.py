"""Why a program failed, in one line, read from what the program, its launcher and Slurm said.

The wordings are those of srun and slurmstepd of Slurm 22.05, of mpirun of Open MPI 4.1, and of mpiexec of
MPICH 4.0. They are collected in the tests, each with the program that wrote it.
"""

import contextlib
import re
import signal
from collections.abc import Iterator

#: What the programs of this project say about an error; their warnings are not errors.
OWN = re.compile(r"(?:miniapp|bench_\w+|spikemark): (?!warning: |interrupted: )")
#: Lines of a launcher, which surround what its program says.
LAUNCHER = re.compile(
    r"(?:srun|salloc|sbatch|slurmstepd\S*|slurmd\S*|mpirun|mpiexec|prterun): |=|\*\*\* "
    r"|\[\S+:\d+[\]:]|\[(?:mpiexec|proxy)\S*\]|\d+ total processes failed to start$"
    r"|YOUR APPLICATION TERMINATED|This typically refers to a problem|Please see the FAQ page"
)
RULE = re.compile(r"-{20,}$")
#: Beginnings of what Open MPI says between two rules that is no reason.
NO_REASON = ("Primary job", "WARNING", "mpirun detected that one or more processes exited")
MORE_TIME = "give more with --time, or time_limit in slurm.yaml"
MORE_MEMORY = "give more with --mem or --mem-per-cpu, or take more nodes"
NAMES = {signal.strsignal(number): number for number in signal.Signals}
SIGNALS = "|".join(re.escape(name) for name in NAMES if name)
#: Signals that the system or a person sends, not an error of the program itself.
SENT = (signal.SIGTERM, signal.SIGKILL, signal.SIGINT, signal.SIGHUP)
TASKS = re.compile(rf"srun: error: (\S+): tasks? ([\d,-]+): (Out Of Memory|{SIGNALS})(?: \(core dumped\))?$")
NOTICED = re.compile(r"noticed that process rank (\d+) with PID \d+ on node (\S+) exited on\s+signal (\d+)")
CANCELLED = re.compile(
    r"\*\*\* (JOB|STEP) (\S+) ON \S+ CANCELLED AT \S+?(?: DUE TO ([^*]+?))?(?:,[^*]*)? \*\*\*"
)
ABORTED = re.compile(r"^srun: Job step aborted|\*\*\* (?:JOB|STEP) \S+ ON \S+ CANCELLED", re.MULTILINE)
#: What srun says if its job ended, or was cancelled, before it could start the ranks.
JOB_OVER = re.compile(r"Slurm job \d+ has expired")
EXITED = re.compile(r"srun: error: (\S+): tasks? ([\d,-]+): Exited with exit code (\d+)")
STEPD = re.compile(r"slurmstepd-(\S+): ")
#: What the shell says about a line of a batch script, which Slurm keeps under this name.
SCRIPT = re.compile(r"\S*slurm_script: ")
NO_COMPLAINT = re.compile(r"(?:miniapp|bench_\w+): warning: |spikemark: interrupted: ")
HINTS = {
    signal.SIGKILL: ": by somebody, or by the system because memory ran out",
    signal.SIGILL: ": was the program built for another processor?",
    signal.SIGBUS: ": is a file system, such as /dev/shm, full?",
}


def lines(text: str) -> list[str]:
    """The lines that are not blank, without surrounding blanks."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def last_line(text: str) -> str:
    """The last line that is not blank; empty if there is none."""
    return next(reversed(lines(text)), "")


def own(text: str) -> str | None:
    """The first line in which a program of this project says what is wrong, without its name; else None."""
    return next((OWN.sub("", line, count=1) for line in lines(text) if OWN.match(line)), None)


def of_program(text: str, status: int | None) -> str:
    """Why a program failed that printed `text` and ended with `status`, negative for a signal.

    The reason is the first that is known of: what a program of this project says; how the program ended, as
    the launcher or Slurm tells it; what it said last; what the launcher complains of; its status.
    """
    said = next((line for line in lines(text) if OWN.match(line)), None)
    ways = (_memory, fault, _due, _sent, _missing, _error_of_mpi)
    reason = (
        said
        or next((found for way in ways if (found := way(text))), None)
        or (_signal(-status) if status is not None and status < 0 and -status != signal.SIGABRT else None)
        or _last_of_program(text)
        or _block(text)
        or _last_of_launcher(text)
        or _of_status(text, status)
    )
    return reason + _lost_folder(text)


def fault(text: str) -> str | None:
    """The signal by which a program ended for an error of its own, and where; None if there is none."""
    found = next((f for f in _signals(text) if f[0] not in SENT), None)
    if found is None:
        return None
    said = _last_of_program(text) if found[0] == signal.SIGABRT else None  # what it was aborted for
    return (f"{said}: " if said else "") + _signal(*found)


def at_time_limit(what: str, limit: str | None = None) -> str:
    """Says that Slurm ended `what`, such as a job, at its time limit, and which option raises it."""
    return f"Slurm ended {what} at its time limit{f' of {limit}' if limit else ''}: {MORE_TIME}"


def _memory(text: str) -> str | None:
    found = next((f for f in _tasks(text) if f[2] == "Out Of Memory"), None)
    if not found and not re.search(r"oom[-_]kill event|OOM Killed", text):
        return None
    where = _where(found[0], found[1]) if found else ""
    return f"out of memory{where}: {MORE_MEMORY}"


def _due(text: str) -> str | None:
    """Why Slurm itself cancelled the job or the step; None if it did not, or for a reason of the program."""
    found = CANCELLED.findall(text)
    if not found:
        return None
    kind, id, why = sorted(found, key=lambda match: match[0] != "JOB")[0]
    what = f"{kind.lower()} {id}"
    if why == "TIME LIMIT":
        return at_time_limit(what)
    if why == "NODE FAILURE":
        return f"Slurm cancelled {what}: a node failed"
    if why:
        return f"Slurm cancelled {what}: {why.lower()}"
    return f"{what} was cancelled" if ABORTED.search(_before_srun_ends_the_others(text)) else None


def _sent(text: str) -> str | None:
    found = next((f for f in _signals(text) if f[0] in SENT), None)
    return _signal(*found) if found else None


def _missing(text: str) -> str | None:
    """A program or working folder that is not there, as Slurm and MPICH tell it."""
    if found := re.search(r"execve\(\): (?:bad interpreter\()?(.+?)\)?: (.+)", text):
        return f"{found[1]}: {found[2]}{_where(_node_of(STEPD, text))}"
    where = _where(_node_of(re.compile(r"\[proxy:\S*@([^\]\s]+)\]"), text))
    if found := re.search(r"execvp error on file (.+) \((.+)\)", text):
        return f"{found[1]}: {found[2]}{where}"
    if found := re.search(r"unable to change wdir to (.+) \((.+)\)", text):
        return f"working folder {found[1]}: {found[2]}{where}"
    return None


def _error_of_mpi(text: str) -> str | None:
    found = re.search(r"\*\*\* (MPI_ERR\w*: .+)", text)
    return found[1].strip() if found else None


def _lost_folder(text: str) -> str:
    """What to add if Slurm took another working folder, since that of the job does not exist on a node."""
    found = re.search(r"couldn't chdir to `(.+?)': ([^:\n]+)", text)
    return f"; working folder {found[1]}: {found[2]}{_where(_node_of(STEPD, text))}" if found else ""


def _tasks(text: str) -> list[tuple[str, str, str]]:
    """Node, ranks and end, as srun says."""
    said = _before_srun_ends_the_others(text).splitlines()
    return [found.groups() for line in said if (found := TASKS.match(line.strip()))]


def _before_srun_ends_the_others(text: str) -> str:
    """The text up to where srun says that it ends all ranks because one of them has ended badly."""
    return re.split(
        r"^srun: (?:launch/slurm: _step_signal: )?Terminating ", text, maxsplit=1, flags=re.MULTILINE
    )[0]


def _signals(text: str) -> Iterator[tuple[int, str]]:
    """Signals by which ranks ended, and where, in the order of evidence."""
    for node, ranks, name in _tasks(text):
        if name in NAMES:
            yield NAMES[name], _where(node, ranks)
    if found := NOTICED.search(text):
        yield int(found[3]), _where(found[2], found[1])
    if found := re.search(r"WITH THE EXIT STRING: .* \(signal (\d+)\)", text):
        yield int(found[1]), _where(_node_of(re.compile(r"PID \d+ RUNNING AT (\S+)"), text))
    if found := re.search(r"^\[(\S+):\d+\] Signal: .* \((\d+)\)", text, re.MULTILINE):
        yield int(found[2]), _where(found[1])
    if found := re.search(rf"^\S+: line \d+: +\d+ ({SIGNALS})\b", text, re.MULTILINE):  # of bash
        yield NAMES[found[1]], ""


def _signal(number: int, where: str = "") -> str:
    with contextlib.suppress(ValueError):
        meaning = (signal.strsignal(number) or "").lower()
        return f"ended by {signal.Signals(number).name} ({meaning}){where}{HINTS.get(number, '')}"
    return f"ended by signal {number}{where}"


def _where(node: str | None, ranks: str = "") -> str:
    several = "s" if re.search(r"\D", ranks) else ""
    return (f" on node {node}" if node else "") + (f", rank{several} {ranks}" if ranks else "")


def _node_of(pattern: re.Pattern, text: str) -> str | None:
    found = pattern.search(text)
    return found[1] if found else None


def _blocks(text: str) -> Iterator[list[str]]:
    """The lines of each block that Open MPI prints between two rules; lines outside are blocks of their own.

    A block of Open MPI begins with its rule.
    """
    inside: list[str] | None = None
    for line in map(str.strip, text.splitlines()):
        if RULE.match(line):
            if inside is not None:
                yield inside
            inside = [line] if inside is None else None
        elif inside is not None:
            inside.append(line)
        elif line:
            yield [line]
    for line in filter(None, (inside or [])[1:]):  # a single rule is a program's
        yield [line]


def _last_of_program(text: str) -> str | None:
    """The last line that no launcher wrote; for a batch script, all complaints of the shell."""
    said = [block[0] for block in _blocks(text) if not RULE.match(block[0])]
    said = [line for line in said if not LAUNCHER.match(line) and not NO_COMPLAINT.match(line)]
    if not said:
        return None
    if SCRIPT.match(said[-1]):
        return "; ".join(SCRIPT.sub("", line) for line in said if SCRIPT.match(line))
    return said[-1]


def _block(text: str) -> str | None:
    """What Open MPI says first between its rules."""
    for _, *block in (block for block in _blocks(text) if RULE.match(block[0])):
        if not block or block[0].startswith(NO_REASON):
            continue
        told = dict(line.split(": ", 1) for line in block if ": " in line)
        where = _where(told.get("Node"))
        if "Executable" in told:
            return f"{told['Executable']}: no program that can be executed{where}"
        if "Working directory" in told:
            return f"working folder {told['Working directory']}: No such file or directory{where}"
        paragraphs = [" ".join(part.split()) for part in "\n".join(block).split("\n\n") if part.strip()]
        return " ".join(paragraphs[:2] if paragraphs[0].endswith(":") else paragraphs[:1])
    return None


def _last_of_launcher(text: str) -> str | None:
    """The last complaint of srun, but not how its ranks ended."""
    said = re.findall(r"^(?:srun|salloc|slurmstepd\S*): error: (.+)", text, re.MULTILINE)
    said = [line for line in said if not re.match(r"\S+: tasks? [\d,-]+: |couldn't chdir|\*\*\* ", line)]
    return f"Slurm: {said[-1]}" if said else None


def _of_status(text: str, status: int | None) -> str:
    where = ""
    if found := EXITED.search(text):
        status, where = int(found[3]), _where(found[1], found[2])
    if status is not None and 128 < status < 128 + signal.NSIG:  # as a shell or mpirun tells it
        return _signal(status - 128, where)
    if status is not None and status < 0:
        return _signal(-status)
    return f"exit status {status} without a message{where}"
