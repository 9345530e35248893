"""Every column has one entry in terms.yaml, every entry is used, and the glossary is what they
say.
"""

import re
from pathlib import Path

import pytest

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.quantity import KINDS
from spikemark.quantities.table import Table
from spikemark.quantities.terms import column, glossary, term, terms
from spikemark.records.columns import RESULT_TABLES
from spikemark.report.document import explained, words_in

PACKAGE = Path(__file__).parents[2] / "spikemark"
CODE = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
#: Code without line ends within sentences, of all packages that write pages.
TEXTS = re.sub(
    r"\"?\s*\n\s*f?\"?",
    " ",
    "\n".join(path.read_text() for path in PACKAGE.parent.glob("spikemark*/**/*.py")),
)
WORDS = set(re.findall(r"[A-Za-z_]\w*", CODE))


WORDS_OF_PAGES = [name for name in terms() if name.startswith("word.")]


@pytest.mark.parametrize("name", WORDS_OF_PAGES)
def test_a_word_that_is_explained_is_written_somewhere(name):
    one = term(name)
    word = re.escape(one.head)
    first, _, rest = one.head.partition(", ")
    if rest and first in {term(other).head for other in WORDS_OF_PAGES}:
        word = rf"{{\w+}}, {re.escape(rest)}"  # follows the other word in an f-string
    assert re.search(rf"(?<!\w){word}(s|es)?\b", TEXTS, re.IGNORECASE)
    assert one.means


@pytest.mark.parametrize("schedule", SCHEDULES.values(), ids=SCHEDULES)
def test_schedules_are_explained_by_their_names_and_labels(schedule):
    for text in (f"{schedule.label} (D = 10)", f"{schedule.name} D=10 ranks=2"):
        assert schedule.label in [word.head for word in words_in(text)]


@pytest.mark.parametrize("field", ["network.populations.0.neuron.rate_hz", "size_cv"])
def test_a_swept_field_is_called_as_it_is_written(field):
    assert term(f"swept.{field}").head == term(field).heading == field


def test_a_word_has_a_unit_where_a_column_has_it():
    in_seconds = [Table([column("deliver")], [])]
    assert [word.heading for word in explained(in_seconds)] == [term("deliver").heading]
    in_words = explained([], "with a CV of 0.1, and D = 10")
    assert [word.unit for word in in_words] == ["", ""]


@pytest.mark.parametrize("name", [name for name in terms() if name not in WORDS_OF_PAGES])
def test_a_term_is_the_name_of_a_column_or_of_a_field(name):
    made = "_" in name and f'}}_{name.rsplit("_", 1)[1]}"' in CODE  # f"{predictor}_error"
    assert name.removeprefix("part.") in WORDS or made
    one = term(name)
    assert one.head and one.digits >= 0 and one.kind in ("", *KINDS)


@pytest.mark.parametrize("prefix", ["part.", "swept."])
def test_columns_of_frames_are_called_after_what_follows_their_prefix(prefix):
    assert term(f"{prefix}deliver").heading == term("deliver").heading
    assert term(f"{prefix}no.such_field").heading == "no.such_field"


def test_a_part_that_is_called_as_another_column_has_a_term_of_its_own():
    columns = [
        RESULT_TABLES["runs"].column("exchange"),
        RESULT_TABLES["runs"].column("part.exchange"),
    ]
    columns.append(RESULT_TABLES["cycles"].column("exchange"))
    sources = [column.source for column in columns]
    assert sources == [
        "record.json: description.exchange",
        "record.json: timing.phases",
        "cycles.npy",
    ]
    assert columns[0].means != columns[1].means == columns[2].means


def test_the_glossary_explains_each_word_once():
    explained = {(one.head, one.means) for one in terms().values() if one.means}
    assert glossary().count("\n") == len(explained) + 2
