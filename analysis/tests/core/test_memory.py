"""Memory that is there, and the line that says what does not fit."""

import os

import pytest

from spikemark.core import memory
from spikemark.core.errors import BadInput

EVERYTHING = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("MemTotal:  100 kB\nMemAvailable:    7 kB\n", 7 * 1024),
        ("MemTotal: 1 kB", EVERYTHING),
        (None, EVERYTHING),
    ],
)
def test_what_the_kernel_says_or_else_all_memory(tmp_path, monkeypatch, text, found):
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "meminfo")
    if text:
        memory.MEMINFO.write_text(text)
    assert memory.available() == found
    memory.check(found, "this")
    with pytest.raises(BadInput) as error:
        memory.check(2 * found, "ranks=3: this", field="ranks")
    assert error.value.field == "ranks"
