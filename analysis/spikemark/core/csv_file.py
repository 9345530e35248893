"""The one reader of tables as CSV that anyone may have written.

A table has a line of names (the header) and then a row per line, with commas between fields. Ends
of lines (Unix, Windows, old Mac), a byte order mark, quotes and blanks around fields make no
difference. Lines that begin with `#` are comments; but where the rows begin without a header, the
comment above them is the header if it has as many names as the first row has fields, as
numpy.savetxt writes it. Empty lines are left out, except between the rows of a single column, where
they are cells with nothing in them.

Nothing is filled in or passed over: rows with more or fewer fields than the header, two columns of
one name, separators other than commas, and quotes that do not end in their line are refused, and
named by their line.

Arrow splits the text into cells and turns columns into numbers, both without a Python object per
cell. Seven million rows of four numbers (230 MB) take 2 s and four times their size in memory.
Arrow's own allocator gives pages back again and again and would take 3 s. Rows with blanks before
quotes take five times as long.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import compute as arrow
from pyarrow import csv as arrow_csv

from .errors import BadInput, short_repr
from .reading import check_file, read_text

#: The byte order mark that some programs of Windows put first.
BYTE_ORDER_MARK = "\ufeff"
#: Bytes that Arrow splits at a time; a line is shorter.
ARROW_BLOCK_BYTES = 1 << 24
#: Characters of the longest header.
MAX_HEADER = 1 << 20
#: Texts of cells that stand for no number, in lower case.
NO_NUMBER = ("", "nan", "na", "n/a", "null", "none", "-")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?(?:nan|inf)", re.IGNORECASE)
DATE = re.compile(r"\d+[-/:.]\d+[-/:.]\d.*")
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
BLANKED_QUOTE = re.compile(rb'(?:^|,)[ \t]+"', re.MULTILINE)


@dataclass(frozen=True)
class CsvTable:
    """A table as text, as it stands in a file."""

    path: Path  #: the file
    names: tuple[str, ...]  #: of the columns, each once; one may be empty
    cells: pd.DataFrame  #: text without blanks around it; the index is the line in the file

    def numbers(self, name: str, gaps: bool = False) -> np.ndarray:
        """A column as finite numbers (float64, an item per row).

        Args:
            name: of the column.
            gaps: whether cells may be empty or say that there is no number (NO_NUMBER), which
                makes them NaN.

        Raises BadInput naming the file, the line, the column and the text of the first other cell.
        """
        column = self.cells[name]
        values = _as_numbers(column)
        wrong = ~np.isfinite(values)
        if gaps and wrong.any():
            empty = column.str.lower().isin(NO_NUMBER).to_numpy(bool)
            values = np.where(empty, np.nan, values)
            wrong &= ~empty
        if wrong.any():
            row = int(wrong.argmax())
            raise self.bad_cell(row, name, "a number")
        return values

    def bad_cell(self, row: int, name: str, expected: str) -> BadInput:
        """The complaint about a cell; `row` counts from 0."""
        return BadInput(
            field=name or "first column",
            value=self.cells[name].iloc[row],
            expected=expected,
            file=self.path,
            line=int(self.cells.index[row]),
        )


def _as_numbers(column: pd.Series) -> np.ndarray:
    """The numbers of a column of text, NaN where there is none."""
    text = pa.array(column, pa.large_string())
    values: np.ndarray
    try:
        values = arrow.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:  # pandas also reads numbers such as +1
        values = pd.to_numeric(column.astype(object), errors="coerce").to_numpy(np.float64)
    return values


@dataclass(frozen=True)
class Header:
    """The names of the columns, and where they stand."""

    names: tuple[str, ...]  #: of the columns
    line: int  #: that holds the names, from 1
    rows_from: int  #: the line with which the rows begin, from 1


def read_csv(path: Path, advice: str = "") -> CsvTable:
    """Reads a table; `advice` follows where the file is not there.

    Raises BadInput naming the line, what it holds and what is expected.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "times.csv")
        ...     _ = path.write_text("rank,compute_us\\n0,12.5\\n")
        ...     table = read_csv(path)
        >>> table.names, table.cells.shape
        (('rank', 'compute_us'), (1, 2))
    """
    text = read_text(path, advice).removeprefix(BYTE_ORDER_MARK)
    header = _header(path, _lines_of_text(text))
    begin = 0
    for _ in range(header.rows_from - 1):
        begin = text.find("\n", begin) + 1 or len(text)
    text = text[begin:]
    content = text.encode()
    del text
    content, lines = _rows(content, header)
    if b'"' in content:
        _check_quotes(path, content, lines)
        if BLANKED_QUOTE.search(content):
            content = _without_blanks(path, content, lines)
    columns = _split(path, content, lines, header)
    cells = columns.to_pandas()
    cells.index = pd.Index(lines)
    return CsvTable(path, header.names, cells)


def first_names(path: Path) -> tuple[str, ...]:
    """The names of the columns, as `read_csv` reads them, from the beginning of a file only.

    Raises BadInput where there are none, and OSError.

    Example:
        >>> first_names(Path("tests/golden/analysis/inputs/power.csv"))
        ('time [s]', 'node1 [W]')
    """
    check_file(path)
    with path.open(encoding="utf-8", errors="replace") as file:
        return _header(path, _lines_of_stream(file)).names


def _lines_of_stream(stream: TextIO) -> Iterator[str]:
    """Lines without their ends and without a byte order mark; long ones come in pieces."""
    line = stream.readline(MAX_HEADER).removeprefix(BYTE_ORDER_MARK)
    while line:
        yield line.rstrip("\n")
        line = stream.readline(MAX_HEADER)


def _lines_of_text(text: str) -> Iterator[str]:
    """Lines without their ends; a text of many lines is not copied whole."""
    begin = 0
    while begin < len(text):
        end = text.find("\n", begin)
        if end < 0:
            end = len(text)
        yield text[begin:end]
        begin = end + 1


def _header(path: Path, lines: Iterable[str]) -> Header:
    """The header of a file, from as many of its lines as that takes.

    Raises BadInput where there is none.
    """
    comment = ""
    comment_line = 0
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if text.startswith("#"):
            comment = text.lstrip("# ")
            comment_line = number
        elif text:
            header = Header(_fields(path, number, line), number, number + 1)
            if _has_value(header.names):  # no names but the first row
                names = _comment_names(path, comment_line, comment)
                if len(names) == len(header.names):
                    header = Header(names, comment_line, number)
            _check_header(path, header)
            return header
    message = "the file is empty; expected a line with the names of columns, and rows"
    raise BadInput(message, file=path, code="file")


def _comment_names(path: Path, number: int, comment: str) -> tuple[str, ...]:
    """The names of columns in a comment; none where it is another comment."""
    try:
        names = _fields(path, number, comment)
    except BadInput:
        return ()
    return () if _has_value(names) else names


def _fields(path: Path, number: int, line: str) -> tuple[str, ...]:
    """The fields of a line. Raises BadInput where its quotes are none of CSV."""
    try:
        fields = next(csv.reader([line], skipinitialspace=True, strict=True), [])
    except csv.Error as error:
        _check_separator(path, number, line)
        raise _bad_line(path, number, f"{short_repr(line)}: not CSV: {error}") from None
    return tuple(field.strip() for field in fields)


def _bad_line(path: Path, number: int, message: str) -> BadInput:
    """The complaint about a line as a whole."""
    return BadInput(message, file=path, line=int(number), code="file")


def _has_value(fields: Iterable[str]) -> bool:
    return any(is_value(field) for field in fields)


def is_value(field: str) -> bool:
    """Says whether a field can be no name of a column: it is a number or a date.

    Example:
        >>> is_value("1e-3"), is_value("compute_us")
        (True, False)
    """
    return bool(NUMBER.fullmatch(field) or DATE.fullmatch(field))


def _check_header(path: Path, header: Header) -> None:
    """Raises BadInput for a line that names no columns, or two of them alike."""
    names = header.names
    if len(names) == 1:
        _check_separator(path, header.line, names[0])
        words = names[0].split()
        if len(words) > 1 and all(is_value(word) for word in words):
            message = "blanks between the columns; expected commas, and a header"
            raise _bad_line(path, header.line, message)
    if all(is_value(name) for name in names):
        expected = "the names of columns, such as rank,cycle,compute"
        message = f"{short_repr(','.join(names))}: numbers in the first line; expected {expected}"
        raise _bad_line(path, header.line, message)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        name = repr(repeated[0]) if repeated[0] else "without a name"
        message = f"two columns {name}; expected a name of its own for each column"
        raise _bad_line(path, header.line, message)


def _check_separator(path: Path, number: int, line: str) -> None:
    """Raises BadInput for a header whose names are separated by something other than commas."""
    for separator, word in SEPARATORS.items():
        if separator in line and "," not in line:
            expected = "commas, and points in numbers" if separator == ";" else "commas"
            message = f"{word} between the columns; expected {expected}"
            raise _bad_line(path, number, message)


def _rows(content: bytes, header: Header) -> tuple[bytes, np.ndarray]:
    """The lines that are rows, and their numbers in the file (an item per row)."""
    if content.endswith(b"\n\n") or not content.endswith(b"\n"):
        content = content.rstrip(b"\n") + b"\n"
    if content == b"\n":
        return b"", np.empty(0, dtype=np.int64)
    letters = np.frombuffer(content, np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    starts = np.concatenate(([0], ends[:-1] + 1))
    left_out = np.zeros(len(starts), dtype=bool)
    # Only lines that begin like this may be comments, or empty.
    candidates = np.isin(letters[starts], np.frombuffer(b"#\n\t ", np.uint8))
    for index in np.flatnonzero(candidates):
        line = content[starts[index] : ends[index]].strip()
        is_cell = len(header.names) == 1
        left_out[index] = line.startswith(b"#") or (not line and not is_cell)
    if left_out.any():
        content = letters[np.repeat(~left_out, ends + 1 - starts)].tobytes()
    return content, np.flatnonzero(~left_out) + header.rows_from


def _check_quotes(path: Path, content: bytes, lines: np.ndarray) -> None:
    """Raises BadInput for the first row in which a quote does not end."""
    for number, line in zip(lines, content.split(b"\n"), strict=False):
        if line.count(b'"') % 2:
            message = "a quote is open at its end; expected a row in each line"
            raise _bad_line(path, number, message)


def _without_blanks(path: Path, content: bytes, lines: np.ndarray) -> bytes:
    """The same rows without blanks before quotes, which Arrow would take for a part of the cell."""
    rows = csv.reader(
        content.decode().split("\n")[:-1],
        skipinitialspace=True,
        strict=True,
    )
    stream = io.StringIO()
    try:
        csv.writer(stream, lineterminator="\n").writerows(rows)
    except csv.Error as error:
        line = lines[min(rows.line_num, len(lines)) - 1]
        raise _bad_line(path, line, f"not CSV: {error}") from None
    return stream.getvalue().encode()


def _split(
    path: Path,
    content: bytes,
    lines: np.ndarray,
    header: Header,
) -> pa.Table:
    """The cells of the rows. Raises BadInput for the first row with another number of fields."""
    names = header.names
    if not content:
        return pa.table({name: pa.array([], pa.large_string()) for name in names})
    odd_rows: list[arrow_csv.InvalidRow] = []

    def skip(row: arrow_csv.InvalidRow) -> str:
        odd_rows.append(row)
        return "skip"

    numbers = [str(number) for number in range(len(names))]
    text_columns = dict.fromkeys(numbers, pa.large_string())
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(content),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=ARROW_BLOCK_BYTES, column_names=numbers
            ),
            arrow_csv.ParseOptions(invalid_row_handler=skip, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types=text_columns),
            memory_pool=pa.system_memory_pool(),
        )
    except pa.ArrowInvalid:
        table = None
    if table is None or table.num_rows + len(odd_rows) != len(lines):
        message = "not a table with commas between columns and a row in each line"
        raise BadInput(message, file=path, code="file")
    if odd_rows:
        odd = odd_rows[0]
        expected = f"{len(names)}, as many as names in line {header.line}"
        message = f"{odd.actual_columns} fields; expected {expected}"
        raise _bad_line(path, lines[odd.number - 1], message)
    table = table.rename_columns(names)
    if content.isascii() and b" " not in content and b"\t" not in content:
        return table
    return pa.table({name: arrow.utf8_trim_whitespace(table[name]) for name in names})
