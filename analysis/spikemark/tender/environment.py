"""What a reader must know about a node: processor, firmware, frequencies, kernel, memory and variables.

Every field is a value, or null with the reason why it could not be read. Paths are those of Linux; `root`
stands for `/`, so that tests can plant a tree.
"""

import os
import platform
import re
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

#: Variables are kept whose names begin so: those of MPI, OpenMP, batch systems and memory.
#: Others may be secret.
PREFIXES = (
    "OMP_", "GOMP_", "KMP_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_", "MPIR_CVAR_", "I_MPI_", "UCX_",
    "FI_", "PSM2_", "HCOLL_", "SHARP_", "MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "LD_BIND_NOW", "NUMACTL_",
    "SLURM_CPU", "SLURM_HINT", "SLURM_DISTRIBUTION", "SLURM_MEM_BIND", "SLURM_NNODES", "SLURM_NTASKS",
    "SLURM_TASKS_PER_NODE", "SPIKEMARK_",
)  # fmt: skip
SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|COOKIE", re.IGNORECASE)
#: Words of the kernel's command line that change how long programs take; others, such as disks, are left out.
BOOT = re.compile(
    r"(isolcpus|nohz|nohz_full|rcu_nocbs|mitigations|spectre\w*|nosmt|intel_pstate|amd_pstate|intel_idle\.\S*"
    r"|processor\.\S*|idle|cpuidle\.\S*|transparent_hugepage|(default_)?hugepages\w*|numa_balancing|iommu\w*"
    r"|tsc|clocksource|skew_tick|nmi_watchdog|nowatchdog|audit|preempt)(=\S*)?"
)

Value = dict[str, Any]


def value(found: Any) -> Value:
    """A field that was read."""
    return {"value": found}


def unread(reason: str) -> Value:
    """A field that could not be read."""
    return {"value": None, "reason": reason}


class Unreadable(ValueError):
    """A field cannot be read; the message is the reason."""


def read_node(root: Path = Path("/"), variables: Mapping[str, str] = os.environ) -> dict[str, Value]:
    """All fields of this node."""
    found = {"host": value(socket.gethostname())}
    for name, read in READERS.items():
        try:
            found[name] = value(read(root))
        except Unreadable as why:
            found[name] = unread(str(why))
    found["modules"] = modules(variables)
    found["variables"] = value(kept(variables))
    return found


