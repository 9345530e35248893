"""Options for Valgrind, and its counts."""

import pytest

from spikemark import machines
from spikemark.caches import cachesim, callgrind
from spikemark.caches.callgrind import Cache
from spikemark.core.errors import BadInput

OUTPUT = """# callgrind format
version: 1
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
fn=(1) synapse_table_deliver
0 90 30 20 1 4 3 1 2
totals: 100 40 30 1 5 3 1 2
"""


def test_counts_with_the_zeros_that_it_leaves_out(tmp_path):
    file = tmp_path / "0.callgrind"
    file.write_text(OUTPUT)
    found = callgrind.counts(file)
    assert tuple(found) == callgrind.EVENTS and list(found.values()) == [100, 40, 30, 1, 5, 3, 1, 2, 0]


@pytest.mark.parametrize("old, new", [("totals:", "summary:"), (" I1mr", ""), ("events:", "event:")])
def test_refuses_other_files(tmp_path, old, new):
    file = tmp_path / "0.callgrind"
    file.write_text(OUTPUT.replace(old, new, 1))
    with pytest.raises(BadInput, match="not the output of callgrind"):
        callgrind.counts(file)


def test_missing_output_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"0\.callgrind: not found; Valgrind wrote no counts"):
        callgrind.counts(tmp_path / "0.callgrind")


def test_caches_that_can_be_given():
    assert callgrind.cache("33554432,16,64", "--ll") == Cache(33554432, 16, 64)
    assert callgrind.cache("49152,12,64", "--d1").option == "49152,12,64"


@pytest.mark.parametrize(
    "text",
    ["", "32768", "32768,8", "32k,8,64", "-1,8,64", "49152,8,64", "32768,0,64", "32768,8,8", "32768,8,48"],
)
def test_refuses_caches_that_valgrind_would(text):
    with pytest.raises(BadInput, match=r"--ll: .*allowed"):
        callgrind.cache(text, "--ll")


@pytest.mark.parametrize(
    "size, ways", [(32768, 8), (49152, 12), (1310720, 10), (31457280, 30), (33554432, 16)]
)
def test_ways_of_a_cache_of_which_only_the_size_is_known(size, ways):
    found = callgrind.guessed(size, 8 if size < 1 << 21 else 16)
    assert found == Cache(size, ways)
    assert callgrind.cache(found.option, "--ll") == found


def profile(**sizes) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": "made-up", "title": "Made up"}, "f")
    return empty.assume_all({f"node.{name}": (size, "a test") for name, size in sizes.items()})


def test_caches_of_a_machine():
    known = profile(l1d=48, l2=1024, l3=33792, line=64)
    assert cachesim.machine_cache(known, "d1") == Cache(48 << 10, 12)
    assert cachesim.machine_cache(known, "ll") == Cache(33 << 20, 33)
    assert cachesim.machine_cache(profile(l2=1024, line=128), "ll") == Cache(1 << 20, 16, 128)
    for name in machines.names():
        found = cachesim.machine_cache(machines.load(name), "ll")
        assert callgrind.cache(found.option, "--ll") == found


def test_caches_a_machine_does_not_have():
    with pytest.raises(BadInput, match=r"--d1: node.l1d of made-up is unknown: give SIZE,WAYS,LINE"):
        cachesim.machine_cache(profile(l2=1024), "d1")
    with pytest.raises(BadInput, match=r"--ll: node.l3 of made-up is 0.1 KiB, not whole lines"):
        cachesim.machine_cache(profile(l3=0.1), "ll")
    with pytest.raises(BadInput, match=r"made-up: node.l1d, node.line: .*lines of 16 bytes or more"):
        cachesim.machine_cache(profile(l1d=48, line=48), "d1")


def test_the_command_takes_the_caches_of_a_machine(monkeypatch, spikemark, refusal):
    taken = []
    monkeypatch.setattr(cachesim, "simulate", lambda *arguments: taken.append(arguments) or Done())
    assert spikemark("cachesim", "run.json", "--machine", "jureca-dc", "--json")[0] == 0
    assert (
        spikemark("cachesim", "run.json", "--machine", "jureca-dc", "--d1", "49152,12,64", "--json")[0] == 0
    )
    assert [a[3:5] for a in taken] == [
        (Cache(32 << 10, 8), Cache(16 << 20, 16)), (Cache(48 << 10, 12), Cache(16 << 20, 16)),
    ]  # fmt: skip
    line = refusal("cachesim", "run.json", "--machine", "epyc-9654")
    assert "--d1: node.l1d of epyc-9654 is unknown" in line


class Done:
    def content(self) -> dict:
        return {}
