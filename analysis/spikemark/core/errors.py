"""The one exception that means 'the input is wrong', as opposed to 'the program is wrong'."""

import errno
import re
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from pydantic import ValidationError

SHOWN = 80
#: What a `BadInput.code` says: what is wrong with the field, whatever the words of the line.
CODES = ("missing", "unknown", "type", "range", "value", "conflict", "file")
#: Errors of the operating system that lie in the file that was named, so that naming another one mends them.
OF_THE_FILE = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
OF_ITS_NAME = {errno.ELOOP, errno.ENAMETOOLONG, errno.ENOTEMPTY, errno.EROFS}
#: The field that a line names first, behind files and lines of files.
_NAMED = re.compile(
    r"(?:(?!--)(?:[^:]*[/\\][^:]*|[^:]*\.(?:jsonl?|ya?ml|csv|tsv|np[yz]|txt|xml|html|gz|otf2|cubex|cfg|dat)"
    r"|(?:line|row) \d+)(?:, (?:line|row) \d+)?: )*+"
    r"(?:(?:the )?(?:field|key) '([^']+)'|(?:--)?([A-Za-z_](?:[\w.-]*\w)?)(?:=|: | ['\"])|--([a-z][\w-]*))"
)


class BadInput(ValueError):
    """One line that names the field, its value and what is expected. The command line exits with status 2.

    It stays one line where a name in the input holds ends of lines.

    `field`: the path of the field (`grid.ranks`) or the option without its dashes (`out`); None where the
    complaint is about a whole file. `code`: one of CODES. Where they are not given, they are those of the
    BadInput that is being handled and that the line repeats, or else what the line names first, and `value`.
    """

    field: str | None
    code: str

    def __init__(self, line: str, *, field: str | None = None, code: str | None = None):
        line = " ".join(line.splitlines())
        super().__init__(line)
        handled = sys.exception()
        if isinstance(handled, BadInput) and str(handled) in line:
            field, code = field or handled.field, code or handled.code
        self.code = code or "value"
        self.field = field or (None if self.code == "file" else _named(line))
        if self.code not in CODES:
            raise TypeError(f"code={self.code!r}; expected one of {', '.join(CODES)}")

    @classmethod
    def of(cls, field: str, value: Any, expected: str, *, file: Any = None, code: str = "value") -> Self:
        """The usual line: `file: field=value; expected ...`."""
        start = "" if file is None else f"{file}: "
        return cls(f"{start}{field}={shown(value)}; expected {expected}", field=field, code=code)


def _named(line: str) -> str | None:
    found = _NAMED.match(line)
    return found and found[found.lastindex or 0]


def ending(error: BadInput | OSError) -> tuple[str, int]:
    """The line and the exit status of a command that an error ends.

    The status is 2 where another command line would avoid the error; a full disk, for example, stays full.
    """
    if isinstance(error, BadInput):
        return str(error), 2
    if error.filename is None:
        return error.strerror or str(error), 1
    mended = isinstance(error, OF_THE_FILE) or error.errno in OF_ITS_NAME
    return f"{error.filename}: {error.strerror}", 2 if mended else 1


def plain(text: str) -> str:
    """Text that a terminal only shows: other control characters than ends of lines and tabs become escapes.

    Names from files may hold sequences that move the cursor, turn the direction of writing, or cannot be
    encoded.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(letter: str) -> str:
    harmless = letter.isprintable() or letter in "\n\t" or unicodedata.category(letter) == "Zs"
    return letter if harmless else letter.encode("unicode_escape").decode()


def shown(value: Any) -> str:
    """`value` as it can stand in one line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or endless nesting
        return f"a long {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


