"""Caches for Valgrind, of this host, of a machine or as given; and the totals that Callgrind
wrote.
"""

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.measuring import cachesim
from spikemark.measuring.cachesim import Cache


def test_totals_with_the_zeros_that_callgrind_leaves_out(tmp_path):
    file = tmp_path / "0.callgrind"
    file.write_text(
        "events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw\n0 90\ntotals: 100 40 30 1 5 3 1 2\n"
    )
    assert list(cachesim.counts(file).values()) == [100, 40, 30, 1, 5, 3, 1, 2, 0]


BAD = [
    "",
    "32768",
    "32768,8",
    "32k,8,64",
    "-1,8,64",
    "49152,8,64",
    "32768,0,64",
    "32768,8,8",
    "32768,8,48",
]


@pytest.mark.parametrize("text", BAD)
def test_a_cache_that_valgrind_would_refuse_gets_one_line(text):
    with pytest.raises(BadInput) as error:
        cachesim.cache(text, "--ll")
    assert error.value.field == "ll"


def test_caches_of_the_host(tmp_path):
    with pytest.raises(BadInput) as error:
        cachesim.of_machine("ll", cpus=tmp_path)
    assert error.value.field == "ll"
    told = ("Data", "48K"), ("Instruction", "32K"), ("Unified", "32768K")
    for n, words in enumerate(told):
        index = tmp_path / "cpu0" / "cache" / f"index{n}"
        index.mkdir(parents=True)
        for name, word in zip(("type", "size", "coherency_line_size"), (*words, "64"), strict=True):
            (index / name).write_text(f"{word}\n")
    assert cachesim.of_machine("d1", cpus=tmp_path) == Cache(48 << 10, 12)
    assert cachesim.of_machine("ll", cpus=tmp_path) == Cache(32 << 20, 16)


def test_caches_of_a_machine():
    empty = machines.checked({"format_version": 1, "name": "made-up", "title": "Made up"}, "f")
    sizes = {"l1d": 48, "l2": 1024, "l3": 33792, "line": 64}
    assumed = {f"node.{name}": machines.Assumption(size, "a test") for name, size in sizes.items()}
    machine = empty.assume_all(assumed)
    assert cachesim.of_machine("d1", machine) == Cache(48 << 10, 12)
    assert cachesim.of_machine("ll", machine) == Cache(33 << 20, 33)
    for name in machines.names():
        cache = cachesim.of_machine("ll", machines.load(name))
        assert cachesim.cache(cache.option, "--ll") == cache
    with pytest.raises(BadInput) as error:
        cachesim.of_machine("d1", empty)
    assert error.value.field == "d1"
