"""The hardware of the node, as hwloc and the kernel report it."""

import re
from pathlib import Path

from spikemark.launch import CPUS, Launch, Layout, launch
from spikemark.launch.process import watch
from spikemark.machines.profile import Value
from spikemark.records.record_fields import Host

from .site import measured

CPUINFO = Path("/proc/cpuinfo")
NOISE = r"\((r|tm)\)|\b(amd|intel|cpu)\b|\d+-core|processor|@.*"  # in the name of a processor
LIMIT_S = 60
#: Prints what the kernel says of each cache of the first core; $1: the folder of the CPUs.
CACHES = (
    'for i in "$1"/cpu0/cache/index*; do for name in level type size coherency_line_size shared_cpu_list;'
    ' do printf "%s:" "$(cat "$i/$name")"; done; echo; done'
)
CACHE = re.compile(r"(\d*):(\w*):(\d*)K?:(\d*):([\d,-]*):")


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


def caches(cpus: Path = CPUS, layout: Layout | None = None) -> list[tuple[str, ...]]:
    """Level, type, size in KiB, bytes of a line, and threads of each cache of the first core, as text.

    `layout`: of one rank, where the kernel is asked; None: here.
    """
    command = ["sh", "-c", CACHES, "sh", str(cpus)]
    finished = watch(Launch(command) if layout is None else launch(None, command, layout), LIMIT_S)
    return [found.groups() for found in map(CACHE.fullmatch, finished.output.splitlines()) if found]


def measure(host: Host, cpus: Path = CPUS, layout: Layout | None = None) -> dict[str, Value]:
    """Values by path, node.…; what neither hwloc nor the kernel reports is left out."""
    found = caches(cpus, layout)
    line = next((int(line) for *_, line, _ in found if line), None)
    shared = next((threads for level, *_, threads in found if level == "3" and threads), None)
    threads = shared and sum(
        int(last or first) - int(first) + 1 for first, last in re.findall(r"(\d+)(?:-(\d+))?", shared)
    )
    sharing = threads and max(threads // (host.threads_per_core or 1), 1)
    memory = host.memory_bytes and host.memory_bytes / 1e9
    found = {
        "sockets": (host.sockets, "1", "hwloc"), "cores": (host.cores, "1", "hwloc"),
        "memory": (memory, "GB", "hwloc"), "line": (line, "B", "/sys"), "l3_cores": (sharing, "1", "/sys"),
    }  # fmt: skip
    for name in ("L1d", "L2", "L3"):
        size = host.cache_bytes.get(name)
        found[name.lower()] = size and size // 1024, "KiB", "hwloc"
    return {f"node.{name}": measured(of, unit, detail=by) for name, (of, unit, by) in found.items() if of}
