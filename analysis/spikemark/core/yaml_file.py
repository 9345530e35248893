"""Reads YAML files, which may contain only what JSON can also express."""

from pathlib import Path
from typing import Any

import yaml

from .errors import BadInput
from .reading import MAX_DEPTH, check_plain, read_json, read_text

BOOLEAN, TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"

#: Ends of names of YAML files.
YAML = (".yaml", ".yml")
#: Characters, which take half a minute to read (JSON may be longer), and values with those of all aliases.
MOST_LETTERS, MOST_VALUES = 2_000_000, 1_000_000


class _Loader(yaml.SafeLoader):
    """Refuses a key given twice; YAML libraries silently take the last one. A key such as `on` or `no`
    is text, as in YAML 1.2; libraries of YAML 1.1 take it for true or false, which no key may be.

    Also refuses aliases by which few lines stand for very many values.
    """

    def __init__(self, text: str):
        super().__init__(text)
        self._values: dict[yaml.Node, int] = {}  # that a node stands for

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node:
        node = super().compose_node(parent, index)
        if node not in self._values:
            parts = node.value if isinstance(node, yaml.CollectionNode) else ()
            parts = [part[1] if isinstance(part, tuple) else part for part in parts]
            self._values[node] = 1 + sum(self._values.get(part, 1) for part in parts)
        if self._values[node] > MOST_VALUES:
            line = node.start_mark.line + 1
            raise BadInput(
                f"line {line}: stands for {self._values[node]} values; expected {MOST_VALUES} at most"
            )
        return node

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if key.tag == BOOLEAN:
                key.tag = TEXT
            if key.value in seen:
                raise BadInput(f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice")
            seen.add(key.value)
        return node


def read_yaml(path: Path, advice: str = "") -> Any:
    """The value in a YAML file.

    Raises BadInput naming the file and what is wrong, with `advice` if the file is missing.
    """
    return parsed(read_text(path, advice), path)


def parsed(text: str, path: Path) -> Any:
    """The value of the YAML text of a file. Raises BadInput naming the file and what is wrong."""
    if len(text) > MOST_LETTERS:
        raise BadInput(f"{path}: {len(text)} characters; expected {MOST_LETTERS} at most", code="file")
    try:
        value = yaml.load(text, Loader=_Loader)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except RecursionError:
        raise BadInput(f"{path}: nested more than {MAX_DEPTH} deep", code="file") from None
    except Exception as error:  # a wrong value behind a tag such as !!bool raises nearly anything
        raise BadInput(f"{path}: not YAML: {' '.join(str(error).split())}", code="file") from None
    check_plain(value, path)
    return value


def read_json_or_yaml(path: Path, advice: str = "") -> Any:
    """The value in a file, YAML where its name ends in .yaml or .yml, else JSON.

    Raises BadInput naming the file and what is wrong, with `advice` if the file is missing.
    """
    if path.suffix in YAML:
        return read_yaml(path, advice)
    return read_json(path, advice)
