"""The one exception that means 'the input is wrong', as opposed to 'the program is wrong'.

Whoever finds something wrong in an input raises BadInput with the parts of its line: the field, its
value, what was expected, and the file and line that hold it. Functions further out add what they
know with `within`. The command line prints the line and exits with status 2.

A file may have several faults: the line tells the first and how many more there are, and
`BadInput.problems` has a line for each of up to MAX_PROBLEMS.
"""

import difflib
import errno
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

#: Characters of a value that a line shows.
MAX_SHOWN = 80
#: Faults of one file that are listed; the others are counted.
MAX_PROBLEMS = 5
#: What a `BadInput.code` says: what is wrong with the field, whatever the words of the line.
CODES = ("missing", "unknown", "type", "range", "value", "conflict", "file")
#: Errors of the operating system that naming another file would avoid.
ERRORS_OF_A_NAMED_FILE = (
    FileExistsError,
    FileNotFoundError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)
#: The same, by their number where Python has no class for them.
NUMBERS_OF_A_NAMED_FILE = {errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTEMPTY, errno.EROFS}


class NoValue:
    """Stands for a value that a complaint does not show."""


class BadInput(ValueError):
    """What is wrong with an input, in one line; the command line then exits with status 2.

    The line is put together from its parts, all of which may be left out:

        FILE, line LINE: FIELD=VALUE: REASON; expected EXPECTED

    Args:
        message: a whole sentence instead of FIELD=VALUE: REASON; expected EXPECTED, where that
            form does not say it well. `field` is then still what it complains about.
        reason: what is wrong, where it takes more than `expected` to say it.
        field: the path of the field (`grid.ranks`), or an option with its dashes (`--out`).
        value: the value of the field, shown as `short_repr` does.
        expected: what the value should have been, such as `a number above 0`.
        file: the file that holds the field, or what else it is to be called.
        line: the number of the line in the file, from 1.
        code: one of CODES.
        others: further faults of the same file; the line ends in their number.
        instead: a path that would do where that of `file` does not, such as one of the runs in a
            folder. The command line ends in its own command with this path.

    Attributes:
        field: as given, an option without its dashes; None where the whole file is to blame.
        code, file, line, others, instead: as given.
        sentence: the line without FILE and LINE.

    Example:
        >>> str(BadInput(field="grid.ranks", value=0, expected="at least 1", file="demo.yaml"))
        'demo.yaml: grid.ranks=0; expected at least 1'
        >>> str(BadInput("holds no run", file="results", code="file"))
        'results: holds no run'
        >>> str(BadInput(reason="beside --html", field="--json", expected="one of them"))
        '--json: beside --html; expected one of them'
    """

    sentence: str
    field: str | None
    code: str
    file: Any
    line: int | None
    others: tuple[Self, ...]
    instead: Any

    def __init__(
        self,
        message: str | None = None,
        *,
        reason: str | None = None,
        field: str | None = None,
        value: object = NoValue,
        expected: str | None = None,
        file: object = None,
        line: int | None = None,
        code: str | None = None,
        others: Sequence[Self] = (),
        instead: object = None,
    ):
        sentence = message or _sentence(reason, field, value, expected)
        self.sentence = " ".join(sentence.splitlines())
        self.file = file
        self.line = line
        self.others = tuple(others)
        self.instead = instead
        text = self._located()
        if self.others:
            text += f" (and {len(self.others)} more)"
        super().__init__(text)
        self.code = code or "value"
        self.field = field and field.removeprefix("--")
        if self.code not in CODES:
            raise TypeError(f"code={self.code!r}; expected one of {', '.join(CODES)}")

    @property
    def problems(self) -> tuple[str, ...]:
        """A line for each fault, at most MAX_PROBLEMS; the first has no count of the others.

        Example:
            >>> BadInput(field="ranks", value=0, expected="at least 1").problems
            ('ranks=0; expected at least 1',)
        """
        others = self.others[: MAX_PROBLEMS - 1]
        return (self._located(), *map(str, others))

    def within(
        self,
        file: object = None,
        line: int | None = None,
        field: str | None = None,
        advice: str = "",
    ) -> Self:
        """The same complaint about a part of something larger.

        Args:
            file: the file, or what else holds the part.
            line: the number of the line in the file, from 1; the complaint's own is kept.
            field: the path of the part; the field of the complaint follows it, behind a dot.
            advice: what to do about it; ends the line behind a semicolon.

        Example:
            >>> str(BadInput(field="ranks", value=0, expected="at least 1").within(field="grid"))
            'grid.ranks=0; expected at least 1'
            >>> str(BadInput("a tab", code="file", line=3).within("demo.yaml"))
            'demo.yaml, line 3: a tab'
        """
        sentence = self.sentence
        path = self.field
        if field is not None:
            starts_with_field = path is not None and sentence.startswith(path)
            sentence = f"{field}.{sentence}" if starts_with_field else f"{field}: {sentence}"
            path = field if path is None else f"{field}.{path}"
        if advice:
            sentence = f"{sentence}; {advice}"
        if self.file is not None and file is not None:
            sentence = f"{_place(self.file, self.line)}: {sentence}"  # a file inside another
        else:
            line = line if self.line is None else self.line
            file = self.file if file is None else file
        others = [other.within(field=field) for other in self.others]
        return type(self)(
            sentence,
            field=path,
            file=file,
            line=line,
            code=self.code,
            others=others,
            instead=self.instead,
        )

    def about_option(self, flag: str, flags: Mapping[str, str] | None = None) -> Self:
        """The same complaint, where the argument that it is about is an option of a command.

        Args:
            flag: the option.
            flags: options of the command by the names of arguments; a complaint that something
                stands beside, with or without another argument names that as an option, too, and
                so does one that proposes NAME=VALUE.

        Example:
            >>> line = BadInput(field="runs_of", reason="beside out", expected="one of them")
            >>> str(line.about_option("--runs-of", {"out": "--out"}))
            '--runs-of: beside --out; expected one of them'
            >>> line = BadInput(field="rate", reason="missing", expected="Hz, as in rate=5")
            >>> str(line.about_option("--rate", {"rate": "--rate"}))
            '--rate: missing; expected Hz, as in --rate 5'
        """
        if self.field is None or not self.sentence.startswith(self.field):
            return self
        words = self.sentence.removeprefix(self.field)
        for name, other_flag in (flags or {}).items():
            words = re.sub(rf"(?<![\w.-]){name}=True\b", other_flag, words)
            words = re.sub(rf"(?<![\w.-]){name}=(?=\w)", f"{other_flag} ", words)
            words = re.sub(rf"\b(beside|with|without) {name}\b", rf"\1 {other_flag}", words)
        sentence = flag + words
        return type(self)(
            sentence,
            field=flag,
            line=self.line,
            code=self.code,
            others=self.others,
        )

    def _located(self) -> str:
        """The sentence behind the file and the line."""
        place = _place(self.file, self.line)
        return f"{place}: {self.sentence}" if place else self.sentence


