"""What a reader must know about a node: processor, firmware, frequencies, kernel, memory and variables.

Every field is a value, or null with the reason why it could not be read. `root` stands for `/`.
"""

import os
import platform
import re
import socket
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spikemark.core.files import write_json

#: Starts of the names of variables that are kept. Others may be secret.
PREFIXES = (
    "OMP_", "GOMP_", "KMP_", "OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_", "MPICH_", "MPIR_CVAR_", "I_MPI_", "UCX_",
    "FI_", "PSM2_", "HCOLL_", "SHARP_", "MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD", "LD_BIND_NOW", "NUMACTL_",
    "SLURM_CPU", "SLURM_HINT", "SLURM_DISTRIBUTION", "SLURM_MEM_BIND", "SLURM_NNODES", "SLURM_NTASKS",
    "SLURM_TASKS_PER_NODE", "SPIKEMARK_",
)  # fmt: skip
SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|COOKIE", re.IGNORECASE)
#: Words of the kernel's command line that change how long programs take; others, such as disks, are left out.
BOOT = (
    r"(?<!\S)(?:isolcpus|nohz|nohz_full|rcu_nocbs|mitigations|spectre\w*|nosmt|intel_pstate|amd_pstate"
    r"|intel_idle\.\S*|processor\.\S*|idle|cpuidle\.\S*|transparent_hugepage|(?:default_)?hugepages\w*"
    r"|numa_balancing|iommu\w*|tsc|clocksource|skew_tick|nmi_watchdog|nowatchdog|audit|preempt)(?:=\S*)?(?!\S)"
)
DMI, CPU, EACH = "sys/class/dmi/id", "sys/devices/system/cpu", "cpu[0-9]*/cpufreq"
#: Fields: the files whose whole text says it, or the files and what of their text, every match of a pattern.
FIELDS = {
    "firmware_vendor": f"{DMI}/bios_vendor", "firmware_version": f"{DMI}/bios_version",
    "firmware_date": f"{DMI}/bios_date", "product": f"{DMI}/product_name",
    "processors_online": f"{CPU}/online", "processor_share": "sys/fs/cgroup/cpu.max",
    "hardware_threads": f"{CPU}/smt/control", "boost": f"{CPU}/cpufreq/boost",
    "no_turbo": f"{CPU}/intel_pstate/no_turbo", "numa_balancing": "proc/sys/kernel/numa_balancing",
    "clock_source": "sys/devices/system/clocksource/clocksource0/current_clocksource",
    "transparent_huge_pages": "sys/kernel/mm/transparent_hugepage/enabled",
    "processor": ("proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
    "microcode": ("proc/cpuinfo", r"^microcode\s*:\s*(.*)$"),
    "hypervisor": ("proc/cpuinfo", r"^flags\s*:.*\b(hypervisor)\b"),
    "kernel_options": ("proc/cmdline", BOOT),
    "operating_system": ("etc/os-release", r'^PRETTY_NAME="?(.*?)"?$'),
    "memory": ("proc/meminfo", r"^MemTotal:\s*(.*)$"), "swap": ("proc/meminfo", r"^SwapTotal:\s*(.*)$"),
    "huge_pages": ("proc/meminfo", r"^HugePages_Total:\s*(.*)$"),
    "huge_page_size": ("proc/meminfo", r"^Hugepagesize:\s*(.*)$"),
    "governor": f"{CPU}/{EACH}/scaling_governor", "frequency_driver": f"{CPU}/{EACH}/scaling_driver",
    "frequency_min_khz": f"{CPU}/{EACH}/scaling_min_freq",
    "frequency_max_khz": f"{CPU}/{EACH}/scaling_max_freq",
    "frequency_hardware_max_khz": f"{CPU}/{EACH}/cpuinfo_max_freq",
    "energy_preference": f"{CPU}/{EACH}/energy_performance_preference",
    "power_limits_uw": "sys/class/powercap/*/constraint_*_power_limit_uw",
    "mitigations": f"{CPU}/vulnerabilities/*",
}  # fmt: skip


def known(value: Any, reason: str = "") -> dict[str, Any]:
    """A field: its value, or null with the reason why it could not be read."""
    return {"value": None, "reason": reason} if value is None else {"value": value}


def read_node(root: Path = Path("/"), variables: Mapping[str, str] = os.environ) -> dict[str, dict[str, Any]]:
    """All fields of this node: the one text, or how often each of several occurs."""
    found = {
        "host": known(host(variables)),
        "kernel": known(f"{platform.system()} {platform.release()} {platform.version()}"),
        "processors_allowed": known(sorted(os.sched_getaffinity(0))),
        "variables": known(kept(variables)),
    }
    for name, said in FIELDS.items():
        pattern, words = (said, r"\A\s*(.*?)\s*\Z") if isinstance(said, str) else said
        try:
            texts = {p.name: p.read_text("utf-8", "replace") for p in sorted(root.glob(pattern))}
        except OSError as error:
            found[name] = known(None, f"/{pattern}: {error.strerror}")
            continue
        counts = Counter(match for text in texts.values() for match in re.findall(words, text, re.MULTILINE))
        value = next(iter(counts)) if len(counts) == 1 else dict(counts)
        if name == "mitigations":
            value = {file: text.strip() for file, text in texts.items()}
        found[name] = known(value or None, f"/{pattern} {'has no such line' if texts else 'does not exist'}")
    modules = variables.get("LOADEDMODULES")
    return found | {"modules": known(modules and modules.split(":"), "LOADEDMODULES is not set")}


def kept(variables: Mapping[str, str]) -> dict[str, str]:
    """The environment variables of PREFIXES, sorted, without those that may be secret."""
    return {k: v for k, v in sorted(variables.items()) if k.startswith(PREFIXES) and not SECRET.search(k)}


def host(variables: Mapping[str, str] = os.environ) -> str:
    """The name of this node as records have it: that of Slurm in a job, else that of the host."""
    return variables.get("SLURMD_NODENAME") or socket.gethostname()


def file_of(folder: Path, host: str) -> Path:
    """The file of a node among those of all nodes."""
    return folder / f"{host.split('.')[0]}.json"


def write_node(folder: Path) -> Path:
    """Writes what is known of this node into a folder of all nodes."""
    path = file_of(folder, host())
    write_json(path, read_node())
    return path
