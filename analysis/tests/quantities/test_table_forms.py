"""Tables as CSV, Markdown and LaTeX: whatever cells hold, rows stay rows and numbers numbers."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spikemark.quantities.table_forms import TABLE_FORMS, table_text

#: What ends a cell or starts a command in one of the forms, and a few letters.
SPECIAL = "ab|&%$#_{}~^\\\"',\n"
texts = st.text(SPECIAL, min_size=1, max_size=12).filter(str.strip)


def frame_of(names: list[str]) -> pd.DataFrame:
    values = np.arange(len(names)) + 0.5
    columns = {"name": names, "time_s": values, "time_s_low": values / 2, "time_s_high": values * 2}
    frame = pd.DataFrame(columns)
    frame.attrs["units"] = {"time_s": "s"}
    return frame


@given(st.lists(texts, min_size=1, max_size=4))
def test_pandas_reads_the_same_from_csv(names):
    frame = frame_of(names)
    again = pd.read_csv(io.StringIO(table_text(frame, "csv")), comment="#", keep_default_na=False)
    assert again.columns.tolist() == frame.columns.tolist()
    assert np.array_equal(again["time_s_high"], frame["time_s_high"])
    if not any("#" in name for name in names):
        assert again["name"].tolist() == names


@pytest.mark.parametrize(("form", "sign"), [("markdown", "|"), ("latex", "&")])
@given(names=st.lists(texts, min_size=1, max_size=4))
def test_every_row_has_one_line_with_two_cells(form, sign, names):
    lines = table_text(frame_of(names), form).splitlines()
    unescaped = re.compile(r"(?<!\\)" + re.escape(sign))
    signs = {"markdown": 3, "latex": 1}[form]
    rows = [line for line in lines if len(unescaped.findall(line)) == signs]
    assert len(rows) - len(names) == {"markdown": 2, "latex": 1}[form]
    for number, row in enumerate(rows[-len(names) :]):
        value = number + 0.5
        assert f"{value:.3g}" in row and f"{value / 2:.3g}" in row and f"{value * 2:.3g}" in row


def test_units_stand_where_they_are_needed():
    for form in TABLE_FORMS:
        assert re.search(r"time\\?_s [(\[]s[)\]]", table_text(frame_of(["a"]), form)), form
