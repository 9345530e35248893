"""What an answer says about a node: every field is a value or a reason, and nothing secret is kept."""

import pytest

from spikemark.tender import environment

CPUINFO = """processor : 0
model name : Fast 9000
microcode : 0xa1
flags : fpu sse2 hypervisor

processor : 1
model name : Fast 9000
microcode : 0xa2
flags : fpu sse2 hypervisor
"""


@pytest.fixture
def root(tmp_path):
    """A system with two processors, of which one has another governor."""
    files = {
        "proc/cpuinfo": CPUINFO,
        "proc/meminfo": "MemTotal:  1000 kB\nSwapTotal:  0 kB\nHugePages_Total:  4\nHugepagesize:  2048 kB\n",
        "proc/cmdline": "root=UUID=secret quiet isolcpus=1 mitigations=off password=x\n",
        "proc/sys/kernel/numa_balancing": "1\n",
        "etc/os-release": 'NAME="x"\nPRETTY_NAME="Some Linux 12"\n',
        "sys/class/dmi/id/bios_version": "1.2.3\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "powersave\n",
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq": "3000000\n",
        "sys/devices/system/cpu/cpu1/cpufreq/scaling_max_freq": "3000000\n",
        "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_every_field_has_a_value_or_a_reason(root):
    found = environment.read_node(root, {})
    assert set(found) == {"host", "modules", "variables", *environment.READERS}
    for name, field in found.items():
        assert set(field) == ({"value"} if field["value"] is not None else {"value", "reason"}), name


def test_what_processors_differ_in_is_counted(root):
    found = environment.read_node(root, {})
    assert found["governor"]["value"] == {"performance": 1, "powersave": 1}
    assert found["microcode"]["value"] == {"0xa1": 1, "0xa2": 1}
    assert found["frequency_max_khz"]["value"] == "3000000"
    assert found["processor"]["value"] == "Fast 9000"


def test_fields_are_read_from_where_the_kernel_has_them(root):
    found = {name: field["value"] for name, field in environment.read_node(root, {}).items()}
    assert found["transparent_huge_pages"] == "madvise"
    assert (found["memory"], found["huge_pages"], found["firmware_version"]) == ("1000 kB", "4", "1.2.3")
    assert (found["operating_system"], found["virtual_machine"]) == ("Some Linux 12", True)


def test_a_reason_names_the_file_and_whether_it_is_missing_or_forbidden(root, monkeypatch):
    assert "/sys/class/dmi/id/board_name does not exist" in environment.read_node(root, {})["board"]["reason"]

    def forbidden(*_, **__):
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.read_text", forbidden)
    assert "may not be read by this user" in environment.read_node(root, {})["firmware_version"]["reason"]


def test_nothing_is_read_where_there_is_nothing(tmp_path):
    found = environment.read_node(tmp_path / "empty", {})
    known = {name for name, field in found.items() if field["value"] is not None}
    assert known == {"host", "kernel", "processors_allowed", "variables"}


def test_only_variables_that_change_times_are_kept_and_no_secrets(root):
    given = {
        "OMP_NUM_THREADS": "4",
        "OMPI_MCA_btl": "self",
        "UCX_TLS": "rc",
        "LD_PRELOAD": "libfast.so",
        "HOME": "/home/me",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "SLURM_CPU_BIND": "cores",
        "SLURM_JOB_USER": "me",
        "OMPI_MCA_orte_token": "secret",
        "FI_PROVIDER_KEY": "secret",
        "LOADEDMODULES": "gcc/12:openmpi/5",
    }
    found = environment.read_node(root, given)
    kept = {"OMP_NUM_THREADS", "OMPI_MCA_btl", "UCX_TLS", "LD_PRELOAD", "SLURM_CPU_BIND"}
    assert set(found["variables"]["value"]) == kept
    assert found["modules"]["value"] == ["gcc/12", "openmpi/5"]


def test_the_command_line_of_the_kernel_is_kept_without_what_names_disks_or_secrets(root):
    assert environment.read_node(root, {})["kernel_options"]["value"] == ["isolcpus=1", "mitigations=off"]
