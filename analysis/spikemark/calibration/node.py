"""The hardware of the node, as hwloc and the kernel report it."""

import re
from pathlib import Path

from spikemark.core.launch import CPUS
from spikemark.machines.profile import Value
from spikemark.records.record_fields import Host

from .values import measured

CPUINFO = Path("/proc/cpuinfo")
NOISE = r"\((r|tm)\)|\b(amd|intel|cpu)\b|\d+-core|processor|@.*"  # in the name of a processor
HWLOC, SYSFS = "hwloc", "/sys"


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


def measure(host: Host, cpus: Path = CPUS) -> dict[str, Value]:
    """Values by path, node.…; what neither hwloc nor the kernel reports is left out."""
    found: dict[str, Value | None] = {
        "sockets": _count(host.sockets),
        "cores": _count(host.cores),
        "memory": measured(host.memory_bytes / 1e9, "GB", detail=HWLOC) if host.memory_bytes else None,
        "line": _line(cpus),
        "l3_cores": _sharing(cpus, host.threads_per_core or 1),
    }
    for name in ("L1d", "L2", "L3"):
        size = host.cache_bytes.get(name)
        found[name.lower()] = measured(size // 1024, "KiB", detail=HWLOC) if size else None
    return {f"node.{name}": value for name, value in found.items() if value is not None}


def _count(number: int | None) -> Value | None:
    return measured(number, "1", detail=HWLOC) if number else None


def _line(cpus: Path) -> Value | None:
    try:
        return measured(int((cpus / "cpu0/cache/index0/coherency_line_size").read_text()), "B", detail=SYSFS)
    except (OSError, ValueError):
        return None


def _sharing(cpus: Path, threads_per_core: int) -> Value | None:
    """Cores that share the last-level cache of the first one."""
    for index in sorted((cpus / "cpu0/cache").glob("index*")):
        try:
            if (index / "level").read_text().strip() == "3":
                threads = _listed((index / "shared_cpu_list").read_text())
                return measured(max(threads // threads_per_core, 1), "1", detail=SYSFS)
        except (OSError, ValueError):
            return None
    return None


def _listed(text: str) -> int:
    """How many numbers a list such as `0-3,8` stands for."""
    ends = [[int(n) for n in part.split("-")] for part in text.strip().split(",")]
    return sum(part[-1] - part[0] + 1 for part in ends)
