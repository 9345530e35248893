"""The hardware of the node, as hwloc and the kernel report it."""

import re
from pathlib import Path

from spikemark.core.command import Launch
from spikemark.core.launch import CPUS, Layout, launch
from spikemark.core.process import watch
from spikemark.machines.profile import Value
from spikemark.records.record_fields import Host

from .values import measured

CPUINFO = Path("/proc/cpuinfo")
NOISE = r"\((r|tm)\)|\b(amd|intel|cpu)\b|\d+-core|processor|@.*"  # in the name of a processor
HWLOC, SYSFS = "hwloc", "/sys"
LIMIT_S = 60
#: Prints level, line and threads of each cache of the first core; $1: the folder of the CPUs.
CACHES = (
    'for i in "$1"/cpu0/cache/index*; do'
    ' echo "$(cat "$i/level"):$(cat "$i/coherency_line_size"):$(cat "$i/shared_cpu_list")"; done'
)
CACHE = re.compile(r"(\d*):(\d*):([\d,-]*)")


def default_name() -> str:
    """The name of the processor, as `epyc-7742`, with `-vm` for a virtual machine; `host` if unknown."""
    try:
        text = CPUINFO.read_text()
    except OSError:
        return "host"
    model = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    words = re.sub(NOISE, " ", model[1].lower()) if model else "host"
    virtual = re.search(r"^flags\s*:.*\bhypervisor\b", text, re.MULTILINE)
    return (re.sub(r"[^a-z0-9]+", "-", words).strip("-") or "host") + ("-vm" if virtual else "")


def measure(host: Host, cpus: Path = CPUS, layout: Layout | None = None) -> dict[str, Value]:
    """Values by path, node.…; what neither hwloc nor the kernel reports is left out.

    `layout`: of one rank, where the kernel is asked; None: here.
    """
    caches = _caches(cpus, layout)
    found: dict[str, Value | None] = {
        "sockets": _count(host.sockets),
        "cores": _count(host.cores),
        "memory": measured(host.memory_bytes / 1e9, "GB", detail=HWLOC) if host.memory_bytes else None,
        "line": _line(caches),
        "l3_cores": _sharing(caches, host.threads_per_core or 1),
    }
    for name in ("L1d", "L2", "L3"):
        size = host.cache_bytes.get(name)
        found[name.lower()] = measured(size // 1024, "KiB", detail=HWLOC) if size else None
    return {f"node.{name}": value for name, value in found.items() if value is not None}


def _count(number: int | None) -> Value | None:
    return measured(number, "1", detail=HWLOC) if number else None


def _caches(cpus: Path, layout: Layout | None) -> list[tuple[str, ...]]:
    """Level, line in bytes and threads of each cache of the first core, as the kernel writes them."""
    command = ["sh", "-c", CACHES, "sh", str(cpus)]
    finished = watch(Launch(command) if layout is None else launch(None, command, layout), LIMIT_S)
    return [found.groups() for found in map(CACHE.fullmatch, finished.output.splitlines()) if found]


def _line(caches: list[tuple[str, ...]]) -> Value | None:
    line = next((int(line) for _, line, _ in caches if line), None)
    return measured(line, "B", detail=SYSFS) if line else None


def _sharing(caches: list[tuple[str, ...]], threads_per_core: int) -> Value | None:
    """Cores that share the last-level cache of the first one."""
    shared = next((threads for level, _, threads in caches if level == "3" and threads), None)
    if shared is None:
        return None
    return measured(max(_listed(shared) // threads_per_core, 1), "1", detail=SYSFS)


def _listed(text: str) -> int:
    """How many numbers a list such as `0-3,8` stands for."""
    ends = [[int(n) for n in part.split("-")] for part in text.strip().split(",")]
    return sum(part[-1] - part[0] + 1 for part in ends)
