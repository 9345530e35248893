"""Files that may hold anything: what is taken, and one line for what is not."""

import contextlib
import json
import math
import os
import re
import socket
import subprocess
import sys
import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.core.fields import NOT_DECIMAL
from spikemark.core.npy import read_npy, read_npz
from spikemark.core.reading import MAX_DEPTH, MAX_TEXT, check_plain, read_json, read_text
from spikemark.core.yaml_file import Dumper, parsed, read_yaml

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(values)
@pytest.mark.slow
def test_json_comes_back_as_written(tmp_path_factory, value):
    path = tmp_path_factory.getbasetemp() / "value.json"
    path.write_text(json.dumps(value))
    assert read_json(path) == value


def refusal(read, path, text: str | bytes) -> str:
    """The line that refuses a file of this content."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(BadInput) as error:
        read(path)
    line = str(error.value)
    assert re.match(rf"{re.escape(str(path))}(, line \d+)?: ", line), line
    assert "\n" not in line and len(line) < len(str(path)) + 250
    return line


BAD_JSON = {
    "cut": ('{"a": [1, 2', "truncated or not JSON at line 1, column 12"),
    "empty": ("", "line 1, column 1"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
    "key twice": ('{"b": {"a": 1, "a": 2}}', "'a' is there twice"),
    "endless": ("[" * 100_000, "nested more than 100"),
    "deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than 100"),
    "deep objects": (
        '{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1),
        "nested more than 100",
    ),
    "long number": ("1" * 5000, "4300"),
    "not a number": ('{"a": [1, NaN]}', "a.1=nan; expected a finite number"),
    "infinite": ('{"a": {"b": -Infinity}}', "a.b=-inf; expected"),
    "too large": ("1e400", "top=inf; expected"),
}


BAD_YAML = {
    "not YAML": ("a: [", "not YAML"),
    "key twice": ("a: 1\nb:\n  c: 1\n  c: 2\n", "line 4: the key 'c' is there twice"),
    "key twice in braces": ("{a: 1, 'a': 2}", "'a' is there twice"),
    "date behind a tag": (
        "set: {x: !!timestamp 2024-01-01}",
        "set.x=datetime.date(2024, 1, 1); expected text",
    ),
    "octal behind a tag": ("a: !!int 0100", "line 1: '0100'; expected a decimal number"),
    "of base 60 behind a tag": ("a: !!float 1:40", "line 1: '1:40'; expected a decimal number"),
    "mixed keys": ("a: {b: 1, 2: 3}", "a: key 2; expected text"),
    "binary": ("a: !!binary aGVsbG8=", "a=b'hello'; expected text"),
    "set": ("a: [!!set {x, y}]", "a.0={"),
    "not a date at all": ("a: !!timestamp 2024-13-45", "not YAML"),
    "wrong value behind a tag": ("a: !!bool maybe", "not YAML"),
    "wrong number behind a tag": ("a: !!int ''", "line 1: ''; expected a decimal"),
    "infinite": ("a: [1, .inf]", "a.1=inf; expected a finite"),
    "not a number": ("a: .nan", "a=nan; expected a finite"),
    "whole characters": ('a: "\\ud800"', "character"),
    "half a character in a key": ('"\\ud800": 1', "character"),
    "list as key": ("{[1]: 2}", "not YAML"),
    "endless": ("[" * 100_000, "nested more than 100"),
    "nearly endless": ("- " * 2999 + "1", "nested more than 100"),
    "deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than 100"),
    "holds itself": ("a: &a [*a]", "aliases (*name) stand for more than 100000 values"),
    "holds itself by merging": ("a: &a {<<: *a}", "aliases (*name) stand for more than"),
    "long number": ("a: " + "1" * 5000, "line 1: a number of 5000 digits; expected at most 4300"),
    "not UTF-8": (b"a: \xff", "not UTF-8"),
    "two documents": ("a: 1\n---\nb: 2\n", "not YAML"),
}


@pytest.mark.parametrize(
    ("read", "case"),
    [(read_json, case) for case in BAD_JSON] + [(read_yaml, case) for case in BAD_YAML],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path, read, case):
    text, reason = (BAD_JSON if read is read_json else BAD_YAML)[case]
    assert reason in refusal(read, tmp_path / "bad", text)


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_nesting_as_deep_as_allowed_and_what_is_no_file(tmp_path, read):
    (tmp_path / "deep").write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert read(tmp_path / "deep")
    for path, why in (
        (tmp_path / "none", "not found; look elsewhere"),
        (tmp_path, "cannot be read"),
    ):
        with pytest.raises(BadInput, match=why):
            read(path, "look elsewhere")


@pytest.mark.parametrize("value", [object(), {"a": {1}}, {"a": [math.inf]}, {1: 2}, b"x", (1,)])
def test_not_plain(tmp_path, value):
    with pytest.raises(BadInput, match="; expected"):
        check_plain(value, tmp_path)


#: Scalars without quotes, and what they are.
SCALARS = {
    "1e2": 100.0,
    "1E2": 100.0,
    "1e+2": 100.0,
    "1e-2": 0.01,
    ".5": 0.5,
    "-.5e1": -5.0,
    "5.": 5.0,
    "+5": 5,
    "-0": 0,
    "007": "007",
    "0100": "0100",
    "0x10": "0x10",
    "0b1": "0b1",
    "0o7": "0o7",
    "1:40": "1:40",
    "1_000": "1_000",
    "01.5": "01.5",
    "true": True,
    "False": False,
    "yes": "yes",
    "no": "no",
    "on": "on",
    "off": "off",
    "y": "y",
    "null": None,
    "~": None,
    "2024-01-01": "2024-01-01",
    "=": "=",
}


@pytest.mark.parametrize("scalar", SCALARS)
def test_scalars_of_yaml(scalar):
    value = parsed(f"a: {scalar}\nb: [{scalar}]", "x")
    assert value == {"a": SCALARS[scalar], "b": [SCALARS[scalar]]}
    assert type(value["a"]) is type(SCALARS[scalar])


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**63))
def test_numbers_of_json_are_numbers_of_yaml(number):
    assert parsed(json.dumps({"a": number}), "x") == {"a": number}


@given(st.from_regex(r"[-+]?[0-9._:exob]{1,8}", fullmatch=True))
def test_a_number_means_the_same_in_yaml_and_in_json(text):
    """What is a number in YAML has the decimal value; else it is text that no field takes for
    one.
    """
    try:
        value = parsed(f"a: {text}", "x")["a"]
    except BadInput:  # infinite, or no YAML
        return
    if isinstance(value, int | float):
        assert value == float(text) and "_" not in text
    elif value == text and not NOT_DECIMAL.fullmatch(text):
        with pytest.raises(ValueError):
            int(text)


@given(
    st.dictionaries(st.text(st.characters(codec="ascii")), st.text(st.characters(codec="ascii")))
)
def test_text_that_looks_like_a_number_comes_back_as_text(values):
    values |= {"commit": "12e4567", "other": "0123456"}
    assert parsed(yaml.dump(values, Dumper=Dumper), "x") == values


def bomb(level: str) -> str:
    """A YAML text of some hundred bytes that stands for nine to the power of nine values."""
    lines = ["a: &a {k: 1}"]
    for name, above in zip("bcdefghij", "abcdefghi", strict=True):
        lines.append(f"{name}: &{name} {level.format(', '.join([f'*{above}'] * 9))}")
    return "\n".join(lines)


@pytest.mark.parametrize("level", ["[{}]", "{{<<: [{}]}}", "{{k: [{}]}}"])
def test_aliases_that_stand_for_very_much_are_refused(tmp_path, level):
    began = time.monotonic()
    assert "aliases (*name) stand for more than" in refusal(
        read_yaml, tmp_path / "bad", bomb(level)
    )
    assert time.monotonic() - began < 2


def test_aliases_that_stand_for_little_are_read():
    assert parsed("a: &a {k: 1}\nb: {<<: *a, m: *a}", "x") == {
        "a": {"k": 1},
        "b": {"k": 1, "m": {"k": 1}},
    }


@pytest.mark.parametrize("read", [read_json, read_yaml, read_text])
def test_a_byte_order_mark_is_skipped_and_other_encodings_are_named(tmp_path, read):
    path, text = tmp_path / "file", '{"a": "µ"}\r\n'
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert read(path) == ('{"a": "µ"}\n' if read is read_text else {"a": "µ"})
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        assert "UTF-16" in refusal(read, path, text.encode(encoding))


@pytest.fixture
def no_file(tmp_path):
    """What is there instead of a file, by what it is called."""
    found = {"folder": tmp_path / "a.json", "FIFO": tmp_path / "fifo", "device": tmp_path / "zero"}
    found["folder"].mkdir()
    os.mkfifo(found["FIFO"])
    found["device"].symlink_to("/dev/zero")
    found["socket"] = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as opened:
        with contextlib.chdir(tmp_path):  # a path of one may have some hundred characters
            opened.bind("s")
        yield found


@pytest.mark.parametrize("read", [read_json, read_yaml, read_text, read_npy, read_npz])
def test_what_is_no_file_is_refused_before_it_is_opened(no_file, tmp_path, read):
    for kind, path in no_file.items():
        with pytest.raises(BadInput, match=f"cannot be read: a {kind}; expected a file"):
            read(path)
    sparse = tmp_path / "sparse"
    with open(sparse, "wb") as file:
        file.truncate(2**41)
    with pytest.raises(BadInput, match=f"at most {MAX_TEXT} bytes|nearly all of them holes"):
        read(sparse)


def test_what_another_program_prints_is_read(tmp_path):
    """Standard input and `<(...)` of a shell."""
    script = (
        "import sys, pathlib; from spikemark.core.reading import read_json;"
        " print(read_json(pathlib.Path(sys.argv[1])))"
    )
    words = [sys.executable, "-c", script]
    for path, text, answer in (("/dev/stdin", '{"a": 1}', "{'a': 1}"), ("/dev/fd/0", "[2]", "[2]")):
        done = subprocess.run([*words, path], input=text, capture_output=True, text=True)
        assert done.stdout.strip() == answer, done.stderr
    with open("/dev/zero") as endless:
        done = subprocess.run([*words, "/dev/stdin"], stdin=endless, capture_output=True, text=True)
    assert "byte 0 is zero" in done.stderr