def kept(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of PREFIXES, sorted, without those that may be secret."""
    return {
        name: text
        for name, text in sorted(variables.items())
        if name.startswith(PREFIXES) and not SECRET.search(name)
    }


def modules(variables: Mapping[str, str]) -> Value:
    """The modules that are loaded."""
    if "LOADEDMODULES" not in variables:
        return unread("LOADEDMODULES is not set: there are no environment modules here")
    return value([name for name in variables["LOADEDMODULES"].split(":") if name])


def text(root: Path, path: str) -> str:
    """The content of a file of the system. Raises Unreadable."""
    try:
        return (root / path).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        raise Unreadable(f"/{path} does not exist") from None
    except PermissionError:
        raise Unreadable(f"/{path} may not be read by this user") from None
    except OSError as error:
        raise Unreadable(f"/{path}: {error.strerror}") from None


def _of_all_cpus(name: str) -> Callable[[Path], Any]:
    """Reads a file of every processor: the one value, or how many processors have each."""

    def read(root: Path) -> Any:
        folder = root / "sys/devices/system/cpu"
        paths = sorted(folder.glob(f"cpu[0-9]*/{name}"))
        if not paths:
            raise Unreadable(f"/sys/devices/system/cpu/cpu*/{name} does not exist")
        texts = [text(root, path.relative_to(root).as_posix()) for path in paths]
        return _counted(texts)

    return read


def _counted(texts: Iterable[str]) -> Any:
    counts: dict[str, int] = {}
    for one in texts:
        counts[one] = counts.get(one, 0) + 1
    return next(iter(counts)) if len(counts) == 1 else counts


def _cpuinfo(name: str) -> Callable[[Path], Any]:
    """Reads a line of /proc/cpuinfo: the one value, or how many processors have each."""

    def read(root: Path) -> Any:
        lines = re.findall(rf"^{name}\s*:\s*(.*)$", text(root, "proc/cpuinfo"), re.MULTILINE)
        if not lines:
            raise Unreadable(f"/proc/cpuinfo has no line {name!r}")
        return _counted(lines)

    return read


def _file(*paths: str) -> Callable[[Path], Any]:
    """Reads the first of several files that there is."""

    def read(root: Path) -> Any:
        reasons = []
        for path in paths:
            try:
                return text(root, path)
            except Unreadable as why:
                reasons.append(str(why))
        raise Unreadable("; ".join(reasons))

    return read


def _chosen(path: str) -> Callable[[Path], Any]:
    """Reads the word in brackets, such as `always` of '[always] madvise never'."""

    def read(root: Path) -> Any:
        found = text(root, path)
        word = re.search(r"\[(\S+)\]", found)
        return word[1] if word else found

    return read


def _several(pattern: str) -> Callable[[Path], Any]:
    """Reads all files of a pattern, by their paths."""

    def read(root: Path) -> Any:
        paths = [path.relative_to(root).as_posix() for path in sorted(root.glob(pattern))]
        if not paths:
            raise Unreadable(f"/{pattern} does not exist")
        return {f"/{path}": text(root, path) for path in paths}

    return read


def _meminfo(name: str) -> Callable[[Path], Any]:
    def read(root: Path) -> Any:
        found = re.search(rf"^{name}:\s*(.*)$", text(root, "proc/meminfo"), re.MULTILINE)
        if not found:
            raise Unreadable(f"/proc/meminfo has no line {name!r}")
        return found[1]

    return read


def _boot(root: Path) -> list[str]:
    return [word for word in text(root, "proc/cmdline").split() if BOOT.fullmatch(word)]


def _os(root: Path) -> str:
    found = re.search(r'^PRETTY_NAME="?(.*?)"?$', text(root, "etc/os-release"), re.MULTILINE)
    if not found:
        raise Unreadable("/etc/os-release has no line PRETTY_NAME")
    return found[1]


def _virtual(root: Path) -> bool:
    flags = re.search(r"^(flags|Features)\s*:(.*)$", text(root, "proc/cpuinfo"), re.MULTILINE)
    if not flags:
        raise Unreadable("/proc/cpuinfo has no line 'flags'")
    return "hypervisor" in flags[2].split()


CPU = "sys/devices/system/cpu"
#: How each field is read. A function raises Unreadable with the reason.
READERS: dict[str, Callable[[Path], Any]] = {
    "kernel": lambda _: f"{platform.system()} {platform.release()} {platform.version()}",
    "kernel_options": _boot,
    "operating_system": _os,
    "processor": _cpuinfo("model name"),
    "virtual_machine": _virtual,
    "microcode": _cpuinfo("microcode"),
    "firmware_vendor": _file("sys/class/dmi/id/bios_vendor"),
    "firmware_version": _file("sys/class/dmi/id/bios_version"),
    "firmware_date": _file("sys/class/dmi/id/bios_date"),
    "board": _file("sys/class/dmi/id/board_name"),
    "product": _file("sys/class/dmi/id/product_name"),
    "processors_online": _file(f"{CPU}/online"),
    "processors_allowed": lambda _: sorted(os.sched_getaffinity(0)),
    "processor_share": _file("sys/fs/cgroup/cpu.max", "sys/fs/cgroup/cpu/cpu.cfs_quota_us"),
    "hardware_threads": _file(f"{CPU}/smt/control"),
    "governor": _of_all_cpus("cpufreq/scaling_governor"),
    "frequency_driver": _of_all_cpus("cpufreq/scaling_driver"),
    "frequency_min_khz": _of_all_cpus("cpufreq/scaling_min_freq"),
    "frequency_max_khz": _of_all_cpus("cpufreq/scaling_max_freq"),
    "frequency_hardware_min_khz": _of_all_cpus("cpufreq/cpuinfo_min_freq"),
    "frequency_hardware_max_khz": _of_all_cpus("cpufreq/cpuinfo_max_freq"),
    "energy_preference": _of_all_cpus("cpufreq/energy_performance_preference"),
    "boost": _file(f"{CPU}/cpufreq/boost"),
    "no_turbo": _file(f"{CPU}/intel_pstate/no_turbo"),
    "power_limits_uw": _several("sys/class/powercap/*/constraint_*_power_limit_uw"),
    "clock_source": _file("sys/devices/system/clocksource/clocksource0/current_clocksource"),
    "memory": _meminfo("MemTotal"),
    "swap": _meminfo("SwapTotal"),
    "transparent_huge_pages": _chosen("sys/kernel/mm/transparent_hugepage/enabled"),
    "huge_pages": _meminfo("HugePages_Total"),
    "huge_page_size": _meminfo("Hugepagesize"),
    "numa_balancing": _file("proc/sys/kernel/numa_balancing"),
    "mitigations": _several(f"{CPU}/vulnerabilities/*"),
}
