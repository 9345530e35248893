"""The processor time that control groups (cgroups) leave this process.

Containers and batch systems ration processors by such groups.

A group may have a quota, say 150 ms in each period of 100 ms, which is 1.5 cores, however many
cores can be seen. Groups lie within one another, and the tightest quota counts. Both versions of
the kernel's interface are read. The mini-app reads the same for itself
(miniapp/src/measurement/quota.c) and counts how long it was held back.
"""

import math
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/")


@dataclass(frozen=True)
class Group:
    """The control group of a process."""

    folder: Path  #: of the group
    mount: Path  #: where the tree of groups is mounted
    version: int  #: of the kernel's interface, 1 or 2

    @property
    def upwards(self) -> list[Path]:
        """The folder and those above it, up to the mount."""
        above = [folder for folder in self.folder.parents if folder.is_relative_to(self.mount)]
        return [self.folder, *above]


def quota_cores(root: Path = ROOT) -> float | None:
    """The quota of the tightest group of this process, in cores.

    None without a quota, or if it is unknown. `root`: a folder that stands for /.

    Example:
        >>> quota_cores(Path("nowhere")) is None
        True
    """
    group = find(root)
    if group is None:
        return None
    tightest = min(_cores(folder, group.version) for folder in group.upwards)
    return tightest if math.isfinite(tightest) else None


def find(root: Path = ROOT) -> Group | None:
    """The group of this process that rations processors; None where it cannot be seen.

    The tree of version 1 counts if there is one that has the controller `cpu`.

    Example:
        >>> find(Path("nowhere")) is None
        True
    """
    paths = _paths(root)
    for version in (1, 2):
        if version not in paths:
            continue
        for mounted, mount in _mounts(root, version):
            below = _below(paths[version], mounted)
            if below is not None:
                mount_folder = root / mount.lstrip("/")
                return Group(mount_folder / below, mount_folder, version)
        return None
    return None


def _paths(root: Path) -> dict[int, str]:
    """The path of the group in the tree of each version. Lines are NUMBER:CONTROLLERS:PATH."""
    paths: dict[int, str] = {}
    for line in _lines(root / "proc/self/cgroup"):
        _, _, rest = line.partition(":")
        controllers, colon, path = rest.partition(":")
        if colon and "cpu" in controllers.split(","):
            paths[1] = path
        elif colon and not controllers:
            paths[2] = path
    return paths


def _mounts(root: Path, version: int) -> list[tuple[str, str]]:
    """Which part of the tree is mounted, and where, for each mount of the tree.

    See mountinfo in proc(5).
    """
    mounts = []
    for line in _lines(root / "proc/self/mountinfo"):
        mount, _, tree = line.partition(" - ")
        fields = mount.split()
        tree_fields = tree.split()
        if len(fields) < 5 or len(tree_fields) < 3:
            continue
        kind, _, options, *_ = tree_fields
        if version == 2:
            fits = kind == "cgroup2"
        else:
            fits = kind == "cgroup" and "cpu" in options.split(",")
        if fits:
            mounts.append((fields[3], fields[4]))
    return mounts


def _below(path: str, mounted: str) -> str | None:
    """The part of a group's path below what is mounted; None where it lies elsewhere."""
    above = mounted.rstrip("/")
    if path != above and not path.startswith(f"{above}/"):
        return None
    rest = path.removeprefix(above).strip("/")
    return None if ".." in rest.split("/") else rest


def _cores(folder: Path, version: int) -> float:
    """The quota of a group in cores; infinite without one: `max` in version 2, -1 in version 1."""
    if version == 2:
        words = " ".join(_lines(folder / "cpu.max")[:1]).split()
    else:
        words = _lines(folder / "cpu.cfs_quota_us")[:1] + _lines(folder / "cpu.cfs_period_us")[:1]
    try:
        quota_us, period_us = (float(word) for word in words)
    except ValueError:
        return math.inf
    if quota_us <= 0 or period_us <= 0:
        return math.inf
    return quota_us / period_us


def _lines(file: Path) -> list[str]:
    """The lines of a file; none where it cannot be read."""
    try:
        return file.read_text(errors="replace").splitlines()
    except OSError:
        return []
