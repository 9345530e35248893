"""Options for Valgrind, its counts, and the mini-app for it, which one command at a time builds."""

import threading
import time
from types import SimpleNamespace

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.measuring import cachesim
from spikemark.measuring.cachesim import Cache

OUTPUT = """# callgrind format
version: 1
events: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw
fn=(1) synapse_table_deliver
0 90 30 20 1 4 3 1 2
totals: 100 40 30 1 5 3 1 2
"""


def test_counts_with_the_zeros_that_it_leaves_out_and_no_other_file(tmp_path):
    file = tmp_path / "0.callgrind"
    with pytest.raises(BadInput, match=str(file)):
        cachesim.counts(file)
    file.write_text(OUTPUT)
    found = cachesim.counts(file)
    assert tuple(found) == cachesim.EVENTS and list(found.values()) == [100, 40, 30, 1, 5, 3, 1, 2, 0]
    for old, new in (("totals:", "summary:"), (" I1mr", ""), ("events:", "event:")):
        file.write_text(OUTPUT.replace(old, new, 1))
        with pytest.raises(BadInput, match=str(file)):
            cachesim.counts(file)


BAD = ["", "32768", "32768,8", "32k,8,64", "-1,8,64", "49152,8,64", "32768,0,64", "32768,8,8", "32768,8,48"]


def test_caches_that_can_be_given_and_ways_where_only_the_size_is_known():
    for size, ways in (32768, 8), (49152, 12), (1310720, 10), (31457280, 30), (33554432, 16):
        found = cachesim.guessed(size, "d1" if size < 1 << 21 else "ll")
        assert found == Cache(size, ways) == cachesim.cache(found.option, "--ll")
    for text in BAD:
        with pytest.raises(BadInput) as error:
            cachesim.cache(text, "--ll")
        assert error.value.field == "ll"


def test_caches_of_the_host(tmp_path):
    with pytest.raises(BadInput) as error:
        cachesim.host_cache("ll", tmp_path)
    assert error.value.field == "ll"
    told = ("1", "Data", "48K"), ("1", "Instruction", "32K"), ("3", "Unified", "32768K")
    for n, words in enumerate(told):
        index = tmp_path / "cpu0" / "cache" / f"index{n}"
        index.mkdir(parents=True)
        for name, word in zip(("level", "type", "size", "coherency_line_size"), (*words, "64"), strict=True):
            (index / name).write_text(f"{word}\n")
    assert cachesim.host_cache("d1", tmp_path) == Cache(48 << 10, 12)
    assert cachesim.host_cache("ll", tmp_path) == Cache(32 << 20, 16)


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
        assert cachesim.cache(found.option, "--ll") == found
    for name, sizes in (("d1", {"l2": 1024}), ("ll", {"l3": 0.1}), ("d1", {"l1d": 48, "line": 48})):
        with pytest.raises(BadInput) as error:
            cachesim.machine_cache(profile(**sizes), name)
        assert error.value.field == name


def test_the_command_takes_the_caches_of_a_machine(monkeypatch, spikemark, refusal):
    taken = []
    done = SimpleNamespace(model_dump=dict)
    monkeypatch.setattr(cachesim, "simulate", lambda *arguments: taken.append(arguments[3:5]) or done)
    for more in ([], ["--d1", "49152,12,64"]):
        assert spikemark("cachesim", "run.json", "--machine", "jureca-dc", *more, "--json")[0] == 0
    last = Cache(16 << 20, 16)
    assert taken == [(Cache(32 << 10, 8), last), (Cache(48 << 10, 12), last)]
    assert refusal("cachesim", "run.json", "--machine", "epyc-9654").startswith("--d1: node.l1d of epyc-9654")


def test_commands_at_once_build_one_after_the_other(tmp_path, monkeypatch):
    working, most, at_once = [], [], 4

    def watched(step, limit_s):
        working.append(step)
        time.sleep(0.02)
        most.append(len(working))
        working.remove(step)
        return SimpleNamespace(status=0)

    monkeypatch.setattr(cachesim.places, "checkout", lambda: tmp_path)
    monkeypatch.setattr(cachesim, "watch", watched)
    commands = [threading.Thread(target=cachesim.build) for _ in range(at_once)]
    for work in (threading.Thread.start, threading.Thread.join):
        for command in commands:
            work(command)
    assert most == [1] * 2 * at_once  # configure and build: nothing here writes build.ninja
