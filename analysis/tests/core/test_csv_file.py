"""CSV as people and programs write it: read the same, or refused by line."""

import random

import numpy as np
import pytest

from spikemark.core.csv_file import first_names, read_csv
from spikemark.core.errors import BadInput

PLAIN = "rank,compute [ms]\n0,1.5\n1,2.5\n"
#: The same table in other writing.
SAME = {
    "byte order mark": "\ufeff" + PLAIN,
    "Windows": PLAIN.replace("\n", "\r\n"),
    "old Mac": PLAIN.replace("\n", "\r"),
    "quotes": '"rank","compute [ms]"\n"0","1.5"\n1,"2.5"\n',
    "blanks": "rank , compute [ms]\n 0, 1.5\n1 ,2.5 \n",
    "blanks before quotes": '"rank", "compute [ms]"\n"0", "1.5"\n 1, "2.5"\n',
    "tabs after commas": "rank,\tcompute [ms]\n0,\t1.5\n1,\t2.5\n",
    "comments": "# made by hand\n\nrank,compute [ms]\n0,1.5\n  # half\n\n1,2.5\n# end",
    "savetxt": "# rank,compute [ms]\n0,1.5\n1,2.5\n",
    "comments before that of savetxt": "# it's \"odd\n# rank,compute [ms]\n0,1.5\n1,2.5\n",
    "no space after the sign": "#rank,compute [ms]\n0,1.5\n1,2.5\n",
    "empty lines": "\n\nrank,compute [ms]\n\n0,1.5\n\n1,2.5\n\n\n",
    "other numbers": "rank,compute [ms]\n+0,15E-1\n1.,+2.5000\n",
}


def refused(of, *arguments, **options):
    """What is said of bad input, in one line."""
    with pytest.raises(BadInput) as error:
        of(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def write(folder, text):
    path = folder / "a.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("writing", SAME)
def test_the_same_table_in_other_writing(tmp_path, writing):
    path = write(tmp_path, SAME[writing])
    table = read_csv(path)
    assert table.names == first_names(path) == tuple(table.cells) == ("rank", "compute [ms]")
    assert table.numbers("rank").tolist() == [0, 1] and table.numbers("compute [ms]").tolist() == [
        1.5,
        2.5,
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("# rank,compute\n", "empty"),
        ("a,b\n1,2\n3\n", "line 3: 1 fields; expected 2"),
        ("a,b\n# x\n1,2\n\n3,4,5\n", "line 5: 3 fields"),
        ("a,b\n1,2,\n3,4,\n", "line 2: 3 fields"),
        ("a,b\n1,2,3\n", "line 2: 3 fields"),
        ("a,b,a\n1,2,3\n", "two columns 'a'"),
        ('"a", a\n1,2\n', "two columns 'a'"),
        (",,a\n1,2,3\n", "two columns without a name"),
        ("a;b\n1;2,5\n", "line 1: semicolons"),
        ('"a";"b"\n1;2\n', "line 1: semicolons"),
        ("# made\na\tb\n1\t2\n", "line 2: tabs"),
        ("0 0 1.5\n0 1 1.25\n", "blanks"),
        ("1.5,2\n3,4\n", "numbers in the first line"),
        ('a,b\n1,"2\n', "line 2: a quote"),
        ('a,b\n1,"2\n3"\n', "line 2: a quote"),
        ('a,"b\n1,2\n', "line 1"),
        ('a,b\n1, "2" x\n', "line 2"),
        (b"a\xff\n1\n", "UTF-8"),
        ("a\n1\n".encode("utf-16"), "UTF-8"),
    ],
)
def test_what_is_no_table_is_refused_by_line(tmp_path, text, words):
    said = refused(read_csv, write(tmp_path, text))
    assert str(tmp_path / "a.csv") in said and words in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("r,t\n0,1\n\n0,nan\n", "line 4: t='nan'"),
        ("r,t\n0,\n", "line 2: t=''"),
        ("r,t\n0,x\n", "line 2: t='x'"),
        ("t\n1\n\n2\n", "line 3: t=''"),
        ("r,t\n0,inf\n", "line 2: t='inf'"),
        ("r,t\n0,1e999\n", "line 2: t='1e999'"),
        ('r,t\n0,"1,5"\n', "line 2: t='1,5'"),
        ("r,t\n0,1_0\n", "line 2: t='1_0'"),
        ("r,t\n0,0x1\n", "line 2: t='0x1'"),
        ("# c\nr,t\n0,True\n", "line 3: t='True'"),
        ("r,t\n0,1 2\n", "line 2: t='1 2'"),
    ],
)
def test_cells_that_are_no_numbers_are_named(tmp_path, text, words):
    table = read_csv(write(tmp_path, text))
    assert f"{table.path}, {words}; expected" in refused(table.numbers, "t")


