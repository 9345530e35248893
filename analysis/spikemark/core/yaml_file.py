"""Reads (and helps to write) YAML files, which may contain only what JSON can also express.

Scalars without quotes mean what YAML 1.2 says, whatever library wrote the file: `1e2` and `.5` are
numbers, `true` and `false` are the only booleans (`yes` and `on` are text), and a date is text.
What the versions of YAML read as different numbers is text, too, which a field that needs a number
refuses: `0100` (64 or 100), `1:40` (100 or text), `1_000`, `0x10`, `0b1` and `0o7`.
"""

import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import yaml

from .errors import BadInput, short_repr
from .reading import check_plain, parsed_json, read_json, read_text, too_deep

TAG = "tag:yaml.org,2002:"
TEXT = f"{TAG}str"
#: Scalars without quotes that are no text: the tag, what they look like, and the characters they
#: begin with.
SCALARS = (
    ("null", r"~|null|Null|NULL|", ("~", "n", "N", "")),
    ("bool", r"true|True|TRUE|false|False|FALSE", tuple("tTfF")),
    ("int", r"[-+]?(0|[1-9][0-9]*)", tuple("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)([eE][-+]?[0-9]+)?"
        r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
        tuple("-+.0123456789"),
    ),
    ("merge", r"<<", ("<",)),
)
NUMBERS = {
    TAG + name: re.compile(pattern) for name, pattern, _ in SCALARS if name in ("int", "float")
}

#: Ends of names of YAML files.
YAML = (".yaml", ".yml")

#: Characters that begin a level of nesting.
NESTING = "[{-?"
#: libyaml, which is ten times as fast, gets a text with at most so many of them: it overflows the
#: stack where Python raises RecursionError.
MAX_NESTING_FAST = 3000
#: Values that aliases may add to those that the text holds: a few that stand for lists of one
#: another would otherwise make billions.
MAX_ALIASED = 100_000


#: What a scalar may be, by its first character: the tag, and what it looks like.
Resolvers = dict[str, list[tuple[str, re.Pattern[str]]]]

if TYPE_CHECKING:  # what the loaders below have besides _Checked
    _LoaderOfPyYaml = yaml.SafeLoader
else:
    _LoaderOfPyYaml = object


class _Checked(_LoaderOfPyYaml):
    """Refuses what YAML libraries take without a word.

    That is a key given twice, of which they take the last, and aliases that stand for very much.
    """

    #: Those of YAML 1.1, which the loaders of PyYAML have, are not inherited. They are not declared
    #: as of the class there.
    yaml_implicit_resolvers: ClassVar[Resolvers] = {}  # type: ignore[misc]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.flat: set[yaml.MappingNode] = set()
        self.max_values = len(text) + MAX_ALIASED

    def get_single_node(self) -> yaml.Node | None:
        """The root of the document. Raises BadInput where aliases stand for too much."""
        root: yaml.Node | None = super().get_single_node()
        pending = [root]
        values = 0
        while pending:
            node = pending.pop()
            values += 1
            if values > self.max_values:
                reason = f"aliases (*name) stand for more than {MAX_ALIASED} values"
                raise BadInput(reason, code="file")
            if isinstance(node, yaml.MappingNode):
                for pair in node.value:
                    pending += pair
            elif isinstance(node, yaml.SequenceNode):
                pending += node.value
        return root

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Checks the keys of a mapping, then puts those of merged mappings into it.

        Called for each mapping, and again for one that is merged into another, with what it had
        merged.
        """
        if node not in self.flat:
            _check_keys_once(node)
        self.flat.add(node)
        super().flatten_mapping(node)

    def construct_number(self, node: yaml.ScalarNode) -> int | float:
        """A number, also behind a tag such as !!int, as YAML 1.2 and JSON write it."""
        text = self.construct_scalar(node)
        line = _line(node)
        if not NUMBERS[node.tag].fullmatch(text):
            message = f"{short_repr(text)}; expected a decimal number behind {node.tag}"
            raise BadInput(message, line=line, code="file")
        if node.tag == f"{TAG}int":
            try:
                return int(parsed_json(text.removeprefix("+"), ""))
            except BadInput as error:  # too long
                raise BadInput(
                    error.sentence,
                    line=line,
                    code="file",
                ) from None
        return float(self.construct_yaml_float(node))


def _line(node: yaml.Node) -> int:
    """The line with which a node begins, from 1."""
    return node.start_mark.line + 1


def _check_keys_once(node: yaml.MappingNode) -> None:
    """Raises BadInput for a key that is there twice."""
    keys: set[str] = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        if key.value in keys:
            message = f"the key {key.value!r} is there twice"
            raise BadInput(message, field=key.value, line=_line(key))
        keys.add(key.value)


class _Slow(_Checked, yaml.SafeLoader):
    pass


class _Fast(_Checked, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    pass  # a base that is looked up is beyond mypy


class Dumper(yaml.SafeDumper):
    """Writes what these loaders read again as it was: text such as 1e5 gets quotes."""


def _set_up() -> None:
    """Teaches the classes above the scalars of YAML 1.2."""
    for name, pattern, first_characters in SCALARS:
        regex = re.compile(rf"(?:{pattern})\Z")
        for kind in (Dumper, _Slow, _Fast):
            kind.add_implicit_resolver(TAG + name, regex, list(first_characters))
    for tag in NUMBERS:
        for loader in (_Slow, _Fast):
            loader.add_constructor(tag, loader.construct_number)


_set_up()


def _loader_for(text: str) -> type[yaml.SafeLoader]:
    """The fast loader, unless the text may be nested so deep that it crashes."""
    levels = sum(text.count(character) for character in NESTING)
    return _Fast if levels <= MAX_NESTING_FAST else _Slow


def read_yaml(path: Path, advice: str = "") -> Any:
    """The value in a YAML file.

    Raises BadInput naming the file and what is wrong, with `advice` if the file is missing.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "demo.yaml")
        ...     _ = path.write_text("ranks: [1, 2]")
        ...     read_yaml(path)
        {'ranks': [1, 2]}
    """
    return parsed(read_text(path, advice), path)


def parsed(text: str, path: Path | str) -> Any:
    """The value of the YAML text of a file, or of what `path` calls it.

    Raises BadInput as `read_yaml`.

    Example:
        >>> parsed("ranks: [1, 1e2]", "demo.yaml")
        {'ranks': [1, 100.0]}
    """
    try:
        value = yaml.load(text, Loader=_loader_for(text))
    except BadInput as error:
        raise error.within(file=path) from None
    except yaml.MarkedYAMLError as error:
        raise BadInput(
            _syntax_error(error),
            file=path,
            code="file",
        ) from None
    except RecursionError:
        raise too_deep(path) from None
    except Exception as error:  # a wrong value behind a tag such as !!bool raises nearly anything
        reason = f"not YAML: {' '.join(str(error).split())}"
        raise BadInput(reason, file=path, code="file") from None
    try:
        check_plain(value, path)
    except BadInput as error:
        raise error.within(line=_lines(text).get(error.field or "")) from None
    return value


def _syntax_error(error: yaml.MarkedYAMLError) -> str:
    """What is wrong, and where: PyYAML's own text quotes lines of the file."""
    mark = error.problem_mark or error.context_mark
    problem = ", ".join(part for part in (error.context, error.problem) if part)
    if mark is None:
        return f"not YAML: {problem}"
    return f"not YAML at line {mark.line + 1}, column {mark.column + 1}: {problem}"


