"""The schemas of profiles and of machines of parts as one JSON Schema (2020-12), for editors."""

from typing import Any

from pydantic.json_schema import models_json_schema

from .parts import PARTS
from .parts_file import MachineFile
from .schema import ProfileFile

DRAFT = "https://json-schema.org/draft/2020-12/schema"
NULL = {"type": "null"}


def json_schema() -> dict[str, Any]:
    """The schema of files in machines/: a file with `parts` is a machine of parts, any other a profile."""
    models = [(ProfileFile, "validation"), (MachineFile, "validation")]
    found, made = models_json_schema(models)
    _complete(made)
    profile, machine = (found[model] for model in models)
    return {
        "$schema": DRAFT,
        "title": "Machine profile, or machine of parts",
        "type": "object",
        "if": {"required": [PARTS]},
        "then": machine,
        "else": profile,
        **made,
    }


def _complete(at: Any) -> None:
    """Adds what pydantic leaves out: absent is not null, and keys have to match their pattern."""
    if isinstance(at, dict):
        if at.get("default", 0) is None:
            del at["default"]
        if "patternProperties" in at:
            at["additionalProperties"] = False
        if NULL in at.get("anyOf", ()):
            at["anyOf"].remove(NULL)
    for part in at.values() if isinstance(at, dict) else at if isinstance(at, list) else ():
        _complete(part)
