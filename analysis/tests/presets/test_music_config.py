"""Configuration files in the manner of MUSIC: what they set, and that every bad line is named."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.presets import music_cells, music_config
from spikemark.presets.music_wiring import Application, Connection

GOOD = """\
# two simulators and a logger
np=4
stoptime=1.0   # of no consequence
[A]
  binary=./cells
  args=-b 2 A.out -> B.in [0]
[B]
  np = 2
  in <- A.out [256,collective]
[C_1]
B.out->C_1.in[ 128 , point-to-point ]
A.out -> C_1.other
"""


@pytest.fixture
def write(tmp_path):
    def write(text: str | bytes) -> Path:
        path = tmp_path / "two.music"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_file_sets_applications_processes_and_connections(write):
    wiring = music_config.read(write(GOOD))
    assert wiring.applications == (
        Application("A", 4, 256), Application("B", 2, 128), Application("C_1", 4, 128),
    )  # fmt: skip
    assert wiring.connections == (
        Connection("A", "B", "collective"),
        Connection("B", "C_1", "point-to-point"),
        Connection("A", "C_1", "point-to-point"),
    )


def test_a_file_makes_a_description(write):
    path = str(write(GOOD))
    description = music_cells.describe(config=path, connections=10)
    assert [lane["name"] for lane in description["schedule"]] == ["A-B", "B-C_1", "A-C_1"]
    assert list(description["exchange"].values()) == ["allgatherv", "p2p", "p2p"]
    areas = [p["area"] for p in description["network"]["populations"]]
    assert len(set(areas)) == 4 + 2 + 4
    sizes = [p["size"] for p in description["network"]["populations"]]
    assert sum(sizes) == 256 + 128 + 128
    with pytest.raises(BadInput, match="np=3: not with config, which sets it"):
        music_cells.describe(config=path, np=3)
    with pytest.raises(BadInput, match=r"granularity=12: 144 tiles for 128 cells of B"):
        music_cells.describe(config=path, granularity=12)


def test_without_widths_the_published_cells_are_shared(write):
    path = str(write("np=1\n[A]\n[B]\nA.out -> B.in\n"))
    sizes = [p["size"] for p in music_cells.describe(config=path)["network"]["populations"]]
    assert sum(sizes) == 4096


BAD = {
    "section without end": ("np=1\n[A\n", 2, "'[A'", "[APPLICATION], a name"),
    "section of two words": ("np=1\n[A B]\n", 2, "'[A B]'", "[APPLICATION], a name"),
    "application twice": ("np=1\n[A]\n[B]\n[A]\n", 4, "'[A]'", "an application once; it is in line 2"),
    "neither": ("np=1\n[A]\nbinary\n", 3, "'binary'", "[APPLICATION], NAME=VALUE, or a connection"),
    "no port": ("np=1\n[A]\n[B]\nA -> B.in [3]\nA.out ->\n", 5, "'A.out ->'", "or a connection"),
    "np of zero": ("[A]\nnp=0\n", 2, "'np=0'", "np as an integer from 1 to 1000000"),
    "np of words": ("[A]\nnp=four\n", 2, "'np=four'", "np as an integer"),
    "np twice": ("np=2\n[A]\nnp=1\nnp=1\n", 4, "'np=1'", "np once in a section"),
    "np missing": ("[A]\nnp=1\n[B]\nA.o -> B.i\n", 3, "'[B]'", "a section with np=..., or np=... before"),
    "width of zero": ("np=1\n[A]\n[B]\nA.o -> B.i [0]\n", 4, "'A.o -> B.i [0]'", "a width from 1 to"),
    "no width": ("np=1\n[A]\n[B]\nA.o -> B.i [collective]\n", 4, "[collective]", "a width from 1 to"),
    "empty brackets": ("np=1\n[A]\n[B]\nA.o -> B.i []\n", 4, "[]", "a width from 1 to"),
    "other widths": (
        "np=1\n[A]\n[B]\n[C]\nA.o -> B.i [3]\nA.o -> C.i [4]\n", 6, "[4]'", "width 3, which A has in line 5",
    ),
    "communication": (
        "np=1\n[A]\n[B]\nA.o -> B.i [3, pigeon]\n", 4, "pigeon", "collective or point-to-point after",
    ),
    "three entries": ("np=1\n[A]\n[B]\nA.o -> B.i [3,collective,tree]\n", 4, "tree", "and nothing else"),
    "unknown application": ("np=1\n[A]\n[B]\nA.o -> X.i [3]\n", 4, "'X'", "an application of the file: A, B"),
    "connected twice": ("np=1\n[A]\n[B]\nA.o -> B.i\nA.p -> B.j\n", 5, "'A.p -> B.j'", "one connection from"),
    "input twice": (
        "np=1\n[A]\n[B]\n[C]\nA.o -> B.i\nC.o -> B.i\n", 6, "C.o", "one connection to an input port; B.i",
    ),
    "before sections": ("np=1\nout -> B.in\n[B]\n", 2, "'out -> B.in'", "ports of applications"),
    "no connection": ("np=1\n[A]\n", 2, "'no connection'", "at least one, as A.out"),
    "nothing": ("", 1, "'no connection'", "at least one"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_lines_are_named(write, case):
    text, line, value, allowed = BAD[case]
    path = write(text)
    with pytest.raises(BadInput) as caught:
        music_config.read(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    assert value in message.partition("; allowed: ")[0]
    assert allowed in message.partition("; allowed: ")[2]
    assert "\n" not in message


def test_files_that_are_none(write, tmp_path):
    with pytest.raises(BadInput, match=r"config='.*none': No such file"):
        music_config.read(tmp_path / "none")
    with pytest.raises(BadInput, match="byte 5 is not UTF-8 text"):
        music_config.read(write(b"np=1\n\xff"))


@given(
    line=st.text(st.characters(exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", codec="utf-8"))
)
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_line_is_taken_or_named(write, line):
    """A line more changes nothing but what it says, or is refused by its number."""
    path = write(GOOD + line)
    try:
        wiring = music_config.read(path)
    except BadInput as error:
        assert re.match(rf"{re.escape(str(path))}, line 13: .*; allowed: ", str(error))
        assert "\n" not in str(error)
    else:
        before = music_config.read(write(GOOD))
        assert [a.name for a in wiring.applications[:3]] == [a.name for a in before.applications]
        assert wiring.connections[:3] == before.connections


def test_a_damaged_connection_is_taken_or_named(write):
    """Every character of a connection replaced, one at a time. Without its dot, A.p is a port of C_1."""
    connection = "A.p -> D.in [128,collective]"
    whole = GOOD.replace("[B]", "[D]\n[B]").replace("[256", "[128")
    for place in range(len(connection)):
        for other in " .,-<>[]=#0aZ_":
            line = connection[:place] + other + connection[place + 1 :]
            path = write(whole + line)
            try:
                wiring = music_config.read(path)
            except BadInput as error:
                assert re.match(rf"{re.escape(str(path))}, line 14: .*; allowed: ", str(error)), line
            else:
                new = [c for c in wiring.connections if "D" in (c.source, c.target)]
                assert all(c.source in ("A", "C_1") and c.target == "D" for c in new), line
                assert new or "=" in line or line.startswith("#"), line