#: Starts of pydantic's sentences, and what follows "expected " instead.
_WORDS = {
    r", (unable to|got) .*|( after validation)?, not \d+$|\.$": "",
    r".+ should be (an instance of )?": "", r".+ is not one of ": "", r"List should have": "a list of",
    r"String should have": "text of", r"\w+ should match": "text that matches",
    r"greater than or equal to": "at least", r"less than or equal to": "at most",
    r"greater than": "above", r"less than": "below",
}  # fmt: skip
#: Starts of pydantic's names of errors, and what BadInput calls them; others of a type, or else `value`.
_KINDS = {
    "missing": "missing",
    "(extra_forbidden|literal_error|enum|union_tag_invalid)$": "unknown",
    "greater_than|less_than|too_|string_too_|finite_number": "range",
    ".*(_type|_parsing|_from_float)$": "type",
    "": "value",
}


def invalid(
    error: "ValidationError", start: str = "", whole: str = "", kind: Any = None, given: Any = None
) -> BadInput:
    """What pydantic found, as one line: `start`, the first wrong field, its value, what is expected.

    `whole` stands for the field where the error is about all fields together. `kind`: the model, to name its
    fields where one is unknown. `given`: what was checked; without it, the path of a field that may be of
    several kinds holds their names.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for problem in error.errors(include_url=False):
        found.setdefault(".".join(_path(problem, given)), []).append(problem)
    # A field with a wrong part is of the kind that has such parts.
    found = {field: p for field, p in found.items() if not any(o.startswith(f"{field}.") for o in found)}
    # What is wrong comes before what is missing, which may be there under a misspelt name.
    field, problems = min(found.items(), key=lambda one: one[1][0]["type"] == "missing")
    problems = [p for p in problems if p["type"] == "value_error"] or problems  # of the kind that was meant
    said = " or ".join(dict.fromkeys(_expected(problem, kind) for problem in problems))
    said, first, value = said.replace(" or expected ", " or "), problems[0], problems[0]["input"]
    raised = first["type"] == "value_error"
    name = field or ("" if raised and _named(said) else whole)
    silent = first["type"] == "missing" or (value and isinstance(value, dict | list))
    if name and not silent and not (raised and shown(value) in said):
        name += f"={shown(value)}"
    between = ("; " if "=" in name and said.startswith("expected") else ": ") if name else ""
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    code = next(code for kinds, code in _KINDS.items() if re.match(kinds, first["type"]))
    code = getattr(first.get("ctx", {}).get("error"), "code", code)  # of a validator that raised BadInput
    return BadInput(f"{start}{name}{between}{said}{more}", field=field or None, code=code)


def _path(problem: dict[str, Any], given: Any) -> list[str]:
    """The field of a problem; names of kinds among which pydantic chose are no fields."""
    path, at = [], given
    for part in problem["loc"]:
        items = range(len(at)) if isinstance(at, list) else at if isinstance(at, dict) else ()
        inside = part in items
        if given is None or inside or (problem["type"] == "missing" and part == problem["loc"][-1]):
            path.append(str(part))
            at = at[part] if inside else None
    return path


def _expected(problem: dict[str, Any], kind: Any) -> str:
    if problem["type"] in ("missing", "value_error"):
        return str(problem.get("ctx", {}).get("error", "missing"))
    if problem["type"] == "extra_forbidden":
        fields = _fields(kind, problem["loc"][:-1])
        return f"unknown; expected {', '.join(fields)}" if fields else "unknown"
    if problem["type"] in ("model_type", "dict_type"):
        return "expected a mapping of fields"
    said = problem["msg"]
    for words, other in _WORDS.items():
        said = re.sub(words, other, said)
    return f"expected {said}"


def _fields(kind: Any, path: tuple) -> list[str]:
    """The fields of the part of a model at `path`; none where it may be of several kinds."""
    for name in path:
        if (about := getattr(kind, "model_fields", {}).get(name)) is None:
            continue  # the number of an item, or the name of one of several kinds
        parts, models = [about.annotation], []
        while parts:
            part = parts.pop()
            models += [part] if hasattr(part, "model_fields") else []
            parts += getattr(part, "__args__", ())
        kind = models[0] if len(models) == 1 else None
    return [about.alias or name for name, about in getattr(kind, "model_fields", {}).items()]
