"""Quotas of control groups, from folders that stand for /."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.launch import cgroups

PERIOD_US = 100_000
UNIFIED = "31 23 0:28 {mounted} /cg rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
CPU = "32 31 0:29 {mounted} /cg rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
OTHER = "33 31 0:30 / /cpuset rw - cgroup cgroup rw,cpuset\n"
#: Lines of /proc/self/cgroup, and of /proc/self/mountinfo, by version of the interface.
LINES = {
    1: ("5:cpuset:/elsewhere\n4:cpu,cpuacct:{path}\n1:name=systemd:/\n0::/also\n", OTHER + CPU),
    2: ("0::{path}\n", OTHER + UNIFIED),
}


def tree(root: Path, version: int, path: str, mounted: str = "/") -> Path:
    """Writes what /proc says of the group `path` of a tree of which `mounted` is seen; returns its
    folder.
    """
    groups, mounts = LINES[version]
    (root / "proc/self").mkdir(parents=True, exist_ok=True)
    (root / "proc/self/cgroup").write_text(groups.format(path=path))
    (root / "proc/self/mountinfo").write_text(mounts.format(mounted=mounted))
    folder = root / "cg" / path.removeprefix(mounted).strip("/")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def grant(folder: Path, version: int, quota_us: int | None) -> None:
    """Writes the quota of a group; None: it has none."""
    if version == 2:
        (folder / "cpu.max").write_text(f"{'max' if quota_us is None else quota_us} {PERIOD_US}\n")
        return
    (folder / "cpu.cfs_quota_us").write_text(f"{-1 if quota_us is None else quota_us}\n")
    (folder / "cpu.cfs_period_us").write_text(f"{PERIOD_US}\n")


QUOTAS = st.lists(st.none() | st.integers(1000, 10**7), min_size=1, max_size=5)


@given(version=st.sampled_from([1, 2]), hidden=st.integers(0, 2), quotas=QUOTAS)
def test_the_tightest_group_in_sight_counts(version, hidden, quotas, tmp_path_factory):
    """`hidden`: groups above the mount, as a container has them, whose quotas cannot be seen."""
    root = tmp_path_factory.mktemp("root")
    above = "".join(f"/above{number}" for number in range(hidden))
    path = above + "".join(f"/g{number}" for number in range(len(quotas)))
    folder = tree(root, version, path, above or "/")
    for quota_us in quotas:
        grant(folder, version, quota_us)
        folder = folder.parent
    tightest = min((q / PERIOD_US for q in quotas if q is not None), default=None)
    assert cgroups.quota_cores(root) == tightest


@pytest.mark.parametrize("version", [1, 2])
def test_a_group_that_cannot_be_seen_has_no_quota(version, tmp_path):
    assert cgroups.quota_cores(tmp_path) is None  # no /proc
    for path, mounted in (("/../b", "/"), ("/ab", "/a"), ("/", "/a")):
        folder = tree(tmp_path, version, path, mounted)
        grant(folder, version, 50_000)
        assert cgroups.find(tmp_path) is None and cgroups.quota_cores(tmp_path) is None


def test_files_that_say_nothing_are_no_quota(tmp_path):
    folder = tree(tmp_path, 2, "/a")
    for text in ("", "max\n", "5\n", "x y\n", "0 100000\n", "50000 0\n", "1 2 3\n"):
        (folder / "cpu.max").write_text(text)
        assert cgroups.quota_cores(tmp_path) is None
    (folder / "cpu.max").write_text("50000 100000\n")
    assert cgroups.quota_cores(tmp_path) == 0.5


def test_this_process_has_some_group_or_none():
    quota = cgroups.quota_cores()
    assert quota is None or (quota > 0 and math.isfinite(quota))
