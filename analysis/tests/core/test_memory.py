"""Memory that is there, and the line that says what does not fit."""

import os

import pytest

from spikemark.core import memory
from spikemark.core.errors import BadInput


def test_what_the_kernel_says(tmp_path, monkeypatch):
    file = tmp_path / "meminfo"
    file.write_text("MemTotal:       100 kB\nMemAvailable:    7 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", file)
    assert memory.available() == 7 * 1024
    memory.check(7 * 1024, "this")
    with pytest.raises(BadInput, match=r"^ranks=3: this needs 1 GB of memory; 7.17e-06 GB are available$"):
        memory.check(1e9, "ranks=3: this")


def test_where_the_kernel_does_not_say(tmp_path, monkeypatch):
    everything = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for file in (tmp_path / "none", tmp_path / "other"):
        monkeypatch.setattr(memory, "MEMINFO", file)
        assert memory.available() == everything
        (tmp_path / "other").write_text("MemTotal: 100 kB\n")
