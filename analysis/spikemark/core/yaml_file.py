"""Reads YAML files, which may contain only what JSON can also express."""

from pathlib import Path
from typing import Any

import yaml

from .errors import BadInput
from .reading import MAX_DEPTH, check_plain, read_json, read_text

BOOLEAN, TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"

#: Ends of names of YAML files.
YAML = (".yaml", ".yml")


class _Loader(yaml.SafeLoader):
    """Refuses a key given twice; YAML libraries silently take the last one. A key such as `on` or `no`
    is text, as in YAML 1.2; libraries of YAML 1.1 take it for true or false, which no key may be.
    """

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
