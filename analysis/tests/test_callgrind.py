"""Options for Valgrind, and its counts."""

import pytest

from spikemark import callgrind
from spikemark.callgrind import Cache
from spikemark.errors import BadInput

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
