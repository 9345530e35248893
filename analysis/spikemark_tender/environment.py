"""What a reader must know about a node, such as its processor, firmware, frequencies and kernel.

Almost all of it comes from files of Linux below /proc, /sys and /etc, see FIELDS. A value that
could not be read is null: a tender asks for what there is, and never fails for what is not.
"""

import os
import platform
import re
import socket
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from spikemark.core.files import write_json

#: Starts of environment variables that are kept. Others may be secret.
KEPT_VARIABLES = re.compile(
    "OMP_|GOMP_|KMP_|OMPI_MCA_|PRTE_MCA_|PMIX_MCA_|MPICH_|MPIR_CVAR_|I_MPI_|UCX_|FI_|PSM2_|MALLOC_|GLIBC_"
    "|LD_PRELOAD|NUMACTL_|SLURM_(CPU|HINT|DISTRIBUTION|MEM_BIND|NNODES|NTASKS)|SPIKEMARK_"
)
#: Words in the names of variables that are never kept.
SECRET_VARIABLES = re.compile(r"TOKEN|SECRET|PASS|KEY|CREDENTIAL|COOKIE", re.IGNORECASE)


class SystemText(NamedTuple):
    """Where Linux says something about a node."""

    files: str  #: pattern of the files that say it, below `/`
    words: str = r"\A\s*(.*?)\s*\Z"  #: what of their text it is; usually all of it


_DMI = "sys/class/dmi/id"
_CPU = "sys/devices/system/cpu"
_CPUINFO = "proc/cpuinfo"
_MEMINFO = "proc/meminfo"
#: By field of a node in environment.json.
FIELDS = {
    "firmware_vendor": SystemText(f"{_DMI}/bios_vendor"),
    "firmware_version": SystemText(f"{_DMI}/bios_version"),
    "product": SystemText(f"{_DMI}/product_name"),
    "processors_online": SystemText(f"{_CPU}/online"),
    "hardware_threads": SystemText(f"{_CPU}/smt/control"),
    "boost": SystemText(f"{_CPU}/cpufreq/boost"),
    "no_turbo": SystemText(f"{_CPU}/intel_pstate/no_turbo"),
    "numa_balancing": SystemText("proc/sys/kernel/numa_balancing"),
    "transparent_huge_pages": SystemText("sys/kernel/mm/transparent_hugepage/enabled"),
    "processor": SystemText(_CPUINFO, r"^model name\s*:\s*(.*)$"),
    "microcode": SystemText(_CPUINFO, r"^microcode\s*:\s*(.*)$"),
    "hypervisor": SystemText(_CPUINFO, r"^flags\s*:.*\b(hypervisor)\b"),
    "operating_system": SystemText("etc/os-release", r'^PRETTY_NAME="?(.*?)"?$'),
    "memory": SystemText(_MEMINFO, r"^MemTotal:\s*(.*)$"),
    "huge_pages": SystemText(_MEMINFO, r"^HugePages_Total:\s*(.*)$"),
    "governor": SystemText(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_governor"),
    "frequency_min_khz": SystemText(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_min_freq"),
    "frequency_max_khz": SystemText(f"{_CPU}/cpu[0-9]*/cpufreq/scaling_max_freq"),
    "power_limits_uw": SystemText("sys/class/powercap/*/constraint_*_power_limit_uw"),
    "mitigations": SystemText(f"{_CPU}/vulnerabilities/*"),
}


def _read_node(root: Path = Path("/"), variables: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """All that is known of this node, by field, for environment.json.

    Args:
        root: stands for `/`.
        variables: environment variables.
    """
    node: dict[str, Any] = {
        "host": _host(variables),
        "modules": variables.get("LOADEDMODULES"),
        "variables": _kept(variables),
        "kernel": f"{platform.system()} {platform.release()} {platform.version()}",
        "processors_allowed": sorted(os.sched_getaffinity(0)),
    }
    for field, source in FIELDS.items():
        node[field] = _read(root, source)
    return node


def _kept(variables: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in sorted(variables.items())
        if KEPT_VARIABLES.match(name) and not SECRET_VARIABLES.search(name)
    }


def _read(root: Path, source: SystemText) -> str | dict[str, int] | None:
    """The one text that all files have, or how often each of several occurs; None for no text."""
    try:
        texts = [path.read_text("utf-8", "replace") for path in root.glob(source.files)]
    except OSError:
        return None
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(re.findall(source.words, text, re.MULTILINE))
    if len(counts) > 1:
        return dict(counts)
    return "".join(counts) or None


def _host(variables: Mapping[str, str] = os.environ) -> str:
    """The name of this node as records have it: that of Slurm in a job, else that of the host."""
    return variables.get("SLURMD_NODENAME") or socket.gethostname()


def file_of(folder: Path, host: str) -> Path:
    """The file of a node in a folder with one for each node, see `write_node`.

    Example:
        >>> file_of(Path("nodes"), "node01.cluster").name
        'node01.json'
    """
    return folder / f"{host.split('.')[0]}.json"


def write_node(folder: Path) -> Path:
    """Writes what is known of this node into a folder with a file for each node.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     write_node(Path(folder)).suffix
        '.json'
    """
    path = file_of(folder, _host())
    write_json(path, _read_node())
    return path
