"""Files that may hold anything: what is taken, and one line for what is not."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.core.errors import BadInput
from spikemark.core.reading import MAX_DEPTH, check_plain, read_json
from spikemark.core.yaml_file import read_yaml

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(values)
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
    assert "\n" not in line and line.startswith(f"{path}: ") and len(line) < len(str(path)) + 250
    return line


BAD_JSON = {
    "cut": ('{"a": [1, 2', "truncated or not JSON at line 1, column 12"),
    "empty": ("", "line 1, column 1"),
    "not UTF-8": (b'{"a": "\xff"}', "not UTF-8 at byte 7"),
    "key twice": ('{"b": {"a": 1, "a": 2}}', "'a' is there twice"),
    "endless": ("[" * 100_000, "nested more than 100"),
    "deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than 100"),
    "deep objects": ('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1), "nested more than 100"),
    "long number": ("1" * 5000, "4300"),
    "not a number": ('{"a": [1, NaN]}', "a.1=nan; expected a finite number"),
    "infinite": ('{"a": {"b": -Infinity}}', "a.b=-inf; expected"),
    "too large": ("1e400", "top=inf; expected"),
}


BAD_YAML = {
    "not YAML": ("a: [", "not YAML"),
    "key twice": ("a: 1\nb:\n  c: 1\n  c: 2\n", "line 4: the key 'c' is there twice"),
    "key twice in braces": ("{a: 1, 'a': 2}", "'a' is there twice"),
    "date": ("set: {x: 2024-01-01}", "set.x=datetime.date(2024, 1, 1); expected text"),
    "date as key": ("set: {2024-01-01: 1}", "set: key datetime.date(2024, 1, 1); expected text"),
    "mixed keys": ("a: {b: 1, 2: 3}", "a: key 2; expected text"),
    "binary": ("a: !!binary aGVsbG8=", "a=b'hello'; expected text"),
    "set": ("a: [!!set {x, y}]", "a.0={"),
    "not a date at all": ("a: 2024-13-45", "not YAML"),
    "wrong value behind a tag": ("a: !!bool maybe", "not YAML"),
    "wrong number behind a tag": ("a: !!int ''", "not YAML"),
    "infinite": ("a: [1, .inf]", "a.1=inf; expected a finite"),
    "not a number": ("a: .nan", "a=nan; expected a finite"),
    "whole characters": ('a: "\\ud800"', "character"),
    "half a character in a key": ('"\\ud800": 1', "character"),
    "list as key": ("{[1]: 2}", "not YAML"),
    "endless": ("[" * 100_000, "nested more than 100"),
    "nearly endless": ("- " * 2999 + "1", "nested more than 100"),
    "deep": ("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "nested more than 100"),
    "holds itself": ("a: &a [*a]", "nested more than 100"),
    "long number": ("a: " + "1" * 5000, "not YAML"),
    "not UTF-8": (b"a: \xff", "not UTF-8"),
    "two documents": ("a: 1\n---\nb: 2\n", "not YAML"),
}


@pytest.mark.parametrize(
    ("read", "case"), [(read_json, case) for case in BAD_JSON] + [(read_yaml, case) for case in BAD_YAML]
)
def test_a_bad_file_is_refused_in_one_line(tmp_path, read, case):
    text, reason = (BAD_JSON if read is read_json else BAD_YAML)[case]
    assert reason in refusal(read, tmp_path / "bad", text)


@pytest.mark.parametrize("read", [read_json, read_yaml])
def test_nesting_as_deep_as_allowed_and_what_is_no_file(tmp_path, read):
    (tmp_path / "deep").write_text("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert read(tmp_path / "deep")
    for path, why in ((tmp_path / "none", "not found; look elsewhere"), (tmp_path, "cannot be read")):
        with pytest.raises(BadInput, match=why):
            read(path, "look elsewhere")


@pytest.mark.parametrize("value", [object(), {"a": {1}}, {"a": [math.inf]}, {1: 2}, b"x", (1,)])
def test_not_plain(tmp_path, value):
    with pytest.raises(BadInput, match="; expected"):
        check_plain(value, tmp_path)