def _place(file: object, line: int | None) -> str:
    """Where a complaint is about: a file and a line of it, one of both, or nothing."""
    parts = []
    if file is not None:
        parts.append(" ".join(str(file).splitlines()))
    if line is not None:
        parts.append(f"line {line}")
    return ", ".join(parts)


def _sentence(
    reason: str | None,
    field: str | None,
    value: object,
    expected: str | None,
) -> str:
    """A complaint without its place, see BadInput."""
    subject = field or ""
    if field and value is not NoValue:
        subject = f"{field}={short_repr(value)}"
    text = ": ".join(part for part in (subject, reason) if part)
    if expected is None:
        return text
    return f"{text}; expected {expected}" if text else f"expected {expected}"


def unknown_name(
    field: str,
    value: object,
    names: Iterable[str],
    *,
    expected: str | None = None,
    file: object = None,
) -> BadInput:
    """The complaint about a name that is not one of those that are known.

    Args:
        field: what has the name as its value, such as `preset` or `grid.schedule`.
        value: the name.
        names: the names that would do. The one that looks most alike is proposed.
        expected: what to say instead of listing the names, such as `a machine of machines/`; where
            none looks alike, the first name follows as an example.
        file: the file that holds the field.

    Example:
        >>> str(unknown_name("preset", "microcirciut", ["brunel", "microcircuit"]))
        "preset='microcirciut'; expected one of brunel, microcircuit; did you mean 'microcircuit'?"
        >>> str(unknown_name("run", "7", ["conventional-r2"], expected="the id of a run"))
        "run='7'; expected the id of a run, such as conventional-r2"
    """
    names = list(names)
    alike = proposal(value, names)
    if expected is not None and names and not alike and names[0] not in expected:
        expected = f"{expected}, such as {names[0]}"
    if expected is None:
        expected = f"one of {', '.join(names)}" if names else "no name: there is none to choose"
    return BadInput(
        field=field,
        value=value,
        expected=f"{expected}{alike}",
        file=file,
        code="unknown",
    )


def proposal(value: object, names: Iterable[str]) -> str:
    """`; did you mean NAME?` for the name that looks most like `value`; nothing where none does.

    Example:
        >>> proposal("rank", ["ranks", "threads"]), proposal("x", ["ranks"])
        ("; did you mean 'ranks'?", '')
    """
    if not isinstance(value, str):
        return ""
    by_lower_case = {name.lower(): name for name in names}
    matches = difflib.get_close_matches(value[:MAX_SHOWN].lower(), by_lower_case, n=1)
    return f"; did you mean {by_lower_case[matches[0]]!r}?" if matches else ""


def ending(error: BadInput | OSError) -> tuple[str, int]:
    """The text and the exit status of a command that an error ends.

    The text is one line; below it, further faults of the same file have an indented line each. The
    status is 2 where another command line would avoid the error; a full disk, for example, stays
    full.

    Example:
        >>> ending(BadInput(field="ranks", value=0, expected="at least 1"))
        ('ranks=0; expected at least 1', 2)
        >>> ending(OSError(28, "No space left on device", "out/cycles.npy"))
        ('out/cycles.npy: No space left on device', 1)
    """
    if isinstance(error, BadInput):
        return "\n  ".join((str(error), *error.problems[1:])), 2
    reason = error.strerror or str(error)
    if error.filename is None:
        return " ".join(reason.splitlines()), 1
    line = " ".join(f"{error.filename}: {error.strerror}".splitlines())
    avoidable = isinstance(error, ERRORS_OF_A_NAMED_FILE) or error.errno in NUMBERS_OF_A_NAMED_FILE
    return line, 2 if avoidable else 1


def plain(text: str) -> str:
    """Text that a terminal only shows.

    Control characters other than ends of lines and tabs become escapes: names from files may hold
    sequences that move the cursor, turn the direction of writing, or cannot be encoded.

    Example:
        >>> plain("a\\x1b[2Jb")
        'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(_escaped(letter) for letter in text)


def _escaped(letter: str) -> str:
    harmless = letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"
    return letter if harmless else letter.encode("unicode_escape").decode()


def short_repr(value: object) -> str:
    """`value` as it can stand in one line, at most MAX_SHOWN characters of it.

    Example:
        >>> short_repr("a"), short_repr([1, 2])
        ("'a'", '[1, 2]')
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or endless nesting
        return f"a long {type(value).__name__}"
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