def test_cells_without_a_number_become_nan_where_gaps_are_allowed(tmp_path):
    table = read_csv(write(tmp_path, "r,t\n0,1\n1,\n2,NaN\n3,n/a\n4,2\n"))
    np.testing.assert_array_equal(table.numbers("t", gaps=True), [1, np.nan, np.nan, np.nan, 2])
    assert "line 3" in refused(
        read_csv(write(tmp_path, "r,t\n0,\n1,1;5\n")).numbers, "t", gaps=True
    )


def test_cells_keep_their_text_and_their_line(tmp_path):
    table = read_csv(write(tmp_path, "# by hand\nnode,a\n007,1e5\n\nNA,true\n"))
    assert table.cells["node"].to_dict() == {3: "007", 5: "NA"}
    assert table.cells["a"].to_dict() == {3: "1e5", 5: "true"}
    empty = read_csv(write(tmp_path, "node,a\n"))
    assert len(empty.cells) == 0 and empty.numbers("a").shape == (0,)


def test_a_missing_file_and_a_folder(tmp_path):
    assert "not found; make it" in refused(read_csv, tmp_path / "b.csv", "make it")
    assert str(tmp_path) in refused(read_csv, tmp_path)


def written(rng, names, rows, commented):
    """A table in random writing that means the same."""

    def field(text):
        text = f'"{text}"' if rng.random() < quoted else text
        return " " * rng.choice(blanks) + text

    quoted, blanks, comments = (
        rng.choice([0, 0.3, 1]),
        rng.choice([[0], [0, 1]]),
        rng.choice([0, 0.2]),
    )
    header, first, *others = [",".join(map(field, row)) for row in [names, *rows]]
    lines = ["# " + header if commented else header, first]
    for line in others:
        if rng.random() < comments:
            lines.append(rng.choice(["# x, y", "", " ", "#"]))
        lines.append(line)
    end = rng.choice(["\n", "\r\n", "\r"])
    return (rng.choice(["", "\ufeff"]) + end.join(lines) + rng.choice(["", end, 2 * end])).encode()


def test_random_writing_is_read_the_same(tmp_path):
    """400 tables; one in four lacks a field or has one more, and that line is named."""
    for seed in range(400):
        rng = random.Random(seed)
        names = rng.sample(["rank", "t [ms]", "node name", "ü", "compute"], rng.randint(2, 4))
        rows = [[f"{rng.gauss(0, 10):.9g}" for _ in names] for _ in range(rng.randint(1, 9))]
        planted = np.array(rows, dtype=float)
        commented, odd = rng.random() < 0.3, rng.randrange(len(rows))
        if commented or rng.random() > 0.25:
            odd = None
        else:
            rows[odd] = [*rows[odd], "1"] if rng.random() < 0.5 else rows[odd][1:]
        path = write(tmp_path, written(rng, names, rows, commented))
        if odd is None:
            table = read_csv(path)
            assert table.names == first_names(path) == tuple(names), seed
            np.testing.assert_array_equal(
                np.transpose([table.numbers(name) for name in names]), planted
            )
        else:
            said = refused(read_csv, path)
            lines = enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1)
            (line,) = (line for number, line in lines if f" line {number}: " in said)
            assert line.count(",") + 1 == len(rows[odd]) != len(names), (seed, said)
