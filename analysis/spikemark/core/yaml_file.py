"""Reads YAML files, which may contain only what JSON can also express."""

from pathlib import Path
from typing import Any

import yaml

from .errors import BadInput
from .reading import check_plain, read_json, read_text, too_deep

BOOLEAN, TEXT = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:str"

#: Ends of names of YAML files.
YAML = (".yaml", ".yml")


#: Characters that begin a level of nesting. libyaml, which is ten times as fast, gets at most so many: it
#: overflows the stack where Python raises RecursionError.
NESTING, MOST = "[{-?", 3000


class _Checked:
    """Refuses a key given twice; YAML libraries silently take the last one. A key such as `on` or `no`
    is text, as in YAML 1.2; libraries of YAML 1.1 take it for true or false, which no key may be.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.flat: set[yaml.MappingNode] = set()

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Called for each mapping, and again for one that is merged into another, with what it had merged."""
        seen: set[str] = set()
        for key in (key for key, _ in node.value if isinstance(key, yaml.ScalarNode)):
            key.tag = TEXT if key.tag == BOOLEAN else key.tag
            if key.value in seen and node not in self.flat:
                raise BadInput(f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice")
            seen.add(key.value)
        self.flat.add(node)
        super().flatten_mapping(node)


class _Slow(_Checked, yaml.SafeLoader):
    pass


class _Fast(_Checked, getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    pass


def _loader(text: str) -> yaml.SafeLoader:
    return (_Fast if sum(map(text.count, NESTING)) <= MOST else _Slow)(text)


def read_yaml(path: Path, advice: str = "") -> Any:
    """The value in a YAML file.

    Raises BadInput naming the file and what is wrong, with `advice` if the file is missing.
    """
    return parsed(read_text(path, advice), path)


def parsed(text: str, path: Path) -> Any:
    """The value of the YAML text of a file. Raises BadInput naming the file and what is wrong."""
    try:
        value = yaml.load(text, Loader=_loader)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except RecursionError:
        raise too_deep(path) from None
    except Exception as error:  # a wrong value behind a tag such as !!bool raises nearly anything
        raise BadInput(f"{path}: not YAML: {' '.join(str(error).split())}", code="file") from None
    check_plain(value, path)
    return value


def read_json_or_yaml(path: Path, advice: str = "") -> Any:
    """The value in a file, YAML where its name ends in .yaml or .yml, else JSON. Raises BadInput as these."""
    return (read_yaml if path.suffix in YAML else read_json)(path, advice)