def lines_of_fields(path: Path) -> dict[str, int]:
    """The line with which each field of a YAML file begins, from 1, by the path of the field.

    Items of lists go by number, as in `grid.0.ranks`. What an alias stands for has the lines of its
    anchor. Empty where the file cannot be read: this is for complaints about its fields.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "demo.yaml")
        ...     _ = path.write_text("grid:\\n  ranks: [1, 2]")
        ...     lines_of_fields(path)
        {'grid': 1, 'grid.ranks': 2, 'grid.ranks.0': 2, 'grid.ranks.1': 2}
    """
    try:
        return _lines(read_text(path))
    except BadInput:
        return {}


def _lines(text: str) -> dict[str, int]:
    """The same for a text."""
    try:
        root = yaml.compose(text, Loader=_loader_for(text))
    except (yaml.YAMLError, BadInput, RecursionError):
        return {}
    lines: dict[str, int] = {}
    pending = [("", root)]
    while pending:
        field, node = pending.pop()
        prefix = f"{field}." if field else ""
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if isinstance(key, yaml.ScalarNode):
                    lines[prefix + key.value] = _line(key)
                    pending.append((prefix + key.value, value))
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                lines[f"{prefix}{number}"] = _line(item)
                pending.append((f"{prefix}{number}", item))
    return lines


def read_json_or_yaml(path: Path, advice: str = "") -> Any:
    """The value in a file, YAML where its name ends in .yaml or .yml, else JSON.

    Raises BadInput as `read_yaml` and `read_json`.

    Example:
        >>> read_json_or_yaml(Path("workflows/experiments/smoke.yaml"))["name"]
        'smoke'
    """
    read = read_yaml if path.suffix in YAML else read_json
    return read(path, advice)


def names_file(name: str | PathLike[str]) -> bool:
    """Whether a text names a file or a folder, not a preset or a machine: it has an ending of such
    files or a slash, or is the path of something.

    Example:
        >>> names_file("run.json"), names_file("out/run"), names_file("microcircuit")
        (True, True, False)
    """
    path = Path(name)
    return path.suffix in (".json", *YAML) or len(path.parts) > 1 or path.exists()
