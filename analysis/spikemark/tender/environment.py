"""What a reader must know about a node: processor, firmware, frequencies, kernel, memory and variables.

A value that could not be read is null. `root` stands for `/`.
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

#: Environment variables that are kept. Others may be secret.
KEPT = re.compile(
    "OMP_|GOMP_|KMP_|OMPI_MCA_|PRTE_MCA_|PMIX_MCA_|MPICH_|MPIR_CVAR_|I_MPI_|UCX_|FI_|PSM2_|MALLOC_|GLIBC_"
    "|LD_PRELOAD|NUMACTL_|SLURM_(CPU|HINT|DISTRIBUTION|MEM_BIND|NNODES|NTASKS)|SPIKEMARK_"
)
SECRET = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|COOKIE", re.IGNORECASE)
DMI, CPU = "sys/class/dmi/id", "sys/devices/system/cpu"
#: Fields: the files whose whole text says it, or the files and what of their text.
FIELDS = {
    "firmware_vendor": f"{DMI}/bios_vendor", "firmware_version": f"{DMI}/bios_version",
    "product": f"{DMI}/product_name", "processors_online": f"{CPU}/online",
    "hardware_threads": f"{CPU}/smt/control", "boost": f"{CPU}/cpufreq/boost",
    "no_turbo": f"{CPU}/intel_pstate/no_turbo", "numa_balancing": "proc/sys/kernel/numa_balancing",
    "transparent_huge_pages": "sys/kernel/mm/transparent_hugepage/enabled",
    "processor": ("proc/cpuinfo", r"^model name\s*:\s*(.*)$"),
    "microcode": ("proc/cpuinfo", r"^microcode\s*:\s*(.*)$"),
    "hypervisor": ("proc/cpuinfo", r"^flags\s*:.*\b(hypervisor)\b"),
    "operating_system": ("etc/os-release", r'^PRETTY_NAME="?(.*?)"?$'),
    "memory": ("proc/meminfo", r"^MemTotal:\s*(.*)$"),
    "huge_pages": ("proc/meminfo", r"^HugePages_Total:\s*(.*)$"),
    "governor": f"{CPU}/cpu[0-9]*/cpufreq/scaling_governor",
    "frequency_min_khz": f"{CPU}/cpu[0-9]*/cpufreq/scaling_min_freq",
    "frequency_max_khz": f"{CPU}/cpu[0-9]*/cpufreq/scaling_max_freq",
    "power_limits_uw": "sys/class/powercap/*/constraint_*_power_limit_uw",
    "mitigations": f"{CPU}/vulnerabilities/*",
}  # fmt: skip


def read_node(root: Path = Path("/"), variables: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """All fields of this node: the one text, or how often each of several occurs."""
    found = {
        "host": host(variables), "modules": variables.get("LOADEDMODULES"),
        "variables": {k: v for k, v in sorted(variables.items()) if KEPT.match(k) and not SECRET.search(k)},
        "kernel": f"{platform.system()} {platform.release()} {platform.version()}",
        "processors_allowed": sorted(os.sched_getaffinity(0)),
    }  # fmt: skip
    for name, said in FIELDS.items():
        pattern, words = (said, r"\A\s*(.*?)\s*\Z") if isinstance(said, str) else said
        try:
            texts = [path.read_text("utf-8", "replace") for path in root.glob(pattern)]
        except OSError:
            texts = []
        counts = Counter(match for text in texts for match in re.findall(words, text, re.MULTILINE))
        found[name] = (next(iter(counts)) if len(counts) == 1 else dict(counts)) or None
    return found


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
