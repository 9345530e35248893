"""The hardware of the node, as hwloc and the kernel report it.

The mini-app writes what hwloc knows (sockets, cores, sizes of caches) into its record; the length
of a cache line and the cores that share the last cache are read from the kernel's files in /sys,
on the node that is measured.
"""

import re
from pathlib import Path
from typing import NamedTuple

from spikemark.launch import CPUS, Launch, LaunchLayout, launch
from spikemark.launch.process import watch
from spikemark.machines.profile import Value
from spikemark.records.schema import Host

from .site import measured

CPUINFO = Path("/proc/cpuinfo")
NOISE = r"\((r|tm)\)|\b(amd|intel|cpu)\b|\d+-core|processor|@.*"  # in the name of a processor
#: Longest time that reading the kernel's files may take, s.
READING_LIMIT_S = 60
#: Prints what the kernel says of each cache of the first core; $1: the folder of the CPUs.
PRINT_CACHES = (
    'for i in "$1"/cpu0/cache/index*; do for name in level type size coherency_line_size'
    ' shared_cpu_list; do printf "%s:" "$(cat "$i/$name")"; done; echo; done'
)
CACHE_LINE = re.compile(r"(\d*):(\w*):(\d*)K?:(\d*):([\d,-]*):")


class KernelCache(NamedTuple):
    """A cache of the first core, as the kernel describes it; a number that it leaves out is 0."""

    level: int
    kind: str  #: Data, Instruction or Unified
    size_kib: int
    line: int  #: bytes of a cache line
    threads: int  #: hardware threads that share it


#: What is read where the folder has no caches.
NO_CACHE = KernelCache(level=0, kind="", size_kib=0, line=0, threads=0)


def default_name() -> str:
    """A name for this host, made from its processor's: `epyc-7742`.

    Virtual machines get `-vm` behind it; an unknown processor is called `host`.

    Example:
        >>> default_name() != ""
        True
    """
    try:
        text = CPUINFO.read_text(encoding="utf-8")
    except OSError:
        return "host"
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    virtual = re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE)
    name = processor_name(model[1] if model else "")
    return f"{name}-vm" if virtual else name


def processor_name(model: str) -> str:
    """The short name in a model name of a processor; `host` if nothing is left of it.

    >>> processor_name("AMD EPYC 7742 64-Core Processor")
    'epyc-7742'
    """
    words = re.sub(NOISE, " ", model.lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "host"


def caches(cpus: Path = CPUS, layout: LaunchLayout | None = None) -> list[KernelCache]:
    """The caches of the first core.

    Args:
        cpus: the kernel's folder of CPUs.
        layout: of one rank, where the kernel is asked; None: here.

    Example:
        >>> caches(cpus=Path("nowhere"))  # of a kernel that describes none
        []
    """
    command = ["sh", "-c", PRINT_CACHES, "sh", str(cpus)]
    start = Launch(command) if layout is None else launch(None, command, layout)
    lines = watch(start, READING_LIMIT_S).output.splitlines()
    matches = [CACHE_LINE.fullmatch(line) for line in lines]
    described = [_cache(*match.groups()) for match in matches if match]
    return [cache for cache in described if cache != NO_CACHE]


def _cache(level: str, kind: str, size: str, line: str, shared: str) -> KernelCache:
    """A cache from what the kernel prints of it, see PRINT_CACHES."""
    return KernelCache(
        level=int(level or 0),
        kind=kind,
        size_kib=int(size or 0),
        line=int(line or 0),
        threads=thread_count(shared),
    )


def thread_count(shared: str) -> int:
    """The number of hardware threads in a list of the kernel.

    >>> thread_count("0-3,64-67"), thread_count("5"), thread_count("")
    (8, 1, 0)
    """
    count = 0
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", shared):
        count += int(last or first) - int(first) + 1
    return count


def measure(host: Host, cpus: Path = CPUS, layout: LaunchLayout | None = None) -> dict[str, Value]:
    """Values by path, node.…; what neither hwloc nor the kernel reports is left out.

    Example:
        >>> from spikemark.records.record import load_run
        >>> host = load_run("tests/golden/analysis/records/aware-4").record.host
        >>> sorted(measure(host, cpus=Path("nowhere")))
        ['node.cores', 'node.l1d', 'node.l2', 'node.l3', 'node.memory', 'node.sockets']
    """
    values = {}

    def state(name: str, number: float | None, unit: str, source: str) -> None:
        if number:
            values[f"node.{name}"] = measured(number, unit, detail=source)

    described = caches(cpus, layout)
    lines = [cache.line for cache in described if cache.line]
    last_level_threads = [
        cache.threads for cache in described if cache.level == 3 and cache.threads
    ]
    state("sockets", host.sockets, "1", "hwloc")
    state("cores", host.cores, "1", "hwloc")
    if host.memory_bytes:
        state("memory", host.memory_bytes / 1e9, "GB", "hwloc")
    if lines:
        state("line", lines[0], "B", "/sys")
    if last_level_threads:
        threads_per_core = host.threads_per_core or 1
        state("l3_cores", max(last_level_threads[0] // threads_per_core, 1), "1", "/sys")
    for name in ("L1d", "L2", "L3"):
        size = host.cache_bytes.get(name)
        if size:
            state(name.lower(), size // 1024, "KiB", "hwloc")
    return values
